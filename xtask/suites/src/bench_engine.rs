//! Figures of the exploration engine.

use crate::{corpus, models};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use zonelens_analysis::Model;
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{
    AbstractionOption, Options, QueryReport, SymmetryOption, TraceOption, Verdict,
};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::{SourceFile, parse_query};

/// Where the time is spent, according to a sampling profiler; these figures are not measured again
/// by each run.
const PROFILE: &str = "\
Where the time goes (sampling profiler, shares of one thread's time):

| | Fischer 9 | a model with thousands of zones per discrete state | a model of functions and arrays |
|---|---|---|---|
| inclusion among stored zones | 9 % | 51 % | 2 % |
| constraints and closure | 21 % | 6 % | 1 % |
| extrapolation | 11 % | 4 % | 2 % |
| storing states and zones | 30 % | 14 % | 21 % |
| guards, updates, invariants | 16 % | 10 % | 51 % |
| finding steps | 3 % | 7 % | 11 % |

";

/// How often each run of the engine is repeated.
const REPEATS: usize = 2;

struct Row {
    name: String,
    text: String,
    kind: FileKind,
}

fn rows(quick: bool) -> Vec<Row> {
    let root = corpus::root();
    let fischer = std::fs::read_to_string(root.join("examples/fischer.xta")).unwrap_or_default();
    let row = |name: &str, text: String| Row {
        name: name.to_owned(),
        text,
        kind: FileKind::Xta,
    };
    let fischer_size = if quick { 7 } else { 8 };
    let mut rows = vec![
        row(
            &format!("Fischer {fischer_size}"),
            with_size(&fischer, fischer_size),
        ),
        row("CSMA/CD 7", models::csma(7)),
        row("train gate 6", models::train_gate(6)),
        row("FDDI 10", models::fddi(10)),
    ];
    if !quick {
        // Large enough for threads to matter.
        rows.push(row("Fischer 10", with_size(&fischer, 10)));
        rows.push(row("train gate 8", models::train_gate(8)));
    }
    for (name, file) in [
        (
            "corpus: metro crossing",
            "models/pablo-villarejo__TFG-UPPAAL/SegundoModelo.xml",
        ),
        (
            "corpus: tower defence",
            "models/AndreaTorti-01__UppaalTD-Torti-DAmario/UppaalTD.xml",
        ),
    ] {
        if let Some(text) =
            corpus::dir().and_then(|directory| std::fs::read_to_string(directory.join(file)).ok())
        {
            rows.push(Row {
                name: name.to_owned(),
                text,
                kind: FileKind::Xml,
            });
        }
    }
    rows
}

fn with_size(text: &str, n: u32) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("const int N =") {
            let _ = writeln!(out, "const int N = {n};");
        } else {
            let _ = writeln!(out, "{line}");
        }
    }
    out
}

/// Explores the state space (or a bounded part of it) of a network.
fn explore(
    model: &Model,
    network: &Network,
    options: &Options,
    cancelled: &AtomicBool,
) -> QueryReport {
    let query = parse_query("A[] true");
    let control = Control {
        cancelled,
        progress: &|_| {},
    };
    match model.resolve_query(network, &query, 0) {
        Ok(query) => {
            zonelens_checker::verify(network, &query, options, &|_| Position::default(), &control)
        }
        Err(_) => QueryReport::without_run("A[] true", 0, Verdict::Error, None),
    }
}

fn options(threads: u32, quick: bool) -> Options {
    Options {
        symmetry: SymmetryOption::Off,
        trace: TraceOption::None,
        // A single search instead of several in turns: the figures are about that one.
        abstraction: AbstractionOption::ExtraLu,
        threads,
        states: Some(if quick { 60_000 } else { 1_000_000 }),
        timeout: Some(if quick { 3.0 } else { 60.0 }),
        ..Options::default()
    }
}

/// The bytes of an uncompressed state: four per bound and per integer, and the same record of its
/// origin.
fn plain_bytes(network: &Network) -> f64 {
    let dim = network.clocks.len() + 1;
    let discrete = network.cells.len() + network.processes.len();
    (4 * (dim * dim + discrete) + 20) as f64
}

