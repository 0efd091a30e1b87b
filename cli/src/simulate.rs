//! `zonelens simulate`: walks through a model, at random or step by step, with the same interpreter
//! that replays traces.

mod commands;
mod interactive;
mod screen;

use crate::model::{Prepared, Source};
use crate::output::Palette;
use crate::verify::constant;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;
use std::path::PathBuf;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Trace, TraceTransition};
use zonelens_analysis::trace_text::{self, Booleans};
use zonelens_interpreter::{Ended, SimulateOptions, simulate};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// What `--help` says about the exit status.
const STATUS: &str = "\
Exit status:
  0  the run was written, or the commands ended
  2  bad usage, an erroneous model, an error on the way, or a chosen transition that does not exist";

/// Arguments of `zonelens simulate`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// The model, `.xta` or `.xml`
    pub model: PathBuf,
    /// Number of steps
    #[arg(long, value_name = "N", default_value_t = 20)]
    steps: usize,
    /// Seed of random choices: the same seed gives the same run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Transitions to take first, by their numbers in the list that `--interactive` shows; the rest
    /// is random
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    choose: Vec<usize>,
    /// Read commands from standard input and show the state after each; `?` lists the commands
    #[arg(long, short = 'i')]
    interactive: bool,
    /// Begin at the end of a saved walk: JSON, as `s FILE` of the interactive simulator, an editor
    /// or `--format json` writes it
    #[arg(
        long,
        value_name = "FILE",
        requires = "interactive",
        conflicts_with = "choose"
    )]
    walk: Option<PathBuf>,
    /// How to write the run; with `--interactive`, the state after each command
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Override a global integer or boolean constant before any size is evaluated
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    constants: Vec<(String, i64)>,
}

/// How the run is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for users
    Human,
    /// One JSON object: a trace and why it ends; with `--interactive`, one object per state and
    /// line
    Json,
}

/// The run as JSON: the fields of a trace, and why it ended.
#[derive(Serialize)]
struct Run<'a> {
    #[serde(flatten)]
    trace: &'a Trace,
    ended: &'static str,
    reason: String,
}

/// Runs the simulation; returns the exit status: 0, or 2 if the model has errors, fails on the way
/// or lacks a chosen transition.
pub(crate) fn run(args: &Args) -> u8 {
    let source = match Source::read(&args.model) {
        Ok(source) if source.file.kind == FileKind::Query => {
            let name = args.model.display();
            output::complain(&format!("{name} is a query file; give a model"));
            return BAD_INPUT;
        }
        Ok(source) => source,
        Err(message) => {
            output::complain(&message);
            return BAD_INPUT;
        }
    };
    let constants = args.constants.iter().cloned().collect();
    let prepared = Prepared::new(source, &constants);
    if let Err(message) = prepared.know_constants(&args.constants) {
        output::complain(&message);
        return BAD_INPUT;
    }
    let Some(network) = prepared.network() else {
        for error in prepared.errors() {
            let place = prepared.source.place(error.span);
            output::complain(&format!("{place}: {} [{}]", error.message, error.code));
        }
        return BAD_INPUT;
    };
    if let Some(unsupported) = network.unsupported.iter().find(|u| u.fatal) {
        let place = prepared.source.place(unsupported.span);
        output::complain(&format!("{place}: {}", unsupported.message));
        return BAD_INPUT;
    }
    let position = |span: Span| {
        let at = prepared.source.line_col(span.start);
        Position {
            line: at.line,
            column: at.column,
        }
    };
    if args.interactive {
        return interactive::run(args, &prepared, network, &position);
    }
    let options = SimulateOptions {
        steps: args.steps,
        seed: args.seed,
        guide: args.choose.clone(),
    };
    let (trace, ended) = simulate(network, &options, &position);
    write(args, &trace, &ended, &prepared.booleans());
    match ended {
        Ended::Steps | Ended::Idle | Ended::Timelock => SUCCESS,
        Ended::NoSuchChoice(_) | Ended::Failed(_) => BAD_INPUT,
    }
}

fn write(args: &Args, trace: &Trace, ended: &Ended, booleans: &Booleans) {
    match args.format {
        Format::Json => {
            let run = Run {
                trace,
                ended: match ended {
                    Ended::Steps => "steps",
                    Ended::Idle => "idle",
                    Ended::Timelock => "timelock",
                    Ended::NoSuchChoice(_) => "no-such-choice",
                    Ended::Failed(_) => "failed",
                },
                reason: ended.to_string(),
            };
            match serde_json::to_string(&run) {
                Ok(line) => output::say(&line),
                Err(error) => output::complain(&format!("the run cannot be written: {error}")),
            }
        }
        Format::Human => {
            let model = args.model.display().to_string();
            let text = trace_text::to_text_with(trace, &model, booleans);
            output::say(text.trim_end());
            match ended {
                Ended::Steps => {}
                Ended::NoSuchChoice(_) | Ended::Failed(_) => output::complain(&ended.to_string()),
                Ended::Idle | Ended::Timelock => {
                    output::say(&Palette::for_stdout().faint(&format!("The run ends: {ended}.")));
                }
            }
        }
    }
}

/// The edges of a transition with their processes.
fn who(transition: &TraceTransition) -> String {
    let edges = transition.edges.iter().map(|e| {
        let select: Vec<String> = e.select.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let with = match select.is_empty() {
            true => String::new(),
            false => format!(" with {}", select.join(", ")),
        };
        format!("{}: {} → {}{with}", e.process, e.from, e.to)
    });
    let by = transition.channel.as_ref().map(|c| format!("  by {c}"));
    edges.collect::<Vec<_>>().join(", ") + &by.unwrap_or_default()
}
