//! Traces from a cache: they are replayed before they are shown or used.

use super::eval::{Evaluator, Failure};
use super::limit::SharedBudget;
use super::replay::{describe, wait};
use super::state::{Concrete, Names, fraction};
use super::steps::{ConcreteEdge, invariants_hold, step_by};
use std::collections::BTreeMap;
use zonelens_analysis::network::{
    BinaryOp, BoundsExpr, ClockBase, ClockRef, Expr, ExprKind, Network, Position, Query, QueryKind,
    UnaryOp,
};
use zonelens_analysis::report::{
    Trace, TraceEdge, TraceKind, TraceState, TraceStep, TraceTransition, TraceValue,
};
use zonelens_syntax::ast::QuantifierKind;
use zonelens_syntax::span::Span;

/// The most parts of a time unit; beyond this the numbers of a trace cannot be right.
const MAX_UNIT: i64 = 1 << 40;

/// Why a request about a trace has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The budget is spent: a larger one may give an answer.
    Limit,
    /// There is no answer, for this reason.
    Refused(String),
}

/// Replays a trace by the numbers of its processes and edges, and returns it with the current names
/// and places of the network. `Err` says what does not fit.
pub fn replay_trace(
    network: &Network,
    trace: &Trace,
    position: &dyn Fn(Span) -> Position,
) -> Result<Trace, String> {
    replayed(network, trace, position, None).map_err(|f| f.0)
}

/// Like [`replay_trace`], within the budget.
pub fn replay_within(
    network: &Network,
    trace: &Trace,
    position: &dyn Fn(Span) -> Position,
    budget: &SharedBudget,
) -> Result<Trace, Stopped> {
    within(budget, replayed(network, trace, position, Some(budget)))
}

/// The value of the expression that `query` measures or claims, in a step of a trace.
pub fn evaluate(
    network: &Network,
    trace: &Trace,
    step: usize,
    query: &Query,
) -> Result<TraceValue, String> {
    valued(network, trace, step, query, None).map_err(|f| f.0)
}

/// Like [`evaluate`], within the budget.
pub(super) fn evaluate_within(
    network: &Network,
    trace: &Trace,
    step: usize,
    query: &Query,
    budget: &SharedBudget,
) -> Result<TraceValue, Stopped> {
    within(budget, valued(network, trace, step, query, Some(budget)))
}

/// A result after the budget was spent, success or failure, means nothing.
fn within<T>(budget: &SharedBudget, result: Result<T, Failure>) -> Result<T, Stopped> {
    match budget.is_spent() {
        true => Err(Stopped::Limit),
        false => result.map_err(|f| Stopped::Refused(f.0)),
    }
}

fn replayed(
    network: &Network,
    trace: &Trace,
    position: &dyn Fn(Span) -> Position,
    budget: Option<&SharedBudget>,
) -> Result<Trace, Failure> {
    let mut steps = Vec::new();
    let mut start = None;
    let last = walk(
        network,
        trace,
        trace.steps.len(),
        position,
        budget,
        |step, state| {
            if trace.cycle_start == Some(steps.len()) {
                start = Some(state.clone());
            }
            steps.push(step);
        },
    )?;
    if trace.kind == TraceKind::Lasso && (start.is_none() || start != last) {
        return Err(Failure("the end of the cycle is not its start".to_owned()));
    }
    Ok(Trace {
        kind: trace.kind,
        cycle_start: trace.cycle_start,
        steps,
    })
}

fn valued(
    network: &Network,
    trace: &Trace,
    step: usize,
    query: &Query,
    budget: Option<&SharedBudget>,
) -> Result<TraceValue, Failure> {
    let nowhere = |_: Span| Position::default();
    let last = match step < trace.steps.len() {
        true => walk(network, trace, step + 1, &nowhere, budget, |_, _| {})?,
        false => None,
    };
    let mut state = last.ok_or_else(|| Failure(format!("the trace has no step {step}")))?;
    let unit = state.unit;
    let mut evaluator = Evaluator::new(network, &mut state, query.frame);
    match &query.kind {
        QueryKind::Path(_, e) => whole(&mut evaluator, e),
        QueryKind::Bounds { exprs, .. } => match exprs.first() {
            Some(BoundsExpr::Int(e)) => whole(&mut evaluator, e),
            Some(BoundsExpr::Clock { left, right }) => {
                clock(&mut evaluator, left, right.as_ref(), unit)
            }
            None => Err(Failure("there is nothing to evaluate".to_owned())),
        },
        QueryKind::LeadsTo(..) => Err(Failure("`-->` is about runs, not about a state".to_owned())),
    }
}

