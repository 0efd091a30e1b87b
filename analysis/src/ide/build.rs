//! Builds the index: items in order, templates with their members, and queries last because they
//! see everything.

use super::{DefId, DefKind, Definition, Index, Occurrence, Unresolved};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{
    Declarator, Function, Ident, Instantiation, Item, ItemKind, Location, Member, MemberKind,
    Params, Placed, Prefix, PriorityElem, Process, Query, QueryKind, TypeBase, TypeExpr,
};
use zonelens_syntax::span::Span;

/// Indexes a model with its embedded queries.
pub(super) fn model(file: &SourceFile) -> Index {
    let mut builder = Builder::new(file);
    for item in &file.items {
        builder.item(item);
    }
    builder.base = 0;
    for q in file.queries() {
        builder.query(q.query, q.base);
    }
    builder.finish()
}

/// Indexes a query file, starting from the names of its model.
pub(super) fn queries(model: &Index, file: &SourceFile) -> Index {
    let mut builder = Builder::new(file);
    builder.index.definitions = model.definitions.clone();
    for (id, definition) in builder.index.definitions.iter_mut().enumerate() {
        definition.foreign = true;
        if definition.container.is_none() {
            builder.scopes[0].insert(definition.name.clone(), id);
        }
    }
    for q in file.queries() {
        builder.query(q.query, q.base);
    }
    builder.finish()
}

/// Walks a file, with a stack of open scopes.
pub(super) struct Builder<'a> {
    file: &'a SourceFile,
    pub(super) index: Index,
    scopes: Vec<FxHashMap<SmolStr, DefId>>,
    /// The offset that the spans of nodes are relative to.
    pub(super) base: u32,
    /// The span of the innermost scope: names declared in it can be used up to its end.
    pub(super) scope: Span,
    container: Option<DefId>,
}

