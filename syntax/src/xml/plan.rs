//! Plans what to parse: a walk over the elements that decodes every text before any token is
//! created.

use super::dom::{Decoded, Element};
use crate::ast::{Graphics, GraphicsChild, Ident, Section, StoredResult};
use crate::error::SyntaxError;
use crate::span::Span;
use smol_str::SmolStr;

/// Index into [`Plan::texts`].
pub(crate) type TextId = usize;

/// The items of a file, in order, with their texts.
#[derive(Default)]
pub(crate) struct Plan {
    pub texts: Vec<Decoded>,
    pub items: Vec<PlanItem>,
    pub errors: Vec<SyntaxError>,
}

pub(crate) enum PlanItem {
    /// `<declaration>`, `<instantiation>`, `<system>`: split into items.
    Declarations(TextId, Section, Span),
    Template(Box<PlanTemplate>),
    /// A template whose text was parsed before.
    Known(Span),
    Query(Box<PlanQuery>),
    Lsc(Span),
}

/// `<template>`; spans are absolute until the item is built.
pub(crate) struct PlanTemplate {
    pub span: Span,
    pub name: Ident,
    pub parameter: Option<TextId>,
    pub members: Vec<PlanMember>,
    pub graphics: Graphics,
    pub errors: Vec<SyntaxError>,
}

pub(crate) enum PlanMember {
    Declarations(TextId),
    Location(Box<PlanLocation>),
    Branchpoint {
        span: Span,
        name: Ident,
        graphics: Graphics,
    },
    Init {
        span: Span,
        target: Ident,
    },
    Edge(Box<PlanEdge>),
}

pub(crate) struct PlanLocation {
    pub span: Span,
    pub name: Ident,
    pub anonymous: bool,
    pub invariant: Option<TextId>,
    pub rate: Option<TextId>,
    pub committed: bool,
    pub urgent: bool,
    pub graphics: Graphics,
}

pub(crate) struct PlanEdge {
    pub span: Span,
    pub source: Ident,
    pub target: Ident,
    pub controllable: bool,
    /// select, guard, synchronisation, assignment, probability
    pub labels: [Option<TextId>; 5],
    pub graphics: Graphics,
}

/// Kinds of labels of transitions, in the order of [`PlanEdge::labels`].
pub(crate) const EDGE_LABELS: [&str; 5] = [
    "select",
    "guard",
    "synchronisation",
    "assignment",
    "probability",
];

pub(crate) struct PlanQuery {
    pub span: Span,
    pub formula: Option<TextId>,
    pub comment: Option<SmolStr>,
    pub expectation: Option<(bool, Span)>,
    pub results: Vec<StoredResult>,
    pub graphics: Graphics,
}

/// Plans one element that corresponds to separate items: a child of `<nta>`, or a `<query>`.
pub(crate) fn plan_part(raw: &str, element: &Element) -> Plan {
    let mut plan = Plan::default();
    plan.part(raw, element);
    plan
}

/// Plans a file. Templates whose raw text is `known` are skipped.
pub(crate) fn plan(raw: &str, root: &Element, known: &dyn Fn(&str) -> bool) -> Plan {
    let mut plan = Plan::default();
    if root.tag != "nta" {
        let tag = Span::new(root.span.start, root.content.start);
        plan.error(
            format!("the root element is <{}>; a model has <nta>", root.tag),
            tag,
        );
        return plan;
    }
    for child in &root.children {
        match child.tag.as_str() {
            "template" if known(&raw[child.span.range()]) => {
                plan.items.push(PlanItem::Known(child.span))
            }
            "queries" => {
                for query in child.children.iter().filter(|c| c.tag == "query") {
                    plan.part(raw, query);
                }
            }
            "query" => plan.unknown("query", "<nta>", child),
            _ => plan.part(raw, child),
        }
    }
    if root.child("system").is_none() {
        let tag = Span::new(root.span.start, root.content.start);
        plan.error(
            "there is no <system> element, so there are no processes".to_owned(),
            tag,
        );
    }
    plan
}

impl Plan {
    fn part(&mut self, raw: &str, element: &Element) {
        match element.tag.as_str() {
            "declaration" => self.declarations(raw, element, Section::Global),
            "instantiation" | "system" => self.declarations(raw, element, Section::System),
            "template" => {
                let template = self.template(raw, element);
                self.items.push(PlanItem::Template(Box::new(template)));
            }
            "query" => {
                let query = self.query(raw, element);
                self.items.push(PlanItem::Query(Box::new(query)));
            }
            "lsc" => self.items.push(PlanItem::Lsc(element.span)),
            "imports" => {}
            tag => self.unknown(tag, "<nta>", element),
        }
    }

