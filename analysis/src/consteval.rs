//! Evaluation of constants: sizes, ranges, initialisers, arguments of processes, and the functions
//! these call.
//!
//! A small interpreter over the checked tree with overflow, range and step checks. Values are
//! flattened depth first.

use crate::builtin::Builtin;
use crate::hir::{Block, Expr, ExprKind, Function, Init, Stmt, StmtKind};
use crate::symbol::{SymId, SymKind, Symbol};
use crate::types::{Bound, Type};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zonelens_syntax::ast::{AssignOp, BinaryOp, QuantifierKind, UnaryOp};
use zonelens_syntax::span::Span;

/// The most steps for one constant.
const MAX_STEPS: u64 = 2_000_000;
/// The most steps for all constants of a model. After that, a constant may take at most
/// [`FREE_STEPS`].
const MAX_STEPS_IN_ALL: u64 = 8_000_000;
/// Steps of each evaluation that are not counted: queries are evaluated repeatedly while a model is
/// open.
const FREE_STEPS: u64 = 2000;
/// The most cells of a single constant.
pub(crate) const MAX_VALUE: u64 = 1 << 20;
/// The most cells of all constants of a model, not counting small constants.
pub(crate) const MAX_ENTRIES: u64 = 8 << 20;
/// Cells of each constant that are not counted.
const FREE_ENTRIES: u64 = 64;
/// How many cells can be copied in about the time of one step.
const ENTRIES_PER_STEP: usize = 16;

/// Why an expression has no value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EvalError {
    /// It depends on something that is not known yet: a parameter or variable.
    NotConstant(Span),
    /// Evaluation fails: division by zero, overflow, index or range.
    Fails(Span, String),
    /// The problem is already reported.
    Silent,
}

type Eval<T> = Result<T, EvalError>;

/// Functions by the id of their body, with the total cost of evaluating the model's constants: each
/// constant is limited on its own, but a file may declare a hundred thousand of them.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    functions: FxHashMap<SymId, Arc<Function>>,
    steps: AtomicU64,
    entries: AtomicU64,
}

impl std::ops::Deref for Bodies {
    type Target = FxHashMap<SymId, Arc<Function>>;

    fn deref(&self) -> &Self::Target {
        &self.functions
    }
}

impl std::ops::DerefMut for Bodies {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.functions
    }
}

impl Bodies {
    /// Counts the entries of a constant. Returns `false` if the constants of the model have too
    /// many in total.
    pub(crate) fn hold(&self, entries: u64) -> bool {
        let entries = entries.saturating_sub(FREE_ENTRIES);
        let before = self.entries.fetch_add(entries, Ordering::Relaxed);
        before.saturating_add(entries) <= MAX_ENTRIES
    }
}

/// Evaluates expressions; values from outside come from a callback.
pub(crate) struct Evaluator<'a> {
    bodies: &'a Bodies,
    known: &'a dyn Fn(SymId) -> Option<Arc<[i32]>>,
    frame: FxHashMap<SymId, Vec<i32>>,
    steps: u64,
    /// The most steps allowed.
    most: u64,
    depth: u32,
    /// Whether a function was called, so that the result depends on its body.
    pub called: bool,
}

impl Drop for Evaluator<'_> {
    fn drop(&mut self) {
        let counted = self.steps.saturating_sub(FREE_STEPS);
        if counted > 0 {
            self.bodies.steps.fetch_add(counted, Ordering::Relaxed);
        }
    }
}

enum Flow {
    Next,
    Break,
    Continue,
    Return(Vec<i32>),
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator that calls `known` for values of constants and parameters.
    pub(crate) fn new(bodies: &'a Bodies, known: &'a dyn Fn(SymId) -> Option<Arc<[i32]>>) -> Self {
        let left = MAX_STEPS_IN_ALL.saturating_sub(bodies.steps.load(Ordering::Relaxed));
        Evaluator {
            bodies,
            known,
            frame: FxHashMap::default(),
            steps: 0,
            most: MAX_STEPS.min(left).max(FREE_STEPS),
            depth: 0,
            called: false,
        }
    }

