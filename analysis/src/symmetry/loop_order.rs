//! `sym/loop-order`: iteration over a scalar set whose result depends on the order of iteration.

use super::Findings;
use super::commute::{Conflict, conflict};
use super::effects::{Action, Collector, Effects, Summaries, Value};
use crate::diag::Diag;
use crate::hir::{Block, Expr, ExprKind, Function, Stmt, StmtKind};
use crate::symbol::{Home, Loc, ParamOf, SymKind, Symbol};
use crate::types::ScalarSet;
use std::sync::Arc;
use zonelens_syntax::ast::QuantifierKind;

const CODE: &str = "sym/loop-order";

/// Judges every loop of a function.
pub fn function(f: &Function, summaries: &mut Summaries<'_>, out: &mut Findings) {
    block(&f.body, f.loc.item, summaries, out);
}

fn block(b: &Block, item: u32, summaries: &mut Summaries<'_>, out: &mut Findings) {
    for s in &b.stmts {
        stmt(s, item, summaries, out);
    }
}

fn stmt(s: &Stmt, item: u32, summaries: &mut Summaries<'_>, out: &mut Findings) {
    match &s.kind {
        StmtKind::Iterate(var, body) => {
            if let Some(set) = summaries.set_of(var) {
                iteration(var, &set, body, s, item, summaries, out);
            }
            stmt(body, item, summaries, out);
        }
        StmtKind::Block(b) => block(b, item, summaries, out),
        StmtKind::For(_, _, _, body) | StmtKind::While(_, body) | StmtKind::DoWhile(body, _) => {
            stmt(body, item, summaries, out);
        }
        StmtKind::If(_, a, b) => {
            stmt(a, item, summaries, out);
            if let Some(b) = b {
                stmt(b, item, summaries, out);
            }
        }
        StmtKind::Switch(_, cases) => {
            for (_, stmts) in cases {
                stmts.iter().for_each(|s| stmt(s, item, summaries, out));
            }
        }
        _ => {}
    }
    for_each_expr(s, &mut |e| expression(e, item, summaries, out));
}

/// The expressions that stand directly in a statement.
fn for_each_expr(s: &Stmt, visit: &mut dyn FnMut(&Expr)) {
    match &s.kind {
        StmtKind::Expr(e) | StmtKind::Return(Some(e)) | StmtKind::Assert(e) => visit(e),
        StmtKind::If(e, ..)
        | StmtKind::While(e, _)
        | StmtKind::DoWhile(_, e)
        | StmtKind::Switch(e, _) => visit(e),
        StmtKind::For(a, b, c, _) => {
            visit(a);
            visit(b);
            visit(c);
        }
        _ => {}
    }
}

