//! Searches that take turns: each decides the questions that it is made for.

use crate::common;

use common::Verify;

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

/// Breadth first search explores all pairs before the goal, and depth first search only one
/// counter; a flag does not show how near the goal is.
#[test]
fn chance_finds_what_is_deep() {
    let (verdict, by) = decided_by(COUNTERS, "E<> both", 20_000);
    assert_eq!(verdict, Verdict::Satisfied);
    assert_eq!(by, ["random depth-first search"]);
}

/// Depth first search comes to `both` at once, after the 3,000 steps that are one counter; breadth
/// first search finds it by a short run, so its run is shown, unless it would take long.
#[test]
fn a_short_run_is_shown_where_it_is_found_soon() {
    let model = |flag: &str| {
        common::xta(&format!(
            "int[0,3000] n; int[0,3000] m; bool both; process P() {{ state A; init A; trans \
             A -> A {{ guard m < 3000; assign m++; }}, A -> A {{ guard {flag}; assign both = true; }}, \
             A -> A {{ guard n < 3000; assign n++; }}; }} system P;"
        ))
    };
    let steps = |flag: &str| {
        let report = model(flag).verify("E<> both", &Options::default());
        assert_eq!(report.verdict, Verdict::Satisfied, "{flag}");
        report.trace.map(|trace| trace.steps.len())
    };
    assert_eq!(steps("n + m == 60"), Some(62));
    assert_eq!(steps("n == 3000 || m == 3000"), Some(3002));
    assert!(steps("n == 3000 || n == 400 && m == 400").is_some_and(|steps| steps > 3000));
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

/// A long path through locations, and a shorter one into a trap.
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

/// Two counters; depth first search counts `n` first and leaves its range at once, breadth first
/// search does so late.
const LEAVING_RANGE: &str = "int[0,70] n; int[0,30000] m; bool flag; process P() { state A; init A; trans \
     A -> A { guard m < 30000; assign m++; }, A -> A { guard m == 40 && n == 0; assign flag = true; }, \
     A -> A { assign n++; }; } system P;";

/// Exploring everything would find the error too, so nothing is proven before the error is
/// examined.
#[test]
fn a_deep_error_is_found_and_told() {
    let options = |states| Options {
        first_turn: Some(300),
        states,
        ..Options::default()
    };
    let loaded = common::xta(LEAVING_RANGE);
    for states in [None, Some(500)] {
        let report = loaded.verify("A[] m <= 30000", &options(states));
        let reason = report.reason_text();
        assert_eq!(report.verdict, Verdict::Error, "{reason}");
        assert!(reason.starts_with("model-error: "), "{reason}");
        assert!(report.trace.is_some_and(|t| t.steps.len() > 70));
        assert!(report.statistics.stored < 2_500);
    }
    // A state that is found in the remaining rounds counts.
    let report = loaded.verify("E<> flag", &options(None));
    assert_eq!(report.verdict, Verdict::Satisfied, "{:?}", report.reason);
}

/// A state that does not exist is not found by any search.
#[test]
fn every_search_takes_the_whole_space_for_an_answer() {
    let model = COUNTERS.replace("1000000", "60");
    let (verdict, _) = decided_by(&model, "E<> n + m > 120", 50);
    assert_eq!(verdict, Verdict::Violated);
}

/// Four processes that tick independently and do not matter for the query.
fn tickers() -> String {
    let ticker = |k: usize| {
        format!(
            "process T{k}() {{ clock t; state S {{ t <= {0} }}; init S; trans S -> S {{ guard t >= {1}; assign t = 0; }}; }} ",
            3 + k,
            1 + k
        )
    };
    (0..4).map(ticker).collect()
}

/// If a run avoids `B` only as long as one clock allows, the clocks of the other processes may be
/// ignored.
#[test]
fn loose_clocks_prove_what_comes() {
    let tickers = tickers();
    let model = format!(
        "process P() {{ clock x; state A {{ x <= 20 }}, B; init A; trans A -> B {{ guard x >= 10; }}; }} {tickers} \
         system P, T0, T1, T2, T3;"
    );
    for query in ["A<> P.B", "P.A --> P.B"] {
        let (verdict, by) = decided_by(&model, query, 100);
        assert_eq!(verdict, Verdict::Satisfied, "{query}");
        assert_eq!(by, ["active-clocks", "loose-clocks proof"], "{query}");
    }
    // A ticker that may tick without time passing prevents progress of the run.
    let zeno = model.replace("guard t >= 1;", "guard t >= 0;");
    let (verdict, _) = decided_by(&zeno, "A<> P.B", 100);
    assert_eq!(verdict, Verdict::Violated);
}

/// A run avoids `B` if `P` is in `Trap`, which may tick without time passing. Depth first search
/// explores the counters first and then only the zones of the tickers; the graph that cannot
/// exclude the run guides the search to it.
#[test]
fn what_cannot_be_excluded_is_looked_for() {
    let model = format!(
        "int[0,20] n; int[0,20] m; process P() {{ clock x; state A {{ x <= 20 }}, W {{ x <= 20 }}, C {{ x <= 20 }}, \
         Trap {{ x <= 20 }}, B; init A; trans A -> W {{ guard x >= 10; }}, W -> W {{ guard n < 20; assign n++; }}, \
         W -> W {{ guard m < 20; assign m++; }}, W -> B {{ guard n + m > 10; }}, \
         A -> C {{ guard x >= 10; assign x = 0; }}, C -> Trap {{ guard x >= 15; }}, Trap -> Trap {{ }}, \
         Trap -> B {{ }}; }} {} system P, T0, T1, T2, T3;",
        tickers()
    );
    for query in ["A<> P.B", "P.A --> P.B"] {
        let (verdict, by) = decided_by(&model, query, 4000);
        assert_eq!(verdict, Verdict::Violated, "{query}");
        assert_eq!(by, ["active-clocks", "guided search"], "{query}");
    }
    let without = model.replace("Trap -> Trap { }, ", "");
    assert_ne!(without, model);
    let (verdict, by) = decided_by(&without, "P.A --> P.B", 4000);
    assert_eq!(verdict, Verdict::Satisfied);
    assert_eq!(by, ["active-clocks", "loose-clocks proof"]);
}

/// A turn may end between any two states of a proof; when the proof continues, no state may be
/// lost. (Found by the oracle.)
#[test]
fn a_graph_goes_on_where_a_turn_ended() {
    let model = "clock x0, x1, x2; int[0,2] v0; urgent broadcast chan c0; chan c1; \
        process P0() { state l0 { x2 <= 3 }, l1 { x2 <= 2 }, l2; init l0; trans \
        l0 -> l2 { guard x0 > 3 && v0 == 0; assign x1 = 0, x2 = 0, v0 = 0; }, \
        l1 -> l0 { guard v0 == 2; assign x0 = 0, v0 = 2; }; } \
        process P1() { state l0, l1; init l0; trans \
        l0 -> l1 { guard x0 <= 3 && v0 == 0; assign x1 = 0; }, l1 -> l0 { assign x0 = 0; }; } \
        process P2() { state l0 { x1 <= 1 }, l1; init l0; trans \
        l0 -> l1 { guard v0 == 1; sync c0!; }, l1 -> l0 { sync c1!; assign x0 = 0, v0 = 0; }; } \
        system P0, P1, P2;";
    for first_turn in 1..8 {
        let (verdict, by) = decided_by(model, "E[] v0 == 0", first_turn);
        assert_eq!(verdict, Verdict::Satisfied, "{first_turn}: {by:?}");
    }
}
