//! Symmetry facts: the scalarsets of a model, and the soundness rules that are broken, with
//! reasons.
//!
//! All consumers share one fact base: diagnostics, the network's `broken` lists and the detector
//! read the same [`Findings`].

mod assigned;
mod broadcast_order;
mod cache;
mod canonical;
mod classes;
mod commute;
mod counting;
mod effects;
mod flow;
mod flow_stmt;
mod interval;
mod loop_order;
mod malformed_family;
mod query;
mod slots;
mod values;

use crate::check::{Body, Checked, Env};
use crate::diag::Diag;
use crate::diagnostic::Severity;
use crate::hir::{Expr, ExprKind, Template};
use crate::symbol::{ItemId, Loc, SymId, SymKind, Symbol};
use crate::types::ScalarSet;
pub(crate) use assigned::may_be_same;
pub(crate) use cache::Cache;
use cache::ItemCache;
pub(crate) use classes::Facts;
use effects::{Sel, Summaries};
use interval::Ranges;
pub use query::Judge;
use rustc_hash::FxHashSet;
pub(crate) use slots::{Root, Slot};
use std::sync::Arc;

/// Bounds of an integer expression from declared ranges and constants.
pub(crate) fn bounds_of(e: &Expr) -> (i64, i64) {
    interval::interval(e, &Ranges::default())
}

/// The results of all rules.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// Diagnostics.
    pub diags: Vec<Diag>,
    /// Broken rules: id of the set, code, location. Verification does not reduce over these sets.
    pub broken: Vec<(u32, &'static str, Loc)>,
    /// Sets of integers.
    pub facts: Facts,
}

impl Findings {
    /// Drops detected sets with a broken rule and turns the reason into a hint. Reports the others
    /// as detected.
    fn settle(&mut self) {
        let broken: FxHashSet<u32> = self.broken.iter().map(|b| b.0).collect();
        let mut lost = Vec::new();
        for e in self.facts.elements.iter().filter(|e| e.detected) {
            if broken.contains(&e.set.id) {
                lost.push(e.set.clone());
            } else {
                let largest = e.blocks.iter().map(Vec::len).max().unwrap_or(0);
                let message = format!(
                    "`{}` only names processes: {largest} of {} are interchangeable and explored as one",
                    e.set.name, e.size
                );
                self.diags
                    .push(Diag::new("sym/detected", message, e.set.loc));
            }
        }
        for set in lost {
            let places: Vec<Loc> = self
                .broken
                .iter()
                .filter(|b| b.0 == set.id)
                .map(|b| b.2)
                .collect();
            self.broken.retain(|b| b.0 != set.id);
            self.facts.elements.retain(|e| e.set.id != set.id);
            for d in &mut self.diags {
                // A declared set may break the same rule at the same place.
                let others = self.broken.iter().any(|b| (b.1, b.2) == (d.code, d.loc));
                if d.code.starts_with("sym/")
                    && places.contains(&d.loc)
                    && d.severity() == Severity::Error
                    && !others
                {
                    d.code = "sym/undetected";
                    d.message = format!(
                        "the processes numbered by `{}` are not treated as interchangeable: {}",
                        set.name, d.message
                    );
                }
            }
        }
    }

    /// Reports a broken rule of a set, once per location.
    fn broken(&mut self, set: &ScalarSet, diag: Diag) {
        self.broken.push((set.id, diag.code, diag.loc));
        let diag = diag.related(set.loc, format!("`{}` is declared here", set.name));
        let seen = |d: &Diag| d.code == diag.code && d.loc == diag.loc;
        if !self.diags.iter().any(seen) {
            self.diags.push(diag);
        }
    }
}

