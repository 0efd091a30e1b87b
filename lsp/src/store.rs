//! All open documents, and which model a query file belongs to.

use crate::document::{self, Change};
use crate::position::Encoding;
use crate::uri;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use zonelens_analysis::trace_text;
use zonelens_ide::{Snapshot, Workspace};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::xml;

/// Extensions of models, in the order in which the model of a query file is searched for.
const MODEL_EXTENSIONS: [&str; 3] = ["xta", "xml", "ta"];
/// The language ids by which a client says that a document is ours, whatever it contains. Of others
/// that are XML, only models are.
const LANGUAGES: [&str; 3] = ["xta", "uppaal-q", "uppaal-xml"];
/// Files larger than this are not read from disk as the model beside a query file.
const MAX_MODEL_BYTES: u64 = 64 << 20;

/// Files on disk that stay read, and how much text they may have together.
const MAX_ON_DISK: usize = 256;
const MAX_ON_DISK_BYTES: u64 = 16 << 20;

/// A file as it was read, with what tells that it changed since.
type OnDisk = (SystemTime, u64, Arc<Snapshot>);

/// Open documents by URI. Changes are made in the order of the messages, before anything else
/// happens with them.
#[derive(Default)]
pub(crate) struct Store {
    open: Mutex<HashMap<String, Arc<Snapshot>>>,
    disk: Mutex<HashMap<PathBuf, OnDisk>>,
}

/// Overrides of global constants, as `--const`.
pub(crate) type Constants = Arc<BTreeMap<String, i64>>;

impl Store {
    // A panic while the lock is held leaves a map that is still a map.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Snapshot>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Overrides global constants in the documents that are named.
    pub(crate) fn set_constants(&self, wanted: &HashMap<String, Constants>) {
        for (uri, snapshot) in self.lock().iter_mut() {
            if let Some(constants) = wanted.get(uri)
                && snapshot.constants() != constants
            {
                *snapshot = Arc::new(snapshot.with_constants(Arc::clone(constants)));
            }
        }
    }

    /// A document was opened.
    pub(crate) fn open(
        &self,
        uri: &str,
        language: &str,
        version: i32,
        text: &str,
        constants: Constants,
    ) {
        let kind = kind_of(uri, language);
        let uri_of = uri.to_owned();
        let unsure = kind == FileKind::Xml && !LANGUAGES.contains(&language);
        let snapshot = match unsure || trace_text::is_xtr(uri) {
            true => Snapshot::open_xml(uri_of, version, text, constants),
            false => Snapshot::open(uri_of, kind, version, text, constants),
        };
        self.lock().insert(uri.to_owned(), Arc::new(snapshot));
    }

    /// A document was changed; changes of documents that are not open are dropped.
    pub(crate) fn change(&self, uri: &str, version: i32, changes: Vec<Change>, encoding: Encoding) {
        if let Some(current) = self.lock().get_mut(uri) {
            *current = Arc::new(document::edited(current, version, changes, encoding));
        }
    }

    /// A document was closed. With the last one go the files that were read for its sake.
    pub(crate) fn close(&self, uri: &str) {
        let mut open = self.lock();
        open.remove(uri);
        let last = open.is_empty();
        drop(open);
        if last {
            self.forget_files();
        }
    }

    /// The current version of an open document.
    pub(crate) fn get(&self, uri: &str) -> Option<Arc<Snapshot>> {
        self.lock().get(uri).cloned()
    }

    /// Whether `snapshot` is still what the client shows.
    pub(crate) fn is_current(&self, snapshot: &Arc<Snapshot>) -> bool {
        self.lock()
            .get(&snapshot.uri)
            .is_some_and(|s| Arc::ptr_eq(s, snapshot))
    }

    /// All open documents.
    pub(crate) fn all(&self) -> Vec<Arc<Snapshot>> {
        self.lock().values().cloned().collect()
    }

    /// Open query files whose model is the document `uri`.
    pub(crate) fn query_files_of(&self, uri: &str) -> Vec<Arc<Snapshot>> {
        let sibling = with_extension(uri, "q").and_then(|uri| self.get(&uri));
        let at_path = || self.open_at(&uri::to_path(uri)?.with_extension("q"));
        sibling.or_else(at_path).into_iter().collect()
    }

    /// The model that the queries of `snapshot` are about, if it is another document and open.
    pub(crate) fn model_if_open(&self, snapshot: &Snapshot) -> Option<Arc<Snapshot>> {
        let query_file = snapshot.kind == FileKind::Query;
        let mut others = MODEL_EXTENSIONS.iter().filter(|_| query_file);
        others.find_map(|extension| self.get(&with_extension(&snapshot.uri, extension)?))
    }

    /// The open document of a path: clients escape the same path in more than one way.
    fn open_at(&self, path: &Path) -> Option<Arc<Snapshot>> {
        let documents = self.all();
        let mut here = documents.into_iter();
        here.find(|d| uri::to_path(&d.uri).as_deref() == Some(path))
    }

