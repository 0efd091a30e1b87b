//! The pages: each is in the table of contents, every link has a target, and rule pages have the
//! same headings.
//!
//! The book itself is built by the public workflow; problems that would break it are found here.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The pages below `docs`, with paths relative to it.
fn pages() -> Vec<String> {
    let docs = root().join("docs");
    let mut found = Vec::new();
    let mut folders = vec![docs.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                let path = path.strip_prefix(&docs).expect("below docs");
                found.push(path.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found.sort();
    assert!(found.len() > 100, "the pages are there");
    found
}

/// The lines of a page outside of its code blocks.
fn prose(text: &str) -> Vec<(usize, String)> {
    let mut fenced = false;
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            out.push((number + 1, line.to_owned()));
        }
    }
    out
}

/// The targets of links in a line: `](target)`. A target has no blanks.
fn links(line: &str) -> Vec<&str> {
    line.match_indices("](")
        .filter_map(|(at, _)| line[at + 2..].split_once(')').map(|(target, _)| target))
        .filter(|target| !target.contains(' ') && !target.contains('…'))
        .collect()
}

/// The anchor that GitHub and mdBook give to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c })
        .flat_map(char::to_lowercase)
        .collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    prose(text)
        .iter()
        .filter_map(|(_, line)| {
            let heading = line.trim_start_matches('#');
            (heading.len() < line.len()).then(|| anchor(heading))
        })
        .collect()
}

#[test]
fn every_page_is_in_the_summary() {
    let summary = read(&root().join("docs/SUMMARY.md"));
    let listed: Vec<&str> = summary
        .lines()
        .flat_map(links)
        .filter(|t| !t.is_empty())
        .collect();
    let once: BTreeSet<&str> = listed.iter().copied().collect();
    assert_eq!(once.len(), listed.len(), "a page is listed twice");
    let pages = pages();
    let expected: BTreeSet<&str> = pages
        .iter()
        .map(String::as_str)
        .filter(|p| *p != "SUMMARY.md")
        .collect();
    let missing: Vec<_> = expected.difference(&once).collect();
    let unknown: Vec<_> = once.difference(&expected).collect();
    assert!(missing.is_empty(), "not in docs/SUMMARY.md: {missing:?}");
    assert!(unknown.is_empty(), "in docs/SUMMARY.md only: {unknown:?}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut files: Vec<PathBuf> = pages()
        .iter()
        .map(|p| root().join("docs").join(p))
        .collect();
    for name in [
        "README.md",
        "CONTRIBUTING.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "SECURITY.md",
        "examples/README.md",
        "editors/vscode/README.md",
    ] {
        files.push(root().join(name));
    }
    let mut wrong = Vec::new();
    let mut seen = 0;
    for file in files {
        let text = read(&file);
        for (number, line) in prose(&text) {
            for target in links(&line) {
                if target.is_empty() || target.contains("://") || target.starts_with("mailto:") {
                    continue;
                }
                seen += 1;
                let (path, part) = target.split_once('#').unwrap_or((target, ""));
                let to = match path {
                    "" => file.clone(),
                    path => file.parent().expect("a folder").join(path),
                };
                let there = to.exists() && (part.is_empty() || anchors(&read(&to)).contains(part));
                if !there {
                    wrong.push(format!("{}:{number}: {target}", file.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(seen > 200, "only {seen} links were found");
}

#[test]
fn rule_pages_have_the_same_headings() {
    let mut wrong = Vec::new();
    for page in pages() {
        let Some(code) = page
            .strip_prefix("rules/")
            .and_then(|p| p.strip_suffix(".md"))
        else {
            continue;
        };
        let text = read(&root().join("docs").join(&page));
        let lines = prose(&text);
        let headings: Vec<&str> = lines
            .iter()
            .map(|(_, line)| line.as_str())
            .filter(|line| line.starts_with('#'))
            .collect();
        let title = format!("# {code}");
        let as_usual = match headings.as_slice() {
            [first, rest @ ..] if *first == title => {
                matches!(rest, ["## What to do"] | ["## Why", "## What to do"])
            }
            _ => false,
        };
        if !as_usual {
            wrong.push(format!("{page}: {headings:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn anchors_and_links_are_read_as_written() {
    assert_eq!(anchor(" Why these dependencies"), "why-these-dependencies");
    assert_eq!(anchor(" 1. A `model`, drawn"), "1-a-model-drawn");
    assert_eq!(
        links("[a](b.md#c) and ![d](e.png), `E[](max: 2)`"),
        ["b.md#c", "e.png"]
    );
    assert_eq!(prose("a\n```\n[x](y)\n```\nb").len(), 2);
}
