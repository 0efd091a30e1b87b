//! `zonelens check`: every diagnostic, as a compiler prints them.

mod human;
mod json;
mod sarif;

use crate::config::Configs;
use crate::{BAD_INPUT, SUCCESS, output};
use clap::{Args as ClapArgs, ValueEnum};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use zonelens_analysis::diagnostic::{self, Diagnostic, Severity};
use zonelens_analysis::query_file;
use zonelens_analysis::{Model, Severities};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span};

/// Exit status when there are errors.
const ERRORS: u8 = 1;

/// Arguments of `zonelens check`.
#[derive(ClapArgs)]
pub struct Args {
    /// Models, query files or folders; `-` is standard input
    #[arg(required = true, value_name = "FILE|DIR|-")]
    paths: Vec<PathBuf>,
    /// How to write the diagnostics
    #[arg(long, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The notation of standard input
    #[arg(long, value_enum, default_value_t = Notation::Xta, value_name = "NOTATION")]
    stdin: Notation,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    Human,
    Json,
    Sarif,
}

#[derive(Clone, Copy, ValueEnum)]
enum Notation {
    Xta,
    Xml,
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

/// A file with what was found in it.
pub struct Checked {
    /// As the user named it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Where its lines start.
    pub lines: LineIndex,
    /// What was found, in order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

/// Checks all files and writes what was found.
pub fn run(args: &Args) -> u8 {
    let mut unreadable = false;
    let mut files = Vec::new();
    for path in &args.paths {
        match inputs(path) {
            Ok(found) => files.extend(found),
            Err(message) => {
                output::complain(&message);
                unreadable = true;
            }
        }
    }
    let mut configs = Configs::default();
    let mut checked = Vec::new();
    for path in files {
        let kind = if path == Path::new("-") {
            args.stdin.into()
        } else {
            FileKind::from_path(&path.to_string_lossy())
        };
        match read_bytes(&path) {
            Ok(bytes) => {
                let severities = configs.of(&path).severities;
                checked.push(check(&path, &bytes, kind, severities));
            }
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
    match args.format {
        Format::Human => human::write(&checked),
        Format::Json => json::write(&limited(checked)),
        Format::Sarif => sarif::write(&limited(checked)),
    }
    match (unreadable, errors) {
        (true, _) => BAD_INPUT,
        (false, true) => ERRORS,
        (false, false) => SUCCESS,
    }
}

/// With as many diagnostics per file as are written for programs.
fn limited(mut files: Vec<Checked>) -> Vec<Checked> {
    for file in &mut files {
        let all = std::mem::take(&mut file.diagnostics);
        file.diagnostics = diagnostic::shown(all, |d: &Diagnostic| d);
    }
    files
}

/// The files a path stands for: itself, or all models and query files below a folder.
fn inputs(path: &Path) -> Result<Vec<PathBuf>, String> {
    if path == Path::new("-") || !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut todo = vec![path.to_owned()];
    while let Some(folder) = todo.pop() {
        let entries = std::fs::read_dir(&folder)
            .map_err(|error| format!("{} cannot be read: {error}", folder.display()))?;
        for entry in entries.flatten() {
            let path = entry.path();
            // Links to folders are not followed: they may lead back here.
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                todo.push(path);
            } else if is_model_file(&path) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Whether a file in a folder is one of ours. An `.xml` must look like a model: folders hold other XML too.
fn is_model_file(path: &Path) -> bool {
    match path.extension().and_then(|e| e.to_str()) {
        Some("xta" | "ta" | "q") => true,
        Some("xml") => std::fs::read(path).is_ok_and(|bytes| {
            let head = String::from_utf8_lossy(&bytes[..bytes.len().min(4096)]).into_owned();
            head.contains("<nta")
        }),
        _ => false,
    }
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let result = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| ())
    } else {
        std::fs::read(path).map(|read| bytes = read)
    };
    result.map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(bytes)
}

/// Checks one file. Bytes that are not UTF-8 are an error of their own; the rest is read all the same.
fn check(path: &Path, bytes: &[u8], kind: FileKind, severities: Severities) -> Checked {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let mut diagnostics = Vec::new();
    if let Err(error) = std::str::from_utf8(bytes) {
        let at = error.valid_up_to() as u32;
        let end = (at + '\u{fffd}'.len_utf8() as u32).min(text.len() as u32);
        let message = "this byte is not UTF-8: save the file as UTF-8";
        diagnostics.push(Diagnostic::new(
            "syntax/encoding",
            message,
            Span::new(at, end),
        ));
    }
    let file = SourceFile::parse(text.as_str(), kind);
    match kind {
        FileKind::Xta | FileKind::Xml => {
            let model = Model::configured(&file, &BTreeMap::new(), severities);
            diagnostics.extend(model.diagnostics().iter().cloned());
        }
        FileKind::Query => diagnostics.extend(query_diagnostics(path, &file, severities)),
    }
    let lines = LineIndex::new(&text);
    Checked {
        name: path.display().to_string(),
        text,
        lines,
        diagnostics,
    }
}

/// Diagnostics of a query file: against the model beside it, or of syntax alone when there is none.
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
