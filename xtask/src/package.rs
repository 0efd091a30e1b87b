//! The packages that users install: the `.vsix` with the server inside, and the archive with the
//! binary.

use crate::notices;
use crate::root::root;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version of everything: crates, extension, plugin.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Creates `dist/zonelens-<version>-<platform>.vsix` and returns its path. `binary` is used instead
/// of a release build.
pub(crate) fn vsix(binary: Option<&Path>) -> Option<PathBuf> {
    let root = root();
    let extension = root.join("editors/vscode");
    same_version(&extension)?;
    let platform = platform()?;
    let binary = match binary {
        Some(path) => path.to_owned(),
        None => release_binary()?,
    };
    let mut npm = Command::new("npm");
    run(npm.args(["ci", "--loglevel=error"]).current_dir(&extension))?;
    let server = extension.join("server");
    put_server(&binary, &server)?;
    write(&extension.join("LICENSE.txt"), &licence(root)?)?;
    let notices = notices::all(root, &extension)?;
    write(&extension.join("ThirdPartyNotices.txt"), &notices)?;
    let out = dist()?.join(format!("zonelens-{VERSION}-{platform}.vsix"));
    let mut vsce = Command::new("node");
    vsce.arg("node_modules/@vscode/vsce/vsce").args([
        "package",
        "--no-dependencies",
        "--no-git-tag-version",
        "--allow-missing-repository",
        "--target",
        &platform,
    ]);
    run(vsce.arg("--out").arg(&out).current_dir(&extension))?;
    println!("{}", out.display());
    Some(out)
}

/// Creates `dist/zonelens-<version>-<target>.tar.gz`, with `binary` instead of a release build, and
/// tests it.
pub(crate) fn archive(binary: Option<&Path>) -> bool {
    make_archive(binary).is_some()
}

fn make_archive(binary: Option<&Path>) -> Option<()> {
    let root = root();
    let binary = match binary {
        Some(path) => path.to_owned(),
        None => release_binary()?,
    };
    let name = format!("zonelens-{VERSION}-{}", target()?);
    let folder = dist()?.join(&name);
    let _ = std::fs::remove_dir_all(&folder);
    for part in ["bin", "share/man/man1", "share/completions", "share/nvim"] {
        create(&folder.join(part))?;
    }
    put_server(&binary, &folder.join("bin"))?;
    let says = |args: &[&str]| output(Command::new(&binary).args(args));
    let mut man = Command::new(&binary);
    run(man
        .args(["man", "--all"])
        .arg(folder.join("share/man/man1")))?;
    for (shell, file) in [
        ("bash", "zonelens.bash"),
        ("zsh", "_zonelens"),
        ("fish", "zonelens.fish"),
        ("powershell", "zonelens.ps1"),
        ("elvish", "zonelens.elv"),
    ] {
        let script = says(&["completions", shell])?;
        write(&folder.join("share/completions").join(file), &script)?;
    }
    for file in ["LICENSE-MIT", "LICENSE-APACHE", "README.md", "CHANGELOG.md"] {
        copy(&root.join(file), &folder.join(file))?;
    }
    let notices = notices::crates(root)?;
    write(&folder.join("ThirdPartyNotices.txt"), &notices)?;
    copy_plugin(&root.join("editors/nvim"), &folder.join("share/nvim"))?;
    let archive = format!("{name}.tar.gz");
    let mut tar = Command::new("tar");
    tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"]);
    run(tar.args(["-czf", &archive, &name]).current_dir(dist()?))?;
    try_archive(&dist()?.join(&archive), &name)?;
    println!("{}", dist()?.join(archive).display());
    Some(())
}

/// Unpacks the archive in another folder and runs the binary: it must not need any other file.
fn try_archive(archive: &Path, name: &str) -> Option<()> {
    let folder = std::env::temp_dir().join(format!("zonelens-dist-{}", std::process::id()));
    create(&folder)?;
    let mut tar = Command::new("tar");
    run(tar.arg("-xzf").arg(archive).current_dir(&folder))?;
    let unpacked = folder.join(name);
    let version = output(Command::new(unpacked.join("bin").join(executable())).arg("--version"))?;
    let help = output(Command::new(unpacked.join("bin").join(executable())).arg("--help"))?;
    let missing = manuals(&help).find(|name| {
        let page = unpacked.join(format!("share/man/man1/{name}.1"));
        let page = std::fs::read_to_string(page).unwrap_or_default();
        !page.contains(&format!(".TH {name} 1"))
    });
    let _ = std::fs::remove_dir_all(&folder);
    if version.contains(VERSION) && missing.is_none() {
        return Some(());
    }
    println!("the archive holds {version}, or no manual page {missing:?}");
    None
}

