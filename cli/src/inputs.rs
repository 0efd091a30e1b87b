//! The arguments of a command: files, folders, patterns and standard input, and how they are read.

use std::io::Read;
use std::path::{Path, PathBuf};
use zonelens_analysis::trace_text;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, ItemKind};

/// How much of a file is read to determine its type.
const HEAD_BYTES: usize = 64 << 10;

/// A file to work on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input {
    /// The path; `-` is standard input.
    pub path: PathBuf,
    /// Whether it was found in a folder; otherwise the user named it.
    pub found: bool,
}

/// The role of a file according to its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// `.xta`, `.ta`, `.xml`, and standard input
    Model,
    /// `.q`
    Queries,
    /// Any other name.
    Other,
}

/// The role of a file according to its name.
pub(crate) fn role(path: &Path) -> Role {
    if is_stdin(path) {
        return Role::Model;
    }
    let extension = path.extension().and_then(|e| e.to_str());
    match extension.map(str::to_ascii_lowercase).as_deref() {
        Some("xta" | "ta" | "xml") => Role::Model,
        Some("q") => Role::Queries,
        _ => Role::Other,
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// The files of all arguments, in order, and the problems of some arguments. In a folder, the files
/// that `wanted` accepts are taken.
pub(crate) fn expand_all(
    arguments: &[PathBuf],
    wanted: fn(&Path) -> bool,
) -> (Vec<Input>, Vec<String>) {
    let (mut files, mut problems) = (Vec::new(), Vec::new());
    for argument in arguments {
        match expand(argument, wanted) {
            Ok(found) => files.extend(found),
            Err(problem) => problems.push(problem),
        }
    }
    if files.iter().filter(|f| is_stdin(&f.path)).count() > 1 {
        problems.push("standard input (`-`) can be read only once".to_owned());
        files.clear();
    }
    (files, problems)
}

/// The files that one argument denotes.
pub(crate) fn expand(argument: &Path, wanted: fn(&Path) -> bool) -> Result<Vec<Input>, String> {
    let named = |path: PathBuf| Input { path, found: false };
    if is_stdin(argument) {
        return Ok(vec![named(argument.to_owned())]);
    }
    if argument.is_dir() {
        return folder(argument, wanted);
    }
    let Some(pattern) = pattern(argument) else {
        return Ok(vec![named(argument.to_owned())]);
    };
    let mut out = Vec::new();
    for path in matches(pattern)? {
        match path.is_dir() {
            true => out.extend(folder(&path, wanted)?),
            false => out.push(named(path)),
        }
    }
    Ok(out)
}

/// The text of an argument that is a pattern and not the name of a file: some shells, and programs
/// that start commands without a shell, do not expand patterns.
fn pattern(argument: &Path) -> Option<&str> {
    let text = argument.to_str()?;
    (text.contains(['*', '?', '[']) && argument.symlink_metadata().is_err()).then_some(text)
}

/// The files that match a pattern, sorted by name as in a shell.
fn matches(pattern: &str) -> Result<Vec<PathBuf>, String> {
    let as_shells_do = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let found = glob::glob_with(pattern, as_shells_do)
        .map_err(|error| format!("`{pattern}` is not a pattern: {error}"))?;
    let mut out = Vec::new();
    for path in found {
        out.push(
            path.map_err(|error| format!("{} cannot be read: {error}", error.path().display()))?,
        );
    }
    if out.is_empty() {
        return Err(format!("no file matches `{pattern}`"));
    }
    Ok(out)
}

/// The wanted files below a folder, sorted by name.
fn folder(path: &Path, wanted: fn(&Path) -> bool) -> Result<Vec<Input>, String> {
    let mut found = Vec::new();
    let mut todo = vec![path.to_owned()];
    while let Some(folder) = todo.pop() {
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            // Links to folders are not followed, because they may lead back here.
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                todo.push(path);
            } else if wanted(&path) && !path.is_dir() {
                found.push(path);
            }
        }
    }
    found.sort();
    let found = found.into_iter();
    Ok(found.map(|path| Input { path, found: true }).collect())
}

/// Whether a file in a folder is a model. An `.xml` file must look like one, because folders may
/// contain other XML.
pub(crate) fn is_model(path: &Path) -> bool {
    role(path) == Role::Model
        && (FileKind::from_path(&path.to_string_lossy()) != FileKind::Xml || has_nta(path))
}

/// Whether a file in a folder is a model or a query file.
pub(crate) fn is_ours(path: &Path) -> bool {
    role(path) == Role::Queries || is_model(path)
}

/// Whether a file in a folder can be formatted.
pub(crate) fn is_formatted(path: &Path) -> bool {
    role(path) != Role::Other && FileKind::from_path(&path.to_string_lossy()) != FileKind::Xml
}

