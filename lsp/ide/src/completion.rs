//! What can be written here: names in scope, members after a dot, keywords in their place.

use crate::names::Names;
use zonelens_analysis::ide::{DefId, DefKind};
use zonelens_syntax::ast::{FileKind, Item, ItemKind, MemberKind, Placed};
use zonelens_syntax::source::members;

/// A proposal.
pub struct Proposal {
    /// What is shown.
    pub label: String,
    /// What it is; `None` for a keyword.
    pub kind: Option<DefKind>,
    /// The declaration as written.
    pub detail: String,
    /// What is written if it is more than the label, with `${1:…}` places to fill.
    pub snippet: Option<&'static str>,
}

const GLOBAL: [&str; 18] = [
    "bool",
    "broadcast chan",
    "chan",
    "clock",
    "const int",
    "int",
    "meta",
    "process",
    "scalar",
    "struct",
    "system",
    "typedef",
    "urgent chan",
    "void",
    "chan priority",
    "progress",
    "before_update",
    "after_update",
];
const TEMPLATE: [&str; 16] = [
    "assign",
    "bool",
    "branchpoint",
    "clock",
    "commit",
    "const int",
    "guard",
    "init",
    "int",
    "select",
    "state",
    "sync",
    "trans",
    "typedef",
    "urgent",
    "probability",
];
const FUNCTION: [&str; 9] = [
    "for", "while", "do", "if", "else", "return", "int", "bool", "assert",
];
const EXPRESSION: [&str; 9] = [
    "true", "false", "forall", "exists", "sum", "and", "or", "not", "imply",
];
const QUERY: [&str; 8] = [
    "A[]", "E<>", "A<>", "E[]", "-->", "deadlock", "sup:", "inf:",
];

const PROCESS_SNIPPET: &str = "process ${1:P}(${2}) {\n    state ${3:s0};\n    init ${3:s0};\n    trans ${3:s0} -> ${3:s0} { ${0} };\n}";
const EDGE_SNIPPET: &str = "${1:source} -> ${2:target} { guard ${3:true}; assign ${0}; }";

/// The types that a select label begins its ranges with.
const SELECT: [&str; 2] = ["int", "scalar"];
/// Declarations inside a template of XML: locations and edges are elements there.
const LOCAL: [&str; 6] = ["bool", "clock", "const int", "int", "meta", "typedef"];

/// Proposals at `offset`.
pub fn proposals(names: &Names, offset: u32) -> Vec<Proposal> {
    // Tags, names and comments of XML are no text of the language.
    if names.snapshot.text_span(offset).is_none() {
        return Vec::new();
    }
    let text = names.snapshot.masked();
    let mut at = (offset as usize).min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = text[..at].trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    if let Some(owner) = before.strip_suffix('.') {
        return owner_of(names, owner)
            .map(|def| names.index.members(def))
            .unwrap_or_default()
            .into_iter()
            .filter_map(|id| of_definition(names, id))
            .collect();
    }
    let mut out: Vec<Proposal> = names
        .index
        .visible(before.len() as u32)
        .into_iter()
        .filter_map(|id| of_definition(names, id))
        .collect();
    keywords(names, before.len() as u32, &mut out);
    out
}

fn of_definition(names: &Names, id: DefId) -> Option<Proposal> {
    let d = names.index.definition(id)?;
    let anonymous = d.name.is_empty() || d.name.starts_with('_') && d.kind == DefKind::Location;
    (!anonymous).then(|| Proposal {
        label: d.name.to_string(),
        kind: Some(d.kind),
        detail: d.detail.clone(),
        snippet: None,
    })
}