    /// Evaluates an integer expression.
    pub(crate) fn int(&mut self, e: &Expr) -> Eval<i32> {
        let v = self.eval(e)?;
        v.first().copied().ok_or(EvalError::NotConstant(e.span))
    }

    /// Evaluates an end of a range.
    pub(crate) fn bound(&mut self, b: &Bound) -> Eval<i32> {
        match b {
            Bound::Known(v) => Ok(*v),
            Bound::Expr(e) => self.int(e),
        }
    }

    /// The least index and the number of indices of an index type.
    pub(crate) fn index_range(&mut self, ty: &Type) -> Eval<(i32, i64)> {
        match ty {
            Type::Int(int) => {
                let (lo, hi) = (self.bound(&int.lo)?, self.bound(&int.hi)?);
                Ok((lo, i64::from(hi) - i64::from(lo) + 1))
            }
            Type::Bool => Ok((0, 2)),
            Type::Scalar(set) => Ok((0, i64::from(self.bound(&set.size)?))),
            _ => Err(EvalError::Silent),
        }
    }

    /// The number of integers in a flattened value of type `ty`.
    pub(crate) fn size(&mut self, ty: &Type) -> Eval<u64> {
        match ty {
            Type::Int(_) | Type::Bool | Type::Scalar(_) | Type::Str => Ok(1),
            Type::Array(a) => {
                let (_, len) = self.index_range(&a.index)?;
                let len = u64::try_from(len).unwrap_or(0);
                Ok(len.saturating_mul(self.size(&a.element)?))
            }
            Type::Struct(s) => {
                let mut sum = 0u64;
                for (_, t) in &s.fields {
                    sum = sum.saturating_add(self.size(t)?);
                }
                Ok(sum)
            }
            _ => Ok(0),
        }
    }

    /// The flattened value of an initialiser of type `ty`.
    pub(crate) fn init(&mut self, init: &Init, ty: &Type) -> Eval<Vec<i32>> {
        match (init, ty) {
            (Init::Expr(e), _) => {
                let v = self.eval(e)?;
                // Constants of plain `int` hold any number; many models rely on this.
                if let Some(&first) = v.first()
                    && *ty != Type::default_int()
                {
                    self.check_range(first, ty, e.span)?;
                }
                Ok(v)
            }
            (Init::List(items, _), Type::Array(a)) => {
                let (_, len) = self.index_range(&a.index)?;
                let size = self.size(ty)?;
                if size > MAX_VALUE {
                    return Err(EvalError::Silent);
                }
                let mut out = Vec::new();
                for item in items.iter().take(len.max(0) as usize) {
                    out.extend(self.init(item, &a.element)?);
                }
                out.resize(size as usize, 0);
                Ok(out)
            }
            (Init::List(items, _), Type::Struct(s)) => {
                let mut out = Vec::new();
                for (item, (_, t)) in items.iter().zip(&s.fields) {
                    out.extend(self.init(item, t)?);
                }
                Ok(out)
            }
            (Init::List(..), _) => Err(EvalError::Silent),
        }
    }

    fn check_range(&mut self, v: i32, ty: &Type, span: Span) -> Eval<()> {
        let (lo, hi) = match ty {
            Type::Int(int) => (self.bound(&int.lo)?, self.bound(&int.hi)?),
            Type::Bool => (0, 1),
            Type::Str => (0, i32::MAX),
            _ => return Ok(()),
        };
        // Any integer can be stored in a boolean.
        if matches!(ty, Type::Bool) || (lo <= v && v <= hi) {
            return Ok(());
        }
        Err(EvalError::Fails(
            span,
            format!("the value {v} lies outside the range [{lo},{hi}]"),
        ))
    }

