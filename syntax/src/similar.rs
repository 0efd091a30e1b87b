//! Finds the word that was probably meant, for "did you mean" messages.

/// Whether `a` is probably a misspelling of `b`: equal up to case, or up to one changed, missing,
/// added or swapped letter (two in longer words).
pub fn is_close(a: &str, b: &str) -> bool {
    if a.eq_ignore_ascii_case(b) {
        return true;
    }
    let (shorter, longer) = (a.len().min(b.len()), a.len().max(b.len()));
    let allowed = match shorter {
        0..=2 => return false,
        3..=5 => 1,
        _ => 2,
    };
    longer - shorter <= allowed
        && strsim::osa_distance(&a.to_ascii_lowercase(), &b.to_ascii_lowercase()) <= allowed
}

/// The word closest to `name`; among equally close ones, the first in alphabetical order.
pub fn closest<'a>(name: &str, words: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let near = words
        .into_iter()
        .filter(|w| *w != name && is_close(name, w));
    near.min_by_key(|w| (distance(name, w), *w))
}

/// Twice the edit distance up to case, plus one if the words differ, so that case breaks ties.
pub fn distance(a: &str, b: &str) -> usize {
    2 * strsim::osa_distance(&a.to_ascii_lowercase(), &b.to_ascii_lowercase()) + usize::from(a != b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_words() {
        for (a, b) in [
            ("gaurd", "guard"),
            ("comit", "commit"),
            ("urgnet", "urgent"),
            ("proces", "process"),
            ("swich", "switch"),
            ("Train", "train"),
            ("IF", "if"),
            ("broadcst", "broadcast"),
        ] {
            assert!(is_close(a, b), "{a} {b}");
        }
        for (a, b) in [("x1", "x2"), ("ab", "b"), ("guard", "state"), ("int", "in")] {
            assert!(!is_close(a, b), "{a} {b}");
        }
        assert_eq!(closest("tran", ["trans", "Tran", "train"]), Some("Tran"));
        assert_eq!(closest("guard", ["guard"]), None);
    }
}
