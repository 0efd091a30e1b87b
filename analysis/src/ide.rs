//! Name resolution for editors: definitions, references, members, and the names in scope at a
//! position.
//!
//! It works on the syntax tree alone, so it also answers in files with errors. Names are resolved
//! by the scopes of the language; the checks decide whether a use is legal.

mod build;
mod walk;

use smol_str::SmolStr;
use std::collections::BTreeMap;
use zonelens_syntax::SourceFile;
use zonelens_syntax::span::Span;

/// Index into [`Index::definitions`].
pub type DefId = usize;

/// The kind of a declared name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum DefKind {
    Constant,
    Variable,
    Clock,
    Channel,
    Type,
    Field,
    Function,
    Template,
    Process,
    Parameter,
    /// A select, quantifier or loop variable.
    Bound,
    Location,
    Branchpoint,
}

impl DefKind {
    /// The name of the kind, for messages.
    pub fn word(self) -> &'static str {
        match self {
            DefKind::Constant => "constant",
            DefKind::Variable => "variable",
            DefKind::Clock => "clock",
            DefKind::Channel => "channel",
            DefKind::Type => "type",
            DefKind::Field => "field",
            DefKind::Function => "function",
            DefKind::Template => "template",
            DefKind::Process => "process",
            DefKind::Parameter => "parameter",
            DefKind::Bound => "bound variable",
            DefKind::Location => "location",
            DefKind::Branchpoint => "branchpoint",
        }
    }
}

/// A declared name.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name.
    pub name: SmolStr,
    /// Its kind.
    pub kind: DefKind,
    /// The span of the name.
    pub span: Span,
    /// The span of the whole declaration.
    pub full: Span,
    /// The span in which the name can be used.
    pub scope: Span,
    /// The template, function or type that contains it.
    pub container: Option<DefId>,
    /// The declaration as written, joined to one line.
    pub detail: String,
    /// The definition of its type or, for a process, of its template.
    pub of: Option<DefId>,
    /// The fields of a struct, or the members of a template that queries can name.
    pub members: BTreeMap<SmolStr, DefId>,
    /// Whether it is declared in another file: the model of a query file.
    pub foreign: bool,
}

/// A use of a name. The declaration itself counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// The span of the name.
    pub span: Span,
    /// The definition it refers to.
    pub def: DefId,
    /// Whether it is the declaration.
    pub declares: bool,
    /// Whether the use assigns to it.
    pub writes: bool,
}

/// A use of a name that is not declared.
#[derive(Clone, Debug, PartialEq)]
pub struct Unresolved {
    /// The name as written.
    pub name: SmolStr,
    /// The span of the name.
    pub span: Span,
}

/// All names of a file and their uses.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Declared names.
    pub definitions: Vec<Definition>,
    /// Uses in this file, in text order.
    pub occurrences: Vec<Occurrence>,
    /// Uses of names that are not declared.
    pub unresolved: Vec<Unresolved>,
}

impl Index {
    /// Indexes a model and the queries inside it.
    pub fn of_model(file: &SourceFile) -> Index {
        build::model(file)
    }

    /// Indexes a query file for the model `model`.
    pub fn of_queries(model: &Index, file: &SourceFile) -> Index {
        build::queries(model, file)
    }

    /// The use at `offset`.
    pub fn at(&self, offset: u32) -> Option<&Occurrence> {
        let after = self.occurrences.partition_point(|o| o.span.start <= offset);
        self.occurrences[..after]
            .iter()
            .rev()
            .take(2)
            .find(|o| o.span.touches(offset))
    }

    /// A definition by its id.
    pub fn definition(&self, id: DefId) -> Option<&Definition> {
        self.definitions.get(id)
    }

    /// All uses of `def` in this file.
    pub fn uses(&self, def: DefId) -> impl Iterator<Item = &Occurrence> {
        self.occurrences.iter().filter(move |o| o.def == def)
    }

    /// Names that can be used at `offset`. Inner ones come first and hide outer ones.
    pub fn visible(&self, offset: u32) -> Vec<DefId> {
        let mut found: Vec<DefId> = (0..self.definitions.len())
            .filter(|&id| {
                let d = &self.definitions[id];
                d.kind != DefKind::Field
                    && (d.foreign && d.container.is_none() || !d.foreign && d.scope.touches(offset))
            })
            .collect();
        found.sort_by_key(|&id| self.definitions[id].scope.len());
        let mut seen = std::collections::BTreeSet::new();
        found.retain(|&id| seen.insert(self.definitions[id].name.clone()));
        found
    }

    /// The members that can follow a dot after `def`: fields, or members of a process.
    pub fn members(&self, def: DefId) -> Vec<DefId> {
        let mut at = Some(def);
        // Type definitions may refer to each other in a cycle.
        for _ in 0..16 {
            let Some(d) = at.and_then(|id| self.definitions.get(id)) else {
                break;
            };
            if !d.members.is_empty() {
                return d.members.values().copied().collect();
            }
            at = d.of;
        }
        Vec::new()
    }

    fn member(&self, def: DefId, name: &str) -> Option<DefId> {
        let mut at = Some(def);
        for _ in 0..16 {
            let d = self.definitions.get(at?)?;
            if let Some(id) = d.members.get(name) {
                return Some(*id);
            }
            at = d.of;
        }
        None
    }
}

#[cfg(test)]
mod tests;