/// The names of all manual pages: of the program and of every command that its help lists.
fn manuals(help: &str) -> impl Iterator<Item = String> {
    let commands = help.lines().skip_while(|l| !l.starts_with("Commands:"));
    let commands = commands.skip(1).take_while(|l| l.starts_with("  "));
    // The continuation line of a description is indented further.
    let names = commands.filter(|l| !l.starts_with("   "));
    let names: Vec<String> = names
        .filter_map(|l| l.split_whitespace().next())
        .map(|name| format!("zonelens-{name}"))
        .collect();
    names.into_iter().chain(["zonelens".to_owned()])
}

/// Copies the plugin without its tests.
fn copy_plugin(from: &Path, to: &Path) -> Option<()> {
    create(to)?;
    for entry in std::fs::read_dir(from).ok()?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() && name != "test" {
            copy_plugin(&path, &to.join(name))?;
        } else if path.is_file() {
            copy(&path, &to.join(name))?;
        }
    }
    Some(())
}

/// A client and a server of different versions warn the user; a package must not contain such a
/// pair.
fn same_version(extension: &Path) -> Option<()> {
    let text = std::fs::read_to_string(extension.join("package.json")).ok()?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    let theirs = manifest.get("version")?.as_str()?;
    if theirs != VERSION {
        println!("editors/vscode/package.json says version {theirs}, the crates say {VERSION}");
        return None;
    }
    Some(())
}

/// Builds the release binary and returns its path.
pub(crate) fn release_binary() -> Option<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "-p", "zonelens"]);
    run(cargo.current_dir(root()))?;
    Some(target_directory().join("release").join(executable()))
}

/// The folder that cargo builds into.
pub(crate) fn target_directory() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

fn executable() -> &'static str {
    if cfg!(windows) {
        "zonelens.exe"
    } else {
        "zonelens"
    }
}

/// Copies the binary without its debug information; function names are kept for crash reports.
fn put_server(binary: &Path, folder: &Path) -> Option<()> {
    create(folder)?;
    let to = folder.join(executable());
    // A server of an earlier package may be running: it keeps its file, and a new file is created.
    let _ = std::fs::remove_file(&to);
    copy(binary, &to)?;
    if cfg!(unix) {
        // This only reduces the size; without `strip`, the package is larger.
        let _ = Command::new("strip").arg("--strip-debug").arg(&to).status();
    }
    Some(())
}

/// Both licences in one file, because the page of the extension shows only one.
fn licence(root: &Path) -> Option<String> {
    let read = |name: &str| std::fs::read_to_string(root.join(name)).ok();
    Some(format!(
        "Zonelens is licensed under MIT or Apache-2.0, at your choice.\n\n{}\n\n{}",
        read("LICENSE-MIT")?,
        read("LICENSE-APACHE")?
    ))
}

/// The name of this platform in VS Code.
fn platform() -> Option<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        "windows" => "win32",
        other => {
            println!("VS Code has no platform for {other}");
            return None;
        }
    };
    let machine = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        "arm" => "armhf",
        other => {
            println!("VS Code has no platform for {other}");
            return None;
        }
    };
    Some(format!("{system}-{machine}"))
}

/// The target triple of this platform.
pub(crate) fn target() -> Option<String> {
    let version = output(Command::new("rustc").arg("-vV"))?;
    let host = version.lines().find_map(|l| l.strip_prefix("host: "))?;
    Some(host.to_owned())
}

fn dist() -> Option<PathBuf> {
    let folder = root().join("dist");
    create(&folder)?;
    folder.canonicalize().ok()
}

fn create(folder: &Path) -> Option<()> {
    told(std::fs::create_dir_all(folder), folder)
}

fn write(path: &Path, text: &str) -> Option<()> {
    told(std::fs::write(path, text), path)
}

fn copy(from: &Path, to: &Path) -> Option<()> {
    told(std::fs::copy(from, to), from).map(|_| ())
}

fn told<T>(result: std::io::Result<T>, path: &Path) -> Option<T> {
    result
        .map_err(|error| println!("{}: {error}", path.display()))
        .ok()
}

/// Runs a command to its end; prints what failed.
pub(crate) fn run(command: &mut Command) -> Option<()> {
    match command.status() {
        Ok(status) if status.success() => Some(()),
        Ok(status) => {
            println!("{command:?} ended with {status}");
            None
        }
        Err(error) => {
            println!("{command:?} could not be run: {error}");
            None
        }
    }
}

/// The output of a command.
pub(crate) fn output(command: &mut Command) -> Option<String> {
    match command.output() {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).ok(),
        _ => {
            println!("{command:?} failed");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page() {
        let help = "Usage: zonelens <COMMAND>\n\nCommands:\n  lsp     Run\n  check   Report every\n          diagnostic\n\nOptions:\n  -h  Help\n";
        let names: Vec<String> = manuals(help).collect();
        assert_eq!(names, ["zonelens-lsp", "zonelens-check", "zonelens"]);
    }
}
