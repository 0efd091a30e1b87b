//! The checks that every change must pass.

use crate::root::root;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The steps, as shell commands.
const STEPS: [(&str, &str); 14] = [
    ("format", "cargo fmt --all --check"),
    ("words", "cargo xtask words"),
    (
        "lints",
        "cargo clippy --workspace --all-targets --profile ci -- -D warnings",
    ),
    ("build", "cargo build --profile ci -p zonelens"),
    (
        "tests",
        "cargo test --workspace --profile ci --no-fail-fast",
    ),
    ("fuzz-targets", "cargo xtask fuzz-targets"),
    ("fuzz", "cargo xtask fuzz --seconds 20"),
    ("soak", "cargo xtask soak --minutes 1"),
    ("conformance", "cargo xtask conformance --sample"),
    ("dist", "cargo xtask dist --binary target/ci/zonelens"),
    ("reports", "cargo xtask reports --binary target/ci/zonelens"),
    ("neovim", "bash editors/nvim/test/run.sh target/ci/zonelens"),
    (
        "emacs",
        "bash editors/other/emacs-test.sh target/ci/zonelens",
    ),
    ("vscode", "cargo xtask vscode --binary target/ci/zonelens"),
];

/// The steps that need an editor and the tools to install it.
const EDITORS: [&str; 4] = ["reports", "neovim", "emacs", "vscode"];

/// The steps that do nothing at all if they report that they skip something.
const ALL_OR_NOTHING: [&str; 3] = ["conformance", "emacs", "fuzz-targets"];

/// The mark that a test or step prints if it cannot do its work, for instance without a corpus or
/// an editor. Such a test counts as passed, because its harness has no other result, so it prints
/// this outside the harness' capture.
const SKIPPED: &str = "SKIPPED: ";

/// Runs all steps; stops at the first one that fails.
pub(crate) fn run(skip_editors: bool) -> bool {
    let mut table = Table::default();
    let mut totals = Totals::default();
    let left_out = |name: &str| skip_editors && EDITORS.contains(&name);
    let steps = STEPS.iter().filter(|(name, _)| !left_out(name)).count();
    println!("== {steps} steps in {}", root().display());
    let mut passed = true;
    let mut number = 0;
    for (name, line) in STEPS {
        if !passed {
            table.add(name, "not run", None, 0);
            continue;
        }
        if left_out(name) {
            totals.skipped += 1;
            table.add(name, "skipped", None, 1);
            continue;
        }
        number += 1;
        println!("== {number} of {steps}, {name}: {line}");
        let begin = Instant::now();
        let before = totals.skipped;
        let mut counted = Totals::default();
        passed = step(line, &mut counted);
        // A step that fails without counted tests is a failure itself.
        counted.failed = counted.failed.max(u64::from(!passed));
        totals.add(&counted, name == "tests");
        let skipped = totals.skipped - before;
        let word = match passed {
            false => "FAILED",
            true if skipped > 0 && ALL_OR_NOTHING.contains(&name) => "skipped",
            true => "ok",
        };
        let time = begin.elapsed();
        println!("== {name}: {word} in {:.0} s", time.as_secs_f64());
        table.add(name, word, Some(time), skipped);
    }
    println!("{}", table.text());
    println!(
        "{} passed, {} failed, {} skipped",
        totals.passed, totals.failed, totals.skipped
    );
    passed
}

/// The result of each step.
#[derive(Default)]
struct Table {
    rows: Vec<(String, String, Option<Duration>, u64)>,
}

impl Table {
    fn add(&mut self, name: &str, word: &str, time: Option<Duration>, skipped: u64) {
        self.rows
            .push((name.to_owned(), word.to_owned(), time, skipped));
    }

