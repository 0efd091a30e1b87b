//! The parts of the tree around a place: expressions, statements, types, clauses.

use super::{
    Block, BlockDecl, Declarator, Dim, Edge, Expr, ExprKind, Function, Init, Item, ItemKind,
    Location, Member, MemberKind, Params, Pragma, PragmaKind, PriorityElem, Query, QueryKind, Stmt,
    StmtKind, TypeBase, TypeExpr,
};
use crate::SourceFile;
use crate::source::members;
use crate::span::Span;

/// The absolute spans of all parts of the tree that contain or touch `offset`, in no order.
/// Trees are as deep as the grammar lets them be, so recursion is bounded.
pub fn parts_around(file: &SourceFile, offset: u32) -> Vec<Span> {
    let mut out = Vec::new();
    let mut collect = |base: u32, look: &mut dyn FnMut(&mut Around)| {
        let Some(at) = offset.checked_sub(base) else {
            return;
        };
        let spans = Vec::new();
        let mut around = Around { at, spans };
        look(&mut around);
        out.extend(around.spans.into_iter().map(|s| s.shift(base)));
    };
    for item in &file.items {
        if !item.node.span.shift(item.offset).touches(offset) && item.node.pragmas.is_empty() {
            continue;
        }
        collect(item.offset, &mut |around| around.item(&item.node));
        for member in members(item) {
            let base = item.offset + member.offset;
            collect(base, &mut |around| around.member(&member.node));
        }
    }
    out
}

struct Around {
    /// Relative to the item or member around it.
    at: u32,
    spans: Vec<Span>,
}

impl Around {
    /// Notes a part, and says whether to look into it.
    fn enter(&mut self, span: Span) -> bool {
        let inside = span.touches(self.at);
        if inside {
            self.spans.push(span);
        }
        inside
    }

    fn item(&mut self, item: &Item) {
        self.pragmas(&item.pragmas);
        if self.enter(item.span) {
            self.item_kind(&item.kind);
        }
    }

    fn pragmas(&mut self, pragmas: &[Pragma]) {
        for pragma in pragmas {
            if let PragmaKind::Query(query) = &pragma.kind
                && self.enter(pragma.span)
            {
                self.query(query);
            }
        }
    }

    fn item_kind(&mut self, kind: &ItemKind) {
        match kind {
            ItemKind::Var(decl) => self.declaration(&decl.ty, &decl.names),
            ItemKind::Typedef(decl) => self.declaration(&decl.ty, &decl.names),
            ItemKind::ScalarsetDecl { size, .. } => self.expr(size),
            ItemKind::Function(function) => self.function(function),
            ItemKind::Process(process) => process.params.iter().for_each(|p| self.params(p)),
            ItemKind::Instantiation(line) => {
                line.params.iter().for_each(|p| self.params(p));
                if self.enter(line.args_span) {
                    self.exprs(&line.args);
                }
            }
            ItemKind::ChanPriority(line) => {
                for element in line.levels.iter().flatten() {
                    if let PriorityElem::Channel(channel) = element {
                        self.expr(channel);
                    }
                }
            }
            ItemKind::Progress(progress) => {
                for (guard, measure) in &progress.measures {
                    guard.iter().for_each(|e| self.expr(e));
                    self.expr(measure);
                }
            }
            ItemKind::Gantt(lines) => {
                for entry in lines.iter().flat_map(|line| &line.entries) {
                    self.expr(&entry.condition);
                    self.expr(&entry.value);
                }
            }
            ItemKind::BeforeUpdate(list) | ItemKind::AfterUpdate(list) => self.list(list),
            ItemKind::Query(query) => self.query(query),
            ItemKind::Error(_)
            | ItemKind::Empty
            | ItemKind::System(_)
            | ItemKind::Unsupported(_) => {}
        }
    }

