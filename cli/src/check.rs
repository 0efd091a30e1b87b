//! `zonelens check`: prints every diagnostic, like a compiler.

mod excerpt;
mod fix;
mod human;
mod json;
mod sarif;

use crate::config::Configs;
use crate::inputs::{self, Input};
use crate::output::Stream;
use crate::replace::replace;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::{Args as ClapArgs, ValueEnum};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use zonelens_analysis::diagnostic::{self, Diagnostic, Severity};
use zonelens_analysis::query_file;
use zonelens_analysis::{Model, Severities};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span};

/// The exit status if there are errors.
const ERRORS: u8 = 1;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
Exit status:
  0  no errors (there may be warnings)
  1  errors
  2  bad usage, or a file cannot be read or written";

/// Arguments of `zonelens check`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// Models, query files, folders or patterns; `-` is standard input
    #[arg(required = true, value_name = "FILE|DIR|-")]
    paths: Vec<PathBuf>,
    /// The format of the diagnostics
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// Write only diagnostics of at least this severity; the exit status counts all errors
    #[arg(long, value_enum, default_value_t = Level::Hint, value_name = "SEVERITY")]
    min_severity: Level,
    /// Apply the safe fixes and write the files (standard input is written to standard output, and
    /// the remaining diagnostics to standard error)
    #[arg(long)]
    fix: bool,
    /// The notation of standard input [default: xml if it begins with `<`, else xta]
    #[arg(long, value_enum, value_name = "NOTATION")]
    stdin: Option<Notation>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Human,
    Json,
    Sarif,
}

#[derive(Clone, Copy, ValueEnum)]
enum Level {
    Error,
    Warning,
    Info,
    Hint,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Severity {
        match level {
            Level::Error => Severity::Error,
            Level::Warning => Severity::Warning,
            Level::Info => Severity::Info,
            Level::Hint => Severity::Hint,
        }
    }
}

/// The notation of standard input.
#[derive(Clone, Copy, ValueEnum)]
pub enum Notation {
    /// A model as text
    Xta,
    /// A model as XML
    Xml,
    /// Queries
    Q,
}

impl From<Notation> for FileKind {
    fn from(notation: Notation) -> FileKind {
        match notation {
            Notation::Xta => FileKind::Xta,
            Notation::Xml => FileKind::Xml,
            Notation::Q => FileKind::Query,
        }
    }
}

/// A file with its diagnostics.
pub(crate) struct Checked {
    /// The name of the file, as the user gave it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The offsets of its lines.
    pub lines: LineIndex,
    /// The diagnostics, in text order.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it is XML that is not a model.
    pub foreign: bool,
}

/// Checks all files and prints the diagnostics.
pub(crate) fn run(args: &Args) -> u8 {
    let (files, problems) = inputs::expand_all(&args.paths, inputs::is_ours);
    let mut unreadable = !problems.is_empty();
    problems.iter().for_each(|p| output::complain(p));
    let by_pipe = args.fix && files.iter().any(|f| inputs::is_stdin(&f.path));
    if by_pipe && files.len() > 1 {
        output::complain(
            "`--fix -` writes the text to standard output, so `-` must be the only argument",
        );
        return BAD_INPUT;
    }
    let mut configs = Configs::default();
    let mut checked = Vec::new();
    let mut fixed = 0;
    for Input { path, .. } in files {
        let severities = configs.of(&path).severities;
        let one = read(&path, args.stdin).map(|text| {
            if !args.fix {
                return text;
            }
            // If a file cannot be written, its diagnostics are still printed.
            repaired(&path, text, &severities, &mut fixed).unwrap_or_else(|(text, message)| {
                output::complain(&message);
                unreadable = true;
                text
            })
        });
        match one.and_then(|text| check(&path, text, &severities)) {
            Ok(one) => checked.push(one),
            Err(message) => {
                output::complain(&message);
                unreadable = true;
            }
        }
    }
    for problem in &configs.problems {
        output::complain(problem);
        unreadable = true;
    }
    let errors = checked
        .iter()
        .flat_map(|c| &c.diagnostics)
        .any(|d| d.severity == Severity::Error);
    // Standard output contains the fixed text in this case.
    let stream = if by_pipe { Stream::Error } else { Stream::Out };
    let least = args.min_severity.into();
    match args.format {
        // A file that was refused has already been reported in one line.
        Format::Human if checked.is_empty() && unreadable => {}
        Format::Human => human::write(&checked, least, args.fix.then_some(fixed), stream),
        Format::Json => json::write(&limited(checked, least), stream),
        Format::Sarif => sarif::write(&limited(checked, least), stream),
    }
    match (unreadable, errors) {
        (true, _) => BAD_INPUT,
        (false, true) => ERRORS,
        (false, false) => SUCCESS,
    }
}

