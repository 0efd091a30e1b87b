//! The root of the repository, and the corpus next to it.

use std::path::{Path, PathBuf};

/// The root of this repository.
pub(crate) fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The corpus of real models, if there is one: `ZONELENS_CORPUS`, or the folder next to the
/// checkout.
pub(crate) fn corpus() -> Option<PathBuf> {
    let beside = || root().join("../shared/corpus");
    let dir = std::env::var_os("ZONELENS_CORPUS").map_or_else(beside, PathBuf::from);
    dir.join("EXPECT-PARSE.tsv").exists().then_some(dir)
}
