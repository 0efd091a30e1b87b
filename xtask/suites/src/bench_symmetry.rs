//! Figures on symmetry: growth with the number of interchangeable parts, and the agreement
//! algorithm.

use crate::bench_switches;
use crate::corpus;
use crate::curves::{Series, chart};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::Model;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, QueryReport, SymmetryOption, TraceOption, Verdict};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::{SourceFile, parse_query};

/// A model of variable size.
struct Growing {
    title: &'static str,
    file: &'static str,
    picture: &'static str,
    query: &'static str,
    /// The sizes with symmetry, and in a quick run.
    sizes: &'static [i64],
    quick: &'static [i64],
    /// The largest size without symmetry.
    most: i64,
}

const GROWING: [Growing; 3] = [
    Growing {
        title: "Fischer, mutual exclusion",
        file: "fischer.xta",
        picture: "growth-fischer.svg",
        query: "A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j",
        sizes: &[
            2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1000,
        ],
        quick: &[2, 4, 8, 20],
        most: 9,
    },
    Growing {
        title: "CSMA/CD, no deadlock",
        file: "csma-cd.xta",
        picture: "growth-csma-cd.svg",
        query: "A[] not deadlock",
        sizes: &[2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 30, 50, 100, 200, 500],
        quick: &[2, 4, 8, 15],
        // Beyond that, convex hulls decide, and the counts are not comparable.
        most: 6,
    },
    Growing {
        title: "Timeout task, what is concluded is true",
        file: "timeout-task.xta",
        picture: "growth-timeout-task.svg",
        query: "A[] has_halted imply Process.halted && t > 0 && forall (i : mid) Message(i).idle",
        sizes: &[4, 5, 6, 7, 8, 10, 15, 20, 30],
        quick: &[4, 6, 10],
        most: 9,
    },
];

pub(crate) fn verify(
    text: &str,
    constants: &[(&str, i64)],
    query: &str,
    options: &Options,
) -> Option<QueryReport> {
    let file = SourceFile::parse(text, FileKind::Xta);
    let constants: BTreeMap<String, i64> =
        constants.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    let model = Model::new(&file, &constants);
    let network = model.network().ok()?;
    let query = model.resolve_query(&network, &parse_query(query), 0).ok()?;
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let position = |_| Position::default();
    Some(zonelens_checker::verify(
        &network, &query, options, &position, &control,
    ))
}

pub(crate) fn example(file: &str) -> String {
    std::fs::read_to_string(corpus::root().join("examples").join(file)).unwrap_or_default()
}

/// The model with integers as elements, so that symmetry must be detected.
fn numbered(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line.strip_prefix("typedef scalar[") {
            Some(rest) => out += &format!("typedef int[0,{}\n", rest.replacen(']', " - 1]", 1)),
            None => out += &format!("{line}\n"),
        }
    }
    out
}

/// The growth of models with the number of their parts.
pub(crate) fn growths(page: &mut String, quick: bool) {
    for model in &GROWING {
        growth(page, model, quick);
    }
    bench_switches::by_class(page, quick);
    bench_switches::by_simulation(page, quick);
}

fn growth(page: &mut String, model: &Growing, quick: bool) {
    let scalars = example(model.file);
    let numbers = numbered(&scalars);
    let ways = [
        ("no symmetry", &scalars, SymmetryOption::Off, model.most),
        ("scalarset", &scalars, SymmetryOption::Scalarsets, i64::MAX),
        ("detected", &numbers, SymmetryOption::Auto, i64::MAX),
    ];
    let sizes = if quick { model.quick } else { model.sizes };
    let mut series: Vec<Series> = Vec::new();
    let mut growths = String::new();
    let mut rows = vec![String::new(); sizes.len()];
    for (name, text, symmetry, most) in ways {
        let (mut points, mut times) = (Vec::new(), Vec::new());
        for (n, row) in sizes.iter().zip(&mut rows) {
            let options = Options {
                symmetry,
                trace: TraceOption::None,
                timeout: Some(120.0),
                ..Options::default()
            };
            let report = (*n <= most)
                .then(|| verify(text, &[("N", *n)], model.query, &options))
                .flatten()
                .filter(|r| r.verdict == Verdict::Satisfied);
            match report {
                Some(r) => {
                    points.push((*n as f64, r.statistics.stored as f64));
                    let s = &r.statistics;
                    times.push((*n as f64, s.seconds));
                    let _ = write!(
                        row,
                        " {} | {} | {:.3} |",
                        s.stored, s.transitions, s.seconds
                    );
                }
                None => row.push_str(" | | |"),
            }
        }
        if let Some(exponent) = exponent(&times) {
            let _ = write!(growths, " {name}: N^{exponent:.1};");
        }
        series.push(Series { name, points });
    }
    let _ = writeln!(
        page,
        "## {}\n\n`examples/{}`, `{}`: states stored, successors, seconds.\n\n![{}](img/{})\n",
        model.title, model.file, model.query, model.title, model.picture
    );
    page.push_str("| N | off | | s | scalarset | | s | detected | | s |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (n, row) in sizes.iter().zip(&rows) {
        let _ = writeln!(page, "| {n} |{row}");
    }
    page.push('\n');
    if let Some(growths) = growths.strip_suffix(';') {
        let _ = writeln!(
            page,
            "Growth of the time, fitted from N = {FITTED_FROM} on:{growths}.\n"
        );
    }
    if !quick {
        let picture = chart(
            &format!("{}: states stored", model.title),
            "number of interchangeable parts",
            &series,
        );
        let path = corpus::root().join("docs/img").join(model.picture);
        let _ = std::fs::write(path, picture);
    }
}