impl<'a> Builder<'a> {
    fn new(file: &'a SourceFile) -> Builder<'a> {
        let whole = Span::new(0, file.text.len() as u32);
        Builder {
            file,
            index: Index::default(),
            scopes: vec![FxHashMap::default()],
            base: 0,
            scope: whole,
            container: None,
        }
    }

    fn finish(mut self) -> Index {
        self.index
            .occurrences
            .sort_by_key(|o| (o.span.start, o.span.end));
        self.index.occurrences.dedup();
        self.index.unresolved.sort_by_key(|u| u.span.start);
        self.index
    }

    /// Declares a name in the innermost scope.
    pub(super) fn declare(
        &mut self,
        name: &Ident,
        kind: DefKind,
        full: Span,
        detail: String,
    ) -> DefId {
        let id = self.index.definitions.len();
        let span = name.span.shift(self.base);
        self.index.definitions.push(Definition {
            name: name.name.clone(),
            kind,
            span,
            full: full.shift(self.base),
            scope: self.scope,
            container: self.container,
            detail,
            of: None,
            members: BTreeMap::new(),
            foreign: false,
        });
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.name.clone(), id);
        }
        self.occurrence(span, id, true, false);
        id
    }

    pub(super) fn occurrence(&mut self, span: Span, def: DefId, declares: bool, writes: bool) {
        if !span.is_empty() {
            self.index.occurrences.push(Occurrence {
                span,
                def,
                declares,
                writes,
            });
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<DefId> {
        self.scopes.iter().rev().find_map(|s| s.get(name)).copied()
    }

    /// Records a use of a plain name.
    pub(super) fn name(&mut self, name: &Ident, writes: bool) -> Option<DefId> {
        let span = name.span.shift(self.base);
        match self.find(&name.name) {
            Some(def) => {
                self.occurrence(span, def, false, writes);
                Some(def)
            }
            None => {
                self.index.unresolved.push(Unresolved {
                    name: name.name.clone(),
                    span,
                });
                None
            }
        }
    }

    /// Records a use of a member. If the base is unknown, it was reported already.
    pub(super) fn member_of(
        &mut self,
        base: Option<DefId>,
        name: &Ident,
        writes: bool,
    ) -> Option<DefId> {
        let def = self.index.member(base?, &name.name)?;
        self.occurrence(name.span.shift(self.base), def, false, writes);
        Some(def)
    }

    /// Runs `inside` in a new scope that ends at the end of `span`.
    pub(super) fn scoped(&mut self, span: Span, inside: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.scope, span.shift(self.base));
        self.scopes.push(FxHashMap::default());
        inside(self);
        self.scopes.pop();
        self.scope = outer;
    }

    /// The text of a span, joined to one line.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.file.plain(span.shift(self.base));
        if is_folded(&text) {
            return text.into_owned();
        }
        let folded = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if folded.chars().count() > 200 {
            let short: String = folded.chars().take(199).collect();
            return format!("{short}…");
        }
        folded
    }

    fn item(&mut self, item: &Placed<Item>) {
        self.base = item.offset;
        let full = item.node.span;
        self.item_kind(&item.node.kind, full);
    }

    fn item_kind(&mut self, kind: &ItemKind, full: Span) {
        match kind {
            ItemKind::Var(decl) => self.variables(&decl.ty, &decl.names, full),
            ItemKind::Typedef(decl) => self.typedef(&decl.ty, &decl.names, full),
            ItemKind::ScalarsetDecl { name, size } => {
                self.expr(size);
                let detail = self.text(full);
                self.declare(name, DefKind::Type, full, detail);
            }
            ItemKind::Function(function) => self.function(function, full),
            ItemKind::Process(process) => self.process(process, full),
            ItemKind::Instantiation(instance) => self.instantiation(instance, full),
            ItemKind::System(line) => {
                for name in line.levels.iter().flatten() {
                    self.name(name, false);
                }
            }
            ItemKind::ChanPriority(priority) => {
                for element in priority.levels.iter().flatten() {
                    if let PriorityElem::Channel(e) = element {
                        self.expr(e);
                    }
                }
            }
            ItemKind::Progress(progress) => {
                for (guard, measure) in &progress.measures {
                    guard.iter().for_each(|g| self.expr(g));
                    self.expr(measure);
                }
            }
            ItemKind::Gantt(lines) => {
                for line in lines {
                    self.scoped(full, |b| {
                        b.binders(&line.binders);
                        for entry in &line.entries {
                            b.scoped(full, |b| {
                                b.binders(&entry.binders);
                                b.expr(&entry.condition);
                                b.expr(&entry.value);
                            });
                        }
                    });
                }
            }
            ItemKind::BeforeUpdate(list) | ItemKind::AfterUpdate(list) => {
                list.iter().for_each(|e| self.expr(e));
            }
            ItemKind::Unsupported(other) => {
                for name in &other.names {
                    let detail = self.text(other.span);
                    self.declare(name, DefKind::Variable, other.span, detail);
                }
            }
            ItemKind::Query(_) | ItemKind::Error(_) | ItemKind::Empty => {}
        }
    }

    pub(super) fn variables(&mut self, ty: &TypeExpr, names: &[Declarator], full: Span) {
        let of = self.type_expr(ty);
        let kind = kind_of(ty);
        for declarator in names {
            self.declarator(declarator);
            let detail = format!("{} {}", self.text(ty.span), self.text(declarator.span));
            let kind = self.refine(kind, of);
            let id = self.declare(&declarator.name, kind, full, detail);
            self.index.definitions[id].of = of;
        }
    }

    /// Turns a variable into a clock or channel if its named type is one.
    fn refine(&self, kind: DefKind, of: Option<DefId>) -> DefKind {
        let base = of.and_then(|id| self.index.definitions.get(id));
        match (kind, base.map(|d| d.detail.as_str())) {
            (DefKind::Variable, Some(detail)) if detail.starts_with("typedef clock") => {
                DefKind::Clock
            }
            _ => kind,
        }
    }

    pub(super) fn typedef(&mut self, ty: &TypeExpr, names: &[Declarator], full: Span) {
        let of = self.type_expr(ty);
        for declarator in names {
            self.declarator(declarator);
            let detail = format!(
                "typedef {} {}",
                self.text(ty.span),
                self.text(declarator.span)
            );
            let id = self.declare(&declarator.name, DefKind::Type, full, detail);
            self.index.definitions[id].of = of;
        }
    }

    fn declarator(&mut self, declarator: &Declarator) {
        declarator.dims.iter().for_each(|d| self.dim(d));
        if let Some(init) = &declarator.init {
            self.init(init);
        }
    }

    /// Declares the fields of a struct type under an unnamed definition.
    pub(super) fn structure(
        &mut self,
        ty: &TypeExpr,
        fields: &[zonelens_syntax::ast::Field],
    ) -> DefId {
        let anonymous = Ident {
            name: SmolStr::default(),
            span: Span::new(ty.span.start, ty.span.start),
        };
        let detail = self.text(ty.span);
        let id = self.declare(&anonymous, DefKind::Type, ty.span, detail);
        let outer = self.container.replace(id);
        self.scopes.push(FxHashMap::default());
        for field in fields {
            let of = self.type_expr(&field.ty);
            for name in &field.names {
                name.dims.iter().for_each(|d| self.dim(d));
                let detail = format!("{} {}", self.text(field.ty.span), self.text(name.span));
                let member = self.declare(&name.name, DefKind::Field, name.span, detail);
                self.index.definitions[member].of = of;
                let members = &mut self.index.definitions[id].members;
                members.insert(name.name.name.clone(), member);
            }
        }
        self.scopes.pop();
        self.container = outer;
        id
    }

    pub(super) fn params(&mut self, params: &Params) {
        for param in &params.list {
            let of = self.type_expr(&param.ty);
            param.dims.iter().for_each(|d| self.dim(d));
            let amp = if param.reference { "&" } else { "" };
            let dims = match param.dims.is_empty() {
                true => "",
                false => "[…]",
            };
            let detail = format!(
                "{} {amp}{}{dims}",
                self.text(param.ty.span),
                param.name.name
            );
            let id = self.declare(&param.name, DefKind::Parameter, param.span, detail);
            self.index.definitions[id].of = of;
        }
    }

    pub(super) fn binders(&mut self, binders: &[(Ident, TypeExpr)]) {
        for (name, ty) in binders {
            let of = self.type_expr(ty);
            let full = name.span.cover(ty.span);
            let detail = format!("{} : {}", name.name, self.text(ty.span));
            let id = self.declare(name, DefKind::Bound, full, detail);
            self.index.definitions[id].of = of;
        }
    }

    fn function(&mut self, function: &Function, full: Span) {
        let of = self.type_expr(&function.ty);
        let detail = format!(
            "{} {}{}",
            self.text(function.ty.span),
            function.name.name,
            self.text(function.params.span)
        );
        let id = self.declare(&function.name, DefKind::Function, full, detail);
        self.index.definitions[id].of = of;
        let outer = self.container.replace(id);
        self.scoped(full, |b| {
            b.params(&function.params);
            b.block(&function.body);
        });
        self.container = outer;
    }

    fn instantiation(&mut self, instance: &Instantiation, full: Span) {
        let detail = self.text(full);
        let mut template = None;
        self.scoped(full, |b| {
            if let Some(params) = &instance.params {
                b.params(params);
            }
            b.binders(&instance.binders);
            template = b.name(&instance.template, false);
            instance.args.iter().for_each(|e| b.expr(e));
        });
        let id = self.declare(&instance.name, DefKind::Process, full, detail);
        self.index.definitions[id].of = template;
    }

    fn process(&mut self, process: &Process, full: Span) {
        let params = process.params.as_ref().map(|p| self.text(p.span));
        let params = params.unwrap_or_else(|| "()".to_owned());
        let parenthesised = if params.starts_with('(') {
            params
        } else {
            format!("({params})")
        };
        let detail = format!("process {}{parenthesised}", process.name.name);
        let id = self.declare(&process.name, DefKind::Template, full, detail);
        let outer = self.container.replace(id);
        let first = self.index.definitions.len();
        self.scoped(full, |b| {
            if let Some(params) = &process.params {
                b.params(params);
            }
            b.process_members(&process.members);
        });
        self.container = outer;
        let members: Vec<(SmolStr, DefId)> = (first..self.index.definitions.len())
            .map(|member| (&self.index.definitions[member], member))
            .filter(|(d, _)| d.container == Some(id) && d.kind != DefKind::Bound)
            .filter(|(d, _)| !d.name.is_empty())
            .map(|(d, member)| (d.name.clone(), member))
            .collect();
        self.index.definitions[id].members = members.into_iter().collect();
    }

    fn process_members(&mut self, members: &[Placed<Member>]) {
        let item_base = self.base;
        // In XML, edges, `init` and `commit` may refer to locations that come later.
        for member in members {
            self.base = item_base + member.offset;
            self.declare_locations(&member.node);
        }
        for member in members {
            self.base = item_base + member.offset;
            self.process_member(&member.node);
        }
        self.base = item_base;
    }

    fn declare_locations(&mut self, member: &Member) {
        match &member.kind {
            MemberKind::States(states) => {
                for Location { name, span, .. } in states {
                    let detail = self.text(*span);
                    let detail = if detail.contains('<') {
                        name.name.to_string()
                    } else {
                        detail
                    };
                    self.declare(name, DefKind::Location, *span, detail);
                }
            }
            MemberKind::Branchpoints(points) => {
                for point in points {
                    let detail = point.name.name.to_string();
                    self.declare(&point.name, DefKind::Branchpoint, point.span, detail);
                }
            }
            _ => {}
        }
    }

    fn process_member(&mut self, member: &Member) {
        let full = member.span;
        match &member.kind {
            MemberKind::Var(decl) => self.variables(&decl.ty, &decl.names, full),
            MemberKind::Typedef(decl) => self.typedef(&decl.ty, &decl.names, full),
            MemberKind::Function(function) => self.function(function, full),
            MemberKind::Misplaced(kind) => self.item_kind(kind, full),
            MemberKind::States(states) => {
                for state in states {
                    state.invariant.iter().for_each(|e| self.expr(e));
                    if let Some((rate, scale)) = &state.exponential_rate {
                        self.expr(rate);
                        scale.iter().for_each(|e| self.expr(e));
                    }
                }
            }
            MemberKind::Commit(names) | MemberKind::Urgent(names) => {
                for name in names {
                    self.name(name, false);
                }
            }
            MemberKind::Init(name) => {
                self.name(name, false);
            }
            MemberKind::Edge(edge) => {
                edge.source.iter().for_each(|n| {
                    self.name(n, false);
                });
                self.name(&edge.target, false);
                self.scoped(edge.span, |b| {
                    b.binders(&edge.select);
                    edge.guard.iter().for_each(|e| b.expr(e));
                    edge.sync.iter().for_each(|s| b.expr(&s.channel));
                    edge.assign.iter().for_each(|e| b.expr(e));
                    edge.probability.iter().for_each(|e| b.expr(e));
                });
            }
            MemberKind::Branchpoints(_) | MemberKind::Error(_) | MemberKind::Empty => {}
        }
    }

    fn query(&mut self, query: &Query, base: u32) {
        self.base = base;
        match &query.kind {
            QueryKind::Path(_, e) => self.expr(e),
            QueryKind::LeadsTo(p, q) => {
                self.expr(p);
                self.expr(q);
            }
            QueryKind::Bounds {
                condition, exprs, ..
            } => {
                condition.iter().for_each(|e| self.expr(e));
                exprs.iter().for_each(|e| self.expr(e));
            }
            QueryKind::Error | QueryKind::Heading | QueryKind::Unsupported(_) => {}
        }
    }
}

fn kind_of(ty: &TypeExpr) -> DefKind {
    match &ty.base {
        TypeBase::Clock => DefKind::Clock,
        TypeBase::Chan => DefKind::Channel,
        _ if ty.has(Prefix::Const) => DefKind::Constant,
        _ => DefKind::Variable,
    }
}

/// Whether a text is short and has single blanks only, as most have: then there is nothing to fold.
fn is_folded(text: &str) -> bool {
    let bytes = text.as_bytes();
    let single = |pair: &[u8]| pair != b"  ";
    let plain = |byte: &u8| matches!(byte, b' '..=b'~');
    bytes.len() <= 200
        && bytes.iter().all(plain)
        && bytes.windows(2).all(single)
        && !text.starts_with(' ')
        && !text.ends_with(' ')
}
