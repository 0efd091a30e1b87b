//! What a contributor runs: `cargo xtask ci|bench|conformance|soak|package`.

fn main() {}
