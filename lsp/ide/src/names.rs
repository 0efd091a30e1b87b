//! Definitions, references and highlights, across a model and its query file.

use crate::snapshot::Snapshot;
use crate::workspace::Workspace;
use std::sync::Arc;
use zonelens_analysis::ide::{DefId, DefKind, Definition, Index, Occurrence};
use zonelens_syntax::ast::{FileKind, ItemKind};
use zonelens_syntax::span::Span;

/// A place in some document.
pub struct Target {
    /// The document.
    pub snapshot: Arc<Snapshot>,
    /// The place.
    pub span: Span,
}

/// A document with its names.
pub struct Names {
    /// The document.
    pub snapshot: Arc<Snapshot>,
    /// Its names.
    pub index: Arc<Index>,
    /// The model that foreign definitions stand in.
    pub model: Option<Arc<Snapshot>>,
}

impl Names {
    /// The names of a document.
    pub fn of(workspace: &dyn Workspace, snapshot: &Arc<Snapshot>) -> Names {
        let model = workspace.model_of(snapshot);
        let index = match (snapshot.kind, &model) {
            (FileKind::Query, Some(model)) => {
                Arc::new(Index::of_queries(model.names(), snapshot.file()))
            }
            (FileKind::Query, None) => {
                Arc::new(Index::of_queries(&Index::default(), snapshot.file()))
            }
            _ => Arc::clone(snapshot.names()),
        };
        Names {
            snapshot: Arc::clone(snapshot),
            index,
            model,
        }
    }

    /// The use at `offset` with its definition.
    pub fn at(&self, offset: u32) -> Option<(&Occurrence, &Definition)> {
        let occurrence = self.index.at(offset)?;
        Some((occurrence, self.index.definition(occurrence.def)?))
    }

    /// The document a definition stands in.
    pub fn home(&self, definition: &Definition) -> Option<Arc<Snapshot>> {
        match definition.foreign {
            true => self.model.clone(),
            false => Some(Arc::clone(&self.snapshot)),
        }
    }

    /// All documents in which `def` may be used, with their names. A model's definition has the
    /// same number in the names of its query file.
    pub fn documents(&self, workspace: &dyn Workspace, def: DefId) -> Vec<Names> {
        let foreign = self.index.definition(def).is_some_and(|d| d.foreign);
        let local_to_queries = self.snapshot.kind == FileKind::Query && !foreign;
        let Some(model) = self.model.as_ref().filter(|_| !local_to_queries) else {
            return vec![Names {
                snapshot: Arc::clone(&self.snapshot),
                index: Arc::clone(&self.index),
                model: self.model.clone(),
            }];
        };
        let queries = match self.snapshot.kind {
            FileKind::Query => Some(Arc::clone(&self.snapshot)),
            _ => workspace.query_file_of(model),
        };
        std::iter::once(Arc::clone(model))
            .chain(queries)
            .map(|snapshot| Names::of(workspace, &snapshot))
            .collect()
    }
}

/// Whether a use refers to a location of XML by its id (`<source ref="id3"/>`), so that no name is
/// written there. Names never begin with `<`.
pub fn by_id(snapshot: &Snapshot, span: Span) -> bool {
    snapshot.kind == FileKind::Xml && snapshot.file().slice(span).starts_with('<')
}

/// Where the name at `offset` is declared.
pub fn definition(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
) -> Option<Target> {
    let names = Names::of(workspace, snapshot);
    let (_, definition) = names.at(offset)?;
    Some(Target {
        snapshot: names.home(definition)?,
        span: definition.span,
    })
}

/// Where the type of the name at `offset` is declared; for a process, its template.
pub fn type_definition(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
) -> Option<Target> {
    let names = Names::of(workspace, snapshot);
    let (_, definition) = names.at(offset)?;
    let of = names.index.definition(definition.of?)?;
    Some(Target {
        snapshot: names.home(of)?,
        span: of.span,
    })
}

/// All uses of the name at `offset`.
pub fn references(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
    with_declaration: bool,
) -> Vec<Target> {
    let names = Names::of(workspace, snapshot);
    let Some((occurrence, _)) = names.at(offset) else {
        return Vec::new();
    };
    let def = occurrence.def;
    let mut out = Vec::new();
    for document in names.documents(workspace, def) {
        for found in document.index.uses(def) {
            if with_declaration || !found.declares {
                out.push(Target {
                    snapshot: Arc::clone(&document.snapshot),
                    span: found.span,
                });
            }
        }
    }
    out
}

/// All uses in this document, with whether each writes.
pub fn highlights(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
) -> Vec<(Span, bool)> {
    let names = Names::of(workspace, snapshot);
    let Some((occurrence, _)) = names.at(offset) else {
        return Vec::new();
    };
    let uses = names.index.uses(occurrence.def);
    uses.map(|o| (o.span, o.writes || o.declares)).collect()
}

/// Where the template (or process) named at `offset` is made into processes: instantiations and the
/// system line.
pub fn implementations(
    workspace: &dyn Workspace,
    snapshot: &Arc<Snapshot>,
    offset: u32,
) -> Vec<Target> {
    let names = Names::of(workspace, snapshot);
    let Some((occurrence, definition)) = names.at(offset) else {
        return Vec::new();
    };
    if !matches!(definition.kind, DefKind::Template | DefKind::Process) {
        return Vec::new();
    }
    let Some(home) = names.home(definition) else {
        return Vec::new();
    };
    let index = home.names();
    let target = |span: Span| Target {
        snapshot: Arc::clone(&home),
        span,
    };
    let made = index.definitions.iter();
    let made = made.filter(|d| d.kind == DefKind::Process && d.of == Some(occurrence.def));
    let mut out: Vec<Target> = made.map(|d| target(d.span)).collect();
    let items = home.file().items.iter();
    let lines = items.filter(|i| matches!(i.node.kind, ItemKind::System(_)));
    let lines: Vec<Span> = lines.map(|i| i.node.span.shift(i.offset)).collect();
    let listed = index.uses(occurrence.def).filter(|o| {
        let inside = |line: &Span| line.start <= o.span.start && o.span.end <= line.end;
        !o.declares && lines.iter().any(inside)
    });
    out.extend(listed.map(|o| target(o.span)));
    out
}
