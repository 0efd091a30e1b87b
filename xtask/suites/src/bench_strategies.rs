//! What each strategy earns: the states that a run explores with all of them, and without each.

use crate::{corpus, models};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::report::{Options, QueryReport, Reason, Switch, TraceOption, Verdict};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::load;

/// Begins the part of the page; it ends where the next mark does.
pub(crate) const BEGIN: &str = "<!-- strategies: written by --only strategies -->\n\n";

/// States of the first turn: small, so that strategies join in models that are explored within
/// seconds.
const FIRST_TURN: u64 = 1000;

/// Rows of the corpus, by file and formula, where there is one.
const MOST_CORPUS_ROWS: usize = 12;

struct Row {
    name: String,
    text: String,
    kind: FileKind,
    query: String,
}

fn row(name: &str, text: String, query: &str) -> Row {
    Row {
        name: name.to_owned(),
        text,
        kind: FileKind::Xta,
        query: query.to_owned(),
    }
}

/// Two counters: states that lie deep, near to what numbers tell or not.
fn counters() -> String {
    "int[0,400] n; int[0,400] m; bool both; process P() { state A; init A; trans \
     A -> A { guard n < 400; assign n++; }, A -> A { guard m < 400; assign m++; }, \
     A -> A { guard n >= 150 && m >= 150; assign both = true; }; } system P;"
        .to_owned()
}

/// A process that comes to `B` in time, or may be trapped, beside four that tick at their own pace.
fn tickers(trap: bool) -> String {
    let ticker = |k: usize| {
        format!(
            "process T{k}() {{ clock t; state S {{ t <= {0} }}; init S; trans \
             S -> S {{ guard t >= {1}; assign t = 0; }}; }} ",
            3 + k,
            1 + k
        )
    };
    let tickers: String = (0..4).map(ticker).collect();
    let endless = if trap { "Trap -> Trap { }, " } else { "" };
    format!(
        "int[0,20] n; int[0,20] m; process P() {{ clock x; state A {{ x <= 20 }}, W {{ x <= 20 }}, C {{ x <= 20 }}, \
         Trap {{ x <= 20 }}, B; init A; trans A -> W {{ guard x >= 10; }}, W -> W {{ guard n < 20; assign n++; }}, \
         W -> W {{ guard m < 20; assign m++; }}, W -> B {{ guard n + m > 10; }}, \
         A -> C {{ guard x >= 10; assign x = 0; }}, C -> Trap {{ guard x >= 15; }}, {endless}\
         Trap -> B {{ }}; }} {tickers} system P, T0, T1, T2, T3;"
    )
}

