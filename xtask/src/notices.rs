//! Third-party notices: the licences of everything that a package contains.

use crate::package::{output, target};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The notices of the crates in the binary and of the npm packages in the bundle.
pub(crate) fn all(root: &Path, extension: &Path) -> Option<String> {
    Some(format!("{}{}", crates(root)?, npm(extension)?))
}

/// The notices of the crates in the binary.
pub(crate) fn crates(root: &Path) -> Option<String> {
    let mut cargo = Command::new("cargo");
    cargo.args(["metadata", "--format-version", "1", "--locked"]);
    cargo.args(["--filter-platform", &target()?]);
    let metadata: Value = serde_json::from_str(&output(cargo.current_dir(root))?).ok()?;
    let reached = reached(&metadata)?;
    let mut out = String::from("Zonelens contains the following crates and packages.\n");
    for package in metadata.get("packages")?.as_array()? {
        // A package without a source belongs to this workspace.
        let foreign = package.get("source").is_some_and(|s| !s.is_null());
        if foreign && reached.contains(package.get("id")?.as_str()?) {
            let text = |key: &str| package.get(key).and_then(Value::as_str);
            let folder = Path::new(text("manifest_path")?).parent()?;
            let heading = format!(
                "{} {} ({})",
                text("name")?,
                text("version")?,
                text("license").unwrap_or("see below")
            );
            entry(&mut out, &heading, folder);
        }
    }
    Some(out)
}

/// The packages that the binary is linked from: the normal dependencies of `zonelens`, recursively.
fn reached(metadata: &Value) -> Option<BTreeSet<&str>> {
    let nodes = metadata.get("resolve")?.get("nodes")?.as_array()?;
    let mut by_id = BTreeMap::new();
    for node in nodes {
        by_id.insert(node.get("id")?.as_str()?, node);
    }
    let packages = metadata.get("packages")?.as_array()?;
    let root = packages.iter().find(|p| p["name"] == "zonelens")?;
    let mut waiting = vec![root.get("id")?.as_str()?];
    let mut seen = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id) {
            continue;
        }
        for dependency in by_id.get(id)?.get("deps")?.as_array()? {
            let normal = |kind: &Value| kind["kind"].is_null();
            if dependency.get("dep_kinds")?.as_array()?.iter().any(normal) {
                waiting.push(dependency.get("pkg")?.as_str()?);
            }
        }
    }
    Some(seen)
}

/// The notices of the npm packages in the bundle: the dependencies of the extension, recursively.
fn npm(extension: &Path) -> Option<String> {
    let lock = std::fs::read_to_string(extension.join("package-lock.json")).ok()?;
    let lock: Value = serde_json::from_str(&lock).ok()?;
    let mut out = String::new();
    for (path, package) in lock.get("packages")?.as_object()? {
        let left_out = path.is_empty() || package["dev"] == true || package["optional"] == true;
        if left_out {
            continue;
        }
        let name = path.rsplit("node_modules/").next()?;
        let version = package["version"].as_str().unwrap_or("");
        let licence = package["license"].as_str().unwrap_or("see below");
        let heading = format!("{name} {version} ({licence})");
        entry(&mut out, &heading, &extension.join(path));
    }
    Some(out)
}

/// Appends the heading and the licence files of a package.
fn entry(out: &mut String, heading: &str, folder: &Path) {
    out.push_str(&format!("\n{}\n{heading}\n", "-".repeat(80)));
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.is_file() && is_licence(p))
        .collect();
    files.sort();
    for file in files {
        if let Ok(text) = std::fs::read_to_string(&file) {
            out.push_str(&format!("\n{}\n", text.trim_end()));
        }
    }
}

fn is_licence(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    ["licen", "copying", "notice", "thirdparty", "unlicense"]
        .iter()
        .any(|start| name.starts_with(start))
}
