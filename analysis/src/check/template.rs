//! Templates: parameters, local declarations, locations, edges.

use super::function::param_sig;
use super::operators::describe;
use super::{Body, Checker};
use crate::diag::Diag;
use crate::fix::Change;
use crate::hir::{Edge, End, Expr, ExprKind, Location, Sync, Template};
use crate::symbol::{Loc, ParamOf, SymKind, Symbol, TemplateSig};
use crate::types::{ChanType, CondClass, Type};
use rustc_hash::FxHashMap;
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::ast::{self, Direction, MemberKind, Placed};
use zonelens_syntax::similar::closest;
use zonelens_syntax::span::Span;

const KEYWORDS: &[&str] = &[
    "and",
    "assert",
    "assign",
    "bool",
    "branchpoint",
    "broadcast",
    "chan",
    "clock",
    "commit",
    "const",
    "default",
    "do",
    "else",
    "exists",
    "false",
    "for",
    "forall",
    "guard",
    "if",
    "imply",
    "init",
    "int",
    "meta",
    "not",
    "or",
    "priority",
    "probability",
    "process",
    "progress",
    "return",
    "scalar",
    "state",
    "struct",
    "sum",
    "sync",
    "system",
    "trans",
    "true",
    "typedef",
    "urgent",
    "void",
    "while",
    "xor",
];

/// Parts collected while walking the members.
#[derive(Default)]
struct Parts {
    locations: Vec<Location>,
    branchpoints: Vec<Arc<Symbol>>,
    init: Option<u32>,
    inits: u32,
    edges: Vec<Edge>,
    committed: Vec<(SmolStr, Loc)>,
    urgent: Vec<(SmolStr, Loc)>,
}