fn rows(quick: bool) -> Vec<Row> {
    let size = if quick { 4 } else { 6 };
    let example = |name: &str| {
        let path = corpus::root().join("examples").join(name);
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let mut rows = vec![
        row("counters, a sum", counters(), "E<> n >= 120 && m >= 120"),
        row("counters, a flag", counters(), "E<> both"),
        row("counters, everything", counters(), "A[] n + m <= 800"),
        row("tickers, comes", tickers(false), "A<> P.B"),
        row("tickers, leads to", tickers(false), "P.A --> P.B"),
        row("tickers, trapped", tickers(true), "A<> P.B"),
        row("tickers, safe", tickers(false), "A[] P.W imply P.x >= 10"),
        row("tickers, no deadlock", tickers(false), "A[] not deadlock"),
        row("train gate", models::train_gate(size), "A[] not deadlock"),
        row("FDDI", models::fddi(size), "A[] not deadlock"),
        row("CSMA/CD", models::csma(size), "A[] not deadlock"),
        row(
            "example: train gate, leads to",
            example("train-gate.xta"),
            "(exists (i : train) Train(i).near) --> exists (i : train) Train(i).cross",
        ),
    ];
    let Some(directory) = corpus::dir() else {
        return rows;
    };
    let expected = corpus::rows(&directory, "EXPECTED.tsv");
    // A row of each kind of formula in turn, each from another model.
    let (mut files, mut found) = (std::collections::BTreeSet::new(), 0);
    let most = if quick { 4 } else { MOST_CORPUS_ROWS };
    for kind in ["leadsto", "AF", "AG", "EF"].iter().cycle().take(most) {
        let next = expected
            .iter()
            .find(|row| row.len() > 3 && row[3] == *kind && !files.contains(&row[0]));
        let Some(next) = next else { continue };
        files.insert(next[0].clone());
        found += 1;
        rows.push(Row {
            name: format!("corpus {found}, {kind}"),
            text: corpus::read(&directory, &next[0]),
            kind: FileKind::from_path(&next[0]),
            query: next[1].clone(),
        });
    }
    rows
}

/// Whether strategies join after a thousand states anyway.
fn is_about_states(query: &str) -> bool {
    query.starts_with("E<>") || query.starts_with("A[]")
}

fn run(row: &Row, without: &[Switch], quick: bool) -> Option<QueryReport> {
    let loaded = load(&row.text, row.kind, &[]).ok()?;
    let query = loaded.query(&row.query).ok()?;
    let options = Options {
        trace: TraceOption::None,
        first_turn: (!is_about_states(&row.query)).then_some(FIRST_TURN),
        without: without.iter().copied().collect(),
        states: Some(if quick { 20_000 } else { 60_000 }),
        timeout: Some(if quick { 5.0 } else { 60.0 }),
        ..Options::default()
    };
    let control = Control {
        cancelled: &AtomicBool::new(false),
        progress: &|_| {},
    };
    let position = |span| loaded.position(span);
    Some(zonelens_checker::verify(
        &loaded.network,
        &query,
        &options,
        &position,
        &control,
    ))
}

/// Writes the table.
pub(crate) fn strategies(page: &mut String, quick: bool) {
    let _ = writeln!(
        page,
        "## What each strategy earns\n\nStates explored by all strategies of a run together, with a first turn of {FIRST_TURN} \
         states, also for runs (100 000 otherwise), so that they join in small models. A column for each strategy that `--without` leaves \
         out, and one for all of them: the states without it against those with all. More than 1× is what it earns, less what \
         its turns cost; `open` is a question that is not decided within the limit of states without it, `time` one that was \
         not ended in time. Questions that all together leave open are left out.\n"
    );
    let _ = write!(page, "| model | explored | decided by |");
    for switch in Switch::ALL {
        let _ = write!(page, " {switch} |");
    }
    let _ = writeln!(page, " all |\n|{}", "---|".repeat(4 + Switch::ALL.len()));
    let mut earning = [false; Switch::ALL.len()];
    for row in rows(quick) {
        let Some(all) = run(&row, &[], quick).filter(|all| all.verdict != Verdict::Unknown) else {
            continue;
        };
        let base = all.statistics.explored_by_all;
        if base <= FIRST_TURN && !all.reductions.iter().any(|words| words.contains(' ')) {
            continue;
        }
        let by = all.reductions.iter().find(|words| words.contains(' '));
        let by = by.map_or("the exact search", String::as_str);
        let _ = write!(page, "| {} | {base} | {by} |", row.name);
        let left_out = Switch::ALL.iter().map(std::slice::from_ref);
        for (index, without) in left_out.chain([&Switch::ALL[..]]).enumerate() {
            let report = run(&row, without, quick);
            let cell = match report {
                Some(report) if report.verdict == all.verdict => {
                    let ratio = report.statistics.explored_by_all as f64 / base.max(1) as f64;
                    if let Some(earns) = earning.get_mut(index) {
                        *earns |= ratio > 1.05;
                    }
                    format!("{ratio:.2}×")
                }
                // Depends on the machine: says nothing.
                Some(QueryReport {
                    reason: Some(Reason::Timeout(_)),
                    ..
                }) => "time".to_owned(),
                Some(report) if report.verdict == Verdict::Unknown => {
                    if let Some(earns) = earning.get_mut(index) {
                        *earns = true;
                    }
                    "open".to_owned()
                }
                _ => "DIFFERS".to_owned(),
            };
            let _ = write!(page, " {cell} |");
        }
        page.push('\n');
    }
    let idle = Switch::ALL.iter().zip(earning).filter(|(_, earns)| !earns);
    let idle: Vec<&str> = idle.map(|(switch, _)| switch.name()).collect();
    let _ = match idle.is_empty() {
        true => writeln!(
            page,
            "\nEach of them earns something on one of these models.\n"
        ),
        false => writeln!(
            page,
            "\nEarn nothing on these models: {}.\n",
            idle.join(", ")
        ),
    };
}
