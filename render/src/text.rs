//! The size of text. The drawings use a monospaced font, so counting characters is enough.

/// Width of a character in labels.
pub(crate) const CHAR: f64 = 7.3;
/// Height of a line in labels.
pub(crate) const LINE: f64 = 15.0;

/// The width of the longest line.
pub(crate) fn width(lines: &[String]) -> f64 {
    let longest = lines.iter().map(|l| l.chars().count()).max().unwrap_or(0);
    longest as f64 * CHAR
}

/// The height of all lines.
pub(crate) fn height(lines: &[String]) -> f64 {
    lines.len() as f64 * LINE
}

/// The maximum number of characters of a label; longer ones are cut.
pub(crate) const MAX: usize = 60;

/// The text on one line, without the white space used to arrange long labels, and cut at [`MAX`]
/// characters.
pub(crate) fn label(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= MAX {
        return flat;
    }
    let mut cut: String = flat.chars().take(MAX - 1).collect();
    cut.push('…');
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_labels_are_cut() {
        assert_eq!(label(" x <= 5\n   && y > 2 "), "x <= 5 && y > 2");
        assert_eq!(label(&"a".repeat(100)).chars().count(), 60);
    }
}
