//! The language server: documents, features, verification runs.
//!
//! Owns the protocol and the state of runs. It must never know about grammar or zones, and it reaches the checker only
//! through the worker process.

pub mod shim;

use std::path::PathBuf;

/// What the server is started with.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The program that is started with `worker` for each run.
    pub worker: PathBuf,
    /// Version and commit, for `serverInfo`.
    pub version: String,
    /// Where to write the log.
    pub log_file: Option<PathBuf>,
}

/// Serves on standard input and output until the editor says goodbye.
pub fn serve_stdio(_options: ServerOptions) -> std::io::Result<()> {
    Ok(())
}
