//! `zonelens verify`: runs queries and says what came out, for people and for scripts.

mod arguments;
mod human;
mod junit;
mod long_trace;

pub use arguments::{Args, constant};

use crate::config::Configs;
use crate::model::{Prepared, Source, passes};
use crate::progress::{Bar, interrupt_flag};
use crate::{BAD_INPUT, SUCCESS, output};
use arguments::Format;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use zonelens_analysis::report::{Options, QueryReport, Verdict};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::QueryRef;

/// Some query does not answer what it should.
const SOME_FAIL: u8 = 1;
/// Some query has no answer.
const SOME_UNKNOWN: u8 = 3;
/// Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Where the formulas stand on the command line: positions of QUERIES and of each `-q`.
#[derive(Clone, Debug, Default)]
pub struct Order {
    queries: Option<usize>,
    formulas: Vec<usize>,
}

/// Takes the order of QUERIES and `-q` from the parsed command line.
pub fn order(matches: &clap::ArgMatches) -> Order {
    Order {
        queries: matches.indices_of("queries").and_then(|mut i| i.next()),
        formulas: matches
            .indices_of("formula")
            .map(Iterator::collect)
            .unwrap_or_default(),
    }
}

/// Runs the queries; gives the exit status of the contract.
pub fn run(args: &Args, order: &Order) -> u8 {
    let mut configs = Configs::default();
    let options = args.options(configs.of(&args.model).options);
    if !configs.problems.is_empty() {
        for problem in &configs.problems {
            output::complain(problem);
        }
        return BAD_INPUT;
    }
    let (prepared, sources) = match load(args, order, &options) {
        Ok(loaded) => loaded,
        Err(message) => {
            output::complain(&message);
            return BAD_INPUT;
        }
    };
    let asked = select_queries(&prepared.source, &sources);
    if asked.is_empty() {
        let own = match prepared.source.file.kind {
            FileKind::Xml => "add one in UPPAAL",
            _ => "write `//@ query A[] …` in it",
        };
        output::complain(&format!(
            "{} has no query; {own}, write a `.q` file beside it, or give one with -q",
            args.model.display()
        ));
        return BAD_INPUT;
    }
    let mut printer = Printer::new(args);
    printer.begin(&prepared);
    let interrupted = interrupt_flag();
    let mut reports = Vec::with_capacity(asked.len());
    for (from, query) in asked {
        let report = ask(&prepared, from, query, &options, &interrupted);
        printer.report(&report, from);
        reports.push(report);
    }
    printer.end(&reports);
    if interrupted.load(Ordering::SeqCst) {
        return INTERRUPTED;
    }
    status(&reports)
}

fn ask(
    prepared: &Prepared,
    from: &Source,
    query: QueryRef<'_>,
    options: &Options,
    interrupted: &AtomicBool,
) -> QueryReport {
    if interrupted.load(Ordering::SeqCst) {
        let reason = "cancelled: the run was interrupted before this query".to_owned();
        let line = from.line_of(query);
        let mut report =
            QueryReport::without_run(&query.query.text, line, Verdict::Unknown, reason);
        report.expected = crate::model::expected(query.query);
        return report;
    }
    let bar = Bar::start(&query.query.text);
    let control = Control {
        cancelled: interrupted,
        progress: &|progress| bar.show(progress),
    };
    let report = prepared.ask(from, query, options, &control);
    bar.finish();
    report
}

/// The exit status of the contract.
fn status(reports: &[QueryReport]) -> u8 {
    let any = |verdict| reports.iter().any(|r| r.verdict == verdict);
    if any(Verdict::Error) {
        BAD_INPUT
    } else if reports
        .iter()
        .any(|r| r.verdict != Verdict::Unknown && !passes(r))
    {
        SOME_FAIL
    } else if any(Verdict::Unknown) {
        SOME_UNKNOWN
    } else {
        SUCCESS
    }
}

/// Where queries come from.
struct Sources {
    /// Whether those inside the model run, before the others.
    embedded: bool,
    /// Query files and formulas, in the order in which they run.
    others: Vec<Source>,
}

/// Reads the model and what is asked of it.
fn load(args: &Args, order: &Order, options: &Options) -> Result<(Prepared, Sources), String> {
    let model = Source::read(&args.model)?;
    if model.file.kind == FileKind::Query {
        return Err(format!(
            "{} is a query file; give the model first: zonelens verify MODEL {0}",
            args.model.display()
        ));
    }
    let embedded = args.queries.is_none() && args.formulas.is_empty();
    let others = if embedded {
        let path = sibling(&args.model);
        path.map(|path| Source::read(&path))
            .transpose()?
            .into_iter()
            .collect()
    } else {
        explicit(args, order)?
    };
    let prepared = Prepared::new(model, &options.constants);
    prepared.know_constants(args.constants())?;
    Ok((prepared, Sources { embedded, others }))
}

