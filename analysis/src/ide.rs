//! Names and where they are used, for editors: definitions, references, members, what is in scope where.
//!
//! Works on the tree alone, so that it answers in files with errors too. It finds by the language's scopes what a name
//! refers to; whether the use is legal is the business of the checks.

mod build;
mod walk;

use smol_str::SmolStr;
use std::collections::BTreeMap;
use zonelens_syntax::SourceFile;
use zonelens_syntax::span::Span;

/// Index into [`Index::definitions`].
pub type DefId = usize;

/// What a name stands for.
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
    /// In a word, for people.
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
    /// What it is.
    pub kind: DefKind,
    /// The name's place.
    pub span: Span,
    /// The whole declaration's place.
    pub full: Span,
    /// Where the name can be used.
    pub scope: Span,
    /// The template, function or type it belongs to.
    pub container: Option<DefId>,
    /// The declaration as written, on one line.
    pub detail: String,
    /// The type, or for a process its template.
    pub of: Option<DefId>,
    /// Fields of a struct, or what of a template can be named in queries.
    pub members: BTreeMap<SmolStr, DefId>,
    /// Declared in another file: the model of a query file.
    pub foreign: bool,
}

/// A use of a name; the declaration counts as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence {
    /// Where.
    pub span: Span,
    /// Of what.
    pub def: DefId,
    /// Whether it is the declaration.
    pub declares: bool,
    /// Whether it is assigned to.
    pub writes: bool,
}

/// A use of a name that stands for nothing known.
#[derive(Clone, Debug, PartialEq)]
pub struct Unresolved {
    /// The name.
    pub name: SmolStr,
    /// Where.
    pub span: Span,
}

/// All names of a file.
#[derive(Clone, Debug, Default)]
pub struct Index {
    /// Declared names.
    pub definitions: Vec<Definition>,
    /// Uses in this file, in order of the text.
    pub occurrences: Vec<Occurrence>,
    /// Names that stand for nothing known.
    pub unresolved: Vec<Unresolved>,
}

impl Index {
    /// The names of a model with the queries inside it.
    pub fn of_model(file: &SourceFile) -> Index {
        build::model(file)
    }

    /// The names of a query file, whose model is `model`.
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

    /// Names that can be used at `offset`, inner ones first and hiding outer ones.
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

    /// What can follow a dot after `def`: fields, or members of a process.
    pub fn members(&self, def: DefId) -> Vec<DefId> {
        let mut at = Some(def);
        // Types may name each other in a circle.
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
