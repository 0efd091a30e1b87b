//! `zonelens render`: drawings of templates and traces.

use crate::model::{Prepared, Source};
use crate::progress::{Bar, Position, interrupt_flag};
use crate::{BAD_INPUT, SUCCESS, output, verify};
use clap::Args as ClapArgs;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use zonelens_analysis::report::{Options, QueryReport, TraceOption, Verdict};
use zonelens_checker::Control;
use zonelens_render::{chart, diagram, svg};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// The exit status after Ctrl-C.
const INTERRUPTED: u8 = 130;
/// The exit status if no query has a trace.
const NO_TRACE: u8 = 1;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Exit status:
  0    the picture is written
  1    with --trace, no query has a trace
  2    bad usage, or a file cannot be read or written
  130  interrupted";

/// Arguments of `zonelens render`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// The model, `.xta` or `.xml`
    model: PathBuf,
    /// The SVG file to write; `-` for standard output
    #[arg(short = 'o', long = "output", value_name = "OUT")]
    output: PathBuf,
    /// Draw only this template; may be given several times
    #[arg(long = "template", value_name = "NAME", conflicts_with = "trace")]
    templates: Vec<String>,
    /// Draw a trace as a sequence chart: that of the first query that has one
    #[arg(long)]
    trace: bool,
    /// Draw the trace of this formula instead of the queries of the model
    #[arg(
        short = 'q',
        value_name = "FORMULA",
        allow_hyphen_values = true,
        requires = "trace"
    )]
    formula: Option<String>,
    /// Show only the lane of this process; may be given several times
    #[arg(long = "process", value_name = "NAME", requires = "trace")]
    processes: Vec<String>,
    /// Override a global integer constant before any size is evaluated
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = verify::constant)]
    constants: Vec<(String, i64)>,
}

/// Formats that other programs create from SVG.
const CONVERTED: [&str; 12] = [
    "png", "pdf", "jpg", "jpeg", "gif", "webp", "bmp", "tif", "tiff", "eps", "ps", "avif",
];

/// Refuses other formats before any query is run.
fn is_svg(args: &Args) -> Result<(), Failure> {
    let extension = args.output.extension().map(|e| e.to_ascii_lowercase());
    let Some(format) = extension.as_ref().and_then(|e| e.to_str()) else {
        return Ok(());
    };
    if !CONVERTED.contains(&format) {
        return Ok(());
    }
    let (out, svg) = (args.output.display(), args.output.with_extension("svg"));
    let svg = svg.display();
    let convert = match format {
        "png" => format!("rsvg-convert -o {out} {svg}"),
        "pdf" | "eps" | "ps" => format!("rsvg-convert -f {format} -o {out} {svg}"),
        _ => format!("magick {svg} {out}"),
    };
    Err(format!(
        "{out}: pictures are SVG; write -o {svg} and convert it, for instance by `{convert}`"
    )
    .into())
}

/// Draws and returns the exit status.
pub(crate) fn run(args: &Args) -> u8 {
    let drawn = is_svg(args).and_then(|()| draw(args)).and_then(|picture| {
        write(args, &picture).map_err(|message| Failure {
            message,
            status: BAD_INPUT,
        })
    });
    match drawn {
        Ok(()) => SUCCESS,
        Err(failure) => {
            output::complain(&failure.message);
            failure.status
        }
    }
}

struct Failure {
    message: String,
    status: u8,
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure {
            message,
            status: BAD_INPUT,
        }
    }
}

fn draw(args: &Args) -> Result<String, Failure> {
    let source = Source::read(&args.model)?;
    if source.file.kind == FileKind::Query {
        return Err(format!("{} is a query file; give the model", args.model.display()).into());
    }
    let prepared = Prepared::new(source, &args.constants.iter().cloned().collect());
    prepared.know_constants(&args.constants)?;
    if args.trace {
        draw_trace(args, &prepared)
    } else {
        draw_templates(args, &prepared)
    }
}

