//! `check --fix`: fixes that may be applied without asking.

use super::analyse;
use std::path::Path;
use zonelens_analysis::Severities;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::TextEdit;

/// The maximum number of rounds of fixes: one fix may make another possible, for instance for parts
/// of one condition. Each one removes something or corrects an error, so the rounds end by
/// themselves; the limit is a safeguard.
const ROUNDS: usize = 100;

/// The text with all safe fixes applied, and their number.
pub(super) fn apply(
    path: &Path,
    text: &str,
    kind: FileKind,
    severities: &Severities,
) -> (String, usize) {
    let (mut text, mut fixed) = (text.to_owned(), 0);
    let (mut found, _) = analyse(path, &text, kind, severities);
    for _ in 0..ROUNDS {
        let (next, count) = round(&text, &found);
        if count == 0 {
            break;
        }
        let (after, _) = analyse(path, &next, kind, severities);
        // A fix that makes things worse is not applied.
        if errors(&after) > errors(&found) {
            break;
        }
        (text, found) = (next, after);
        fixed += count;
    }
    (text, fixed)
}

fn errors(found: &[Diagnostic]) -> usize {
    let errors = found.iter().filter(|d| d.severity == Severity::Error);
    errors.count()
}

/// Applies one safe fix of each diagnostic, unless it overlaps with an earlier one.
fn round(text: &str, found: &[Diagnostic]) -> (String, usize) {
    let mut taken: Vec<&TextEdit> = Vec::new();
    let mut count = 0;
    for fix in found.iter().filter_map(|d| d.fixes.iter().find(|f| f.safe)) {
        let apart = |e: &TextEdit| {
            text.get(e.span.range()).is_some()
                && taken
                    .iter()
                    .all(|t| e.span.end < t.span.start || t.span.end < e.span.start)
        };
        if !fix.edits.is_empty() && fix.edits.iter().all(apart) {
            taken.extend(&fix.edits);
            count += 1;
        }
    }
    taken.sort_by_key(|e| e.span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in taken {
        out.push_str(text.get(at..edit.span.start as usize).unwrap_or_default());
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (out, count)
}
