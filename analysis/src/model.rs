//! The analysed model: one pass over the items, results of unchanged items kept.

use crate::builtin;
use crate::check::{Body, Checked, Checker, Env};
use crate::diag::Diag;
use crate::diagnostic::{Diagnostic, Severity};
use crate::instantiate::{self, Built, Foreign, Source};
use crate::network::{self, Network};
use crate::symbol::{ItemId, Symbol};
use crate::symmetry::{self, Findings};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{self, Item, ItemKind};
use zonelens_syntax::span::Span;

/// An item with the result of checking it.
#[derive(Clone)]
struct Entry {
    id: ItemId,
    node: Arc<Item>,
    checked: Arc<Checked>,
}

/// An analysed model: names, types, constants, symmetry facts, all diagnostics of the model file.
pub struct Model {
    env: Env,
    entries: Vec<Entry>,
    items: Vec<(ItemId, Arc<Checked>)>,
    offsets: FxHashMap<ItemId, u32>,
    families: FxHashMap<SmolStr, Arc<Symbol>>,
    diagnostics: Vec<Diagnostic>,
    blocks: bool,
    findings: Findings,
    built: OnceLock<Result<Built, Vec<Diagnostic>>>,
}

impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Model")
            .field("items", &self.entries.len())
            .field("diagnostics", &self.diagnostics)
            .finish()
    }
}

impl Model {
    /// Analyses `file` (.xta or .xml); `constants` are `--const` overrides of global integer constants, applied
    /// before any size is evaluated.
    pub fn new(file: &SourceFile, constants: &BTreeMap<String, i64>) -> Model {
        Model::build(file, constants.clone(), None)
    }

    /// The model of an edited file. Items that the edit did not touch and whose names still mean the same keep their
    /// results.
    pub fn update(&self, file: &SourceFile) -> Model {
        Model::build(file, self.env.constants.clone(), Some(self))
    }

    fn build(file: &SourceFile, constants: BTreeMap<String, i64>, old: Option<&Model>) -> Model {
        let legacy = crate::legacy::is_legacy(file);
        let old = old.filter(|m| m.env.legacy == legacy);
        let first = old.map_or(builtin::FIRST_USER_SYMBOL, |m| m.env.fresh());
        let env = Env {
            names: FxHashMap::default(),
            builtins: old.map_or_else(|| Arc::new(builtin::symbols()), |m| m.env.builtins.clone()),
            bodies: FxHashMap::default(),
            templates: FxHashMap::default(),
            instances: FxHashMap::default(),
            constants,
            legacy,
            next_id: AtomicU32::new(first),
        };
        let mut model = Model {
            env,
            entries: Vec::new(),
            items: Vec::new(),
            offsets: FxHashMap::default(),
            families: FxHashMap::default(),
            diagnostics: Vec::new(),
            blocks: false,
            findings: Findings::default(),
            built: OnceLock::new(),
        };
        model.check_items(file, old);
        model.finish(file);
        model
    }

    fn check_items(&mut self, file: &SourceFile, old: Option<&Model>) {
        let mut known: FxHashMap<*const Item, &Entry> = FxHashMap::default();
        for e in old.into_iter().flat_map(|m| &m.entries) {
            known.insert(Arc::as_ptr(&e.node), e);
        }
        for item in &file.items {
            let kept = known
                .remove(&Arc::as_ptr(&item.node))
                .filter(|e| self.still_valid(&e.checked));
            let entry = match kept {
                Some(e) => e.clone(),
                None => {
                    let id = self.env.fresh();
                    let checked = Checker::new(&self.env, id).check(&item.node);
                    Entry {
                        id,
                        node: item.node.clone(),
                        checked: Arc::new(checked),
                    }
                }
            };
            self.offsets.insert(entry.id, item.offset);
            self.add(&entry.checked);
            self.items.push((entry.id, entry.checked.clone()));
            self.entries.push(entry);
        }
    }

    /// Whether every name the item asked for still means the same.
    fn still_valid(&self, checked: &Checked) -> bool {
        !checked.volatile
            && checked.deps.iter().all(|(name, id)| {
                let now = self
                    .env
                    .names
                    .get(name)
                    .or_else(|| self.env.builtins.get(name))
                    .map(|s| s.id);
                now == *id
            })
    }

