//! The corpus of real models.

use std::path::Path;
pub(crate) use zonelens_test_support::corpus as dir;

/// The rows of a table, without its heading.
pub(crate) fn rows(dir: &Path, table: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(dir.join(table)).unwrap_or_default();
    text.lines()
        .skip(1)
        .map(|l| l.split('\t').map(str::to_owned).collect())
        .collect()
}

/// A model's text; bytes that are not UTF-8 are replaced.
pub(crate) fn read(dir: &Path, name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(dir.join(name)).unwrap_or_default()).into_owned()
}

/// The root of this repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
