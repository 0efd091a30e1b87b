//! `zonelens explain CODE`: the page of a diagnostic.

use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use zonelens_analysis::{codes, explain};

/// Arguments of `zonelens explain`.
#[derive(ClapArgs)]
pub struct Args {
    /// The code as it stands in the diagnostic, `sym/arithmetic` for instance; without one, all codes are listed
    code: Option<String>,
}

/// Prints the page, or all codes with their usual severities.
pub fn run(args: &Args) -> u8 {
    let Some(code) = &args.code else {
        for (code, severity) in codes() {
            output::say(&format!("{code:<32} {}", severity.name()));
        }
        return SUCCESS;
    };
    match explain(code.trim()) {
        Some(page) => {
            output::say(page.trim_end());
            SUCCESS
        }
        None => {
            output::complain(&format!(
                "there is no diagnostic `{code}`; `zonelens explain` lists all codes"
            ));
            BAD_INPUT
        }
    }
}
