//! The models of a workspace: open documents, and files in its folders.

use crate::store::{Constants, Store};
use crate::uri;
use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::Arc;
use zonelens_ide::Snapshot;

/// Models looked at in the folders of the workspace.
const MAX_FILES: usize = 200;
/// Folders looked into.
const MAX_FOLDERS: usize = 2000;
/// Larger models are only searched when open.
const MAX_BYTES: u64 = 1 << 20;

/// Open documents, then models in the folders, each read when it is asked for: not for the thread
/// that reads messages.
pub(crate) fn documents(store: &Store, roots: &[PathBuf]) -> impl Iterator<Item = Arc<Snapshot>> {
    let mut open = store.all();
    open.sort_by(|a, b| a.uri.cmp(&b.uri));
    let known: HashSet<String> = open.iter().map(|d| d.uri.clone()).collect();
    let closed = models(roots)
        .into_iter()
        .filter(move |path| uri::from_path(path).is_some_and(|uri| !known.contains(&uri)));
    let read = |path: PathBuf| store.read(&path, &Constants::default());
    open.into_iter().chain(closed.filter_map(read))
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
