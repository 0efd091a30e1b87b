//! `zonelens convert`: between `.xml` and `.xta`, without loss.

use crate::model::Source;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use std::path::PathBuf;
use zonelens_render::places::places;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::convert::{to_plain_xta, to_xml_drawn, to_xta};

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Exit status:
  0  the file is written
  2  bad usage, a model with syntax errors, or a file cannot be read or written";

/// Arguments of `zonelens convert`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// The model to read
    #[arg(value_name = "IN")]
    input: PathBuf,
    /// The file to write; its extension, .xml or .xta, determines the notation
    #[arg(value_name = "OUT")]
    output: PathBuf,
    /// Write .xta without `//@ xml` lines: only the model and its queries, without coordinates,
    /// colours and stored results
    #[arg(long)]
    plain: bool,
}

/// Converts a model. A model with syntax errors is refused, because part of it would be lost.
pub(crate) fn run(args: &Args) -> u8 {
    let extension = args.output.extension().map(|e| e.to_ascii_lowercase());
    let notation = extension.as_ref().and_then(|e| e.to_str());
    if !matches!(notation, Some("xml" | "xta" | "ta")) {
        let why = match notation {
            Some("q") => "models are converted to .xml or .xta, and their queries are included",
            _ => "its extension must be .xml or .xta",
        };
        output::complain(&format!("{}: {why}", args.output.display()));
        return BAD_INPUT;
    }
    if args.plain && notation == Some("xml") {
        output::complain(
            "`--plain` leaves out `//@ xml` lines, which only .xta files have; use an OUT that ends with .xta",
        );
        return BAD_INPUT;
    }
    let source = match Source::read(&args.input) {
        Ok(source) => source,
        Err(message) => {
            output::complain(&message);
            return BAD_INPUT;
        }
    };
    let converted = match FileKind::from_path(&args.output.to_string_lossy()) {
        FileKind::Xml => to_xml_drawn(&source.file, &places),
        _ if args.plain => to_plain_xta(&source.file),
        _ => to_xta(&source.file),
    };
    let text = match converted {
        Ok(text) => text,
        Err(errors) => {
            for error in errors {
                let place = source.place(error.span);
                output::complain(&format!("{place}: {} [{}]", error.message, error.code));
            }
            return BAD_INPUT;
        }
    };
    match std::fs::write(&args.output, text) {
        Ok(()) => SUCCESS,
        Err(error) => {
            output::complain(&format!(
                "{} cannot be written: {error}",
                args.output.display()
            ));
            BAD_INPUT
        }
    }
}
