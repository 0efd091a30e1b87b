//! Thousands of certificates: a larger sample than in the tests.

use crate::root::root;
use std::process::Command;

/// Changes this many certificates at random; certifies the claims of the engine about random
/// models, and those of an engine with seeded bugs. Seeds of failures are printed.
pub(crate) fn run(changes: u64) -> bool {
    let status = Command::new("cargo")
        .args(["test", "--profile", "ci", "-p", "zonelens-checker"])
        .args(["--lib", "--test", "main"])
        .args(["--", "certified", "--nocapture"])
        .env("ZONELENS_CERTIFIED_MUTANTS", changes.to_string())
        .env("ZONELENS_CERTIFIED_MODELS", changes.to_string())
        .env("ZONELENS_CERTIFIED_SYMMETRIC", (changes / 4).to_string())
        .env(
            "ZONELENS_CERTIFIED_BUGS",
            (changes + changes / 5).to_string(),
        )
        .current_dir(root())
        .status();
    status.is_ok_and(|s| s.success())
}

/// Certifies the claims of the corpus and writes the page about them.
pub(crate) fn corpus() -> bool {
    let page = root().join("docs/certified-corpus.md");
    let status = Command::new("cargo")
        .args(["test", "--profile", "ci", "-p", "zonelens-checker"])
        .args(["--test", "main", "--", "claims_of_real_models"])
        .arg("--nocapture")
        .env("ZONELENS_CERTIFIED_CORPUS", "1")
        .env("ZONELENS_CERTIFIED_PAGE", page)
        .current_dir(root())
        .status();
    status.is_ok_and(|s| s.success())
}
