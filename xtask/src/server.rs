//! The language server under load: its tests hold the client, here is how long and on what.

use crate::{corpus, generate};
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

fn server_tests(profile: &str) -> Command {
    let mut command = Command::new("cargo");
    let words = [
        "test",
        "-q",
        "--profile",
        profile,
        "-p",
        "zonelens",
        "--test",
        "server",
        "--",
    ];
    command.args(words).current_dir(corpus::root());
    command
}

/// A soak shorter than this says too little to be written down.
const WHOLE_SOAK_MINUTES: u64 = 30;

/// Random edits, requests and runs for so long; memory must come back and nothing may panic. A whole soak rewrites its
/// page.
pub fn soak(minutes: u64, profile: &str) -> bool {
    let test = "soak::random_edits_and_requests_over_real_models";
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
        return std::fs::write(corpus::root().join("docs/soak.md"), soak_page(&rows)).is_ok();
    }
    passed
}

fn soak_page(rows: &[String]) -> String {
    let mut page = String::from(
        "# Soak\n\nWritten by `cargo xtask soak`: random edits, requests and runs over real models against the server, all of \
        them opened and closed once a round. Resident memory is taken after each round, when nothing is open and nothing runs; \
        it must end within a fifth of what it was after the first round, and no panic may be in the log.\n\n\
        | round | seconds | requests | resident memory, KB |\n|---|---|---|---|\n",
    );
    // The first rounds, the last, and every tenth between tell all there is to see.
    for (i, row) in rows.iter().enumerate() {
        if i < 3 || i % 10 == 9 || i + 1 == rows.len() {
            let _ = writeln!(page, "| {row} |");
        }
    }
    page
}

/// Latencies on a large model while a verification uses both cores, and what requests about a large system cost.
pub fn latencies(page: &mut String) {
    let text = generate::model(20_000);
    let _ = writeln!(
        page,
        "## The server on a model of {} lines while a verification uses both cores\n\n| | times | median, ms | 99th percentile, ms |\n|---|---|---|---|",
        text.lines().count()
    );
    measured(page, "bench::latencies", &text);
    large_system(page);
}

/// What requests about 1,000 templates with 5,000 processes cost, without instantiating them.
pub fn large_system(page: &mut String) {
    let text = generate::system();
    let _ = writeln!(
        page,
        "## Requests about a system of {} lines with 1,000 templates and 5,000 processes\n\nProcessor time of the server, right after an edit and when asked again.\n\n| | after an edit, ms | again, ms | resident memory, MB |\n|---|---|---|---|",
        text.lines().count()
    );
    measured(page, "bench::large_system", &text);
}

/// Runs a measurement on a model and takes over its rows.
fn measured(page: &mut String, test: &str, text: &str) {
    let model = std::env::temp_dir().join(format!("zonelens-bench-{}.xta", std::process::id()));
    if std::fs::write(&model, text).is_err() {
        return;
    }
    let output = server_tests("ci")
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env("ZONELENS_BENCH_MODEL", &model)
        .output();
    let _ = std::fs::remove_file(model);
    let said = output.map(|o| String::from_utf8_lossy(&o.stderr).into_owned());
    for line in said.unwrap_or_default().lines() {
        if let Some(row) = line.strip_prefix("bench: ") {
            let _ = writeln!(page, "{row}");
        }
    }
    page.push('\n');
}
