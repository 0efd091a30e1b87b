//! The analysed model: one pass over the items that reuses the results of unchanged ones.

mod facts;
mod items;
mod outline;
mod told_apart;

use crate::builtin;
use crate::check::{Body, Checked, Checker, Env};
use crate::config::Severities;
use crate::diag::Diag;
use crate::diagnostic::{Diagnostic, Fix, Severity};
use crate::fix::Page;
use crate::instantiate::{self, Built, Foreign, Source};
use crate::lint;
use crate::network::{self, Network};
use crate::symbol::{ItemId, SymKind, Symbol};
use crate::symmetry::{self, Findings, Judge};
use crate::types::Type;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{self, FileKind, Item, ItemKind};
use zonelens_syntax::span::{Span, TextEdit};

pub use outline::{FamilyOutline, Outline};

/// An item with the result of checking it.
#[derive(Clone)]
struct Entry {
    id: ItemId,
    node: Arc<Item>,
    checked: Arc<Checked>,
    /// Whether it contains syntax errors, queries or other `//@` lines.
    needs_scan: bool,
    /// Whether it uses the 3.x syntax.
    legacy: bool,
}

/// An analysed model: names, types, constants, symmetry facts, all diagnostics of the model file.
pub struct Model {
    env: Env,
    severities: Severities,
    entries: Vec<Entry>,
    items: Vec<(ItemId, Arc<Checked>)>,
    offsets: FxHashMap<ItemId, u32>,
    families: FxHashMap<SmolStr, Arc<Symbol>>,
    diagnostics: Vec<Diagnostic>,
    /// Errors that leave the model without a meaning.
    blocking: Vec<Diagnostic>,
    findings: Findings,
    cache: symmetry::Cache,
    built: OnceLock<Result<Built, Vec<Diagnostic>>>,
    outline: OnceLock<Outline>,
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
    /// Analyses `file` (.xta or .xml). `constants` overrides global integer constants (`--const`)
    /// before any size is evaluated.
    pub fn new(file: &SourceFile, constants: &BTreeMap<String, i64>) -> Model {
        Model::configured(file, constants, Severities::default())
    }

    /// Like `new`, with the severities of a workspace. They change what is shown, but not whether a
    /// model can be verified.
    pub fn configured(
        file: &SourceFile,
        constants: &BTreeMap<String, i64>,
        severities: Severities,
    ) -> Model {
        Model::build(file, constants.clone(), severities, None)
    }

    /// The model of an edited file. Items that the edit did not touch keep their results if the
    /// names they use still mean the same.
    pub fn update(&self, file: &SourceFile) -> Model {
        let (constants, severities) = (self.env.constants.clone(), self.severities.clone());
        Model::build(file, constants, severities, Some(self))
    }

    /// Whether a name is a global constant, which `constants` of `new` can override.
    pub fn has_global_constant(&self, name: &str) -> bool {
        let symbol = self.env.names.get(name);
        symbol.is_some_and(|s| matches!(&s.kind, SymKind::Var(v) if v.constant))
    }

    /// Whether a global constant is a `bool`, which matters only for display.
    pub fn is_boolean_constant(&self, name: &str) -> bool {
        let symbol = self.env.names.get(name);
        symbol.is_some_and(|s| matches!(s.value_type(), Some(Type::Bool)))
    }

    fn build(
        file: &SourceFile,
        constants: BTreeMap<String, i64>,
        severities: Severities,
        old: Option<&Model>,
    ) -> Model {
        let legacy = items::is_legacy(file, old);
        let old = old.filter(|m| {
            m.env.legacy == legacy && m.env.next_id.load(Ordering::Relaxed) < RENUMBER_AFTER
        });
        let room = old.map_or(0, |m| m.env.names.len() + 16);
        let lines = file.items.len();
        let first = old.map_or(builtin::FIRST_USER_SYMBOL, |m| m.env.fresh());
        let env = Env {
            names: FxHashMap::with_capacity_and_hasher(room, Default::default()),
            builtins: old.map_or_else(|| Arc::new(builtin::symbols()), |m| m.env.builtins.clone()),
            bodies: crate::consteval::Bodies::default(),
            templates: FxHashMap::default(),
            instances: FxHashMap::default(),
            constants,
            legacy,
            next_id: AtomicU32::new(first),
            incomplete: false,
            compared: AtomicU64::default(),
        };
        let mut model = Model {
            env,
            severities,
            entries: Vec::with_capacity(lines),
            items: Vec::with_capacity(lines),
            offsets: FxHashMap::with_capacity_and_hasher(lines, Default::default()),
            families: FxHashMap::default(),
            diagnostics: Vec::new(),
            blocking: Vec::new(),
            findings: Findings::default(),
            cache: symmetry::Cache::default(),
            built: OnceLock::new(),
            outline: OnceLock::new(),
        };
        if file.items.len() > MAX_ITEMS {
            model.refuse(file);
        } else {
            model.check_items(file, old);
            model.finish(file, old);
        }
        model
    }

