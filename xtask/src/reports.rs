//! Our outputs that other tools read: SARIF and JUnit, validated against the schemas of these
//! tools.

use crate::package;
use crate::root::root;
use std::path::Path;
use std::process::Command;

/// Validates the reports of `binary`, or of a release build.
pub(crate) fn run(binary: Option<&Path>) -> bool {
    validate(binary).is_some()
}

fn validate(binary: Option<&Path>) -> Option<()> {
    let folder = root().join("xtask/reports");
    let binary = match binary {
        Some(path) => path.to_owned(),
        None => package::release_binary()?,
    };
    let mut npm = Command::new("npm");
    package::run(npm.args(["ci", "--loglevel=error"]).current_dir(&folder))?;
    let mut node = Command::new("node");
    package::run(node.arg("validate.mjs").arg(binary).current_dir(&folder))
}
