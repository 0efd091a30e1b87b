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

/// Breadth first search meets all pairs before the one sought, depth first search one counter alone.
#[test]
fn chance_finds_what_is_deep() {
    let model = "int[0,30000] n; int[0,30000] m; process P() { state A; init A; trans \
         A -> A { guard n < 30000; assign n++; }, A -> A { guard m < 30000; assign m++; }; } system P;";
    let (verdict, by) = decided_by(model, "E<> n >= 200 && m >= 200", 1000);
    assert_eq!(verdict, Verdict::Satisfied);
    assert_eq!(by, ["random depth-first search"]);
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