impl Checker<'_> {
    /// Checks `process P(…) { … }`.
    pub(crate) fn process(&mut self, p: &ast::Process) {
        self.proper_name(&p.name);
        self.in_template = true;
        self.push_scope();
        let empty = ast::Params::default();
        let params = self.params(p.params.as_ref().unwrap_or(&empty), ParamOf::Template);
        for s in &params {
            if let Some(ty) = s.value_type().cloned() {
                self.restrict_sizes(&ty);
            }
        }
        let mut parts = Parts::default();
        self.last_location = None;
        let mut meant = Vec::new();
        for m in &p.members {
            self.in_member(m, |me, kind| {
                let section = me.meant_section(kind);
                me.declare_member(section.as_ref().unwrap_or(kind), &mut parts);
                meant.push(section);
            });
        }
        let (mut index, mut last) = (0, None);
        for (m, section) in p.members.iter().zip(&meant) {
            self.in_member(m, |me, kind| {
                let kind = section.as_ref().unwrap_or(kind);
                me.check_member(kind, &mut parts, &mut index, &mut last)
            });
        }
        self.location_kinds(&mut parts);
        self.initial(p, &parts);
        let members = self.members_of_scope();
        self.pop_scope();
        self.in_template = false;
        let sigs = params
            .iter()
            .filter_map(|s| param_sig(s, true, self.restricted.contains(&s.id)))
            .collect();
        let sig = TemplateSig {
            params: sigs,
            body: self.body_id(&p.name.name),
        };
        let symbol = self.symbol(&p.name, SymKind::Template(Arc::new(sig)));
        self.declare(symbol.clone());
        let loc = self.loc(p.name.span);
        self.out.body = Body::Template(Arc::new(Template {
            symbol,
            params,
            decls: std::mem::take(&mut self.out.decls),
            functions: self.out.functions.clone(),
            locations: parts.locations,
            branchpoints: parts.branchpoints,
            init: parts.init,
            edges: parts.edges,
            members,
            loc,
        }));
    }

    /// Reports texts that are not names: XML can hold any text there.
    fn proper_name(&mut self, ident: &ast::Ident) {
        let mut letters = ident.name.chars();
        let starts = letters
            .next()
            .is_none_or(|c| c.is_ascii_alphabetic() || c == '_');
        if !starts || !letters.all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let shown: Vec<&str> = ident.name.split_whitespace().collect();
            let message = format!(
                "`{}` is not a name, so no query can refer to it; names consist of letters, digits and `_` and do not start with a digit",
                shown.join(" ")
            );
            let proper = proper(&ident.name);
            let loc = self.loc(ident.span);
            let diag = Diag::new("name/identifier", message, loc);
            self.report(
                match self
                    .frames
                    .last()
                    .is_some_and(|f| f.contains_key(proper.as_str()))
                {
                    true => diag,
                    false => diag.fix(format!("Rename to `{proper}`"), loc, proper),
                },
            );
        }
        if KEYWORDS.contains(&ident.name.as_str()) {
            let message = format!("`{}` is a keyword and cannot be a name", ident.name);
            self.error("name/keyword", message, ident.span);
        }
    }

    /// Reports an XML location whose name comes after a label: UPPAAL reads the name first, and
    /// ignores the rest of the template after a misplaced one.
    fn name_comes_first(&mut self, l: &ast::Location) {
        let children = l.graphics.iter().flat_map(|g| &g.children);
        let tags: Vec<&str> = children.map(|c| c.tag.as_str()).collect();
        let place = |tag: &str| tags.iter().position(|t| *t == tag);
        if let (Some(label), Some(name)) = (place("label"), place("name"))
            && label < name
        {
            let message = format!(
                "the `<name>` of `{}` comes after a `<label>`; elements are read in a fixed order, so move the name to the front",
                l.name.name
            );
            self.error("type/location", message, l.name.span);
        }
    }

    fn members_of_scope(&self) -> std::collections::BTreeMap<SmolStr, Arc<Symbol>> {
        let scope: Option<&FxHashMap<SmolStr, Arc<Symbol>>> = self.frames.last();
        scope
            .into_iter()
            .flatten()
            .map(|(n, s)| (n.clone(), s.clone()))
            .collect()
    }

    fn in_member(&mut self, m: &Placed<ast::Member>, act: impl FnOnce(&mut Self, &MemberKind)) {
        self.base = m.offset;
        act(self, &m.node.kind);
        self.base = 0;
    }

    fn declare_member(&mut self, kind: &MemberKind, parts: &mut Parts) {
        match kind {
            MemberKind::Var(v) => self.var_decl(v),
            MemberKind::Typedef(t) => self.typedef(t),
            MemberKind::Function(f) => self.function(f),
            MemberKind::Misplaced(_) => {}
            MemberKind::States(list) => {
                for l in list {
                    if !l.anonymous {
                        self.proper_name(&l.name);
                    }
                    self.name_comes_first(l);
                    let index = parts.locations.len() as u32;
                    let symbol = self.symbol(&l.name, SymKind::Location(index));
                    self.declare(symbol.clone());
                    let end = Span::new(l.span.end, l.span.end);
                    self.last_location = Some(self.loc(end));
                    parts.locations.push(Location {
                        symbol,
                        invariant: None,
                        committed: l.committed,
                        urgent: l.urgent,
                    });
                }
            }
            MemberKind::Branchpoints(list) => {
                for b in list {
                    let index = parts.branchpoints.len() as u32;
                    let symbol = self.symbol(&b.name, SymKind::Branchpoint(index));
                    self.declare(symbol.clone());
                    parts.branchpoints.push(symbol);
                }
            }
            MemberKind::Error(names) => self.unreadable(names),
            MemberKind::Empty
            | MemberKind::Commit(_)
            | MemberKind::Urgent(_)
            | MemberKind::Init(_)
            | MemberKind::Edge(_) => {}
        }
    }

    fn check_member(
        &mut self,
        kind: &MemberKind,
        parts: &mut Parts,
        index: &mut usize,
        last: &mut Option<End>,
    ) {
        match kind {
            MemberKind::States(list) => {
                for l in list {
                    let invariant = self.location_labels(l);
                    if let Some(slot) = parts.locations.get_mut(*index) {
                        slot.invariant = invariant;
                    }
                    *index += 1;
                }
            }
            MemberKind::Commit(list) => {
                let list: Vec<_> = list
                    .iter()
                    .map(|i| (i.name.clone(), self.loc(i.span)))
                    .collect();
                parts.committed.extend(list);
            }
            MemberKind::Urgent(list) => {
                let list: Vec<_> = list
                    .iter()
                    .map(|i| (i.name.clone(), self.loc(i.span)))
                    .collect();
                parts.urgent.extend(list);
            }
            MemberKind::Init(ident) => {
                parts.inits += 1;
                if parts.inits > 1 {
                    self.error(
                        "system/initial",
                        "a template has one initial location only",
                        ident.span,
                    );
                }
                match self.end(ident) {
                    Some(End::Location(l)) => parts.init = Some(l),
                    Some(End::Branchpoint(_)) => self.error(
                        "system/initial",
                        "a branchpoint cannot be the initial location",
                        ident.span,
                    ),
                    None => {}
                }
            }
            MemberKind::Edge(e) => {
                if let Some(edge) = self.edge(e, last) {
                    parts.edges.push(edge);
                }
            }
            MemberKind::Misplaced(_) => {
                self.error(
                    "type/misplaced",
                    "this belongs outside the template, among the global declarations",
                    Span::new(0, 0),
                );
            }
            _ => {}
        }
    }

    fn location_labels(&mut self, l: &ast::Location) -> Option<Expr> {
        let invariant = l.invariant.as_ref().map(|e| self.invariant(e));
        if let Some((a, b)) = &l.exponential_rate {
            for e in std::iter::once(a).chain(b) {
                let e = self.expr(e);
                if !e.ty.is_number() {
                    let message = format!("a rate is a number, this is {}", describe(&e.ty));
                    self.error_at("type/mismatch", message, e.span);
                }
            }
        }
        invariant
    }

    fn location_kinds(&mut self, parts: &mut Parts) {
        for (committed, list) in [
            (true, std::mem::take(&mut parts.committed)),
            (false, std::mem::take(&mut parts.urgent)),
        ] {
            for (name, loc) in list {
                let found = parts.locations.iter_mut().find(|l| l.symbol.name == name);
                match found {
                    Some(l) if committed => l.committed = true,
                    Some(l) => l.urgent = true,
                    None => {
                        let message = format!("there is no location `{name}` in this template");
                        let names = parts.locations.iter().map(|l| l.symbol.name.as_str());
                        let near = closest(&name, names).map(SmolStr::new);
                        let diag = Diag::new("name/unknown", message, loc);
                        let diag = self.did_you_mean(diag, near, loc);
                        self.report(diag);
                    }
                }
            }
        }
        let both: Vec<_> = parts
            .locations
            .iter()
            .filter(|l| l.committed && l.urgent)
            .map(|l| (l.symbol.name.clone(), l.symbol.loc))
            .collect();
        for (name, loc) in both {
            let message = format!(
                "`{name}` cannot be both committed and urgent; committed already forbids delay"
            );
            self.report(Diag::new("type/location", message, loc));
        }
    }

    fn initial(&mut self, p: &ast::Process, parts: &Parts) {
        if parts.inits == 0 && (!parts.locations.is_empty() || self.has_edges(p)) {
            // XML refers to the initial location by its id.
            let id = p.graphics.is_some().then(|| first_id(p)).flatten();
            let advice = match (&p.graphics, &id) {
                (None, _) => "`init …;`".to_owned(),
                (Some(_), Some(id)) => format!("`<init ref=\"{id}\"/>` after its locations"),
                (Some(_), None) => "`<init ref=\"…\"/>` after its locations".to_owned(),
            };
            let message = format!("`{}` has no initial location; add {advice}", p.name.name);
            let mut diag = Diag::new("system/initial", message, self.loc(p.name.span));
            if let (Some(first), Some(end)) = (parts.locations.first(), end_of_locations(p)) {
                let at = self.here(Span::new(end, end));
                let title = format!("Start in `{}`", first.symbol.name);
                let change = match (&p.graphics, id) {
                    (None, _) => Some(Change::Insert(
                        at,
                        format!("\n    init {};", first.symbol.name),
                    )),
                    (Some(_), Some(id)) if !id.contains(['"', '<', '&']) => {
                        Some(Change::Element(at, format!("\n<init ref=\"{id}\"/>")))
                    }
                    _ => None,
                };
                diag = match change {
                    Some(change) => diag.repair(title, vec![change]),
                    None => diag,
                };
            }
            self.report(diag);
        }
    }

    fn has_edges(&self, p: &ast::Process) -> bool {
        p.members
            .iter()
            .any(|m| matches!(m.node.kind, MemberKind::Edge(_)))
    }

    fn end(&mut self, ident: &ast::Ident) -> Option<End> {
        if ident.name.is_empty() {
            // An edge in XML without a target was reported when the file was read.
            return None;
        }
        let found = self.frames.last().and_then(|f| f.get(&ident.name)).cloned();
        match found.as_ref().map(|s| &s.kind) {
            Some(SymKind::Location(l)) => Some(End::Location(*l)),
            Some(SymKind::Branchpoint(b)) => Some(End::Branchpoint(*b)),
            _ => {
                let message = format!("there is no location `{}` in this template", ident.name);
                let loc = self.loc(ident.span);
                let locations = self.frames.last().into_iter().flatten();
                let locations = locations.filter(|(_, s)| matches!(s.kind, SymKind::Location(_)));
                let near = closest(&ident.name, locations.map(|(n, _)| n.as_str()));
                let near = near.map(SmolStr::new);
                let diag = Diag::new("name/unknown", message, loc);
                let mut diag = self.did_you_mean(diag, near, loc);
                if let (None, Some(at)) = (found, self.last_location) {
                    let text = format!(", {}", ident.name);
                    let title = format!("Add the location `{}`", ident.name);
                    diag = diag.repair(title, vec![Change::Insert(at, text)]);
                }
                self.report(diag);
                None
            }
        }
    }

    fn edge(&mut self, e: &ast::Edge, last: &mut Option<End>) -> Option<Edge> {
        let source = match &e.source {
            Some(ident) => {
                let end = self.end(ident);
                *last = end;
                end
            }
            None => *last,
        };
        let target = self.end(&e.target);
        self.push_scope();
        let selects = self.selects(&e.select);
        let guard = e.guard.as_ref().map(|g| self.guard(g));
        let sync = e.sync.as_ref().map(|s| self.sync(s));
        let updates = self.updates(&e.assign);
        self.late_selects(e, &selects, &guard, &sync, &updates);
        if let Some(p) = &e.probability {
            let p = self.expr(p);
            if !p.ty.is_number() {
                let message = format!("a weight is a number, this is {}", describe(&p.ty));
                self.error_at("type/mismatch", message, p.span);
            }
        }
        self.pop_scope();
        self.urgent_guard(&guard, &sync);
        Some(Edge {
            source: source?,
            target: target?,
            selects,
            select_spans: e
                .select
                .iter()
                .map(|(i, t)| self.span(i.span.cover(t.span)))
                .collect(),
            guard,
            sync,
            updates,
            span: self.span(e.span),
        })
    }

    /// Reports uses of selected names before their select: UPPAAL reads the labels of an XML edge
    /// in order, so such names are still unknown there.
    fn late_selects(
        &mut self,
        e: &ast::Edge,
        selects: &[Arc<Symbol>],
        guard: &Option<Expr>,
        sync: &Option<Sync>,
        updates: &[Expr],
    ) {
        let Some(graphics) = e.graphics.as_ref().filter(|_| !selects.is_empty()) else {
            return;
        };
        let kinds: Vec<&str> = graphics
            .children
            .iter()
            .filter(|c| c.tag == "label")
            .filter_map(|c| c.attributes.iter().find(|(k, _)| k == "kind"))
            .map(|(_, v)| v.as_str())
            .collect();
        let Some(at) = kinds.iter().position(|k| *k == "select") else {
            return;
        };
        let earlier = |kind: &str| kinds.iter().take(at).any(|k| *k == kind);
        let mut labels: Vec<&Expr> = Vec::new();
        labels.extend(guard.iter().filter(|_| earlier("guard")));
        labels.extend(
            sync.iter()
                .map(|s| &s.channel)
                .filter(|_| earlier("synchronisation")),
        );
        labels.extend(updates.iter().filter(|_| earlier("assignment")));
        let mut found = Vec::new();
        for label in labels {
            label.walk(&mut |e| {
                if let ExprKind::Var(s) = &e.kind
                    && selects.iter().any(|x| x.id == s.id)
                {
                    found.push((s.clone(), e.span));
                }
            });
        }
        if let Some((s, span)) = found.first() {
            let message = format!(
                "`{}` is selected by a label that comes after this one; labels are read in the order of the file, so move the select label to the front",
                s.name
            );
            let diag = Diag::new("name/unknown", message, self.here(*span))
                .related(s.loc, "it is selected here");
            self.report(diag);
        }
    }

    fn selects(&mut self, list: &[(ast::Ident, ast::TypeExpr)]) -> Vec<Arc<Symbol>> {
        let mut out = Vec::new();
        for (var, ty) in list {
            let ty = self.iterated_type(ty);
            let mut found = Default::default();
            self.parameters_of_type(&ty, &mut found);
            self.restricted.extend(found);
            let symbol = self.symbol(var, SymKind::Bound(ty));
            self.declare(symbol.clone());
            out.push(symbol);
        }
        out
    }

    fn sync(&mut self, s: &ast::Sync) -> Sync {
        let channel = self.expr(&s.channel);
        let plain = ChanType {
            urgent: false,
            broadcast: false,
        };
        self.offer_declaration(&s.channel, &Type::Chan(plain));
        if !matches!(channel.ty, Type::Chan(_) | Type::Error) {
            let message = match &channel.ty {
                Type::Array(_) => {
                    "this is an array of channels; choose one with an index".to_string()
                }
                t => format!("a channel is needed, this is {}", describe(t)),
            };
            self.error_at("type/sync", message, channel.span);
        }
        self.no_side_effect(&channel, "a synchronisation");
        if matches!(channel.kind, ExprKind::Cond(..)) {
            let message = "a channel chosen by a condition is recognised, but queries about this model are not answered; write one edge for each channel, with the condition in its guard";
            self.error_at("unsupported/channel-choice", message, channel.span);
        }
        if s.direction == Direction::Csp {
            let message = "a synchronisation needs a mark: write `!` to send or `?` to receive (without one it is not verified)";
            let end = self.loc(Span::new(s.span.end, s.span.end));
            let diag = Diag::new("unsupported/csp", message, self.loc(s.span))
                .fix("Send: add `!`", end, "!")
                .fix("Receive: add `?`", end, "?");
            self.report(diag);
        }
        Sync {
            channel,
            direction: s.direction,
            span: self.span(s.span),
        }
    }

    fn urgent_guard(&mut self, guard: &Option<Expr>, sync: &Option<Sync>) {
        let (Some(guard), Some(sync)) = (guard, sync) else {
            return;
        };
        let Type::Chan(c) = sync.channel.ty else {
            return;
        };
        if !matches!(
            guard.ty,
            Type::Cond(CondClass::Invariant | CondClass::Guard)
        ) {
            return;
        }
        if c.urgent {
            let diag = Diag::new(
                "lint/urgent-clock-guard",
                "an urgent synchronisation with a clock guard: time would have to stop at the first moment it is enabled, which need not exist",
                self.here(guard.span),
            );
            self.report(diag);
        } else if c.broadcast && sync.direction == Direction::Receive {
            let diag = Diag::new(
                "lint/broadcast-clock-guard",
                "a broadcast receiver with a clock guard: it takes part whenever the guard holds at the moment of sending. Every query is answered here, but UPPAAL's manual forbids such guards, and UPPAAL does not answer `deadlock` for this model",
                self.here(guard.span),
            );
            self.report(diag);
        }
    }
}

/// The id of the first location of an XML template.
fn first_id(p: &ast::Process) -> Option<SmolStr> {
    let first = p.members.iter().find_map(|m| match &m.node.kind {
        MemberKind::States(list) => list.first(),
        _ => None,
    })?;
    let attributes = &first.graphics.as_ref()?.attributes;
    let id = attributes.iter().find(|(name, _)| name == "id")?;
    Some(id.1.clone())
}

/// A valid name similar to the given text.
fn proper(written: &str) -> String {
    let letter = |c: char| match c.is_ascii_alphanumeric() {
        true => c,
        false => '_',
    };
    let words: Vec<&str> = written.split_whitespace().collect();
    let name: String = words.join("_").chars().map(letter).collect();
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{name}"),
        false => name,
    }
}

/// The end of the declarations of locations and their properties in a template.
fn end_of_locations(p: &ast::Process) -> Option<u32> {
    let about = p.members.iter().filter(|m| {
        matches!(
            m.node.kind,
            MemberKind::States(_)
                | MemberKind::Branchpoints(_)
                | MemberKind::Commit(_)
                | MemberKind::Urgent(_)
        )
    });
    about.map(|m| m.offset + m.node.span.end).next_back()
}
