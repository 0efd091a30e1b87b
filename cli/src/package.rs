//! `zonelens completions` and `zonelens man`: files that packagers install with the binary.

use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `zonelens completions`.
#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell to complete in
    shell: Shell,
}

/// Arguments of `zonelens man`.
#[derive(Args)]
pub(crate) struct ManArgs {
    /// The page of this command, `verify` for instance; without one, the page of zonelens itself
    #[arg(conflicts_with = "all")]
    command: Option<String>,
    /// Write the pages of all commands into this folder: zonelens.1, zonelens-check.1 and so on
    #[arg(long, value_name = "DIR")]
    all: Option<PathBuf>,
}

/// Prints the completion script.
pub(crate) fn completions(args: &CompletionsArgs, command: clap::Command) -> u8 {
    // `explain` also accepts parts of codes, so only the completion script lists codes as possible
    // values.
    let codes: Vec<&'static str> = zonelens_analysis::codes().iter().map(|(c, _)| *c).collect();
    let mut command = command.mut_subcommand("explain", |explain| {
        explain.mut_arg("code", |code| {
            code.value_parser(PossibleValuesParser::new(&codes))
        })
    });
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "zonelens", &mut script);
    if args.shell == Shell::Fish {
        // The generator for this shell leaves out the values of positional arguments.
        let line = format!(
            "complete -c zonelens -n \"__fish_seen_subcommand_from explain\" -f -a \"{}\"\n",
            codes.join(" ")
        );
        script.extend(line.into_bytes());
    }
    print(&script)
}

/// Prints a manual page in roff, or writes all of them.
pub(crate) fn man(args: &ManArgs, mut command: clap::Command) -> u8 {
    // This gives subcommands their full names.
    command.build();
    let done = match (&args.command, &args.all) {
        (_, Some(folder)) => write_all(&command, folder),
        (Some(name), None) => {
            let shown = |c: &&clap::Command| !c.is_hide_set() && c.get_name() == name;
            match command.get_subcommands().find(shown) {
                Some(one) => page(one).map(|page| _ = print(&page)),
                None => {
                    let known = command.get_subcommands().filter(|c| !c.is_hide_set());
                    let known: Vec<&str> = known.map(clap::Command::get_name).collect();
                    Err(format!(
                        "there is no command {name}; there are {}",
                        known.join(", ")
                    ))
                }
            }
        }
        (None, None) => page(&command).map(|page| _ = print(&page)),
    };
    match done {
        Ok(()) => SUCCESS,
        Err(message) => {
            output::complain(&message);
            BAD_INPUT
        }
    }
}

fn page(command: &clap::Command) -> Result<Vec<u8>, String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone())
        .render(&mut page)
        .map_err(|error| format!("the manual page could not be made: {error}"))?;
    Ok(page)
}

fn write_all(command: &clap::Command, folder: &Path) -> Result<(), String> {
    let wrong = |error| format!("{} cannot be written: {error}", folder.display());
    std::fs::create_dir_all(folder).map_err(wrong)?;
    let shown = command.get_subcommands().filter(|c| !c.is_hide_set());
    for one in shown.chain([command]) {
        let name = one.get_display_name().unwrap_or(one.get_name());
        std::fs::write(folder.join(format!("{name}.1")), page(one)?).map_err(wrong)?;
    }
    Ok(())
}

fn print(bytes: &[u8]) -> u8 {
    // A closed pipe is the reader's choice, not an error.
    let _ = std::io::stdout().lock().write_all(bytes);
    SUCCESS
}
