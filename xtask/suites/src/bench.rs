//! Figures for `docs/benchmarks.md`: ratios of runs measured together, and counts.

use crate::{
    bench_engine, bench_strategies, bench_switches, bench_symmetry, corpus, generate, server,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use zonelens_analysis::Model;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{AbstractionOption, Options, SymmetryOption, TraceOption};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span, TextEdit};
use zonelens_syntax::{SourceFile, parse_query};

/// The end of the part of the page that `--only symmetry` does not change.
const SYMMETRY: &str = "<!-- symmetry: all that follows -->\n\n";

/// What to measure.
pub(crate) struct Parts<'a> {
    /// Whether to use only small instances; the page is then printed and not rewritten.
    pub quick: bool,
    /// The only part of the page to measure.
    pub only: Option<&'a str>,
    /// Whether to keep the figures of the agreement algorithm in the page: measuring them takes
    /// half an hour.
    pub keep_agreement: bool,
    /// The time limit in seconds for each property of such an instance.
    pub most: f64,
}

/// Measures and rewrites the page.
pub(crate) fn run(parts: &Parts<'_>) -> bool {
    let quick = parts.quick;
    let path = corpus::root().join("docs/benchmarks.md");
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    let before = |mark: &str| {
        let kept = old.split(mark).next().unwrap_or_default();
        format!("{}\n\n", kept.trim_end())
    };
    if parts.only == Some("system") {
        let mut page = String::new();
        server::large_system(&mut page);
        print!("{page}");
        return true;
    }
    if parts.only == Some("switches") {
        let mut page = String::new();
        bench_switches::by_class(&mut page, quick);
        bench_switches::by_simulation(&mut page, quick);
        print!("{page}");
        return true;
    }
    if parts.only == Some("engine") {
        let mut page = String::new();
        engine(&mut page, quick);
        print!("{page}");
        return true;
    }
    if parts.only == Some("strategies") {
        let mut part = String::from(bench_strategies::BEGIN);
        bench_strategies::strategies(&mut part, quick);
        print!("{part}");
        let rest = old.find(SYMMETRY).map_or("", |at| &old[at..]);
        let mark = match old.contains(bench_strategies::BEGIN) {
            true => bench_strategies::BEGIN,
            false => SYMMETRY,
        };
        let page = before(mark) + &part + rest;
        return quick || std::fs::write(path, page).is_ok();
    }
    let mut page = match parts.only {
        Some("agreement") => before(bench_symmetry::AGREEMENT),
        Some("symmetry") => before(SYMMETRY) + SYMMETRY,
        _ => {
            let mut page = everything_else(quick);
            page.push_str(SYMMETRY);
            page
        }
    };
    if parts.only != Some("agreement") {
        bench_symmetry::growths(&mut page, quick);
    }
    match old.find(bench_symmetry::AGREEMENT) {
        Some(at) if parts.keep_agreement => page.push_str(&old[at..]),
        _ => bench_symmetry::agreement(&mut page, quick, parts.most),
    }
    let page = format!("{}\n", page.trim_end());
    print!("{page}");
    quick || std::fs::write(path, page).is_ok()
}

/// All parts that are not about symmetry.
fn everything_else(quick: bool) -> String {
    let mut page = String::from(
        "# Benchmarks\n\nWritten by `cargo xtask bench`. Times were measured on one machine with two cores; ratios and counts are easier to compare.\n\n",
    );
    parsing(&mut page, quick);
    hostile(&mut page);
    analysis(&mut page);
    if !quick {
        server::latencies(&mut page);
    }
    engine(&mut page, quick);
    page.push_str(bench_strategies::BEGIN);
    bench_strategies::strategies(&mut page, quick);
    page
}

fn engine(page: &mut String, quick: bool) {
    fischer(page, quick);
    bench_engine::engine(page, quick);
    bench_engine::cancellation(page);
}

/// The median of `n` timings in seconds.
fn median(n: usize, mut run: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..n)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64()
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[n / 2]
}

fn parsing(page: &mut String, quick: bool) {
    let text = generate::model(20_000);
    let runs = if quick { 5 } else { 21 };
    let cold = median(runs, || {
        drop(SourceFile::parse(text.as_str(), FileKind::Xta))
    });
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let middle = text[text.len() / 2..]
        .find("x >= 2")
        .map_or(0, |i| i + text.len() / 2 + 5) as u32;
    let edit = TextEdit {
        span: Span::new(middle, middle + 1),
        text: "3".to_owned(),
    };
    let warm = median(runs * 5, || drop(file.reparse(&edit)));
    let xml = zonelens_syntax::convert::to_xml(&file).unwrap_or_default();
    let cold_xml = median(runs, || {
        drop(SourceFile::parse(xml.as_str(), FileKind::Xml))
    });
    let file_xml = SourceFile::parse(xml.as_str(), FileKind::Xml);
    let middle = xml[xml.len() / 2..]
        .find("x &gt;= 2")
        .map_or(0, |i| i + xml.len() / 2 + 8) as u32;
    let edit = TextEdit {
        span: Span::new(middle, middle + 1),
        text: "3".to_owned(),
    };
    let warm_xml = median(runs, || drop(file_xml.reparse(&edit)));
    let _ = writeln!(
        page,
        "## Parsing a generated model of {} lines\n",
        text.lines().count()
    );
    let _ = writeln!(
        page,
        "| | size | cold parse | MB/s | one-character edit in the middle | ratio |"
    );
    let _ = writeln!(page, "|---|---|---|---|---|---|");
    for (name, size, cold, warm) in [
        (".xta", text.len(), cold, warm),
        (".xml", xml.len(), cold_xml, warm_xml),
    ] {
        let mb = size as f64 / 1e6;
        let _ = writeln!(
            page,
            "| `{name}` | {mb:.2} MB | {:.1} ms | {:.1} | {:.3} ms | {:.0}× |",
            cold * 1e3,
            mb / cold,
            warm * 1e3,
            cold / warm
        );
    }
    page.push('\n');
}