/// QUERIES and the formulas of `-q`, in command-line order.
fn explicit(args: &Args, order: &Order) -> Result<Vec<Source>, String> {
    let mut sources = Vec::new();
    if let Some(path) = &args.queries {
        let text = crate::model::read_text(path)?;
        let kind = match FileKind::from_path(&path.to_string_lossy()) {
            FileKind::Xml => FileKind::Xml,
            _ => FileKind::Query,
        };
        let source = Source::new(Some(path.clone()), text, kind);
        if source.queries().is_empty() {
            return Err(format!("{} holds no query", path.display()));
        }
        sources.push((order.queries.unwrap_or(0), source));
    }
    for (i, formula) in args.formulas.iter().enumerate() {
        let source = Source::new(None, formula.as_str(), FileKind::Query);
        if source.queries().is_empty() {
            return Err(format!("-q {formula:?} holds no query"));
        }
        let at = order.formulas.get(i).copied().unwrap_or(usize::MAX);
        sources.push((at, source));
    }
    sources.sort_by_key(|(at, _)| *at);
    Ok(sources.into_iter().map(|(_, source)| source).collect())
}

/// The query file beside a model, if there is one.
pub fn sibling(model: &Path) -> Option<PathBuf> {
    let path = model.with_extension("q");
    path.is_file().then_some(path)
}

/// The queries that run. Of embedded and sibling ones, the same text runs once.
fn select_queries<'a>(model: &'a Source, sources: &'a Sources) -> Vec<(&'a Source, QueryRef<'a>)> {
    let mut out: Vec<(&Source, QueryRef<'_>)> = Vec::new();
    let own = sources.embedded.then_some(model);
    for from in own.into_iter().chain(&sources.others) {
        for query in from.queries() {
            let again = out.iter().any(|(_, q)| q.query.text == query.query.text);
            if !(sources.embedded && again) {
                out.push((from, query));
            }
        }
    }
    out
}

/// Writes reports in the chosen form, each as soon as it is known.
struct Printer<'a> {
    args: &'a Args,
    human: human::Human,
}

impl<'a> Printer<'a> {
    fn new(args: &'a Args) -> Printer<'a> {
        Printer {
            args,
            human: human::Human::new(output::Palette::for_stdout()),
        }
    }

    fn begin(&self, prepared: &Prepared) {
        for error in prepared.errors() {
            let place = prepared.source.place(error.span);
            output::complain(&format!("{place}: {} [{}]", error.message, error.code));
        }
        if self.args.format == Format::Human {
            output::say(&self.human.heading(&self.args.model));
        }
    }

    fn report(&mut self, report: &QueryReport, from: &Source) {
        match self.args.format {
            Format::Human => {
                let text = self
                    .human
                    .report(report, from.path.as_deref(), &self.args.model);
                output::say(&text);
            }
            Format::Json => match long_trace::to_json(report, self.args.full_trace) {
                Ok(line) => output::say(&line),
                Err(error) => output::complain(&format!("a report cannot be written: {error}")),
            },
            Format::Junit => {}
        }
    }

    fn end(&self, reports: &[QueryReport]) {
        match self.args.format {
            Format::Human => output::say(&self.human.summary(reports)),
            Format::Json => {}
            Format::Junit => {
                output::say(junit::document(&self.args.model, reports).trim_end());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(verdict: Verdict, expected: Option<Verdict>) -> QueryReport {
        let mut report = QueryReport::without_run("A[] true", 1, verdict, String::new());
        report.expected = expected;
        report
    }

    #[test]
    fn exit_status_follows_the_contract() {
        use Verdict::{Error, Satisfied, Unknown, Violated};
        let of = |list: &[(Verdict, Option<Verdict>)]| {
            status(&list.iter().map(|&(v, e)| report(v, e)).collect::<Vec<_>>())
        };
        assert_eq!(of(&[(Satisfied, None), (Violated, Some(Violated))]), 0);
        assert_eq!(of(&[(Violated, None)]), 1);
        assert_eq!(of(&[(Satisfied, Some(Violated))]), 1);
        assert_eq!(of(&[(Unknown, None), (Violated, None)]), 1);
        assert_eq!(of(&[(Unknown, Some(Satisfied)), (Satisfied, None)]), 3);
        assert_eq!(of(&[(Error, None), (Violated, None), (Unknown, None)]), 2);
    }
}
