//! The cost of the language server on large models. The client is in the server's tests; this
//! module has the models.

use crate::{corpus, generate};
use std::fmt::Write;
use std::process::Command;

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
    command.args(words).current_dir(corpus::root());
    command
}

/// Latencies on a large model while a verification uses both cores, and the cost of requests about
/// a large system.
pub(crate) fn latencies(page: &mut String) {
    let text = generate::model(20_000);
    let _ = writeln!(
        page,
        "## The server on a model of {} lines while a verification uses both cores\n\n| | times | median, ms | 99th percentile, ms |\n|---|---|---|---|",
        text.lines().count()
    );
    measured(page, "server::bench::latencies", &text);
    large_system(page);
}

/// The cost of requests about 1,000 templates with 5,000 processes, without instantiating them.
pub(crate) fn large_system(page: &mut String) {
    let text = generate::system();
    let _ = writeln!(
        page,
        "## Requests about a system of {} lines with 1,000 templates and 5,000 processes\n\nProcessor time of the server, right after an edit and when asked again.\n\n| | after an edit, ms | again, ms | resident memory, MB |\n|---|---|---|---|",
        text.lines().count()
    );
    measured(page, "server::bench::large_system", &text);
}

/// Runs a measurement on a model and copies its rows.
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