/// The text of a file. Bytes that are not UTF-8 are reported as an error; the rest is still
/// analysed.
struct Text {
    bytes: Vec<u8>,
    text: String,
    kind: FileKind,
}

fn read(path: &Path, stdin: Option<Notation>) -> Result<Text, String> {
    let bytes = inputs::read_bytes(path)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let told = stdin.filter(|_| inputs::is_stdin(path));
    let kind = told.map_or_else(|| inputs::kind_of(path, &text), FileKind::from);
    Ok(Text { bytes, text, kind })
}

/// The text after all safe fixes, which is also written to the file; `Err`: the original text and
/// the reason.
fn repaired(
    path: &Path,
    old: Text,
    severities: &Severities,
    fixed: &mut usize,
) -> Result<Text, (Text, String)> {
    let piped = inputs::is_stdin(path);
    // A file that is not UTF-8 could not be written back unchanged.
    let (text, count) = match old.bytes == old.text.as_bytes() {
        true => fix::apply(path, &old.text, old.kind, severities),
        false => (old.text.clone(), 0),
    };
    let bytes = match count {
        0 => old.bytes.clone(),
        _ => text.clone().into_bytes(),
    };
    if piped {
        // A closed pipe is the reader's choice, not an error.
        let _ = std::io::stdout().lock().write_all(&bytes);
    } else if count > 0
        && let Err(message) = replace(path, &old.bytes, &bytes)
    {
        return Err((old, message));
    }
    *fixed += count;
    let kind = old.kind;
    Ok(Text { bytes, text, kind })
}

/// Limits the diagnostics per file to the number that is written for programs, down to `least`.
fn limited(mut files: Vec<Checked>, least: Severity) -> Vec<Checked> {
    for file in &mut files {
        let mut all = std::mem::take(&mut file.diagnostics);
        all.retain(|d| d.severity <= least);
        file.diagnostics = diagnostic::shown(all, |d: &Diagnostic| d);
        // `lint/more` may be milder than the diagnostics that it counts.
        file.diagnostics
            .retain(|d| d.severity <= least || d.code == "lint/more");
    }
    files
}

/// Checks one file. A file that is not a model by name or by content is refused.
fn check(path: &Path, read: Text, severities: &Severities) -> Result<Checked, String> {
    let Text { bytes, text, kind } = read;
    let mut diagnostics = Vec::new();
    if let Err(error) = std::str::from_utf8(&bytes) {
        let at = error.valid_up_to() as u32;
        let end = (at + '\u{fffd}'.len_utf8() as u32).min(text.len() as u32);
        let message = "this byte is not UTF-8: save the file as UTF-8";
        diagnostics.push(Diagnostic::new(
            "syntax/encoding",
            message,
            Span::new(at, end),
        ));
    }
    let (found, file) = analyse(path, &text, kind, severities);
    if let Some(refusal) = inputs::foreign(path, &file) {
        return Err(refusal);
    }
    diagnostics.extend(found);
    let lines = LineIndex::new(&text);
    Ok(Checked {
        name: path.display().to_string(),
        text,
        lines,
        diagnostics,
        foreign: inputs::is_foreign_xml(&file),
    })
}

/// All diagnostics of a text, and its tree.
fn analyse(
    path: &Path,
    text: &str,
    kind: FileKind,
    severities: &Severities,
) -> (Vec<Diagnostic>, SourceFile) {
    let file = SourceFile::parse(text, kind);
    let found = match kind {
        FileKind::Xta | FileKind::Xml => {
            let model = Model::configured(&file, &BTreeMap::new(), severities.clone());
            model.diagnostics().to_vec()
        }
        FileKind::Query => query_diagnostics(path, &file, severities.clone()),
    };
    (found, file)
}

/// The diagnostics of a query file: checked against the model next to it, or syntax only if there
/// is none.
fn query_diagnostics(path: &Path, file: &SourceFile, severities: Severities) -> Vec<Diagnostic> {
    let model = ["xta", "xml", "ta"]
        .iter()
        .map(|e| path.with_extension(e))
        .find_map(|p| Some((std::fs::read_to_string(&p).ok()?, p)));
    let Some((text, model_path)) = model else {
        return query_file::diagnostics(file, None);
    };
    let model_file = SourceFile::parse(text, FileKind::from_path(&model_path.to_string_lossy()));
    let model = Model::configured(&model_file, &BTreeMap::new(), severities);
    query_file::diagnostics(file, Some(&model))
}