    fn add(&mut self, checked: &Checked) {
        for s in &checked.symbols {
            self.env.names.insert(s.name.clone(), s.clone());
        }
        for f in &checked.functions {
            if let crate::symbol::SymKind::Function(sig) = &f.symbol.kind {
                self.env.bodies.insert(sig.body, f.clone());
            }
        }
        match &checked.body {
            Body::Template(t) => {
                if let crate::symbol::SymKind::Template(sig) = &t.symbol.kind {
                    self.env.templates.insert(sig.body, t.clone());
                }
            }
            Body::Instance(i) => {
                if let crate::symbol::SymKind::Instance(sig) = &i.symbol.kind {
                    self.env.instances.insert(sig.body, i.clone());
                }
            }
            Body::System(levels) => {
                for (s, _) in levels.iter().flatten() {
                    self.families.insert(s.name.clone(), s.clone());
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, file: &SourceFile) {
        let mut out: Vec<Diagnostic> = file
            .errors()
            .into_iter()
            .map(|e| Diagnostic::error(e.code, e.message, e.span))
            .collect();
        let mut diags: Vec<Diag> = Vec::new();
        for (_, checked) in &self.items {
            diags.extend(checked.diags.iter().cloned());
        }
        self.findings = symmetry::analyse(&self.env, &self.items);
        diags.extend(self.findings.diags.iter().cloned());
        out.extend(diags.iter().map(|d| d.place(&self.offsets)));
        self.system_section(file, &mut out);
        for q in file.queries() {
            out.extend(self.check_query(q.query, q.base));
        }
        let mut out = crate::allow::apply(file, out);
        out.sort_by(|a, b| {
            (a.span.start, a.span.end, a.code).cmp(&(b.span.start, b.span.end, b.code))
        });
        self.blocks = out.iter().any(blocks);
        self.diagnostics = out;
    }

    fn system_section(&self, file: &SourceFile, out: &mut Vec<Diagnostic>) {
        let mut lines = file
            .items
            .iter()
            .filter(|i| matches!(i.node.kind, ItemKind::System(_)));
        let end = file.text.len() as u32;
        if lines.next().is_none() && !out.iter().any(|d| d.code.starts_with("syntax/")) {
            let message = "there is no `system …;` line, so there are no processes";
            out.push(Diagnostic::error(
                "system/missing",
                message,
                Span::new(end, end),
            ));
        }
        for second in lines {
            let span = second.node.span.shift(second.offset);
            out.push(Diagnostic::error(
                "system/missing",
                "a model has one system line only",
                span,
            ));
        }
    }

    /// Every diagnostic of the file, syntax errors and those of embedded queries included, sorted by span;
    /// `//@ allow CODE` applied.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether an error forbids verification. `query/…` concerns one query only; `sym/…` errors on text that still
    /// has a meaning only exclude their scalarset from reduction.
    pub fn blocks_verification(&self) -> bool {
        self.blocks
    }

    fn built(&self) -> &Result<Built, Vec<Diagnostic>> {
        self.built.get_or_init(|| {
            if self.blocks {
                let errors = self.diagnostics.iter().filter(|d| blocks(d));
                return Err(errors.cloned().collect());
            }
            let source = Source {
                env: &self.env,
                items: &self.items,
                offsets: &self.offsets,
            };
            let mut built = instantiate::build(&source).map_err(|list| {
                list.iter()
                    .map(|d| d.place(&self.offsets))
                    .collect::<Vec<_>>()
            })?;
            self.mark_broken(&mut built);
            Ok(built)
        })
    }

    /// Tells the engine which sets it must not reduce over.
    fn mark_broken(&self, built: &mut Built) {
        for (set, code, loc) in &self.findings.broken {
            let offset = self.offsets.get(&loc.item).copied().unwrap_or(0);
            let locals = built.processes.iter().filter_map(|p| p.sets.get(set));
            let ids: Vec<u32> = built
                .sets
                .get(set)
                .into_iter()
                .chain(locals)
                .copied()
                .collect();
            for id in ids {
                if let Some(s) = built.network.scalarsets.get_mut(id as usize) {
                    let rule = network::BrokenRule {
                        code,
                        span: loc.span.shift(offset),
                    };
                    if !s.broken.contains(&rule) {
                        s.broken.push(rule);
                    }
                }
            }
        }
    }

    /// The network, sizes checked before allocation.
    pub fn network(&self) -> Result<Network, Vec<Diagnostic>> {
        match self.built() {
            Ok(built) => Ok(built.network.clone()),
            Err(e) => Err(e.clone()),
        }
    }

    fn checked_query(
        &self,
        query: &ast::Query,
        base: u32,
    ) -> (Option<crate::check::CheckedKind>, Vec<Diagnostic>) {
        let item = u32::MAX - 1;
        let checked = Checker::for_query(&self.env, item, self.families.clone()).query(query);
        let mut offsets = self.offsets.clone();
        offsets.insert(item, base);
        let diags = checked.diags.iter().map(|d| d.place(&offsets)).collect();
        (checked.kind, diags)
    }

    /// Diagnostics (codes `query/…`, `sym/query`, `unsupported/…`) of a query from a `.q` file or the command line.
    /// `base` is added to the query's spans.
    pub fn check_query(&self, query: &ast::Query, base: u32) -> Vec<Diagnostic> {
        self.checked_query(query, base).1
    }

    /// The query resolved against `network` (made by `self.network()`).
    pub fn resolve_query(
        &self,
        network: &Network,
        query: &ast::Query,
        base: u32,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        let _ = network;
        let mut errors: Vec<Diagnostic> = query
            .errors
            .iter()
            .map(|e| Diagnostic::error(e.code, e.message.clone(), e.span.shift(base)))
            .collect();
        let (kind, diags) = self.checked_query(query, base);
        errors.extend(
            diags
                .into_iter()
                .filter(|d| d.severity == Severity::Error || d.code.starts_with("unsupported/")),
        );
        if !errors.is_empty() {
            return Err(errors);
        }
        let built = match self.built() {
            Ok(built) => built,
            Err(e) => return Err(e.clone()),
        };
        let span = query.span.shift(base);
        let Some(kind) = kind else {
            return Err(vec![Diagnostic::error(
                "query/syntax",
                "there is no formula here",
                span,
            )]);
        };
        instantiate::resolve(&self.env, built, &kind, &query.text, query.span, base).map_err(
            |foreign| {
                vec![match foreign {
                    Foreign::Unsupported(code, message, span) => {
                        Diagnostic::new(code, Severity::Error, message, span)
                    }
                    Foreign::Broken => {
                        Diagnostic::error("query/type", "this query cannot be evaluated", span)
                    }
                }]
            },
        )
    }
}

/// Rules whose violation leaves the model a meaning: only the scalarset is excluded from reduction.
const MEANINGFUL: &[&str] = &[
    "sym/loop-order",
    "sym/broadcast-order",
    "sym/partial-instance",
    "sym/priority",
    "sym/constant",
    "sym/default",
    "sym/meta",
];

fn blocks(d: &Diagnostic) -> bool {
    d.severity == Severity::Error && !d.code.starts_with("query/") && !MEANINGFUL.contains(&d.code)
}
