//! Thousands of random symmetric models: a larger sample than in the tests.

use crate::root::root;
use std::process::Command;

/// Runs the comparison on this many models of each kind; the seeds of failures are printed.
pub(crate) fn run(models: u64) -> bool {
    let status = Command::new("cargo")
        .args(["test", "--profile", "ci", "-p", "zonelens-checker"])
        .args(["--test", "main"])
        .args(["--", "symmetry::", "--nocapture"])
        .env("ZONELENS_SYMMETRY_MODELS", models.to_string())
        .current_dir(root())
        .status();
    status.is_ok_and(|s| s.success())
}
