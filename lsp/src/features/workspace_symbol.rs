//! Declarations of all open documents by a part of their name.

use super::names::{Names, Target};
use crate::store::Store;
use std::sync::Arc;
use zonelens_analysis::ide::DefKind;
use zonelens_syntax::ast::FileKind;

/// A declaration found.
pub struct Found {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: DefKind,
    /// The template or function it stands in.
    pub container: Option<String>,
    /// Where.
    pub target: Target,
}

/// Answers longer than this help nobody.
const MAX_FOUND: usize = 500;

/// Declarations whose name holds the letters of `query` in their order, whatever their case.
pub fn find(store: &Store, query: &str) -> Vec<Found> {
    let mut out = Vec::new();
    for snapshot in store.all() {
        if snapshot.kind == FileKind::Query {
            continue;
        }
        let names = Names::of(store, &snapshot);
        for definition in &names.index.definitions {
            let hidden = matches!(definition.kind, DefKind::Bound | DefKind::Parameter);
            if definition.name.is_empty() || hidden || !fits(&definition.name, query) {
                continue;
            }
            let container = definition
                .container
                .and_then(|id| names.index.definition(id))
                .map(|d| d.name.to_string());
            out.push(Found {
                name: definition.name.to_string(),
                kind: definition.kind,
                container: container.filter(|name| !name.is_empty()),
                target: Target {
                    snapshot: Arc::clone(&snapshot),
                    span: definition.span,
                },
            });
            if out.len() == MAX_FOUND {
                return out;
            }
        }
    }
    out
}

fn fits(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query
        .chars()
        .flat_map(char::to_lowercase)
        .all(|wanted| letters.any(|letter| letter == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_in_order_are_enough() {
        assert!(fits("TrainGate", "tg") && fits("TrainGate", "") && fits("x", "X"));
        assert!(!fits("TrainGate", "gi"));
    }
}