    fn tick(&mut self, span: Span) -> Eval<()> {
        self.steps += 1;
        if self.steps <= self.most {
            return Ok(());
        }
        let why = match self.most == MAX_STEPS {
            true => "computing this constant takes too long",
            false => "computing the constants of this model takes too long",
        };
        Err(EvalError::Fails(span, why.into()))
    }

    /// Counts the cost of copying a value.
    fn copies(&mut self, entries: usize) {
        self.steps += (entries / ENTRIES_PER_STEP) as u64;
    }

    /// Evaluates an expression to its flattened value.
    pub(crate) fn eval(&mut self, e: &Expr) -> Eval<Vec<i32>> {
        self.tick(e.span)?;
        match &e.kind {
            ExprKind::Error => Err(EvalError::Silent),
            ExprKind::Int(v) => Ok(vec![*v]),
            ExprKind::Bool(b) => Ok(vec![i32::from(*b)]),
            ExprKind::Str(text) => Ok(vec![crate::strings::number(text)]),
            ExprKind::Var(s) => {
                let value = self.var(s, e.span)?;
                self.copies(value.len());
                Ok(value)
            }
            ExprKind::Unary(op, a) => {
                let v = self.int(a)?;
                let r = match op {
                    UnaryOp::Not => Some(i32::from(v == 0)),
                    UnaryOp::Plus => Some(v),
                    UnaryOp::Minus => v.checked_neg(),
                };
                r.map(|v| vec![v]).ok_or_else(|| overflow(e.span))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b, e.span),
            ExprKind::Cond(c, a, b) => {
                if self.int(c)? != 0 {
                    self.eval(a)
                } else {
                    self.eval(b)
                }
            }
            ExprKind::Index(..) | ExprKind::Field(..) => self.part(e),
            ExprKind::Call(f, args) => self.call(f, args, e.span),
            ExprKind::Builtin(Builtin::Abs, args) => {
                let v = self.int(args.first().ok_or(EvalError::Silent)?)?;
                v.checked_abs()
                    .map(|v| vec![v])
                    .ok_or_else(|| overflow(e.span))
            }
            ExprKind::Quantifier { kind, var, body } => self.quantifier(*kind, var, body, e.span),
            ExprKind::Comma(list) => {
                let mut last = Vec::new();
                for e in list {
                    last = self.eval(e)?;
                }
                Ok(last)
            }
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value, e.span),
            ExprKind::IncDec {
                increment,
                prefix,
                expr,
            } => {
                let old = self.int(expr)?;
                let new = old.checked_add(if *increment { 1 } else { -1 });
                let new = new.ok_or_else(|| overflow(e.span))?;
                self.check_range(new, &expr.ty, e.span)?;
                self.store(expr, &[new])?;
                Ok(vec![if *prefix { new } else { old }])
            }
            _ => Err(EvalError::NotConstant(e.span)),
        }
    }

    fn var(&mut self, s: &Arc<Symbol>, span: Span) -> Eval<Vec<i32>> {
        self.read(s, span, <[i32]>::to_vec)
    }

    /// Calls `act` with the value of a variable, without copying it.
    fn read<T>(&mut self, s: &Arc<Symbol>, span: Span, act: impl FnOnce(&[i32]) -> T) -> Eval<T> {
        if let Some(v) = self.frame.get(&s.id) {
            return Ok(act(v));
        }
        if let SymKind::Var(v) = &s.kind
            && let Some(value) = &v.value
        {
            return Ok(act(value));
        }
        match (self.known)(s.id) {
            Some(v) => Ok(act(&v)),
            None => Err(EvalError::NotConstant(span)),
        }
    }

    fn binary(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Eval<Vec<i32>> {
        if a.ty.is_composite() && matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let same = self.eval(a)? == self.eval(b)?;
            return Ok(vec![i32::from(same == (op == BinaryOp::Eq))]);
        }
        let l = self.int(a)?;
        match op {
            BinaryOp::And if l == 0 => return Ok(vec![0]),
            BinaryOp::Or if l != 0 => return Ok(vec![1]),
            BinaryOp::Imply if l == 0 => return Ok(vec![1]),
            _ => {}
        }
        let r = self.int(b)?;
        apply(op, l, r, span).map(|v| vec![v])
    }

    fn quantifier(
        &mut self,
        kind: QuantifierKind,
        var: &Arc<Symbol>,
        body: &Expr,
        span: Span,
    ) -> Eval<Vec<i32>> {
        let ty = var.value_type().ok_or(EvalError::Silent)?.clone();
        let (lo, len) = self.index_range(&ty)?;
        let mut sum = 0i32;
        for k in 0..len {
            let at = i64::from(lo) + k;
            let at = i32::try_from(at).map_err(|_| overflow(span))?;
            self.frame.insert(var.id, vec![at]);
            let v = self.int(body)?;
            match kind {
                QuantifierKind::Forall if v == 0 => return Ok(vec![0]),
                QuantifierKind::Exists if v != 0 => return Ok(vec![1]),
                QuantifierKind::Sum => {
                    sum = sum.checked_add(v).ok_or_else(|| overflow(span))?;
                }
                _ => {}
            }
        }
        Ok(vec![match kind {
            QuantifierKind::Forall => 1,
            QuantifierKind::Exists => 0,
            QuantifierKind::Sum => sum,
        }])
    }

    /// Offset and length of a part within the value of its root variable.
    fn locate(&mut self, e: &Expr) -> Eval<(Arc<Symbol>, usize, usize)> {
        match &e.kind {
            ExprKind::Var(s) => {
                let size = self.size(&e.ty)?;
                Ok((s.clone(), 0, size as usize))
            }
            ExprKind::Index(base, index) => {
                let (root, offset, _) = self.locate(base)?;
                let Type::Array(a) = &base.ty else {
                    return Err(EvalError::Silent);
                };
                let (lo, len) = self.index_range(&a.index)?;
                let stride = self.size(&a.element)? as usize;
                let i = self.int(index)?;
                let k = i64::from(i) - i64::from(lo);
                if k < 0 || k >= len {
                    return Err(EvalError::Fails(
                        index.span,
                        format!("the index {i} lies outside the array"),
                    ));
                }
                Ok((root, offset + k as usize * stride, stride))
            }
            ExprKind::Field(base, n) => {
                let (root, offset, _) = self.locate(base)?;
                let Type::Struct(s) = &base.ty else {
                    return Err(EvalError::Silent);
                };
                let mut at = offset;
                for (_, t) in s.fields.iter().take(*n as usize) {
                    at += self.size(t)? as usize;
                }
                let len = self.size(&e.ty)? as usize;
                Ok((root, at, len))
            }
            _ => Err(EvalError::NotConstant(e.span)),
        }
    }

    fn part(&mut self, e: &Expr) -> Eval<Vec<i32>> {
        let (root, offset, len) = self.locate(e)?;
        self.copies(len);
        let part = |whole: &[i32]| whole.get(offset..offset + len).map(<[i32]>::to_vec);
        self.read(&root, e.span, part)?.ok_or(EvalError::Silent)
    }

    fn store(&mut self, target: &Expr, value: &[i32]) -> Eval<()> {
        let (root, offset, len) = self.locate(target)?;
        let cell = self
            .frame
            .get_mut(&root.id)
            .ok_or(EvalError::NotConstant(target.span))?;
        match cell.get_mut(offset..offset + len) {
            Some(slice) if slice.len() == value.len() => {
                slice.copy_from_slice(value);
                Ok(())
            }
            _ => Err(EvalError::Silent),
        }
    }

    fn assign(&mut self, op: AssignOp, target: &Expr, value: &Expr, span: Span) -> Eval<Vec<i32>> {
        let mut v = self.eval(value)?;
        if let Some(op) = assign_op(op) {
            let old = self.int(target)?;
            let new = v.first().copied().ok_or(EvalError::Silent)?;
            v = vec![apply(op, old, new, span)?];
        }
        if v.len() == 1 {
            if matches!(target.ty, Type::Bool) {
                v[0] = i32::from(v[0] != 0);
            }
            self.check_range(v[0], &target.ty, span)?;
        }
        self.store(target, &v)?;
        Ok(v)
    }

    fn call(&mut self, f: &Arc<Symbol>, args: &[Expr], span: Span) -> Eval<Vec<i32>> {
        self.called = true;
        let SymKind::Function(sig) = &f.kind else {
            return Err(EvalError::NotConstant(span));
        };
        let body = self
            .bodies
            .get(&sig.body)
            .cloned()
            .ok_or(EvalError::NotConstant(span))?;
        if sig.params.iter().any(|p| p.reference && p.written) || self.depth > 200 {
            return Err(EvalError::NotConstant(span));
        }
        let mut frame = FxHashMap::default();
        for (p, a) in body.params.iter().zip(args) {
            frame.insert(p.id, self.eval(a)?);
        }
        let outer = std::mem::replace(&mut self.frame, frame);
        self.depth += 1;
        let flow = self.block(&body.body);
        self.depth -= 1;
        self.frame = outer;
        match flow? {
            Flow::Return(v) => {
                if let [one] = v[..] {
                    self.check_range(one, &body.ret, span)?;
                    if matches!(body.ret, Type::Bool) {
                        return Ok(vec![i32::from(one != 0)]);
                    }
                }
                Ok(v)
            }
            _ => {
                let size = self.size(&body.ret)? as usize;
                Ok(vec![0; size])
            }
        }
    }

    fn block(&mut self, b: &Block) -> Eval<Flow> {
        for d in &b.decls {
            let ty = d.symbol.value_type().cloned().ok_or(EvalError::Silent)?;
            let size = self.size(&ty)?;
            if size > MAX_VALUE {
                return Err(EvalError::Silent);
            }
            self.copies(size as usize);
            let value = match &d.init {
                Some(init) => self.init(init, &ty)?,
                None => vec![0; size as usize],
            };
            self.frame.insert(d.symbol.id, value);
        }
        self.stmts(&b.stmts)
    }

    fn stmts(&mut self, list: &[Stmt]) -> Eval<Flow> {
        for s in list {
            match self.stmt(s)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, s: &Stmt) -> Eval<Flow> {
        self.tick(s.span)?;
        match &s.kind {
            StmtKind::Empty | StmtKind::Assert(_) => Ok(Flow::Next),
            StmtKind::Block(b) => self.block(b),
            StmtKind::Expr(e) => self.eval(e).map(|_| Flow::Next),
            StmtKind::For(a, c, step, body) => {
                self.eval(a)?;
                while self.int(c)? != 0 {
                    match self.stmt(body)? {
                        Flow::Break => break,
                        Flow::Return(v) => return Ok(Flow::Return(v)),
                        _ => {}
                    }
                    self.eval(step)?;
                }
                Ok(Flow::Next)
            }
            StmtKind::While(c, body) => {
                while self.int(c)? != 0 {
                    match self.stmt(body)? {
                        Flow::Break => break,
                        Flow::Return(v) => return Ok(Flow::Return(v)),
                        _ => {}
                    }
                }
                Ok(Flow::Next)
            }
            StmtKind::DoWhile(body, c) => loop {
                match self.stmt(body)? {
                    Flow::Break => return Ok(Flow::Next),
                    Flow::Return(v) => return Ok(Flow::Return(v)),
                    _ => {}
                }
                if self.int(c)? == 0 {
                    return Ok(Flow::Next);
                }
            },
            StmtKind::Iterate(var, body) => self.iterate(var, body, s.span),
            StmtKind::If(c, a, b) => {
                if self.int(c)? != 0 {
                    self.stmt(a)
                } else if let Some(b) = b {
                    self.stmt(b)
                } else {
                    Ok(Flow::Next)
                }
            }
            StmtKind::Return(e) => Ok(Flow::Return(match e {
                Some(e) => self.eval(e)?,
                None => Vec::new(),
            })),
            StmtKind::Break => Ok(Flow::Break),
            StmtKind::Continue => Ok(Flow::Continue),
            StmtKind::Switch(..) => Err(EvalError::NotConstant(s.span)),
        }
    }

    fn iterate(&mut self, var: &Arc<Symbol>, body: &Stmt, span: Span) -> Eval<Flow> {
        let ty = var.value_type().ok_or(EvalError::Silent)?.clone();
        let (lo, len) = self.index_range(&ty)?;
        for k in 0..len {
            let at = i32::try_from(i64::from(lo) + k).map_err(|_| overflow(span))?;
            self.frame.insert(var.id, vec![at]);
            match self.stmt(body)? {
                Flow::Break => break,
                Flow::Return(v) => return Ok(Flow::Return(v)),
                _ => {}
            }
        }
        Ok(Flow::Next)
    }
}

