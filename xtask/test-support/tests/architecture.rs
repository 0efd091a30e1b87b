//! The arrows of ARCHITECTURE.md: which crate may use which, and which module of the checker may
//! use which.
//!
//! Crates are read from `cargo metadata`, modules from the paths in their files. Code that exists
//! only in tests may use anything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The crates that each crate may depend on directly. `test-support` may be a development
/// dependency of each.
const CRATES: [(&str, &[&str]); 13] = [
    ("zonelens-syntax", &[]),
    ("zonelens-analysis", &["zonelens-syntax"]),
    (
        "zonelens-interpreter",
        &["zonelens-analysis", "zonelens-syntax"],
    ),
    (
        "zonelens-certificate",
        &["zonelens-analysis", "zonelens-syntax"],
    ),
    (
        "zonelens-checker",
        &[
            "zonelens-analysis",
            "zonelens-certificate",
            "zonelens-interpreter",
            "zonelens-syntax",
        ],
    ),
    ("zonelens-render", &["zonelens-analysis", "zonelens-syntax"]),
    (
        "zonelens-ide",
        &[
            "zonelens-analysis",
            "zonelens-interpreter",
            "zonelens-render",
            "zonelens-syntax",
        ],
    ),
    (
        "zonelens-project",
        &["zonelens-analysis", "zonelens-syntax"],
    ),
    (
        "zonelens-lsp",
        &[
            "zonelens-analysis",
            "zonelens-ide",
            "zonelens-interpreter",
            "zonelens-project",
            "zonelens-render",
            "zonelens-syntax",
        ],
    ),
    (
        "zonelens",
        &[
            "zonelens-analysis",
            "zonelens-certificate",
            "zonelens-checker",
            "zonelens-interpreter",
            "zonelens-lsp",
            "zonelens-project",
            "zonelens-render",
            "zonelens-syntax",
        ],
    ),
    (
        "zonelens-test-support",
        &["zonelens-analysis", "zonelens-syntax"],
    ),
    ("xtask", &[]),
    (
        "xtask-suites",
        &[
            "zonelens-analysis",
            "zonelens-checker",
            "zonelens-syntax",
            "zonelens-test-support",
        ],
    ),
];

/// Crates that know the protocol, or the runtime that serves it: the features themselves must not
/// use them.
const PROTOCOL: [&str; 6] = [
    "gen-lsp-types",
    "ls-types",
    "lsp-types",
    "tokio",
    "tower-lsp",
    "tower-lsp-server",
];

/// The modules that each module of the checker may use. The order is that of the layers, so there
/// is no cycle.
const ROOMS: [(&str, &[&str]); 11] = [
    ("zone", &[]),
    ("program", &["zone"]),
    ("bounds", &["zone", "program"]),
    ("graph", &["zone", "program", "bounds"]),
    ("store", &["zone", "bounds"]),
    ("walk", &["zone", "program", "graph"]),
    ("symmetry", &["zone", "program", "bounds", "graph"]),
    ("search", &["zone", "program", "bounds", "graph", "store"]),
    (
        "witness",
        &["zone", "program", "bounds", "graph", "symmetry"],
    ),
    (
        "strategy",
        &[
            "zone", "program", "bounds", "graph", "store", "symmetry", "search", "witness",
        ],
    ),
    ("every", &["zone", "bounds", "search", "strategy"]),
];

/// Files outside these modules that each of them may use.
const COMMON: [&str; 2] = ["Control", "mutation"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The packages of the workspace, as `cargo metadata` lists them.
fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let output = Command::new(cargo)
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(root())
        .output()
        .expect("cargo metadata runs");
    let text = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let metadata: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    metadata["packages"].as_array().expect("packages").clone()
}

#[test]
fn features_know_no_protocol() {
    let packages = packages();
    let ide = packages.iter().find(|p| p["name"] == "zonelens-ide");
    let ide = ide.expect("the crate of features");
    for dependency in ide["dependencies"].as_array().expect("dependencies") {
        let to = dependency["name"].as_str().expect("a name");
        assert!(
            !PROTOCOL.contains(&to),
            "zonelens-ide must not depend on {to}"
        );
    }
}

#[test]
fn crates_depend_only_on_those_below() {
    let packages = packages();
    let names: BTreeSet<&str> = packages.iter().filter_map(|p| p["name"].as_str()).collect();
    let known: BTreeMap<&str, &[&str]> = CRATES.into_iter().collect();
    assert_eq!(
        names,
        known.keys().copied().collect(),
        "every crate of the workspace has its line here and in ARCHITECTURE.md"
    );
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        for dependency in package["dependencies"].as_array().expect("dependencies") {
            let to = dependency["name"].as_str().expect("a name");
            let in_tests = dependency["kind"].as_str() == Some("dev");
            if names.contains(to) {
                let allowed =
                    known[name].contains(&to) || in_tests && to == "zonelens-test-support";
                assert!(allowed, "{name} must not depend on {to}");
            }
        }
    }
}

