//! Whether a satisfied query says nothing: asked after its run.

use crate::model::{Prepared, Source};
use std::sync::atomic::Ordering;
use zonelens_analysis::report::{
    Options, QueryReport, Switch, TraceOption, TraceValue, Vacuous, Verdict,
};
use zonelens_analysis::vacuous::{Question, question};
use zonelens_checker::{Control, verify};
use zonelens_interpreter::{SimulateOptions, simulate};
use zonelens_syntax::ast::FileKind;

/// The second run may always take this long, and explore this many states.
const AT_LEAST: (f64, u64) = (0.5, 10_000);

/// The hint, if the query of a report is satisfied and says nothing. A premise is said never to
/// hold only after everything was explored exactly; that run is limited by what the first one took.
pub(crate) fn hint(
    prepared: &Prepared,
    report: &QueryReport,
    options: &Options,
    control: &Control<'_>,
) -> Option<Vacuous> {
    if report.verdict != Verdict::Satisfied || control.cancelled.load(Ordering::SeqCst) {
        return None;
    }
    match question(&report.query)? {
        Question::AtStart(condition, hint) => holds_at_start(prepared, &condition).then_some(hint),
        Question::Never(query, hint) => {
            is_violated(prepared, &query, report, options, control).then_some(hint)
        }
    }
}

fn holds_at_start(prepared: &Prepared, condition: &str) -> bool {
    let Some(network) = prepared.network() else {
        return false;
    };
    let start = SimulateOptions {
        steps: 0,
        seed: 1,
        guide: Vec::new(),
    };
    let (trace, _) = simulate(network, &start, &|span| prepared.position(span));
    let value = prepared.evaluate(&trace, 0, condition);
    matches!(value, Ok(TraceValue::Boolean(true)))
}

fn is_violated(
    prepared: &Prepared,
    query: &str,
    before: &QueryReport,
    options: &Options,
    control: &Control<'_>,
) -> bool {
    let formula = Source::new(None, query, FileKind::Query);
    let queries = formula.queries();
    let Some(query) = queries.first() else {
        return false;
    };
    let Ok((network, resolved)) = prepared.resolve(&formula, *query) else {
        return false;
    };
    let statistics = &before.statistics;
    let left = options
        .timeout
        .map_or(f64::MAX, |t| (t - statistics.seconds).max(0.0));
    let seconds = statistics.seconds.max(AT_LEAST.0).min(left);
    let states = statistics.stored.saturating_mul(2).max(AT_LEAST.1);
    let limits = Options {
        symmetry: options.symmetry,
        memory: options.memory,
        timeout: Some(seconds),
        states: Some(options.states.map_or(states, |most| most.min(states))),
        trace: TraceOption::None,
        // Everything is to be explored exactly, and by nothing else.
        without: Switch::ALL.into(),
        ..Options::default()
    };
    let position = |span| prepared.position(span);
    let report = verify(network, &resolved, &limits, &position, control);
    report.verdict == Verdict::Violated
}