    /// Rejects a file with too many items without analysing it: each item would keep kilobytes of
    /// results.
    fn refuse(&mut self, file: &SourceFile) {
        let first = file.items.get(MAX_ITEMS);
        let at = first.map_or(Span::new(0, 0), |i| i.node.span.shift(i.offset));
        let message = format!(
            "this file has {} declarations, functions and processes; at most {MAX_ITEMS} are possible. Use arrays, functions and template parameters instead of generated copies",
            file.items.len()
        );
        self.diagnostics = vec![Diagnostic::new("system/size", message, at)];
        self.blocking = self.diagnostics.clone();
    }

    fn finish(&mut self, file: &SourceFile, old: Option<&Model>) {
        let scanned = self.part_to_scan(file);
        let mut out: Vec<Diagnostic> = scanned
            .errors()
            .iter()
            .map(|e| Diagnostic::syntax(e, 0))
            .collect();
        for d in out.iter_mut().filter(|d| d.code == "syntax/no-system") {
            d.fixes.extend(self.run_templates(file));
        }
        let all = self.items.iter().flat_map(|(_, c)| &c.diags);
        out.extend(self.placed(file, all));
        self.system_section(file, &mut out);
        if !out.iter().any(|d| d.code.starts_with("syntax/")) {
            let needed = crate::check::needed(&self.env, &self.items);
            out.extend(self.placed(file, &needed));
        }
        // The diagnostics added below do not block verification: a broken rule only excludes its
        // set from reduction.
        self.blocking = out.iter().filter(|d| blocks(d)).cloned().collect();
        let (findings, cache) = symmetry::analyse(&self.env, &self.items, old.map(|m| &m.cache));
        self.findings = findings;
        self.cache = cache;
        out.extend(self.placed(file, &self.findings.diags));
        let mut asked = Vec::new();
        for q in scanned.queries() {
            let (kind, diags) = self.checked_query(q.query, q.base);
            out.extend(diags);
            asked.extend(
                kind.into_iter()
                    .flat_map(crate::check::CheckedKind::into_exprs),
            );
        }
        let lints = lint::check(&self.items, &asked);
        out.extend(self.placed(file, &lints));
        out.extend(lint::label_kind::check(file));
        out.extend(crate::pragma::check(&scanned));
        let mut out = self.severities.apply(crate::allow::apply(&scanned, out));
        out.sort_by(|a, b| {
            (a.span.start, a.span.end, a.code).cmp(&(b.span.start, b.span.end, b.code))
        });
        self.diagnostics = out;
    }

