//! Real models by other people, which are not part of the repository.

use std::io::Write;
use std::path::PathBuf;

/// Prints that the test of this thread is skipped, bypassing the harness' capture: `cargo xtask ci`
/// counts such lines.
pub fn skip(why: &str) {
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    let _ = writeln!(std::io::stdout(), "SKIPPED: {test}: {why}");
}

/// The folder of the corpus; `None`, with a message that the test is skipped, if there is none.
pub fn corpus() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let dir =
        std::env::var_os("ZONELENS_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if dir.join("EXPECT-PARSE.tsv").exists() {
        return Some(dir);
    }
    skip(&format!(
        "there is no corpus at {} (set ZONELENS_CORPUS)",
        dir.display()
    ));
    None
}

/// The files of the corpus with one of these extensions, in order; `None`, with a message, if there
/// is no corpus.
pub fn corpus_files(extensions: &[&str]) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![corpus()?.join("models")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let extension = path.extension().and_then(|e| e.to_str());
            if path.is_dir() {
                folders.push(path);
            } else if extension.is_some_and(|e| extensions.contains(&e)) {
                found.push(path);
            }
        }
    }
    found.sort();
    Some(found)
}
