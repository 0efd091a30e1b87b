//! `<queries>` as `//@ query` lines.

use super::node::{Node, one_line};
use crate::build::expectation_comment;
use crate::lexer::{Mode, lex};
use crate::parse_query;
use crate::span::Span;
use crate::xml::dom::Element;
use smol_str::SmolStr;

/// Writes the parts of `<queries>` that are not queries: its attributes, options and comments.
pub(crate) fn write_queries(out: &mut String, raw: &str, queries: &Element) {
    let mut node = Node::shell(raw, queries);
    for child in queries.children.iter().filter(|c| c.tag != "query") {
        node.content.push(super::node::Content::Raw(
            raw[child.span.range()].to_owned(),
        ));
    }
    line(out, "xml", &one_line(&node.compact()));
    for query in queries.children.iter().filter(|c| c.tag == "query") {
        write_query(out, raw, query);
    }
}

fn line(out: &mut String, word: &str, rest: &str) {
    out.push_str("//@ ");
    out.push_str(word);
    out.push(' ');
    out.push_str(rest);
    out.push('\n');
}

fn write_query(out: &mut String, raw: &str, query: &Element) {
    let formula = query.child("formula").map(|f| f.decode(raw).text);
    let text = formula.as_deref().unwrap_or("");
    let folded = parse_query(text).text;
    let heading = folded.is_empty();
    // The text is written unchanged if it fits on one line; else it is folded, and the fragment
    // holds the original.
    let clean = !heading && text.trim() == text && !text.contains(['\n', '\r']);
    if !heading {
        line(out, "query", if clean { text } else { &folded });
        if let Some(satisfied) = expectation(query, text) {
            let word = if satisfied { "satisfied" } else { "violated" };
            line(out, "expect", word);
        }
    }
    if clean && is_plain(raw, query) {
        return;
    }
    let mut node = Node::shell(raw, query);
    if heading {
        node.tag = "heading".into();
    }
    for child in &query.children {
        let content = match child.tag.as_str() {
            "formula" if clean => super::node::Content::Node(Node::shell(raw, child)),
            "formula" => super::node::Content::Node(Node::copy(raw, child)),
            _ => super::node::Content::Raw(raw[child.span.range()].to_owned()),
        };
        node.content.push(content);
    }
    line(out, "xml", &one_line(&node.compact()));
}

/// Whether the element is exactly what the writer produces from the formula.
fn is_plain(raw: &str, query: &Element) -> bool {
    let bare = |e: &Element| e.attributes.is_empty() && e.notes.is_empty();
    let tags: Vec<&str> = query.children.iter().map(|c| c.tag.as_str()).collect();
    bare(query)
        && tags == ["formula", "comment"]
        && query.children.iter().all(bare)
        && query
            .child("comment")
            .is_some_and(|c| raw[c.content.range()].is_empty())
}

fn expectation(query: &Element, formula: &str) -> Option<bool> {
    let expect = query.children.iter().rfind(|c| c.tag == "expect");
    match expect.and_then(|e| e.attribute("outcome").map(SmolStr::as_str)) {
        Some("success") => Some(true),
        Some("failure") => Some(false),
        _ => commented_expectation(formula),
    }
}

/// The expectation in a comment like `/* EXPECT:T */` inside a formula.
pub(crate) fn commented_expectation(formula: &str) -> Option<bool> {
    let comments = lex(formula, Mode::Query);
    let mut comments = comments.iter().filter(|t| t.kind.is_comment());
    comments.find_map(|t| {
        let text = &formula[t.start as usize..t.end as usize];
        expectation_comment(text, Span::START).map(|e| e.satisfied)
    })
}
