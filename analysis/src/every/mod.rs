//! Families of models: the text of a model with the size of one scalarset left open.
//!
//! [`Family::new`] finds what the size is in the text, a constant or a number, and checks that the
//! text uses the set only in ways that a proof for every size can follow ([`fragment`]). What it
//! refuses has a code `every/…` and a page; these diagnostics are reported only where such a proof
//! is asked for. `checker::every` has the proof, and `docs/every-size.md` the theorem.

mod fragment;
mod layout;
mod names;
mod query;
mod size;
mod visit;

pub use fragment::{committed_receivers, has_clocks, receivers};
pub use layout::Layout;
pub use names::{Footprint, of_condition, of_edge};
pub use query::Asked;

use crate::diagnostic::Diagnostic;
use crate::model::Model;
use crate::network::{ChannelRef, Network, Position, Query, ScalarsetId};
use size::Source;
use smol_str::SmolStr;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::{SourceFile, parse_query};
use zonelens_syntax::span::{LineIndex, Span};

/// The deepest nesting of quantifiers over the set in the model: an evaluation that fails for some
/// elements must fail in a view, and the smallest views have two.
pub(crate) const MOST_NESTED: u32 = 2;

/// The largest number in a text for which the elements of a set of integers are compared with all
/// numbers of the text.
const MOST_NUMBER: i64 = 400;

/// Why no proof for every size is possible: a diagnostic of the code `every/…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: &'static str,
    /// What is used, and why it is not followed.
    pub message: String,
    /// Where.
    pub span: Span,
}

impl Refusal {
    pub(crate) fn new(code: &'static str, message: String, span: Span) -> Refusal {
        Refusal {
            code,
            message,
            span,
        }
    }

    /// The refusal as a diagnostic of the model file.
    pub fn diagnostic(&self) -> Diagnostic {
        Diagnostic::new(self.code, self.message.clone(), self.span)
    }
}

/// A model with an open size.
pub struct Family {
    file: SourceFile,
    constants: BTreeMap<String, i64>,
    set: SmolStr,
    /// The index of the set among those of the network; the same for every size above 1.
    id: ScalarsetId,
    source: Source,
    /// The size of the set in the text.
    written: u32,
    /// The smallest size of the networks that are used for proofs.
    smallest: u32,
    /// Whether what is refused is used all the same.
    trusting: bool,
}

/// The model of one size.
pub struct Instance {
    /// The model.
    pub model: Model,
    /// Its network.
    pub network: Network,
    lines: LineIndex,
    text: std::sync::Arc<str>,
}

impl Instance {
    /// Line and column of a place in the text of this size.
    pub fn position(&self, span: Span) -> Position {
        let offset = span.start.min(self.text.len() as u32);
        let at = self.lines.line_col(&self.text, offset);
        Position {
            line: at.line,
            column: at.column,
        }
    }

    /// Resolves a formula.
    pub fn query(&self, formula: &str) -> Result<Query, String> {
        let parsed = parse_query(formula);
        let resolved = self.model.resolve_query(&self.network, &parsed, 0);
        resolved.map_err(|d| d.first().map_or_else(String::new, |d| d.message.clone()))
    }
}

impl Family {
    /// The family of a model over a set, or everything that stands in the way.
    pub fn new(
        file: &SourceFile,
        constants: &BTreeMap<String, i64>,
        set: &str,
    ) -> Result<Family, Vec<Refusal>> {
        Family::read(file, constants, set, false)
    }

    /// The family of a model that uses the set in ways that are not followed. Tests use it to see
    /// that proofs would then be wrong.
    #[doc(hidden)]
    pub fn trusting(
        file: &SourceFile,
        constants: &BTreeMap<String, i64>,
        set: &str,
    ) -> Result<Family, Vec<Refusal>> {
        Family::read(file, constants, set, true)
    }

