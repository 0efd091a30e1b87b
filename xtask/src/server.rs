//! The language server under load. The client is in the server's tests; this module sets duration
//! and models.

use crate::root::root;
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn server_tests(profile: &str) -> Command {
    let mut command = Command::new("cargo");
    let words = [
        "test",
        "--profile",
        profile,
        "-p",
        "zonelens",
        "--test",
        "main",
        "--",
    ];
    command.args(words).current_dir(root());
    command
}

/// A shorter soak is not worth recording.
const WHOLE_SOAK_MINUTES: u64 = 30;

/// Runs random edits, requests and queries for this many minutes; memory must be released and
/// nothing may panic. A full soak rewrites its page.
pub(crate) fn soak(minutes: u64, profile: &str) -> bool {
    let test = "server::soak::random_edits_and_requests_over_real_models";
    let child = server_tests(profile)
        .args(["--exact", test, "--nocapture"])
        .env("ZONELENS_SOAK_SECONDS", (minutes * 60).to_string())
        .stderr(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        return false;
    };
    let mut rows = Vec::new();
    for line in child
        .stderr
        .take()
        .into_iter()
        .flat_map(|e| BufReader::new(e).lines())
    {
        let line = line.unwrap_or_default();
        eprintln!("{line}");
        rows.extend(line.strip_prefix("soak: ").map(str::to_owned));
    }
    let passed = child.wait().is_ok_and(|s| s.success());
    if passed && minutes >= WHOLE_SOAK_MINUTES {
        return std::fs::write(root().join("docs/soak.md"), soak_page(&rows)).is_ok();
    }
    passed
}

fn soak_page(rows: &[String]) -> String {
    let mut page = String::from(
        "# Soak\n\nWritten by `cargo xtask soak`: random edits, requests and runs over real models against the \
        server, all of which are opened and closed once per round. Resident memory is measured after each \
        round, when no document is open and nothing runs. Its trend over the rounds after the first (the median \
        of the slopes between any two) must stay below a fifth, or slightly more if there are few rounds; rounds \
        are added until the result is clear. The log must not contain a panic.\n\n\
        | round | seconds | requests | resident memory, KB |\n|---|---|---|---|\n",
    );
    // The first rounds, the last, and every tenth between them are enough.
    for (i, row) in rows.iter().enumerate() {
        if i < 3 || i % 10 == 9 || i + 1 == rows.len() {
            let _ = writeln!(page, "| {row} |");
        }
    }
    page
}
