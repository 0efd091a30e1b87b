//! `zonelens explain CODE`: the page of a diagnostic.

use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use zonelens_analysis::explain;

/// Arguments of `zonelens explain`.
#[derive(ClapArgs)]
pub struct Args {
    /// The code as it stands in the diagnostic, `sym/arithmetic` for instance
    code: String,
}

/// Prints the page.
pub fn run(args: &Args) -> u8 {
    match explain(args.code.trim()) {
        Some(page) => {
            output::say(page.trim_end());
            SUCCESS
        }
        None => {
            output::complain(&format!(
                "there is no diagnostic `{}`; codes are written `area/name`, as `zonelens check` prints them",
                args.code
            ));
            BAD_INPUT
        }
    }
}
