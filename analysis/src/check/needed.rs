//! Requirements of the processes that run: a value for every variable, and an initial location.
//!
//! These are checked for the whole model, because an unused template or function has no
//! requirements: sizes are often set so that a family has no processes.

use super::decl::no_value;
use super::{Body, Checked, Env};
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind, Function, Part, StmtKind, Template};
use crate::symbol::{ItemId, Loc, SymKind, Symbol};
use crate::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Checks everything that can run and returns the diagnostics.
pub(crate) fn check(env: &Env, items: &[(ItemId, Arc<Checked>)]) -> Vec<Diag> {
    let mut out = Vec::new();
    let mut running: FxHashMap<u32, Arc<Template>> = FxHashMap::default();
    let mut order = Vec::new();
    for (symbol, loc) in listed(items) {
        let (SymKind::Template(sig) | SymKind::Instance(sig)) = &symbol.kind else {
            continue;
        };
        let Some(template) = env.template_of(symbol) else {
            continue;
        };
        if template.locations.is_empty() {
            let message = format!(
                "`{}` has no locations, so it cannot run; give `{}` a location, or take it off the system line",
                symbol.name, template.symbol.name
            );
            // UPPAAL's front end accepts this, so it is an error only when the model is verified.
            let diag = Diag::new("lint/no-locations", message, *loc);
            out.push(diag.related(template.loc, "the template is declared here"));
        }
        let nobody = sig.params.iter().any(|p| p.ty.empty_range().is_some());
        if !nobody
            && running
                .insert(template.symbol.id, template.clone())
                .is_none()
        {
            order.push(template.clone());
        }
    }
    if !has_empty_ranges(items) {
        return out;
    }
    let mut walk = Walk {
        env,
        item: 0,
        called: FxHashSet::default(),
        todo: Vec::new(),
        out,
    };
    for (item, c) in items {
        walk.item = *item;
        c.decls
            .iter()
            .filter_map(|d| d.init.as_ref())
            .for_each(|i| i.exprs(&mut |e| walk.expr(e)));
        if let Body::BeforeUpdate(list) | Body::AfterUpdate(list) = &c.body {
            list.iter().for_each(|e| walk.expr(e));
        }
    }
    order.iter().for_each(|t| walk.template(t));
    while let Some(f) = walk.todo.pop() {
        walk.function(&f);
    }
    walk.out
}

fn listed(items: &[(ItemId, Arc<Checked>)]) -> impl Iterator<Item = &(Arc<Symbol>, Loc)> {
    let levels = items.iter().filter_map(|(_, c)| match &c.body {
        Body::System(levels) => Some(levels),
        _ => None,
    });
    levels.flatten().flatten()
}

/// Whether any symbol of the model has a type with an empty range. Most models have none, and the
/// walk is skipped.
fn has_empty_ranges(items: &[(ItemId, Arc<Checked>)]) -> bool {
    let empty = |t: &Type| t.contains(&|t| t.empty_range().is_some());
    let typed = |s: &Arc<Symbol>| match &s.kind {
        SymKind::Type(t, _) => empty(t),
        SymKind::Function(sig) => empty(&sig.ret) || sig.params.iter().any(|p| empty(&p.ty)),
        _ => s.value_type().is_some_and(empty),
    };
    fn any(part: Part<'_>, typed: &dyn Fn(&Arc<Symbol>) -> bool) -> bool {
        let mut found = false;
        match part {
            Part::Expr(_) => {}
            Part::Decl(d) => found = typed(&d.symbol),
            Part::Stmt(s) => s.parts(&mut |p| found |= any(p, typed)),
        }
        found
    }
    let in_function = |f: &Function| {
        let mut found = false;
        f.body.parts(&mut |p| found |= any(p, &typed));
        found
    };
    items.iter().any(|(_, c)| {
        let members = match &c.body {
            Body::Template(t) => t.members.values().any(typed),
            _ => false,
        };
        members || c.symbols.iter().any(typed) || c.functions.iter().any(|f| in_function(f))
    })
}

/// A walk over everything that can run.
struct Walk<'a> {
    env: &'a Env,
    item: ItemId,
    called: FxHashSet<u32>,
    todo: Vec<Arc<Function>>,
    out: Vec<Diag>,
}

impl Walk<'_> {
    fn empty(&mut self, symbol: &Symbol) {
        if let Some((lo, hi)) = symbol.value_type().and_then(Type::needs_empty) {
            let message = no_value(&symbol.name, lo, hi);
            self.out
                .push(Diag::new("type/empty-range", message, symbol.loc));
        }
    }

    fn template(&mut self, t: &Template) {
        self.item = t.loc.item;
        for d in &t.decls {
            self.empty(&d.symbol);
            d.init.iter().for_each(|i| i.exprs(&mut |e| self.expr(e)));
        }
        for e in t.locations.iter().filter_map(|l| l.invariant.as_ref()) {
            self.expr(e);
        }
        // An edge whose select has no values is never taken.
        let taken = |e: &&crate::hir::Edge| !e.selects.iter().any(|s| goes_through_nothing(s));
        for e in t.edges.iter().filter(taken) {
            let sync = e.sync.iter().map(|s| &s.channel);
            e.guard
                .iter()
                .chain(sync)
                .chain(&e.updates)
                .for_each(|e| self.expr(e));
        }
    }

    fn function(&mut self, f: &Function) {
        self.item = f.loc.item;
        if let Some((lo, hi)) = f.ret.needs_empty() {
            let message = no_value(&format!("the result of {}", f.symbol.name), lo, hi);
            self.out.push(Diag::new("type/empty-range", message, f.loc));
        }
        f.body.parts(&mut |p| self.part(p));
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Expr(e) => self.expr(e),
            Part::Decl(d) => {
                self.empty(&d.symbol);
                d.init.iter().for_each(|i| i.exprs(&mut |e| self.expr(e)));
            }
            Part::Stmt(s) => match &s.kind {
                StmtKind::Iterate(var, _) if goes_through_nothing(var) => {}
                _ => s.parts(&mut |p| self.part(p)),
            },
        }
    }

    fn expr(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Quantifier { var, .. } if goes_through_nothing(var) => return,
            ExprKind::Call(f, args) => self.call(f, args),
            _ => {}
        }
        e.children(&mut |c| self.expr(c));
    }

    fn call(&mut self, f: &Symbol, args: &[Expr]) {
        let SymKind::Function(sig) = &f.kind else {
            return;
        };
        for (p, a) in sig.params.iter().zip(args) {
            if let Some((lo, hi)) = p.ty.needs_empty()
                && !p.reference
                && a.ty.needs_empty().is_none()
            {
                let message = format!(
                    "no value can be passed for the parameter `{}`: the range [{lo},{hi}] has none",
                    p.name
                );
                let loc = Loc {
                    item: self.item,
                    span: a.span,
                };
                self.out.push(Diag::new("type/empty-range", message, loc));
            }
        }
        if self.called.insert(sig.body)
            && let Some(body) = self.env.bodies.get(&sig.body)
        {
            self.todo.push(body.clone());
        }
    }
}

fn goes_through_nothing(var: &Symbol) -> bool {
    var.value_type().is_some_and(|t| t.empty_range().is_some())
}