/// The hostile inputs of the tests, with the time that each takes.
fn hostile(page: &mut String) {
    let n = 100_000;
    let cases: Vec<(&str, String, FileKind)> = vec![
        (
            "10 MB on one line, one expression",
            format!("int a = {}1; system P;", "1 + ".repeat(2_500_000)),
            FileKind::Xta,
        ),
        (
            "10 MB on one line, 1.4 million items",
            format!("{} system P;", "int a; ".repeat(1_400_000)),
            FileKind::Xta,
        ),
        ("10 MB of noise", "§".repeat(5_000_000), FileKind::Xta),
        (
            "100 000 parentheses",
            format!("int a = {}1{};\nsystem P;", "(".repeat(n), ")".repeat(n)),
            FileKind::Xta,
        ),
        (
            "1 000 errors",
            (0..1000).map(|i| format!("int a{i} = ;\n")).collect(),
            FileKind::Xta,
        ),
        ("100 000 nested elements", "<a>".repeat(n), FileKind::Xml),
        (
            "10 MB of entities",
            format!(
                "<nta><declaration>{}</declaration></nta>",
                "&lt;".repeat(2_500_000)
            ),
            FileKind::Xml,
        ),
    ];
    let _ = writeln!(
        page,
        "## Hostile input: time to a clear answer (target 2 s)\n\n| input | seconds |\n|---|---|"
    );
    for (name, text, kind) in cases {
        let seconds = median(1, || drop(SourceFile::parse(text.as_str(), kind).errors()));
        let _ = writeln!(page, "| {name} | {seconds:.2} |");
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find_map(|l| l.strip_prefix("VmHWM:"))
        .map_or("unknown", str::trim);
    let _ = writeln!(page, "\nPeak memory over all of them: {peak}.\n");
}

fn analysis(page: &mut String) {
    let text = generate::model(20_000);
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let cold = median(9, || drop(Model::new(&file, &BTreeMap::new())));
    let model = Model::new(&file, &BTreeMap::new());
    let middle = text[text.len() / 2..]
        .find("x >= 2")
        .map_or(0, |i| i + text.len() / 2 + 5) as u32;
    let edited = file.reparse(&TextEdit {
        span: Span::new(middle, middle + 1),
        text: "3".to_owned(),
    });
    let warm = median(21, || drop(model.update(&edited)));
    let _ = writeln!(
        page,
        "## Analysis of the same model\n\nCold: {:.1} ms. After a one-character edit in one template: {:.1} ms, {:.0}× less.\n",
        cold * 1e3,
        warm * 1e3,
        cold / warm
    );
}

fn fischer(page: &mut String, quick: bool) {
    let text =
        std::fs::read_to_string(corpus::root().join("examples/fischer.xta")).unwrap_or_default();
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let lines = LineIndex::new(&text);
    let position = |span: Span| {
        let at = lines.line_col(&text, span.start);
        Position {
            line: at.line,
            column: at.column,
        }
    };
    let query = parse_query(
        "A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j",
    );
    let _ = writeln!(
        page,
        "## Fischer, whole state space, no symmetry, one thread\n"
    );
    let _ = writeln!(
        page,
        "| N | stored | explored | successors | seconds | successors/s | bytes/state |\n|---|---|---|---|---|---|---|"
    );
    for n in 2..=if quick { 6 } else { 8 } {
        let model = Model::new(&file, &BTreeMap::from([("N".to_owned(), n)]));
        let Ok(network) = model.network() else {
            continue;
        };
        let Ok(query) = model.resolve_query(&network, &query, 0) else {
            continue;
        };
        let options = Options {
            symmetry: SymmetryOption::Off,
            trace: TraceOption::None,
            abstraction: AbstractionOption::ExtraLu,
            ..Options::default()
        };
        let cancelled = AtomicBool::new(false);
        let control = Control {
            cancelled: &cancelled,
            progress: &|_| {},
        };
        let report = zonelens_checker::verify(&network, &query, &options, &position, &control);
        let s = &report.statistics;
        let _ = writeln!(
            page,
            "| {n} | {} | {} | {} | {:.3} | {:.0} | {:.0} |",
            s.stored,
            s.explored,
            s.transitions,
            s.seconds,
            s.transitions as f64 / s.seconds.max(1e-9),
            s.peak_memory_bytes as f64 / s.stored.max(1) as f64
        );
    }
    page.push('\n');
}
