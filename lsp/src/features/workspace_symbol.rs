//! Declarations of the workspace by a part of their name: of open documents, and of models in its folders.

use super::names::{Names, Target};
use crate::store::{Constants, Store};
use crate::uri;
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
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

/// Models looked at in the folders of the workspace.
const MAX_FILES: usize = 200;
/// Folders looked into.
const MAX_FOLDERS: usize = 2000;
/// Larger models are only searched when open.
const MAX_BYTES: u64 = 1 << 20;

/// Declarations whose name holds the letters of `query` in their order, whatever their case. Reads files: not for the
/// thread that reads messages.
pub fn find(store: &Store, roots: &[PathBuf], query: &str) -> Vec<Found> {
    let mut out = Vec::new();
    let mut documents = store.all();
    let open: HashSet<String> = documents.iter().map(|d| d.uri.clone()).collect();
    let closed = models(roots)
        .into_iter()
        .filter(|path| uri::from_path(path).is_some_and(|uri| !open.contains(&uri)));
    documents.sort_by(|a, b| a.uri.cmp(&b.uri));
    documents.extend(closed.filter_map(|path| store.read(&path, &Constants::default())));
    for snapshot in documents {
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

/// Model files of the folders; hidden folders and those of builds are left out.
fn models(roots: &[PathBuf]) -> Vec<PathBuf> {
    let mut folders: VecDeque<PathBuf> = roots.iter().cloned().collect();
    let (mut out, mut seen) = (Vec::new(), 0);
    while let Some(folder) = folders.pop_front() {
        seen += 1;
        if seen > MAX_FOLDERS || out.len() >= MAX_FILES {
            break;
        }
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules"
            {
                folders.push_back(entry.path());
            }
            let model = [".xta", ".xml", ".ta"].iter().any(|e| name.ends_with(e));
            let small = || entry.metadata().is_ok_and(|m| m.len() <= MAX_BYTES);
            if kind.is_file() && model && small() {
                out.push(entry.path());
            }
        }
    }
    out.sort();
    out.truncate(MAX_FILES);
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