fn whole(evaluator: &mut Evaluator<'_>, expr: &Expr) -> Result<TraceValue, Failure> {
    if matches!(expr.kind, ExprKind::Deadlock) {
        return Err(Failure(
            "`deadlock` is about possible steps, not about a state".to_owned(),
        ));
    }
    let value = evaluator.eval(expr)?;
    Ok(if is_boolean(expr) {
        TraceValue::Boolean(value != 0)
    } else {
        TraceValue::Integer(value)
    })
}

fn is_boolean(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, _)
        | ExprKind::SameBlock { .. }
        | ExprKind::Clock { .. }
        | ExprKind::At { .. } => true,
        ExprKind::Binary(op, ..) => matches!(
            op,
            BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Ge
                | BinaryOp::Gt
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Xor
        ),
        ExprKind::Quantifier { kind, .. } => *kind != QuantifierKind::Sum,
        ExprKind::Cond(_, a, _) => is_boolean(a),
        _ => false,
    }
}

fn clock(
    evaluator: &mut Evaluator<'_>,
    left: &ClockRef,
    right: Option<&ClockRef>,
    unit: i64,
) -> Result<TraceValue, Failure> {
    let mut read = |clock: &ClockRef| -> Result<i64, Failure> {
        let ClockBase::Clock(first) = clock.base else {
            return Err(Failure("this clock is a parameter".to_owned()));
        };
        let mut at = i64::from(first.0);
        for step in &clock.steps {
            let index = evaluator.eval(&step.index)? - i64::from(step.range.lo);
            if index < 0 || index >= i64::from(step.range.len) {
                return Err(Failure("an index is out of its range".to_owned()));
            }
            at += index * i64::from(step.stride);
        }
        let at = usize::try_from(at).ok();
        let value = at.and_then(|at| evaluator.state.clocks.get(at)).copied();
        value.ok_or_else(|| Failure("there is no such clock".to_owned()))
    };
    let value = read(left)? - right.map_or(Ok(0), read)?;
    Ok(TraceValue::Clock(fraction(value, unit)))
}

/// Calls `visit` for the first `count` steps with names and places, each with the state after it;
/// returns the last state.
fn walk(
    network: &Network,
    trace: &Trace,
    count: usize,
    position: &dyn Fn(Span) -> Position,
    budget: Option<&SharedBudget>,
    mut visit: impl FnMut(TraceStep, &Concrete),
) -> Result<Option<Concrete>, Failure> {
    let names = Names::new(network);
    let unit = unit_of(trace)?;
    let mut state = Concrete::initial(network, unit);
    state.budget = budget.cloned();
    if !invariants_hold(network, &mut state)? {
        return Err(Failure("the initial state violates an invariant".into()));
    }
    for (number, step) in trace.steps.iter().take(count).enumerate() {
        if let Some(budget) = budget {
            budget.step(state.size() as u64)?;
            budget.keep(state.described_bytes())?;
        }
        let delay = parts(&step.delay, unit)?;
        let told = |f: Failure| Failure(format!("step {number}: {}", f.0));
        if number > 0 {
            wait(network, &mut state, delay).map_err(told)?;
        }
        let mut transition = None;
        if let Some(wanted) = step.transition.as_ref().filter(|_| number > 0) {
            let found = match edges(network, wanted) {
                Some(edges) => {
                    let found = step_by(network, &mut state, &edges);
                    found.map_err(|broken| told(broken.into()))?
                }
                None => None,
            };
            let found = found.and_then(|(concrete, next)| {
                let shown = describe(network, &names, &concrete, &state, position);
                fits(&shown, wanted).then_some((shown, next))
            });
            let Some((shown, next)) = found else {
                return Err(told(Failure("it is not enabled".into())));
            };
            transition = Some(shown);
            state = next;
        }
        let shown = names.describe(network, &state);
        if !agrees(&shown, &step.state) {
            return Err(told(Failure("it leads to another state".into())));
        }
        let step = TraceStep {
            delay: fraction(delay, unit),
            transition,
            state: shown,
        };
        visit(step, &state);
    }
    Ok((count > 0 && !trace.steps.is_empty()).then_some(state))
}