    fn read(
        file: &SourceFile,
        constants: &BTreeMap<String, i64>,
        set: &str,
        trusting: bool,
    ) -> Result<Family, Vec<Refusal>> {
        let one = |r: Refusal| vec![r];
        let nowhere = Span::default();
        let model = Model::new(file, constants);
        let network = model.network().map_err(|d| {
            let first = d.first();
            let message = first.map_or_else(String::new, |d| d.message.clone());
            one(Refusal::new(
                "every/set",
                message,
                first.map_or(nowhere, |d| d.span),
            ))
        })?;
        let mut found = network
            .scalarsets
            .enumerated()
            .filter(|(_, s)| s.name == set);
        let Some((id, scalarset)) = found.next() else {
            return Err(one(unknown(&network, set)));
        };
        if found.next().is_some() {
            let message =
                format!("there are several sets `{set}`: each process of its template has its own");
            return Err(one(Refusal::new("every/set", message, scalarset.span)));
        }
        let source = size::find(file, scalarset).map_err(one)?;
        let mut family = Family {
            file: file.clone(),
            constants: constants.clone(),
            set: scalarset.name.clone(),
            id,
            written: scalarset.size,
            source,
            smallest: 2,
            trusting,
        };
        size::uses(&family.file, &family.source, scalarset).map_err(one)?;
        let numbers = size::numbers(&family.file, &family.source);
        let most = numbers.iter().next_back().copied().unwrap_or(0);
        if family.source.integers {
            if most > MOST_NUMBER {
                let message = format!(
                    "the elements of `{set}` are integers, and {most} could be one of them; declare the set with `scalar[N]`"
                );
                return Err(one(Refusal::new("every/size", message, scalarset.span)));
            }
            // No number of the text may be an element in a larger family.
            family.sound(most as u32 + 2)?;
        }
        let near = |n: i64| numbers.contains(&n);
        while family.source.integers
            && (-1..=1).any(|d| near(i64::from(family.smallest) + d) && family.smallest < 2000)
        {
            family.smallest += 1;
        }
        family.instance_for(2)?;
        Ok(family)
    }

    /// The name of the set.
    pub fn set(&self) -> &str {
        &self.set
    }

    /// The constant or number that is the size, for users.
    pub fn size_text(&self) -> String {
        self.source.to_string()
    }

    /// The size in the text.
    pub fn written(&self) -> u32 {
        self.written
    }

    /// The model with `n` elements.
    pub fn at(&self, n: u32) -> Result<Instance, Refusal> {
        let (text, constants) = self.source.with(&self.file, &self.constants, n);
        let file = match text {
            Some(text) => SourceFile::parse(text, self.file.kind),
            None => self.file.clone(),
        };
        let model = Model::new(&file, &constants);
        let network = model.network().map_err(|d| {
            let first = d.first().map_or_else(String::new, |d| d.message.clone());
            let message = format!(
                "with {n} elements of `{}`, the text is not a model: {first}",
                self.set
            );
            Refusal::new("every/size", message, self.source.span)
        })?;
        Ok(Instance {
            model,
            network,
            lines: LineIndex::new(&file.text),
            text: file.text.clone(),
        })
    }

    /// The notation of the file.
    pub fn kind(&self) -> FileKind {
        self.file.kind
    }

    /// The model with at least `n` elements, in a size that cannot be confused with a number of the
    /// text, with the set and the layout; every restriction is checked.
    pub fn instance_for(&self, n: u32) -> Result<(Instance, Layout), Vec<Refusal>> {
        let size = self.size_for(n);
        let instance = self.sound(size)?;
        let place = |r: Refusal| self.placed(r, size);
        let layout = Layout::new(&instance.network, self.id).map_err(|r| vec![place(r)])?;
        let mut refusals = fragment::refusals(&instance.network, &layout);
        if self.source.integers {
            refusals.extend(size::integers(&instance.network, &layout));
        }
        match refusals.is_empty() || self.trusting {
            true => Ok((instance, layout)),
            false => Err(refusals.into_iter().map(place).collect()),
        }
    }

