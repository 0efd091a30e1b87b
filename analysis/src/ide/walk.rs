//! Names inside types, expressions and statements.

use super::DefId;
use super::build::Builder;
use zonelens_syntax::ast::{
    Block, BlockDecl, Dim, Expr, ExprKind, Init, Stmt, StmtKind, TypeBase, TypeExpr,
};

impl Builder<'_> {
    /// Walks a type and returns the definition that has its members.
    pub(super) fn type_expr(&mut self, ty: &TypeExpr) -> Option<DefId> {
        match &ty.base {
            TypeBase::Named(name) => self.name(name, false),
            TypeBase::Int(Some(range)) => {
                self.expr(&range.0);
                self.expr(&range.1);
                None
            }
            TypeBase::Scalar(size) | TypeBase::Scalarset(size) => {
                self.expr(size);
                None
            }
            TypeBase::Struct(fields) => Some(self.structure(ty, fields)),
            _ => None,
        }
    }

    pub(super) fn dim(&mut self, dim: &Dim) {
        match dim {
            Dim::Expr(e) => self.expr(e),
            Dim::Type(ty) => {
                self.type_expr(ty);
            }
            Dim::Error(_) => {}
        }
    }

    pub(super) fn init(&mut self, init: &Init) {
        match init {
            Init::Expr(e) => self.expr(e),
            Init::List { items, .. } => items.iter().for_each(|(_, item)| self.init(item)),
        }
    }

    pub(super) fn expr(&mut self, expr: &Expr) {
        self.value(expr, false);
    }

    /// Walks an expression and returns the definition that has its members.
    fn value(&mut self, expr: &Expr, writes: bool) -> Option<DefId> {
        match &expr.kind {
            ExprKind::Name(name) => self.name(name, writes),
            ExprKind::Paren(e) => self.value(e, writes),
            ExprKind::Unary { expr, .. } | ExprKind::Rate(expr) => self.value(expr, false),
            ExprKind::Binary { lhs, rhs, .. } => {
                self.expr(lhs);
                self.expr(rhs);
                None
            }
            ExprKind::Assign { lhs, rhs, .. } => {
                let place = self.value(lhs, true);
                self.expr(rhs);
                place
            }
            ExprKind::IncDec { expr, .. } => self.value(expr, true),
            ExprKind::Cond { cond, then, other } => {
                self.expr(cond);
                self.expr(other);
                self.value(then, writes)
            }
            ExprKind::Index { base, index } => {
                self.expr(index);
                self.value(base, writes)
            }
            ExprKind::Field { base, name } => {
                let base = self.value(base, writes);
                self.member_of(base, name, writes)
            }
            ExprKind::Call { callee, args } => {
                args.iter().for_each(|e| self.expr(e));
                self.value(callee, false)
            }
            ExprKind::Quantifier { var, ty, body, .. } => {
                self.scoped(expr.span, |b| {
                    b.binders(&[(var.clone(), (**ty).clone())]);
                    b.expr(body);
                });
                None
            }
            ExprKind::Comma(list) => {
                list.iter().for_each(|e| self.expr(e));
                None
            }
            ExprKind::Error
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Str(_)
            | ExprKind::Bool(_)
            | ExprKind::Deadlock => None,
        }
    }

    pub(super) fn block(&mut self, block: &Block) {
        self.scoped(block.span, |b| {
            for decl in &block.decls {
                match decl {
                    BlockDecl::Var(decl, span) => b.variables(&decl.ty, &decl.names, *span),
                    BlockDecl::Typedef(decl, span) => b.typedef(&decl.ty, &decl.names, *span),
                }
            }
            block.stmts.iter().for_each(|s| b.stmt(s));
        });
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Block(block) => self.block(block),
            StmtKind::Expr(e) | StmtKind::Assert(e) => self.expr(e),
            StmtKind::For {
                init,
                cond,
                step,
                body,
            } => {
                self.expr(init);
                self.expr(cond);
                self.expr(step);
                self.stmt(body);
            }
            StmtKind::Iterate { var, ty, body } => self.scoped(stmt.span, |b| {
                b.binders(&[(var.clone(), ty.clone())]);
                b.stmt(body);
            }),
            StmtKind::While { cond, body } | StmtKind::DoWhile { body, cond } => {
                self.expr(cond);
                self.stmt(body);
            }
            StmtKind::If { cond, then, other } => {
                self.expr(cond);
                self.stmt(then);
                other.iter().for_each(|s| self.stmt(s));
            }
            StmtKind::Return(value) => value.iter().for_each(|e| self.expr(e)),
            StmtKind::Switch { value, cases } => {
                self.expr(value);
                for case in cases {
                    case.value.iter().for_each(|e| self.expr(e));
                    case.stmts.iter().for_each(|s| self.stmt(s));
                }
            }
            StmtKind::Error | StmtKind::Empty | StmtKind::Break | StmtKind::Continue => {}
        }
    }
}
