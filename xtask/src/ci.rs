//! Everything that must hold before a change lands.

use crate::corpus;
use std::process::Command;
use std::time::Instant;

/// Runs all steps; stops at the first that fails.
pub fn run(skip_editors: bool) -> bool {
    let start = Instant::now();
    let mut steps: Vec<(&str, Vec<&str>)> = vec![
        ("format", vec!["cargo", "fmt", "--all", "--check"]),
        (
            "lints",
            vec![
                "cargo",
                "clippy",
                "--workspace",
                "--all-targets",
                "--profile",
                "ci",
                "--",
                "-D",
                "warnings",
            ],
        ),
        (
            "build",
            vec!["cargo", "build", "--profile", "ci", "-p", "zonelens"],
        ),
        (
            "tests",
            vec![
                "cargo",
                "test",
                "--workspace",
                "--profile",
                "ci",
                "--no-fail-fast",
            ],
        ),
        (
            "fuzz",
            vec![
                "cargo",
                "run",
                "-q",
                "--profile",
                "ci",
                "-p",
                "xtask",
                "--",
                "fuzz",
                "--seconds",
                "20",
            ],
        ),
        (
            "conformance",
            vec![
                "cargo",
                "run",
                "-q",
                "--profile",
                "ci",
                "-p",
                "xtask",
                "--",
                "conformance",
                "--sample",
            ],
        ),
    ];
    if !skip_editors {
        steps.push((
            "neovim",
            vec!["bash", "editors/nvim/test/run.sh", "target/ci/zonelens"],
        ));
    }
    for (name, words) in steps {
        println!("== {name}: {}", words.join(" "));
        let begin = Instant::now();
        let status = Command::new(words[0])
            .args(&words[1..])
            .current_dir(corpus::root())
            .status();
        let passed = status.is_ok_and(|s| s.success());
        println!(
            "== {name}: {} in {:.0} s",
            if passed { "ok" } else { "FAILED" },
            begin.elapsed().as_secs_f64()
        );
        if !passed {
            return false;
        }
    }
    println!("all steps passed in {:.0} s", start.elapsed().as_secs_f64());
    true
}
