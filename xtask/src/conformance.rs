//! The corpus against the reference: syntax, types and verdicts, with every disagreement and its reason.

use crate::corpus;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::Model;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{Options, TraceOption, Verdict};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span};
use zonelens_syntax::{SourceFile, parse_query};

/// Verdict rows are given this long each in the full run.
const SECONDS: u64 = 60;
/// Every so many rows of verdicts are in the sample.
const SAMPLE: usize = 12;

/// Runs all comparisons; the full run rewrites `docs/conformance.md`.
pub fn run(sample: bool, timeout: Option<u64>) -> bool {
    let Some(dir) = corpus::dir() else {
        return true;
    };
    let mut page = String::from(
        "# Conformance\n\nWritten by `cargo xtask conformance` from a corpus of real models with the answers of the open UPPAAL front end and the verdicts that UPPAAL stored.\n\n",
    );
    syntax(&dir, &mut page);
    types(&dir, &mut page);
    let timeout = timeout.unwrap_or(if sample { 2 } else { SECONDS });
    let contradicted = verdicts(&dir, &mut page, sample, timeout);
    print!("{page}");
    if sample {
        // What the last full run wrote down is known and explained there; anything else is new.
        let known =
            std::fs::read_to_string(corpus::root().join("docs/conformance.md")).unwrap_or_default();
        let new: Vec<&String> = contradicted
            .iter()
            .filter(|row| !known.contains(row.as_str()))
            .collect();
        for row in &new {
            println!("contradicts a stored verdict and is not in docs/conformance.md: {row}");
        }
        return new.is_empty();
    }
    std::fs::write(corpus::root().join("docs/conformance.md"), page).is_ok()
}

fn diagnostics(dir: &Path, name: &str) -> Vec<Diagnostic> {
    let file = SourceFile::parse(corpus::read(dir, name), FileKind::from_path(name));
    Model::new(&file, &BTreeMap::new()).diagnostics().to_vec()
}

fn syntax(dir: &Path, page: &mut String) {
    let types = corpus::rows(dir, "EXPECT-TYPES.tsv");
    let rows = corpus::rows(dir, "EXPECT-PARSE.tsv");
    let mut agree = 0;
    let mut misses = String::new();
    for (row, types) in rows.iter().zip(&types) {
        let file = SourceFile::parse(corpus::read(dir, &row[0]), FileKind::from_path(&row[0]));
        let ours = file
            .errors()
            .into_iter()
            .find(|e| e.code.starts_with("syntax/"));
        if ours.is_none() == (row[1] != "reject") {
            agree += 1;
            continue;
        }
        let reason = match &ours {
            None if ["T_ABS", "T_EXIT"].iter().any(|w| row[2].contains(w)) => {
                "uses a later keyword as its own name; read as the author meant it".to_owned()
            }
            None if row[2].contains("T_IO") => {
                "ECDAR's `IO` lines are read and reported as unsupported".to_owned()
            }
            Some(e) if types[1] == "reject-types" => {
                format!(
                    "the table holds the reference's first error, one of types ({}); ours comes behind it: {}",
                    types[2], e.message
                )
            }
            other => format!("unexplained: {other:?}"),
        };
        let _ = writeln!(misses, "| `{}` | {} | {reason} |", row[0], row[1]);
    }
    let _ = writeln!(
        page,
        "## Syntax\n\n{agree} of {} files agree.\n\n| file | reference | reason |\n|---|---|---|\n{misses}",
        rows.len()
    );
}

fn types(dir: &Path, page: &mut String) {
    let rows = corpus::rows(dir, "EXPECT-TYPES.tsv");
    let rows: Vec<_> = rows.iter().filter(|r| r[3] == "in").collect();
    let (mut agree, mut false_errors, mut missed) = (0, 0, 0);
    let mut misses = String::new();
    for row in &rows {
        let found = diagnostics(dir, &row[0]).into_iter().find(|d| {
            d.severity == Severity::Error
                && !d.code.starts_with("query/")
                && !d.code.starts_with("unsupported/")
        });
        let accepted = row[1].starts_with("accept");
        if found.is_none() == accepted {
            agree += 1;
            continue;
        }
        let what = match &found {
            Some(d) => format!("{} {}", d.code, d.message),
            None => format!("accepted: {} ({})", kinder(&row[2]), row[2]),
        };
        false_errors += usize::from(found.is_some());
        missed += usize::from(found.is_none());
        let _ = writeln!(misses, "| `{}` | {} | {what} |", row[0], row[1]);
    }
    let _ = writeln!(
        page,
        "## Names and types\n\n{agree} of {} files within the language agree; {false_errors} rejected that the reference accepts, {missed} accepted that it rejects.\n\n| file | reference | ours |\n|---|---|---|\n{misses}",
        rows.len()
    );
}

