//! Names and types: from the syntax tree to the checked tree, one item at a time.
//!
//! A checker sees the names declared before its item. It records every global name it looked up
//! together with the result, so that its own result can be reused as long as those lookups stay the
//! same.

mod call;
mod decl;
mod expr;
mod function;
mod init;
mod known;
mod labels;
mod meant;
mod needed;
mod operators;
mod query;
mod repair;
mod scalar;
mod system;
mod template;
mod type_expr;

use crate::consteval::{Bodies, EvalError, Evaluator};
use crate::diag::Diag;
use crate::hir::{Decl, Expr, Instance, PriorityElem, Template};
use crate::symbol::{ItemId, Loc, ParamOf, SymId, SymKind, Symbol};
use crate::types::{Bound, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use zonelens_syntax::ast;
use zonelens_syntax::span::Span;

pub(crate) use decl::no_value;
pub(crate) use labels::has_side_effect;
pub(crate) use needed::check as needed;
pub(crate) use query::CheckedKind;

/// The context of the item being checked.
pub(crate) struct Env {
    /// The global scope so far.
    pub names: FxHashMap<SmolStr, Arc<Symbol>>,
    /// Names that the language itself declares.
    pub builtins: Arc<FxHashMap<SmolStr, Arc<Symbol>>>,
    /// Functions by the id in their signature.
    pub bodies: Bodies,
    /// Templates by the id in their signature.
    pub templates: FxHashMap<SymId, Arc<Template>>,
    /// Partial instantiations by the id in their signature.
    pub instances: FxHashMap<SymId, Arc<Instance>>,
    /// `--const` overrides.
    pub constants: BTreeMap<String, i64>,
    /// Whether the file uses the 3.x syntax.
    pub legacy: bool,
    /// A name on the system line is unknown, so a process that seems to be missing may be the one
    /// that was meant there.
    pub incomplete: bool,
    /// The next unused id.
    pub next_id: AtomicU32,
    /// How many comparisons were made to find suggestions for undeclared names.
    pub compared: AtomicU64,
}

impl Env {
    /// Returns a new unique id.
    pub(crate) fn fresh(&self) -> u32 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }
}

/// The result of checking an item.
#[derive(Clone, Debug, Default)]
pub(crate) struct Checked {
    /// Global names it declares.
    pub symbols: Vec<Arc<Symbol>>,
    /// Variables it declares.
    pub decls: Vec<Decl>,
    /// Its content.
    pub body: Body,
    /// Diagnostics of the item.
    pub diags: Vec<Diag>,
    /// Global names it looked up, with the id of the symbol found.
    pub deps: Vec<(SmolStr, Option<SymId>)>,
    /// Whether the result depends on function bodies, so that it cannot be reused.
    pub volatile: bool,
    /// Fixes that are valid only if the rest of the model agrees.
    pub tentative: Vec<Tentative>,
    /// Functions it declares, local ones included.
    pub functions: Vec<Arc<crate::hir::Function>>,
    /// Whether a name on its system line is unknown.
    pub incomplete: bool,
    /// The lint results, computed on first use.
    pub lint: std::sync::OnceLock<crate::lint::ItemLint>,
}

/// A fix that must be tried before it is offered.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tentative {
    /// Where the problem is.
    pub loc: Loc,
    /// The title shown in the editor's menu.
    pub title: String,
    /// The edits.
    pub changes: Vec<crate::fix::Change>,
}

/// The content of an item beyond names and variables.
#[derive(Clone, Debug, Default)]
pub(crate) enum Body {
    /// Nothing more.
    #[default]
    None,
    /// A template.
    Template(Arc<Template>),
    /// A partial instantiation.
    Instance(Arc<Instance>),
    /// The system line: levels of priority, each a list of symbols with their positions.
    System(Vec<Vec<(Arc<Symbol>, Loc)>>),
    /// Channel priorities, lowest first.
    ChanPriority(Vec<Vec<PriorityElem>>),
    /// `before_update`
    BeforeUpdate(Vec<Expr>),
    /// `after_update`
    AfterUpdate(Vec<Expr>),
}

/// The function being checked, and facts collected about its body.
struct FnContext {
    name: SmolStr,
    ret: Type,
    writes: bool,
    reads: bool,
    written: FxHashSet<SymId>,
    loops: u32,
    /// Part of its body has syntax errors.
    unreadable: bool,
}