/// A family on the system line, with the arguments its template parameters get.
pub(crate) struct FamilyView<'a> {
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

    /// The free parameters over scalarsets, as template parameters.
    fn elements(&self, sets: &Summaries<'_>) -> Vec<(Arc<Symbol>, Arc<ScalarSet>)> {
        let mut out = Vec::new();
        for p in self.params() {
            let Some(set) = sets.set_of(&p) else {
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

    /// The free parameter that is passed unchanged for a template parameter, if any.
    fn origin(&self, p: &Arc<Symbol>) -> Option<Arc<Symbol>> {
        match self.actual(p)? {
            Expr {
                kind: ExprKind::Var(s),
                ..
            } => Some(s.clone()),
            _ => None,
        }
    }

    /// Template parameters that denote the same element as `param`.
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

    /// The outermost argument for a template parameter.
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

    /// The argument of a reference parameter of the template: a variable, and the selectors of the
    /// part of it.
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

/// Applies every rule to a model. Results in `old` are reused for items that are not affected by a
/// change.
pub(crate) fn analyse(
    env: &Env,
    items: &[(ItemId, Arc<Checked>)],
    old: Option<&Cache>,
) -> (Findings, Cache) {
    let mut out = Findings::default();
    let mut facts = classes::find(env, items, &mut out);
    if facts.elements.is_empty() && !uses_sets(items) {
        return (out, Cache::default());
    }
    let mut entries: Vec<(ItemId, Arc<ItemCache>)> = Vec::with_capacity(items.len());
    let mut kept = Vec::with_capacity(items.len());
    for (item, c) in items {
        let known = old.and_then(|o| o.unchanged(*item, c));
        kept.push(known.is_some());
        entries.push((*item, known.unwrap_or_else(|| Arc::new(ItemCache::new(c)))));
    }
    let ranges = match old.filter(|o| o.same_stores(&entries)) {
        Some(o) => o.ranges.clone(),
        None => Arc::new(Ranges::merge(
            entries.iter().map(|(_, e)| e.stores.as_slice()),
        )),
    };
    facts.ranges = ranges.clone();
    facts.any = true;
    let all_dirty =
        !facts.elements.is_empty() || old.is_none_or(|o| !o.ranges.same_globals(&ranges));
    let listed = listed(items);
    let mut summaries = Summaries::new(&env.bodies, &ranges);
    summaries.sets = facts.symbols();
    let mut dirty: FxHashSet<u32> = FxHashSet::default();
    for (((item, checked), (_, entry)), kept) in items.iter().zip(&mut entries).zip(kept) {
        let here = checked.symbols.first().filter(|s| listed.contains(&s.id));
        let fresh = kept
            && !all_dirty
            && entry.listed == here.is_some()
            && entry.callees.is_disjoint(&dirty);
        if !fresh {
            for f in &checked.functions {
                if let SymKind::Function(sig) = &f.symbol.kind {
                    dirty.insert(sig.body);
                }
            }
            let mut found = item_rules(env, *item, checked, &mut summaries);
            if let Some(symbol) = here {
                family_rules(env, symbol, &mut summaries, &mut found);
            }
            *entry = Arc::new(ItemCache {
                stores: entry.stores.clone(),
                callees: entry.callees.clone(),
                listed: here.is_some(),
                diags: found.diags,
                broken: found.broken,
            });
        }
        out.diags.extend(entry.diags.iter().cloned());
        out.broken.extend(entry.broken.iter().copied());
    }
    for symbol in families(items).filter(|s| matches!(s.kind, SymKind::Instance(_))) {
        family_rules(env, symbol, &mut summaries, &mut out);
    }
    assigned::meta(env, items, &mut out);
    canonical::initial(items, &mut out);
    canonical::initial_integers(env, items, &facts, &mut out);
    out.facts = facts;
    out.settle();
    let results = entries.into_iter().zip(items);
    let cache = Cache {
        items: results
            .map(|((item, entry), (_, c))| (item, (cache::key(c), entry)))
            .collect(),
        ranges: ranges.clone(),
    };
    (out, cache)
}

/// The rules that concern one item and the functions it calls.
fn item_rules(
    env: &Env,
    item: ItemId,
    checked: &Checked,
    summaries: &mut Summaries<'_>,
) -> Findings {
    let mut out = Findings::default();
    for f in &checked.functions {
        loop_order::function(f, summaries, &mut out);
        assigned::function(f, env, &mut out);
    }
    if let Body::Template(t) = &checked.body {
        template_expressions(t, item, summaries, &mut out);
    }
    if let Body::BeforeUpdate(list) | Body::AfterUpdate(list) = &checked.body {
        for e in list {
            loop_order::expression(e, item, summaries, &mut out);
        }
    }
    canonical::item(checked, &mut out);
    out
}

/// The symbols on the system line.
fn families(items: &[(ItemId, Arc<Checked>)]) -> impl Iterator<Item = &Arc<Symbol>> {
    let levels = items.iter().filter_map(|(_, c)| match &c.body {
        Body::System(levels) => Some(levels),
        _ => None,
    });
    levels.flatten().flatten().map(|(symbol, _)| symbol)
}

/// Templates that are listed on the system line themselves. The diagnostics of such a family depend
/// on its template alone.
fn listed(items: &[(ItemId, Arc<Checked>)]) -> FxHashSet<SymId> {
    families(items)
        .filter(|s| matches!(s.kind, SymKind::Template(_)))
        .map(|s| s.id)
        .collect()
}

/// The rules that concern one family.
fn family_rules(
    env: &Env,
    symbol: &Arc<Symbol>,
    summaries: &mut Summaries<'_>,
    out: &mut Findings,
) {
    if let Some(template) = env.template_of(symbol) {
        let view = FamilyView {
            env,
            symbol,
            template,
        };
        broadcast_order::family(&view, summaries, out);
        canonical::family(&view, summaries, out);
    }
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

/// Whether the model uses scalarsets at all.
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
