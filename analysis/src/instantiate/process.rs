//! Processes: one per combination of free parameters of each name on the system line.

use super::expr::binary;
use super::stmt::{is_dropped, without_cost};
use super::{Binding, Builder, FamilyScope, Foreign, Lowered, ProcessScope, Scope};
use crate::diag::Diag;
use crate::hir::{self, End, Expr, Instance, PriorityElem, Template};
use crate::lint::usage::Usage;
use crate::network::{
    self, BinaryOp, Edge, Family, Id, IndexRange, Location, LocationKind, Process, ProcessId,
    Select, Shape, Sync,
};
use crate::symbol::{ItemId, Loc, SymKind, Symbol};
use crate::types::Type;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::ast::Direction;
use zonelens_syntax::span::Span;

/// The most branchpoints in a row before an edge counts as cyclic.
const MAX_BRANCHES: usize = 32;

impl Builder<'_> {
    /// Creates the processes of the system line.
    pub(crate) fn system(&mut self, item: ItemId, levels: &[Vec<(Arc<Symbol>, Loc)>]) {
        let _ = item;
        let priorities = levels.len() > 1;
        self.built.network.has_priorities |= priorities;
        for (level, names) in levels.iter().enumerate() {
            for (symbol, loc) in names {
                let priority = if priorities { level as i32 } else { 0 };
                self.family(symbol, *loc, priority);
                if !self.errors.is_empty() {
                    return;
                }
            }
        }
    }

    fn family(&mut self, symbol: &Arc<Symbol>, loc: Loc, priority: i32) {
        let (SymKind::Template(sig) | SymKind::Instance(sig)) = &symbol.kind else {
            return;
        };
        let Some(template) = self.template_of(symbol) else {
            return;
        };
        if template.locations.is_empty() {
            let message = format!(
                "`{}` has no locations, so it cannot run",
                template.symbol.name
            );
            self.errors.push(
                Diag::new("system/initial", message, loc)
                    .related(template.loc, "the template is declared here"),
            );
            return;
        }
        let symbols = self.params_of(symbol).unwrap_or_default();
        let mut params: Vec<IndexRange> = Vec::new();
        let mut count = 1u64;
        for p in &sig.params {
            self.note_sets(&p.ty);
            let range = Scope::new(self.source.env, &self.built, None, 0).index_range(&p.ty);
            let Ok(mut range) = range else {
                let message = format!(
                    "the values of the parameter `{}` cannot be computed",
                    p.name
                );
                self.errors
                    .push(Diag::new("system/free-parameter", message, loc));
                return;
            };
            if range.scalarset.is_none()
                && let Some(symbol) = symbols.get(params.len())
            {
                range.scalarset =
                    Scope::new(self.source.env, &self.built, None, 0).symbol_set(symbol.id);
            }
            count = count.saturating_mul(u64::from(range.len));
            params.push(range);
        }
        if !self.fits(symbol, &template, count, loc) {
            return;
        }
        let index = self.built.network.families.len() as u32;
        let first = ProcessId::at(self.built.network.processes.len());
        self.built.network.families.push(Family {
            name: symbol.name.clone(),
            template: template.symbol.name.clone(),
            params: params.clone(),
            first,
            len: count as u32,
        });
        let before = self.cursor();
        let mut strides = (0, 0, 0);
        let mut args: Vec<i32> = params.iter().map(|r| r.lo).collect();
        for k in 0..count {
            self.process(symbol, &template, index, &args, priority);
            if !self.errors.is_empty() {
                return;
            }
            if k == 0 {
                let after = self.cursor();
                strides = (
                    after.0.since(before.0),
                    after.1.since(before.1),
                    after.2.since(before.2),
                );
            }
            next_args(&mut args, &params);
        }
        self.built
            .families
            .insert(symbol.id, FamilyScope { index, strides });
    }

    fn fits(&mut self, symbol: &Symbol, template: &Template, count: u64, loc: Loc) -> bool {
        let so_far = self.built.network.processes.len() as u64;
        let edges: u64 =
            count.saturating_mul(template.edges.len() as u64 + template.locations.len() as u64);
        self.edges = self.edges.saturating_add(edges);
        let few = so_far.saturating_add(count) <= self.limits.processes;
        if few && self.edges <= self.limits.edges {
            return true;
        }
        let message = format!(
            "`{}` multiplies to {count} processes with {} edges each; at most {} processes and {} edges are possible",
            symbol.name,
            template.edges.len(),
            self.limits.processes,
            self.limits.edges
        );
        self.errors.push(
            Diag::new("system/size", message, loc)
                .related(symbol.loc, "its parameters are declared here"),
        );
        false
    }

    fn process(
        &mut self,
        symbol: &Arc<Symbol>,
        template: &Arc<Template>,
        family: u32,
        args: &[i32],
        priority: i32,
    ) {
        let id = ProcessId::at(self.built.network.processes.len());
        let name: SmolStr = if args.is_empty() {
            symbol.name.clone()
        } else {
            let list: Vec<String> = args.iter().map(i32::to_string).collect();
            format!("{}({})", symbol.name, list.join(",")).into()
        };
        let mut scope = ProcessScope {
            names: FxHashMap::default(),
            functions: FxHashMap::default(),
            sets: FxHashMap::default(),
        };
        if self.bind(symbol, args, &mut scope).is_err() {
            let message = format!("the arguments of `{name}` cannot be computed");
            self.errors
                .push(Diag::new("system/argument", message, symbol.loc));
            return;
        }
        for d in &template.decls {
            self.local_sets(d, family, &mut scope);
            if let Some(b) = self.declare(d, Some((id, &name)), Some(&scope)) {
                scope.names.insert(d.symbol.id, b);
            }
        }
        self.keep_parameters(template, (id, &name), &mut scope);
        if !self.errors.is_empty() {
            return;
        }
        for f in &template.functions {
            let id = self.lower_function(f, Some((&scope, &name)));
            scope.functions.insert(f.symbol.id, id);
            if !self.errors.is_empty() {
                return;
            }
        }
        let process = self.automaton(template, &scope, name, family, args, priority);
        self.built.network.processes.push(process);
        self.built.processes.push(scope);
    }

    /// Turns a value parameter that the template assigns to into a variable of the process, which
    /// starts with the argument. Sizes and initial values were computed from the argument before.
    fn keep_parameters(
        &mut self,
        template: &Template,
        process: (ProcessId, &str),
        scope: &mut ProcessScope,
    ) {
        if template.params.is_empty() {
            return;
        }
        let written = Usage::written_in(template);
        for p in template.params.iter().filter(|p| written.contains(&p.id)) {
            if let Some(Binding::Const { values, .. }) = scope.names.get(&p.id).cloned()
                && let Some(binding) = self.parameter(p, &values, process, scope)
            {
                scope.names.insert(p.id, binding);
            }
        }
    }

    /// Adds the scalarsets that are declared in a template; each process has its own. In a family
    /// that is itself symmetric, swapping two processes would also have to swap their sets. Such
    /// sets are not reduced over, which `sym/local` reports.
    fn local_sets(&mut self, d: &hir::Decl, family: u32, scope: &mut ProcessScope) {
        let params = self.built.network.families.get(family as usize);
        let symmetric = params.is_some_and(|f| f.params.iter().any(|p| p.scalarset.is_some()));
        let mut found = Vec::new();
        if let Some(ty) = d.symbol.value_type() {
            collect_local_sets(ty, &mut found);
        }
        for set in found {
            if scope.sets.contains_key(&set.id) {
                continue;
            }
            let size = Scope::new(self.source.env, &self.built, Some(scope), 0)
                .evaluate(|e| e.bound(&set.size));
            if let Ok(size) = size
                && let Some(id) = self.add_set(&set, size)
            {
                scope.sets.insert(set.id, id);
                if let Some(s) = self.built.network.scalarsets.get_mut(id)
                    && symmetric
                {
                    let (code, span) = ("sym/local", s.span);
                    s.broken.push(network::BrokenRule { code, span });
                }
            }
        }
    }

    /// Binds the parameters of the template or instance that `symbol` denotes, down to those of the
    /// template itself.
    fn bind(&mut self, symbol: &Symbol, args: &[i32], scope: &mut ProcessScope) -> Lowered<()> {
        let params = self.params_of(symbol)?;
        for (p, v) in params.iter().zip(args) {
            let ty = p.value_type().ok_or(Foreign::Broken)?;
            let shape = Shape::Int {
                lo: *v,
                hi: *v,
                scalarset: ty
                    .any_set()
                    .and_then(|s| self.built.sets.get(&s.id))
                    .copied(),
                boolean: false,
            };
            let binding = self.bind_constant(shape, vec![*v]);
            scope.names.insert(p.id, binding);
        }
        self.bind_inner(symbol, scope)
    }

    fn params_of(&self, symbol: &Symbol) -> Lowered<Vec<Arc<Symbol>>> {
        let env = self.source.env;
        match &symbol.kind {
            SymKind::Template(sig) => env.templates.get(&sig.body).map(|t| t.params.clone()),
            SymKind::Instance(sig) => env.instances.get(&sig.body).map(|i| i.params.clone()),
            _ => None,
        }
        .ok_or(Foreign::Broken)
    }

    /// Follows instantiations inwards, binding parameters to arguments.
    fn bind_inner(&mut self, symbol: &Symbol, scope: &mut ProcessScope) -> Lowered<()> {
        let SymKind::Instance(sig) = &symbol.kind else {
            return Ok(());
        };
        let instance = self
            .source
            .env
            .instances
            .get(&sig.body)
            .cloned()
            .ok_or(Foreign::Broken)?;
        let params = self.params_of(&instance.template)?;
        for (p, a) in params.iter().zip(&instance.args) {
            let binding = self.argument(p, a, &instance, scope)?;
            scope.names.insert(p.id, binding);
            self.bind_parameter_set(p, a, scope);
        }
        self.bind_inner(&instance.template, scope)
    }

    /// Binds a `scalarset` parameter to the set that its argument belongs to.
    fn bind_parameter_set(&self, p: &Symbol, a: &Expr, scope: &mut ProcessScope) {
        let (Some(want), Some(have)) = (p.value_type().and_then(Type::any_set), a.ty.any_set())
        else {
            return;
        };
        if want.parameter {
            let id = scope
                .sets
                .get(&have.id)
                .or_else(|| self.built.sets.get(&have.id))
                .copied();
            if let Some(id) = id {
                scope.sets.insert(want.id, id);
            }
        }
    }

    fn argument(
        &mut self,
        p: &Symbol,
        a: &Expr,
        instance: &Instance,
        scope: &ProcessScope,
    ) -> Lowered<Binding> {
        let SymKind::Param(param) = &p.kind else {
            return Err(Foreign::Broken);
        };
        let offset = self.offset(instance.symbol.loc.item);
        if super::layout::is_foreign(&param.ty) {
            return Ok(Binding::Foreign);
        }
        let (shape, values) = {
            let mut s = Scope::new(self.source.env, &self.built, Some(scope), offset);
            if param.reference
                && let Ok(at) = s.locate(a)
                && let Some(binding) = at.into_binding()
            {
                return Ok(binding);
            }
            let values = s.evaluate(|e| e.eval(a))?;
            let shape = match (&param.ty, &values[..]) {
                (Type::Int(_) | Type::Bool | Type::Scalar(_), [v]) => Shape::Int {
                    lo: *v,
                    hi: *v,
                    scalarset: a.ty.any_set().and_then(|x| s.set_id(x)),
                    boolean: matches!(param.ty, Type::Bool),
                },
                _ => s.shape(&param.ty)?,
            };
            (shape, values)
        };
        Ok(self.bind_constant(shape, values))
    }

    fn automaton(
        &mut self,
        t: &Arc<Template>,
        scope: &ProcessScope,
        name: SmolStr,
        family: u32,
        args: &[i32],
        priority: i32,
    ) -> Process {
        let offset = self.offset(t.loc.item);
        let mut locations = Vec::new();
        let mut unsupported = Vec::new();
        for l in &t.locations {
            let mut s = Scope::new(self.source.env, &self.built, Some(scope), offset);
            let invariant = l.invariant.as_ref().and_then(without_cost);
            let invariant = match invariant.map(|e| s.expr(&e)).transpose() {
                Ok(e) => e,
                Err(foreign) => {
                    unsupported.push(foreign);
                    None
                }
            };
            locations.push(Location {
                name: l.symbol.name.clone(),
                kind: match (l.committed, l.urgent) {
                    (true, _) => LocationKind::Committed,
                    (_, true) => LocationKind::Urgent,
                    _ => LocationKind::Normal,
                },
                invariant,
                frame: s.slots,
                span: self.absolute(l.symbol.loc),
            });
        }
        let mut edges = Vec::new();
        for (k, e) in t.edges.iter().enumerate() {
            if let End::Location(_) = e.source {
                let mut path = vec![k];
                self.paths(t, scope, offset, &mut path, &mut edges, &mut unsupported);
            }
        }
        for foreign in unsupported {
            self.unsupported(foreign, self.absolute(t.loc));
        }
        Process {
            name,
            family,
            args: args.to_vec(),
            locations,
            initial: t.init.unwrap_or(0),
            edges,
            priority,
            span: self.absolute(t.loc),
        }
    }

    /// Composes edges over branchpoints: every branch is possible.
    fn paths(
        &self,
        t: &Template,
        scope: &ProcessScope,
        offset: u32,
        path: &mut Vec<usize>,
        out: &mut Vec<Edge>,
        unsupported: &mut Vec<Foreign>,
    ) {
        let Some(last) = path.last().and_then(|&k| t.edges.get(k)) else {
            return;
        };
        match last.target {
            End::Location(_) => {
                let parts: Vec<&hir::Edge> = path.iter().filter_map(|&k| t.edges.get(k)).collect();
                match self.edge(&parts, path[0], scope, offset, unsupported) {
                    Ok(edge) => out.extend(edge),
                    Err(Foreign::Broken) => unsupported.push(Foreign::Unsupported(
                        "unsupported/expression",
                        "this edge cannot be verified".into(),
                        parts.first().map_or(last.span, |p| p.span).shift(offset),
                    )),
                    Err(foreign) => unsupported.push(foreign),
                }
            }
            End::Branchpoint(_) if path.len() >= MAX_BRANCHES => {
                unsupported.push(Foreign::Unsupported(
                    "unsupported/branchpoint",
                    "branchpoints lead back to each other".into(),
                    last.span.shift(offset),
                ))
            }
            End::Branchpoint(b) => {
                for (k, next) in t.edges.iter().enumerate() {
                    if next.source == End::Branchpoint(b) {
                        path.push(k);
                        self.paths(t, scope, offset, path, out, unsupported);
                        path.pop();
                    }
                }
            }
        }
    }

    fn edge(
        &self,
        parts: &[&hir::Edge],
        index: usize,
        scope: &ProcessScope,
        offset: u32,
        unsupported: &mut Vec<Foreign>,
    ) -> Lowered<Option<Edge>> {
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return Err(Foreign::Broken);
        };
        let (End::Location(source), End::Location(target)) = (first.source, last.target) else {
            return Err(Foreign::Broken);
        };
        let mut s = Scope::new(self.source.env, &self.built, Some(scope), offset);
        let mut selects = Vec::new();
        for var in parts.iter().flat_map(|p| &p.selects) {
            let select = s.select(var)?;
            // A select without values has no copies of this edge, so the rest of the edge need not
            // be valid.
            if select.range.len == 0 {
                return Ok(None);
            }
            selects.push(select);
        }
        let mut guard: Option<network::Expr> = None;
        for g in parts.iter().filter_map(|p| p.guard.as_ref()) {
            let next = s.expr(g)?;
            guard = Some(match guard {
                None => next,
                Some(a) => {
                    let span = a.span;
                    binary(BinaryOp::And, a, next, span)
                }
            });
        }
        let sync = match parts.iter().find_map(|p| p.sync.as_ref()) {
            Some(sync) => Some(s.sync(sync)?),
            None => None,
        };
        let mut updates = Vec::new();
        for u in parts.iter().flat_map(|p| &p.updates) {
            s.update(u, &mut updates, unsupported);
        }
        Ok(Some(Edge {
            source,
            target,
            selects,
            guard,
            sync,
            updates,
            frame: s.slots,
            template_edge: index as u32,
            spans: parts.iter().map(|p| p.span.shift(offset)).collect(),
        }))
    }

    /// Sets channel priorities: `default` is 0, lower levels are negative, higher ones positive.
    pub(crate) fn priorities(&mut self, item: ItemId, levels: &[Vec<PriorityElem>]) {
        self.built.network.has_priorities = true;
        let default = levels
            .iter()
            .position(|l| l.contains(&PriorityElem::Default))
            .map_or(-1, |k| k as i32);
        let offset = self.offset(item);
        let mut set = Vec::new();
        for (k, level) in levels.iter().enumerate() {
            for elem in level {
                let PriorityElem::Channel(e) = elem else {
                    continue;
                };
                let mut s = Scope::new(self.source.env, &self.built, None, offset);
                if let Ok(at) = s.locate(e) {
                    let (_, _, n) = at.shape.counts();
                    let first = at.channel();
                    if first.steps.is_empty() {
                        set.push((first.base, n, k as i32 - default));
                    }
                }
            }
        }
        for (first, n, priority) in set {
            for k in 0..n {
                if let Some(channel) = self.built.network.channels.get_mut(first.plus(k)) {
                    channel.priority = priority;
                }
            }
        }
    }

    /// Lowers `before_update` and `after_update`.
    pub(crate) fn global_updates(&mut self, item: ItemId, list: &[Expr]) -> Vec<network::Expr> {
        let offset = self.offset(item);
        let (mut out, mut unsupported) = (Vec::new(), Vec::new());
        let slots = {
            let mut s = Scope::new(self.source.env, &self.built, None, offset);
            for e in list {
                s.update(e, &mut out, &mut unsupported);
            }
            s.slots
        };
        let network = &mut self.built.network;
        network.update_frame = network.update_frame.max(slots);
        for foreign in unsupported {
            let around = list.first().map_or(Span::new(0, 0), |e| e.span);
            self.unsupported(foreign, around.shift(offset));
        }
        out
    }
}