/// Checks one item.
pub(crate) struct Checker<'a> {
    env: &'a Env,
    item: ItemId,
    /// Added to spans: the offset of the member inside the item.
    base: u32,
    /// Scopes inside the item, innermost last.
    frames: Vec<FxHashMap<SmolStr, Arc<Symbol>>>,
    function: Option<FnContext>,
    /// Inside a template: ids of parameters that sizes depend on.
    restricted: FxHashSet<SymId>,
    /// Ids of template constants and types, with the parameters they depend on.
    depends: FxHashMap<SymId, FxHashSet<SymId>>,
    /// Names that were used as types but do not denote one.
    unknown_types: FxHashSet<SmolStr>,
    /// Whether the current expression must be known before the model runs.
    wants_constant: bool,
    /// The end of the last location of the template.
    last_location: Option<Loc>,
    in_template: bool,
    in_query: bool,
    /// Checking an expression about one state of a trace: elements of scalarsets are the numbers
    /// shown in the trace.
    in_state: bool,
    /// In a query, the span of the `P(i).x` around the current expression.
    member_span: Option<Span>,
    /// Inside a part that constants keep from being evaluated, such as `list[3] == 0` in `N > 3 &&
    /// list[3] == 0` where N is 3.
    unreached: bool,
    /// What the item has declared so far, by name. A map, because one item may declare a million
    /// variables.
    declared: FxHashMap<SmolStr, Arc<Symbol>>,
    /// Families that queries may name, by their name on the system line.
    families: Option<&'a FxHashMap<SmolStr, Arc<Symbol>>>,
    /// The result for the item before an edit.
    previous: Option<&'a Checked>,
    out: Checked,
}

