//! Conversion to `.xta` without `//@ xml` lines: only the model, for users who do not need the
//! drawing.

use super::to_xta;
use crate::SourceFile;
use crate::ast::{FileKind, ItemKind, MemberKind, PragmaKind};
use crate::error::SyntaxError;
use crate::source::members;
use crate::span::Span;
use rustc_hash::FxHashSet;
use smol_str::SmolStr;

/// Converts the model to `.xta` text without `//@ xml` lines. Coordinates, colours, nails, comment
/// labels and stored results are left out. Fails, with the reasons, where [`to_xta`] fails, and
/// where only such a line distinguishes two locations of the same name.
pub fn to_plain_xta(file: &SourceFile) -> Result<String, Vec<SyntaxError>> {
    let converted = SourceFile::parse(to_xta(file)?, FileKind::Xta);
    let lines = xml_lines(&converted);
    if lines.is_empty() {
        return Ok(converted.text.to_string());
    }
    if let Some(name) = shared_name(&converted) {
        let message = format!(
            "two locations of one process are called `{name}`; without `//@ xml` lines nothing tells them apart: rename one first, or convert without `--plain`"
        );
        let error = SyntaxError::new("syntax/convert", message, Span::START);
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

/// The `//@ xml` lines in order, each with its indentation and line break if nothing else is on the
/// line.
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
fn shared_name(file: &SourceFile) -> Option<SmolStr> {
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
