//! Everything that must hold before a change lands.

use crate::corpus;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

/// The steps, as typed in a shell.
const STEPS: [(&str, &str); 12] = [
    ("format", "cargo fmt --all --check"),
    (
        "lints",
        "cargo clippy --workspace --all-targets --profile ci -- -D warnings",
    ),
    ("build", "cargo build --profile ci -p zonelens"),
    (
        "tests",
        "cargo test --workspace --profile ci --no-fail-fast",
    ),
    (
        "fuzz",
        "cargo run -q --profile ci -p xtask -- fuzz --seconds 20",
    ),
    (
        "soak",
        "cargo run -q --profile ci -p xtask -- soak --minutes 1",
    ),
    (
        "conformance",
        "cargo run -q --profile ci -p xtask -- conformance --sample",
    ),
    (
        "dist",
        "cargo run -q --profile ci -p xtask -- dist --binary target/ci/zonelens",
    ),
    (
        "reports",
        "cargo run -q --profile ci -p xtask -- reports --binary target/ci/zonelens",
    ),
    ("neovim", "bash editors/nvim/test/run.sh target/ci/zonelens"),
    (
        "emacs",
        "bash editors/other/emacs-test.sh target/ci/zonelens",
    ),
    (
        "vscode",
        "cargo run -q --profile ci -p xtask -- vscode --binary target/ci/zonelens",
    ),
];

/// The steps that need an editor and what it is installed with.
const EDITORS: [&str; 4] = ["reports", "neovim", "emacs", "vscode"];

/// Runs all steps; stops at the first that fails.
pub fn run(skip_editors: bool) -> bool {
    let start = Instant::now();
    let mut totals = Totals::default();
    let mut passed = true;
    for (name, line) in STEPS {
        if skip_editors && EDITORS.contains(&name) {
            continue;
        }
        println!("== {name}: {line}");
        let begin = Instant::now();
        passed = step(line, &mut totals);
        let word = if passed { "ok" } else { "FAILED" };
        println!(
            "== {name}: {word} in {:.0} s",
            begin.elapsed().as_secs_f64()
        );
        if !passed {
            break;
        }
    }
    println!("steps took {:.0} s", start.elapsed().as_secs_f64());
    println!(
        "{} passed, {} failed, {} skipped",
        totals.passed, totals.failed, totals.skipped
    );
    passed
}

/// Sums over the test binaries.
#[derive(Default)]
struct Totals {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Totals {
    /// Takes a line such as `test result: ok. 4 passed; 0 failed; 1 ignored; …`.
    fn take(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else {
            return;
        };
        let number = |what: &str| {
            let part = counts
                .split([';', '.'])
                .find(|p| p.trim().ends_with(what))?;
            part.split_whitespace().next()?.parse::<u64>().ok()
        };
        self.passed += number("passed").unwrap_or(0);
        self.failed += number("failed").unwrap_or(0);
        self.skipped += number("ignored").unwrap_or(0);
    }
}

/// Runs one step, passing its output on.
fn step(line: &str, totals: &mut Totals) -> bool {
    let mut words = line.split(' ');
    let Some(program) = words.next() else {
        return false;
    };
    let child = Command::new(program)
        .args(words)
        .current_dir(corpus::root())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else { return false };
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            totals.take(&line);
        }
    }
    child.wait().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up() {
        let mut totals = Totals::default();
        totals.take("test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        totals.take("test result: FAILED. 38 passed; 2 failed; 0 ignored; 0 measured");
        totals.take("anything else");
        assert_eq!((totals.passed, totals.failed, totals.skipped), (42, 2, 1));
    }
}
