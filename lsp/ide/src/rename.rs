//! Renaming across a model and its queries, refused where the new name would mean something else.

use crate::names::{Names, Target, by_id};
use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use std::sync::Arc;
use zonelens_analysis::ide::DefKind;
use zonelens_syntax::lexer::{self, Mode};
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_syntax::token::TokenKind;

/// What can be renamed at `offset`: its place and present name.
pub fn prepare(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
) -> Option<(Span, String)> {
    let names = Names::of(workspace, snapshot);
    let (occurrence, definition) = names.at(offset)?;
    // The made-up name of an unnamed location has no place in the text.
    let declared = names.home(definition)?;
    let written = declared.file().slice(definition.span) == definition.name
        && (by_id(snapshot, occurrence.span)
            || snapshot.file().slice(occurrence.span) == definition.name);
    written.then(|| (occurrence.span, definition.name.to_string()))
}

/// The places to write `new` at, or why not.
pub fn rename(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
    new: &str,
) -> Result<Vec<Target>, String> {
    check_name(new)?;
    let names = Names::of(workspace, snapshot);
    let (occurrence, definition) = names
        .at(offset)
        .ok_or_else(|| "there is no name here that can be renamed".to_owned())?;
    let def = occurrence.def;
    let mut out = Vec::new();
    for document in names.documents(workspace, def) {
        for found in document.index.uses(def) {
            if by_id(&document.snapshot, found.span) {
                if found.declares {
                    return Err(
                        "this location has no name yet: give it one in a `<name>` element"
                            .to_owned(),
                    );
                }
                continue;
            }
            if document.snapshot.file().slice(found.span) != definition.name {
                return Err(format!(
                    "`{}` is not written out everywhere",
                    definition.name
                ));
            }
            // A field only occurs after a dot, where no other name can.
            let visible = match definition.kind {
                DefKind::Field => Vec::new(),
                _ => document.index.visible(found.span.start),
            };
            let mut others = visible.into_iter().filter(|id| *id != def);
            if others.any(|id| document.index.definitions[id].name == new) {
                return Err(format!("`{new}` already stands for something else here"));
            }
            out.push(Target {
                snapshot: Arc::clone(&document.snapshot),
                span: found.span,
            });
        }
    }
    let all = names.index.definitions.iter().enumerate();
    let namesakes = all.filter(|(id, d)| *id != def && d.name == new);
    let mut clashes = namesakes.filter(|(_, d)| {
        let fields = [definition.kind, d.kind].contains(&DefKind::Field);
        d.container == definition.container || !fields && definition.scope.touches(d.span.start)
    });
    match clashes.next() {
        Some(_) => Err(format!(
            "`{new}` is already declared where `{}` is",
            definition.name
        )),
        None => Ok(out),
    }
}

/// The same new text at many places, document by document.
pub fn edits(targets: &[Target], new: &str) -> Vec<(Arc<Snapshot>, Vec<TextEdit>)> {
    let mut out: Vec<(Arc<Snapshot>, Vec<TextEdit>)> = Vec::new();
    for target in targets {
        let edit = TextEdit {
            span: target.span,
            text: new.to_owned(),
        };
        let own = out.iter_mut().find(|(s, _)| s.uri == target.snapshot.uri);
        match own {
            Some((_, edits)) => edits.push(edit),
            None => out.push((Arc::clone(&target.snapshot), vec![edit])),
        }
    }
    out
}

fn check_name(new: &str) -> Result<(), String> {
    let tokens = lexer::lex(new, Mode::Model);
    match tokens.as_slice() {
        [token]
            if token.kind == TokenKind::Ident
                && (token.end - token.start) as usize == new.len() =>
        {
            Ok(())
        }
        [token] if token.kind.is_keyword() => Err(format!("`{new}` is a keyword")),
        _ => Err(format!(
            "`{new}` is not a name: names are letters, digits and underscores, and do not start with a digit"
        )),
    }
}
