//! The language server: documents, features, verification runs.
//!
//! Owns the protocol and the state of runs. It must never know about grammar or zones, and it reaches the checker only
//! through the worker process.