fn draw_templates(args: &Args, prepared: &Prepared) -> Result<String, Failure> {
    let source = &prepared.source;
    let position = |at: u32| {
        let at = source.line_col(at);
        diagram::Position {
            line: at.line.saturating_sub(1),
            character: at.column.saturating_sub(1),
        }
    };
    let range = |span: Span| diagram::Range {
        start: position(span.start),
        end: position(span.end),
    };
    let mut drawing = diagram::diagram(&source.file, prepared.network(), &range);
    let known: Vec<String> = drawing.templates.iter().map(|t| t.name.clone()).collect();
    if let Some(wrong) = args.templates.iter().find(|t| !known.contains(t)) {
        return Err(format!(
            "{} has no template {wrong}; it has {}",
            args.model.display(),
            known.join(", ")
        )
        .into());
    }
    if !args.templates.is_empty() {
        drawing
            .templates
            .retain(|t| args.templates.contains(&t.name));
    }
    if drawing.templates.is_empty() {
        return Err(format!("{} has no template to draw", args.model.display()).into());
    }
    let title = args.model.file_name().unwrap_or_default();
    Ok(svg::diagram(&drawing, &title.to_string_lossy()))
}

fn draw_trace(args: &Args, prepared: &Prepared) -> Result<String, Failure> {
    if let Some(error) = prepared.errors().first() {
        let place = prepared.source.place(error.span);
        return Err(format!("{place}: {} [{}]", error.message, error.code).into());
    }
    let report = first_trace(args, prepared)?;
    let Some(trace) = &report.trace else {
        if let (Verdict::Error | Verdict::Unknown, Some(reason)) = (report.verdict, &report.reason)
        {
            return Err(format!("`{}` has no answer: {reason}", report.query).into());
        }
        return Err(Failure {
            message:
                "no query of this model has a trace: none is violated, and none asks for a witness"
                    .to_owned(),
            status: NO_TRACE,
        });
    };
    let known: Vec<&String> = trace
        .steps
        .first()
        .map(|s| s.state.locations.keys().collect())
        .unwrap_or_default();
    if let Some(wrong) = args.processes.iter().find(|p| !known.contains(p)) {
        let known: Vec<&str> = known.iter().map(|n| n.as_str()).collect();
        return Err(format!(
            "there is no process {wrong}; there are {}",
            known.join(", ")
        )
        .into());
    }
    let only: BTreeSet<String> = args.processes.iter().cloned().collect();
    let only = (!only.is_empty()).then_some(&only);
    Ok(svg::chart(&chart::chart(trace, only), &report.query))
}

/// Answers the queries in order until one has a trace.
fn first_trace(args: &Args, prepared: &Prepared) -> Result<QueryReport, Failure> {
    let mut others = Vec::new();
    match (&args.formula, verify::sibling(&args.model)) {
        (Some(formula), _) => {
            others.push(Source::new(None, formula.as_str(), FileKind::Query));
        }
        (None, Some(path)) => others.push(Source::read(&path)?),
        (None, None) => {}
    }
    let own = args.formula.is_none().then_some(&prepared.source);
    let options = Options {
        trace: TraceOption::Shortest,
        constants: args.constants.iter().cloned().collect(),
        ..Options::default()
    };
    let interrupted = interrupt_flag();
    let sources = || own.into_iter().chain(&others);
    let total = sources().map(|s| s.queries().len()).sum();
    let mut number = 0;
    let mut last = None;
    for from in sources() {
        for query in from.queries() {
            let bar = Bar::start(&query.query.text, &position(&mut number, total));
            let control = Control {
                cancelled: &interrupted,
                progress: &|progress| bar.show(progress),
            };
            let report = prepared.ask(from, query, &options, &control);
            bar.finish();
            if interrupted.load(Ordering::SeqCst) {
                return Err(Failure {
                    message: "interrupted before a trace was found".to_owned(),
                    status: INTERRUPTED,
                });
            }
            if report.trace.is_some() {
                return Ok(report);
            }
            last = Some(report);
        }
    }
    let none = format!("{} has no query; give one with -q", args.model.display());
    last.ok_or_else(|| none.into())
}

/// The position of the next query among all queries.
fn position(number: &mut usize, total: usize) -> Position {
    *number += 1;
    Position {
        query: (*number, total),
        model: (1, 1),
    }
}

fn write(args: &Args, picture: &str) -> Result<(), String> {
    if args.output.as_os_str() == "-" {
        // A closed pipe is the reader's choice, not an error.
        let _ = std::io::stdout().lock().write_all(picture.as_bytes());
        return Ok(());
    }
    std::fs::write(&args.output, picture)
        .map_err(|error| format!("{} cannot be written: {error}", args.output.display()))
}
