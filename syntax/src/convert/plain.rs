//! `.xta` without `//@ xml` lines: the model alone, for people who draw nothing.

use super::to_xta;
use crate::SourceFile;
use crate::ast::{FileKind, ItemKind, MemberKind, PragmaKind};
use crate::error::SyntaxError;
use crate::source::members;
use crate::span::Span;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// The model as `.xta` text without its `//@ xml` lines. Places, colours, nails, labels of comments and stored results
/// are left out. Refused, with the reasons, where [`to_xta`] refuses, and where only such a line tells two locations
/// of one name apart.
pub fn to_plain_xta(file: &SourceFile) -> Result<String, Vec<SyntaxError>> {
    let converted = SourceFile::parse(to_xta(file)?, FileKind::Xta);
    let lines = xml_lines(&converted);
    if lines.is_empty() {
        return Ok(converted.text.to_string());
    }
    if let Some(name) = twice(&converted) {
        let message = format!(
            "two locations of one process are called `{name}`; without `//@ xml` lines nothing tells them apart: rename one first, or convert without `--plain`"
        );
        let error = SyntaxError::new("syntax/convert", message, Span::default());
        return Err(vec![error]);
    }
    let mut out = String::with_capacity(converted.text.len());
    let mut from = 0;
    for line in lines {
        out.push_str(&converted.text[from..line.start as usize]);
        from = line.end as usize;
    }
    out.push_str(&converted.text[from..]);
    super::readable(out, FileKind::Xta)
}

/// The `//@ xml` lines, in order; each with its margin and its line break if it has the line for itself.
fn xml_lines(file: &SourceFile) -> Vec<Span> {
    let text = &*file.text;
    let mut out = Vec::new();
    for item in &file.items {
        let own = item.node.pragmas.iter().map(|p| (p, item.offset));
        let inside = members(item).iter().flat_map(|m| {
            let base = item.offset + m.offset;
            m.node.pragmas.iter().map(move |p| (p, base))
        });
        for (pragma, base) in own.chain(inside) {
            if matches!(pragma.kind, PragmaKind::Xml(_)) {
                out.push(whole_line(text, pragma.span.shift(base)));
            }
        }
    }
    out.sort_by_key(|span| (span.start, span.end));
    out.dedup();
    out
}

fn whole_line(text: &str, span: Span) -> Span {
    let before = text[..span.start as usize].trim_end_matches([' ', '\t']);
    if !(before.is_empty() || before.ends_with('\n')) {
        return span;
    }
    let rest = &text[span.end as usize..];
    let breaks = ["\r\n", "\n"].into_iter().find(|b| rest.starts_with(b));
    Span::new(
        before.len() as u32,
        span.end + breaks.map_or(0, str::len) as u32,
    )
}

/// A name that two locations of one process share.
fn twice(file: &SourceFile) -> Option<SmolStr> {
    for item in &file.items {
        if !matches!(item.node.kind, ItemKind::Process(_)) {
            continue;
        }
        let mut seen: FxHashSet<&SmolStr> = FxHashSet::default();
        for member in members(item) {
            let names: Vec<&SmolStr> = match &member.node.kind {
                MemberKind::States(list) => list.iter().map(|l| &l.name.name).collect(),
                MemberKind::Branchpoints(list) => list.iter().map(|b| &b.name.name).collect(),
                _ => continue,
            };
            for name in names {
                if !seen.insert(name) {
                    return Some(name.clone());
                }
            }
        }
    }
    None
}
