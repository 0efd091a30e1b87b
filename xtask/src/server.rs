//! The language server under load: its tests hold the client, here is how long and on what.

use crate::{corpus, generate};
use std::fmt::Write;
use std::process::Command;

fn server_tests() -> Command {
    let mut command = Command::new("cargo");
    let words = [
        "test",
        "-q",
        "--profile",
        "ci",
        "-p",
        "zonelens",
        "--test",
        "server",
        "--",
    ];
    command.args(words).current_dir(corpus::root());
    command
}

/// Random edits, requests and runs for so long; memory must come back and nothing may panic.
pub fn soak(minutes: u64) -> bool {
    let test = "soak::random_edits_and_requests_over_real_models";
    let status = server_tests()
        .args(["--exact", test, "--nocapture"])
        .env("ZONELENS_SOAK_SECONDS", (minutes * 60).to_string())
        .status();
    status.is_ok_and(|s| s.success())
}

/// Latencies on a large model while a verification uses both cores.
pub fn latencies(page: &mut String) {
    let model = std::env::temp_dir().join(format!("zonelens-bench-{}.xta", std::process::id()));
    let text = generate::model(20_000);
    if std::fs::write(&model, &text).is_err() {
        return;
    }
    let output = server_tests()
        .args(["--exact", "bench::latencies", "--ignored", "--nocapture"])
        .env("ZONELENS_BENCH_MODEL", &model)
        .output();
    let _ = std::fs::remove_file(model);
    let said = output.map(|o| String::from_utf8_lossy(&o.stderr).into_owned());
    let _ = writeln!(
        page,
        "## The server on a model of {} lines while a verification uses both cores\n\n| | times | median, ms | 99th percentile, ms |\n|---|---|---|---|",
        text.lines().count()
    );
    for line in said.unwrap_or_default().lines() {
        if let Some(row) = line.strip_prefix("bench: ") {
            let _ = writeln!(page, "{row}");
        }
    }
    page.push('\n');
}
