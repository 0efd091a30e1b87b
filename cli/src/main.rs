//! The `zonelens` command: a thin face over the other crates.

fn main() {}
