//! `sym/loop-order`: iteration over a scalarset whose result depends on the order of iteration.

use super::Findings;
use super::commute::{Conflict, conflict};
use super::counting::{Counters, counter_of, counters};
use super::effects::{Access, Action, Collector, Effects, Summaries, Value};
use super::values::{known_value, same_place};
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind, Function, Part, Stmt, StmtKind};
use crate::symbol::{Home, Loc, ParamOf, SymKind, Symbol};
use crate::types::ScalarSet;
use rustc_hash::FxHashSet;
use std::sync::Arc;
use zonelens_syntax::ast::{AssignOp, QuantifierKind};

const CODE: &str = "sym/loop-order";

/// Checks every loop of a function.
pub(super) fn function(f: &Function, summaries: &mut Summaries<'_>, out: &mut Findings) {
    summaries.counters.extend(counters(f));
    f.body.parts(&mut |p| part(p, f.loc.item, summaries, out));
}

fn part(part: Part<'_>, item: u32, summaries: &mut Summaries<'_>, out: &mut Findings) {
    match part {
        Part::Expr(e) => expression(e, item, summaries, out),
        Part::Decl(d) => {
            let mut check = |e: &Expr| expression(e, item, summaries, out);
            d.init.iter().for_each(|i| i.exprs(&mut check));
        }
        Part::Stmt(s) => {
            if let Some((var, body)) = looped(s, &summaries.counters)
                && let Some(set) = summaries.set_of(var)
            {
                iteration(var, &set, body, s, item, summaries, out);
            }
            s.parts(&mut |p| self::part(p, item, summaries, out));
        }
    }
}

/// Checks an expression: quantifiers that stop early must not hide a failure, and references must
/// not alias variables that a loop accesses.
pub(super) fn expression(e: &Expr, item: u32, summaries: &mut Summaries<'_>, out: &mut Findings) {
    e.walk(&mut |e| match &e.kind {
        ExprKind::Quantifier { kind, var, body } if *kind != QuantifierKind::Sum => {
            let Some(set) = summaries.set_of(var) else {
                return;
            };
            let mut c = Collector::new(summaries, item);
            c.value(body);
            if c.out.may_fail {
                let message = format!(
                    "this stops at the first element of `{}` that decides it, and its body can fail (division, index or range): whether the failure occurs depends on the order of elements",
                    set.name
                );
                let loc = Loc { item, span: e.span };
                out.broken(&set, Diag::new(CODE, message, loc));
            }
        }
        ExprKind::Call(f, args) => aliases(f, args, e, item, summaries, out),
        _ => {}
    });
}

/// Reports a reference argument that a function with a loop over a set also accesses directly.
fn aliases(
    f: &Arc<Symbol>,
    args: &[Expr],
    e: &Expr,
    item: u32,
    summaries: &mut Summaries<'_>,
    out: &mut Findings,
) {
    let SymKind::Function(sig) = &f.kind else {
        return;
    };
    let sets = summaries.looped_sets(f);
    if sets.is_empty() {
        return;
    }
    let effects = summaries.of(f);
    let refs: Vec<(&Expr, bool)> = sig
        .params
        .iter()
        .zip(args)
        .filter(|(p, _)| p.reference)
        .map(|(p, a)| (a, p.written))
        .collect();
    for (k, (a, written)) in refs.iter().enumerate() {
        let Some(root) = a.root() else {
            continue;
        };
        let direct = effects
            .accesses
            .iter()
            .any(|x| x.root.id == root.id && (*written || x.action != Action::Read));
        let twice = refs
            .iter()
            .skip(k + 1)
            .any(|(b, w)| b.root().is_some_and(|r| r.id == root.id) && (*written || *w));
        for set in sets.iter().filter(|_| direct || twice) {
            let message = format!(
                "`{}` iterates over the elements of `{}` and would access `{}` in two ways here, so the order of elements could matter",
                f.name, set.name, root.name
            );
            let diag = Diag::new(CODE, message, Loc { item, span: e.span })
                .related(f.loc, "the function with the loop");
            out.broken(set, diag);
        }
    }
}

fn iteration(
    var: &Arc<Symbol>,
    set: &Arc<ScalarSet>,
    body: &Stmt,
    whole: &Stmt,
    item: u32,
    summaries: &mut Summaries<'_>,
    out: &mut Findings,
) {
    let mut c = Collector::new(summaries, item);
    c.stmt(body);
    let round = Round {
        var,
        effects: &c.out,
        declares: &|s| c.declares(s),
        counters: c.counters(),
    };
    let loc = Loc {
        item,
        span: whole.span,
    };
    if let Some(found) = conflict(&round.effects.accesses, var.id, &|_| true) {
        out.broken(set, order_matters(set, &found, loc));
        return;
    }
    let mut exits = Exits::default();
    exits.stmt(body, 0, &round);
    if let Some(why) = exit_matters(&exits, &round) {
        let message = format!(
            "the result of this loop depends on the order of the elements of `{}`: {why}",
            set.name
        );
        out.broken(set, Diag::new(CODE, message, loc));
    }
}

