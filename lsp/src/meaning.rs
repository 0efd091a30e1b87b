//! What a result belongs to: a digest of everything that can change a verdict.

use sha2::{Digest, Sha256};
use zonelens_analysis::report::Options;
use zonelens_ide::Snapshot;
use zonelens_syntax::source::QueryRef;

/// A digest of model, query, options and tool version. Equal digests mean equal answers.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub(crate) struct Meaning([u8; 16]);

impl Meaning {
    /// Of given bytes.
    #[cfg(test)]
    pub(crate) fn of_bytes(bytes: [u8; 16]) -> Meaning {
        Meaning(bytes)
    }

    /// In hexadecimal, for file names and messages.
    pub(crate) fn to_hex(self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The meaning of `query` asked of `model`, which is instantiated for that.
pub(crate) fn of_query(
    model: &Snapshot,
    query: QueryRef<'_>,
    options: &Options,
    tool: &str,
) -> Meaning {
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

/// The meaning of a model without a query, as a simulation needs it; `None` while it has errors.
pub(crate) fn of_model(model: &Snapshot, tool: &str) -> Option<Meaning> {
    let (_, digested) = model.network()?;
    let parts: [&[u8]; 2] = [b"model", &digested.fingerprint()];
    Some(digest(&parts, &Options::default(), tool))
}

/// What a model never does belongs to this; `None` while it has errors. Limits do not count,
/// because only complete runs are kept.
pub(crate) fn of_coverage(model: &Snapshot, tool: &str) -> Option<Meaning> {
    let (_, digested) = model.network()?;
    let parts: [&[u8]; 2] = [b"coverage", &digested.fingerprint()];
    Some(digest(&parts, &Options::default(), tool))
}

/// What to go by where nothing has a meaning: the text itself.
pub(crate) fn of_text(model: &Snapshot, formula: &str, options: &Options, tool: &str) -> Meaning {
    TextMeanings::new(model, options, tool).of(formula)
}

/// What queries of one model are by its text, which is read once for all of them.
pub(crate) struct TextMeanings(Sha256);

impl TextMeanings {
    /// For the queries of `model`.
    pub(crate) fn new(model: &Snapshot, options: &Options, tool: &str) -> TextMeanings {
        let text = model.text_digest();
        TextMeanings(hashed(&[b"text", &text], options, tool))
    }

    /// For a formula.
    pub(crate) fn of(&self, formula: &str) -> Meaning {
        let mut hasher = self.0.clone();
        part(&mut hasher, formula.as_bytes());
        finished(hasher)
    }
}

fn digest(parts: &[&[u8]], options: &Options, tool: &str) -> Meaning {
    finished(hashed(parts, options, tool))
}

fn hashed(parts: &[&[u8]], options: &Options, tool: &str) -> Sha256 {
    let options = serde_json::to_vec(options).unwrap_or_default();
    let mut hasher = Sha256::new();
    for bytes in [tool.as_bytes(), &options].iter().chain(parts) {
        part(&mut hasher, bytes);
    }
    hasher
}

fn part(hasher: &mut Sha256, bytes: &[u8]) {
    hasher.update((bytes.len() as u64).to_le_bytes());
    hasher.update(bytes);
}

fn finished(hasher: Sha256) -> Meaning {
    let digest = hasher.finalize();
    let mut out = [0; 16];
    out.copy_from_slice(&digest[..16]);
    Meaning(out)
}
