//! `zonelens fmt`: formats `.xta` and `.q` files in place.

use crate::config::Configs;
use crate::model::read_text;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use std::path::PathBuf;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};

/// Exit status of `--check` when a file is not formatted.
const UNFORMATTED: u8 = 1;

/// Arguments of `zonelens fmt`.
#[derive(ClapArgs)]
pub struct Args {
    /// Files to format
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write nothing; name the files that are not formatted and exit with 1 if there are any
    #[arg(long)]
    check: bool,
    /// The longest line to aim at [default: 100]
    #[arg(long)]
    width: Option<usize>,
}

/// Formats each file. Parts with syntax errors stay as they are.
pub fn run(args: &Args) -> u8 {
    let mut configs = Configs::default();
    let mut status = SUCCESS;
    for path in &args.files {
        let options = FormatOptions {
            width: args.width.unwrap_or(configs.of(path).format_width),
            ..FormatOptions::default()
        };
        let kind = FileKind::from_path(&path.to_string_lossy());
        if kind == FileKind::Xml {
            output::complain(&format!(
                "{}: XML models are drawn, not written, and are not formatted; `zonelens convert` makes an .xta of one",
                path.display()
            ));
            status = BAD_INPUT;
            continue;
        }
        let text = match read_text(path) {
            Ok(text) => text,
            Err(message) => {
                output::complain(&message);
                status = BAD_INPUT;
                continue;
            }
        };
        let formatted = format(&SourceFile::parse(text.as_str(), kind), options);
        if formatted == text {
            continue;
        }
        if args.check {
            output::say(&format!("{} is not formatted", path.display()));
            status = status.max(UNFORMATTED);
        } else if let Err(error) = std::fs::write(path, formatted) {
            output::complain(&format!("{} cannot be written: {error}", path.display()));
            status = BAD_INPUT;
        }
    }
    for problem in &configs.problems {
        output::complain(problem);
        status = BAD_INPUT;
    }
    status
}
