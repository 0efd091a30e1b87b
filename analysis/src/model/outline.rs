//! The outline of the system for editors, computed from types alone, without instantiation.
//!
//! Instantiation creates every process of every family, which is too slow for a hover. The number
//! of processes of a family and the length of an array follow from the types of parameters and
//! dimensions.

use super::Model;
use crate::check::Body;
use crate::consteval::Evaluator;
use crate::symbol::{Loc, SymKind, Symbol};
use crate::types::{ScalarSet, Type};
use rustc_hash::{FxHashMap, FxHashSet};
use smol_str::SmolStr;
use std::sync::Arc;
use zonelens_syntax::span::Span;

/// The system of a model that has no errors.
#[derive(Debug, Default)]
pub struct Outline {
    /// The families on the system line, in order.
    pub families: Vec<FamilyOutline>,
    /// The lengths of the dimensions of array variables, by the span of their names. A length that
    /// depends on parameters of a template is `None`.
    pub lengths: FxHashMap<Span, Vec<Option<u32>>>,
}

/// A family on the system line.
#[derive(Debug)]
pub struct FamilyOutline {
    /// The name on the system line.
    pub name: SmolStr,
    /// The template it comes from.
    pub template: SmolStr,
    /// The span of the template's name.
    pub span: Span,
    /// The number of its processes.
    pub count: u64,
    /// The sets over which its processes are interchangeable.
    pub sets: Vec<SmolStr>,
}

impl Outline {
    /// The total number of processes.
    pub fn processes(&self) -> u64 {
        let counts = self.families.iter().map(|f| f.count);
        counts.fold(0, u64::saturating_add)
    }
}

impl Model {
    /// The outline of the system. It is empty while the model has errors.
    pub fn outline(&self) -> &Outline {
        self.outline
            .get_or_init(|| match self.blocks_verification() {
                true => Outline::default(),
                false => Outline {
                    families: self.family_outlines(),
                    lengths: self.lengths(),
                },
            })
    }

    fn place(&self, loc: Loc) -> Span {
        let offset = self.offsets.get(&loc.item).copied();
        loc.span.shift(offset.unwrap_or(0))
    }

    fn family_outlines(&self) -> Vec<FamilyOutline> {
        let broken: FxHashSet<u32> = self.findings.broken.iter().map(|b| b.0).collect();
        let detected = self.findings.facts.symbols();
        let systems = self.items.iter().filter_map(|(_, c)| match &c.body {
            Body::System(levels) => Some(levels),
            _ => None,
        });
        let mut out = Vec::new();
        for (symbol, _) in systems.flatten().flatten() {
            let Some(template) = self.env.template_of(symbol) else {
                continue;
            };
            let params = self.parameters(symbol);
            let count = params.iter().map(|p| self.length(p.value_type()));
            let count = count.fold(1, |n: u64, len| {
                n.saturating_mul(u64::from(len.unwrap_or(0)))
            });
            let set = |p: &Arc<Symbol>| -> Option<Arc<ScalarSet>> {
                let declared = p.value_type().and_then(Type::any_set).cloned();
                declared.or_else(|| detected.get(&p.id).cloned())
            };
            let sets = params.iter().filter_map(set);
            let sound = sets.filter(|s| !broken.contains(&s.id) && !s.parameter);
            let mut sets: Vec<SmolStr> = sound.map(|s| s.name.clone()).collect();
            sets.sort();
            sets.dedup();
            out.push(FamilyOutline {
                name: symbol.name.clone(),
                template: template.symbol.name.clone(),
                span: self.place(template.loc),
                count,
                sets,
            });
        }
        out
    }

    fn parameters(&self, symbol: &Symbol) -> &[Arc<Symbol>] {
        let env = &self.env;
        let found = match &symbol.kind {
            SymKind::Template(sig) => env.templates.get(&sig.body).map(|t| &t.params),
            SymKind::Instance(sig) => env.instances.get(&sig.body).map(|i| &i.params),
            _ => None,
        };
        found.map_or(&[], Vec::as_slice)
    }

    /// The number of values of an index type.
    fn length(&self, ty: Option<&Type>) -> Option<u32> {
        let mut evaluator = Evaluator::new(&self.env.bodies, &|_| None);
        let (_, len) = evaluator.index_range(ty?).ok()?;
        u32::try_from(len.max(0)).ok()
    }

    fn lengths(&self) -> FxHashMap<Span, Vec<Option<u32>>> {
        let mut out = FxHashMap::default();
        for (_, checked) in &self.items {
            let locals = match &checked.body {
                Body::Template(t) => t.decls.as_slice(),
                _ => &[],
            };
            for d in checked.decls.iter().chain(locals) {
                let Some(mut ty @ Type::Array(_)) = d.symbol.value_type() else {
                    continue;
                };
                let mut lengths = Vec::new();
                while let Type::Array(a) = ty {
                    lengths.push(self.length(Some(&a.index)));
                    ty = &a.element;
                }
                out.insert(self.place(d.symbol.loc), lengths);
            }
        }
        out
    }
}
