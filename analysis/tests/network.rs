//! The networks that instantiation creates.

use std::collections::BTreeMap;
use zonelens_analysis::Model;
use zonelens_analysis::network::{
    Base, BinaryOp, CellId, CompareOp, Expr, ExprKind, LocationKind, Network, Query, QueryKind,
};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

fn build(text: &str) -> (Network, Vec<Query>) {
    let file = SourceFile::parse(text, FileKind::Xta);
    let model = Model::new(&file, &BTreeMap::new());
    let network = model.network().unwrap_or_else(|e| panic!("{e:#?}"));
    let queries = file
        .queries()
        .iter()
        .map(|q| {
            model
                .resolve_query(&network, q.query, q.base)
                .unwrap_or_else(|e| panic!("{e:#?}"))
        })
        .collect();
    (network, queries)
}

fn formula(q: &Query) -> &Expr {
    match &q.kind {
        QueryKind::Path(_, e) => e,
        other => panic!("{other:?}"),
    }
}

#[test]
fn families_are_laid_out_with_equal_strides() {
    let (n, q) = build(
        "int g; process P(const int[1,2] a, const int[0,2] b) { clock x; int v[2]; bool w; state A, B; urgent A; init B; }
process Q() { state C; commit C; init C; }
system Q, P;
//@ query E<> P(2,1).A
//@ query E<> exists (i : int[0,2]) P(1,i).v[1] == 3 && P(1,i).x > 2
//@ query E<> exists (i : int[1,2]) P(i,0).a == 2
",
    );
    assert_eq!(n.processes.len(), 7);
    assert_eq!((n.families[1].first.0, n.families[1].len), (1, 6));
    assert_eq!(n.processes[5].name, "P(2,1)");
    assert_eq!(n.processes[5].args, [2, 1]);
    assert_eq!((n.cells.len(), n.clocks.len()), (1 + 6 * 3, 6));
    assert_eq!(n.processes[1].locations[0].kind, LocationKind::Urgent);
    assert_eq!(n.processes[0].locations[0].kind, LocationKind::Committed);
    assert_eq!(n.processes[1].initial, 1);
    match &formula(&q[0]).kind {
        ExprKind::At { process, location } => {
            assert_eq!((process.base.0, process.steps.len(), *location), (5, 0, 0));
        }
        other => panic!("{other:?}"),
    }
    let ExprKind::Quantifier { body, .. } = &formula(&q[1]).kind else {
        panic!()
    };
    let ExprKind::Binary(BinaryOp::And, left, right) = &body.kind else {
        panic!()
    };
    let ExprKind::Binary(BinaryOp::Eq, read, _) = &left.kind else {
        panic!()
    };
    let ExprKind::Read(place) = &read.kind else {
        panic!()
    };
    // P(1,0).v[1] is the third cell: g, v[0], v[1]; the next process is three cells on.
    assert_eq!(place.base, Base::Cell(CellId(2)));
    assert_eq!((place.steps[0].stride, place.steps[0].range.len), (3, 3));
    let ExprKind::Clock { left, op, .. } = &right.kind else {
        panic!()
    };
    assert_eq!((left.steps[0].stride, *op), (1, CompareOp::Gt));
    // A parameter is a constant of each process, so the access becomes a choice between these
    // constants.
    let ExprKind::Quantifier { body, .. } = &formula(&q[2]).kind else {
        panic!()
    };
    assert!(
        matches!(&body.kind, ExprKind::Binary(BinaryOp::Eq, a, _) if matches!(a.kind, ExprKind::Cond(..)))
    );
}

