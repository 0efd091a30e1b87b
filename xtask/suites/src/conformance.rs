//! Compares the corpus with the reference: syntax, types and verdicts, with every disagreement and
//! its reason.

use crate::stored::{Made, Stored};
use crate::{configurations, corpus};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use zonelens_analysis::Model;
use zonelens_analysis::diagnostic::{Diagnostic, Severity};
use zonelens_analysis::network::{Network, Position, Query};
use zonelens_analysis::report::{
    AbstractionOption, Options, QueryReport, Reason, SymmetryOption, TraceOption, Verdict,
};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span};
use zonelens_syntax::{SourceFile, parse_query};

/// The time limit in seconds for each verdict in the full run.
const SECONDS: u64 = 60;
/// A proof over region-exact zones that a stored verdict is wrong may take this many times longer.
const PATIENCE: f64 = 5.0;
/// The time limit in seconds for the unchanged file, if it describes another configuration for the
/// query.
const BRIEF: u64 = 10;
/// One in this many rows of verdicts is in the sample.
const SAMPLE: usize = 12;

/// Runs all comparisons; the full run rewrites `docs/conformance.md`. With `only`, prints the
/// verdicts of some files.
pub(crate) fn run(sample: bool, only: Option<&str>, timeout: Option<u64>) -> bool {
    let Some(dir) = corpus::dir() else {
        return true;
    };
    let mut page = String::from(
        "# Conformance\n\nWritten by `cargo xtask conformance` from a corpus of real models with the answers of the open UPPAAL front end and the verdicts that UPPAAL stored.\n\n",
    );
    syntax(&dir, &mut page);
    types(&dir, &mut page);
    let timeout = timeout.unwrap_or(if sample { 2 } else { SECONDS });
    if let Some(part) = only {
        let mut page = String::new();
        verdicts(&dir, &mut page, |_, row| row[0].contains(part), timeout);
        print!("{page}");
        return true;
    }
    let step = if sample { SAMPLE } else { 1 };
    let contradicted = verdicts(&dir, &mut page, |k, _| k % step == 0, timeout);
    print!("{page}");
    if sample {
        // Disagreements of the last full run are known and explained in the page; all others are
        // new.
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

/// A model; its network is built once for all its rows.
struct Loaded {
    text: String,
    model: Model,
    network: Result<Network, String>,
}

fn load(name: &str, text: String) -> Loaded {
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

/// The result of one row.
enum Row {
    Agrees,
    /// The verdicts agree in the configuration that the file describes for the query: where it
    /// does, and the result for the unchanged file.
    Configured(&'static str, String),
    /// The formula has no meaning in this file: its result was stored for another version.
    Foreign(String),
    /// Our verdict is different; with the proof that it is right, if there is one.
    Contradicted(String, Option<String>),
    /// Exploring everything, as the stored verdict requires, leads to an evaluation error on some
    /// run.
    Fails(String),
    /// There is no verdict.
    Open(String),
}

/// Whether verdicts have the traces that they are based on: every satisfied `E<>` and violated
/// `A[]` has one.
#[derive(Default)]
struct Traces {
    replayed: AtomicUsize,
    /// The problems, by row.
    missing: Mutex<Vec<String>>,
}

impl Traces {
    fn look_at(&self, formula: &str, report: &QueryReport) {
        let formula = formula.trim_start();
        let internal = matches!(report.reason, Some(Reason::Internal(_)));
        let is_due = matches!(
            (report.verdict, formula.get(..3)),
            (Verdict::Satisfied, Some("E<>")) | (Verdict::Violated, Some("A[]"))
        );
        let why = match internal {
            true => Some(report.reason_text()),
            false => (is_due && report.trace.is_none()).then(|| "no trace".to_owned()),
        };
        if let Some(why) = why {
            if let Ok(mut missing) = self.missing.lock() {
                missing.push(format!("`{}`: {why}", formula.replace('|', "\\|")));
            }
        } else if is_due {
            self.replayed.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(self, page: &mut String) {
        let mut missing = self.missing.into_inner().unwrap_or_default();
        missing.sort();
        let replayed = self.replayed.into_inner();
        let _ = writeln!(
            page,
            "Traces: {replayed} of {} satisfied `E<>` and violated `A[]` were shown by a run that the independent \
             interpreter replayed.\n",
            replayed + missing.len()
        );
        for line in missing {
            let _ = writeln!(page, "- {line}");
        }
    }
}

/// Compares verdicts; returns the rows that contradict a stored verdict, by their beginning in the
/// page.
fn verdicts(
    dir: &Path,
    page: &mut String,
    wanted: impl Fn(usize, &[String]) -> bool,
    timeout: u64,
) -> Vec<String> {
    let rows = corpus::rows(dir, "EXPECTED.tsv");
    let rows = rows.iter().enumerate().filter(|(k, row)| wanted(*k, row));
    let rows: Vec<_> = rows.map(|(_, row)| row).collect();
    let traces = Traces::default();
    let results = judge_all(dir, &rows, timeout, &traces);
    let stored = Stored::read(dir, files_of(&rows).into_iter());
    let origins = Origins::new(&rows, &results, &stored);
    let mut counts = [0usize; 7];
    let (mut contradicted, mut misses) = (Vec::new(), String::new());
    for (row, result) in rows.iter().zip(&results) {
        let formula = row[1].replace('|', "\\|");
        let start = format!("| `{}` | `{formula}` | {} |", row[0], row[2]);
        let origin = origins.of(row);
        let (kind, text) = match result {
            Row::Agrees => (0, None),
            Row::Configured(says, as_it_is) => {
                (1, Some(format!("{}: {says}; {as_it_is} as it is", row[2])))
            }
            Row::Foreign(why) => (2, Some(format!("stored for another version: {why}"))),
            Row::Contradicted(ours, Some(proof)) => {
                (3, Some(format!("**{ours}**: {proof}{origin}")))
            }
            Row::Contradicted(ours, None) => (4, Some(format!("**{ours}**, not proven{origin}"))),
            Row::Fails(why) => (5, Some(format!("**error**: {why}{origin}"))),
            Row::Open(why) => (6, Some(format!("{why}{origin}"))),
        };
        counts[kind] += 1;
        if kind == 3 || kind == 4 {
            contradicted.push(start.clone());
        }
        if let Some(text) = text {
            let _ = writeln!(misses, "{start} {text} |");
        }
    }
    let _ = writeln!(
        page,
        "## Verdicts\n\nOf {} stored verdicts, within {timeout} s and 4 GB each:\n\n| | rows | |\n|---|---|---|",
        rows.len()
    );
    let kinds = [
        "agree",
        "agree in the configuration that the file names for the query",
        "stored for another version of the file: the formula names what it does not have",
        "contradicted with proof (a replayed trace, or everything explored exactly)",
        "contradicted without proof",
        "the model runs into an error of evaluation, with a trace to it",
        "no verdict",
    ];
    for (what, n) in kinds.iter().zip(counts) {
        let percent = 100.0 * n as f64 / rows.len().max(1) as f64;
        let _ = writeln!(page, "| {what} | {n} | {percent:.1} % |");
    }
    origins.write(page);
    let _ = writeln!(
        page,
        "| file | formula | stored | ours |\n|---|---|---|---|\n{misses}"
    );
    traces.write(page);
    contradicted
}

fn files_of<'r>(rows: &[&'r Vec<String>]) -> BTreeSet<&'r str> {
    rows.iter().map(|row| row[0].as_str()).collect()
}

/// The origin of the stored results.
struct Origins<'r> {
    stored: &'r Stored,
    /// By run of UPPAAL: a file that contains its result and agrees with ours, if there is one.
    runs: BTreeMap<Made<'r>, Option<&'r str>>,
    /// Files that store results for names that they do not contain.
    foreign: BTreeSet<&'r str>,
}

impl<'r> Origins<'r> {
    fn new(rows: &[&'r Vec<String>], results: &[Row], stored: &'r Stored) -> Origins<'r> {
        let (mut runs, mut foreign) = (BTreeMap::new(), BTreeSet::new());
        for (row, result) in rows.iter().zip(results) {
            if matches!(result, Row::Foreign(_)) {
                foreign.insert(row[0].as_str());
            }
            if let Some(made) = stored.made(&row[0], &row[1], row[2] == "satisfied") {
                let agreeing = runs.entry(made).or_insert(None);
                if matches!(result, Row::Agrees | Row::Configured(..)) {
                    agreeing.get_or_insert(row[0].as_str());
                }
            }
        }
        Origins {
            stored,
            runs,
            foreign,
        }
    }

    /// What is known about the result that a row disagrees with.
    fn of(&self, row: &[String]) -> String {
        let file = row[0].as_str();
        let made = self.stored.made(file, &row[1], row[2] == "satisfied");
        if self.foreign.contains(file) {
            return "; the file stores results for names it does not have, so they are another version's".into();
        }
        let Some(made) = made else {
            return String::new();
        };
        if let Some(Some(other)) = self.runs.get(&made) {
            let time = made.2;
            return format!(
                "; made once, at {time}, and stored in `{other}` too, where ours agrees"
            );
        }
        match self.stored.changed_after(file) {
            Some(change) if made.2 <= change => format!(
                "; made at {}, and the file holds two different results for one formula, the first from {change}: it was \
                 changed later",
                made.2
            ),
            _ => String::new(),
        }
    }

    fn write(&self, page: &mut String) {
        let agree = self.runs.values().flatten().count();
        let _ = writeln!(
            page,
            "\nA stored verdict can be older than the model: UPPAAL keeps it when the model is edited or saved under another \
             name. By their time stamps these are the results of {} runs, each made of one model. **{agree} of the {} runs \
             ({:.1} %) agree** in a file that holds their result.\n",
            self.runs.len(),
            self.runs.len(),
            100.0 * agree as f64 / self.runs.len().max(1) as f64
        );
    }
}

/// Evaluates all rows, with the files distributed over the cores of the machine.
fn judge_all(dir: &Path, rows: &[&Vec<String>], timeout: u64, traces: &Traces) -> Vec<Row> {
    let mut files: Vec<Vec<usize>> = Vec::new();
    for (index, row) in rows.iter().enumerate() {
        match files.last_mut() {
            Some(file) if rows[file[0]][0] == row[0] => file.push(index),
            _ => files.push(vec![index]),
        }
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = files.get(at) else { break };
                    let name = &rows[file[0]][0];
                    let loaded = load(name, corpus::read(dir, name));
                    for &index in file {
                        let row = judge_configured(&loaded, rows[index], timeout, traces);
                        if let Ok(mut results) = results.lock() {
                            results.push((index, row));
                        }
                    }
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_default();
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, row)| row).collect()
}

/// Evaluates a row. If the unchanged file does not agree, also evaluates the configuration that it
/// describes for the query. If there is one, the unchanged file gets the full time only if that
/// does not agree either.
fn judge_configured(loaded: &Loaded, row: &[String], timeout: u64, traces: &Traces) -> Row {
    let [name, formula, stored] = [&row[0], &row[1], &row[2]];
    let Some((text, says)) = configurations::configured(name, formula, &loaded.text) else {
        return judge(loaded, formula, stored, timeout, traces);
    };
    let judged = judge(loaded, formula, stored, timeout.min(BRIEF), traces);
    let as_it_is = match &judged {
        Row::Agrees | Row::Configured(..) => return judged,
        Row::Contradicted(ours, _) => ours.clone(),
        Row::Foreign(_) => "without meaning".to_owned(),
        Row::Fails(_) => "an error".to_owned(),
        Row::Open(_) => format!("no verdict in {BRIEF} s"),
    };
    match judge(&load(name, text), formula, stored, timeout, traces) {
        Row::Agrees => Row::Configured(says, as_it_is),
        Row::Open(why) => Row::Open(format!("{says}: {why}; {as_it_is} as it is")),
        _ => judge(loaded, formula, stored, timeout, traces),
    }
}

fn judge(loaded: &Loaded, formula: &str, stored: &str, timeout: u64, traces: &Traces) -> Row {
    let network = match &loaded.network {
        Ok(network) => network,
        Err(reason) => return Row::Open(reason.clone()),
    };
    let query = loaded
        .model
        .resolve_query(network, &parse_query(formula), 0);
    let query = match query {
        Ok(query) => query,
        Err(errors) => {
            return Row::Foreign(errors.first().map_or(String::new(), |d| d.message.clone()));
        }
    };
    let options = Options {
        timeout: Some(timeout as f64),
        memory: Some(4 << 30),
        trace: TraceOption::Some,
        ..Options::default()
    };
    let report = run_query(loaded, network, &query, &options);
    traces.look_at(formula, &report);
    let expected = match stored {
        "satisfied" => Verdict::Satisfied,
        _ => Verdict::Violated,
    };
    match report.verdict {
        verdict if verdict == expected => Row::Agrees,
        Verdict::Error if report.trace.is_some() && needs_everything(formula, stored) => {
            let steps = report.trace.as_ref().map_or(0, |t| t.steps.len() - 1);
            let reason = report.reason_text();
            Row::Fails(format!("{reason}, after a replayed run of {steps} steps"))
        }
        Verdict::Unknown | Verdict::Error => Row::Open(report.reason_text()),
        verdict => {
            let ours = format!("{verdict:?}").to_lowercase();
            if let Some(trace) = &report.trace {
                let kind = match trace.cycle_start {
                    Some(_) => "a lasso",
                    None => "a trace",
                };
                let steps = trace.steps.len() - 1;
                let proof = format!("{kind} of {steps} steps, replayed");
                return Row::Contradicted(ours, Some(proof));
            }
            // A search over zones without abstraction rarely terminates.
            let means = [
                (
                    AbstractionOption::None,
                    1.0,
                    "without abstraction, hulls or symmetry",
                ),
                (
                    AbstractionOption::ExtraM,
                    PATIENCE,
                    "with region-exact zones, without hulls or symmetry",
                ),
            ];
            let proof = means.into_iter().find_map(|(abstraction, patience, how)| {
                let plain = Options {
                    abstraction,
                    symmetry: SymmetryOption::Off,
                    timeout: Some(patience * timeout as f64),
                    ..options.clone()
                };
                let again = run_query(loaded, network, &query, &plain);
                let stored = again.statistics.stored;
                (again.verdict == verdict).then(|| format!("all {stored} states explored {how}"))
            });
            Row::Contradicted(ours, proof)
        }
    }
}

/// Whether a verdict requires exploring everything.
fn needs_everything(formula: &str, stored: &str) -> bool {
    let formula = formula.trim_start();
    formula.starts_with("A[]") && stored == "satisfied"
        || formula.starts_with("E<>") && stored == "violated"
}

fn run_query(loaded: &Loaded, network: &Network, query: &Query, options: &Options) -> QueryReport {
    let lines = LineIndex::new(&loaded.text);
    let position = |span: Span| {
        let at = lines.line_col(&loaded.text, span.start);
        Position {
            line: at.line,
            column: at.column,
        }
    };
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    zonelens_checker::verify(network, query, options, &position, &control)
}
