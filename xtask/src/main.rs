//! The tasks of contributors: `cargo xtask
//! ci|bench|certify|conformance|coverage|fuzz|soak|symmetry|words|package|dist|vscode`.

#![allow(clippy::print_stdout)] // A tool for the terminal.

mod certify;
mod ci;
mod notices;
mod package;
mod reports;
mod root;
mod server;
mod symmetry;
mod vscode;
mod words;

use std::process::ExitCode;

const HELP: &str = "usage: cargo xtask COMMAND

  ci [--skip-editors]          format, lints, all tests, end-to-end tests of the editors
  bench [--quick]              measure and rewrite docs/benchmarks.md; `--only symmetry`, `agreement` or `strategies` that part, `engine`, `system` print;
        [--only PART] [--timeout S]  an instance of the agreement algorithm gets S seconds for each property (900);
        [--keep-agreement]     these take half an hour and can be left as they are
  symmetry [--models N]        N random symmetric models (10 000) and as many mutants, with and without reduction
  certify [--changes N]        N changed certificates (10 000), claims about random models, wrong claims of seeded bugs
  certify --corpus             certifies the claims of the corpus; rewrites docs/certified-corpus.md
  conformance [--sample]       the whole corpus against the reference; rewrites docs/conformance.md
         [--only PART]         verdicts of the files with this in their names, printed
               [--timeout S]   (a sample only prints)
  coverage [--timeout S]       what the models of the corpus never do; rewrites a part of docs/coverage.md
  fuzz [--seconds N] [--seed N]  random input to lexer, parser, XML reader, reparse, formatter, conversion; changed models to the checker
  fuzz-targets                 whether the coverage-guided targets under fuzz/ still build
  soak [--minutes M] [--release]  random edits, requests and runs against the language server
  package [--binary FILE]      dist/zonelens-VERSION-PLATFORM.vsix, with a release build or FILE as its server
  dist [--binary FILE]         dist/zonelens-VERSION-TARGET.tar.gz: binary, manual, completions, licences
  vscode [--binary FILE]       package, then the story in the real workbench; with --screenshots the pictures
         [--screenshots]       of docs/img are updated
  reports [--binary FILE]      SARIF, JUnit and JSON against the schemas their readers use
  words                        phrases to avoid, long comments, spelling
  generate [LINES]             print a model of about LINES lines
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}

fn run(args: &[String]) -> bool {
    let flag = |name: &str| args.iter().any(|a| a == name);
    let number = |name: &str| {
        let at = args.iter().position(|a| a == name)?;
        args.get(at + 1)?.parse::<u64>().ok()
    };
    let path = |name: &str| {
        let at = args.iter().position(|a| a == name)?;
        // Commands are not run in the folder of the caller.
        std::path::absolute(args.get(at + 1)?).ok()
    };
    // A request for help, or a misspelt option, must not start half an hour of work.
    let known = |a: &&String| HELP.contains(a.as_str());
    if let Some(unknown) = args.iter().find(|a| a.starts_with('-') && !known(a)) {
        print!("{HELP}");
        return unknown == "--help";
    }
    match args.first().map(String::as_str) {
        Some("ci") => ci::run(flag("--skip-editors")),
        Some("certify") if flag("--corpus") => certify::corpus(),
        Some("certify") => certify::run(number("--changes").unwrap_or(10_000)),
        Some("symmetry") => symmetry::run(number("--models").unwrap_or(10_000)),
        // Verdicts within a time limit are measured in the profile that is shipped.
        Some("conformance") if !flag("--sample") => suite("release", args),
        Some("bench" | "conformance" | "coverage" | "fuzz" | "generate") => suite("ci", args),
        Some("soak") => {
            // Overflow checks are worth their time, unless the shipped binary itself is tested.
            let profile = if flag("--release") { "release" } else { "ci" };
            server::soak(number("--minutes").unwrap_or(30), profile)
        }
        Some("fuzz-targets") => fuzz_targets(),
        Some("words") => words::run(),
        Some("package") => package::vsix(path("--binary").as_deref()).is_some(),
        Some("dist") => package::archive(path("--binary").as_deref()),
        Some("vscode") => vscode::run(path("--binary").as_deref(), flag("--screenshots")),
        Some("reports") => reports::run(path("--binary").as_deref()),
        _ => {
            print!("{HELP}");
            args.first().is_some_and(|a| a == "help")
        }
    }
}

/// Runs one of the long suites. They are a separate crate, so that this one need not wait for the
/// checker. It is built together with the product: cargo then enables the same features of their
/// dependencies and compiles these once.
fn suite(profile: &str, args: &[String]) -> bool {
    let passed = |command: &mut std::process::Command| {
        let status = command.current_dir(root::root()).status();
        let passed = status.as_ref().is_ok_and(|s| s.success());
        if let (Ok(status), false) = (status, passed) {
            println!("{} ended with {status}", command.get_program().display());
        }
        passed
    };
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["build", "--profile", profile]);
    cargo.args(["-p", "zonelens", "-p", "xtask-suites"]);
    let binary = package::target_directory()
        .join(profile)
        .join("xtask-suites");
    passed(&mut cargo) && passed(std::process::Command::new(binary).args(args))
}

/// Checks the crate under `fuzz/`, a separate workspace that no other step builds. It is skipped if
/// its dependencies are not available.
fn fuzz_targets() -> bool {
    let cargo = |args: &[&str]| {
        let mut cargo = std::process::Command::new("cargo");
        cargo
            .args(args)
            .args(["--manifest-path", "fuzz/Cargo.toml"]);
        let status = cargo.current_dir(root::root()).status();
        status.is_ok_and(|s| s.success())
    };
    if !cargo(&["fetch", "--quiet"]) {
        println!("SKIPPED: the dependencies of fuzz/ cannot be fetched");
        return true;
    }
    cargo(&["check", "--target-dir", "target/fuzz"])
}