    fn text(&self) -> String {
        let mut out = format!("\n{:<14}{:<10}{:>9}", "step", "result", "time");
        let mut sum = Duration::ZERO;
        for (name, word, time, skipped) in &self.rows {
            let seconds = time.map_or_else(String::new, |t| format!("{:.0} s", t.as_secs_f64()));
            out.push_str(&format!("\n{name:<14}{word:<10}{seconds:>9}"));
            out.truncate(out.trim_end().len());
            if *skipped > 0 && word != "skipped" {
                out.push_str(&format!("   {skipped} skipped"));
            }
            sum += time.unwrap_or_default();
        }
        let sum = format!("{:.0} s", sum.as_secs_f64());
        out.push_str(&format!("\n{:<14}{:<10}{sum:>9}\n", "all", ""));
        out
    }
}

/// Sums over the test binaries.
#[derive(Debug, Default, PartialEq, Eq)]
struct Totals {
    passed: u64,
    failed: u64,
    skipped: u64,
    /// The number of reported skips; skipped tests are also counted as passed.
    told: u64,
}

impl Totals {
    /// Reads a line such as `test result: ok. 4 passed; 0 failed; 1 ignored; …`, or one with the
    /// mark of a skip.
    fn take(&mut self, line: &str) {
        if line.contains(SKIPPED) {
            self.told += 1;
            return;
        }
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

    /// Adds the counts of a step. With `tests`, the reported skips are also among the passed tests.
    fn add(&mut self, step: &Totals, tests: bool) {
        self.passed += match tests {
            true => step.passed.saturating_sub(step.told),
            false => step.passed,
        };
        self.failed += step.failed;
        self.skipped += step.skipped + step.told;
    }
}

/// Runs one step and forwards its output.
fn step(line: &str, totals: &mut Totals) -> bool {
    let mut words = line.split(' ');
    let Some(program) = words.next() else {
        return false;
    };
    let child = Command::new(program)
        .args(words)
        .current_dir(root())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            println!("{program} could not be run: {error}");
            return false;
        }
    };
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            println!("{line}");
            totals.take(&line);
        }
    }
    match child.wait() {
        Ok(status) if status.success() => true,
        Ok(status) => {
            // A process that is killed, for instance because memory ran out, says nothing itself.
            println!("`{line}` ended with {status}");
            false
        }
        Err(error) => {
            println!("`{line}`: {error}");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn totals_add_up() {
        let mut step = Totals::default();
        step.take("test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        step.take("test result: FAILED. 38 passed; 2 failed; 0 ignored; 0 measured");
        step.take("anything else");
        assert_eq!((step.passed, step.failed, step.skipped), (42, 2, 1));
    }

    /// A test that returned early counts as passed in its binary, but must not count as passed
    /// here.
    #[test]
    fn what_is_skipped_did_not_pass() {
        let mut step = Totals::default();
        step.take("SKIPPED: edited_corpus: there is no corpus");
        // With one thread, the harness has already begun its line.
        step.take("test edited_corpus ... SKIPPED: edited_corpus: there is no corpus");
        step.take("test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out");
        let mut totals = Totals::default();
        totals.add(&step, true);
        assert_eq!((totals.passed, totals.failed, totals.skipped), (3, 0, 3));
        let mut other = Totals::default();
        other.take("SKIPPED: no Emacs");
        totals.add(&other, false);
        assert_eq!((totals.passed, totals.failed, totals.skipped), (3, 0, 4));
    }

    #[test]
    fn the_table_names_every_step() {
        let mut table = Table::default();
        table.add("tests", "ok", Some(Duration::from_secs(70)), 13);
        table.add("emacs", "skipped", Some(Duration::from_secs(1)), 1);
        table.add("vscode", "not run", None, 0);
        let lines: Vec<String> = table
            .text()
            .trim()
            .lines()
            .map(|l| l.split_whitespace().collect::<Vec<_>>().join(" "))
            .collect();
        let told = [
            "step result time",
            "tests ok 70 s 13 skipped",
            "emacs skipped 1 s",
            "vscode not run",
            "all 71 s",
        ];
        assert_eq!(lines, told);
    }
}
