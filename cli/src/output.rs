//! Writing for people: colour where it helps, complaints on standard error.

use std::io::{IsTerminal, Write};

/// Writes a line to standard output. A closed pipe is the reader's choice, not an error.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Writes an error for people to standard error.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr().lock(), "zonelens: {message}");
}

/// Colours for one stream, or none.
#[derive(Clone, Copy)]
pub struct Palette {
    enabled: bool,
}

impl Palette {
    /// For standard output: colours only on a terminal, and never with `NO_COLOR`.
    pub fn for_stdout() -> Palette {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|v| v == "dumb");
        Palette {
            enabled: std::io::stdout().is_terminal() && !forbidden && !dumb,
        }
    }

    /// Without colours.
    #[cfg(test)]
    pub fn plain() -> Palette {
        Palette { enabled: false }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.enabled {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// What is good.
    pub fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    /// What is bad.
    pub fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// What is open.
    pub fn doubtful(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// What matters less.
    pub fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// What stands out.
    pub fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }
}

/// `41200` as `41 200`: digits in groups, with a no-break space that terminals do not fold.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

/// A duration as people say it.
pub fn seconds(value: f64) -> String {
    if value < 0.001 {
        "under 1 ms".to_owned()
    } else if value < 1.0 {
        format!("{:.0} ms", value * 1000.0)
    } else if value < 120.0 {
        format!("{value:.1} s")
    } else {
        format!("{} min {:02} s", value as u64 / 60, value as u64 % 60)
    }
}

/// A number of bytes as people say it.
pub fn bytes(value: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    let mut amount = value as f64 / 1024.0;
    let mut unit = 0;
    while amount >= 1024.0 && unit + 1 < UNITS.len() {
        amount /= 1024.0;
        unit += 1;
    }
    if amount < 10.0 {
        format!("{amount:.1} {}", UNITS[unit])
    } else {
        format!("{amount:.0} {}", UNITS[unit])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_people_write_them() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1234567), "1\u{202f}234\u{202f}567");
        assert_eq!(seconds(0.0004), "under 1 ms");
        assert_eq!(seconds(0.25), "250 ms");
        assert_eq!(seconds(61.0), "61.0 s");
        assert_eq!(seconds(125.0), "2 min 05 s");
        assert_eq!(bytes(2048), "2.0 KB");
        assert_eq!(bytes(50 << 20), "50 MB");
    }
}