/// The least size from which the growth of the time is fitted.
const FITTED_FROM: f64 = 50.0;

/// The exponent of the growth of times with sizes, by least squares; `None` if too few are large
/// enough.
fn exponent(times: &[(f64, f64)]) -> Option<f64> {
    let large = times.iter().filter(|(n, _)| *n >= FITTED_FROM);
    let logs: Vec<(f64, f64)> = large.map(|(n, s)| (n.ln(), s.max(1e-6).ln())).collect();
    let count = logs.len() as f64;
    if logs.len() < 3 {
        return None;
    }
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / count;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let variance: f64 = logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    Some(covariance / variance)
}

/// The published figures for two processes: seconds and megabytes, without and with symmetry.
const PUBLISHED: [(i64, &str); 4] = [
    (0, "1 s, 33 MB; 3 s, 45 MB"),
    (1, "21 s, 294 MB; 16 s, 180 MB"),
    (2, "80 s, 905 MB; 23 s, 245 MB"),
    (3, "231 s, 2126 MB; 32 s, 321 MB"),
];

/// The start of the last section of the page.
pub(crate) const AGREEMENT: &str = "## Agreement algorithm\n\n";

/// The agreement algorithm.
pub(crate) fn agreement(page: &mut String, quick: bool, most: f64) {
    let text = example("agreement.xta");
    page.push_str(AGREEMENT);
    page.push_str(
        "`examples/agreement.xta`. M1: agreement, M2: validity, M3: termination in time. The published \
         figures are of a UPPAAL prototype for M1 on another model of the same algorithm, without and with symmetry; only the \
         growth compares. `?`: no answer within the time given, or not asked because the property before was not answered.\n\n| n | f | c1, c2 | d | inputs | symmetry | M1 | M2 | M3 | states (M3) | seconds (M1, M2, M3) | MB | published |\n\
         |---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for (d, published) in PUBLISHED.iter().take(if quick { 2 } else { 4 }) {
        for (ones, inputs) in [(0, "all 0"), (2, "any")] {
            for symmetry in [SymmetryOption::Off, SymmetryOption::Auto] {
                let told = if ones == 0 { *published } else { "" };
                instance(
                    page,
                    (&text, most),
                    [2, 1, 1, 2, *d, ones],
                    inputs,
                    symmetry,
                    told,
                );
            }
        }
    }
    if quick {
        return;
    }
    for (f, c1, c2, d) in [
        (0, 1, 1, 0),
        (0, 1, 1, 1),
        (0, 1, 2, 0),
        (0, 1, 2, 1),
        (1, 1, 1, 0),
        (1, 1, 2, 0),
        (1, 1, 1, 1),
        (1, 1, 2, 1),
        (0, 1, 1, 2),
    ] {
        let told = "in 11 minutes, 1014 MB, convex hulls";
        instance(
            page,
            (&text, most),
            [3, f, c1, c2, d, 3],
            "any",
            SymmetryOption::Auto,
            told,
        );
    }
    page.push('\n');
}

const PROPERTIES: [&str; 3] = [
    "A[] forall (i : pid) forall (j : pid) (decided[i] && decided[j] imply decision[i] == decision[j])",
    "A[] forall (i : pid) (decided[i] imply exists (j : pid) decision[i] == input[j])",
    "A[] (exists (i : pid) Process(i).wait) imply t <= U",
];

fn instance(
    page: &mut String,
    (text, most): (&str, f64),
    [n, f, c1, c2, d, ones]: [i64; 6],
    inputs: &str,
    symmetry: SymmetryOption,
    published: &str,
) {
    let constants = [
        ("N", n),
        ("F", f),
        ("C1", c1),
        ("C2", c2),
        ("D", d),
        ("ONES", ones),
    ];
    let options = Options {
        symmetry,
        trace: TraceOption::None,
        timeout: Some(most),
        memory: Some(8 << 30),
        ..Options::default()
    };
    let (mut verdicts, mut seconds, mut states, mut peak) = (String::new(), Vec::new(), 0, 0);
    for query in PROPERTIES {
        // All three are evaluated on the same states: if one is not answered, the others would not
        // be either.
        if verdicts.ends_with("? |") {
            verdicts.push_str(" ? |");
            continue;
        }
        let Some(report) = verify(text, &constants, query, &options) else {
            return;
        };
        let word = match report.verdict {
            Verdict::Satisfied => "holds",
            Verdict::Violated => "fails",
            _ => "?",
        };
        let _ = write!(verdicts, " {word} |");
        seconds.push(format!("{:.2}", report.statistics.seconds));
        states = report.statistics.stored;
        peak = peak.max(report.statistics.peak_memory_bytes);
    }
    let reduced = if symmetry == SymmetryOption::Off {
        "off"
    } else {
        "on"
    };
    let _ = writeln!(
        page,
        "| {n} | {f} | {c1}, {c2} | {d} | {inputs} | {reduced} |{verdicts} {states} | {} | {:.0} | {published} |",
        seconds.join(", "),
        peak as f64 / 1e6
    );
}
