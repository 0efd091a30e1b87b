//! What a project and the machine decide, for the server and the command line alike: settings, `zonelens.toml`, and what
//! differs between platforms.
//!
//! It must never know the protocol or the checker.

pub mod limit;
pub mod platform;
pub mod project;
pub mod settings;
pub mod table;
