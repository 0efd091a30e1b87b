//! `zonelens simulate`: walks a model, at random or step by step, by the same interpreter that
//! replays traces.

use crate::model::{Prepared, Source};
use crate::output::Palette;
use crate::verify::constant;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::{Args as ClapArgs, ValueEnum};
use serde::Serialize;
use std::io::{BufRead, Write};
use std::path::PathBuf;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{Trace, TraceTransition};
use zonelens_analysis::trace_text::{self, Booleans};
use zonelens_interpreter::{Choice, Ended, Rng, SimulateOptions, Simulator, Unavailable, simulate};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// What `--help` says about the exit status.
const STATUS: &str = "\
Exit status:
  0  the run was written
  2  bad usage, an erroneous model, an error on the way, or a chosen transition that does not exist";

/// Arguments of `zonelens simulate`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub struct Args {
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
    /// Ask for every step on standard input
    #[arg(long, short = 'i')]
    interactive: bool,
    /// How to write the run
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Override a global integer or boolean constant before any size is evaluated
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    constants: Vec<(String, i64)>,
}

/// How the run is written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For people
    Human,
    /// One JSON object: a trace and why it ends
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

/// Walks; gives the exit status: 0, or 2 if the model has errors, fails on the way or lacks a
/// chosen transition.
pub fn run(args: &Args) -> u8 {
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
    let (trace, ended) = if args.interactive {
        ask_for_steps(args, network, &position)
    } else {
        let options = SimulateOptions {
            steps: args.steps,
            seed: args.seed,
            guide: args.choose.clone(),
        };
        simulate(network, &options, &position)
    };
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
            if !args.interactive {
                let model = args.model.display().to_string();
                let text = trace_text::to_text_with(trace, &model, booleans);
                output::say(text.trim_end());
            }
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

/// Shows the transitions of every state and takes the one that is asked for, until the input or the
/// steps end.
fn ask_for_steps(
    args: &Args,
    network: &Network,
    position: &dyn Fn(Span) -> Position,
) -> (Trace, Ended) {
    let mut simulator = match Simulator::new(network, position) {
        Ok(simulator) => simulator.seeded(args.seed),
        Err(ended) => {
            let options = SimulateOptions::default();
            return (simulate(network, &options, position).0, ended);
        }
    };
    let booleans = network.boolean_names();
    let mut rng = Rng::new(args.seed);
    let mut guide = args.choose.iter().copied();
    loop {
        let mut screen = String::new();
        last_step(
            &simulator.trace,
            &args.model.display().to_string(),
            &booleans,
            &mut screen,
        );
        let (choices, unavailable) = match simulator.look() {
            Ok(found) => found,
            Err(ended) => return (simulator.trace, ended),
        };
        list(&choices, &unavailable, &mut screen);
        show(args, &screen);
        if choices.is_empty() {
            let ended = simulator.stuck();
            return (simulator.trace, ended);
        }
        let Some(number) = guide.next().map(Some).or_else(|| read(args, choices.len())) else {
            return (simulator.trace, Ended::Steps);
        };
        let taken = match number.map(|n| choices.get(n)) {
            None => {
                let pick = rng.below(choices.len());
                simulator.take(&choices[pick], Some(&mut rng))
            }
            Some(Some(choice)) => simulator.take(choice, None),
            Some(None) => {
                let message = format!("there are only {} transitions here", choices.len());
                return (simulator.trace, Ended::NoSuchChoice(message));
            }
        };
        if let Err(ended) = taken {
            return (simulator.trace, ended);
        }
    }
}

/// A line of input: `Some(None)` is a random step, `None` the end.
fn read(args: &Args, count: usize) -> Option<Option<usize>> {
    loop {
        show(args, "number, Enter for any, q to end> ");
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        match line.trim() {
            "" => return Some(None),
            "q" | "quit" | "exit" => return None,
            text => match text.parse::<usize>() {
                Ok(number) if number < count => return Some(Some(number)),
                _ => show(args, &format!("write a number from 0 to {}\n", count - 1)),
            },
        }
    }
}

/// Talk goes where it does not mix with JSON.
fn show(args: &Args, text: &str) {
    if args.format == Format::Json {
        let _ = write!(std::io::stderr().lock(), "{text}");
    } else {
        let mut out = std::io::stdout().lock();
        let _ = write!(out, "{text}");
        let _ = out.flush();
    }
}

/// The last step of the run in words.
fn last_step(trace: &Trace, model: &str, booleans: &Booleans, out: &mut String) {
    use std::fmt::Write;
    let steps = trace_text::steps_with(trace, booleans);
    let Some(step) = steps.last() else { return };
    let _ = write!(
        out,
        "\n{:>3}  t = {}  {}",
        steps.len() - 1,
        step.time,
        step.action
    );
    if !step.delay.is_zero() {
        let _ = write!(out, "  (after {})", step.delay);
    }
    out.push('\n');
    for edge in &step.edges {
        let _ = writeln!(out, "       {}  {model}:{}", edge.text, edge.line);
    }
    for change in &step.changes {
        let _ = writeln!(out, "         {change}");
    }
}

/// At most this many transitions that are not possible are listed.
const MOST_UNAVAILABLE: usize = 20;

fn list(choices: &[Choice], unavailable: &[Unavailable], out: &mut String) {
    use std::fmt::Write;
    for (number, choice) in choices.iter().enumerate() {
        let when = match choice.window.as_str() {
            "0" => "now".to_owned(),
            window => format!("after {window}"),
        };
        let _ = writeln!(out, "  [{number}] {when}: {}", who(&choice.transition));
    }
    for blocked in unavailable.iter().take(MOST_UNAVAILABLE) {
        let _ = writeln!(
            out,
            "  [-] {}: {}",
            who(&blocked.transition),
            blocked.reason
        );
    }
    if let Some(more) = unavailable
        .len()
        .checked_sub(MOST_UNAVAILABLE)
        .filter(|n| *n > 0)
    {
        let _ = writeln!(out, "  [-] and {more} more that are not possible");
    }
}

/// Who takes which edge of a transition.
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
