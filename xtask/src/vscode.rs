//! VS Code's story: the packaged extension in the real workbench.

use crate::{corpus, package};
use std::path::Path;
use std::process::Command;

/// Packages the extension with `binary` (or a release build) and drives it in the workbench.
pub fn run(binary: Option<&Path>) -> bool {
    story(binary).is_some()
}

fn story(binary: Option<&Path>) -> Option<()> {
    let extension = corpus::root().join("editors/vscode");
    let vsix = package::vsix(binary)?;
    for script in ["check", "test:grammar"] {
        let mut npm = Command::new("npm");
        package::run(
            npm.args(["run", "--silent", script])
                .current_dir(&extension),
        )?;
    }
    let tools = package::output(Command::new("bash").arg(extension.join("test/install-tools.sh")))?;
    let mut node = Command::new("node");
    node.arg("test/story.mjs").arg(tools.trim()).arg(vsix);
    package::run(node.current_dir(&extension))
}