    /// A file as it is on disk now. Reads it: not for the thread that reads messages.
    pub(crate) fn read(&self, path: &Path, constants: &Constants) -> Option<Arc<Snapshot>> {
        let size = std::fs::metadata(path).ok()?;
        if !size.is_file() || size.len() > MAX_MODEL_BYTES {
            return None;
        }
        let state = (size.modified().ok()?, size.len());
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((modified, length, snapshot)) = disk.get(path)
            && (*modified, *length) == state
            && snapshot.constants() == constants
        {
            return Some(Arc::clone(snapshot));
        }
        drop(disk);
        let text = std::fs::read_to_string(path).ok()?;
        let kind = FileKind::from_path(&path.to_string_lossy());
        if kind == FileKind::Xml && !xml::is_model(&text) {
            return None;
        }
        let uri = uri::from_path(path)?;
        let snapshot = Snapshot::open(uri, kind, 0, &text, Arc::clone(constants));
        let snapshot = Arc::new(snapshot);
        disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: u64 = disk.values().map(|(_, length, _)| length).sum();
        if disk.len() >= MAX_ON_DISK || bytes + state.1 > MAX_ON_DISK_BYTES {
            disk.clear();
        }
        disk.insert(path.to_owned(), (state.0, state.1, Arc::clone(&snapshot)));
        Some(snapshot)
    }

    /// Files may have changed in ways that their times do not tell.
    pub(crate) fn forget_files(&self) {
        let mut disk = self.disk.lock().unwrap_or_else(PoisonError::into_inner);
        disk.clear();
    }
}

impl Workspace for Store {
    fn model_of(&self, snapshot: &Arc<Snapshot>) -> Option<Arc<Snapshot>> {
        if snapshot.kind != FileKind::Query {
            return Some(Arc::clone(snapshot));
        }
        let beside = MODEL_EXTENSIONS.map(|extension| with_extension(&snapshot.uri, extension));
        if let Some(open) = beside.iter().find_map(|uri| self.get(uri.as_deref()?)) {
            return Some(open);
        }
        let path = uri::to_path(&snapshot.uri)?;
        let candidates = MODEL_EXTENSIONS.map(|extension| path.with_extension(extension));
        let open = candidates.iter().find_map(|path| self.open_at(path));
        let read = |path: &PathBuf| self.read(path, snapshot.constants());
        open.or_else(|| candidates.iter().find_map(read))
    }

    fn query_file_of(&self, model: &Snapshot) -> Option<Arc<Snapshot>> {
        if let Some(open) = self.query_files_of(&model.uri).pop() {
            return Some(open);
        }
        let path = uri::to_path(&model.uri)?.with_extension("q");
        self.read(&path, model.constants())
    }

    fn neighbour(&self, snapshot: &Snapshot, name: &str) -> Option<String> {
        let path = uri::to_path(&snapshot.uri)?.parent()?.join(name);
        uri::from_path(&path).filter(|_| path.is_file())
    }

    fn file_name(&self, uri: &str) -> String {
        uri::name(uri)
    }
}

/// The URI with another extension, whatever its scheme.
fn with_extension(uri: &str, extension: &str) -> Option<String> {
    let (stem, _) = uri.rsplit_once('.')?;
    Some(format!("{stem}.{extension}"))
}

/// The notation by the extension or, where that says nothing, by the client's language id.
fn kind_of(uri: &str, language: &str) -> FileKind {
    let name = uri.rsplit('/').next().unwrap_or(uri);
    match name.rsplit_once('.').map(|(_, e)| e.to_ascii_lowercase()) {
        Some(e) if ["xta", "ta", "xml", "q"].contains(&e.as_str()) => FileKind::from_path(name),
        _ => match language {
            "uppaal-q" => FileKind::Query,
            "uppaal-xml" | "xml" => FileKind::Xml,
            _ => FileKind::Xta,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides_then_the_language() {
        assert_eq!(kind_of("file:///a/m.XML", "xta"), FileKind::Xml);
        assert_eq!(kind_of("file:///a/m.q", "xta"), FileKind::Query);
        assert_eq!(kind_of("untitled:Untitled-1", "uppaal-q"), FileKind::Query);
        assert_eq!(kind_of("untitled:Untitled-1", "xta"), FileKind::Xta);
    }

    #[test]
    fn files_are_forgotten_with_the_last_document() {
        let directory = std::env::temp_dir().join(format!("zonelens-store-{}", std::process::id()));
        std::fs::create_dir_all(&directory).expect("made");
        let model = directory.join("m.xta");
        std::fs::write(&model, "system P;").expect("written");
        let store = Store::default();
        let uri = uri::from_path(&directory.join("m.q")).expect("a path");
        store.open(&uri, "uppaal-q", 1, "A[] true", Constants::default());
        let read = store.read(&model, &Constants::default()).expect("there");
        assert!(Arc::ptr_eq(
            &read,
            &store.read(&model, &Constants::default()).expect("there")
        ));
        store.close(&uri);
        assert!(!Arc::ptr_eq(
            &read,
            &store.read(&model, &Constants::default()).expect("there")
        ));
        std::fs::remove_dir_all(directory).expect("removed");
    }

    #[test]
    fn a_query_file_finds_the_open_model_beside_it() {
        let store = Store::default();
        store.open(
            "file:///tmp/none/m.q",
            "uppaal-q",
            1,
            "A[] true",
            Constants::default(),
        );
        store.open(
            "file:///tmp/none/m.xml",
            "uppaal-xml",
            1,
            "<nta/>",
            Constants::default(),
        );
        let q = store.get("file:///tmp/none/m.q").expect("open");
        let model = store.model_of(&q).expect("model");
        assert_eq!(model.uri, "file:///tmp/none/m.xml");
        assert_eq!(store.query_files_of("file:///tmp/none/m.xml").len(), 1);
    }
}
