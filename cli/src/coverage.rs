//! `zonelens coverage`: what a model never does.

use crate::config::Configs;
use crate::model::{Prepared, Source};
use crate::output::{Palette, one_line};
use crate::progress::{Bar, Position, interrupt_flag};
use crate::verify::{INTERRUPTED, SOME_UNKNOWN, constant};
use crate::{BAD_INPUT, SUCCESS, output};
use clap::{Args as ClapArgs, ValueEnum};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use zonelens_analysis::coverage::{CoverageReport, Finding, Kind};
use zonelens_analysis::report::{Options, Reason};
use zonelens_analysis::report_text;
use zonelens_checker::Control;
use zonelens_project::limit::{self, Limit};
use zonelens_syntax::ast::FileKind;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Every state is explored, without a query. Locations that are never entered, edges that are never taken, guards that are \
never true, receivers that never hear anything, and limits of declared ranges that are never reached are listed, each once \
per template.

Exit status:
  130  interrupted; what was not seen so far is written
  2    bad usage, an unreadable model, a model with errors, or an error during the run
  3    stopped by a limit, or not supported: nothing is called never
  0    everything was explored";

/// Arguments of `zonelens coverage`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// The model, `.xta` or `.xml`; `-` for standard input
    pub model: PathBuf,
    /// Override a global integer or boolean constant before any size is evaluated
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    constants: Vec<(String, i64)>,
    /// Stop at this much memory, `4G` for instance; `none` or 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = limit::memory)]
    memory: Option<Limit<u64>>,
    /// Stop after this time, `60s` for instance; `none` or 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = limit::time)]
    timeout: Option<Limit<f64>>,
    /// The format of the result
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
}

/// The format of the result.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for reading
    Human,
    /// One JSON object
    Json,
}

/// Explores the model and writes what never happens; returns the documented exit status.
pub(crate) fn run(args: &Args) -> u8 {
    match cover(args) {
        Ok(status) => status,
        Err(message) => {
            output::complain(&message);
            BAD_INPUT
        }
    }
}

fn cover(args: &Args) -> Result<u8, String> {
    let mut configs = Configs::default();
    let base = configs.of(&args.model).options;
    if let Some(problem) = configs.problems.first() {
        return Err(problem.clone());
    }
    let mut options = Options {
        memory: args.memory.map_or(base.memory, |limit| limit.0),
        timeout: args.timeout.map_or(base.timeout, |limit| limit.0),
        ..base
    };
    options.constants.extend(args.constants.iter().cloned());
    let source = Source::read(&args.model)?;
    let name = crate::inputs::shown(&args.model).to_string();
    if source.file.kind == FileKind::Query {
        return Err(format!("{name} is a query file; give a model"));
    }
    let prepared = Prepared::new(source, &options.constants);
    prepared.know_constants(&args.constants)?;
    for error in prepared.errors() {
        let place = prepared.source.place(error.span);
        output::complain(&format!("{place}: {} [{}]", error.message, error.code));
    }
    let interrupted = interrupt_flag();
    let bar = Bar::start("coverage", &Position::ONLY);
    let control = Control {
        cancelled: &interrupted,
        progress: &|progress| bar.show(progress),
    };
    let coverage = prepared.cover(&options, &control);
    bar.finish();
    let report = prepared.coverage_report(&coverage, &name);
    match args.format {
        Format::Human => say(&report, coverage.totals.locations + coverage.totals.edges),
        Format::Json => {
            let line = serde_json::to_string(&report);
            output::say(&line.map_err(|error| format!("the result cannot be written: {error}"))?);
        }
    }
    Ok(match &report.reason {
        _ if interrupted.load(Ordering::SeqCst) => INTERRUPTED,
        _ if report.complete => SUCCESS,
        Some(Reason::ModelError(_) | Reason::QueryError(_) | Reason::Internal(_)) => BAD_INPUT,
        _ => SOME_UNKNOWN,
    })
}

/// Writes the result for reading: one line for each thing, and one about the run.
fn say(report: &CoverageReport, looked_for: u32) {
    let palette = Palette::for_stdout();
    output::say(&palette.strong(&report.model));
    let found = match report.complete {
        true => &report.never,
        false => &report.not_seen,
    };
    let mut template = None;
    for one in shown(found) {
        if template != Some(&one.template) {
            template = Some(&one.template);
            let name = one.template.as_deref().unwrap_or("global declarations");
            output::say(&format!("\n  {}", palette.strong(&one_line(name))));
        }
        let place = palette.faint(&format!("{}:{}", one.line, one.column));
        output::say(&format!(
            "    {place}  {}",
            one_line(&one.sentence(report.complete))
        ));
    }
    if !found.is_empty() {
        output::say("");
    }
    output::say(&format!("  {}", summary(report, looked_for)));
}

/// What is listed for reading: a guard or a receiver is named with its edge, unless its edge says
/// nothing about it.
fn shown(found: &[Finding]) -> Vec<&Finding> {
    let mut shown: Vec<&Finding> = found
        .iter()
        .filter(|one| !matches!(one.kind, Kind::Guard | Kind::Receiver))
        .collect();
    // By template; within one, the order of the text stays.
    shown.sort_by_key(|one| one.template.as_deref().map(|name| first_line(found, name)));
    shown
}

fn first_line(found: &[Finding], template: &str) -> Option<(u32, u32)> {
    let own = found
        .iter()
        .filter(|one| one.template.as_deref() == Some(template));
    own.map(|one| (one.line, one.column)).min()
}

fn summary(report: &CoverageReport, looked_for: u32) -> String {
    let statistics = &report.statistics;
    let states = report_text::grouped(statistics.explored);
    let plural = if statistics.explored == 1 { "" } else { "s" };
    let found = |n: usize| report_text::grouped(n as u64);
    let run = format!(
        "{states} state{plural} in {}",
        report_text::seconds(statistics.seconds)
    );
    let limited = report
        .reason
        .as_ref()
        .map(|r| one_line(r.sentence()).into_owned());
    let limited = limited.map(|why| format!("; {why}")).unwrap_or_default();
    match (report.complete, &report.reason) {
        (true, _) if report.never.is_empty() => {
            format!(
                "Everything happens: {looked_for} locations and edges; {run}, all explored{limited}."
            )
        }
        (true, _) => {
            let never = shown(&report.never).len();
            let verb = if never == 1 { "happens" } else { "happen" };
            format!(
                "{} never {verb}; {run}, all explored{limited}.",
                found(never)
            )
        }
        (
            false,
            Some(reason @ (Reason::ModelError(_) | Reason::QueryError(_) | Reason::Internal(_))),
        ) => {
            format!("error: {}", one_line(reason.sentence()))
        }
        (false, _) if statistics.explored == 0 => format!("unknown{limited}."),
        (false, _) => format!(
            "{} not seen in {run}, which is not everything{limited}.",
            found(shown(&report.not_seen).len())
        ),
    }
}
