//! Runs with and without something that does not change the answer, measured in turn.

use crate::bench_engine::processor_seconds;
use crate::bench_symmetry::{example, verify};
use crate::models;
use std::fmt::Write;
use zonelens_analysis::report::{Options, QueryReport, Switch, SymmetryOption, TraceOption};

/// How often each of the two is repeated; the best counts.
const REPEATS: usize = 2;

/// A question, and the options of both runs.
struct Pair<'a> {
    name: String,
    text: String,
    constants: Vec<(&'a str, i64)>,
    query: &'a str,
    before: Options,
    after: Options,
}

/// A line of the table: states, megabytes and user seconds of both.
fn line(page: &mut String, pair: &Pair<'_>) {
    let run = |options: &Options| -> Option<(QueryReport, f64)> {
        let start = processor_seconds();
        let report = verify(&pair.text, &pair.constants, pair.query, options)?;
        Some((report, processor_seconds() - start))
    };
    let both = [&pair.before, &pair.after];
    let mut best: [Option<(QueryReport, f64)>; 2] = [None, None];
    for _ in 0..REPEATS {
        for (options, best) in both.into_iter().zip(&mut best) {
            let Some(next) = run(options) else { return };
            if best.as_ref().is_none_or(|(_, seconds)| next.1 < *seconds) {
                *best = Some(next);
            }
        }
    }
    let [Some((before, slow)), Some((after, fast))] = best else {
        return;
    };
    if before.verdict != after.verdict {
        let _ = writeln!(page, "| {} | the verdicts differ |", pair.name);
        return;
    }
    let megabytes = |r: &QueryReport| r.statistics.peak_memory_bytes as f64 / 1e6;
    let _ = writeln!(
        page,
        "| {} | {} | {} | {:.1} | {:.1} | {slow:.2} | {fast:.2} | {:.1}× |",
        pair.name,
        before.statistics.stored,
        after.statistics.stored,
        megabytes(&before),
        megabytes(&after),
        slow / fast.max(0.01),
    );
}

fn head(page: &mut String) {
    page.push_str(
        "| model | stored before | after | MB before | after | user seconds before | after | ratio |\n|---|---|---|---|---|---|---|---|\n",
    );
}

/// Zones of symmetric models on two elements of each class, against whole zones.
pub(crate) fn by_class(page: &mut String, quick: bool) {
    page.push_str(
        "## Zones stored by class\n\nBefore (`--whole-zones`) and after; user time of one thread, run in turn. The queries: mutual \
         exclusion in Fischer, `A[] not deadlock` in CSMA/CD.\n\n",
    );
    head(page);
    let fischer =
        "A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j";
    for (name, file, query, sizes) in [
        ("Fischer", "fischer.xta", fischer, [50, 100, 200]),
        ("CSMA/CD", "csma-cd.xta", "A[] not deadlock", [50, 100, 200]),
    ] {
        for n in sizes.into_iter().take(if quick { 1 } else { 3 }) {
            let options = |whole_zones| Options {
                whole_zones,
                trace: TraceOption::None,
                ..Options::default()
            };
            line(
                page,
                &Pair {
                    name: format!("{name} {n}"),
                    text: example(file),
                    constants: vec![("N", n)],
                    query,
                    before: options(true),
                    after: options(false),
                },
            );
        }
    }
    page.push('\n');
}

/// Zones compared up to simulation, against inclusion.
pub(crate) fn by_simulation(page: &mut String, quick: bool) {
    page.push_str(
        "## Zones compared by simulation\n\nBefore (`--without simulation`) and after, without symmetry and other strategies, for \
         `A[] true`; user time of one thread, run in turn. The last models have no zones that only simulation covers: they show what the \
         comparison costs.\n\n",
    );
    head(page);
    let mut models = vec![
        ("certificates 2", models::certificates(2), 2),
        ("certificates 3", models::certificates(3), 3),
        ("Fischer 8", example("fischer.xta"), 8),
        ("CSMA/CD 7", models::csma(7), 7),
        ("train gate 7", models::train_gate(7), 7),
    ];
    models.truncate(if quick { 2 } else { 5 });
    for (name, text, n) in models {
        let options = |with: bool| Options {
            symmetry: SymmetryOption::Off,
            trace: TraceOption::None,
            without: (Switch::ALL.into_iter())
                .filter(|s| !with || *s != Switch::Simulation)
                .collect(),
            ..Options::default()
        };
        line(
            page,
            &Pair {
                name: name.to_owned(),
                text,
                constants: vec![("N", n)],
                query: "A[] true",
                before: options(false),
                after: options(true),
            },
        );
    }
    page.push('\n');
}
