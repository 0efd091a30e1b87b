//! What a name stands for, in the words of its declaration and the comment above it.

use crate::names::Names;
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use std::sync::Arc;
use zonelens_analysis::ide::{DefKind, Definition};
use zonelens_syntax::span::Span;

/// Markdown about the name at `offset`, and the name's place.
pub fn hover(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
) -> Option<(Span, String)> {
    let names = Names::of(workspace, snapshot);
    let (occurrence, definition) = names.at(offset)?;
    let mut text = format!("```xta\n{}\n```\n", definition.detail);
    let container = definition
        .container
        .and_then(|id| names.index.definition(id))
        .filter(|d| !d.name.is_empty());
    match container {
        Some(container) => {
            let (kind, of) = (definition.kind.word(), container.kind.word());
            text.push_str(&format!("{kind} of {of} `{}`", container.name));
        }
        None => text.push_str(definition.kind.word()),
    }
    let home = names.home(definition);
    if let Some(model) = &names.model
        && let Some(fact) = fact(model, definition)
    {
        text.push_str(&format!("\n\n{fact}"));
    }
    if definition.kind == DefKind::Constant
        && let Some(value) = home
            .as_ref()
            .and_then(|home| home.model().constant(&definition.name, definition.span))
        && !definition.detail.ends_with(&format!("= {value}"))
    {
        text.push_str(&format!("\n\nvalue {value}"));
    }
    if let Some(comment) = home.and_then(|home| comment_above(&home, definition.full)) {
        text.push_str(&format!("\n\n{comment}"));
    }
    Some((occurrence.span, text))
}

/// What instantiation knows about a definition.
fn fact(model: &Snapshot, definition: &Definition) -> Option<String> {
    if matches!(definition.kind, DefKind::Template | DefKind::Process) && !model.is_quick() {
        let analysed = model.model();
        let families = analysed.outline().families.iter();
        let named = families.filter(|f| f.template == definition.name || f.name == definition.name);
        let count = named.fold(0, |n: u64, f| n.saturating_add(f.count));
        return (!analysed.blocks_verification()).then(|| processes(count));
    }
    let (network, _) = model.network_soon()?;
    match definition.kind {
        DefKind::Template | DefKind::Process => {
            let name = &definition.name;
            let families = network.families.iter();
            let named = families.filter(|f| f.template == *name || f.name == *name);
            Some(processes(named.map(|f| u64::from(f.len)).sum()))
        }
        DefKind::Type => {
            let set = network
                .scalarsets
                .iter()
                .find(|s| s.name == definition.name)?;
            let state = match set.broken.first() {
                Some(rule) => format!("not reduced over: breaks `{}`", rule.code),
                None => {
                    "states that differ only by exchanging elements are explored once".to_owned()
                }
            };
            Some(format!("scalarset of {} elements; {state}", set.size))
        }
        DefKind::Variable | DefKind::Parameter => {
            let variable = network
                .variables
                .iter()
                .find(|v| v.span == definition.span)?;
            let cell = network.cells.get(variable.first_cell)?;
            let (cells, _, _) = variable.shape.counts();
            (cells == 1 && cell.scalarset.is_none())
                .then(|| format!("{} … {}, initially {}", cell.lo, cell.hi, cell.init))
        }
        _ => None,
    }
}

fn processes(count: u64) -> String {
    match count {
        0 => "no process in the system".to_owned(),
        1 => "1 process in the system".to_owned(),
        n => format!("{n} processes in the system"),
    }
}

/// The lines of `//` comment right above a declaration, in the same text.
fn comment_above(home: &Snapshot, full: Span) -> Option<String> {
    let start = home.text_span(full.start)?.start;
    let before = home.masked().get(start as usize..full.start as usize)?;
    let mut end = before.rfind('\n')?;
    let mut lines = Vec::new();
    loop {
        let from = before[..end].rfind('\n').map_or(0, |i| i + 1);
        let line = Span::new(from as u32, end as u32).shift(start);
        let text = home.file().plain(line);
        match text.trim().strip_prefix("//") {
            Some(rest) if !rest.starts_with('@') => lines.push(rest.trim().to_owned()),
            _ => break,
        }
        if from == 0 {
            break;
        }
        end = from - 1;
    }
    lines.reverse();
    (!lines.is_empty()).then(|| lines.join("\n"))
}
