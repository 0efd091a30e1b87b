//! `file:` URIs to paths and back. Other schemes have no path.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use tower_lsp_server::ls_types::Uri;

/// The path of a `file:` URI.
pub(crate) fn to_path(uri: &str) -> Option<PathBuf> {
    let parsed = Uri::from_str(uri).ok()?;
    if !parsed.scheme().as_str().eq_ignore_ascii_case("file") {
        return None;
    }
    parsed.to_file_path().map(|path| path.into_owned())
}

/// The URI of an absolute path.
pub(crate) fn from_path(path: &Path) -> Option<String> {
    Uri::from_file_path(path).map(|uri| uri.as_str().to_owned())
}

/// The last part of a URI's path, to be shown.
pub(crate) fn name(uri: &str) -> String {
    match to_path(uri) {
        Some(path) => path
            .file_name()
            .map_or_else(|| uri.to_owned(), |n| n.to_string_lossy().into_owned()),
        None => uri.rsplit('/').next().unwrap_or(uri).to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_go_there_and_back() {
        let path = to_path("file:///tmp/a%20b/m%C3%A9.xta").expect("a path");
        assert_eq!(path, Path::new("/tmp/a b/mé.xta"));
        let again = from_path(&path).and_then(|uri| to_path(&uri));
        assert_eq!(again.as_deref(), Some(path.as_path()));
        assert_eq!(to_path("untitled:x"), None);
        assert_eq!(name("file:///tmp/a%20b.q"), "a b.q");
    }
}
