//! Shared by the integration tests: examples and span-free comparison.
#![allow(dead_code)]

use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{ItemKind, MemberKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// The examples of this repository: path and text.
pub(crate) fn examples() -> Vec<(String, String)> {
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

/// A tree's debug text without spans (`@12..15`).
pub(crate) fn without_spans(debug: &str) -> String {
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

/// The item; if it is a query, without its text, which depends on white space.
pub(crate) fn without_query_text(item: &zonelens_syntax::ast::Item) -> zonelens_syntax::ast::Item {
    let mut item = item.clone();
    if let ItemKind::Query(query) = &mut item.kind {
        query.text = query.text.replace(' ', "").into();
    }
    item
}

/// Checks that the spans of declared names, locations and templates contain those names; returns
/// how many were checked.
pub(crate) fn check_name_spans(file: &SourceFile, name: &str) -> u32 {
    let mut count = 0;
    let mut check = |text: &str, span: Span| {
        let found = file.slice(span);
        // A template without a name is an error located at its tag.
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
