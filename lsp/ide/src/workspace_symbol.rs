//! Declarations of the workspace by a part of their name.

use crate::names::Target;
use crate::snapshot::Snapshot;
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

/// Declarations of `documents` whose name holds the letters of `query` in their order, whatever
/// their case.
pub fn find(documents: impl IntoIterator<Item = Arc<Snapshot>>, query: &str) -> Vec<Found> {
    let mut out = Vec::new();
    for snapshot in documents {
        if snapshot.kind == FileKind::Query {
            continue;
        }
        let index = snapshot.names();
        for definition in &index.definitions {
            let hidden = matches!(definition.kind, DefKind::Bound | DefKind::Parameter);
            if definition.name.is_empty() || hidden || !fits(&definition.name, query) {
                continue;
            }
            let container = definition
                .container
                .and_then(|id| index.definition(id))
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