    fn error(&mut self, message: String, span: Span) {
        self.errors
            .push(SyntaxError::new("syntax/xml", message, span));
    }

    fn unknown(&mut self, tag: &str, parent: &str, element: &Element) {
        let span = Span::new(
            element.span.start,
            element.content.start.min(element.span.end),
        );
        self.error(format!("<{tag}> does not belong in {parent}"), span);
    }

    fn text(&mut self, raw: &str, element: &Element) -> TextId {
        self.texts.push(element.decode(raw));
        self.texts.len() - 1
    }

    fn declarations(&mut self, raw: &str, element: &Element, section: Section) {
        let text = self.text(raw, element);
        self.items
            .push(PlanItem::Declarations(text, section, element.span));
    }

    fn template(&mut self, raw: &str, element: &Element) -> PlanTemplate {
        let mut graphics = Graphics {
            attributes: element.attributes.clone(),
            children: Vec::new(),
        };
        let mut members = Vec::new();
        let mut name = None;
        let mut parameter = None;
        let names = location_names(raw, element);
        let before = self.errors.len();
        for child in &element.children {
            match child.tag.as_str() {
                "name" => {
                    let (text, span) = child.trimmed(raw);
                    name = Some(Ident { name: text, span });
                    graphics.children.push(drawn(child, None));
                }
                "parameter" => {
                    parameter = Some(self.text(raw, child));
                    graphics.children.push(drawn(child, None));
                }
                "declaration" => {
                    members.push(PlanMember::Declarations(self.text(raw, child)));
                }
                "location" => {
                    members.push(PlanMember::Location(Box::new(self.location(raw, child))))
                }
                "branchpoint" => members.push(PlanMember::Branchpoint {
                    span: child.span,
                    name: id_name(child),
                    graphics: Graphics {
                        attributes: child.attributes.clone(),
                        children: drawn_children(raw, child),
                    },
                }),
                "init" => {
                    let target = self.endpoint(child, &names);
                    members.push(PlanMember::Init {
                        span: child.span,
                        target,
                    });
                }
                "transition" | "edge" => {
                    let edge = self.edge(raw, child, &names);
                    members.extend(edge.map(|e| PlanMember::Edge(Box::new(e))));
                }
                tag => self.unknown(tag, "<template>", child),
            }
        }
        let tag = Span::new(
            element.span.start,
            element.content.start.min(element.span.end),
        );
        let name = name.unwrap_or_else(|| {
            self.error("this template has no <name>".to_owned(), tag);
            Ident {
                name: SmolStr::default(),
                span: tag,
            }
        });
        let errors = self.errors.split_off(before);
        PlanTemplate {
            span: element.span,
            name,
            parameter,
            members,
            graphics,
            errors,
        }
    }

    fn location(&mut self, raw: &str, element: &Element) -> PlanLocation {
        let mut out = PlanLocation {
            span: element.span,
            name: id_name(element),
            anonymous: true,
            invariant: None,
            rate: None,
            committed: false,
            urgent: false,
            graphics: Graphics {
                attributes: element.attributes.clone(),
                children: Vec::new(),
            },
        };
        for child in &element.children {
            match (
                child.tag.as_str(),
                child.attribute("kind").map(SmolStr::as_str),
            ) {
                ("name", _) => {
                    let (text, span) = child.trimmed(raw);
                    if !text.is_empty() {
                        out.name = Ident { name: text, span };
                        out.anonymous = false;
                    }
                    out.graphics.children.push(drawn(child, None));
                }
                ("label", Some("invariant")) => {
                    out.invariant = Some(self.text(raw, child));
                    out.graphics.children.push(drawn(child, None));
                }
                ("label", Some("exponentialrate")) => {
                    out.rate = Some(self.text(raw, child));
                    out.graphics.children.push(drawn(child, None));
                }
                ("label", _) => out.graphics.children.push(drawn(child, Some(raw))),
                ("committed", _) => out.committed = true,
                ("urgent", _) => out.urgent = true,
                (tag, _) => self.unknown(tag, "<location>", child),
            }
        }
        out
    }

