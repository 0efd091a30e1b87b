//! Shared by the integration tests: the corpus, a seeded generator, span-free comparison.
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{ItemKind, MemberKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// Says that the test of this thread does nothing, past the harness' capture: `cargo xtask ci` counts such lines.
pub fn skip(why: &str) {
    use std::io::Write;
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stdout(), "SKIPPED: {test}: {why}");
}

/// The corpus folder, or a message and `None`.
pub fn corpus_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("ZONELENS_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus"))
        });
    if dir.join("EXPECT-PARSE.tsv").exists() {
        return Some(dir);
    }
    skip(&format!(
        "there is no corpus at {} (set ZONELENS_CORPUS)",
        dir.display()
    ));
    None
}

/// All model and query files of the corpus, sorted.
pub fn corpus_files(dir: &Path) -> Vec<PathBuf> {
    let mut out = Vec::new();
    let mut todo = vec![dir.join("models")];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                todo.push(path);
            } else if path
                .extension()
                .is_some_and(|e| ["xml", "xta", "ta", "q"].iter().any(|k| e == *k))
            {
                out.push(path);
            }
        }
    }
    out.sort();
    out
}

/// The examples of this repository, with their text.
pub fn examples() -> Vec<(String, String)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let mut out: Vec<_> = std::fs::read_dir(dir)
        .expect("examples/")
        .flatten()
        .map(|e| e.path().to_string_lossy().into_owned())
        .filter(|p| [".xta", ".q", ".xml"].iter().any(|e| p.ends_with(e)))
        .map(|p| (p.clone(), std::fs::read_to_string(&p).expect("text")))
        .collect();
    out.sort();
    out
}

/// splitmix64: small, seeded, the same everywhere.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len() as u64) as usize]
    }
}

/// A tree's debug text without spans (`@12..15`).
pub fn without_spans(debug: &str) -> String {
    let mut out = String::with_capacity(debug.len());
    let mut rest = debug;
    while let Some(at) = rest.find('@') {
        let tail = &rest[at + 1..];
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        let more = tail[digits..]
            .strip_prefix("..")
            .map(|t| t.bytes().take_while(u8::is_ascii_digit).count());
        match (digits, more) {
            (1.., Some(end @ 1..)) => {
                out.push_str(&rest[..at]);
                rest = &tail[digits + 2 + end..];
            }
            _ => {
                out.push_str(&rest[..=at]);
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// An item whose query, if it is one, does not say how its blanks were.
pub fn without_query_text(item: &zonelens_syntax::ast::Item) -> zonelens_syntax::ast::Item {
    let mut item = item.clone();
    if let ItemKind::Query(query) = &mut item.kind {
        query.text = query.text.replace(' ', "").into();
    }
    item
}

/// Checks that names of declarations, locations and templates stand where their spans say; how many did.
pub fn check_name_spans(file: &SourceFile, name: &str) -> u32 {
    let mut count = 0;
    let mut check = |text: &str, span: Span| {
        let found = file.slice(span);
        // A template without a name is an error that stands at its tag.
        if !text.is_empty() && !found.contains('&') {
            assert_eq!(found, text, "{name} at {span:?}");
            count += 1;
        }
    };
    for item in &file.items {
        match &item.node.kind {
            ItemKind::Var(v) => {
                v.names
                    .iter()
                    .for_each(|d| check(&d.name.name, d.name.span.shift(item.offset)));
            }
            ItemKind::Function(f) => check(&f.name.name, f.name.span.shift(item.offset)),
            ItemKind::Process(p) => check(&p.name.name, p.name.span.shift(item.offset)),
            _ => {}
        }
        for member in members(item) {
            let base = item.offset + member.offset;
            match &member.node.kind {
                MemberKind::Var(v) => v
                    .names
                    .iter()
                    .for_each(|d| check(&d.name.name, d.name.span.shift(base))),
                MemberKind::States(list) => {
                    list.iter()
                        .filter(|l| !l.anonymous)
                        .for_each(|l| check(&l.name.name, l.name.span.shift(base)));
                }
                _ => {}
            }
        }
    }
    count
}
