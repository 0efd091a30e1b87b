//! What the models of the corpus never do: counts for `docs/coverage.md`.

use crate::corpus;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use zonelens_analysis::coverage::{Coverage, Kind};
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, Reason};
use zonelens_checker::{Control, coverage};
use zonelens_syntax::ast::FileKind;

/// The time limit in seconds for each model.
const SECONDS: u64 = 10;
/// The memory limit for each model.
const MEMORY: u64 = 1 << 30;
/// The number of models that are listed by name.
const LISTED: usize = 25;
/// The heading of the part of the page that is written here; it is the last one.
const HEADING: &str = "## In the corpus";

/// Runs over the corpus and rewrites the last part of `docs/coverage.md`.
pub(crate) fn run(timeout: Option<u64>) -> bool {
    let Some(dir) = corpus::dir() else {
        return true;
    };
    let timeout = timeout.unwrap_or(SECONDS);
    let names: Vec<String> = corpus::rows(&dir, "EXPECT-TYPES.tsv")
        .into_iter()
        .map(|row| row[0].clone())
        .filter(|name| FileKind::from_path(name) != FileKind::Query)
        .collect();
    let next = AtomicUsize::new(0);
    let results: Mutex<BTreeMap<String, Covered>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            let work = || {
                while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let covered = cover(&dir, name, timeout);
                    if let Ok(mut results) = results.lock() {
                        results.insert(name.clone(), covered);
                    }
                }
            };
            let thread = std::thread::Builder::new().stack_size(256 << 20);
            if thread.spawn_scoped(scope, work).is_err() {
                println!("a thread could not be started");
            }
        }
    });
    let results = results.into_inner().unwrap_or_default();
    let part = part(&results, timeout);
    print!("{part}");
    let path = corpus::root().join("docs/coverage.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let head = page.split(HEADING).next().unwrap_or_default();
    results.len() == names.len() && std::fs::write(path, format!("{head}{part}")).is_ok()
}

/// The result for one model.
enum Covered {
    /// It has errors, so there is no network.
    Erroneous,
    Run(Box<Coverage>),
}

fn cover(dir: &Path, name: &str, timeout: u64) -> Covered {
    let text = corpus::read(dir, name);
    let Ok(model) = zonelens_test_support::load(&text, FileKind::from_path(name), &[]) else {
        return Covered::Erroneous;
    };
    let options = Options {
        timeout: Some(timeout as f64),
        memory: Some(MEMORY),
        ..Options::default()
    };
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let position = |span| -> Position { model.position(span) };
    Covered::Run(Box::new(coverage(
        &model.network,
        &options,
        &position,
        &control,
    )))
}

fn count(coverage: &Coverage, kind: Kind) -> usize {
    let unseen = coverage.unseen.iter();
    unseen.filter(|one| one.element.kind() == kind).count()
}

const KINDS: [(Kind, &str); 5] = [
    (Kind::Location, "locations never entered"),
    (Kind::Edge, "edges never taken"),
    (Kind::Guard, "guards never true"),
    (Kind::Receiver, "receivers that never hear anything"),
    (Kind::Limit, "limits never reached"),
];

fn part(results: &BTreeMap<String, Covered>, timeout: u64) -> String {
    let runs = || {
        results.iter().filter_map(|(name, covered)| match covered {
            Covered::Run(coverage) => Some((name, &**coverage)),
            Covered::Erroneous => None,
        })
    };
    let complete: Vec<(&String, &Coverage)> = runs().filter(|(_, c)| c.complete).collect();
    let mut ends: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, coverage) in runs() {
        let end = match &coverage.reason {
            _ if coverage.complete => "explored completely",
            Some(Reason::ModelError(_)) => "an error of the model on some run",
            Some(Reason::Timeout(_) | Reason::Memory(_) | Reason::States(_)) => {
                "stopped by a limit"
            }
            Some(Reason::Unsupported(_)) => "not supported",
            _ => "something else",
        };
        *ends.entry(end).or_default() += 1;
    }
    let erroneous = results.len() - runs().count();
    let mut part = format!(
        "{HEADING}\n\nWritten by `cargo xtask coverage` from {} files of real models, each with {timeout} seconds and 1 GiB. \
         Only complete runs are counted below.\n\n| models | |\n|---:|---|\n",
        results.len()
    );
    for (end, models) in &ends {
        let _ = writeln!(part, "| {models} | {end} |");
    }
    let _ = writeln!(part, "| {erroneous} | have errors and do not run |");
    part += "\n| never | number | of | models that have some |\n|---|---:|---:|---:|\n";
    for (kind, what) in KINDS {
        let found: usize = complete.iter().map(|(_, c)| count(c, kind)).sum();
        let models = complete.iter().filter(|(_, c)| count(c, kind) > 0).count();
        let of: u32 = complete
            .iter()
            .map(|(_, c)| match kind {
                Kind::Location => c.totals.locations,
                Kind::Edge => c.totals.edges,
                Kind::Guard => c.totals.guards,
                Kind::Receiver => c.totals.receivers,
                Kind::Limit => c.totals.limits,
            })
            .sum();
        let _ = writeln!(part, "| {what} | {found} | {of} | {models} |");
    }
    let mut most = complete.clone();
    most.retain(|(_, c)| count(c, Kind::Location) + count(c, Kind::Edge) > 0);
    most.sort_by_key(|(name, c)| {
        let edges = count(c, Kind::Location) + count(c, Kind::Edge);
        (std::cmp::Reverse(edges), (*name).clone())
    });
    let _ = writeln!(
        part,
        "\n{} models have locations or edges that are never used; those with the most:\n\n\
         | model | states | locations | edges | guards | receivers | limits |\n|---|---:|---:|---:|---:|---:|---:|",
        most.len()
    );
    for (name, coverage) in most.iter().take(LISTED) {
        let totals = &coverage.totals;
        let of = |kind, total: u32| format!("{} of {total}", count(coverage, kind));
        let _ = writeln!(
            part,
            "| `{name}` | {} | {} | {} | {} | {} | {} |",
            coverage.statistics.explored,
            of(Kind::Location, totals.locations),
            of(Kind::Edge, totals.edges),
            of(Kind::Guard, totals.guards),
            of(Kind::Receiver, totals.receivers),
            of(Kind::Limit, totals.limits),
        );
    }
    part
}
