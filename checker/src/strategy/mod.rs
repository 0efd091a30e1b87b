//! From a query to its report: the abstraction that is exact for it, the search, the trace and the
//! verdict.
//!
//! `portfolio.rs` lists the strategies and the order of their turns.

mod bounds_query;
mod certify;
mod certify_runs;
mod certify_symmetry;
mod coverage;
pub(crate) mod extremes;
mod fastest;
mod growth;
mod live;
mod live_answer;
mod live_turns;
mod loose;
mod plan;
mod portfolio;
pub(crate) mod reachable;
mod scheduler;
mod searches;

pub use certify::{Certificate, verify_and_certify};

use crate::graph::expander::Expander;
use crate::program::{CompileError, Fault, Program};
use crate::search::limits::{Steady, Stop, Watch};
use crate::search::sequential::Settings;
use crate::symmetry::Chosen;
use crate::witness::traces::Tracer;
use zonelens_analysis::network::{CellId, Network, Position, Query, QueryKind};
use zonelens_analysis::report::{
    LeastTime, Options, QueryReport, Reason, SymmetryOption, SymmetryReport, Trace, TraceOption,
    Verdict,
};
use zonelens_interpreter::{Failure, Limit, Names};
use zonelens_syntax::ast::PathKind;
use zonelens_syntax::span::Span;

pub use coverage::coverage;

/// A search as the strategies use it: reduced, audited or plain.
pub(crate) type Search<'p> = crate::search::sequential::Search<'p, Chosen<'p>>;

/// Everything that the run of a query needs.
pub(crate) struct Run<'a> {
    pub network: &'a Network,
    pub query: &'a Query,
    pub options: &'a Options,
    pub position: &'a (dyn Fn(Span) -> Position + Sync),
    pub program: &'a Program,
    /// When the run must end, including the construction of traces.
    pub limit: Limit<'a>,
    /// Where to leave a certificate, if one is wanted.
    pub sink: Option<&'a certify::Sink>,
}

/// The result of a search, before it becomes a report.
pub(crate) struct Answer {
    pub verdict: Verdict,
    pub reason: Option<Reason>,
    pub trace: Option<Box<Trace>>,
    pub values: Vec<zonelens_analysis::report::BoundsValue>,
    pub symmetry: Option<Box<SymmetryReport>>,
    /// The strategy that decided the question, if it was not the search that was asked for.
    pub decided_by: Option<&'static str>,
    /// Whether a query that names elements was evaluated for whole orbits.
    pub symmetrised: bool,
    /// The time of the fastest runs, if it was asked for and found.
    pub least_time: Option<LeastTime>,
}

impl Answer {
    pub(crate) fn verdict(verdict: Verdict) -> Answer {
        Answer {
            verdict,
            reason: None,
            trace: None,
            values: Vec::new(),
            symmetry: None,
            decided_by: None,
            symmetrised: false,
            least_time: None,
        }
    }

    pub(crate) fn because(verdict: Verdict, reason: Reason) -> Answer {
        Answer {
            reason: Some(reason),
            ..Answer::verdict(verdict)
        }
    }

    /// The limit for judging the stored states; `None` for a run without a verdict, which stopped
    /// early and is not judged.
    pub(crate) fn judged<'w>(&self, watch: &Watch<'w>) -> Option<Limit<'w>> {
        (self.verdict != Verdict::Unknown).then(|| watch.limit())
    }

    /// The reason as JSON spells it; empty if there is no reason.
    pub(crate) fn reason_text(&self) -> String {
        let text = self.reason.as_ref().map(Reason::to_string);
        text.unwrap_or_default()
    }

    pub(crate) fn stopped(stop: Stop) -> Answer {
        Answer::because(Verdict::Unknown, stop.reason())
    }

    pub(crate) fn internal(message: impl std::fmt::Display) -> Answer {
        Answer::because(
            Verdict::Error,
            Reason::Internal(format!("{message}; please report this model")),
        )
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Answer {
        Answer::because(Verdict::Unknown, Reason::Unsupported(message.into()))
    }

    fn uncompilable(error: &CompileError, run_position: Position) -> Answer {
        let Position { line, column } = run_position;
        Answer::unsupported(format!("line {line}, column {column}: {}", error.message))
    }
}

impl Run<'_> {
    /// The answer for a fault of the model, with the trace that leads to it.
    pub(crate) fn model_error(&self, fault: Fault, trace: Option<Trace>) -> Answer {
        let place = fault.span.map_or_else(String::new, |span| {
            let Position { line, column } = (self.position)(span);
            format!("line {line}, column {column}: ")
        });
        match fault.kind {
            kind if kind.is_ours() => Answer::unsupported(format!("{place}{kind}")),
            _ => {
                let message = self.message(&fault);
                let reason = Reason::ModelError(format!("{place}{message}"));
                let mut answer = Answer::because(Verdict::Error, reason);
                answer.trace = trace.map(Box::new);
                answer
            }
        }
    }

    /// The answer for a fault in the expressions of the query.
    pub(crate) fn query_error(&self, fault: Fault) -> Answer {
        match fault.kind {
            kind if kind.is_ours() => self.model_error(fault, None),
            _ => {
                let reason = Reason::QueryError(self.message(&fault));
                Answer::because(Verdict::Error, reason)
            }
        }
    }

    /// The message of a fault, with the names of variables.
    fn message(&self, fault: &Fault) -> String {
        let names = Names::new(self.network);
        let variable = |cell: u32| {
            let cell = &self.network.cells[CellId(cell)];
            self.network.variables[cell.variable].name.to_string()
        };
        fault.message(|cell| names.cell(CellId(cell)), variable)
    }

    /// A verdict whose trace could not be built: a limit was reached, or there is an internal
    /// error.
    pub(crate) fn untraced(&self, verdict: Verdict, failure: &Failure) -> Answer {
        match self.limit.is_over() {
            Some(over) => Answer::because(verdict, Stop::from(over).without_trace()),
            None => Answer::internal(format!("the trace does not replay ({})", failure.0)),
        }
    }

    /// Builds traces for this run.
    pub(crate) fn tracer(&self) -> Tracer<'_> {
        Tracer {
            network: self.network,
            query: self.query,
            options: self.options,
            position: self.position,
            program: self.program,
            limit: self.limit,
        }
    }

    /// Whether other strategies may take turns with a search that was asked for.
    pub(crate) fn may_take_turns(&self, settings: &Settings) -> bool {
        portfolio::may_take_turns(self.options, settings.order, settings.covering)
    }

    /// Whether the caller wants a trace.
    pub(crate) fn wants_trace(&self) -> bool {
        self.options.trace != TraceOption::None
    }
}

