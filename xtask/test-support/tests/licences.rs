//! Checks `deny.toml` for the crates of this platform: licences, sources, bans. `cargo deny`
//! itself, which also checks advisories, runs in the public workflow.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All packages of the lock file that are built here; those of other platforms may not have been
/// downloaded.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--offline"])
        .args(["--filter-platform", &platform])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let metadata: Value = serde_json::from_str(&text).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages").clone();
    assert!(packages.len() > 100, "all packages are listed");
    packages
}

fn rules() -> toml::Table {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    text.parse().expect("TOML")
}

fn texts(list: &toml::Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().filter_map(|v| v.as_str()).collect()
}

/// Whether the allowed licences satisfy a licence expression: all parts of `AND`, one of `OR`. `/`
/// is an old form of `OR`.
fn satisfied(expression: &str, allowed: &[&str]) -> bool {
    let expression = expression.replace('/', " OR ");
    let mut words: Vec<String> = Vec::new();
    for word in expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .split_whitespace()
    {
        // `Apache-2.0 WITH LLVM-exception` is one licence.
        match words.last_mut() {
            Some(last) if word == "WITH" || last.ends_with(" WITH") => {
                last.push(' ');
                last.push_str(word);
            }
            _ => words.push(word.to_owned()),
        }
    }
    let mut rest = words.as_slice();
    let holds = any_of(&mut rest, allowed);
    holds && rest.is_empty()
}

fn any_of(words: &mut &[String], allowed: &[&str]) -> bool {
    let mut holds = all_of(words, allowed);
    while let Some(("OR", rest)) = words.split_first().map(|(w, r)| (w.as_str(), r)) {
        *words = rest;
        holds |= all_of(words, allowed);
    }
    holds
}

fn all_of(words: &mut &[String], allowed: &[&str]) -> bool {
    let mut holds = one(words, allowed);
    while let Some(("AND", rest)) = words.split_first().map(|(w, r)| (w.as_str(), r)) {
        *words = rest;
        holds &= one(words, allowed);
    }
    holds
}

fn one(words: &mut &[String], allowed: &[&str]) -> bool {
    let Some((word, rest)) = words.split_first() else {
        return false;
    };
    *words = rest;
    if word != "(" {
        return allowed.contains(&word.as_str());
    }
    let holds = any_of(words, allowed);
    match words.split_first() {
        Some((word, rest)) if word == ")" => *words = rest,
        _ => return false,
    }
    holds
}

#[test]
fn licences_sources_and_bans() {
    let rules = rules();
    let allowed = texts(&rules["licenses"]["allow"]);
    let registries = texts(&rules["sources"]["allow-registry"]);
    let banned: Vec<&str> = rules["bans"]["deny"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|ban| ban.get("crate")?.as_str())
        .collect();
    let mut wrong = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or("");
        if !satisfied(licence, &allowed) {
            wrong.push(format!("{name}: the licence `{licence}` is not allowed"));
        }
        if banned.contains(&name) {
            wrong.push(format!("{name} is banned"));
        }
        if let Some(source) = package["source"].as_str() {
            let known = |r: &&str| source.strip_prefix("registry+") == Some(*r);
            if !registries.iter().any(known) {
                wrong.push(format!("{name} comes from {source}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn licence_expressions() {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
    for good in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
        "(MIT OR Apache-2.0) AND Unicode-3.0",
    ] {
        assert!(satisfied(good, &allowed), "{good}");
    }
    for bad in [
        "",
        "GPL-3.0",
        "Apache-2.0",
        "MIT AND GPL-3.0",
        "(MIT OR GPL-3.0) AND Zlib",
        "(MIT",
    ] {
        assert!(!satisfied(bad, &allowed), "{bad}");
    }
}