/// What the expression that ends with `text` stands for: its last name, brackets and arguments left
/// out. By name and not by place, because a text that ends in a dot is not in the tree.
fn owner_of(names: &Names, text: &str) -> Option<DefId> {
    let mut path = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_end();
        while let Some(open) = rest.chars().next_back().and_then(|c| match c {
            ')' => Some('('),
            ']' => Some('['),
            _ => None,
        }) {
            rest = before_bracket(rest, open)?.trim_end();
        }
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let start = rest.trim_end_matches(part).len();
        if start == rest.len() {
            return None;
        }
        path.push(&rest[start..]);
        rest = rest[..start].trim_end();
        match rest.strip_suffix('.') {
            Some(owner) => rest = owner,
            None => break,
        }
    }
    let first = path.pop()?;
    let visible = names.index.visible(rest.len() as u32);
    let mut def = visible
        .into_iter()
        .find(|id| names.index.definitions[*id].name == first)?;
    while let Some(name) = path.pop() {
        let members = names.index.members(def);
        def = members
            .into_iter()
            .find(|id| names.index.definitions[*id].name == name)?;
    }
    Some(def)
}

fn before_bracket(text: &str, open: char) -> Option<&str> {
    let close = if open == '(' { ')' } else { ']' };
    let mut depth = 0;
    for (i, c) in text.char_indices().rev() {
        if c == close {
            depth += 1;
        } else if c == open {
            depth -= 1;
            if depth == 0 {
                return Some(&text[..i]);
            }
        }
    }
    None
}

fn keywords(names: &Names, offset: u32, out: &mut Vec<Proposal>) {
    let keyword = |label: &str| Proposal {
        label: label.to_owned(),
        kind: None,
        detail: String::new(),
        snippet: None,
    };
    let snippet = |label: &str, snippet: &'static str| Proposal {
        snippet: Some(snippet),
        ..keyword(label)
    };
    out.extend(EXPRESSION.map(keyword));
    let file = names.snapshot.file();
    let line_start = file.text[..offset as usize]
        .rfind('\n')
        .map_or(0, |i| i + 1);
    let line = &file.text[line_start..offset as usize];
    let of_xml = names.snapshot.text_at(offset);
    let in_formula = of_xml.is_some_and(|tag| tag.name == "formula");
    let in_query = names.snapshot.kind == FileKind::Query || in_formula;
    if in_query || line.trim_start().starts_with("//@ query") {
        out.extend(QUERY.map(keyword));
        return;
    }
    let item = file.items.iter().find(|i| {
        let span = i.node.span.shift(i.offset);
        span.start < offset && offset < span.end
    });
    let in_function = |item: &Placed<Item>| {
        members(item).iter().any(|m| {
            let span = m.node.span.shift(item.offset + m.offset);
            matches!(m.node.kind, MemberKind::Function(_))
                && span.start < offset
                && offset < span.end
        })
    };
    if let Some(tag) = of_xml {
        match (tag.name.as_str(), item.map(|i| &i.node.kind)) {
            ("label", _) if tag.kind == "select" => out.extend(SELECT.map(keyword)),
            ("label", _) => {}
            ("parameter", _) => out.extend(LOCAL.map(keyword)),
            (_, Some(ItemKind::Function(_))) => out.extend(FUNCTION.map(keyword)),
            (_, Some(ItemKind::Process(_))) => match item.is_some_and(in_function) {
                true => out.extend(FUNCTION.map(keyword)),
                false => out.extend(LOCAL.map(keyword)),
            },
            _ => out.extend(
                GLOBAL
                    .iter()
                    .filter(|k| **k != "process")
                    .map(|k| keyword(k)),
            ),
        }
        return;
    }
    match item.map(|i| &i.node.kind) {
        Some(ItemKind::Process(_)) => {
            out.extend(TEMPLATE.map(keyword));
            out.push(snippet("edge", EDGE_SNIPPET));
        }
        Some(ItemKind::Function(_)) => out.extend(FUNCTION.map(keyword)),
        _ => {
            out.extend(GLOBAL.map(keyword));
            out.push(snippet("process …", PROCESS_SNIPPET));
        }
    }
}
