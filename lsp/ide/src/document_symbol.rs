//! The outline of a document.

use crate::names::Names;
use std::collections::HashMap;
use zonelens_analysis::ide::{DefKind, Definition};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::Span;

/// An entry of the outline.
pub struct Symbol<'a> {
    /// Its name.
    pub name: &'a str,
    /// The declaration as written, or the formula.
    pub detail: &'a str,
    /// What it is; `None` for a query.
    pub kind: Option<DefKind>,
    /// All of it.
    pub full: Span,
    /// Its name's place.
    pub name_span: Span,
    /// What it holds.
    pub children: Vec<Symbol<'a>>,
}

/// The outline: declarations with templates' members inside, then queries.
pub fn symbols(names: &Names) -> Vec<Symbol<'_>> {
    let definitions = &names.index.definitions;
    let shown = |d: &&Definition| {
        !d.foreign && !d.name.is_empty() && !matches!(d.kind, DefKind::Bound | DefKind::Field)
    };
    let mut members: HashMap<usize, Vec<Symbol<'_>>> = HashMap::new();
    for definition in definitions.iter().filter(shown) {
        if let Some(id) = definition.container {
            members.entry(id).or_default().push(convert(definition));
        }
    }
    let mut out = Vec::new();
    for (id, definition) in definitions.iter().enumerate() {
        if definition.container.is_some() || !shown(&definition) {
            continue;
        }
        let mut symbol = convert(definition);
        if definition.kind == DefKind::Template {
            symbol.children = members.remove(&id).unwrap_or_default();
        }
        out.push(symbol);
    }
    for q in names.snapshot.queries() {
        let span = q.query.span.shift(q.base);
        if span.is_empty() {
            continue;
        }
        out.push(Symbol {
            name: &q.query.text,
            detail: "query",
            kind: None,
            full: span,
            name_span: span,
            children: Vec::new(),
        });
    }
    // Queries inside `.xta` stand where they stand.
    if names.snapshot.kind != FileKind::Query {
        out.sort_by_key(|s| s.full.start);
    }
    out
}

fn convert(definition: &Definition) -> Symbol<'_> {
    Symbol {
        name: &definition.name,
        detail: &definition.detail,
        kind: Some(definition.kind),
        full: definition.full.cover(definition.span),
        name_span: definition.span,
        children: Vec::new(),
    }
}
