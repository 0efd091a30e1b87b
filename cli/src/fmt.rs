//! `zonelens fmt`: formats `.xta` and `.q` files in place, and standard input to standard output.

use crate::check::Notation;
use crate::config::Configs;
use crate::inputs::{self, Input};
use crate::model::read_text;
use crate::replace::replace;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use std::io::Write;
use std::path::{Path, PathBuf};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};

/// The exit status of `--check` if a file is not formatted.
const UNFORMATTED: u8 = 1;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Exit status:
  0  all files are formatted
  1  with --check, some file is not
  2  bad usage, or a file cannot be read or written";

/// Arguments of `zonelens fmt`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// Files, patterns, or folders (all .xta, .ta and .q files in them); `-` formats standard input
    /// to standard output
    #[arg(required = true, value_name = "FILE|DIR|-")]
    files: Vec<PathBuf>,
    /// Do not write files; list those that are not formatted, and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// The maximum line length to aim at [default: 100]
    #[arg(long)]
    width: Option<usize>,
    /// The notation of standard input, xta or q [default: xta]
    #[arg(long, value_enum, value_name = "NOTATION")]
    stdin: Option<Notation>,
}

/// Formats each file. Parts with syntax errors are left unchanged.
pub(crate) fn run(args: &Args) -> u8 {
    let (files, problems) = inputs::expand_all(&args.files, inputs::is_formatted);
    let mut status = match problems.is_empty() {
        true => SUCCESS,
        false => BAD_INPUT,
    };
    problems.iter().for_each(|p| output::complain(p));
    let mut configs = Configs::default();
    for Input { path, .. } in files {
        let options = FormatOptions {
            width: args.width.unwrap_or(configs.of(&path).format_width),
            ..FormatOptions::default()
        };
        match one(args, &path, options) {
            Ok(formatted) => {
                if !formatted {
                    status = status.max(UNFORMATTED);
                }
            }
            Err(message) => {
                output::complain(&message);
                status = BAD_INPUT;
            }
        }
    }
    for problem in &configs.problems {
        output::complain(problem);
        status = BAD_INPUT;
    }
    status
}

/// Formats a file; returns false if it was only checked and is not formatted.
fn one(args: &Args, path: &Path, options: FormatOptions) -> Result<bool, String> {
    let piped = inputs::is_stdin(path);
    let text = read_text(path)?;
    let kind = match args.stdin {
        Some(notation) if piped => notation.into(),
        _ => inputs::kind_of(path, &text),
    };
    let name = inputs::shown(path);
    if kind == FileKind::Xml {
        return Err(format!(
            "{name}: XML models cannot be formatted; use `zonelens convert` to create an .xta file"
        ));
    }
    let file = SourceFile::parse(text.as_str(), kind);
    if let Some(refusal) = inputs::foreign(path, &file) {
        return Err(refusal);
    }
    let formatted = format(&file, options);
    let same = formatted == text;
    match (args.check, piped) {
        (true, _) => {
            if !same {
                output::say(&format!("{name} is not formatted"));
            }
            return Ok(same);
        }
        // A closed pipe is the reader's choice, not an error.
        (false, true) => {
            let _ = std::io::stdout().lock().write_all(formatted.as_bytes());
        }
        (false, false) if !same => replace(path, text.as_bytes(), formatted.as_bytes())?,
        (false, false) => {}
    }
    Ok(true)
}
