//! The parts of a process, with the `//@ xml` lines and comments that belong to each.

use super::clauses::{edge_texts, has_tokens, inside, inside_braces, location_texts};
use super::collect::{
    NO_COMMENT, Note, bad_fragment, comment_inside, comments_of, is_taken, without_pragmas,
};
use super::node::{Node, read_fragment};
use crate::ast::{
    Edge, Ident, Item, ItemKind, Location, Member, MemberKind, Placed, PragmaKind, Process, Query,
};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;

/// A process about to be written.
#[derive(Default)]
pub(crate) struct Template {
    pub name: SmolStr,
    pub parameter: Option<String>,
    pub drawn: Drawn,
    pub declarations: Vec<(Node, String)>,
    pub locations: Vec<XmlLocation>,
    pub branchpoints: Vec<(Drawn, SmolStr)>,
    pub inits: Vec<(Drawn, SmolStr, Span)>,
    pub edges: Vec<XmlEdge>,
    /// Comments before the closing brace.
    pub end: Vec<Note>,
    /// `//@ query` lines inside the process, outside labels.
    pub queries: Vec<(Query, Span)>,
}

/// Data of an element that is not part of the model.
#[derive(Default)]
pub(crate) struct Drawn {
    pub notes: Vec<Note>,
    pub fragment: Option<Node>,
}

pub(crate) struct XmlLocation {
    pub drawn: Drawn,
    pub name: SmolStr,
    pub labels: Vec<(&'static str, String)>,
    pub committed: bool,
    pub urgent: bool,
}

pub(crate) struct XmlEdge {
    pub drawn: Drawn,
    pub source: SmolStr,
    pub target: SmolStr,
    pub controllable: bool,
    pub labels: Vec<(&'static str, String)>,
    pub span: Span,
}

pub(crate) fn collect_template(
    text: &str,
    item: &Placed<Item>,
    fragment: Option<Node>,
    notes: Vec<Note>,
) -> Result<Template, Vec<SyntaxError>> {
    let ItemKind::Process(process) = &item.node.kind else {
        return Ok(Template::default());
    };
    let params = process.params.as_ref().map(|p| p.span);
    let mut parts = Parts {
        text,
        base: item.offset,
        errors: Vec::new(),
        out: Template {
            name: process.name.name.clone(),
            drawn: Drawn { notes, fragment },
            ..Template::default()
        },
    };
    // Comments in the header and after the closing brace; those before the process are already
    // included.
    for comment in &item.node.comments {
        let inside =
            params.is_some_and(|p| p.start <= comment.span.start && comment.span.end <= p.end);
        let before = comment.span.start < item.node.span.start;
        if inside || before {
            continue;
        }
        let found = item.node.pragmas.iter().find(|p| p.span == comment.span);
        let span = comment.span.shift(item.offset);
        match found.map(|p| &p.kind).filter(|k| is_taken(k)) {
            None => {
                let note = Note::Xta(comment.text.to_string());
                parts.out.drawn.notes.push(note);
            }
            Some(PragmaKind::Query(query)) => parts.out.queries.push(((**query).clone(), span)),
            Some(PragmaKind::Xml(line)) => {
                parts.expected(line, span, &[]);
            }
            Some(_) => {}
        }
    }
    let exact = parts.out.drawn.fragment.is_some();
    let slice = params.map_or("", |params| parts.slice(params, 0));
    let parameter = slice
        .get(1..slice.len().saturating_sub(1))
        .unwrap_or("")
        .to_owned();
    let parameter = match parameter.strip_suffix('\n') {
        Some(text) if exact => text.to_owned(),
        _ => parameter,
    };
    parts.out.parameter = Some(parameter).filter(|p| !p.trim().is_empty());
    parts.members(process);
    if parts.errors.is_empty() {
        Ok(parts.out)
    } else {
        Err(parts.errors)
    }
}

struct Parts<'a> {
    text: &'a str,
    base: u32,
    errors: Vec<SyntaxError>,
    out: Template,
}

impl<'a> Parts<'a> {
    fn slice(&self, span: Span, offset: u32) -> &'a str {
        self.text
            .get(span.shift(self.base + offset).range())
            .unwrap_or("")
    }

