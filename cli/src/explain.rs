//! `zonelens explain CODE`: the page of a diagnostic.

use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use zonelens_analysis::{codes_with, explain};

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Exit status:
  0  the code exists
  2  there is no such code";

/// Arguments of `zonelens explain`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// The code of a diagnostic, `sym/arithmetic` for instance, or a part of it; without one, all
    /// codes are listed
    code: Option<String>,
}

/// Prints the page of the code, or of the only code that contains the text; several codes are
/// listed with their default severities.
pub(crate) fn run(args: &Args) -> u8 {
    let asked = args.code.as_deref().unwrap_or_default().trim();
    let found = codes_with(asked);
    match found.as_slice() {
        [] => {
            output::complain(&format!(
                "there is no diagnostic `{asked}`, and no code contains this text; `zonelens explain` lists all codes"
            ));
            return BAD_INPUT;
        }
        [(code, _)] => output::say(explain(code).unwrap_or_default().trim_end()),
        several => {
            for (code, severity) in several {
                output::say(&format!("{code:<32} {}", severity.name()));
            }
        }
    }
    SUCCESS
}
