//! What can be folded: templates, functions, long declarations, blocks of comments, elements of
//! XML.

use crate::snapshot::Snapshot;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{Comment, ItemKind, MemberKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// A foldable range of lines.
pub struct Fold {
    /// First and last 0-based line.
    pub lines: (u32, u32),
    /// Whether it is a comment.
    pub comment: bool,
}

/// All foldable ranges.
pub fn folds(snapshot: &Snapshot) -> Vec<Fold> {
    let mut out = Vec::new();
    let line = |offset: u32| {
        let offset = (offset as usize).min(snapshot.rope.len_bytes());
        snapshot.rope.byte_to_line(offset) as u32
    };
    let mut add = |span: Span, comment: bool| {
        let lines = (line(span.start), line(span.end));
        if lines.1 > lines.0 {
            out.push(Fold { lines, comment });
        }
    };
    let file = snapshot.file();
    for item in &file.items {
        if !matches!(item.node.kind, ItemKind::Empty) {
            add(item.node.span.shift(item.offset), false);
        }
        comments(file, &item.node.comments, item.offset, &mut add);
        for member in members(item) {
            let base = item.offset + member.offset;
            if matches!(
                member.node.kind,
                MemberKind::Function(_) | MemberKind::States(_)
            ) {
                add(member.node.span.shift(base), false);
            }
            comments(file, &member.node.comments, base, &mut add);
        }
    }
    for tag in file.elements() {
        add(tag.span, tag.name == "!--");
    }
    // Of two ranges with the same lines, the one of the language comes first.
    out.sort_by_key(|f| f.lines);
    out.dedup_by_key(|f| f.lines);
    out
}

/// Runs of line comments that follow each other, and block comments.
fn comments(file: &SourceFile, list: &[Comment], base: u32, add: &mut impl FnMut(Span, bool)) {
    let mut run: Option<Span> = None;
    for comment in list {
        let span = comment.span.shift(base);
        if comment.text.starts_with("/*") {
            add(span, true);
            continue;
        }
        run = match run {
            Some(r) if follows(file, r, span) => Some(r.cover(span)),
            Some(r) => {
                add(r, true);
                Some(span)
            }
            None => Some(span),
        };
    }
    if let Some(run) = run {
        add(run, true);
    }
}

/// Whether a line comment stands on the line after another, with nothing but blanks between them.
fn follows(file: &SourceFile, before: Span, after: Span) -> bool {
    let between = Span::new(before.end.min(after.start), after.start);
    let gap = file.slice(between);
    gap.trim().is_empty() && gap.matches('\n').count() <= 1
}