    fn members(&mut self, process: &Process) {
        let of_model = |m: &Placed<Member>| {
            matches!(
                m.node.kind,
                MemberKind::States(_)
                    | MemberKind::Branchpoints(_)
                    | MemberKind::Commit(_)
                    | MemberKind::Urgent(_)
                    | MemberKind::Init(_)
                    | MemberKind::Edge(_)
            )
        };
        let first = process.members.iter().position(of_model);
        self.declarations(process, first);
        let mut carried: Vec<Note> = Vec::new();
        let mut source = SmolStr::default();
        for (i, member) in process.members.iter().enumerate() {
            if first.is_none_or(|f| i < f) {
                continue;
            }
            // Comments before the first of these members belong to the text of the declarations.
            let from = if Some(i) == first {
                member.node.span.start
            } else {
                0
            };
            match &member.node.kind {
                MemberKind::States(list) => self.states(member, list, from, &mut carried),
                MemberKind::Branchpoints(list) => {
                    let mut at = from;
                    for point in list {
                        let range = Span::new(at, point.span.start);
                        let drawn = self.drawn(member, range, &["branchpoint"], &mut carried);
                        self.out.branchpoints.push((drawn, point.name.name.clone()));
                        at = point.span.end;
                    }
                    self.rest(member, at, &mut carried);
                }
                MemberKind::Commit(names) => {
                    self.flag(names, "committed", |l| l.committed = true);
                    self.rest(member, from, &mut carried);
                }
                MemberKind::Urgent(names) => {
                    self.flag(names, "urgent", |l| l.urgent = true);
                    self.rest(member, from, &mut carried);
                }
                MemberKind::Init(name) => {
                    let range = Span::new(from, member.len);
                    let drawn = self.drawn(member, range, &["init"], &mut carried);
                    let span = name.span.shift(self.base + member.offset);
                    self.out.inits.push((drawn, name.name.clone(), span));
                }
                MemberKind::Edge(edge) => {
                    self.edge(member, edge, from, &mut source, &mut carried);
                }
                MemberKind::Empty => self.rest(member, 0, &mut carried),
                _ => self.late_declaration(member),
            }
        }
        self.out.end = carried;
    }

    /// The text from the opening brace to the first part of the automaton, cut at markers.
    fn declarations(&mut self, process: &Process, first: Option<usize>) {
        let Some(start) = process.members.first().map(|m| m.offset) else {
            return;
        };
        let stop = match first.and_then(|f| process.members.get(f)) {
            Some(m) => m.offset + m.node.span.start,
            None => process.members.last().map_or(start, |m| m.offset + m.len),
        };
        let mut pragmas: Vec<(Span, &PragmaKind)> = Vec::new();
        let taken = first.map_or(process.members.len(), |f| f + 1);
        for member in process.members.iter().take(taken) {
            let found = member.node.pragmas.iter().filter(|p| is_taken(&p.kind));
            pragmas.extend(found.map(|p| (p.span.shift(self.base + member.offset), &p.kind)));
        }
        let end = self.base + stop;
        pragmas.retain(|(span, _)| span.end <= end);
        let mut markers: Vec<(u32, Node)> = Vec::new();
        for (span, kind) in &pragmas {
            let line = match kind {
                PragmaKind::Xml(line) => line,
                PragmaKind::Query(query) => {
                    self.out.queries.push(((**query).clone(), *span));
                    continue;
                }
                _ => continue,
            };
            if line.starts_with("<!--") {
                let note = self.xml_note(line, *span);
                self.out.drawn.notes.extend(note);
            } else if let Some(node) = self.expected(line, *span, &["declaration"]) {
                let before = &self.text[..span.start as usize];
                let line = before.trim_end_matches([' ', '\t']).len();
                markers.push((line as u32, node));
            }
        }
        let mut at = self.base + start;
        let mut open: Option<Node> = None;
        for (next, node) in markers {
            self.declaration(open.replace(node), Span::new(at, next), &pragmas);
            at = next;
        }
        self.declaration(open, Span::new(at, end), &pragmas);
    }

