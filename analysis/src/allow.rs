//! `//@ allow CODE reason`: silences one diagnostic on the line after it.

use crate::diagnostic::Diagnostic;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{Pragma, PragmaKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::LineIndex;

/// Removes what is allowed. Errors of syntax stay: there is no text to take instead.
pub fn apply(file: &SourceFile, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut allowed = Vec::new();
    let mut take = |pragmas: &[Pragma], base: u32| {
        for p in pragmas {
            if let PragmaKind::Allow { code, .. } = &p.kind {
                allowed.push((code.clone(), p.span.end + base));
            }
        }
    };
    for item in &file.items {
        take(&item.node.pragmas, item.offset);
        for m in members(item) {
            take(&m.node.pragmas, item.offset + m.offset);
        }
    }
    if allowed.is_empty() {
        return diagnostics;
    }
    let index = LineIndex::new(&file.text);
    let line = |offset: u32| index.line_col(&file.text, offset).line;
    let allowed: Vec<_> = allowed
        .into_iter()
        .map(|(code, end)| (code, line(end)))
        .collect();
    diagnostics
        .into_iter()
        .filter(|d| {
            let at = line(d.span.start);
            d.code.starts_with("syntax/")
                || !allowed
                    .iter()
                    .any(|(code, l)| *code == d.code && l + 1 == at)
        })
        .collect()
}
