//! The configuration of a project and the properties of the platform, for the server and the
//! command line: settings, `zonelens.toml`, and the differences between platforms.
//!
//! This crate must not depend on the protocol or the checker.

pub mod limit;
pub mod platform;
pub mod project;
pub mod settings;
pub mod table;
