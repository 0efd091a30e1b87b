//! `zonelens verify`: runs queries and prints the results for users and scripts.

mod arguments;
mod human;
mod junit;
mod long_trace;
mod selection;

pub(crate) use arguments::{Args, constant};
pub(crate) use selection::sibling;

use crate::certify::Wanted;
use crate::config::Configs;
use crate::inputs::{self, Input};
use crate::model::{Prepared, Source, passes};
use crate::progress::{Bar, Position, interrupt_flag};
use crate::{BAD_INPUT, SUCCESS, output};
use arguments::Format;
use selection::{Plan, select_queries};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use zonelens_analysis::report::{Options, QueryReport, Reason, Verdict};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::QueryRef;

/// The exit status if some query has another verdict than expected.
const SOME_FAIL: u8 = 1;
/// The exit status if some query has no verdict.
pub(crate) const SOME_UNKNOWN: u8 = 3;
/// The exit status after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// The order of the arguments on the command line: the positions of each path and of each `-q`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    paths: Vec<usize>,
    formulas: Vec<usize>,
}

/// Takes the order of paths and `-q` from the parsed command line.
pub(crate) fn order(matches: &clap::ArgMatches) -> Order {
    let of = |id: &str| {
        let indices = matches.indices_of(id);
        indices.map(Iterator::collect).unwrap_or_default()
    };
    Order {
        paths: of("paths"),
        formulas: of("formula"),
    }
}

/// Runs the queries of all models; returns the documented exit status.
pub(crate) fn run(args: &Args, order: &Order) -> u8 {
    let plan = match Plan::new(args, order) {
        Ok(plan) => plan,
        Err(message) => {
            output::complain(&message);
            return BAD_INPUT;
        }
    };
    let mut configs = Configs::default();
    let options: Vec<Options> = plan
        .models
        .iter()
        .map(|model| args.options(configs.of(&model.path).options))
        .collect();
    if !configs.problems.is_empty() {
        for problem in &configs.problems {
            output::complain(problem);
        }
        return BAD_INPUT;
    }
    plan.problems.iter().for_each(|p| output::complain(p));
    let mut run = Run {
        args,
        plan: &plan,
        printer: Printer::new(args),
        interrupted: &interrupt_flag(),
        tally: Tally::default(),
        unwritten: false,
    };
    let mut bad = !plan.problems.is_empty();
    let mut asked = 0;
    for (number, options) in options.iter().enumerate() {
        match run.model(number, options) {
            Ok(count) => asked += count,
            Err(message) => {
                output::complain(&message);
                bad = true;
            }
        }
        let left = plan.models.len() - number - 1;
        if run.is_interrupted() && left > 0 {
            let models = if left == 1 {
                "model was"
            } else {
                "models were"
            };
            output::complain(&format!("interrupted: {left} more {models} not begun"));
            break;
        }
    }
    if asked == 0 && !bad {
        output::complain("no model has a query");
        bad = true;
    }
    run.printer.end(&run.tally);
    match (run.is_interrupted(), bad || run.unwritten) {
        (true, _) => INTERRUPTED,
        (false, true) => BAD_INPUT,
        (false, false) => run.tally.status(),
    }
}

/// A run over all models.
struct Run<'a> {
    args: &'a Args,
    plan: &'a Plan,
    printer: Printer<'a>,
    interrupted: &'a AtomicBool,
    tally: Tally,
    /// Whether a certificate could not be written.
    unwritten: bool,
}

impl Run<'_> {
    fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Runs the queries of one model; returns their number, or the reason why they cannot be run.
    fn model(&mut self, number: usize, options: &Options) -> Result<usize, String> {
        let input = &self.plan.models[number];
        let path = &input.path;
        let source = Source::read(path)?;
        if source.file.kind == FileKind::Query {
            return Err(format!("{} is a query file; give a model", path.display()));
        }
        let beside = match (self.plan.embedded, sibling(path)) {
            (true, Some(path)) => vec![Source::read(&path)?],
            _ => Vec::new(),
        };
        let prepared = Prepared::new(source, &options.constants);
        prepared.know_constants(self.args.constants())?;
        let others = match self.plan.embedded {
            true => &beside,
            false => &self.plan.asked,
        };
        let asked = select_queries(&prepared.source, self.plan.embedded, others);
        if asked.is_empty() {
            return self.nothing_to_ask(input, prepared.source.file.kind);
        }
        let alone = asked.len() == 1 && self.plan.models.len() == 1;
        if self.args.certificate.is_some() && !alone {
            let message = "--certificate writes the certificate of one query; choose one with -q";
            return Err(message.to_owned());
        }
        let certificates = self.args.certificates();
        self.printer.begin(path, &prepared);
        let total = asked.len();
        let mut reports = Vec::with_capacity(total);
        for (k, (from, query)) in asked.into_iter().enumerate() {
            let position = Position {
                query: (k + 1, total),
                model: (number + 1, self.plan.models.len()),
            };
            let flag = self.interrupted;
            let wanted = certificates.as_ref();
            let (report, written) = ask(&prepared, from, query, options, &position, (flag, wanted));
            if let Err(message) = written {
                output::complain(&message);
                self.unwritten = true;
            }
            self.printer.report(path, &prepared, &report, from);
            self.tally.take(&report);
            reports.push(report);
        }
        self.printer.finish(path, &reports);
        Ok(total)
    }

    /// A model that was named must have a query; in a folder, some models have none.
    fn nothing_to_ask(&self, input: &Input, kind: FileKind) -> Result<usize, String> {
        let name = inputs::shown(&input.path);
        if input.found {
            output::complain(&format!("{name} has no query and is skipped"));
            return Ok(0);
        }
        let own = match kind {
            FileKind::Xml => "add one in UPPAAL",
            _ => "write `//@ query A[] …` in it",
        };
        Err(format!(
            "{name} has no query; {own}, write a `.q` file next to it, or give one with -q"
        ))
    }
}

