//! Queries of an `.xta` file as `<query>` elements.

use super::node::{Content, Node};
use super::xta_query::commented_expectation;
use crate::ast::Query;
use crate::parse_query;
use crate::xml::dom;

/// A query about to be written.
pub(crate) struct XmlQuery {
    /// The formula; `None` for a heading, whose fragment is complete.
    formula: Option<String>,
    expectation: Option<bool>,
    /// The data of its `//@ xml` line.
    pub fragment: Option<Node>,
}

impl XmlQuery {
    pub(super) fn new(query: &Query, formula: &str) -> XmlQuery {
        XmlQuery {
            formula: Some(formula.to_owned()),
            expectation: query.expectation.map(|e| e.satisfied),
            fragment: None,
        }
    }

    /// A query element without a formula to check.
    pub(super) fn heading(mut node: Node) -> XmlQuery {
        node.tag = "query".into();
        XmlQuery {
            formula: None,
            expectation: None,
            fragment: Some(node),
        }
    }

    /// Builds the element.
    pub(super) fn node(self) -> Node {
        let Some(formula) = self.formula else {
            return self.fragment.unwrap_or_default();
        };
        let mut node = self.fragment.unwrap_or_else(|| {
            let mut node = Node::new("query");
            node.push(Node::new("formula"));
            node.push(Node::new("comment"));
            node
        });
        let formula = put_formula(&mut node, formula, self.expectation);
        let said = commented_expectation(&formula);
        put_expectation(&mut node, self.expectation, said);
        node
    }
}

/// Writes the formula into the element and returns it. The fragment's own text is kept if it means
/// the same.
fn put_formula(node: &mut Node, formula: String, expected: Option<bool>) -> String {
    let decided = node.content.iter().any(is_expect);
    let place = node.content.iter_mut().find_map(|c| match c {
        Content::Node(child) if child.tag == "formula" => Some(child),
        _ => None,
    });
    match place {
        Some(place) => {
            let kept = place.text();
            // An expectation in the comments of the formula must not outlive the `//@ expect` line.
            let agrees =
                decided || commented_expectation(&kept).is_none_or(|e| Some(e) == expected);
            let same = parse_query(&kept).text == parse_query(&formula).text;
            if kept.is_empty() || !same || !agrees {
                place.set_text(formula.clone());
                formula
            } else {
                kept
            }
        }
        None => {
            let child = Node::with_text("formula", formula.clone());
            node.content.insert(0, Content::Node(child));
            formula
        }
    }
}

/// Makes `<expect>` agree with `//@ expect`; `commented` is the expectation in the formula itself.
fn put_expectation(node: &mut Node, expected: Option<bool>, commented: Option<bool>) {
    let found = node.content.iter().rposition(is_expect);
    let said = found.and_then(|i| match &node.content[i] {
        Content::Raw(raw) => outcome(raw),
        _ => None,
    });
    if said.or(commented) == expected {
        return;
    }
    // An outcome that is neither success nor failure is kept unless there is an expectation.
    let Some(satisfied) = expected else {
        if let (Some(at), true) = (found, said.is_some()) {
            node.content.remove(at);
        }
        return;
    };
    let outcome = if satisfied { "success" } else { "failure" };
    let expect = Node::new("expect")
        .with("outcome", outcome)
        .with("type", "quality");
    match found {
        Some(at) => node.content[at] = Content::Node(expect),
        None => {
            let result = |c: &Content| matches!(c, Content::Raw(raw) if raw.starts_with("<result"));
            let at = node.content.iter().position(result);
            let at = at.unwrap_or(node.content.len());
            node.content.insert(at, Content::Node(expect));
        }
    }
}

fn is_expect(content: &Content) -> bool {
    matches!(content, Content::Raw(raw) if raw.starts_with("<expect"))
}

fn outcome(raw: &str) -> Option<bool> {
    let root = dom::read(raw).root?;
    match root.attribute("outcome")?.as_str() {
        "success" => Some(true),
        "failure" => Some(false),
        _ => None,
    }
}
