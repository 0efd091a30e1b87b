//! `zonelens-certify MODEL FILE [-q QUERY] [--const N=5]`: checks a certificate.
//!
//! The same as `zonelens certify`, in a program that does not even contain the engine.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::ExitCode;
use zonelens_certificate::{Asked, Limits, certify};
use zonelens_syntax::ast::FileKind;

const USAGE: &str = "\
Checks a certificate written by `zonelens verify --certificate FILE`.

Usage: zonelens-certify MODEL FILE [-q FORMULA] [--const NAME=VALUE]...

Without -q and --const, the claim in the certificate is checked and printed; with them, it must be
that claim.

Exit status: 0 accepted, 1 rejected, 2 bad usage, unreadable files or a model with errors.";

/// Expressions of a model may be deep, and evaluation recurses over them.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let run = || match run(std::env::args().skip(1).collect()) {
        Ok((text, status)) => {
            let _ = writeln!(std::io::stdout(), "{text}");
            status
        }
        Err(message) => {
            let _ = writeln!(std::io::stderr(), "{message}");
            2
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
    let status = thread.spawn(run).map(|thread| thread.join());
    match status {
        Ok(Ok(status)) => ExitCode::from(status),
        _ => ExitCode::from(101),
    }
}

/// The text for standard output and the exit status; `Err` is a message about the usage.
fn run(arguments: Vec<String>) -> Result<(String, u8), String> {
    let (mut paths, mut asked) = (Vec::new(), Asked::default());
    let mut arguments = arguments.into_iter();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "-h" | "--help" => return Ok((USAGE.to_owned(), 0)),
            "-q" => asked.query = Some(value()?),
            "--const" => {
                let (name, value) = constant(&value()?)?;
                let constants = asked.constants.get_or_insert_with(BTreeMap::new);
                constants.insert(name, value);
            }
            _ if argument.starts_with('-') => return Err(format!("{argument}?\n\n{USAGE}")),
            _ => paths.push(argument),
        }
    }
    let [model, file] = &paths[..] else {
        return Err(USAGE.to_owned());
    };
    let unreadable = |path: &str, error| format!("{path} cannot be read: {error}");
    let text = std::fs::read_to_string(model).map_err(|error| unreadable(model, error))?;
    let xml = model.to_lowercase().ends_with(".xml") || text.trim_start().starts_with('<');
    let kind = if xml { FileKind::Xml } else { FileKind::Xta };
    let mut certificate = std::fs::File::open(file).map_err(|error| unreadable(file, error))?;
    let outcome = certify(&text, kind, &asked, &mut certificate, &Limits::default());
    match outcome.status() {
        2 => Err(outcome.text(model)),
        status => Ok((outcome.text(model), status)),
    }
}

fn constant(text: &str) -> Result<(String, i64), String> {
    let wrong = || format!("--const {text}: write a name and a value, as in N=20");
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value = match value.trim() {
        "true" => 1,
        "false" => 0,
        number => number.parse().map_err(|_| wrong())?,
    };
    Ok((name.trim().to_owned(), value))
}
