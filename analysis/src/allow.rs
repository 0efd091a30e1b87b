//! `//@ allow CODE reason`: silences one diagnostic on the line after it.

use crate::diagnostic::{Diagnostic, Fix};
use rustc_hash::FxHashMap;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{Pragma, PragmaKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::{LineIndex, TextEdit};

/// Removes the allowed diagnostics. Syntax errors stay, because the text has no other reading.
pub(crate) fn apply(file: &SourceFile, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut allowed = Vec::new();
    let mut take = |pragmas: &[Pragma], base: u32| {
        for p in pragmas {
            if let PragmaKind::Allow { code, .. } = &p.kind {
                allowed.push((code.clone(), p.span.shift(base)));
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
    let line = |offset: u32| index.line(offset);
    let mut by_line: FxHashMap<u32, Vec<usize>> = FxHashMap::default();
    for (k, (_, span)) in allowed.iter().enumerate() {
        by_line.entry(line(span.end) + 1).or_default().push(k);
    }
    let mut used = vec![false; allowed.len()];
    let mut out: Vec<Diagnostic> = diagnostics
        .into_iter()
        .filter(|d| {
            let at = line(d.span.start);
            let here = by_line.get(&at).map_or(&[][..], Vec::as_slice);
            let by = here.iter().copied().find(|k| allowed[*k].0 == d.code);
            match by {
                Some(k) if !d.code.starts_with("syntax/") => {
                    used[k] = true;
                    false
                }
                _ => true,
            }
        })
        .collect();
    for ((code, span), used) in allowed.iter().zip(used) {
        if !used {
            let message =
                format!("nothing on the next line is reported as `{code}`, so this has no effect");
            let mut diagnostic = Diagnostic::new("lint/allow", message, *span);
            diagnostic.fixes.push(Fix {
                title: "Remove this line".into(),
                edits: vec![TextEdit {
                    span: *span,
                    text: String::new(),
                }],
                safe: true,
            });
            out.push(diagnostic);
        }
    }
    out
}
