//! All codes that the crate can report, with severities and pages.

use crate::diagnostic::Severity::{self, Error, Hint, Info, Warning};

macro_rules! rules {
    ($(($code:literal, $severity:ident)),* $(,)?) => {
        /// Pairs of code and default severity.
        const CODES: &[(&str, Severity)] = &[$(($code, $severity)),*];
        /// The page of each code, in the same order.
        const PAGES: &[&str] = &[$(include_str!(concat!("../../docs/rules/", $code, ".md"))),*];
    };
}

rules![
    ("every/broadcast", Error),
    ("every/clock", Error),
    ("every/count", Error),
    ("every/initial", Error),
    ("every/loop", Error),
    ("every/part", Error),
    ("every/priority", Error),
    ("every/query", Error),
    ("every/set", Error),
    ("every/size", Error),
    ("lint/allow", Warning),
    ("lint/argument", Warning),
    ("lint/broadcast-clock-guard", Info),
    ("lint/channel-partner", Warning),
    ("lint/clock-never-read", Warning),
    ("lint/clock-never-reset", Hint),
    ("lint/dead-end", Hint),
    ("lint/endless-loop", Warning),
    ("lint/false-guard", Warning),
    ("lint/index", Warning),
    ("lint/initialiser", Warning),
    ("lint/invariant-on-entry", Warning),
    ("lint/label-kind", Warning),
    ("lint/limit-not-reached", Hint),
    ("lint/meta-carried", Warning),
    ("lint/missing-return", Warning),
    ("lint/more", Info),
    ("lint/never-binding", Warning),
    ("lint/never-happens", Hint),
    ("lint/never-read", Warning),
    ("lint/no-effect", Warning),
    ("lint/no-locations", Warning),
    ("lint/pragma", Warning),
    ("lint/unreachable-location", Warning),
    ("lint/unused-select", Warning),
    ("lint/urgent-clock-guard", Warning),
    ("lint/zeno", Hint),
    ("name/duplicate", Error),
    ("name/identifier", Error),
    ("name/keyword", Error),
    ("name/not-a-type", Error),
    ("name/not-a-value", Error),
    ("name/unknown", Error),
    ("query/deadlock", Error),
    ("query/expectation", Error),
    ("query/name", Error),
    ("query/no-model", Info),
    ("query/not-reduced", Hint),
    ("query/range", Error),
    ("query/syntax", Error),
    ("query/trace", Info),
    ("query/type", Error),
    ("query/unanswered", Error),
    ("query/vacuous", Hint),
    ("sym/arithmetic", Error),
    ("sym/broadcast-order", Error),
    ("sym/clock", Error),
    ("sym/constant", Error),
    ("sym/default", Error),
    ("sym/detected", Hint),
    ("sym/index-int", Error),
    ("sym/index-other", Error),
    ("sym/index-scalar", Error),
    ("sym/initial", Info),
    ("sym/literal", Error),
    ("sym/local", Info),
    ("sym/loop-order", Error),
    ("sym/meta", Error),
    ("sym/mixed", Error),
    ("sym/non-canonical", Hint),
    ("sym/order", Error),
    ("sym/partial-instance", Error),
    ("sym/priority", Error),
    ("sym/query", Warning),
    ("sym/undetected", Hint),
    ("syntax/after-system", Error),
    ("syntax/character", Error),
    ("syntax/convert", Error),
    ("syntax/encoding", Error),
    ("syntax/missing-semicolon", Error),
    ("syntax/nesting", Error),
    ("syntax/no-system", Error),
    ("syntax/size", Error),
    ("syntax/system", Error),
    ("syntax/unclosed", Error),
    ("syntax/unclosed-comment", Error),
    ("syntax/unexpected", Error),
    ("syntax/xml", Error),
    ("system/argument", Error),
    ("system/duplicate-process", Error),
    ("system/free-parameter", Error),
    ("system/initial", Error),
    ("system/missing", Error),
    ("system/not-a-template", Error),
    ("system/size", Error),
    ("type/argument", Error),
    ("type/argument-count", Error),
    ("type/array-size", Error),
    ("type/call", Error),
    ("type/condition", Error),
    ("type/constant", Error),
    ("type/empty-range", Error),
    ("type/field", Error),
    ("type/for-declaration", Error),
    ("type/guard", Error),
    ("type/index", Error),
    ("type/index-type", Error),
    ("type/initialiser", Error),
    ("type/invariant", Error),
    ("type/iteration", Error),
    ("type/local", Error),
    ("type/location", Error),
    ("type/loop", Error),
    ("type/member", Error),
    ("type/mismatch", Error),
    ("type/misplaced", Error),
    ("type/not-assignable", Error),
    ("type/not-constant", Error),
    ("type/operand", Error),
    ("type/overflow", Error),
    ("type/prefix", Error),
    ("type/range", Error),
    ("type/recursion", Error),
    ("type/reference", Error),
    ("type/return", Error),
    ("type/scalar-size", Error),
    ("type/side-effect", Error),
    ("type/sync", Error),
    ("type/void", Error),
    ("unsupported/branchpoint", Info),
    ("unsupported/channel-choice", Info),
    ("unsupported/channel-parameter", Info),
    ("unsupported/clock-choice", Info),
    ("unsupported/clock-copy", Info),
    ("unsupported/clock-in-function", Info),
    ("unsupported/clock-shift", Info),
    ("unsupported/clock-sum", Info),
    ("unsupported/cost", Info),
    ("unsupported/csp", Warning),
    ("unsupported/double", Info),
    ("unsupported/dynamic", Info),
    ("unsupported/ecdar", Info),
    ("unsupported/expression", Info),
    ("unsupported/game", Info),
    ("unsupported/import", Info),
    ("unsupported/learning", Info),
    ("unsupported/lsc", Info),
    ("unsupported/rate", Info),
    ("unsupported/reference", Info),
    ("unsupported/statistical", Info),
    ("unsupported/strategy", Info),
    ("unsupported/switch", Info),
];