/// The command line uses the server in one file, so that nothing else in it depends on the
/// protocol.
#[test]
fn one_file_of_the_command_line_names_the_server() {
    let mut folders = vec![root().join("cli/src")];
    let mut files = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("cli/src").flatten() {
            if entry.path().is_dir() {
                folders.push(entry.path());
                continue;
            }
            let text = std::fs::read_to_string(entry.path()).expect("text");
            if text.contains("zonelens_lsp") {
                files.insert(entry.file_name().to_string_lossy().into_owned());
            }
        }
    }
    assert_eq!(files, BTreeSet::from(["language_server.rs".to_owned()]));
}

/// The text of a file without its test module.
fn product(text: &str) -> &str {
    text.split("\n#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or(text)
}

/// The first parts of all paths that start at the root of the crate: `crate::zone::Zone`,
/// `crate::{zone, store}`.
fn used(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        // `$crate` and names that end in `crate` are different.
        if text[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(group) => group.split('}').next().unwrap_or("").split(',').collect(),
            None => vec![rest],
        };
        for name in names {
            let name = name.trim();
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_');
            found.insert(name[..end.unwrap_or(name.len())].to_owned());
        }
    }
    found
}

/// Modules of a folder that exist only in tests: named in its `mod.rs` after `#[cfg(test)]`.
fn test_modules(room: &Path) -> BTreeSet<String> {
    let text = std::fs::read_to_string(room.join("mod.rs")).expect("mod.rs");
    let lines: Vec<&str> = text.lines().collect();
    let marked = lines.windows(2).filter(|w| w[0] == "#[cfg(test)]");
    marked
        .filter_map(|w| w[1].strip_prefix("mod ")?.strip_suffix(';'))
        .map(|name| format!("{name}.rs"))
        .collect()
}

/// The files of a folder and of those in it, without those that exist only in tests.
fn product_files(folder: &Path) -> Vec<PathBuf> {
    let in_tests = test_modules(folder);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            files.extend(product_files(&entry.path()));
        } else if !in_tests.contains(&name) {
            files.push(entry.path());
        }
    }
    files
}

#[test]
fn rooms_of_the_checker_use_only_those_below() {
    let source = root().join("checker/src");
    let rooms: BTreeMap<&str, &[&str]> = ROOMS.into_iter().collect();
    let folders: BTreeSet<String> = std::fs::read_dir(&source)
        .expect("checker/src")
        .flatten()
        .filter(|e| e.path().is_dir())
        .map(|e| e.file_name().to_string_lossy().into_owned())
        .collect();
    let named: BTreeSet<String> = rooms.keys().map(|r| r.to_string()).collect();
    assert_eq!(folders, named, "every room has its line here");
    let mut wrong = Vec::new();
    for (room, below) in &rooms {
        for file in product_files(&source.join(room)) {
            let name = file.strip_prefix(&source).unwrap_or(&file).display();
            let text = std::fs::read_to_string(&file).expect("text");
            for to in used(product(&text)) {
                let allowed =
                    to == *room || below.contains(&to.as_str()) || COMMON.contains(&to.as_str());
                if !allowed {
                    wrong.push(format!("{name} uses {to}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Each crate has one binary of integration tests; a file that its `main.rs` does not name would
/// never run.
#[test]
fn every_file_of_tests_is_run() {
    for name in ["analysis", "checker", "cli", "syntax"] {
        let folder = root().join(name).join("tests");
        let main = std::fs::read_to_string(folder.join("main.rs")).expect("main.rs");
        let modules: BTreeSet<&str> = main
            .lines()
            .filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'))
            .collect();
        for entry in std::fs::read_dir(&folder).expect("tests").flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let module = file.trim_end_matches(".rs");
            // The oracle is part of the unit tests of the checker, where seeded bugs can be
            // switched on.
            let elsewhere = module == "main" || (name, module) == ("checker", "oracle");
            assert!(
                elsewhere || modules.contains(module),
                "{name}/tests/main.rs does not name {module}"
            );
        }
    }
}

#[test]
fn rooms_are_in_layers() {
    let mut before = BTreeSet::new();
    for (room, below) in ROOMS {
        for to in below {
            assert!(before.contains(to), "{room} uses {to}, which comes later");
        }
        before.insert(room);
    }
}

#[test]
fn paths_are_found() {
    let text =
        "use crate::zone::Zone; let x = crate::{store::Table, graph}; $crate::no; mycrate::no;";
    let found: Vec<String> = used(text).into_iter().collect();
    assert_eq!(found, ["graph", "store", "zone"]);
    assert_eq!(product("a\n#[cfg(test)]\nmod tests { b"), "a");
}
