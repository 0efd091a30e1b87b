use super::*;
use std::collections::BTreeMap;
use zonelens_analysis::report::{TraceEdge, TraceKind, TraceState, TraceTransition};

fn edge(process: &str, to: &str) -> TraceEdge {
    TraceEdge {
        process: process.into(),
        from: "a".into(),
        to: to.into(),
        select: BTreeMap::new(),
        line: 1,
        column: 1,
        process_index: 0,
        edge_index: 0,
    }
}

fn step(delay: &str, channel: Option<&str>, edges: Vec<TraceEdge>) -> TraceStep {
    let names = ["P(10)", "P(9)", "Q"];
    TraceStep {
        delay: delay.into(),
        transition: (!edges.is_empty()).then(|| TraceTransition {
            channel: channel.map(str::to_owned),
            edges,
        }),
        state: TraceState {
            locations: names
                .iter()
                .map(|n| ((*n).to_owned(), "a".to_owned()))
                .collect(),
            variables: BTreeMap::new(),
            clocks: BTreeMap::new(),
        },
    }
}

fn trace() -> Trace {
    Trace {
        kind: TraceKind::Path,
        cycle_start: None,
        steps: vec![
            step("0", None, vec![]),
            step("3", Some("go"), vec![edge("P(9)", "b"), edge("Q", "c")]),
            step("0", None, vec![edge("P(10)", "d")]),
            step("3/2", None, vec![edge("Q", "a")]),
        ],
    }
}

#[test]
fn lanes_in_natural_order_and_time_downwards() {
    let chart = chart(&trace(), None);
    let lanes: Vec<&str> = chart.lanes.iter().map(|l| l.process.as_str()).collect();
    assert_eq!(lanes, ["P(9)", "P(10)", "Q"]);
    let ys: Vec<f64> = chart.rows.iter().map(|r| r.y).collect();
    assert!(ys.windows(2).all(|w| w[0] < w[1]), "{ys:?}");
    let gaps: Vec<f64> = ys.windows(2).map(|w| (w[1] - w[0] - ROW).round()).collect();
    assert_eq!(gaps, [LONGEST, 0.0, LONGEST / 2.0]);
    assert_eq!(chart.rows[3].time, "9/2");
}

#[test]
fn a_synchronisation_is_an_arrow() {
    let chart = chart(&trace(), None);
    let [arrow] = chart.arrows.as_slice() else {
        panic!("{:?}", chart.arrows);
    };
    assert_eq!(
        (arrow.step, arrow.from, arrow.to, arrow.label.as_str()),
        (1, 0, 2, "go")
    );
}

#[test]
fn a_filter_hides_lanes_and_steps_but_no_time() {
    let only = BTreeSet::from(["P(10)".to_owned()]);
    let chart = chart(&trace(), Some(&only));
    let steps: Vec<usize> = chart.rows.iter().map(|r| r.step).collect();
    assert_eq!(steps, [0, 2]);
    assert!(chart.rows[1].later, "three units passed in a hidden step");
    assert!(chart.arrows.is_empty());
}

/// A broadcast is one action: only the arrow to the receiver nearest to the sender shows the
/// channel.
#[test]
fn a_broadcast_is_named_once() {
    let mut trace = trace();
    let edges = vec![edge("P(9)", "b"), edge("Q", "c"), edge("P(10)", "d")];
    trace.steps[1] = step("3", Some("all"), edges);
    let chart = chart(&trace, None);
    let arrows: Vec<(usize, usize, &str)> = chart
        .arrows
        .iter()
        .map(|a| (a.from, a.to, a.label.as_str()))
        .collect();
    assert_eq!(arrows, [(0, 2, ""), (0, 1, "all")]);
    let picture = crate::svg::chart(&chart, "t");
    assert_eq!(picture.matches(">all</text>").count(), 1, "{picture}");
    assert_eq!(picture.matches("label sync").count(), 1, "{picture}");
}