    fn member(&mut self, member: &Member) {
        self.pragmas(&member.pragmas);
        if !self.enter(member.span) {
            return;
        }
        match &member.kind {
            MemberKind::Var(decl) => self.declaration(&decl.ty, &decl.names),
            MemberKind::Typedef(decl) => self.declaration(&decl.ty, &decl.names),
            MemberKind::Function(function) => self.function(function),
            MemberKind::Misplaced(kind) => self.item_kind(kind),
            MemberKind::States(list) => list.iter().for_each(|l| self.location(l)),
            MemberKind::Edge(edge) => self.edge(edge),
            MemberKind::Error(_)
            | MemberKind::Empty
            | MemberKind::Branchpoints(_)
            | MemberKind::Commit(_)
            | MemberKind::Urgent(_)
            | MemberKind::Init(_) => {}
        }
    }

    fn location(&mut self, location: &Location) {
        if self.enter(location.span) {
            location.invariant.iter().for_each(|e| self.expr(e));
            if let Some((rate, other)) = &location.exponential_rate {
                self.expr(rate);
                other.iter().for_each(|e| self.expr(e));
            }
        }
    }

    fn edge(&mut self, edge: &Edge) {
        if !self.enter(edge.span) {
            return;
        }
        for span in edge.labels() {
            self.enter(span);
        }
        for (name, ty) in &edge.select {
            self.enter(name.span.cover(ty.span));
            self.ty(ty);
        }
        edge.guard.iter().for_each(|e| self.expr(e));
        edge.sync.iter().for_each(|s| self.expr(&s.channel));
        self.list(&edge.assign);
        edge.probability.iter().for_each(|e| self.expr(e));
    }

    fn query(&mut self, query: &Query) {
        if !self.enter(query.span) {
            return;
        }
        match &query.kind {
            QueryKind::Path(_, e) => self.expr(e),
            QueryKind::LeadsTo(a, b) => [a, b].into_iter().for_each(|e| self.expr(e)),
            QueryKind::Bounds {
                condition, exprs, ..
            } => {
                condition.iter().for_each(|e| self.expr(e));
                self.list(exprs);
            }
            QueryKind::Error | QueryKind::Heading | QueryKind::Unsupported(_) => {}
        }
    }

    fn function(&mut self, function: &Function) {
        self.ty(&function.ty);
        self.params(&function.params);
        self.block(&function.body);
    }

    fn params(&mut self, params: &Params) {
        if !self.enter(params.span) {
            return;
        }
        for param in &params.list {
            if self.enter(param.span) {
                self.ty(&param.ty);
                self.dims(&param.dims);
            }
        }
    }

    fn declaration(&mut self, ty: &TypeExpr, names: &[Declarator]) {
        self.ty(ty);
        for name in names {
            if self.enter(name.span) {
                self.dims(&name.dims);
                name.init.iter().for_each(|i| self.init(i));
            }
        }
    }

    fn dims(&mut self, dims: &[Dim]) {
        for dim in dims {
            match dim {
                Dim::Expr(e) => self.expr(e),
                Dim::Type(ty) => self.ty(ty),
                Dim::Error(_) => {}
            }
        }
    }

    fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List { items, span } => {
                if self.enter(*span) {
                    items.iter().for_each(|(_, item)| self.init(item));
                }
            }
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        if !self.enter(ty.span) {
            return;
        }
        match &ty.base {
            TypeBase::Int(Some(ends)) => {
                self.expr(&ends.0);
                self.expr(&ends.1);
            }
            TypeBase::Scalar(size) | TypeBase::Scalarset(size) => self.expr(size),
            TypeBase::Struct(fields) => {
                for field in fields {
                    self.declaration(&field.ty, &field.names);
                }
            }
            _ => {}
        }
    }

    fn block(&mut self, block: &Block) {
        if !self.enter(block.span) {
            return;
        }
        for decl in &block.decls {
            let (ty, names, span) = match decl {
                BlockDecl::Var(decl, span) => (&decl.ty, &decl.names, span),
                BlockDecl::Typedef(decl, span) => (&decl.ty, &decl.names, span),
            };
            if self.enter(*span) {
                self.declaration(ty, names);
            }
        }
        block.stmts.iter().for_each(|s| self.stmt(s));
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if !self.enter(stmt.span) {
            return;
        }
        match &stmt.kind {
            StmtKind::Error | StmtKind::Empty | StmtKind::Break | StmtKind::Continue => {}
            StmtKind::Block(block) => self.block(block),
            StmtKind::Expr(e) | StmtKind::Assert(e) => self.expr(e),
            StmtKind::Return(e) => e.iter().for_each(|e| self.expr(e)),
            StmtKind::For {
                init,
                cond,
                step,
                body,
            } => {
                [init, cond, step].into_iter().for_each(|e| self.expr(e));
                self.stmt(body);
            }
            StmtKind::Iterate { ty, body, .. } => {
                self.ty(ty);
                self.stmt(body);
            }
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.expr(cond);
                self.stmt(body);
            }
            StmtKind::If { cond, then, other } => {
                self.expr(cond);
                self.stmt(then);
                other.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Switch { value, cases } => {
                self.expr(value);
                for case in cases {
                    if self.enter(case.span) {
                        case.value.iter().for_each(|e| self.expr(e));
                        case.stmts.iter().for_each(|s| self.stmt(s));
                    }
                }
            }
        }
    }

    fn exprs(&mut self, list: &[Expr]) {
        list.iter().for_each(|e| self.expr(e));
    }

    /// Expressions with commas between them: the whole of the list is a part too.
    fn list(&mut self, list: &[Expr]) {
        if let Some(whole) = cover(list.iter().map(|e| e.span)) {
            self.enter(whole);
        }
        self.exprs(list);
    }

    fn expr(&mut self, expr: &Expr) {
        if !self.enter(expr.span) {
            return;
        }
        match &expr.kind {
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Name(_)
            | ExprKind::Deadlock => {}
            ExprKind::Paren(e) | ExprKind::Rate(e) => self.expr(e),
            ExprKind::Unary { expr, .. } | ExprKind::IncDec { expr, .. } => self.expr(expr),
            ExprKind::Binary { lhs, rhs, .. } | ExprKind::Assign { lhs, rhs, .. } => {
                self.expr(lhs);
                self.expr(rhs);
            }
            ExprKind::Cond { cond, then, other } => {
                [cond, then, other].into_iter().for_each(|e| self.expr(e));
            }
            ExprKind::Index { base, index } => {
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Field { base, .. } => self.expr(base),
            ExprKind::Call { callee, args } => {
                self.expr(callee);
                self.exprs(args);
            }
            ExprKind::Quantifier { ty, body, .. } => {
                self.ty(ty);
                self.expr(body);
            }
            ExprKind::Comma(list) => self.list(list),
        }
    }
}

fn cover(spans: impl Iterator<Item = Span>) -> Option<Span> {
    spans.reduce(Span::cover)
}

impl Edge {
    /// The spans of what the edge says: select, guard, synchronisation, update and weight, in order
    /// of the text, without words and tags around them.
    pub fn labels(&self) -> Vec<Span> {
        let select = cover(
            self.select
                .iter()
                .map(|(name, ty)| name.span.cover(ty.span)),
        );
        let assign = cover(self.assign.iter().map(|e| e.span));
        let guard = self.guard.as_ref().map(|e| e.span);
        let sync = self.sync.as_ref().map(|s| s.span);
        let weight = self.probability.as_ref().map(|e| e.span);
        let all = [select, guard, sync, assign, weight];
        let mut out: Vec<Span> = all.into_iter().flatten().collect();
        out.retain(|span| !span.is_empty());
        out.sort_by_key(|span| (span.start, span.end));
        out
    }
}
