//! What lenses stood on when the text last made sense, moved along with the text since: a lens that
//! comes and goes while one types makes the text jump.

use crate::code_lens::Lens;
use crate::queries::QuerySite;
use std::collections::HashMap;
use std::sync::Arc;
use zonelens_syntax::span::Span;

/// What was found in a text, with that text.
pub(crate) type Found<T> = Arc<(Arc<str>, Vec<T>)>;

/// By document.
#[derive(Default)]
pub(crate) struct LastGood {
    queries: HashMap<String, Found<QuerySite>>,
    templates: HashMap<String, Found<Lens>>,
}

impl LastGood {
    /// The queries that were found last in a document.
    pub(crate) fn queries(&self, uri: &str) -> Option<Found<QuerySite>> {
        self.queries.get(uri).cloned()
    }

    /// Notes queries that were found; gives those that were noted before.
    pub(crate) fn keep_queries(
        &mut self,
        uri: String,
        found: Found<QuerySite>,
    ) -> Option<Found<QuerySite>> {
        self.queries.insert(uri, found)
    }

    /// The lenses over templates of the last text that had some.
    pub(crate) fn templates(&self, uri: &str) -> Option<Found<Lens>> {
        self.templates.get(uri).cloned()
    }

    /// Notes lenses that were found; gives those that were noted before.
    pub(crate) fn keep_templates(
        &mut self,
        uri: String,
        found: Found<Lens>,
    ) -> Option<Found<Lens>> {
        self.templates.insert(uri, found)
    }

    /// A document was closed.
    pub(crate) fn forget(&mut self, uri: &str) {
        self.queries.remove(uri);
        self.templates.remove(uri);
    }
}

/// The queries of `good` that are still in `text` but that its errors hide from `sites`. Their
/// meanings are old.
pub(crate) fn hidden_queries(
    good: &Found<QuerySite>,
    text: &str,
    sites: &[QuerySite],
) -> Vec<QuerySite> {
    let (old, good) = &**good;
    let missing = |site: &&QuerySite| sites.iter().all(|s| s.text != site.text);
    let missing: Vec<&QuerySite> = good.iter().filter(missing).collect();
    if missing.is_empty() {
        return Vec::new();
    }
    let moved = Moved::new(old, text);
    let hidden = |site: &&QuerySite| {
        let span = moved.span(site.span)?;
        // A formula that was rewritten in its place is that one now.
        let seen = |s: &QuerySite| s.span.start < span.end && span.start < s.span.end;
        let expected = |(verdict, at)| (verdict, moved.span(at).unwrap_or(span));
        (!sites.iter().any(seen)).then(|| QuerySite {
            span,
            expected: site.expected.map(expected),
            ..(*site).clone()
        })
    };
    missing.iter().filter_map(hidden).collect()
}

/// The lenses of `good` at their places in `text`, marked as stale.
pub(crate) fn stale_templates(good: &Found<Lens>, text: &str) -> Vec<Lens> {
    let (old, good) = &**good;
    let moved = Moved::new(old, text);
    let stale = |lens: &Lens| {
        Some(Lens {
            span: moved.span(lens.span)?,
            title: format!("{} (stale)", lens.title),
            ..lens.clone()
        })
    };
    good.iter().filter_map(stale).collect()
}

/// Where places of an old text are in a new one.
struct Moved<'a> {
    old: &'a str,
    new: &'a str,
    /// Bytes that are the same at the start, and after those at the end.
    prefix: usize,
    suffix: usize,
}

impl<'a> Moved<'a> {
    fn new(old: &'a str, new: &'a str) -> Moved<'a> {
        let same = |(a, b): &(u8, u8)| a == b;
        let prefix = old.bytes().zip(new.bytes()).take_while(same).count();
        let rest = old.len().min(new.len()) - prefix;
        let ends = old.bytes().rev().zip(new.bytes().rev()).take(rest);
        Moved {
            old,
            new,
            prefix,
            suffix: ends.take_while(same).count(),
        }
    }

    /// Where the text of `span` is now: outside the changed part it moved along, inside it is
    /// searched for.
    fn span(&self, span: Span) -> Option<Span> {
        let (start, end) = (span.start as usize, span.end as usize);
        if end <= self.prefix {
            return Some(span);
        }
        let at = if start >= self.old.len() - self.suffix {
            start + self.new.len() - self.old.len()
        } else {
            let text = self.old.get(start..end).filter(|t| !t.is_empty())?;
            let places = self.new.match_indices(text).map(|(at, _)| at);
            places.min_by_key(|at| at.abs_diff(start))?
        };
        Some(Span::new(at as u32, (at + end - start) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_along_with_the_text() {
        let old = "int a;\nA[] x\nE<> y\n";
        let span = |text: &str, part: &str| {
            let at = text.find(part).expect("there");
            Span::new(at as u32, (at + part.len()) as u32)
        };
        let new = "/* é\nint a;\nA[] x\nE<> y\n";
        let moved = Moved::new(old, new);
        for part in ["int a", "A[] x", "E<> y"] {
            assert_eq!(moved.span(span(old, part)), Some(span(new, part)));
        }
        // Edits before and after: the text between is searched for. Deleted text is gone.
        let new = "/*\nint a;\nA[] x\n// more\n";
        let moved = Moved::new(old, new);
        assert_eq!(moved.span(span(old, "A[] x")), Some(span(new, "A[] x")));
        assert_eq!(moved.span(span(old, "E<> y")), None);
        assert_eq!(Moved::new(old, "").span(span(old, "E<> y")), None);
    }
}