    fn declaration(&mut self, marker: Option<Node>, range: Span, pragmas: &[(Span, &PragmaKind)]) {
        let text = without_pragmas(self.text, range, pragmas);
        match marker {
            Some(node) => {
                let text = text.trim_end_matches([' ', '\t']);
                let text = text.strip_suffix('\n').unwrap_or(text);
                self.out.declarations.push((node, text.to_owned()));
            }
            None => {
                let text = tidy(&text);
                if !text.is_empty() {
                    let node = Node::new("declaration");
                    self.out.declarations.push((node, text.to_owned()));
                }
            }
        }
    }

    /// A declaration after the automaton, which only Zonelens accepts.
    fn late_declaration(&mut self, member: &Placed<Member>) {
        let pragmas: Vec<(Span, &PragmaKind)> = member
            .node
            .pragmas
            .iter()
            .map(|p| (p.span.shift(self.base + member.offset), &p.kind))
            .collect();
        for (span, kind) in &pragmas {
            match kind {
                PragmaKind::Query(query) => self.out.queries.push(((**query).clone(), *span)),
                PragmaKind::Xml(line) => {
                    self.expected(line, *span, &[]);
                }
                _ => {}
            }
        }
        let text = without_pragmas(self.text, member.span().shift(self.base), &pragmas);
        match self.out.declarations.last_mut() {
            Some((_, all)) => {
                all.push('\n');
                all.push_str(tidy(&text));
            }
            None => {
                let node = Node::new("declaration");
                self.out.declarations.push((node, tidy(&text).to_owned()));
            }
        }
    }

    /// Marks the locations that a `commit` or `urgent` list names. If several have the same name,
    /// their fragments decide.
    fn flag(&mut self, names: &[Ident], tag: &str, set: impl Fn(&mut XmlLocation)) {
        for name in names {
            let named = |l: &&mut XmlLocation| l.name == name.name;
            let mut found: Vec<_> = self.out.locations.iter_mut().filter(named).collect();
            let said = |l: &&mut XmlLocation| {
                let fragment = l.drawn.fragment.as_ref();
                fragment.is_some_and(|f| f.child(tag).is_some())
            };
            if !found.iter().any(said) {
                found.truncate(1);
                found.into_iter().for_each(&set);
            }
        }
    }

    fn read(&mut self, line: &str, span: Span) -> Option<Node> {
        match read_fragment(line, false) {
            Ok(node) => Some(node),
            Err(message) => {
                self.errors.push(bad_fragment(&message, span));
                None
            }
        }
    }

    fn xml_note(&mut self, line: &str, span: Span) -> Option<Note> {
        let inside = comment_inside(line);
        if inside.is_none() {
            self.errors.push(bad_fragment(NO_COMMENT, span));
        }
        inside.map(Note::Xml)
    }

    /// Reads a fragment that must have one of these tags; any other would be lost.
    fn expected(&mut self, line: &str, span: Span, tags: &[&str]) -> Option<Node> {
        let node = self.read(line, span)?;
        if tags.contains(&node.tag.as_str()) {
            return Some(node);
        }
        let message = match tags {
            [] => format!("it must precede what a <{}> describes", node.tag),
            [tag, ..] => format!("expected <{tag}>, found <{}>", node.tag),
        };
        self.errors.push(bad_fragment(&message, span));
        None
    }

    /// The fragment and the comments in `range` of a member.
    fn drawn(
        &mut self,
        member: &Placed<Member>,
        range: Span,
        tags: &[&str],
        carried: &mut Vec<Note>,
    ) -> Drawn {
        let mut out = Drawn {
            notes: std::mem::take(carried),
            fragment: None,
        };
        let base = self.base + member.offset;
        for comment in &member.node.comments {
            if comment.span.start < range.start || comment.span.end > range.end {
                continue;
            }
            let pragma = member
                .node
                .pragmas
                .iter()
                .find(|p| p.span == comment.span && is_taken(&p.kind));
            match pragma.map(|p| &p.kind) {
                None => out.notes.push(Note::Xta(comment.text.to_string())),
                Some(PragmaKind::Xml(line)) if line.starts_with("<!--") => {
                    let note = self.xml_note(line, comment.span.shift(base));
                    out.notes.extend(note);
                }
                Some(PragmaKind::Xml(line)) => {
                    out.fragment = self.expected(line, comment.span.shift(base), tags);
                }
                Some(PragmaKind::Query(query)) => {
                    let span = comment.span.shift(base);
                    self.out.queries.push(((**query).clone(), span));
                }
                Some(_) => {}
            }
        }
        out
    }

