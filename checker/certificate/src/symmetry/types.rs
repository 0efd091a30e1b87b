//! Which numbers are elements: inferred from the action that the certificate names.
//!
//! A position of the network is plain or holds elements of one set. Cells are as the action says;
//! an index into an array or family is an element if its stride is that of a coordinate. Everything
//! else (select, quantifier and loop variables, locals, parameters and results of functions) is
//! what it is compared with, assigned to, passed for or used as. A position that would have to be
//! both is an error: an element meets only elements of the same set and constants, in comparisons
//! for equality, assignments, arguments, results and indices. What nothing decides is plain.

use super::action::{Action, Coordinates};
use crate::eval::{Eval, Failure, fail};
use std::collections::HashMap;
use zonelens_analysis::network::{
    Arg, Base, BinaryOp, Block, Call, ClockBase, ClockRef, Edge, Expr, ExprKind, FunctionId,
    IndexStep, Network, Place, Query, QueryKind, Stmt,
};

/// A class of positions that have the same type.
pub(crate) type Node = u32;

/// The type of a constant, which fits everything.
pub(crate) const ANY: Node = Node::MAX;

/// The class of plain numbers; that of set `s` is `s + 1`.
const PLAIN: Node = 0;

/// The types of the slots of a frame.
pub(crate) type Frame = HashMap<u32, Node>;

/// The types of a function's parameters, by slot, and results.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signature {
    pub params: Vec<(u32, Node)>,
    pub results: Vec<Node>,
}

/// The types of all positions.
pub(crate) struct Types<'n> {
    network: &'n Network,
    action: &'n Action,
    parents: Vec<Node>,
    /// The types of expressions, by their addresses.
    exprs: HashMap<usize, Node>,
    /// The first type that is bound by a quantifier, loop, declaration or select, by its address.
    bound: HashMap<usize, Node>,
    functions: HashMap<FunctionId, Signature>,
    open: Vec<FunctionId>,
    /// All loops over ranges, with the functions that they are in.
    pub loops: Vec<&'n Stmt>,
    /// All quantifiers.
    pub quantifiers: Vec<&'n Expr>,
}

fn address<T>(thing: &T) -> usize {
    std::ptr::from_ref(thing) as usize
}

impl<'n> Types<'n> {
    /// Infers the types of a network and of a query.
    pub(crate) fn of(network: &'n Network, query: &'n Query, action: &'n Action) -> Eval<Self> {
        let mut types = Types {
            network,
            action,
            parents: (0..=action.sets.len() as Node).collect(),
            exprs: HashMap::new(),
            bound: HashMap::new(),
            functions: HashMap::new(),
            open: Vec::new(),
            loops: Vec::new(),
            quantifiers: Vec::new(),
        };
        for process in &network.processes {
            for location in &process.locations {
                if let Some(invariant) = &location.invariant {
                    types.plain(invariant, &mut Frame::new())?;
                }
            }
            for edge in &process.edges {
                types.edge(edge)?;
            }
        }
        for update in network.before_update.iter().chain(&network.after_update) {
            types.expr(update, &mut Frame::new())?;
        }
        match &query.kind {
            QueryKind::Path(_, condition) => types.plain(condition, &mut Frame::new())?,
            _ => return fail("queries of this kind have no certificates under symmetry"),
        }
        while let Some(function) = types.open.pop() {
            let body = &network.functions[function].body;
            let signature = types.functions[&function].clone();
            let mut frame = signature.params.iter().copied().collect();
            types.stmts(body, &mut frame, &signature)?;
        }
        Ok(types)
    }

    fn fresh(&mut self, count: usize) -> Node {
        let first = self.parents.len() as Node;
        self.parents.extend(first..first + count as Node);
        first
    }

    fn root(&self, mut node: Node) -> Node {
        while node != ANY && self.parents[node as usize] != node {
            node = self.parents[node as usize];
        }
        node
    }