/// Quantifiers that stop early must not hide a failure, and references must not alias what a loop touches.
pub fn expression(e: &Expr, item: u32, summaries: &mut Summaries<'_>, out: &mut Findings) {
    e.walk(&mut |e| match &e.kind {
        ExprKind::Quantifier { kind, var, body } if *kind != QuantifierKind::Sum => {
            let Some(set) = summaries.set_of(var) else {
                return;
            };
            let mut c = Collector::new(summaries, item);
            c.value(body);
            if c.out.may_fail {
                let message = format!(
                    "this stops at the first element of `{}` that decides it, and its body can fail (division, index or range): whether the failure is met depends on the order of elements",
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

/// A reference argument that is also touched directly by a function with loops over a set.
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
    let Some(set) = summaries.first_loop(f) else {
        return;
    };
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
        if direct || twice {
            let message = format!(
                "`{}` goes through the elements of `{}` and would reach `{}` in two ways here, so the order of elements could matter",
                f.name, set.name, root.name
            );
            let diag = Diag::new(CODE, message, Loc { item, span: e.span })
                .related(f.loc, "the function with the loop");
            out.broken(&set, diag);
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
    let effects = c.out;
    let loc = Loc {
        item,
        span: whole.span,
    };
    if let Some(found) = conflict(&effects.accesses, var.id, &|_| true) {
        out.broken(set, order_matters(set, &found, loc));
        return;
    }
    let mut exits = Exits::default();
    exits.stmt(body, 0);
    if let Some(why) = exit_matters(&exits, &effects, var) {
        let message = format!(
            "the result of this loop depends on the order in which the elements of `{}` come: {why}",
            set.name
        );
        out.broken(set, Diag::new(CODE, message, loc));
    }
}

fn order_matters(set: &ScalarSet, found: &Conflict, loc: Loc) -> Diag {
    let name = &found.write.root.name;
    let message = format!(
        "the result of this loop depends on the order in which the elements of `{}` come: `{name}` is changed for one element and used for another",
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

/// Ways out of a loop before its end.
#[derive(Default)]
struct Exits {
    returns: Vec<Option<Value>>,
    /// Returns without a value, or with one that is not plainly constant.
    unknown: bool,
    breaks: u32,
    /// Breaks before which the same block only stores constants.
    tidy_breaks: u32,
    /// Writes outside such blocks.
    loose_writes: bool,
}

impl Exits {
    fn list(&mut self, stmts: &[Stmt], depth: u32) {
        let tidy = matches!(stmts.last().map(|s| &s.kind), Some(StmtKind::Break)) && depth == 0;
        for s in stmts {
            if tidy
                && matches!(&s.kind, StmtKind::Expr(e) if matches!(e.kind, ExprKind::Assign(..)))
            {
                continue;
            }
            self.stmt(s, depth);
        }
        if tidy {
            self.tidy_breaks += 1;
        }
    }

    fn stmt(&mut self, s: &Stmt, depth: u32) {
        match &s.kind {
            StmtKind::Return(e) => match e.as_ref().map(|e| &e.kind) {
                None => self.returns.push(None),
                Some(ExprKind::Int(v)) => self.returns.push(Some(Value::Literal(*v))),
                Some(ExprKind::Bool(b)) => self.returns.push(Some(Value::Literal(i32::from(*b)))),
                Some(ExprKind::Var(s)) => self.returns.push(Some(Value::Symbol(s.clone()))),
                Some(_) => self.unknown = true,
            },
            StmtKind::Break if depth == 0 => self.breaks += 1,
            StmtKind::Block(b) => self.list(&b.stmts, depth),
            StmtKind::For(_, _, _, b)
            | StmtKind::While(_, b)
            | StmtKind::DoWhile(b, _)
            | StmtKind::Iterate(_, b) => {
                self.stmt(b, depth + 1);
            }
            StmtKind::If(_, a, b) => {
                self.stmt(a, depth);
                if let Some(b) = b {
                    self.stmt(b, depth);
                }
            }
            StmtKind::Switch(_, cases) => {
                for (_, stmts) in cases {
                    stmts.iter().for_each(|s| self.stmt(s, depth + 1));
                }
            }
            StmtKind::Expr(e) => self.loose_writes |= crate::check::has_side_effect(e),
            _ => {}
        }
    }
}

fn exit_matters(exits: &Exits, effects: &Effects, var: &Symbol) -> Option<&'static str> {
    let returns = exits.unknown || !exits.returns.is_empty();
    if !returns && exits.breaks == 0 {
        return None;
    }
    if effects.may_fail {
        return Some(
            "it can end early, and its body can fail (division, index or range) for a later element",
        );
    }
    if returns {
        let first = exits.returns.first().cloned().flatten();
        let varies = |s: &Symbol| {
            s.id == var.id
                || matches!(s.kind, SymKind::Bound(_))
                || effects
                    .accesses
                    .iter()
                    .any(|a| a.root.id == s.id && a.action != Action::Read)
        };
        let same = exits.returns.iter().all(|r| *r == first)
            && !matches!(&first, Some(Value::Symbol(s)) if varies(s));
        if exits.unknown || !same {
            return Some("it returns a value that depends on the element it has reached");
        }
        let outside = effects
            .accesses
            .iter()
            .any(|a| a.action != Action::Read && !is_local(&a.root));
        if outside {
            return Some(
                "it can return early, after having changed something for some elements only",
            );
        }
    }
    if exits.breaks > 0 {
        let constants = effects
            .accesses
            .iter()
            .all(|a| matches!(a.action, Action::Read | Action::Write(Some(_))));
        if exits.loose_writes || exits.tidy_breaks < exits.breaks || !constants {
            return Some("it can break off after having changed something for some elements only");
        }
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
    /// The scalar set of a loop in a function or in what it calls, if there is one.
    pub fn first_loop(&mut self, f: &Symbol) -> Option<Arc<ScalarSet>> {
        let SymKind::Function(sig) = &f.kind else {
            return None;
        };
        let function = self.body(sig.body)?;
        first_loop_in(self, &function.body.stmts)
    }
}

fn first_loop_in(sets: &Summaries<'_>, stmts: &[Stmt]) -> Option<Arc<ScalarSet>> {
    stmts.iter().find_map(|s| match &s.kind {
        StmtKind::Iterate(var, body) => sets
            .set_of(var)
            .or_else(|| first_loop_in(sets, std::slice::from_ref(body))),
        StmtKind::Block(b) => first_loop_in(sets, &b.stmts),
        StmtKind::For(_, _, _, b) | StmtKind::While(_, b) | StmtKind::DoWhile(b, _) => {
            first_loop_in(sets, std::slice::from_ref(b))
        }
        StmtKind::If(_, a, b) => first_loop_in(sets, std::slice::from_ref(a)).or_else(|| {
            b.as_ref()
                .and_then(|b| first_loop_in(sets, std::slice::from_ref(b)))
        }),
        _ => None,
    })
}