impl<'a> Checker<'a> {
    /// A checker for the item `item`.
    pub(crate) fn new(env: &'a Env, item: ItemId) -> Checker<'a> {
        Checker {
            env,
            item,
            base: 0,
            frames: Vec::new(),
            function: None,
            restricted: FxHashSet::default(),
            depends: FxHashMap::default(),
            unknown_types: FxHashSet::default(),
            wants_constant: false,
            last_location: None,
            in_template: false,
            in_query: false,
            in_state: false,
            member_span: None,
            unreached: false,
            declared: FxHashMap::default(),
            families: None,
            previous: None,
            out: Checked::default(),
        }
    }

    /// Reuses the ids of what `previous` declared, where the meaning is unchanged.
    pub(crate) fn after(mut self, previous: Option<&'a Checked>) -> Checker<'a> {
        self.previous = previous;
        self
    }

    /// Checks the item.
    pub(crate) fn check(mut self, item: &ast::Item) -> Checked {
        use ast::ItemKind as K;
        match &item.kind {
            K::Error(names) => self.unreadable(names),
            // Gantt charts affect only drawings, and the processes they name are not declared
            // names.
            K::Empty | K::Query(_) | K::Gantt(_) => {}
            K::Var(v) => self.var_decl(v),
            K::Typedef(t) => self.typedef(t),
            K::ScalarsetDecl { name, size } => self.scalarset_decl(name, size),
            K::Function(f) => self.function(f),
            K::Process(p) => self.process(p),
            K::Instantiation(i) => self.instantiation(i),
            K::ChanPriority(p) => self.chan_priority(p),
            K::System(s) => self.system_line(s),
            K::Progress(p) => self.progress(p),
            K::BeforeUpdate(list) => {
                let list = self.updates(list);
                self.out.body = Body::BeforeUpdate(list);
            }
            K::AfterUpdate(list) => {
                let list = self.updates(list);
                self.out.body = Body::AfterUpdate(list);
            }
            K::Unsupported(u) => self.unsupported_item(u),
        }
        self.out.deps.sort_unstable();
        self.out.deps.dedup();
        self.out
    }

    // Positions and diagnostics.

    fn span(&self, span: Span) -> Span {
        span.shift(self.base)
    }

    fn loc(&self, span: Span) -> Loc {
        Loc {
            item: self.item,
            span: self.span(span),
        }
    }

    /// The location of a span that is already relative to the item.
    fn here(&self, span: Span) -> Loc {
        Loc {
            item: self.item,
            span,
        }
    }

    fn report(&mut self, mut diag: Diag) {
        if self.in_query {
            let literal = diag.code == "sym/literal";
            diag.code = match diag.code.split_once('/').map(|(area, _)| area) {
                Some("name") => "query/name",
                Some("query" | "unsupported") => diag.code,
                _ => "query/type",
            };
            // In a query, an unknown name can be corrected and a number replaced, but nothing can
            // be declared or reordered.
            if diag.code != "query/name" && !literal {
                diag.fixes.clear();
            }
        }
        self.out.diags.push(diag);
    }

    fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        let diag = Diag::new(code, message, self.loc(span));
        self.report(diag);
    }

    /// Like `error`, for a span that is already relative to the item.
    fn error_at(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        let diag = Diag::new(code, message, self.here(span));
        self.report(diag);
    }

    // Names.

    fn lookup(&mut self, name: &SmolStr) -> Option<Arc<Symbol>> {
        for frame in self.frames.iter().rev() {
            if let Some(s) = frame.get(name) {
                return Some(s.clone());
            }
        }
        if self.in_query
            && let Some(s) = self.families.and_then(|f| f.get(name))
        {
            return Some(s.clone());
        }
        self.lookup_global(name)
    }

    fn lookup_global(&mut self, name: &SmolStr) -> Option<Arc<Symbol>> {
        let found = self
            .env
            .names
            .get(name)
            .or_else(|| self.env.builtins.get(name))
            .cloned();
        self.out
            .deps
            .push((name.clone(), found.as_ref().map(|s| s.id)));
        found
    }

    fn symbol(&self, name: &ast::Ident, kind: SymKind) -> Arc<Symbol> {
        // If a global name still means the same and is still declared at the same position, it
        // keeps its id: items that used it need not be checked again. The position counts because
        // diagnostics elsewhere may point at it.
        let loc = self.loc(name.span);
        let before = self
            .earlier(&name.name)
            .filter(|s| s.kind == kind && s.loc == loc)
            .map(|s| s.id);
        Arc::new(Symbol {
            id: before.unwrap_or_else(|| self.env.fresh()),
            name: name.name.clone(),
            loc,
            kind,
        })
    }

    /// Adds a symbol to the innermost scope. Reports an error if the name is already declared
    /// there.
    fn declare(&mut self, symbol: Arc<Symbol>) {
        let previous = match self.frames.last() {
            Some(frame) => frame.get(&symbol.name).cloned(),
            None => {
                let mine = self.declared.get(&symbol.name).cloned();
                let earlier = self.env.names.get(&symbol.name).cloned();
                let id = earlier.as_ref().map(|s| s.id);
                // A file may redeclare builtins; its own declaration wins.
                let builtin = self.env.builtins.get(&symbol.name).map(|s| s.id);
                self.out.deps.push((symbol.name.clone(), id.or(builtin)));
                mine.or(earlier)
            }
        };
        // A name found in text with syntax errors does not conflict with a proper declaration.
        let previous = previous.filter(|p| p.kind != SymKind::Opaque);
        if let Some(previous) = previous {
            let diag = Diag::new(
                "name/duplicate",
                format!(
                    "`{}` is declared twice in the same scope; rename one of them",
                    symbol.name
                ),
                symbol.loc,
            )
            .related(
                previous.loc,
                format!("`{}` is already {} here", symbol.name, previous.what()),
            );
            let other = self.unused_name(&symbol.name);
            let diag = diag.fix(format!("Rename to `{other}`"), symbol.loc, other.as_str());
            self.report(diag);
            return;
        }
        match self.frames.last_mut() {
            Some(frame) => {
                frame.insert(symbol.name.clone(), symbol);
            }
            None => {
                self.declared
                    .insert(symbol.name.clone(), Arc::clone(&symbol));
                self.out.symbols.push(symbol);
            }
        }
    }

    /// The global symbol of this name that the item declared before an edit.
    fn earlier(&self, name: &SmolStr) -> Option<&Arc<Symbol>> {
        let previous = self.previous.filter(|_| self.frames.is_empty())?;
        previous.symbols.iter().find(|s| s.name == *name)
    }

    /// The id under which the body of a global function or template is stored.
    fn body_id(&self, name: &SmolStr) -> u32 {
        match self.earlier(name).map(|s| &s.kind) {
            Some(SymKind::Function(sig)) => sig.body,
            Some(SymKind::Template(sig) | SymKind::Instance(sig)) => sig.body,
            _ => self.env.fresh(),
        }
    }

    fn push_scope(&mut self) {
        self.frames.push(FxHashMap::default());
    }

    fn pop_scope(&mut self) {
        self.frames.pop();
    }

    // Constants.

    /// Evaluates a constant, or returns the reason why it cannot. Parameters are not known yet.
    fn evaluate(&mut self, e: &Expr) -> Result<i32, EvalError> {
        let mut evaluator = Evaluator::new(&self.env.bodies, &|_| None);
        let value = evaluator.int(e);
        self.out.volatile |= evaluator.called;
        value
    }

    /// Checks a size or the end of a range: a constant, or an expression over template parameters.
    fn bound(&mut self, e: &ast::Expr) -> Option<Bound> {
        let e = self.constant_expr(e);
        self.bound_of(e)
    }

    /// Checks an expression that must be known before the model runs.
    fn constant_expr(&mut self, e: &ast::Expr) -> Expr {
        let before = std::mem::replace(&mut self.wants_constant, true);
        let checked = self.expr(e);
        self.offer_declaration(e, &Type::any_int());
        self.wants_constant = before;
        checked
    }

    fn bound_of(&mut self, e: Expr) -> Option<Bound> {
        if e.ty.is_error() {
            return None;
        }
        if let Type::Scalar(set) = &e.ty {
            let set = set.clone();
            self.scalar_as_number(&set, e.span);
            return None;
        }
        if !e.ty.is_integral() {
            self.error_at(
                "type/mismatch",
                format!("an integer constant is needed here, this is {}", e.ty),
                e.span,
            );
            return None;
        }
        match self.evaluate(&e) {
            Ok(v) => Some(Bound::Known(v)),
            Err(EvalError::Silent) => None,
            Err(EvalError::Fails(span, why)) => {
                self.error_at("type/constant", format!("no value: {why}"), span);
                None
            }
            Err(EvalError::NotConstant(span)) => {
                if self.is_computable(&e) {
                    Some(Bound::Expr(Arc::new(e)))
                } else {
                    self.not_constant(span);
                    None
                }
            }
        }
    }

    fn not_constant(&mut self, span: Span) {
        self.error_at(
            "type/not-constant",
            "this must be known before the model runs: use constants, literals and parameters only",
            span,
        );
    }

    /// Whether an expression depends only on constants, parameters given at instantiation, and
    /// bound variables.
    fn is_computable(&self, e: &Expr) -> bool {
        use crate::hir::ExprKind as K;
        let mut ok = true;
        e.walk(&mut |e| match &e.kind {
            K::Var(s) => {
                ok &= match &s.kind {
                    SymKind::Var(v) => v.constant,
                    SymKind::Param(p) if p.of == ParamOf::Instance => p.constant,
                    SymKind::Param(p) => !p.reference || p.constant || self.env.legacy,
                    _ => true,
                }
            }
            K::Call(f, _) => {
                if let SymKind::Function(sig) = &f.kind {
                    ok &= !sig.reads && !sig.writes;
                }
            }
            K::Assign(..) | K::IncDec { .. } | K::Process(..) | K::Member { .. } => ok = false,
            _ => {}
        });
        ok
    }

    /// Collects the template parameters that an expression depends on, directly or through
    /// constants and types of the template.
    fn parameters_of(&self, e: &Expr, into: &mut FxHashSet<SymId>) {
        e.walk(&mut |e| {
            if let crate::hir::ExprKind::Var(s) = &e.kind {
                self.parameters_of_symbol(s.id, matches!(s.kind, SymKind::Param(_)), into);
            }
        });
    }

    fn parameters_of_symbol(&self, id: SymId, param: bool, into: &mut FxHashSet<SymId>) {
        if param {
            into.insert(id);
        }
        if let Some(more) = self.depends.get(&id) {
            into.extend(more.iter().copied());
        }
    }

    /// Collects the parameters that a type's ranges and sizes depend on.
    fn parameters_of_type(&self, ty: &Type, into: &mut FxHashSet<SymId>) {
        let mut bound = |b: &Bound| {
            if let Bound::Expr(e) = b {
                self.parameters_of(e, into);
            }
        };
        match ty {
            Type::Int(int) => {
                bound(&int.lo);
                bound(&int.hi);
            }
            Type::Scalar(set) => bound(&set.size),
            Type::Array(a) => {
                self.parameters_of_type(&a.index, into);
                self.parameters_of_type(&a.element, into);
            }
            Type::Struct(s) => {
                for (_, t) in &s.fields {
                    self.parameters_of_type(t, into);
                }
            }
            _ => {}
        }
    }

    /// Marks the parameters that sizes inside `ty` depend on: they must be given when the template
    /// is instantiated.
    fn restrict_sizes(&mut self, ty: &Type) {
        let mut found = FxHashSet::default();
        match ty {
            Type::Array(a) => {
                self.parameters_of_type(&a.index, &mut found);
                self.restrict_sizes(&a.element);
            }
            Type::Scalar(_) => self.parameters_of_type(ty, &mut found),
            Type::Struct(s) => {
                for (_, t) in &s.fields {
                    self.restrict_sizes(t);
                }
            }
            _ => {}
        }
        self.restricted.extend(found);
    }
}