    fn edge(
        &mut self,
        raw: &str,
        element: &Element,
        names: &[(SmolStr, SmolStr)],
    ) -> Option<PlanEdge> {
        let mut labels = [None; 5];
        let mut graphics = Graphics {
            attributes: element.attributes.clone(),
            children: Vec::new(),
        };
        for child in &element.children {
            match child.tag.as_str() {
                "source" | "target" => {}
                "label" => {
                    let kind = child.attribute("kind").map_or("", SmolStr::as_str);
                    match EDGE_LABELS.iter().position(|k| *k == kind) {
                        Some(i) => {
                            labels[i] = Some(self.text(raw, child));
                            graphics.children.push(drawn(child, None));
                        }
                        None => graphics.children.push(drawn(child, Some(raw))),
                    }
                }
                "nail" => graphics.children.push(drawn(child, None)),
                tag => self.unknown(tag, "<transition>", child),
            }
        }
        let tag = Span::new(
            element.span.start,
            element.content.start.min(element.span.end),
        );
        let (source, target) = (element.child("source"), element.child("target"));
        let (Some(source), Some(target)) = (source, target) else {
            let missing = if source.is_none() { "source" } else { "target" };
            self.error(format!("this transition has no <{missing}>"), tag);
            return None;
        };
        let source = self.endpoint(source, names);
        let target = self.endpoint(target, names);
        let controllable = element
            .attribute("controllable")
            .is_none_or(|v| v != "false");
        Some(PlanEdge {
            span: element.span,
            source,
            target,
            controllable,
            labels,
            graphics,
        })
    }

    /// The name of the location that `ref` refers to.
    fn endpoint(&mut self, element: &Element, names: &[(SmolStr, SmolStr)]) -> Ident {
        let span = element.span;
        let Some(reference) = element.attribute("ref") else {
            self.error(format!("<{}> has no `ref`", element.tag), span);
            return Ident {
                name: SmolStr::default(),
                span,
            };
        };
        match names.iter().find(|(id, _)| id == reference) {
            Some((_, name)) => Ident {
                name: name.clone(),
                span,
            },
            None => {
                self.error(
                    format!("no location of this template has the id `{reference}`"),
                    span,
                );
                // No name, because one error is enough.
                Ident {
                    name: SmolStr::default(),
                    span,
                }
            }
        }
    }

    fn query(&mut self, raw: &str, element: &Element) -> PlanQuery {
        let mut out = PlanQuery {
            span: element.span,
            formula: None,
            comment: None,
            expectation: None,
            results: Vec::new(),
            graphics: Graphics {
                attributes: element.attributes.clone(),
                children: Vec::new(),
            },
        };
        for child in &element.children {
            match child.tag.as_str() {
                "formula" => out.formula = Some(self.text(raw, child)),
                "comment" => out.comment = Some(child.decode(raw).text.into()),
                "result" => out.results.push(StoredResult {
                    satisfied: outcome(child),
                    attributes: child.attributes.clone(),
                    text: raw[child.content.range()].into(),
                }),
                tag => {
                    if tag == "expect" {
                        out.expectation = outcome(child).map(|satisfied| (satisfied, child.span));
                    }
                    // The inner XML, unchanged.
                    let text =
                        Some(raw[child.content.range()].into()).filter(|t: &SmolStr| !t.is_empty());
                    out.graphics.children.push(GraphicsChild {
                        tag: child.tag.clone(),
                        attributes: child.attributes.clone(),
                        text,
                    });
                }
            }
        }
        out
    }
}

fn outcome(element: &Element) -> Option<bool> {
    match element.attribute("outcome").map(SmolStr::as_str) {
        Some("success") => Some(true),
        Some("failure") => Some(false),
        _ => None,
    }
}

/// The ids of locations and branchpoints with the names used for them in edges.
fn location_names(raw: &str, template: &Element) -> Vec<(SmolStr, SmolStr)> {
    let drawn = template
        .children
        .iter()
        .filter(|c| c.tag == "location" || c.tag == "branchpoint");
    drawn
        .filter_map(|c| {
            let id = c.attribute("id")?.clone();
            let given = c
                .child("name")
                .map(|n| n.trimmed(raw).0)
                .filter(|n| !n.is_empty());
            Some((id, given.unwrap_or_else(|| id_name(c).name)))
        })
        .collect()
}

/// The name of an unnamed element: `_` and its id.
fn id_name(element: &Element) -> Ident {
    let id = element.attribute("id").map_or("", SmolStr::as_str);
    let span = Span::new(
        element.span.start,
        element.content.start.min(element.span.end),
    );
    Ident {
        name: format!("_{id}").into(),
        span,
    }
}

/// The data of a child to keep; with `raw`, including its text.
fn drawn(element: &Element, raw: Option<&str>) -> GraphicsChild {
    let text = raw.map(|raw| element.decode(raw).text.into());
    GraphicsChild {
        tag: element.tag.clone(),
        attributes: element.attributes.clone(),
        text,
    }
}

fn drawn_children(raw: &str, element: &Element) -> Vec<GraphicsChild> {
    element
        .children
        .iter()
        .map(|c| drawn(c, Some(raw)))
        .collect()
}
