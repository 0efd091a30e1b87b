//! What a result belongs to: a digest of everything that can change a verdict.

use crate::document::Snapshot;
use sha2::{Digest, Sha256};
use zonelens_analysis::report::Options;
use zonelens_syntax::source::QueryRef;

/// A digest of model, query, options and tool version. Equal digests mean equal answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub struct Meaning([u8; 16]);

impl Meaning {
    /// In hexadecimal, for file names and messages.
    pub fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The meaning of `query` asked of `model`.
pub fn of_query(model: &Snapshot, query: QueryRef<'_>, options: &Options, tool: &str) -> Meaning {
    let resolved = model.network().and_then(|(network, digest)| {
        let query = model
            .model()
            .resolve_query(network, query.query, query.base)
            .ok()?;
        Some(zonelens_analysis::meaning::of_question(
            network, digest, &query,
        ))
    });
    match resolved {
        Some(question) => digest(&[b"question", &question], options, tool),
        None => of_text(model, &query.query.text, options, tool),
    }
}

/// What to go by where nothing has a meaning: the text itself.
pub fn of_text(model: &Snapshot, formula: &str, options: &Options, tool: &str) -> Meaning {
    let text = model.file().text.as_bytes();
    digest(&[b"text", text, formula.as_bytes()], options, tool)
}

fn digest(parts: &[&[u8]], options: &Options, tool: &str) -> Meaning {
    let options = serde_json::to_vec(options).unwrap_or_default();
    let mut hasher = Sha256::new();
    for bytes in [tool.as_bytes(), &options].iter().chain(parts) {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    }
    let digest = hasher.finalize();
    let mut out = [0; 16];
    out.copy_from_slice(&digest[..16]);
    Meaning(out)
}
