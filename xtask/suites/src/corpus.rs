//! The corpus of real models, where it is.

use std::path::{Path, PathBuf};

/// The folder from `ZONELENS_CORPUS`, or the one beside the checkout; `None` with a message when there is none.
pub fn dir() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let dir =
        std::env::var_os("ZONELENS_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if dir.join("EXPECT-PARSE.tsv").exists() {
        return Some(dir);
    }
    // `cargo xtask ci` counts such lines.
    println!(
        "SKIPPED: what needs the corpus: there is none at {} (set ZONELENS_CORPUS)",
        dir.display()
    );
    None
}

/// The rows of a table, without its heading.
pub fn rows(dir: &Path, table: &str) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(dir.join(table)).unwrap_or_default();
    text.lines()
        .skip(1)
        .map(|l| l.split('\t').map(str::to_owned).collect())
        .collect()
}

/// A model's text; bytes that are not UTF-8 are replaced.
pub fn read(dir: &Path, name: &str) -> String {
    String::from_utf8_lossy(&std::fs::read(dir.join(name)).unwrap_or_default()).into_owned()
}

/// The root of this repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