fn order_matters(set: &ScalarSet, found: &Conflict, loc: Loc) -> Diag {
    let name = &found.write.root.name;
    let message = format!(
        "the result of this loop depends on the order of the elements of `{}`: `{name}` is changed for one element and used for another",
        set.name
    );
    let mut diag =
        Diag::new(CODE, message, loc).related(found.write.loc, format!("`{name}` is changed here"));
    if found.other.loc != found.write.loc {
        let what = if found.other.action == Action::Read {
            "read"
        } else {
            "changed"
        };
        diag = diag.related(
            found.other.loc,
            format!("`{name}` is {what} here, possibly for another element"),
        );
    } else {
        diag = diag.related(found.other.loc, "the last element to do so wins");
    }
    diag
}

/// Early ends of a loop.
#[derive(Default)]
struct Exits<'s> {
    returns: Vec<Option<Value>>,
    /// Whether a `return` has no value, or one that is not obviously constant.
    unknown: bool,
    /// For each `break` of the loop, the assignments in front of it if its block consists of
    /// nothing else.
    breaks: Vec<Vec<(&'s Expr, &'s Expr)>>,
    /// Whether anything else in the body changes a variable that outlives the round.
    changes: bool,
}

/// What is known about the loop around an early end.
struct Round<'a> {
    var: &'a Symbol,
    effects: &'a Effects,
    /// Whether the body declares a variable: it has another value in each round.
    declares: &'a dyn Fn(&Symbol) -> bool,
    counters: &'a Counters,
}

impl Round<'_> {
    /// Whether a variable has the same value in all rounds.
    fn is_same(&self, s: &Symbol) -> bool {
        let writes = |a: &Access| a.root.id == s.id && a.action != Action::Read;
        s.id != self.var.id && !(self.declares)(s) && !self.effects.accesses.iter().any(writes)
    }

    /// Whether a value is obviously the same in all rounds.
    fn is_constant(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) => true,
            ExprKind::Var(s) => self.is_same(s),
            _ => false,
        }
    }

    /// Whether an expression denotes the same place in all rounds, one that outlives them.
    fn is_one_place(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Var(s) => !(self.declares)(s),
            ExprKind::Field(base, _) => self.is_one_place(base),
            ExprKind::Index(base, index) => self.is_constant(index) && self.is_one_place(base),
            _ => false,
        }
    }

    /// Whether an expression changes a variable that outlives the round.
    fn changes(&self, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| {
            found |= match &e.kind {
                ExprKind::Assign(_, target, _) | ExprKind::IncDec { expr: target, .. } => {
                    target.root().is_none_or(|s| !(self.declares)(s))
                }
                ExprKind::Call(..) | ExprKind::MemberCall { .. } => {
                    crate::check::has_side_effect(e)
                }
                _ => false,
            };
        });
        found
    }
}

impl<'s> Exits<'s> {
    fn list(&mut self, stmts: &'s [Stmt], depth: u32, round: &Round<'_>) {
        if let (0, Some((last, before))) = (depth, stmts.split_last())
            && matches!(last.kind, StmtKind::Break)
            && let Some(assignments) = before.iter().map(assignment).collect()
        {
            self.breaks.push(assignments);
            return;
        }
        stmts.iter().for_each(|s| self.stmt(s, depth, round));
    }

    fn expr(&mut self, e: &Expr, round: &Round<'_>) {
        self.changes |= round.changes(e);
    }

    fn stmt(&mut self, s: &'s Stmt, depth: u32, round: &Round<'_>) {
        match &s.kind {
            StmtKind::Return(e) => match e.as_ref().map(|e| &e.kind) {
                None => self.returns.push(None),
                Some(ExprKind::Int(v)) => self.returns.push(Some(Value::Literal(*v))),
                Some(ExprKind::Bool(b)) => self.returns.push(Some(Value::Literal(i32::from(*b)))),
                Some(ExprKind::Var(s)) => self.returns.push(Some(Value::Symbol(s.clone()))),
                Some(_) => self.unknown = true,
            },
            StmtKind::Break if depth == 0 => self.breaks.push(Vec::new()),
            StmtKind::Block(b) => {
                let inits = b.decls.iter().filter_map(|d| d.init.as_ref());
                inits.for_each(|i| i.exprs(&mut |e| self.expr(e, round)));
                self.list(&b.stmts, depth, round);
            }
            StmtKind::Switch(e, cases) => {
                self.expr(e, round);
                for (_, stmts) in cases {
                    stmts.iter().for_each(|s| self.stmt(s, depth + 1, round));
                }
            }
            _ => {
                let inner = match &s.kind {
                    StmtKind::If(..) => depth,
                    _ => depth + 1,
                };
                let counts = looped(s, round.counters).is_some();
                s.parts(&mut |p| match p {
                    // The header of a loop that only counts changes its counter alone.
                    Part::Expr(e) if !counts => self.expr(e, round),
                    Part::Stmt(s) => self.stmt(s, inner, round),
                    _ => {}
                });
            }
        }
    }
}

