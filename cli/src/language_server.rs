//! `zonelens lsp`: the language server.

use crate::{BAD_INPUT, SUCCESS, output};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// The exit status if the editor closed the connection without `shutdown`, as the protocol
/// requires.
const UNASKED: u8 = 1;

/// Arguments of `zonelens lsp`.
#[derive(ClapArgs)]
pub(crate) struct Args {
    /// Accepted for editors that always pass it; standard input and output are the only transport
    #[arg(long, hide = true)]
    stdio: bool,
    /// Write the log to this file
    #[arg(long, value_name = "FILE")]
    log_file: Option<PathBuf>,
    /// Run queries with this program instead of zonelens itself: for tests of misbehaving workers
    #[arg(long, value_name = "FILE", hide = true)]
    worker: Option<PathBuf>,
    /// Take two minutes to analyse documents with this text in their names: for tests of concurrent
    /// requests
    #[arg(long, value_name = "PART", hide = true)]
    slow: Option<String>,
}

/// Serves until the editor ends the session.
pub(crate) fn run(args: &Args) -> u8 {
    let worker = match args.worker.clone().map_or_else(std::env::current_exe, Ok) {
        Ok(path) => path,
        Err(error) => {
            output::complain(&format!(
                "the path of this program is unknown ({error}), so no query could be run"
            ));
            return BAD_INPUT;
        }
    };
    let options = zonelens_lsp::ServerOptions {
        worker,
        version: env!("ZONELENS_VERSION").to_owned(),
        slow: args.slow.clone(),
        log_file: args.log_file.clone(),
    };
    match zonelens_lsp::serve_stdio(options) {
        Ok(true) => SUCCESS,
        Ok(false) => UNASKED,
        Err(error) => {
            output::complain(&format!("the language server stopped: {error}"));
            BAD_INPUT
        }
    }
}
