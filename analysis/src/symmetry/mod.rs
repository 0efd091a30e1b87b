//! Symmetry facts: which scalar sets there are, where a rule of soundness is broken, and why.
//!
//! One fact base for every consumer: diagnostics, the network's `broken` lists and the detector read the same
//! [`Findings`].

mod assigned;
mod broadcast_order;
mod canonical;
mod commute;
mod effects;
mod interval;
mod loop_order;

use crate::check::{Body, Checked, Env};
use crate::diag::Diag;
use crate::hir::{Expr, ExprKind, Template};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::types::{ScalarSet, Type};
use effects::{Sel, Summaries};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// What the rules found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// For people.
    pub diags: Vec<Diag>,
    /// For the engine: number of the set, rule, place.
    pub broken: Vec<(u32, &'static str, Loc)>,
}

impl Findings {
    /// Reports a broken rule of a set, once per place.
    fn broken(&mut self, set: &ScalarSet, diag: Diag) {
        self.broken.push((set.id, diag.code, diag.loc));
        let diag = diag.related(set.loc, format!("`{}` is declared here", set.name));
        let seen = |d: &Diag| d.code == diag.code && d.loc == diag.loc;
        if !self.diags.iter().any(seen) {
            self.diags.push(diag);
        }
    }
}

/// A family of the system line with the way its parameters reach the template.
pub struct FamilyView<'a> {
    env: &'a Env,
    /// The name on the system line.
    symbol: &'a Arc<Symbol>,
    /// Its template.
    template: &'a Template,
}

impl FamilyView<'_> {
    fn params(&self) -> Vec<Arc<Symbol>> {
        match &self.symbol.kind {
            SymKind::Template(_) => self.template.params.clone(),
            SymKind::Instance(sig) => match self.env.instances.get(&sig.body) {
                Some(i) => i.params.clone(),
                None => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// The free parameters over scalar sets, as the template sees them.
    fn elements(&self) -> Vec<(Arc<Symbol>, Arc<ScalarSet>)> {
        let mut out = Vec::new();
        for p in self.params() {
            let Some(set) = p.value_type().and_then(Type::any_set).cloned() else {
                continue;
            };
            let inner = self
                .template
                .params
                .iter()
                .find(|t| self.origin(t).is_some_and(|o| o.id == p.id));
            out.push((inner.cloned().unwrap_or(p), set));
        }
        out
    }

    /// The free parameter that a parameter of the template stands for, if it is exactly that.
    fn origin(&self, p: &Arc<Symbol>) -> Option<Arc<Symbol>> {
        match self.actual(p)? {
            Expr {
                kind: ExprKind::Var(s),
                ..
            } => Some(s.clone()),
            _ => None,
        }
    }

    /// Template parameters that stand for the same element as `param`.
    fn same_element(&self, param: &Arc<Symbol>) -> FxHashSet<SymId> {
        let mut out = FxHashSet::default();
        out.insert(param.id);
        if let Some(origin) = self.origin(param) {
            out.insert(origin.id);
            for p in &self.template.params {
                if self.origin(p).is_some_and(|o| o.id == origin.id) {
                    out.insert(p.id);
                }
            }
        }
        out
    }

    /// The outermost argument of a template parameter.
    fn actual(&self, p: &Arc<Symbol>) -> Option<Expr> {
        let mut chain = Vec::new();
        let mut at: Arc<Symbol> = self.symbol.clone();
        while let SymKind::Instance(sig) = &at.kind {
            let instance = self.env.instances.get(&sig.body)?.clone();
            at = instance.template.clone();
            chain.push(instance);
        }
        let position = self.template.params.iter().position(|q| q.id == p.id)?;
        let mut e = chain.pop()?.args.get(position)?.clone();
        while let Some(outer) = chain.pop() {
            let ExprKind::Var(s) = &e.kind else {
                return Some(e);
            };
            let inner = self
                .env
                .instances
                .values()
                .find_map(|i| i.params.iter().position(|q| q.id == s.id));
            match inner.and_then(|k| outer.args.get(k)) {
                Some(next) => e = next.clone(),
                None => return Some(e),
            }
        }
        Some(e)
    }

    /// What a reference parameter of the template stands for: a variable and the way to the part of it.
    fn argument(&self, p: &Arc<Symbol>) -> Option<(Arc<Symbol>, Vec<Sel>)> {
        if !matches!(&p.kind, SymKind::Param(x) if x.reference) {
            return None;
        }
        let e = self.actual(p)?;
        let root = e.root()?.clone();
        let mut path = Vec::new();
        let mut at = &e;
        loop {
            match &at.kind {
                ExprKind::Index(base, index) => {
                    path.push(match &index.kind {
                        ExprKind::Var(s) => Sel::Var(s.id),
                        _ => Sel::Any,
                    });
                    at = base;
                }
                ExprKind::Field(base, n) => {
                    path.push(Sel::Field(*n));
                    at = base;
                }
                _ => break,
            }
        }
        path.reverse();
        Some((root, path))
    }
}

/// Applies every rule to a model.
pub fn analyse(env: &Env, items: &[(ItemId, Arc<Checked>)]) -> Findings {
    let mut out = Findings::default();
    if !uses_sets(items) {
        return out;
    }
    let ranges = interval::Ranges::new(items);
    let mut summaries = Summaries::new(&env.bodies, &ranges);
    for (item, checked) in items {
        for f in &checked.functions {
            loop_order::function(f, &mut summaries, &mut out);
            assigned::function(f, env, &mut out);
        }
        if let Body::Template(t) = &checked.body {
            template_expressions(t, *item, &mut summaries, &mut out);
        }
        if let Body::BeforeUpdate(list) | Body::AfterUpdate(list) = &checked.body {
            for e in list {
                loop_order::expression(e, *item, &mut summaries, &mut out);
            }
        }
    }
    for (_, checked) in items {
        if let Body::System(levels) = &checked.body {
            for (symbol, _) in levels.iter().flatten() {
                if let Some(template) = env.template_of(symbol) {
                    let view = FamilyView {
                        env,
                        symbol,
                        template,
                    };
                    broadcast_order::family(&view, &mut summaries, &mut out);
                    canonical::family(&view, &mut out);
                }
            }
        }
    }
    assigned::meta(env, items, &mut out);
    canonical::declarations(items, &mut out);
    out
}

fn template_expressions(
    t: &Template,
    item: ItemId,
    summaries: &mut Summaries<'_>,
    out: &mut Findings,
) {
    let labels = t.locations.iter().filter_map(|l| l.invariant.as_ref());
    let edges = t
        .edges
        .iter()
        .flat_map(|e| e.guard.iter().chain(&e.updates));
    for e in labels.chain(edges) {
        loop_order::expression(e, item, summaries, out);
    }
}

/// Whether the model has scalar sets at all.
fn uses_sets(items: &[(ItemId, Arc<Checked>)]) -> bool {
    let has = |s: &Arc<Symbol>| match &s.kind {
        SymKind::Type(t, _) => t.contains(&|t| t.any_set().is_some()),
        _ => s
            .value_type()
            .is_some_and(|t| t.contains(&|t| t.any_set().is_some())),
    };
    items.iter().any(|(_, c)| {
        c.symbols.iter().any(has)
            || match &c.body {
                Body::Template(t) => {
                    t.params.iter().any(has) || t.decls.iter().any(|d| has(&d.symbol))
                }
                _ => false,
            }
    })
}
