//! Real models by other people, which are not part of the repository.

use std::io::Write;
use std::path::PathBuf;

/// The folder of the corpus, or `None` with a message that the test is skipped.
pub fn corpus() -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let dir =
        std::env::var_os("ZONELENS_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    if dir.join("EXPECT-PARSE.tsv").exists() {
        return Some(dir);
    }
    // `cargo xtask ci` counts such lines. Not by `println!`, which the test runner keeps to itself.
    let why = format!(
        "there is no corpus at {} (set ZONELENS_CORPUS)",
        dir.display()
    );
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test");
    let _ = writeln!(std::io::stdout(), "SKIPPED: {test}: {why}");
    None
}
