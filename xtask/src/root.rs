//! Where the repository is.

use std::path::Path;

/// The root of this repository.
pub fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}