/// The processor time of this process so far, if the system reports it: it does not depend on the
/// load of the machine.
pub(crate) fn processor_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // After the name in parentheses: user and system time are fields 14 and 15, in hundredths of a
    // second.
    let fields = stat.rsplit(')').next().unwrap_or_default();
    let ticks = fields.split_whitespace().skip(11).take(2);
    ticks.filter_map(|t| t.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// States per second, memory and threads, for a bounded part of each state space.
pub(crate) fn engine(page: &mut String, quick: bool) {
    let _ = writeln!(
        page,
        "## Exploration without symmetry\n\nThe whole space, or as much as a limit of states and time allows. `plain` is the memory of a stored state against \
         plain copies of matrix and integers. The last columns are the speed of two threads against one, and the processor \
         time that they take against one: the part of it beyond 1 is what working together costs, on a busy machine too.\n"
    );
    let _ = writeln!(
        page,
        "| model | clocks | stored | successors | successors/s | bytes/state | plain | two threads | their work |\n|---|---|---|---|---|---|---|---|---|"
    );
    for row in rows(quick) {
        let file = SourceFile::parse(row.text.as_str(), row.kind);
        let model = Model::new(&file, &BTreeMap::new());
        let Ok(network) = model.network() else {
            let _ = writeln!(page, "| {} | the model has errors |", row.name);
            continue;
        };
        let never = AtomicBool::new(false);
        let timed = |threads| {
            let start = processor_seconds();
            let report = explore(&model, &network, &options(threads, quick), &never);
            (report.statistics, processor_seconds() - start)
        };
        // Measured alternately, the best of several: other processes make a run slower, never
        // faster.
        let (mut one, mut two) = (timed(1), timed(2));
        for _ in 0..REPEATS {
            for (threads, best) in [(1, &mut one), (2, &mut two)] {
                let again = timed(threads);
                best.1 = best.1.min(again.1);
                if again.0.seconds < best.0.seconds {
                    best.0 = again.0;
                }
            }
        }
        let ((one, work_of_one), (two, work_of_two)) = (one, two);
        // Per successor, because the two runs need not compute the same number.
        let work = (work_of_two / two.transitions.max(1) as f64)
            / (work_of_one / one.transitions.max(1) as f64);
        let speed =
            |s: &zonelens_analysis::report::Statistics| s.transitions as f64 / s.seconds.max(1e-9);
        let bytes = one.peak_memory_bytes as f64 / one.stored.max(1) as f64;
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {:.0} | {bytes:.0} | {:.0} % | {:.2}× | {work:.2}× |",
            row.name,
            network.clocks.len(),
            one.stored,
            one.transitions,
            speed(&one),
            100.0 * bytes / plain_bytes(&network),
            speed(&two) / speed(&one),
        );
    }
    page.push('\n');
    page.push_str(PROFILE);
}

/// How long a run continues after it was cancelled.
pub(crate) fn cancellation(page: &mut String) {
    let text = models::fddi(10);
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let model = Model::new(&file, &BTreeMap::new());
    let Ok(network) = model.network() else { return };
    let mut worst = Duration::ZERO;
    for threads in [1, 2, 1, 2] {
        let cancelled = AtomicBool::new(false);
        let late = std::thread::scope(|scope| {
            let stopper = scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(150));
                cancelled.store(true, Ordering::SeqCst);
                Instant::now()
            });
            let options = Options {
                states: None,
                timeout: Some(20.0),
                ..options(threads, false)
            };
            explore(&model, &network, &options, &cancelled);
            let end = Instant::now();
            stopper
                .join()
                .map_or(Duration::ZERO, |told| end.saturating_duration_since(told))
        });
        worst = worst.max(late);
    }
    let _ = writeln!(
        page,
        "Longest time from cancel to idle on FDDI 10, one and two threads: {:.1} ms (target 50 ms).\n",
        worst.as_secs_f64() * 1e3
    );
}
