//! A trace as a document to read: given out by the server where the client can fetch it, else a
//! file in the cache.

use crate::cache;
use crate::open_trace::OpenTrace;
use crate::private;
use crate::shared::Shared;
use crate::uri;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The scheme of documents that the server gives out.
pub(crate) const SCHEME: &str = "zonelens-trace";
/// Trace files kept in the cache; the oldest go first.
const MAX_FILES: usize = 50;

/// `{uri, text, lines}` of a trace.
pub(crate) async fn offer(shared: &Arc<Shared>, open: &OpenTrace) -> Value {
    let (text, lines) = open.document();
    let address = if shared.capabilities().document_content {
        Some(address(open))
    } else {
        let (name, text) = (file_name(open), text.clone());
        let written = tokio::task::spawn_blocking(move || write(&name, &text)).await;
        let path = written.ok().flatten();
        path.and_then(|path| uri::from_path(&path))
    };
    json!({ "uri": address, "text": text, "lines": lines })
}

/// The text of a document of [`SCHEME`], if it is that of the open trace.
pub(crate) fn content(shared: &Shared, wanted: &str) -> Option<String> {
    let open = shared.trace()?;
    (address(&open) == wanted).then(|| open.document().0)
}

fn address(open: &OpenTrace) -> String {
    format!("{SCHEME}:/{}", file_name(open))
}

/// A readable name, unique for what the trace belongs to.
fn file_name(open: &OpenTrace) -> String {
    let model = uri::name(&open.model_uri);
    let stem: String = model
        .chars()
        .filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c))
        .take(60)
        .collect();
    let meaning = open.meaning.to_hex();
    let short = meaning.get(..12).unwrap_or(&meaning);
    format!("{stem}-{short}.trace.txt")
}

fn write(name: &str, text: &str) -> Option<PathBuf> {
    let directory = cache::base_directory()?.join("traces");
    private::directory(&directory).ok()?;
    private::sweep(&directory);
    prune(&directory);
    let path = directory.join(name);
    // Read-only files cannot be written again, but they can be replaced.
    private::write(&path, text.as_bytes(), true).ok()?;
    Some(path)
}

/// Only files that are named as ours are touched.
fn prune(directory: &Path) {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut ours: Vec<_> = entries
        .map(|e| e.path())
        .filter(|p| p.to_string_lossy().ends_with(".trace.txt"))
        .filter_map(|p| Some((std::fs::metadata(&p).ok()?.modified().ok()?, p)))
        .collect();
    ours.sort();
    ours.reverse();
    for (_, path) in ours.into_iter().skip(MAX_FILES) {
        let _ = std::fs::remove_file(path);
    }
}