fn ask(
    prepared: &Prepared,
    from: &Source,
    query: QueryRef<'_>,
    options: &Options,
    position: &Position,
    (interrupted, certificate): (&AtomicBool, Option<&Wanted>),
) -> (QueryReport, Result<(), String>) {
    if interrupted.load(Ordering::SeqCst) {
        let reason = Reason::Cancelled("the run was interrupted before this query".to_owned());
        let line = from.line_of(query);
        let mut report =
            QueryReport::without_run(&query.query.text, line, Verdict::Unknown, reason);
        report.expected = crate::model::expected(query.query);
        return (report, Ok(()));
    }
    let bar = Bar::start(&query.query.text, position);
    let control = Control {
        cancelled: interrupted,
        progress: &|progress| bar.show(progress),
    };
    let answer = match certificate {
        Some(wanted) => prepared.ask_with_certificate(from, query, options, &control, wanted),
        None => (prepared.ask(from, query, options, &control), Ok(())),
    };
    bar.finish();
    answer
}

/// The numbers of queries by result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Queries with the expected verdict or, without an expectation, `satisfied`.
    pub passed: usize,
    /// Queries with another verdict.
    pub failed: usize,
    /// Queries without a verdict.
    pub unknown: usize,
    /// Queries and models with errors.
    pub errors: usize,
}

impl Tally {
    /// Counts a report.
    pub(crate) fn take(&mut self, report: &QueryReport) {
        match report.verdict {
            Verdict::Error => self.errors += 1,
            Verdict::Unknown => self.unknown += 1,
            _ if passes(report) => self.passed += 1,
            _ => self.failed += 1,
        }
    }

    /// The documented exit status.
    fn status(&self) -> u8 {
        match self {
            Tally { errors: 1.., .. } => BAD_INPUT,
            Tally { failed: 1.., .. } => SOME_FAIL,
            Tally { unknown: 1.., .. } => SOME_UNKNOWN,
            _ => SUCCESS,
        }
    }
}

/// Writes reports in the chosen format, each as soon as it is known.
struct Printer<'a> {
    args: &'a Args,
    human: human::Human,
    about: human::About,
    suites: junit::Suites,
    models: usize,
}

impl<'a> Printer<'a> {
    fn new(args: &'a Args) -> Printer<'a> {
        let palette = output::Palette::for_stdout();
        Printer {
            args,
            human: human::Human::new(palette, args.shows_witnesses()),
            about: human::About::default(),
            suites: junit::Suites::default(),
            models: 0,
        }
    }

    fn begin(&mut self, model: &Path, prepared: &Prepared) {
        for error in prepared.errors() {
            let place = prepared.source.place(error.span);
            output::complain(&format!("{place}: {} [{}]", error.message, error.code));
        }
        self.models += 1;
        if self.args.format == Format::Human {
            if self.models > 1 {
                output::say("");
            }
            output::say(&self.human.heading(model));
            self.about.booleans = prepared.booleans();
        }
    }

    fn report(&mut self, model: &Path, prepared: &Prepared, report: &QueryReport, from: &Source) {
        match self.args.format {
            Format::Human => {
                self.about.constants = prepared.constants_text(report);
                let from = from.path.as_deref();
                output::say(&self.human.report(report, from, model, &self.about));
            }
            Format::Json => match long_trace::to_json(model, report, self.args.full_trace) {
                Ok(line) => output::say(&line),
                Err(error) => output::complain(&format!("a report cannot be written: {error}")),
            },
            Format::Junit => {}
        }
    }

    /// Called after the last report on a model.
    fn finish(&mut self, model: &Path, reports: &[QueryReport]) {
        if self.args.format == Format::Junit {
            self.suites.add(model, reports);
        }
    }

    /// Called after the last model.
    fn end(&self, tally: &Tally) {
        match self.args.format {
            _ if self.models == 0 => {}
            Format::Human => output::say(&self.human.summary(tally, self.models)),
            Format::Json => {}
            Format::Junit => output::say(self.suites.document().trim_end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_status_follows_the_contract() {
        use Verdict::{Error, Satisfied, Unknown, Violated};
        let of = |list: &[(Verdict, Option<Verdict>)]| {
            let mut tally = Tally::default();
            for &(verdict, expected) in list {
                let mut report = QueryReport::without_run("A[] true", 1, verdict, None);
                report.expected = expected;
                tally.take(&report);
            }
            tally.status()
        };
        assert_eq!(of(&[(Satisfied, None), (Violated, Some(Violated))]), 0);
        assert_eq!(of(&[(Violated, None)]), 1);
        assert_eq!(of(&[(Satisfied, Some(Violated))]), 1);
        assert_eq!(of(&[(Unknown, None), (Violated, None)]), 1);
        assert_eq!(of(&[(Unknown, Some(Satisfied)), (Satisfied, None)]), 3);
        assert_eq!(of(&[(Error, None), (Violated, None), (Unknown, None)]), 2);
    }
}
