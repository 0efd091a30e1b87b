//! `zonelens completions` and `zonelens man`: what packagers install beside the binary.

use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args;
use std::io::Write;

/// Arguments of `zonelens completions`.
#[derive(Args)]
pub struct CompletionsArgs {
    /// The shell to complete in
    shell: clap_complete::Shell,
}

/// Prints the completion script.
pub fn completions(args: &CompletionsArgs, command: &mut clap::Command) -> u8 {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "zonelens", &mut script);
    print(&script)
}

/// Prints the manual page in roff.
pub fn man(command: clap::Command) -> u8 {
    let mut page = Vec::new();
    match clap_mangen::Man::new(command).render(&mut page) {
        Ok(()) => print(&page),
        Err(error) => {
            output::complain(&format!("the manual page could not be made: {error}"));
            BAD_INPUT
        }
    }
}

fn print(bytes: &[u8]) -> u8 {
    // A closed pipe is the reader's choice, not an error.
    let _ = std::io::stdout().lock().write_all(bytes);
    SUCCESS
}
