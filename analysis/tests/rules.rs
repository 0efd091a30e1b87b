//! Codes and severities are defined once, in the table of rules; sources and pages name only codes
//! of that table.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use zonelens_analysis::codes;

const AREAS: [&str; 9] = [
    "every",
    "lint",
    "name",
    "query",
    "sym",
    "syntax",
    "system",
    "type",
    "unsupported",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Files below a folder with one of these extensions. Generated files are skipped.
fn files(folder: &Path, extensions: &[&str], out: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        if path.is_dir() {
            let skipped = ["target", "node_modules", ".git", "out", "dist"];
            if !skipped.iter().any(|s| name == *s) {
                files(&path, extensions, out);
            }
        } else if path
            .extension()
            .is_some_and(|e| extensions.iter().any(|x| e == *x))
        {
            out.push(path);
        }
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut list = Vec::new();
    for folder in [
        "analysis/src",
        "checker/src",
        "cli/src",
        "lsp/ide/src",
        "lsp/project/src",
        "lsp/src",
        "render/src",
        "syntax/src",
    ] {
        files(&root().join(folder), &["rs"], &mut list);
    }
    assert!(list.len() > 100, "the sources are there");
    let read = |p: PathBuf| (p.clone(), std::fs::read_to_string(p).unwrap());
    list.into_iter().map(read).collect()
}

/// Words of the form `area/name` in a text, between the given marks.
fn named(text: &str, before: &[char], after: &[char]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for area in AREAS {
        for (k, _) in text.match_indices(&format!("{area}/")) {
            let name = &text[k + area.len() + 1..];
            let end = name
                .find(|c: char| !c.is_ascii_lowercase() && c != '-')
                .unwrap_or(name.len());
            let opened = text[..k].ends_with(before);
            let closed = name[end..].starts_with(after) && !name[end..].starts_with(".rs");
            if end > 0 && opened && closed {
                out.insert(format!("{area}/{}", &name[..end]));
            }
        }
    }
    out
}

fn table() -> BTreeSet<String> {
    codes().iter().map(|c| c.0.to_owned()).collect()
}

#[test]
fn sources_report_the_codes_of_the_table_and_no_others() {
    let table = table();
    let mut used = BTreeSet::new();
    for (path, text) in sources() {
        if path.ends_with("analysis/src/rules.rs") {
            continue;
        }
        // Tests inside sources also mention codes that do not exist.
        let text = text.split("#[cfg(test)]").next().unwrap_or("");
        for code in named(text, &['"'], &['"']) {
            assert!(table.contains(&code), "{}: {code}", path.display());
            used.insert(code);
        }
    }
    let unused: Vec<&String> = table.difference(&used).collect();
    assert!(unused.is_empty(), "nothing reports {unused:?}");
}

#[test]
fn pages_name_codes_that_exist_and_every_code_has_a_page() {
    let table = table();
    let mut list = Vec::new();
    files(&root().join("docs"), &["md"], &mut list);
    let pages: BTreeSet<String> = list
        .iter()
        .filter_map(|p| {
            let path = p.with_extension("").to_string_lossy().replace('\\', "/");
            path.split_once("docs/rules/")
                .map(|(_, code)| code.to_owned())
        })
        .collect();
    assert_eq!(pages, table, "a page for each code and no other");
    for name in [
        "README.md",
        "CHANGELOG.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
    ] {
        list.push(root().join(name));
    }
    let before = ['`', ' ', '(', '"', '[', '\n', '/', '#'];
    let after = ['`', ' ', ')', '"', ']', '\n', '.', ',', ';', ':', '='];
    let mut seen = 0;
    for path in list {
        let text = std::fs::read_to_string(&path).unwrap();
        for code in named(&text, &before, &after) {
            // Folders of the sources have names of the same form.
            let folder = root().join("analysis/src").join(&code);
            if !folder.exists() && !folder.with_extension("rs").exists() {
                assert!(table.contains(&code), "{}: {code}", path.display());
                seen += 1;
            }
        }
    }
    assert!(seen > table.len(), "codes are found in pages at all");
}

#[test]
fn severities_are_written_once() {
    // The code that creates a diagnostic gives its code; the table gives the severity. Only
    // `varied` may change it.
    let places = |text: &str, what: &str| text.matches(what).count();
    let mut varied = Vec::new();
    for (path, text) in sources() {
        let name = path.to_string_lossy().replace('\\', "/");
        let name = name.split("/../").last().unwrap_or("").to_owned();
        let own = ["analysis/src/diagnostic.rs", "analysis/src/config.rs"];
        if own.contains(&name.as_str()) {
            continue;
        }
        for what in [
            "severity: Severity::",
            ".severity = ",
            "Diagnostic {\n",
            "severity: rules::",
            "severity: crate::rules",
        ] {
            let mut lines = text.lines().filter(|l| l.contains(what.trim_end()));
            // A declaration, an implementation or a function signature is not a literal.
            let literal = |l: &&str| {
                !["struct ", "impl ", "fn ", "for ", "-> "]
                    .iter()
                    .any(|w| l.contains(w))
            };
            let found = lines.find(|l| literal(l) && !l.contains("lsp::") && !l.contains("=="));
            assert_eq!(
                found, None,
                "{name} sets a severity or makes a diagnostic by hand"
            );
        }
        if places(&text, ".varied(") > 0 {
            varied.push(name);
        }
    }
    varied.sort();
    assert_eq!(
        varied,
        ["analysis/src/model/told_apart.rs", "lsp/src/diagnostics.rs"]
    );
}

#[test]
fn comments_cite_pages_of_the_repository_only() {
    let root = root();
    for (path, text) in sources() {
        let comments = text.lines().filter(|l| l.trim_start().starts_with("//"));
        for line in comments {
            let words = line.split(|c: char| !c.is_ascii_alphanumeric() && !"-_./".contains(c));
            for page in words.filter(|w| w.ends_with(".md") && w.len() > 3) {
                let there = [root.join(page), root.join("docs").join(page)];
                assert!(
                    there.iter().any(|p| p.exists()),
                    "{}: {line}",
                    path.display()
                );
            }
        }
    }
}