/// Why a model is accepted that the reference rejects with this error.
fn kinder(error: &str) -> &'static str {
    let later = ["T_ABS", "T_EXIT", "T_LOCATION", "T_QUERY", "T_STRING"];
    if error.contains("T_IO") {
        "ECDAR's `IO` lines are read and reported as unsupported"
    } else if later.iter().any(|w| error.contains(w)) || error.contains("Keywords_are_not_allowed")
    {
        "a later keyword as the author's own name, read as it was meant"
    } else if error.contains("Unknown_symbol") {
        "a carriage return written as a character reference is white space"
    } else {
        "unexplained"
    }
}

/// One model, its network built once for all its rows.
struct Loaded {
    text: String,
    model: Model,
    network: Result<Network, String>,
}

fn load(dir: &Path, name: &str) -> Loaded {
    let text = corpus::read(dir, name);
    let model = Model::new(
        &SourceFile::parse(text.as_str(), FileKind::from_path(name)),
        &BTreeMap::new(),
    );
    let network = match model.blocks_verification() {
        true => Err("the model has errors".to_owned()),
        false => model
            .network()
            .map_err(|e| e.first().map_or(String::new(), |d| d.message.clone())),
    };
    Loaded {
        text,
        model,
        network,
    }
}

/// Compares verdicts; the rows that contradict a stored one, as they begin in the page.
fn verdicts(dir: &Path, page: &mut String, sample: bool, timeout: u64) -> Vec<String> {
    let rows = corpus::rows(dir, "EXPECTED.tsv");
    let step = if sample { SAMPLE } else { 1 };
    let rows: Vec<_> = rows.iter().step_by(step).collect();
    let mut loaded: Option<(String, Loaded)> = None;
    let (mut agree, mut contradicted) = (0, Vec::new());
    let mut misses = String::new();
    for row in &rows {
        if loaded.as_ref().is_none_or(|(name, _)| *name != row[0]) {
            loaded = Some((row[0].clone(), load(dir, &row[0])));
        }
        let Some((_, model)) = &loaded else { continue };
        let (verdict, reason) = answer(model, &row[1], timeout);
        let expected = if row[2] == "satisfied" {
            Verdict::Satisfied
        } else {
            Verdict::Violated
        };
        if verdict == expected {
            agree += 1;
            continue;
        }
        let start = format!(
            "| `{}` | `{}` | {} |",
            row[0],
            row[1].replace('|', "\\|"),
            row[2]
        );
        let _ = writeln!(misses, "{start} {verdict:?} {reason} |");
        if matches!(verdict, Verdict::Satisfied | Verdict::Violated) {
            contradicted.push(start);
        }
    }
    let _ = writeln!(
        page,
        "## Verdicts\n\n{agree} of {} stored verdicts agree ({:.1} %) within {timeout} s and 4 GB each; {} contradicted.\n\n| file | formula | stored | ours |\n|---|---|---|---|\n{misses}",
        rows.len(),
        100.0 * f64::from(agree) / rows.len().max(1) as f64,
        contradicted.len()
    );
    contradicted
}

fn answer(loaded: &Loaded, formula: &str, timeout: u64) -> (Verdict, String) {
    let network = match &loaded.network {
        Ok(network) => network,
        Err(reason) => return (Verdict::Error, reason.clone()),
    };
    let query = match loaded
        .model
        .resolve_query(network, &parse_query(formula), 0)
    {
        Ok(query) => query,
        Err(errors) => {
            return (
                Verdict::Error,
                errors.first().map_or(String::new(), |d| d.message.clone()),
            );
        }
    };
    let lines = LineIndex::new(&loaded.text);
    let position = |span: Span| {
        let at = lines.line_col(&loaded.text, span.start);
        Position {
            line: at.line,
            column: at.column,
        }
    };
    let options = Options {
        timeout: Some(timeout as f64),
        memory: Some(4 << 30),
        trace: TraceOption::Some,
        ..Options::default()
    };
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let report = zonelens_checker::verify(network, &query, &options, &position, &control);
    let replayed = if report.trace.is_some() {
        "(trace replayed)"
    } else {
        ""
    };
    (
        report.verdict,
        format!("{} {replayed}", report.reason.unwrap_or_default()),
    )
}
