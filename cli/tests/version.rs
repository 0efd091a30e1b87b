//! One version everywhere: crates, extension, plugin. Clients compare it with the server's and warn.

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
        "cli",
        "xtask",
        "xtask/suites",
    ] {
        let manifest = read(&format!("{member}/Cargo.toml"));
        assert!(manifest.contains("version.workspace = true"), "{member}");
    }
}

/// What the plugin and packages read is `zonelens VERSION` and, in a checkout, the commit in parentheses.
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

/// Every setting of the server has a description in VS Code, with the default the server has.
#[test]
fn settings_of_the_extension_are_described() {
    let manifest: serde_json::Value =
        serde_json::from_str(&read("editors/vscode/package.json")).expect("JSON");
    let settings = &manifest["contributes"]["configuration"]["properties"];
    let protocol = read("docs/protocol.md");
    let table = protocol
        .split("## Settings")
        .nth(1)
        .and_then(|rest| rest.split("\n## ").next())
        .expect("docs/protocol.md lists the settings");
    let mut count = 0;
    for row in table.lines() {
        let Some(name) = row.strip_prefix("| `").and_then(|r| r.split('`').next()) else {
            continue;
        };
        let setting = &settings[format!("zonelens.{name}")];
        let described =
            setting["description"].is_string() || setting["markdownDescription"].is_string();
        assert!(described, "zonelens.{name} is no setting of the extension");
        count += 1;
    }
    assert!(count > 10, "only {count} settings were found in the page");
}
