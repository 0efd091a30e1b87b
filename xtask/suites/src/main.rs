//! The long suites, which run the checker themselves and are started by `cargo xtask
//! bench|conformance|coverage|fuzz|generate`. They are a separate crate, so that `cargo xtask` need
//! not wait for the checker to be compiled.

#![allow(clippy::print_stdout)] // A tool for the terminal.

mod bench;
mod bench_engine;
mod bench_strategies;
mod bench_switches;
mod bench_symmetry;
mod configurations;
mod conformance;
mod corpus;
mod coverage;
mod curves;
mod fuzz;
mod fuzz_models;
mod generate;
mod models;
mod server;
mod stored;

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // The analysis recurses over trees of bounded height; the bound assumes a stack of this size.
    let worker = std::thread::Builder::new()
        .stack_size(256 << 20)
        .spawn(move || run(&args));
    match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn run(args: &[String]) -> bool {
    let flag = |name: &str| args.iter().any(|a| a == name);
    let number = |name: &str| {
        let at = args.iter().position(|a| a == name)?;
        args.get(at + 1)?.parse::<u64>().ok()
    };
    let only = args.iter().position(|a| a == "--only");
    let only = only.and_then(|at| args.get(at + 1)).map(String::as_str);
    match args.first().map(String::as_str) {
        Some("bench") => bench::run(&bench::Parts {
            quick: flag("--quick"),
            only,
            keep_agreement: flag("--keep-agreement"),
            most: number("--timeout").unwrap_or(900) as f64,
        }),
        Some("conformance") => conformance::run(flag("--sample"), only, number("--timeout")),
        Some("coverage") => coverage::run(number("--timeout")),
        Some("fuzz") => fuzz::run(
            number("--seconds").unwrap_or(20),
            number("--seed").unwrap_or(1),
        ),
        Some("generate") => {
            let lines = args.get(1).and_then(|n| n.parse().ok()).unwrap_or(20_000);
            print!("{}", generate::model(lines));
            true
        }
        _ => {
            println!("`cargo xtask` starts this");
            false
        }
    }
}