fn has_nta(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(HEAD_BYTES as u64).read_to_end(&mut head));
    read.is_ok() && String::from_utf8_lossy(&head).contains("<nta")
}

/// The bytes of a file or of standard input; a binary file is refused. `Err` is one sentence.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    if trace_text::is_xtr(&path.to_string_lossy()) {
        return Err(format!("{}: {}", path.display(), trace_text::XTR));
    }
    let mut bytes = Vec::new();
    let result = if is_stdin(path) {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    result.map_err(|error| format!("{} cannot be read: {error}", shown(path)))?;
    match binary(&bytes) {
        Some(what) => Err(format!("{} {what}", shown(path))),
        None => Ok(bytes),
    }
}

/// A path for messages.
pub(crate) fn shown(path: &Path) -> String {
    match is_stdin(path) {
        true => "standard input".to_owned(),
        false => path.display().to_string(),
    }
}

/// What kind of binary file these bytes are; `None` for text in any encoding.
fn binary(bytes: &[u8]) -> Option<&'static str> {
    let head = &bytes[..bytes.len().min(HEAD_BYTES)];
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return Some("is UTF-16 text; save it as UTF-8");
    }
    let control = |b: &u8| *b < 0x20 && !matches!(b, b'\t' | b'\n' | b'\r' | 0x0c);
    let broken = match std::str::from_utf8(head) {
        Ok(_) => false,
        // The head may end inside a character.
        Err(error) => error.error_len().is_some(),
    };
    (head.contains(&0) || (broken && head.iter().any(control)))
        .then_some("is a binary file, not a model or a query file")
}

/// The notation of a file by its name; for standard input by its text: only XML begins with `<`.
pub(crate) fn kind_of(path: &Path, text: &str) -> FileKind {
    if !is_stdin(path) {
        return FileKind::from_path(&path.to_string_lossy());
    }
    let text = text.trim_start_matches('\u{feff}').trim_start();
    match text.starts_with('<') {
        true => FileKind::Xml,
        false => FileKind::Xta,
    }
}

/// Why a text file with another extension is refused: nothing in it can be read as a model. A model
/// with such a name is accepted, and its errors are reported.
pub(crate) fn foreign(path: &Path, file: &SourceFile) -> Option<String> {
    let whole_system = file
        .items
        .iter()
        .any(|item| matches!(item.node.kind, ItemKind::System(_)) && item.node.errors.is_empty());
    let refused = role(path) == Role::Other
        && file.kind == FileKind::Xta
        && !whole_system
        && !file.errors().is_empty();
    refused.then(|| {
        format!(
            "{} is neither a model (.xta, .ta, .xml) nor a query file (.q), by its name and by its text",
            path.display()
        )
    })
}

/// Whether an XML text is not a model.
pub(crate) fn is_foreign_xml(file: &SourceFile) -> bool {
    file.kind == FileKind::Xml && !file.text.contains("<nta")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_text_and_what_is_not() {
        assert_eq!(binary(b"int a;\n"), None);
        assert_eq!(binary("// é\u{1}".as_bytes()), None);
        assert_eq!(binary(b"// caf\xe9 in Latin-1\r\n"), None);
        assert!(binary(b"\x89PNG\r\n\x1a\n\0\0").is_some());
        assert!(binary(b"\x1f\x8b\x08\x10\xff\xfe").is_some());
        assert!(binary(b"\xff\xfei\0n\0t\0").is_some_and(|w| w.contains("UTF-16")));
        // A character that is cut at the end of the head is complete in the file.
        let mut long = vec![b' '; HEAD_BYTES - 1];
        long[0] = 1;
        long.extend("é".bytes());
        assert_eq!(binary(&long), None);
    }

    #[test]
    fn standard_input_tells_its_notation() {
        let kind = |text| kind_of(Path::new("-"), text);
        assert_eq!(
            kind("\u{feff}\n <?xml version='1.0'?><nta/>"),
            FileKind::Xml
        );
        assert_eq!(kind("<nta></nta>"), FileKind::Xml);
        assert_eq!(kind("// <nta>\nint a;"), FileKind::Xta);
        assert_eq!(kind_of(Path::new("a.xta"), "<nta/>"), FileKind::Xta);
    }

    #[test]
    fn names_tell_roles() {
        let of = |name: &str| role(Path::new(name));
        for name in ["a.xta", "b.TA", "c.xml", "-"] {
            assert_eq!(of(name), Role::Model, "{name}");
        }
        assert_eq!(of("d.q"), Role::Queries);
        for name in ["e.txt", "f", "dir.xta/g"] {
            assert_eq!(of(name), Role::Other, "{name}");
        }
    }
}
