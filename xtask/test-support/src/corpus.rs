//! Real models by other people, which are not part of the repository.

use std::path::PathBuf;

/// The folder of the corpus, or `None` with a message that the test is skipped.
pub fn corpus() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let dir =
        std::env::var_os("ZONELENS_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if dir.join("EXPECT-PARSE.tsv").exists() {
        return Some(dir);
    }
    eprintln!(
        "skipped: no corpus at {} (set ZONELENS_CORPUS)",
        dir.display()
    );
    None
}
