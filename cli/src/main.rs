//! The `zonelens` command: a thin layer over the other crates.
//!
//! A subcommand is one variant of [`Command`] and one module with its `Args` and its `run`, which
//! returns the exit status.

mod certify;
mod check;
mod config;
mod convert;
mod coverage;
mod explain;
mod fmt;
mod inputs;
mod language_server;
mod model;
mod output;
mod package;
mod progress;
mod render;
mod replace;
mod simulate;
mod vacuous;
mod verify;
mod worker;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use std::process::ExitCode;

/// The exit status of a successful run.
pub const SUCCESS: u8 = 0;
/// The exit status for bad usage, unreadable files and models with errors.
pub const BAD_INPUT: u8 = 2;

/// The analysis recurses over the tree of the model; a deep expression must not overflow the stack.
const STACK_BYTES: usize = 256 << 20;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Exit status:
  0    success
  1    check: errors; verify: a query fails; certify: rejected; fmt --check: a file is not formatted; render: no trace
  2    bad usage, unreadable input, or a model with errors
  3    verify: a query has no verdict within its limits; coverage: stopped by a limit
  130  interrupted
See `zonelens COMMAND --help` for details.";

/// A language server and model checker for networks of timed automata
#[derive(Parser)]
#[command(name = "zonelens", version = env!("ZONELENS_VERSION"), about, arg_required_else_help = true)]
#[command(disable_help_subcommand = true, after_help = STATUS)]
struct Cli {
    /// When to write colours: `auto` follows NO_COLOR, CLICOLOR, CLICOLOR_FORCE and FORCE_COLOR,
    /// and otherwise writes colours on a terminal
    #[arg(long, global = true, value_enum, default_value_t, value_name = "WHEN")]
    color: output::ColorChoice,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run the language server on standard input and output
    Lsp(language_server::Args),
    /// Report every diagnostic of models and query files
    Check(check::Args),
    /// Answer the queries of models
    Verify(Box<verify::Args>),
    /// List what a model never does: locations, edges, guards, receivers, limits
    Coverage(coverage::Args),
    /// Check the certificate of an answer, without the engine
    Certify(certify::Args),
    /// Format .xta and .q files
    Fmt(fmt::Args),
    /// Convert a model between .xml and .xta, without loss
    Convert(convert::Args),
    /// Walk through a model, at random or step by step
    Simulate(simulate::Args),
    /// Draw the templates of a model, or a trace as a sequence chart
    Render(render::Args),
    /// Print the page of a diagnostic, `sym/loop-order` for instance; a part of the code is enough
    Explain(explain::Args),
    /// Print a completion script for a shell
    Completions(package::CompletionsArgs),
    /// Print the manual page of zonelens, or of a command
    Man(package::ManArgs),
    /// Answer one query for the language server
    #[command(hide = true)]
    Worker,
}

fn main() -> ExitCode {
    let matches = Cli::command().get_matches();
    let cli = match Cli::from_arg_matches(&matches) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    output::choose_color(cli.color);
    let run = move || -> u8 {
        match cli.command {
            Command::Lsp(args) => language_server::run(&args),
            Command::Verify(args) => {
                let order = matches.subcommand_matches("verify").map(verify::order);
                verify::run(&args, &order.unwrap_or_default())
            }
            Command::Check(args) => check::run(&args),
            Command::Coverage(args) => coverage::run(&args),
            Command::Certify(args) => certify::run(&args),
            Command::Fmt(args) => fmt::run(&args),
            Command::Convert(args) => convert::run(&args),
            Command::Simulate(args) => simulate::run(&args),
            Command::Render(args) => render::run(&args),
            Command::Explain(args) => explain::run(&args),
            Command::Completions(args) => package::completions(&args, Cli::command()),
            Command::Man(args) => package::man(&args, Cli::command()),
            Command::Worker => worker::run(),
        }
    };
    let status = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(run)
        .map(|thread| thread.join());
    match status {
        Ok(Ok(status)) => ExitCode::from(status),
        // The panic message is already on standard error.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            output::complain(&format!("the working thread could not start: {error}"));
            ExitCode::from(BAD_INPUT)
        }
    }
}