#[test]
fn clock_conditions_are_normalised_and_negations_pushed_inwards() {
    let (_, q) = build(
        "clock x, y; process P() { state A; init A; }
system P;
//@ query E<> !(x > 2 && y - x <= 3)
//@ query E<> 5 - 1 >= x
//@ query E<> x + 2 < y
//@ query E<> (x > 1) imply (y > 1)
",
    );
    let ExprKind::Binary(BinaryOp::Or, a, b) = &formula(&q[0]).kind else {
        panic!()
    };
    assert!(matches!(
        &a.kind,
        ExprKind::Clock {
            op: CompareOp::Le,
            right: None,
            ..
        }
    ));
    assert!(matches!(
        &b.kind,
        ExprKind::Clock {
            op: CompareOp::Gt,
            right: Some(_),
            ..
        }
    ));
    let bound = |e: &Expr| match &e.kind {
        ExprKind::Clock {
            op, bound, right, ..
        } => match bound.kind {
            ExprKind::Const(v) => (*op, v, right.is_some()),
            _ => panic!(),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(bound(formula(&q[1])), (CompareOp::Le, 4, false));
    assert_eq!(bound(formula(&q[2])), (CompareOp::Lt, -2, true));
    let ExprKind::Binary(BinaryOp::Or, a, _) = &formula(&q[3]).kind else {
        panic!()
    };
    assert_eq!(bound(a), (CompareOp::Le, 1, false));
}

#[test]
fn references_stand_for_the_variables_given() {
    let (n, _) = build(
        "int v[3]; chan c[2]; clock x;
process P(int &r, chan &k, clock &t, const int w[2]) { state A; init A; trans A -> A { guard t > w[1]; sync k!; assign r = 7, t = 0; }; }
Q(const int[0,1] i) = P(v[i + 1], c[i], x, two);
system Q;
"
        .replace("int v[3];", "int v[3]; const int two[2] = {4, 5};")
        .as_str(),
    );
    let edge = &n.processes[1].edges[0];
    assert_eq!(edge.sync.as_ref().unwrap().channel.base.0, 1);
    let ExprKind::Assign { place, .. } = &edge.updates[0].kind else {
        panic!()
    };
    assert_eq!(place.base, Base::Cell(CellId(2)));
    assert!(
        matches!(&edge.guard.as_ref().unwrap().kind, ExprKind::Clock { bound, .. } if bound.kind == ExprKind::Const(5))
    );
}

#[test]
fn branchpoints_are_composed_and_priorities_numbered() {
    let (n, _) = build(
        "chan a, b, c; chan priority a < default < b; int v;
process P() { state A, B, C; branchpoint X; init A;
  trans A -> X { guard v == 0; sync b!; assign v = 1; }, X -> B { assign v = 2; probability 1; }, X -> C { probability 0; }; }
process Q() { state D; init D; trans D -> D { sync b?; }; }
system P < Q;
",
    );
    let edges = &n.processes[0].edges;
    assert_eq!(
        edges
            .iter()
            .map(|e| (e.source, e.target, e.updates.len()))
            .collect::<Vec<_>>(),
        [(0, 1, 2), (0, 2, 1)]
    );
    assert_eq!(edges[0].spans.len(), 2);
    assert_eq!(
        n.channels.iter().map(|c| c.priority).collect::<Vec<_>>(),
        [-1, 1, 0]
    );
    assert_eq!(
        n.processes.iter().map(|p| p.priority).collect::<Vec<_>>(),
        [0, 1]
    );
    assert!(n.has_priorities);
}

#[test]
fn floating_point_matters_only_where_it_is_read() {
    let (n, _) = build(
        "double d; int n; process P() { state A; init A; trans A -> A { assign d = random(5.0), n = 1; }; }
system P;
",
    );
    assert!(n.unsupported.is_empty(), "{:?}", n.unsupported);
    assert_eq!(n.processes[0].edges[0].updates.len(), 1);
    let (n, _) = build(
        "double d; int n; process P() { state A; init A; trans A -> A { guard d > 1.5; assign n = 1; }; }
system P;
",
    );
    assert_eq!(n.unsupported[0].code, "unsupported/double");
    assert!(n.unsupported[0].fatal);
}
