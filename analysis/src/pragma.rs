//! `//@` lines without effect: a misspelt word, an expectation without a query. If they were
//! ignored silently, a test suite could pass while testing less than its author intended.

use crate::diagnostic::Diagnostic;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, Pragma, PragmaKind};
use zonelens_syntax::source::members;

const CODE: &str = "lint/pragma";

/// The `//@` lines of a file that have no effect.
pub(crate) fn check(file: &SourceFile) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    for item in &file.items {
        check_list(&item.node.pragmas, item.offset, file.kind, &mut out);
        for m in members(item) {
            let base = item.offset + m.offset;
            check_list(&m.node.pragmas, base, file.kind, &mut out);
        }
    }
    out
}

fn check_list(pragmas: &[Pragma], base: u32, kind: FileKind, out: &mut Vec<Diagnostic>) {
    // Each query may have one line of each kind, in either order.
    let (mut may_expect, mut may_every) = (false, false);
    for pragma in pragmas {
        let message = match &pragma.kind {
            PragmaKind::Expect(_) if kind == FileKind::Query && !may_expect => Some(
                "this has no effect in a query file: write `/* EXPECT:T */` or `/* EXPECT:F */` before the query"
                    .to_owned(),
            ),
            PragmaKind::Expect(None) => {
                Some("write `//@ expect satisfied` or `//@ expect violated`; this has no effect".to_owned())
            }
            PragmaKind::Expect(Some(_)) if !may_expect => Some(
                "there is no `//@ query` on the line before, so this has no effect".to_owned(),
            ),
            PragmaKind::Every(set) if set.is_empty() => {
                Some("write the set: `//@ every pid`; this has no effect".to_owned())
            }
            PragmaKind::Every(_) if !may_every => Some(
                "there is no `//@ query` on the line before, so this has no effect".to_owned(),
            ),
            PragmaKind::Unknown(word) => Some(format!(
                "`//@ {word}` is unknown and has no effect; use `//@ query`, `//@ expect`, `//@ every` or `//@ allow`"
            )),
            _ => None,
        };
        if let Some(message) = message {
            let at = pragma.span.shift(base);
            out.push(Diagnostic::new(CODE, message, at));
        }
        (may_expect, may_every) = match pragma.kind {
            PragmaKind::Query(_) => (true, true),
            PragmaKind::Expect(_) => (false, may_every),
            PragmaKind::Every(_) => (may_expect, false),
            _ => (false, false),
        };
    }
}