    /// The place of a refusal in the text as written: where the size is a number, texts of other
    /// sizes may be longer.
    fn placed(&self, mut refusal: Refusal, n: u32) -> Refusal {
        let from = self.source.span;
        if self.source.constant.is_none() && refusal.span.start > from.start {
            let back = (n.to_string().len() as u32).saturating_sub(from.len());
            let span = refusal.span;
            let start = span.start.saturating_sub(back);
            refusal.span = Span::new(start, span.end.saturating_sub(back).max(start));
        }
        refusal
    }

    fn size_for(&self, n: u32) -> u32 {
        let mut size = n.max(self.smallest);
        if self.source.integers {
            let numbers = size::numbers(&self.file, &self.source);
            let near = |n: u32| (-1..=1).any(|d| numbers.contains(&(i64::from(n) + d)));
            while near(size) && size < 4000 {
                size += 1;
            }
        }
        size
    }

    /// The model of a size if the set is symmetric in it, as a whole.
    fn sound(&self, n: u32) -> Result<Instance, Vec<Refusal>> {
        let instance = self.at(n.max(2)).map_err(|r| vec![r])?;
        let name = &self.set;
        let Some(set) = instance
            .network
            .scalarsets
            .get(self.id)
            .filter(|s| s.name == self.set)
        else {
            let message =
                format!("with {n} elements, `{name}` is not a set of interchangeable elements");
            return Err(vec![Refusal::new("every/set", message, self.source.span)]);
        };
        if set.size != n.max(2) {
            let message = format!(
                "`{}` is not the number of elements of `{name}`",
                self.source
            );
            return Err(vec![Refusal::new("every/size", message, self.source.span)]);
        }
        let broken = set.broken.iter().map(|b| {
            let message = format!(
                "elements of `{name}` are not interchangeable here ({})",
                b.code
            );
            self.placed(Refusal::new("every/set", message, b.span), n.max(2))
        });
        let mut refusals: Vec<Refusal> = broken.collect();
        if set.blocks.len() != 1 && refusals.is_empty() {
            let message = format!("some elements of `{name}` are singled out");
            refusals.push(Refusal::new("every/set", message, set.span));
        }
        match refusals.is_empty() {
            true => Ok(instance),
            false => Err(refusals),
        }
    }

    /// What a formula asks, or why it cannot be proved for every size.
    pub fn ask(&self, formula: &str) -> Result<Asked, Refusal> {
        let refuse = |message: String| Refusal::new("every/query", message, Span::default());
        if let Some(name) = self
            .source
            .constant
            .as_ref()
            .filter(|n| size::mentions(formula, n))
        {
            return Err(refuse(format!(
                "the query depends on `{name}`, the size of `{}`",
                self.set
            )));
        }
        let (instance, layout) = self.instance_for(2).map_err(|mut r| r.remove(0))?;
        let query = instance.query(formula).map_err(refuse)?;
        Asked::new(&instance.network, &layout, &query).map_err(|mut refusal| {
            refusal.span = Span::default();
            refusal
        })
    }
}

fn unknown(network: &Network, set: &str) -> Refusal {
    let names: Vec<String> = network
        .scalarsets
        .iter()
        .map(|s| format!("`{}`", s.name))
        .collect();
    let known = match names.is_empty() {
        true => "the model has none".to_owned(),
        false => format!("it has {}", names.join(", ")),
    };
    let message =
        format!("`{set}` is not a set of interchangeable elements of this model; {known}");
    Refusal::new("every/set", message, Span::default())
}

/// The channels that a reference may denote.
pub fn channels(channel: &ChannelRef) -> RangeInclusive<u32> {
    let steps = channel.steps.iter();
    let most: u32 = steps
        .map(|s| s.stride * s.range.len.saturating_sub(1))
        .sum();
    channel.base.0..=channel.base.0 + most
}