    /// Carries the comments from `from` on over to the next element.
    fn rest(&mut self, member: &Placed<Member>, from: u32, carried: &mut Vec<Note>) {
        *carried = self
            .drawn(member, Span::new(from, member.len), &[], carried)
            .notes;
    }

    fn states(
        &mut self,
        member: &Placed<Member>,
        list: &[Location],
        from: u32,
        carried: &mut Vec<Note>,
    ) {
        let mut at = from;
        for location in list {
            let range = Span::new(at, location.span.start);
            let drawn = self.drawn(member, range, &["location"], carried);
            let exact = drawn.fragment.is_some();
            let after = Span::new(location.name.span.end, location.span.end);
            let text = self.slice(after, member.offset);
            let mut labels = Vec::new();
            if let Some((invariant, rate)) = location_texts(text) {
                // A comment between the name and the brace.
                let open = after.start + invariant.start as u32;
                self.rest_until(member, Span::new(after.start, open), carried);
                let invariant = match rate {
                    Some(_) => inside(&text[invariant], exact),
                    None => inside_braces(&text[invariant], exact),
                };
                let rate = rate.map_or("", |r| inside_braces(&text[r], exact));
                labels.push(("invariant", invariant.to_owned()));
                labels.push(("exponentialrate", rate.to_owned()));
                keep_labels(&mut labels, carried);
            }
            self.out.locations.push(XmlLocation {
                drawn,
                name: location.name.name.clone(),
                labels,
                committed: location.committed,
                urgent: location.urgent,
            });
            at = location.span.end;
        }
        self.rest(member, at, carried);
    }

    fn rest_until(&mut self, member: &Placed<Member>, range: Span, carried: &mut Vec<Note>) {
        *carried = self.drawn(member, range, &[], carried).notes;
    }

    fn edge(
        &mut self,
        member: &Placed<Member>,
        edge: &Edge,
        from: u32,
        source: &mut SmolStr,
        carried: &mut Vec<Note>,
    ) {
        if let Some(name) = &edge.source {
            *source = name.name.clone();
        }
        let after = Span::new(edge.target.span.end, edge.span.end);
        let text = self.slice(after, member.offset);
        let clauses = edge_texts(text);
        // Comments outside the labels, anywhere in the edge.
        let mut drawn = Drawn::default();
        let mut at = from;
        let ends = clauses
            .iter()
            .map(|(_, r)| (after.start + r.start as u32, after.start + r.end as u32))
            .chain([(member.len, member.len)]);
        for (stop, next) in ends {
            let range = Span::new(at, stop);
            let part = self.drawn(member, range, &["transition", "edge"], carried);
            drawn.notes.extend(part.notes);
            drawn.fragment = drawn.fragment.or(part.fragment);
            at = next;
        }
        let exact = drawn.fragment.is_some();
        let mut labels: Vec<_> = clauses
            .into_iter()
            .map(|(kind, range)| (kind, inside(&text[range], exact).to_owned()))
            .collect();
        keep_labels(&mut labels, &mut drawn.notes);
        self.out.edges.push(XmlEdge {
            drawn,
            source: source.clone(),
            target: edge.target.name.clone(),
            controllable: edge.controllable,
            labels,
            span: edge.span.shift(self.base + member.offset),
        });
    }
}

/// Drops labels without tokens; their comments become notes.
fn keep_labels(labels: &mut Vec<(&'static str, String)>, notes: &mut Vec<Note>) {
    labels.retain(|(_, text)| {
        let kept = has_tokens(text);
        if !kept {
            notes.extend(comments_of(text).into_iter().map(Note::Xta));
        }
        kept
    });
}

/// The text without blank lines at its start and without white space at its end.
pub(crate) fn tidy(text: &str) -> &str {
    let text = text.trim_end();
    let first = text.len() - text.trim_start().len();
    match text[..first].rfind('\n') {
        Some(line) => &text[line + 1..],
        None => &text[first..],
    }
}
