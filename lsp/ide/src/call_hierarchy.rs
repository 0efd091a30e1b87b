//! Who calls which function: functions call functions, and so do the labels of templates.

use crate::names::{Names, Target};
use std::collections::BTreeMap;
use std::sync::Arc;
use zonelens_analysis::ide::{DefId, DefKind, Definition, Occurrence};
use zonelens_syntax::span::Span;

/// A function, or a template whose labels call functions.
pub struct Caller {
    /// Its name.
    pub name: String,
    /// Its declaration.
    pub detail: String,
    /// What it is.
    pub kind: DefKind,
    /// All of it.
    pub full: Span,
    /// Its name's place.
    pub target: Target,
}

/// Another end of calls, with the places of the calls.
pub struct Call {
    /// The other end.
    pub other: Caller,
    /// Where the calls are, in the caller.
    pub places: Vec<Span>,
}

/// The function or template named at `offset`.
pub fn prepare(names: &Names, offset: u32) -> Option<Caller> {
    let (occurrence, _) = names.at(offset)?;
    caller(names, occurrence.def)
}

/// Who calls the function named at `offset`.
pub fn incoming(names: &Names, offset: u32) -> Vec<Call> {
    let Some((occurrence, _)) = names.at(offset) else {
        return Vec::new();
    };
    let uses = names.index.uses(occurrence.def).filter(|o| !o.declares);
    grouped(
        names,
        uses.filter_map(|o| Some((around(names, o.span)?, o.span))),
    )
}

/// What the function or template named at `offset` calls.
pub fn outgoing(names: &Names, offset: u32) -> Vec<Call> {
    let Some((occurrence, definition)) = names.at(offset) else {
        return Vec::new();
    };
    let inside = |o: &&Occurrence| {
        let called = names.index.definition(o.def);
        let is_call = called.is_some_and(|d| d.kind == DefKind::Function);
        // A template's local functions make their own calls.
        is_call && !o.declares && around(names, o.span) == Some(occurrence.def)
    };
    if definition.foreign {
        return Vec::new();
    }
    let calls = names.index.occurrences.iter().filter(inside);
    grouped(names, calls.map(|o| (o.def, o.span)))
}

fn grouped(names: &Names, calls: impl Iterator<Item = (DefId, Span)>) -> Vec<Call> {
    let mut by_end: BTreeMap<DefId, Vec<Span>> = BTreeMap::new();
    for (end, place) in calls {
        by_end.entry(end).or_default().push(place);
    }
    let call = |(end, places): (DefId, Vec<Span>)| {
        Some(Call {
            other: caller(names, end)?,
            places,
        })
    };
    by_end.into_iter().filter_map(call).collect()
}

/// The innermost function or template around a place.
fn around(names: &Names, place: Span) -> Option<DefId> {
    let definitions = names.index.definitions.iter().enumerate();
    definitions
        .filter(|(_, d)| is_end(d) && !d.foreign)
        .filter(|(_, d)| d.full.start <= place.start && place.end <= d.full.end)
        .min_by_key(|(_, d)| d.full.len())
        .map(|(id, _)| id)
}

fn is_end(definition: &Definition) -> bool {
    matches!(definition.kind, DefKind::Function | DefKind::Template)
}

fn caller(names: &Names, id: DefId) -> Option<Caller> {
    let definition = names.index.definition(id).filter(|d| is_end(d))?;
    Some(Caller {
        name: definition.name.to_string(),
        detail: definition.detail.clone(),
        kind: definition.kind,
        full: definition.full.cover(definition.span),
        target: Target {
            snapshot: Arc::clone(&names.home(definition)?),
            span: definition.span,
        },
    })
}