    /// Converts diagnostics and their fixes to absolute positions in the file.
    fn placed<'a>(
        &self,
        file: &SourceFile,
        diags: impl IntoIterator<Item = &'a Diag>,
    ) -> Vec<Diagnostic> {
        self.with_page(file, |page| {
            diags.into_iter().map(|d| d.place(page)).collect()
        })
    }

    /// Fixes that must be tried first, with the span of the problem.
    pub(crate) fn tentative(&self, file: &SourceFile) -> Vec<(Span, Fix)> {
        let all = self.items.iter().flat_map(|(_, c)| &c.tentative);
        self.with_page(file, |page| {
            all.filter_map(|t| {
                let at = t.loc.span.shift((page.offset)(t.loc.item)?);
                let edits = page.edits(&t.changes)?;
                let title = t.title.clone();
                let safe = false;
                Some((at, Fix { title, edits, safe }))
            })
            .collect()
        })
    }

    /// Names of detected sets, with the positions of the parameters that number the processes.
    pub(crate) fn detected(&self) -> Vec<(SmolStr, Span)> {
        let sets = self.findings.facts.elements.iter().filter(|e| e.detected);
        sets.filter_map(|e| {
            let offset = self.offsets.get(&e.set.loc.item)?;
            Some((e.set.name.clone(), e.set.loc.span.shift(*offset)))
        })
        .collect()
    }

    /// Calls `act` with the page that changes of this model apply to.
    fn with_page<T>(&self, file: &SourceFile, act: impl FnOnce(&Page<'_>) -> T) -> T {
        let by_id: OnceLock<FxHashMap<ItemId, &Entry>> = OnceLock::new();
        let first_word = |item: ItemId| {
            let by_id = by_id.get_or_init(|| self.entries.iter().map(|e| (e.id, e)).collect());
            let entry = by_id.get(&item)?;
            Some(self.offsets.get(&item)? + entry.node.span.start)
        };
        let declaration = file.items.first().filter(|i| {
            matches!(
                i.node.kind,
                ItemKind::Var(_) | ItemKind::Typedef(_) | ItemKind::Function(_)
            )
        });
        let page = Page {
            text: &file.text,
            kind: file.kind,
            offset: &|item| self.offsets.get(&item).copied(),
            first_word: &first_word,
            declarations: match declaration {
                Some(i) => Some((i.offset + i.node.span.start, "", "\n")),
                None => file.declaration_place(),
            },
        };
        act(&page)
    }

    /// A fix that adds a system line with all templates that need no arguments.
    fn run_templates(&self, file: &SourceFile) -> Option<Fix> {
        let ready =
            |e: &&Entry| matches!(&e.checked.body, Body::Template(t) if t.params.is_empty());
        let entries = self.entries.iter().filter(ready);
        let names: Vec<&str> = entries
            .flat_map(|e| &e.checked.symbols)
            .map(|s| s.name.as_str())
            .collect();
        let (end, after) = match file.kind {
            FileKind::Xml => (file.system_end()?, ""),
            _ => (file.text.len() as u32, "\n"),
        };
        let edit = TextEdit {
            span: Span::new(end, end),
            // The line break ends a comment that may be there.
            text: format!("\nsystem {};{after}", names.join(", ")),
        };
        (!names.is_empty()).then(|| Fix {
            title: "Run one process of each template".into(),
            edits: vec![edit],
            safe: false,
        })
    }

    fn system_section(&self, file: &SourceFile, out: &mut Vec<Diagnostic>) {
        let mut lines = file
            .items
            .iter()
            .filter(|i| matches!(i.node.kind, ItemKind::System(_)));
        let end = file.text.len() as u32;
        if lines.next().is_none() && !out.iter().any(|d| d.code.starts_with("syntax/")) {
            let message = "there is no `system …;` line, so there are no processes";
            let at = Span::new(end, end);
            out.push(Diagnostic::new("system/missing", message, at));
        }
        for second in lines {
            let span = second.node.span.shift(second.offset);
            out.push(Diagnostic::new(
                "system/missing",
                "a model has one system line only",
                span,
            ));
        }
    }

    /// All diagnostics of the file, sorted by span, with `//@ allow CODE` applied. Syntax errors
    /// and diagnostics of embedded queries are included.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Whether an error prevents verification. `query/…` concerns one query only; `sym/…` errors in
    /// a text that still has a meaning only exclude their scalarset from reduction.
    pub fn blocks_verification(&self) -> bool {
        !self.blocking.is_empty()
    }

    fn built(&self) -> &Result<Built, Vec<Diagnostic>> {
        self.built.get_or_init(|| {
            if !self.blocking.is_empty() {
                return Err(self.blocking.clone());
            }
            let source = Source {
                env: &self.env,
                items: &self.items,
                offsets: &self.offsets,
                facts: &self.findings.facts,
            };
            let mut built = instantiate::build(&source).map_err(|list| {
                let offset = |item: ItemId| self.offsets.get(&item).copied();
                let page = bare_page(&offset);
                list.iter().map(|d| d.place(&page)).collect::<Vec<_>>()
            })?;
            self.mark_broken(&mut built);
            Ok(built)
        })
    }

    /// Marks the sets that the engine must not reduce over.
    fn mark_broken(&self, built: &mut Built) {
        for (set, code, loc) in &self.findings.broken {
            let offset = self.offsets.get(&loc.item).copied().unwrap_or(0);
            let locals = built.processes.iter().filter_map(|p| p.sets.get(set));
            let ids: Vec<_> = built
                .sets
                .get(set)
                .into_iter()
                .chain(locals)
                .copied()
                .collect();
            for id in ids {
                if let Some(s) = built.network.scalarsets.get_mut(id) {
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

    /// The network. Sizes are checked before anything is allocated.
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
        self.checked(query, base, false)
    }

    /// Checks a query, or an expression about one state in the form of a query.
    fn checked(
        &self,
        query: &ast::Query,
        base: u32,
        in_state: bool,
    ) -> (Option<crate::check::CheckedKind>, Vec<Diagnostic>) {
        let item = crate::symbol::QUERY_ITEM;
        let checker = Checker::for_query(&self.env, item, &self.families);
        let checked = match in_state {
            true => checker.in_state().query(query),
            false => checker.query(query),
        };
        let offset = |i: ItemId| {
            if i == item {
                Some(base)
            } else {
                self.offsets.get(&i).copied()
            }
        };
        let page = bare_page(&offset);
        let mut diags: Vec<Diagnostic> = checked.diags.iter().map(|d| d.place(&page)).collect();
        if let Some(kind) = &checked.kind {
            diags.extend(self.elements_told_apart(kind, query.span.shift(base)));
        }
        (checked.kind, diags)
    }

    /// Diagnostics (codes `query/…`, `sym/query`, `unsupported/…`) of a query from a `.q` file or
    /// the command line. `base` is added to the spans of the query.
    pub fn check_query(&self, query: &ast::Query, base: u32) -> Vec<Diagnostic> {
        self.severities.apply(self.checked_query(query, base).1)
    }

    /// Applies the severities of the workspace to the diagnostics of a file that belongs to this
    /// model.
    pub(crate) fn configured_severities(&self, found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        self.severities.apply(found)
    }

    /// The query resolved against `network` (made by `self.network()`).
    pub fn resolve_query(
        &self,
        _network: &Network,
        query: &ast::Query,
        base: u32,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        self.resolved(query, base, Judge::Exact, false)
    }

    /// Like `resolve_query`, with a chosen variant of the symmetry analysis. Tests use it to see
    /// that a wrong one is noticed.
    #[doc(hidden)]
    pub fn resolve_query_judged(
        &self,
        query: &ast::Query,
        judge: Judge,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        self.resolved(query, 0, judge, false)
    }

    /// Resolves an expression about one state of a trace: what `sup` measures, else a condition.
    /// Elements of scalarsets are the numbers shown in the trace: they can be named because the
    /// result concerns that state only.
    pub fn resolve_expression(
        &self,
        expression: &ast::Expr,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        let measured = ast::QueryKind::Bounds {
            kind: ast::BoundsKind::Sup,
            condition: None,
            exprs: vec![expression.clone()],
        };
        self.resolve_in_state(expression, measured)
            .or_else(|_| self.resolve_condition(expression))
    }

    /// Resolves a condition on one state of a trace, as [`Model::resolve_expression`] does.
    pub fn resolve_condition(
        &self,
        expression: &ast::Expr,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        let condition = ast::QueryKind::Path(ast::PathKind::Possibly, expression.clone());
        self.resolve_in_state(expression, condition)
    }

    fn resolve_in_state(
        &self,
        expression: &ast::Expr,
        kind: ast::QueryKind,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        let query = ast::Query {
            kind,
            text: SmolStr::default(),
            span: expression.span,
            expectation: None,
            every: None,
            comment: None,
            results: Vec::new(),
            graphics: None,
            errors: Vec::new(),
        };
        self.resolved(&query, 0, Judge::Exact, true)
    }

    fn resolved(
        &self,
        query: &ast::Query,
        base: u32,
        judge: Judge,
        in_state: bool,
    ) -> Result<network::Query, Vec<Diagnostic>> {
        let mut errors: Vec<Diagnostic> = query
            .errors
            .iter()
            .map(|e| Diagnostic::syntax(e, base))
            .collect();
        let (kind, diags) = self.checked(query, base, in_state);
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
            return Err(vec![Diagnostic::new(
                "query/syntax",
                "there is no formula here",
                span,
            )]);
        };
        let named = self.findings.facts.judged(&self.env, &kind, judge);
        let number = |set: &u32| built.sets.get(set).copied();
        let some = named.elements.iter();
        let mut elements: Vec<_> = some
            .filter_map(|(set, n)| number(set).map(|id| (id, *n)))
            .collect();
        for id in named.all.keys().filter_map(number) {
            let size = built.network.scalarsets.get(id).map_or(0, |s| s.size);
            elements.extend((0..size).map(|n| (id, n)));
        }
        elements.sort_unstable();
        elements.dedup();
        let variables = named.variables.iter();
        let variables = variables
            .filter_map(|(s, set)| number(set).map(|id| (*s, id)))
            .collect();
        let (text, span) = (&query.text, query.span);
        let resolved = instantiate::resolve(&self.env, built, &kind, text, span, base, variables);
        let resolved = resolved.map(|q| network::Query {
            named_elements: elements,
            ..q
        });
        resolved.map_err(|foreign| {
            vec![match foreign {
                Foreign::Unsupported(code, message, span) => {
                    // Problems inside a query have their own codes.
                    let own = code.starts_with("unsupported/") || code.starts_with("query/");
                    Diagnostic::new(if own { code } else { "query/range" }, message, span)
                }
                Foreign::Empty(..) | Foreign::Broken => {
                    Diagnostic::new("query/type", "this query cannot be evaluated", span)
                }
            }]
        })
    }
}

/// Symbol ids are indices of tables. A model that has used this many ids is analysed again from
/// scratch, with small ids.
const RENUMBER_AFTER: u32 = 2_000_000;

/// The most items a file may have.
const MAX_ITEMS: usize = 200_000;

/// A page that only knows the offsets of items.
fn bare_page<'a>(offset: &'a dyn Fn(ItemId) -> Option<u32>) -> Page<'a> {
    Page {
        text: "",
        kind: FileKind::Xta,
        offset,
        first_word: &|_| None,
        declarations: None,
    }
}

fn blocks(d: &Diagnostic) -> bool {
    d.severity == Severity::Error && !d.code.starts_with("query/")
}