fn overflow(span: Span) -> EvalError {
    EvalError::Fails(span, "the result does not fit into 32 bits".into())
}

/// The operator of `op=`.
pub(crate) fn assign_op(op: AssignOp) -> Option<BinaryOp> {
    Some(match op {
        AssignOp::Set => return None,
        AssignOp::Add => BinaryOp::Add,
        AssignOp::Sub => BinaryOp::Sub,
        AssignOp::Mul => BinaryOp::Mul,
        AssignOp::Div => BinaryOp::Div,
        AssignOp::Mod => BinaryOp::Mod,
        AssignOp::And => BinaryOp::BitAnd,
        AssignOp::Or => BinaryOp::BitOr,
        AssignOp::Xor => BinaryOp::BitXor,
        AssignOp::Shl => BinaryOp::Shl,
        AssignOp::Shr => BinaryOp::Shr,
    })
}

/// Computes `l op r` with overflow and range checks.
pub(crate) fn apply(op: BinaryOp, l: i32, r: i32, span: Span) -> Result<i32, EvalError> {
    let fail = |text: &str| Err(EvalError::Fails(span, text.into()));
    let value = match op {
        BinaryOp::Pow => {
            let Ok(exp) = u32::try_from(r) else {
                return fail("a negative exponent has no integer result");
            };
            l.checked_pow(exp)
        }
        BinaryOp::Mul => l.checked_mul(r),
        BinaryOp::Div | BinaryOp::Mod if r == 0 => return fail("division by zero"),
        BinaryOp::Div => l.checked_div(r),
        BinaryOp::Mod => l.checked_rem(r),
        BinaryOp::Add => l.checked_add(r),
        BinaryOp::Sub => l.checked_sub(r),
        BinaryOp::Shl | BinaryOp::Shr if !(0..32).contains(&r) => {
            return fail("shifts by less than 0 or more than 31 bits have no meaning");
        }
        BinaryOp::Shl => {
            let v = i64::from(l) << r;
            i32::try_from(v).ok()
        }
        BinaryOp::Shr => Some(l >> r),
        BinaryOp::Min => Some(l.min(r)),
        BinaryOp::Max => Some(l.max(r)),
        BinaryOp::Lt => Some(i32::from(l < r)),
        BinaryOp::Le => Some(i32::from(l <= r)),
        BinaryOp::Ge => Some(i32::from(l >= r)),
        BinaryOp::Gt => Some(i32::from(l > r)),
        BinaryOp::Eq => Some(i32::from(l == r)),
        BinaryOp::Ne => Some(i32::from(l != r)),
        BinaryOp::BitAnd => Some(l & r),
        BinaryOp::BitXor => Some(l ^ r),
        BinaryOp::BitOr => Some(l | r),
        BinaryOp::And => Some(i32::from(l != 0 && r != 0)),
        BinaryOp::Or => Some(i32::from(l != 0 || r != 0)),
        BinaryOp::Xor => Some(i32::from((l != 0) != (r != 0))),
        BinaryOp::Imply => Some(i32::from(l == 0 || r != 0)),
    };
    value.ok_or_else(|| overflow(span))
}
