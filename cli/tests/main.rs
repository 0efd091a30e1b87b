//! Tests of the binary: commands, output, the language server. One binary: each would link the
//! whole crate again.

mod cmdline;
mod contract;
mod coverage;
mod files;
mod guide;
mod render;
mod server;
mod simulate;
mod verify;
mod version;
