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
    let mut hasher = Sha256::new();
    let mut part = |bytes: &[u8]| {
        hasher.update((bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    part(tool.as_bytes());
    part(&serde_json::to_vec(options).unwrap_or_default());
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
        Some(question) => {
            part(b"question");
            part(&question);
        }
        // Without a meaning the text itself is all there is to go by.
        None => {
            part(b"text");
            part(model.file().text.as_bytes());
            part(query.query.text.as_bytes());
        }
    }
    let digest = hasher.finalize();
    let mut out = [0; 16];
    out.copy_from_slice(&digest[..16]);
    Meaning(out)
}