    fn unify(&mut self, a: Node, b: Node) -> Eval<Node> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b || b == ANY {
            return Ok(a);
        }
        if a == ANY {
            return Ok(b);
        }
        let (least, other) = (a.min(b), a.max(b));
        if other as usize <= self.action.sets.len() {
            return fail("an element is used as a number, or as an element of another set");
        }
        self.parents[other as usize] = least;
        Ok(least)
    }

    /// The set whose elements a position holds; `None` if it is plain.
    pub(crate) fn set(&self, node: Node) -> Option<usize> {
        let root = self.root(node);
        let sets = 1..=self.action.sets.len();
        (root != ANY && sets.contains(&(root as usize))).then(|| root as usize - 1)
    }

    /// The type of an expression.
    pub(crate) fn of_expr(&self, expr: &Expr) -> Node {
        self.exprs.get(&address(expr)).copied().unwrap_or(ANY)
    }

    /// The types that a quantifier, loop or declaration binds, beginning with the first slot.
    pub(crate) fn bound_by<T>(&self, binder: &T) -> Option<Node> {
        self.bound.get(&address(binder)).copied()
    }

    /// The types of a function.
    pub(crate) fn signature(&self, function: FunctionId) -> Option<&Signature> {
        self.functions.get(&function)
    }

    fn bind<T>(&mut self, binder: &T, slot: u32, count: usize, frame: &mut Frame) {
        let first = self.fresh(count);
        self.bound.insert(address(binder), first);
        let slots = slot..slot + count as u32;
        frame.extend(slots.zip(first..));
    }

    fn edge(&mut self, edge: &'n Edge) -> Eval<()> {
        let mut frame = Frame::new();
        for select in &edge.selects {
            self.bind(select, select.slot, 1, &mut frame);
        }
        if let Some(guard) = &edge.guard {
            self.plain(guard, &mut frame)?;
        }
        if let Some(sync) = &edge.sync {
            let at = sync.channel.base.index();
            let table = &self.action.channels;
            self.steps(&sync.channel.steps, table, at, &mut frame)?;
        }
        for update in &edge.updates {
            self.expr(update, &mut frame)?;
        }
        Ok(())
    }

    fn plain(&mut self, expr: &'n Expr, frame: &mut Frame) -> Eval<()> {
        let node = self.expr(expr, frame)?;
        self.unify(node, PLAIN).map_err(|failure| Failure {
            span: failure.span.or(Some(expr.span)),
            ..failure
        })?;
        Ok(())
    }

    fn expr(&mut self, expr: &'n Expr, frame: &mut Frame) -> Eval<Node> {
        let node = self.infer(expr, frame).map_err(|failure| Failure {
            span: failure.span.or(Some(expr.span)),
            ..failure
        })?;
        self.exprs.insert(address(expr), node);
        Ok(node)
    }

    fn infer(&mut self, expr: &'n Expr, frame: &mut Frame) -> Eval<Node> {
        Ok(match &expr.kind {
            ExprKind::Const(_) => ANY,
            ExprKind::Read(place) => self.place(place, frame)?,
            ExprKind::Unary(_, a) => {
                self.plain(a, frame)?;
                PLAIN
            }
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                let (a, b) = (self.expr(a, frame)?, self.expr(b, frame)?);
                self.unify(a, b)?;
                PLAIN
            }
            ExprKind::Binary(_, a, b) => {
                self.plain(a, frame)?;
                self.plain(b, frame)?;
                PLAIN
            }
            ExprKind::Cond(c, a, b) => {
                self.plain(c, frame)?;
                let (a, b) = (self.expr(a, frame)?, self.expr(b, frame)?);
                self.unify(a, b)?
            }
            ExprKind::Assign {
                place,
                op,
                value,
                old_value,
            } => {
                let (value, target) = (self.expr(value, frame)?, self.place(place, frame)?);
                if op.is_some() || *old_value {
                    self.unify(value, PLAIN)?;
                    self.unify(target, PLAIN)?;
                }
                self.unify(value, target)?
            }
            ExprKind::Copy {
                target,
                source,
                len,
            } => {
                let target = self.cells(target, *len, frame)?;
                let source = self.block(source, *len, frame)?;
                self.unify_all(&target, &source)?;
                PLAIN
            }
            ExprKind::SameBlock {
                left, right, len, ..
            } => {
                let left = self.block(left, *len, frame)?;
                let right = self.block(right, *len, frame)?;
                self.unify_all(&left, &right)?;
                PLAIN
            }
            ExprKind::Call(call) => {
                let results = self.call(call, frame)?;
                results.first().copied().unwrap_or(PLAIN)
            }
            ExprKind::Quantifier { slot, body, .. } => {
                self.quantifiers.push(expr);
                let before = frame.clone();
                self.bind(expr, *slot, 1, frame);
                self.plain(body, frame)?;
                *frame = before;
                PLAIN
            }
            ExprKind::Clock {
                left, right, bound, ..
            } => {
                self.clock(left, frame)?;
                if let Some(right) = right {
                    self.clock(right, frame)?;
                }
                self.plain(bound, frame)?;
                PLAIN
            }
            ExprKind::Rate { clock, rate } => {
                self.clock(clock, frame)?;
                self.plain(rate, frame)?;
                PLAIN
            }
            ExprKind::SetClock { clock, value } => {
                self.clock(clock, frame)?;
                self.plain(value, frame)?;
                PLAIN
            }
            ExprKind::CopyClock { target, source } => {
                self.clock(target, frame)?;
                self.clock(source, frame)?;
                PLAIN
            }
            ExprKind::At { process, .. } | ExprKind::LocationOf(process) => {
                let table = &self.action.processes;
                self.steps(&process.steps, table, process.base.index(), frame)?;
                PLAIN
            }
            ExprKind::Deadlock => PLAIN,
        })
    }

    /// The types of computed indices of something at `at`.
    fn steps(
        &mut self,
        steps: &'n [IndexStep],
        table: &'n Coordinates,
        at: usize,
        frame: &mut Frame,
    ) -> Eval<()> {
        for step in steps {
            let index = self.expr(&step.index, frame)?;
            let own = table.get(at).into_iter().flatten().find(|c| {
                c.stride == i64::from(step.stride) && self.action.sets[c.set].size == step.range.len
            });
            let node = own.map_or(PLAIN, |c| c.set as Node + 1);
            self.unify(index, node).map_err(|failure| Failure {
                span: Some(step.index.span),
                ..failure
            })?;
        }
        Ok(())
    }

    fn clock(&mut self, clock: &'n ClockRef, frame: &mut Frame) -> Eval<()> {
        match clock.base {
            ClockBase::Clock(c) => self.steps(&clock.steps, &self.action.clocks, c.index(), frame),
            ClockBase::Ref(_) => by_reference(),
        }
    }

    fn holds(&self, cell: usize) -> Node {
        let set = self.action.holds.get(cell).copied().flatten();
        set.map_or(PLAIN, |set| set as Node + 1)
    }

    fn place(&mut self, place: &'n Place, frame: &mut Frame) -> Eval<Node> {
        Ok(self.cells(place, 1, frame)?.first().copied().unwrap_or(ANY))
    }

    /// The types of consecutive cells or slots.
    fn cells(&mut self, place: &'n Place, len: u32, frame: &mut Frame) -> Eval<Vec<Node>> {
        match place.base {
            Base::Cell(c) => {
                self.steps(&place.steps, &self.action.cells, c.index(), frame)?;
                let cells = c.index()..c.index() + len as usize;
                Ok(cells.map(|c| self.holds(c)).collect())
            }
            Base::Constant(_) => {
                // Each use of constants has its own type, and the values are compared for it.
                for step in &place.steps {
                    self.expr(&step.index, frame)?;
                }
                let first = self.fresh(len as usize);
                Ok((first..first + len).collect())
            }
            Base::Slot(s) => {
                let mut reach = 0;
                for step in &place.steps {
                    self.plain(&step.index, frame)?;
                    reach += step.stride * step.range.len.saturating_sub(1);
                }
                let mut nodes = Vec::new();
                for k in 0..len {
                    let mut node = ANY;
                    // Any element of a local array may be meant.
                    let others = if place.steps.is_empty() { 0 } else { reach };
                    for other in 0..=others {
                        match frame.get(&(s + k + other)) {
                            Some(own) => node = self.unify(node, *own)?,
                            None => return fail("a local variable has no declaration in reach"),
                        }
                    }
                    nodes.push(node);
                }
                Ok(nodes)
            }
            Base::Ref(_) => by_reference(),
        }
    }

    fn unify_all(&mut self, a: &[Node], b: &[Node]) -> Eval<Vec<Node>> {
        let both = a.iter().zip(b);
        both.map(|(a, b)| self.unify(*a, *b)).collect()
    }

    fn block(&mut self, block: &'n Block, len: u32, frame: &mut Frame) -> Eval<Vec<Node>> {
        match block {
            Block::Place(place) => self.cells(place, len, frame),
            Block::Call(call) => self.call(call, frame),
            Block::Cond(c, a, b) => {
                self.plain(c, frame)?;
                let (a, b) = (self.block(a, len, frame)?, self.block(b, len, frame)?);
                self.unify_all(&a, &b)
            }
            Block::Assign {
                target,
                source,
                len,
            } => {
                let target = self.cells(target, *len, frame)?;
                let source = self.block(source, *len, frame)?;
                self.unify_all(&target, &source)
            }
        }
    }

    fn call(&mut self, call: &'n Call, frame: &mut Frame) -> Eval<Vec<Node>> {
        let function = &self.network.functions[call.function];
        if !self.functions.contains_key(&call.function) {
            let mut signature = Signature::default();
            for param in &function.params {
                let Some(ranges) = &param.ranges else {
                    return by_reference();
                };
                let first = self.fresh(ranges.len());
                let slots = param.slot..param.slot + ranges.len() as u32;
                signature.params.extend(slots.zip(first..));
            }
            let first = self.fresh(function.result_len as usize);
            signature.results = (first..first + function.result_len).collect();
            self.functions.insert(call.function, signature);
            self.open.push(call.function);
        }
        let signature = self.functions[&call.function].clone();
        for (arg, param) in call.args.iter().zip(&function.params) {
            let given = match arg {
                Arg::Value(e) => vec![self.expr(e, frame)?],
                Arg::Block(block, len) => self.block(block, *len, frame)?,
                Arg::Ref(_) | Arg::Clock(_) | Arg::Mixed(..) => return by_reference(),
            };
            let own = signature
                .params
                .iter()
                .filter(|(slot, _)| *slot >= param.slot);
            let own: Vec<Node> = own.map(|(_, node)| *node).collect();
            self.unify_all(&given, &own)?;
        }
        Ok(signature.results)
    }

    fn stmts(&mut self, stmts: &'n [Stmt], frame: &mut Frame, own: &Signature) -> Eval<()> {
        let before = frame.clone();
        for stmt in stmts {
            self.stmt(stmt, frame, own)?;
        }
        *frame = before;
        Ok(())
    }

    fn stmt(&mut self, stmt: &'n Stmt, frame: &mut Frame, own: &Signature) -> Eval<()> {
        match stmt {
            Stmt::Expr(e) => drop(self.expr(e, frame)?),
            Stmt::Init { slot, values } => self.bind(stmt, *slot, values.len(), frame),
            Stmt::If { cond, then, other } => {
                self.plain(cond, frame)?;
                self.stmts(then, frame, own)?;
                self.stmts(other, frame, own)?;
            }
            Stmt::While {
                cond, body, step, ..
            } => {
                self.plain(cond, frame)?;
                self.stmts(body, frame, own)?;
                self.stmts(step, frame, own)?;
            }
            Stmt::DoWhile { body, cond, .. } => {
                self.stmts(body, frame, own)?;
                self.plain(cond, frame)?;
            }
            Stmt::Iterate { slot, body, .. } => {
                self.loops.push(stmt);
                let before = frame.clone();
                self.bind(stmt, *slot, 1, frame);
                self.stmts(body, frame, own)?;
                *frame = before;
            }
            Stmt::Return(Some(e)) => {
                let node = self.expr(e, frame)?;
                if let Some(result) = own.results.first() {
                    self.unify(node, *result)?;
                }
            }
            Stmt::ReturnBlock(block, len) => {
                let nodes = self.block(block, *len, frame)?;
                self.unify_all(&nodes, &own.results)?;
            }
            Stmt::Assert(e) => self.plain(e, frame)?,
            Stmt::Return(None) | Stmt::Break | Stmt::Continue => {}
        }
        Ok(())
    }
}

fn by_reference<T>() -> Eval<T> {
    fail("certificates under symmetry do not cover parameters that are passed by reference")
}
