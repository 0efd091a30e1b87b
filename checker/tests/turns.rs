//! Searches that take turns: each decides what it is there for.

mod common;

use zonelens_analysis::report::{Options, Verdict};

fn decided_by(model: &str, query: &str, first_turn: u64) -> (Verdict, Vec<String>) {
    let options = Options {
        first_turn: Some(first_turn),
        ..Options::default()
    };
    let report = common::xta(model).verify(query, &options);
    (report.verdict, report.reductions)
}

const COUNTERS: &str = "int[0,1000000] n; int[0,1000000] m; bool both; process P() { state A; init A; trans \
     A -> A { guard n < 1000000; assign n++; }, A -> A { guard m < 1000000; assign m++; }, \
     A -> A { guard n >= 600 && m >= 600; assign both = true; }; } system P;";

/// Breadth first search meets all pairs before the one sought, depth first search one counter alone; a flag does not tell
/// how near it is.
#[test]
fn chance_finds_what_is_deep() {
    let (verdict, by) = decided_by(COUNTERS, "E<> both", 1000);
    assert_eq!(verdict, Verdict::Satisfied);
    assert_eq!(by, ["random depth-first search"]);
}

#[test]
fn the_nearest_states_lead_to_what_numbers_tell() {
    for query in [
        "E<> n >= 200 && m >= 200",
        "A[] n < 150 || !(m == 170)",
        "E<> forall (i : int[0,1]) (i == 0 ? n : m) > 180",
    ] {
        let (verdict, by) = decided_by(COUNTERS, query, 1000);
        let found = match query.starts_with('E') {
            true => Verdict::Satisfied,
            false => Verdict::Violated,
        };
        assert_eq!(verdict, found, "{query}");
        assert_eq!(by, ["best-first search"], "{query}");
    }
}

/// A long way through locations, and a shorter one into a trap.
#[test]
fn the_nearest_location_is_counted_in_edges() {
    let names: String = (0..60).map(|k| format!("L{k}, ")).collect();
    let edges: String = (0..59)
        .map(|k| format!("L{k} -> L{} {{ guard n > 0; assign n = 0; }}, ", k + 1))
        .collect();
    let model = format!(
        "int[0,3000] n; int[0,3000] m; process P() {{ state {names}End; init L0; trans {edges}L59 -> End {{ }}; }} \
         process Q() {{ state S; init S; trans S -> S {{ guard n < 3000; assign n++; }}, \
         S -> S {{ guard m < 3000; assign m++; }}; }} system P, Q;"
    );
    let (verdict, by) = decided_by(&model, "E<> P.End", 1000);
    assert_eq!(verdict, Verdict::Satisfied);
    assert_eq!(by, ["best-first search"]);
}

/// What never comes is never found, whoever looks for it.
#[test]
fn every_search_takes_the_whole_space_for_an_answer() {
    let model = COUNTERS.replace("1000000", "60");
    let (verdict, _) = decided_by(&model, "E<> n + m > 120", 50);
    assert_eq!(verdict, Verdict::Violated);
}

/// Where a run avoids `B` only as long as one clock allows, the clocks of the others may be forgotten.
#[test]
fn loose_clocks_prove_what_comes() {
    let ticker = |k: usize| {
        format!(
            "process T{k}() {{ clock t; state S {{ t <= {0} }}; init S; trans S -> S {{ guard t >= {1}; assign t = 0; }}; }} ",
            3 + k,
            1 + k
        )
    };
    let tickers: String = (0..4).map(ticker).collect();
    let model = format!(
        "process P() {{ clock x; state A {{ x <= 20 }}, B; init A; trans A -> B {{ guard x >= 10; }}; }} {tickers} \
         system P, T0, T1, T2, T3;"
    );
    for query in ["A<> P.B", "P.A --> P.B"] {
        let (verdict, by) = decided_by(&model, query, 100);
        assert_eq!(verdict, Verdict::Satisfied, "{query}");
        assert_eq!(by, ["active-clocks", "loose-clocks proof"], "{query}");
    }
    // A ticker that may tick without time passing keeps the run from coming anywhere.
    let zeno = model.replace("guard t >= 1;", "guard t >= 0;");
    let (verdict, _) = decided_by(&zeno, "A<> P.B", 100);
    assert_eq!(verdict, Verdict::Violated);
}