/// The edges of a step that a trace names, if the network has them.
pub(super) fn edges(network: &Network, wanted: &TraceTransition) -> Option<Vec<ConcreteEdge>> {
    let edge = |told: &TraceEdge| {
        let process = network.processes.get(told.process_index as usize)?;
        let edge = process.edges.get(told.edge_index as usize)?;
        let value = |name: &str| i32::try_from(*told.select.get(name)?).ok();
        let values: Option<Vec<i32>> = edge.selects.iter().map(|s| value(&s.name)).collect();
        Some((told.process_index, told.edge_index, values?))
    };
    wanted.edges.iter().map(edge).collect()
}

/// Whether a possible step is the one in the trace; places in the text may differ.
fn fits(shown: &TraceTransition, wanted: &TraceTransition) -> bool {
    let mut pairs = shown.edges.iter().zip(&wanted.edges);
    shown.channel == wanted.channel
        && shown.edges.len() == wanted.edges.len()
        && pairs.all(|(a, b)| {
            a.process_index == b.process_index
                && a.edge_index == b.edge_index
                && a.select == b.select
        })
}

/// Whether two states agree on everything that both contain: a declaration that nothing uses may
/// have been added or removed since.
fn agrees(a: &TraceState, b: &TraceState) -> bool {
    fn same<T: PartialEq>(a: &BTreeMap<String, T>, b: &BTreeMap<String, T>) -> bool {
        a.iter()
            .all(|(name, value)| b.get(name).is_none_or(|other| other == value))
    }
    a.locations == b.locations && same(&a.variables, &b.variables) && same(&a.clocks, &b.clocks)
}

/// The number of parts of a time unit such that every delay of the trace is whole.
fn unit_of(trace: &Trace) -> Result<i64, Failure> {
    let mut unit: i64 = 1;
    for step in &trace.steps {
        let (_, denominator) = read(&step.delay)?;
        let (mut a, mut b) = (unit, denominator);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        unit = (unit / a)
            .checked_mul(denominator)
            .filter(|u| *u <= MAX_UNIT)
            .ok_or_else(|| Failure("a delay cannot be written in numbers".into()))?;
    }
    Ok(unit)
}

fn parts(delay: &str, unit: i64) -> Result<i64, Failure> {
    let (numerator, denominator) = read(delay)?;
    numerator
        .checked_mul(unit / denominator)
        .ok_or_else(|| Failure("a delay is too long".into()))
}