/// Runs one query. `position` turns a span of the model into line and column. The caller fills
/// `line` and `expected` of the report.
pub fn verify(
    network: &Network,
    query: &Query,
    options: &Options,
    position: &(dyn Fn(Span) -> Position + Sync),
    control: &crate::Control<'_>,
) -> QueryReport {
    let report = verify_once(network, query, options, position, control, None);
    if !options.compare_symmetry || options.symmetry == SymmetryOption::Off {
        return report;
    }
    let off = Options {
        symmetry: SymmetryOption::Off,
        audit_symmetry: false,
        ..options.clone()
    };
    let plain = verify_once(network, query, &off, position, control, None);
    let open = |r: &QueryReport| r.verdict == Verdict::Unknown;
    let same = report.verdict == plain.verdict
        && report.value == plain.value
        && report.values == plain.values;
    if same || open(&report) || open(&plain) {
        return report;
    }
    let message = format!(
        "with symmetry {:?} {:?}, without {:?} {:?}; please report this model",
        report.verdict, report.value, plain.verdict, plain.value
    );
    QueryReport::without_run(&query.text, 0, Verdict::Error, Reason::Internal(message))
}

fn verify_once(
    network: &Network,
    query: &Query,
    options: &Options,
    position: &(dyn Fn(Span) -> Position + Sync),
    control: &crate::Control<'_>,
    sink: Option<&certify::Sink>,
) -> QueryReport {
    let steady = Steady::new(control.progress);
    let control = &crate::Control {
        cancelled: control.cancelled,
        progress: &|progress| steady.show(progress),
    };
    let mut watch = Watch::new(options, control);
    let answer = match compiled(network, position) {
        Err(answer) => answer,
        Ok(program) => {
            let run = Run {
                network,
                query,
                options,
                position,
                program: &program,
                limit: watch.limit(),
                sink,
            };
            run.answer(&mut watch)
        }
    };
    let mut report = QueryReport::without_run(&query.text, 0, answer.verdict, answer.reason);
    report.statistics = watch.statistics();
    report.symmetrised = answer.symmetrised;
    report.least_time = answer.least_time;
    if let Some(symmetry) = answer.symmetry {
        report.symmetry = *symmetry;
    }
    report.value = answer.values.first().cloned();
    if answer.values.len() > 1 {
        report.values = answer.values;
    }
    if !network.clocks.is_empty() {
        report.reductions.push("active-clocks".to_owned());
    }
    report
        .reductions
        .extend(answer.decided_by.map(str::to_owned));
    report.trace = answer
        .trace
        .filter(|_| options.trace != TraceOption::None)
        .map(|trace| *trace);
    report
}

/// Compiles a network, or says what it uses that is not supported.
fn compiled(
    network: &Network,
    position: &(dyn Fn(Span) -> Position + Sync),
) -> Result<Program, Answer> {
    if let Some(unsupported) = network.unsupported.iter().find(|u| u.fatal) {
        let Position { line, column } = position(unsupported.span);
        let message = &unsupported.message;
        let message = format!("line {line}, column {column}: {message}");
        return Err(Answer::unsupported(message));
    }
    Program::new(network).map_err(|error| Answer::uncompilable(&error, position(error.span)))
}

impl Run<'_> {
    /// The answer if the model has no initial state.
    fn start_fails(&self) -> Option<Answer> {
        match Expander::new(self.program).initial() {
            Err(fault) => Some(self.model_error(fault, None)),
            Ok((_, zones)) if zones.is_empty() => {
                let reason =
                    "the initial state violates an invariant, so the model has no behaviour";
                let reason = Reason::ModelError(reason.to_owned());
                Some(Answer::because(Verdict::Error, reason))
            }
            Ok(_) => None,
        }
    }

    fn answer(&self, watch: &mut Watch<'_>) -> Answer {
        if let Some(answer) = self.start_fails() {
            return answer;
        }
        match &self.query.kind {
            QueryKind::Path(PathKind::Possibly, e) => self.reachable(e, true, watch),
            QueryKind::Path(PathKind::Always, e) => self.reachable(e, false, watch),
            QueryKind::Path(PathKind::PotentiallyAlways, e) => self.stays(e, true, watch),
            QueryKind::Path(PathKind::Eventually, e) => self.stays(e, false, watch),
            QueryKind::LeadsTo(p, q) => self.leads_to(p, q, watch),
            QueryKind::Bounds {
                condition, exprs, ..
            } => self.extremes(condition.as_ref(), exprs, watch),
        }
    }
}
