//! One version everywhere: crates, extension, plugin. Clients compare it with the server's and
//! warn.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).expect(path)
}

#[test]
fn extension_and_plugin_have_the_crates_version() {
    let version = env!("CARGO_PKG_VERSION");
    for path in [
        "editors/vscode/package.json",
        "editors/vscode/package-lock.json",
    ] {
        let manifest: serde_json::Value = serde_json::from_str(&read(path)).expect("JSON");
        assert_eq!(manifest["version"], version, "{path}");
    }
    let plugin = read("editors/nvim/lua/zonelens/version.lua");
    assert!(plugin.contains(&format!("return '{version}'")), "{plugin}");
    for member in [
        "syntax",
        "analysis",
        "checker",
        "render",
        "lsp",
        "lsp/project",
        "cli",
        "xtask",
        "xtask/suites",
    ] {
        let manifest = read(&format!("{member}/Cargo.toml"));
        assert!(manifest.contains("version.workspace = true"), "{member}");
    }
}

/// What the plugin and packages read is `zonelens VERSION` and, in a checkout, the commit in
/// parentheses.
#[test]
fn the_binary_says_it_first() {
    let output = Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .arg("--version")
        .output()
        .expect("the binary runs");
    let text = String::from_utf8(output.stdout).expect("text");
    let mut words = text.split_whitespace();
    assert_eq!(words.next(), Some("zonelens"));
    assert_eq!(words.next(), Some(env!("CARGO_PKG_VERSION")));
    let commit = words.next().unwrap_or("()");
    assert!(commit.starts_with('(') && commit.ends_with(')'), "{text}");
}