/// `3`, `3/2`
fn read(delay: &str) -> Result<(i64, i64), Failure> {
    let (n, d) = delay.split_once('/').unwrap_or((delay, "1"));
    match (n.trim().parse::<i64>(), d.trim().parse::<i64>()) {
        (Ok(n), Ok(d)) if n >= 0 && d > 0 && d <= MAX_UNIT => Ok((n, d)),
        _ => Err(Failure(format!("`{delay}` is no delay"))),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Allowance, SimulateOptions, evaluate_expression, simulate};
    use super::*;
    use std::time::Duration;
    use zonelens_analysis::Model;
    use zonelens_syntax::ast::FileKind;
    use zonelens_syntax::{SourceFile, parse_query};

    const MODEL: &str = "\
int n; chan a; broadcast chan b;
process P(const int[0, 1] i) {
    clock x;
    state s, t { x <= 5 }, u;
    init s;
    trans s -> t { sync a!; assign x = 0, n = n + 1; }, t -> u { guard x >= 3; sync b!; }, u -> s { };
}
process Q() { state s; init s; trans s -> s { select k : int[0, 2]; guard k < 2; sync a?; assign n = n % 7; }, s -> s { sync b?; }; }
system P, Q;
";

    const GENEROUS: Allowance = Allowance {
        steps: 10_000_000,
        depth: 1_000,
        moments: 100_000,
        bytes: 100 << 20,
        time: Duration::from_secs(600),
    };

    fn model() -> (Model, Network) {
        let file = SourceFile::parse(MODEL, FileKind::Xta);
        let model = Model::new(&file, &BTreeMap::new());
        let network = model.network().expect("a network");
        (model, network)
    }

    fn nowhere(_: Span) -> Position {
        Position::default()
    }

    #[test]
    fn runs_replay_and_changed_ones_do_not() {
        let (_, network) = model();
        for seed in 1..20 {
            let options = SimulateOptions {
                seed,
                ..SimulateOptions::default()
            };
            let (trace, _) = simulate(&network, &options, &nowhere);
            assert!(trace.steps.len() > 3);
            let again = replay_trace(&network, &trace, &nowhere).expect("it replays");
            assert_eq!(again, trace);
            let mut wrong = trace.clone();
            wrong.steps[2].state.variables.insert("n".into(), 99);
            assert!(replay_trace(&network, &wrong, &nowhere).is_err());
            let mut wrong = trace.clone();
            wrong.steps.remove(1);
            assert!(replay_trace(&network, &wrong, &nowhere).is_err());
            let mut wrong = trace.clone();
            wrong.steps[1].delay = "1/0".into();
            assert!(replay_trace(&network, &wrong, &nowhere).is_err());
            let mut wrong = trace;
            if let Some(t) = &mut wrong.steps[1].transition {
                t.edges[0].edge_index = 77;
            }
            assert!(replay_trace(&network, &wrong, &nowhere).is_err());
        }
    }

    #[test]
    fn expressions_have_the_values_of_the_step() {
        let (model, network) = model();
        let (trace, _) = simulate(&network, &SimulateOptions::default(), &nowhere);
        let ask = |step: usize, text: &str| {
            let query = model
                .resolve_query(&network, &parse_query(text), 0)
                .expect("resolved");
            evaluate(&network, &trace, step, &query)
        };
        for (number, step) in trace.steps.iter().enumerate() {
            let n = step.state.variables["n"];
            assert_eq!(
                ask(number, "sup: n + 1"),
                Ok(TraceValue::Integer(n + 1)),
                "{number}"
            );
            assert_eq!(ask(number, "E<> n == 1"), Ok(TraceValue::Boolean(n == 1)));
            let x = step.state.clocks["P(1).x"].clone();
            assert_eq!(ask(number, "sup: P(1).x"), Ok(TraceValue::Clock(x)));
            let at = step.state.locations["P(0)"] == "t";
            assert_eq!(ask(number, "E<> P(0).t"), Ok(TraceValue::Boolean(at)));
        }
        assert!(ask(trace.steps.len(), "sup: n").is_err());
        assert!(ask(0, "E<> deadlock").is_err());
    }

    /// Elements of scalarsets have the numbers that the trace shows.
    #[test]
    fn elements_have_the_names_of_the_trace() {
        let text = "typedef scalar[3] pid; pid id; bool seen[pid]; process Fischer(const pid i) { clock x; \
                    state a, b; init a; trans a -> b { guard x >= 2; assign x = 0, id = i, seen[i] = true; }, \
                    b -> a { guard x >= 1; }; } system Fischer;";
        let file = SourceFile::parse(text, FileKind::Xta);
        let model = Model::new(&file, &BTreeMap::new());
        let network = model.network().expect("a network");
        let (trace, _) = simulate(&network, &SimulateOptions::default(), &nowhere);
        let ask = |step: usize, text: &str| {
            let budget = SharedBudget::new(GENEROUS);
            evaluate_expression(&model, &network, &trace, step, text, &budget)
        };
        for (number, step) in trace.steps.iter().enumerate() {
            let id = step.state.variables["id"];
            assert_eq!(ask(number, "id"), Ok(TraceValue::Integer(id)));
            assert_eq!(ask(number, "id == 2"), Ok(TraceValue::Boolean(id == 2)));
            let seen = step.state.variables["seen[1]"];
            assert_eq!(ask(number, "seen[1]"), Ok(TraceValue::Integer(seen)));
            let x = |p: usize| step.state.clocks[&format!("Fischer({p}).x")].clone();
            assert_eq!(ask(number, "Fischer(1).x"), Ok(TraceValue::Clock(x(1))));
            if x(0) == x(1) {
                let same = ask(number, "Fischer(0).x - Fischer(1).x");
                assert_eq!(same, Ok(TraceValue::Clock("0".into())));
            }
            let moved = format!("Fischer({id})");
            let at_b = step.state.locations[&moved] == "b";
            assert_eq!(ask(number, "Fischer(id).b"), Ok(TraceValue::Boolean(at_b)));
        }
        assert!(ask(0, "Fischer(3).x").is_err());
        // A query is about all states, and there elements have no names.
        assert!(
            model
                .resolve_query(&network, &parse_query("E<> id == 2"), 0)
                .is_err()
        );
    }
}