impl Scope<'_> {
    fn select(&mut self, var: &Arc<Symbol>) -> Lowered<Select> {
        let (slot, range) = self.bind_range(var)?;
        Ok(Select {
            name: var.name.clone(),
            slot,
            range,
        })
    }

    fn sync(&mut self, sync: &hir::Sync) -> Lowered<Sync> {
        if sync.direction == Direction::Csp {
            return Err(Foreign::Unsupported(
                "unsupported/csp",
                "synchronisation without `!` or `?` is not verified".into(),
                self.span(sync.span),
            ));
        }
        if matches!(sync.channel.kind, hir::ExprKind::Cond(..)) {
            return Err(self.foreign(
                "unsupported/channel-choice",
                "a channel chosen by a condition is not verified",
                &sync.channel,
            ));
        }
        let channel = self.locate(&sync.channel)?.channel();
        Ok(Sync {
            channel,
            direction: sync.direction,
        })
    }

    /// Lowers one update; a comma list becomes several.
    pub(crate) fn update(
        &mut self,
        e: &Expr,
        out: &mut Vec<network::Expr>,
        unsupported: &mut Vec<Foreign>,
    ) {
        if let hir::ExprKind::Comma(list) = &e.kind {
            for e in list {
                self.update(e, out, unsupported);
            }
            return;
        }
        if is_dropped(e) {
            return;
        }
        match self.expr(e) {
            Ok(e) => out.push(e),
            Err(foreign) => unsupported.push(foreign),
        }
    }
}

fn next_args(args: &mut [i32], params: &[IndexRange]) {
    for (a, r) in args.iter_mut().zip(params).rev() {
        if i64::from(*a) + 1 < i64::from(r.lo) + i64::from(r.len) {
            *a += 1;
            return;
        }
        *a = r.lo;
    }
}

fn collect_local_sets(ty: &Type, out: &mut Vec<Arc<crate::types::ScalarSet>>) {
    match ty {
        Type::Array(a) => {
            collect_local_sets(&a.index, out);
            collect_local_sets(&a.element, out);
        }
        Type::Struct(s) => s
            .fields
            .iter()
            .for_each(|(_, t)| collect_local_sets(t, out)),
        Type::Scalar(set) if set.local => out.push(set.clone()),
        _ => {}
    }
}