/// All codes with their default severities, in alphabetical order.
pub fn codes() -> &'static [(&'static str, Severity)] {
    CODES
}

/// The default severity of a code. Syntax errors and unknown codes are errors.
pub fn severity(code: &str) -> Severity {
    match CODES.binary_search_by(|(c, _)| (*c).cmp(code)) {
        Ok(k) => CODES[k].1,
        Err(_) => Error,
    }
}

/// A one-sentence description of a code: the first sentence of its page.
pub fn title(code: &str) -> Option<String> {
    let body = explain(code)?.split_once("\n\n")?.1;
    let paragraph = body.split("\n\n").next()?.replace('\n', " ");
    let end = paragraph.find(". ").map_or(paragraph.len(), |k| k + 1);
    Some(paragraph[..end].trim_end().to_owned())
}

/// The codes that a user may mean: the one that is written, else all that contain the text.
pub fn codes_with(asked: &str) -> Vec<(&'static str, Severity)> {
    let asked = asked.trim().to_lowercase();
    let asked = asked.trim_matches(['[', ']']);
    let exact: Vec<_> = CODES.iter().filter(|(c, _)| *c == asked).copied().collect();
    match exact.is_empty() {
        true => CODES
            .iter()
            .filter(|(c, _)| c.contains(asked))
            .copied()
            .collect(),
        false => exact,
    }
}

/// The page of a code, for `zonelens explain`.
pub fn explain(code: &str) -> Option<&'static str> {
    let k = CODES.binary_search_by(|(c, _)| (*c).cmp(code)).ok()?;
    PAGES.get(k).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_sorted_and_have_their_own_page() {
        assert!(CODES.windows(2).all(|w| w[0].0 < w[1].0));
        for (code, _) in CODES {
            let page = explain(code).unwrap_or("");
            assert!(page.starts_with(&format!("# {code}\n")), "{code}");
            let title = title(code).unwrap_or_default();
            assert!(title.ends_with('.') && title.len() > 10, "{code}: {title}");
            assert!(
                !title.contains('#') && !title.contains("```"),
                "{code}: {title}"
            );
        }
        assert_eq!(explain("no/such"), None);
    }
}
