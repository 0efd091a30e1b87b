//! The end-to-end test of VS Code: the packaged extension in the real workbench.

use crate::package;
use crate::root::{corpus, root};
use std::path::Path;
use std::process::Command;

/// Packages the extension with `binary` (or a release build) and drives it in the workbench. Its
/// screenshots are written to `target/`, with `screenshots` to `docs/img`.
pub(crate) fn run(binary: Option<&Path>, screenshots: bool) -> bool {
    story(binary, screenshots).is_some()
}

fn story(binary: Option<&Path>, screenshots: bool) -> Option<()> {
    let extension = root().join("editors/vscode");
    let vsix = package::vsix(binary)?;
    let corpus = corpus();
    for script in ["check", "test:grammar", "test:head"] {
        let mut npm = Command::new("npm");
        if let Some(corpus) = &corpus {
            npm.env("ZONELENS_CORPUS", corpus);
        }
        package::run(
            npm.args(["run", "--silent", script])
                .current_dir(&extension),
        )?;
    }
    let tools = package::output(Command::new("bash").arg(extension.join("test/install-tools.sh")))?;
    let pictures = if screenshots {
        root().join("docs/img")
    } else {
        package::target_directory().join("screenshots")
    };
    for name in ["xml", "story", "simulator", "uppaal", "first", "picture"] {
        let test = format!("test/{name}.mjs");
        let tell = || {
            let mut node = Command::new("node");
            node.arg(&test).arg(tools.trim()).arg(&vsix).arg(&pictures);
            package::run(node.current_dir(&extension))
        };
        // A browser on a busy machine may lose a key; what fails twice is a fault.
        if tell().is_none() {
            println!("UNSTEADY: the story `{name}` failed and runs once more");
            tell()?;
        }
    }
    if screenshots {
        neovim(&extension.join("server/zonelens"), &pictures)?;
    }
    Some(())
}

/// Takes the screenshots of the other editor, with the newest Neovim available.
fn neovim(server: &Path, pictures: &Path) -> Option<()> {
    let tests = root().join("editors/nvim/test");
    let mut install = Command::new("bash");
    let nvim = package::output(install.arg(tests.join("install-nvim.sh")).arg("sid"))?;
    let mut node = Command::new("node");
    node.arg(tests.join("screenshots.mjs")).arg(server);
    package::run(node.arg(nvim.trim()).arg(pictures))
}