/// Target and value of a statement that is an assignment.
fn assignment(s: &Stmt) -> Option<(&Expr, &Expr)> {
    match &s.kind {
        StmtKind::Expr(Expr {
            kind: ExprKind::Assign(AssignOp::Set, target, value),
            ..
        }) => Some((target, value)),
        _ => None,
    }
}

/// Why an early end of a loop depends on the order of its rounds.
///
/// Rounds up to the first that ends the loop are run. This is the same in every order if no round
/// fails, the rounds that do not end the loop leave no trace on which others depend
/// ([`conflict`]) or that remains, and all rounds that end it do the same: return the same value,
/// or make the same assignments, which do not depend on the element. Otherwise it may depend on
/// the order which round comes first, or which rounds come before it.
fn exit_matters(exits: &Exits<'_>, round: &Round<'_>) -> Option<&'static str> {
    let returns = exits.unknown || !exits.returns.is_empty();
    if !returns && exits.breaks.is_empty() {
        return None;
    }
    if round.effects.may_fail {
        return Some(
            "it can end early, and its body can fail (division, index or range) for a later element",
        );
    }
    if returns {
        let first = exits.returns.first().cloned().flatten();
        let same = exits.returns.iter().all(|r| *r == first)
            && !matches!(&first, Some(Value::Symbol(s)) if !round.is_same(s));
        if exits.unknown || !same {
            return Some("it returns a value that depends on the element it has reached");
        }
        let writes = |a: &Access| a.action != Action::Read && !is_local(&a.root);
        if round.effects.accesses.iter().any(writes) {
            return Some("it can return early, after changing something for only some elements");
        }
        if !exits.breaks.is_empty() {
            return Some("it can end early in two ways, and the first element to do so decides");
        }
        return None;
    }
    if exits.changes {
        return Some("it can stop after changing something for only some elements");
    }
    let same = |a: &(&Expr, &Expr), b: &(&Expr, &Expr)| {
        same_place(a.0, b.0) && known_value(a.1) == known_value(b.1)
    };
    let first = exits.breaks.first().map_or(&[][..], Vec::as_slice);
    let constant =
        |(target, value): &(&Expr, &Expr)| round.is_one_place(target) && round.is_constant(value);
    let alike = |other: &Vec<(&Expr, &Expr)>| {
        other.len() == first.len() && other.iter().zip(first).all(|(a, b)| same(a, b))
    };
    if !exits.breaks.iter().all(alike) || !first.iter().all(constant) {
        return Some("what it does before it stops depends on the element it has reached");
    }
    None
}

fn is_local(s: &Symbol) -> bool {
    match &s.kind {
        SymKind::Var(v) => v.home == Home::Function,
        SymKind::Param(p) => p.of == ParamOf::Function && !p.reference,
        _ => false,
    }
}

impl Summaries<'_> {
    /// The scalarsets that loops in a function, or in the functions it calls, range over.
    pub(super) fn looped_sets(&self, f: &Symbol) -> Vec<Arc<ScalarSet>> {
        let SymKind::Function(sig) = &f.kind else {
            return Vec::new();
        };
        let mut out: Vec<Arc<ScalarSet>> = Vec::new();
        let (mut seen, mut todo) = (FxHashSet::default(), vec![sig.body]);
        while let Some(body) = todo.pop() {
            let Some(function) = self.body(body).filter(|_| seen.insert(body)) else {
                continue;
            };
            let (stmts, counters) = (&function.body.stmts, counters(&function));
            stmts
                .iter()
                .for_each(|s| looped_in(self, s, &counters, &mut out));
            let mut callees = FxHashSet::default();
            super::cache::callees_of(&function, &mut callees);
            todo.extend(callees);
        }
        out.sort_by_key(|s| s.id);
        out.dedup_by_key(|s| s.id);
        out
    }
}

/// The variable and the body of an iteration, which may be a C loop with a counter.
fn looped<'s>(s: &'s Stmt, counters: &Counters) -> Option<(&'s Arc<Symbol>, &'s Stmt)> {
    match &s.kind {
        StmtKind::Iterate(var, body) => Some((var, body)),
        StmtKind::For(init, _, _, body) => {
            let counter = counter_of(init).filter(|s| counters.contains_key(&s.id))?;
            Some((counter, body))
        }
        _ => None,
    }
}

fn looped_in(sets: &Summaries<'_>, s: &Stmt, counters: &Counters, out: &mut Vec<Arc<ScalarSet>>) {
    if let Some((var, _)) = looped(s, counters) {
        out.extend(sets.set_of(var));
    }
    s.parts(&mut |p| {
        if let Part::Stmt(s) = p {
            looped_in(sets, s, counters, out);
        }
    });
}
