//! Output for users: colours where they help, errors on standard error.

use clap::ValueEnum;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

/// The most characters of a message that are shown: a name may be as long as a file.
const LONGEST_MESSAGE: usize = 1000;

/// An output stream.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Error,
}

impl Stream {
    /// Writes a line. A closed pipe is the reader's choice, not an error.
    pub(crate) fn say(self, line: &str) {
        let _ = match self {
            Stream::Out => writeln!(std::io::stdout().lock(), "{line}"),
            Stream::Error => writeln!(std::io::stderr().lock(), "{line}"),
        };
    }

    /// The number of columns, if the stream is a terminal.
    pub(crate) fn columns(self) -> Option<usize> {
        let size = match self {
            Stream::Out => terminal_size::terminal_size_of(std::io::stdout()),
            Stream::Error => terminal_size::terminal_size_of(std::io::stderr()),
        };
        size.map(|(width, _)| usize::from(width.0))
    }
}

/// Writes a line to standard output.
pub(crate) fn say(line: &str) {
    Stream::Out.say(line);
}

/// Writes an error for the user to standard error.
pub(crate) fn complain(message: &str) {
    Stream::Error.say(&format!("zonelens: {}", one_line(message)));
}

/// A message for the user: control characters are made visible, and a very long message is
/// shortened.
pub(crate) fn one_line(message: &str) -> Cow<'_, str> {
    shortened(message, LONGEST_MESSAGE)
}

/// Text of at most `most` characters, without control characters.
pub(crate) fn shortened(text: &str, most: usize) -> Cow<'_, str> {
    let cut = text.char_indices().nth(most).map(|(at, _)| at);
    let kept = &text[..cut.unwrap_or(text.len())];
    if cut.is_none() && !kept.contains(char::is_control) {
        return Cow::Borrowed(text);
    }
    let visible = |c: char| match c {
        '\n' | '\t' | '\r' => ' ',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    let mut out: String = kept.chars().map(visible).collect();
    if cut.is_some() {
        out.push('…');
    }
    Cow::Owned(out)
}

/// The values of `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorChoice {
    /// On a terminal, unless the environment says otherwise
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

static CHOICE: OnceLock<ColorChoice> = OnceLock::new();

/// Sets the choice of the command line; the default is `auto`.
pub(crate) fn choose_color(choice: ColorChoice) {
    let _ = CHOICE.set(choice);
}

/// Whether colours are written: decided by the command line, else by the usual variables, else by
/// whether the stream is a terminal.
fn colorful(
    choice: ColorChoice,
    variable: &dyn Fn(&str) -> Option<OsString>,
    terminal: bool,
) -> bool {
    let given = |name: &str| variable(name).filter(|value| !value.is_empty());
    let forced = |name: &str| given(name).is_some_and(|value| value != "0" && value != "false");
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if given("NO_COLOR").is_some() => false,
        ColorChoice::Auto if forced("CLICOLOR_FORCE") || forced("FORCE_COLOR") => true,
        ColorChoice::Auto if given("FORCE_COLOR").is_some() => false,
        ColorChoice::Auto if given("CLICOLOR").is_some_and(|value| value == "0") => false,
        ColorChoice::Auto => terminal && given("TERM").is_none_or(|value| value != "dumb"),
    }
}

/// Colours for one stream, or none.
#[derive(Clone, Copy)]
pub(crate) struct Palette {
    enabled: bool,
}

impl Palette {
    /// The colours for standard output.
    pub(crate) fn for_stdout() -> Palette {
        Palette::of(Stream::Out)
    }

    /// The colours for a stream.
    pub(crate) fn of(stream: Stream) -> Palette {
        let terminal = match stream {
            Stream::Out => std::io::stdout().is_terminal(),
            Stream::Error => std::io::stderr().is_terminal(),
        };
        let choice = CHOICE.get().copied().unwrap_or_default();
        Palette {
            enabled: colorful(choice, &|name| std::env::var_os(name), terminal),
        }
    }

    /// No colours.
    #[cfg(test)]
    pub(crate) fn plain() -> Palette {
        Palette { enabled: false }
    }

    /// Whether it has colours.
    pub(crate) fn is_colored(self) -> bool {
        self.enabled
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.enabled {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }

    /// Colours text about success.
    pub(crate) fn good(self, text: &str) -> String {
        self.paint("1;32", text)
    }

    /// Colours text about a failure.
    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("1;31", text)
    }

    /// Colours text about something undecided.
    pub(crate) fn doubtful(self, text: &str) -> String {
        self.paint("1;33", text)
    }

    /// Colours text of less importance.
    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Colours additional information.
    pub(crate) fn note(self, text: &str) -> String {
        self.paint("1;34", text)
    }

    /// Emphasises text.
    pub(crate) fn strong(self, text: &str) -> String {
        self.paint("1", text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_decides_about_colours() {
        use ColorChoice::{Always, Auto, Never};
        let with = |choice, variables: &[(&str, &str)], terminal| {
            let find = |name: &str| {
                let found = variables.iter().find(|(n, _)| *n == name);
                found.map(|(_, value)| OsString::from(value))
            };
            colorful(choice, &find, terminal)
        };
        assert!(with(Auto, &[], true) && !with(Auto, &[], false));
        assert!(!with(Auto, &[("NO_COLOR", "1")], true));
        assert!(with(Auto, &[("NO_COLOR", "")], true), "empty is not set");
        assert!(with(Auto, &[("CLICOLOR_FORCE", "1")], false));
        assert!(!with(Auto, &[("CLICOLOR_FORCE", "0")], false));
        assert!(with(Auto, &[("FORCE_COLOR", "3")], false));
        assert!(!with(Auto, &[("FORCE_COLOR", "0")], true));
        assert!(!with(
            Auto,
            &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")],
            true
        ));
        assert!(!with(Auto, &[("CLICOLOR", "0")], true));
        assert!(!with(Auto, &[("TERM", "dumb")], true));
        // The command line has precedence.
        assert!(with(Always, &[("NO_COLOR", "1")], false));
        assert!(!with(Never, &[("CLICOLOR_FORCE", "1")], true));
    }

    #[test]
    fn long_and_strange_text_is_harmless() {
        assert_eq!(shortened("a[] x", 10), "a[] x");
        assert_eq!(shortened("0123456789", 4), "0123…");
        assert_eq!(shortened("é\u{1b}[31m\n", 10), "é\u{fffd}[31m ");
    }
}
