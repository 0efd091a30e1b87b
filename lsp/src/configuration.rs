//! Which settings count for which document, and telling the user once what is wrong with them.

use crate::uri;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use zonelens_project::project::{self, Project};
use zonelens_project::settings::Settings;

/// Clients that do not watch files are seen to this often.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Settings by directory.
#[derive(Default)]
pub(crate) struct Configuration {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    editor: Value,
    roots: Vec<PathBuf>,
    /// Whether the client vouches for the files of the workspace.
    trusted: bool,
    known: HashMap<PathBuf, (Instant, Option<PathBuf>, Arc<Settings>)>,
    told: HashSet<String>,
    problems: Vec<String>,
}

impl Configuration {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// New settings of the editor.
    pub(crate) fn set_editor(&self, value: Value) {
        let mut inner = self.lock();
        inner.editor = value;
        inner.known.clear();
    }

    /// The folders of the workspace.
    pub(crate) fn set_roots(&self, roots: Vec<PathBuf>) {
        let mut inner = self.lock();
        inner.roots = roots;
        inner.known.clear();
    }

    /// Whether the client vouches for the files of the workspace.
    pub(crate) fn set_trusted(&self, trusted: bool) {
        let mut inner = self.lock();
        inner.trusted = trusted;
        inner.known.clear();
    }

    /// Folders were added or removed.
    pub(crate) fn change_roots(&self, added: Vec<PathBuf>, removed: &[PathBuf]) {
        let mut inner = self.lock();
        inner.roots.retain(|root| !removed.contains(root));
        inner.roots.extend(added);
        inner.known.clear();
    }

    /// The folders of the workspace.
    pub(crate) fn roots(&self) -> Vec<PathBuf> {
        self.lock().roots.clone()
    }

    /// Files may have changed: look again.
    pub(crate) fn forget(&self) {
        self.lock().known.clear();
    }

    /// The settings for a document; those of the first folder for what has no path.
    pub(crate) fn for_document(&self, document: &str) -> Arc<Settings> {
        let mut inner = self.lock();
        let directory = uri::to_path(document)
            .and_then(|path| path.parent().map(Path::to_owned))
            .or_else(|| inner.roots.first().cloned())
            .unwrap_or_default();
        if let Some((at, _, settings)) = inner.known.get(&directory)
            && at.elapsed() < LOOK_AGAIN
        {
            return Arc::clone(settings);
        }
        let project = if directory.as_os_str().is_empty() {
            Project::default()
        } else {
            let around = inner.roots.iter().filter(|r| directory.starts_with(r));
            let top = around.min_by_key(|r| r.as_os_str().len());
            project::find(&directory, top.map(PathBuf::as_path))
        };
        let (mut settings, mut problems) = match inner.trusted {
            true => project.settings(Settings::default()),
            false => project.untrusted(Settings::default()),
        };
        settings.apply("settings", &inner.editor, &mut problems);
        for problem in problems {
            if inner.told.insert(problem.clone()) {
                inner.problems.push(problem);
            }
        }
        let settings = Arc::new(settings);
        let entry = (Instant::now(), project.path, Arc::clone(&settings));
        inner.known.insert(directory, entry);
        settings
    }

    /// Configuration files in use.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        let inner = self.lock();
        let paths = inner.known.values().filter_map(|(_, path, _)| path.clone());
        paths.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Problems not told yet.
    pub(crate) fn take_problems(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().problems)
    }
}
