use super::*;
use crate::replay_trace;
use std::ops::AddAssign;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::Position;
use zonelens_analysis::report::Trace;
use zonelens_analysis::simulation::{BlockedKind, ChosenDelays, Simulation, WaitEnd, WalkZone};
use zonelens_syntax::span::Span;
use zonelens_test_support::xta;

fn nowhere(_: Span) -> Position {
    Position { line: 1, column: 1 }
}

struct Bench {
    session: Session,
    never: &'static AtomicBool,
}

impl Bench {
    fn new(model: &str) -> Bench {
        static NEVER: AtomicBool = AtomicBool::new(false);
        let session = Session::new(Arc::new(xta(model).network)).expect("a run");
        Bench {
            session,
            never: &NEVER,
        }
    }

    fn limit(&self) -> Limit<'static> {
        Limit::new(self.never, None)
    }

    fn view(&mut self) -> Simulation {
        let limit = self.limit();
        self.session.view(&nowhere, limit).expect("it evaluates")
    }

    fn take(&mut self, number: usize) -> Result<Taken, String> {
        let limit = self.limit();
        self.session.take(number, None, limit)
    }

    fn delay(&mut self, text: &str) -> Result<(), String> {
        let limit = self.limit();
        let delay = Fraction::read(text)?;
        self.session.delay(delay, limit)
    }

    /// Windows and numbers of the possible transitions.
    fn windows(&mut self) -> Vec<String> {
        let view = self.view();
        let one = view.possible.iter().map(|p| {
            let edge = &p.transition.edges[0];
            format!("{}:{}->{} {}", edge.process, edge.from, edge.to, p.window)
        });
        one.collect()
    }

    /// The trace replays, and a simulation that starts from its end is in the same state.
    fn replays(&mut self) {
        let trace = self.session.trace(&nowhere);
        let network = self.session.network().clone();
        assert_eq!(
            replay_trace(&network, &trace, &nowhere).as_ref(),
            Ok(&trace)
        );
        let last = trace.steps.len() - 1;
        let again = Session::from_trace(network, &trace, last, self.limit());
        let mut again = again.expect("it starts");
        assert_eq!(again.trace(&nowhere), trace);
        let limit = self.limit();
        let view = again.view(&nowhere, limit).expect("it evaluates");
        assert_eq!(view.state, self.view().state);
        assert_eq!(view.waited, self.view().waited);
    }
}

const STEPS: &str = "clock x; int n;
    process P() { state A { x <= 5 }, B, C; init A;
    trans A -> B { guard x > 2; assign x = 0, n = n + 1; }, B -> A { guard x >= 1; assign x = 0; },
    B -> C { guard x == 3; }; } system P;";

#[test]
fn walks_go_on_back_and_forward() {
    let mut b = Bench::new(STEPS);
    assert_eq!(b.windows(), ["P:A->B (2, 5]"]);
    assert_eq!(b.delay("1/3"), Ok(()));
    assert_eq!(b.windows(), ["P:A->B (5/3, 14/3]"]);
    assert_eq!(b.view().unit, 3);
    assert!(b.delay("5").is_err_and(|m| m.contains("[0, 14/3]")));
    assert_eq!(b.view().wait.end, WaitEnd::Invariant);
    assert_eq!(b.take(0), Ok(Taken::Done));
    let view = b.view();
    // The earliest round number above 5/3, after waiting for a third.
    assert_eq!(
        (view.walk[0].delay.as_str(), view.walk[0].fixed),
        ("7/3", true)
    );
    assert_eq!(view.state.variables["n"], 1);
    assert_eq!(b.windows(), ["P:B->A [1, ∞)", "P:B->C 3"]);
    b.replays();
    let limit = b.limit();
    let wrong = b.session.take(1, Fraction::new(2, 1), limit);
    assert!(wrong.is_err_and(|m| m == "it is possible after 3, not after 2"));
    assert_eq!(b.take(1), Ok(Taken::Done));
    assert_eq!(b.windows(), Vec::<String>::new());
    assert_eq!(b.view().wait.end, WaitEnd::Never);
    assert!(
        b.take(0)
            .is_err_and(|m| m == "no transition is possible here")
    );
    assert_eq!(b.delay("1/2"), Ok(()));
    assert_eq!((b.view().unit, b.view().time.as_str()), (6, "35/6"));
    b.replays();
    // Back undoes the time first, then goes to the transition before; forward takes it again.
    assert_eq!(b.session.back(), Ok(()));
    assert_eq!((b.view().step, b.view().waited.as_str()), (2, "0"));
    assert_eq!(b.session.back(), Ok(()));
    assert_eq!((b.view().step, b.view().length), (1, 2));
    assert_eq!(b.session.forward(), Ok(()));
    assert!(b.session.forward().is_err());
    assert_eq!(b.session.goto(0), Ok(()));
    assert!(b.session.back().is_err() && b.session.goto(3).is_err());
    // Taking another transition removes what came after the present state.
    assert_eq!(b.session.goto(1), Ok(()));
    assert_eq!(b.take(0), Ok(Taken::Done));
    assert_eq!((b.view().step, b.view().length), (2, 2));
    assert_eq!(b.session.restart(), Ok(()));
    assert_eq!((b.view().length, b.view().unit), (0, 1));
}

#[test]
fn denominators_end_at_two_to_the_forty() {
    let mut b = Bench::new("clock x; process P() { state A; init A; trans A -> A { }; } system P;");
    assert_eq!(b.delay("1/1099511627776"), Ok(()));
    assert!(b.delay("1/3").is_err_and(|m| m.contains("denominator")));
    assert!(b.delay("9000000000000000000").is_err());
    assert_eq!(b.delay("100000"), Ok(()));
    assert!(b.delay("100000000").is_err_and(|m| m.contains("too")));
    b.replays();
    assert_eq!(b.session.restart(), Ok(()));
    assert_eq!(b.delay("1/3"), Ok(()));
}

#[test]
fn reasons_have_kinds_and_places() {
    let mut b = Bench::new(
        "chan a; int n; process P() { state A, B { n > 0 }; init A;
         trans A -> A { guard n == 1; }, A -> A { sync a!; }, A -> B { }, A -> A { assign n = 1 / n; }; }
         system P;",
    );
    let kinds: Vec<BlockedKind> = b.view().blocked.iter().map(|b| b.reason.kind).collect();
    let expected = [
        BlockedKind::Guard,
        BlockedKind::NoPartner,
        BlockedKind::Invariant,
        BlockedKind::Error,
    ];
    assert_eq!(kinds, expected);
    assert!(b.view().blocked.iter().all(|b| b.reason.line == 1));
}

/// Eleven receivers with two edges each: 2,048 ways.
fn many() -> String {
    "broadcast chan c; typedef int[0,10] id; int n[id];
     process S() { state A, B; init A; trans A -> B { sync c!; }; }
     process R(const id i) { state A, B { n[10] < 2 }; init A;
     trans A -> B { sync c?; assign n[i] = 1; }, A -> B { sync c?; assign n[i] = 2; }; }
     system S, R;"
        .into()
}

#[test]
fn receivers_are_chosen_one_by_one() {
    let mut b = Bench::new(&many());
    assert_eq!(b.view().possible[0].receivers.len(), 11);
    for k in 0..11 {
        let asked = b.take(usize::from(k > 0 && k % 2 == 0));
        assert_eq!(asked, Ok(Taken::Receiver));
        let choosing = b.view().choosing.expect("a choice");
        assert_eq!(
            (choosing.process, choosing.left),
            (format!("R({k})"), 11 - k)
        );
    }
    assert!(b.take(2).is_err());
    // The last one breaks its invariant by its second edge.
    assert!(b.take(1).is_err_and(|m| m.contains("not possible")));
    assert_eq!(b.view().step, 0);
    assert_eq!(b.take(0), Ok(Taken::Receiver));
    for _ in 0..10 {
        assert_eq!(b.take(0), Ok(Taken::Receiver));
    }
    assert_eq!(b.take(0), Ok(Taken::Done));
    assert_eq!(b.view().state.variables["n[7]"], 1);
    b.replays();
    let edges: Vec<WalkEdge> = b.session.zone_question().steps[0].edges.clone();
    assert_eq!(b.session.restart(), Ok(()));
    let limit = b.limit();
    assert_eq!(b.session.take_edges(&edges, None, limit), Ok(Taken::Done));
    // A choice can be taken back.
    assert_eq!(b.session.restart(), Ok(()));
    assert_eq!(b.take(0), Ok(Taken::Receiver));
    assert_eq!(b.session.back(), Ok(()));
    assert_eq!(b.view().choosing, None);
}

#[test]
fn groups_fold_above_twenty() {
    let model = |most: i32| {
        format!(
            "int n; process P() {{ state A; init A; trans A -> A {{ guard n == 1; }},
             A -> A {{ select k : int[0,{most}]; assign n = k; }}, A -> A {{ }}; }} system P;"
        )
    };
    let mut b = Bench::new(&model(20));
    let groups = b.view().groups;
    assert_eq!(
        groups
            .iter()
            .map(|g| (g.first, g.count, g.folded))
            .collect::<Vec<_>>(),
        [(0, 21, true), (21, 1, false)]
    );
    assert_eq!(b.take(7), Ok(Taken::Done));
    assert_eq!(b.view().state.variables["n"], 7);
    let mut b = Bench::new(&model(19));
    assert!(b.view().groups.iter().all(|g| !g.folded));
    // Too many values are reported, not tried.
    let mut b = Bench::new(&model(1 << 20));
    assert_eq!(b.view().possible.len(), 1);
    assert!(
        b.view().blocked[1]
            .reason
            .message
            .contains("1048577 combinations")
    );
}

#[test]
fn random_walks_stop_where_they_are_asked_to() {
    let mut b = Bench::new(STEPS);
    let mut options = RandomOptions {
        seed: 3,
        steps: 1000,
        until: vec![Until::Location {
            process: 0,
            location: 2,
        }],
    };
    let limit = b.limit();
    assert_eq!(b.session.random(&options, limit), Ok(RandomEnd::Until));
    assert_eq!(b.view().state.locations["P"], "C");
    b.replays();
    assert_eq!(b.session.random(&options, limit), Ok(RandomEnd::Idle));
    let first = b.view();
    assert_eq!(b.session.restart(), Ok(()));
    assert_eq!(b.session.random(&options, limit), Ok(RandomEnd::Until));
    assert_eq!(b.view().walk, first.walk, "the seed decides");
    // A moment in time that is reached while time passes.
    assert_eq!(b.session.restart(), Ok(()));
    options.until = vec![Until::Time(Fraction::new(22, 3).expect("a fraction"))];
    options.seed = 5;
    assert_eq!(b.session.random(&options, limit), Ok(RandomEnd::Until));
    assert_eq!(b.view().time, "22/3");
    b.replays();
    // An expression over clocks that becomes true while time passes.
    let condition = |text: &str| {
        let loaded = xta(STEPS);
        let expression = zonelens_syntax::parse_expression(text).expect("an expression");
        let query = loaded.model.resolve_condition(&expression);
        let query = query.expect("resolved");
        vec![Until::Condition(Box::new(query))]
    };
    let mut met = 0;
    for seed in 0..20 {
        assert_eq!(b.session.restart(), Ok(()));
        options.seed = seed;
        options.until = condition("n == 2 && x >= 2");
        let end = b.session.random(&options, limit).expect("no error");
        let view = b.view();
        let n = view.state.variables["n"];
        if end == RandomEnd::Until {
            assert_eq!((n, view.state.clocks["x"].as_str()), (2, "2"));
            met += 1;
        } else {
            // It can end where n stays 1.
            assert_eq!((end, n), (RandomEnd::Idle, 1));
        }
        b.replays();
    }
    assert!(met > 5, "{met}");
    options.steps = 2;
    options.until.clear();
    assert_eq!(b.session.restart(), Ok(()));
    assert_eq!(b.session.random(&options, limit), Ok(RandomEnd::Steps));
    assert_eq!(b.view().step, 2);
}

#[test]
fn walks_survive_edits() {
    let mut b = Bench::new(STEPS);
    let limit = b.limit();
    for number in [0, 0, 0] {
        assert_eq!(b.take(number), Ok(Taken::Done));
    }
    let carry = |b: &Bench, text: &str| {
        let network = Arc::new(xta(text).network);
        b.session
            .carry_over(network, &nowhere, limit)
            .expect("a run")
    };
    // Other places, another order of edges with other ends, a new process before.
    let moved = STEPS
        .replace(
            "process P()",
            "process Q() { state A; init A; } process P()",
        )
        .replace("trans A -> B", "trans A -> C { }, A -> B")
        .replace("system P", "system Q, P");
    let (fresh, stopped) = carry(&b, &moved);
    assert_eq!((fresh.step(), stopped), (3, None));
    // A free delay that does not fit is chosen again.
    let (mut fresh, stopped) = carry(&b, &STEPS.replace("x > 2", "x >= 4"));
    assert_eq!((fresh.step(), stopped), (3, None));
    let view = fresh.view(&nowhere, limit).expect("it evaluates");
    assert_eq!(view.walk[0].delay, "4");
    // A guard that is false, and an edge that was removed.
    let (fresh, stopped) = carry(&b, &STEPS.replace("guard x >= 1", "guard n > 1"));
    let stopped = stopped.expect("it stops");
    assert_eq!((fresh.step(), stopped.step), (1, 2));
    assert_eq!(stopped.reason, "its guard is false (line 1, column 1)");
    let (_, stopped) = carry(&b, &STEPS.replace("B -> A", "C -> A"));
    let reason = stopped.expect("it stops").reason;
    assert_eq!(reason, "P has no such edge from B to A any more");
    let (_, stopped) = carry(
        &b,
        &STEPS
            .replace("process P()", "process R()")
            .replace("system P", "system R"),
    );
    assert_eq!(
        stopped.expect("it stops").reason,
        "there is no process P any more"
    );
}

/// The second list comes from the zone; the delays that the engine chose are replayed before they
/// are used.
#[test]
fn other_delays_are_replayed() {
    let mut b = Bench::new(
        "clock x, y; process P() { state A, B, C; init A;
         trans A -> B { assign x = 0; }, B -> C { guard x == 0 && y == 2; }; } system P;",
    );
    assert_eq!(b.take(0), Ok(Taken::Done));
    let view = b.view();
    assert_eq!(
        (view.other_delays, view.blocked.len(), view.zone),
        (None, 1, None)
    );
    let question = b.session.zone_question();
    let step = WalkEdge {
        process: 0,
        edge: 1,
        select: Vec::new(),
    };
    let answer = |delays: Option<ChosenDelays>, id: u64| WalkAnswer {
        id,
        zone: WalkZone::Zone { pieces: Vec::new() },
        transitions: vec![vec![step.clone()]],
        left_out: 0,
        delays,
    };
    assert!(!b.session.set_zone(answer(None, question.id + 1)));
    assert!(b.session.set_zone(answer(None, question.id)));
    let view = b.view();
    let others = view.other_delays.expect("the zone is known");
    assert_eq!(
        (others.len(), others[0].number, view.blocked.len()),
        (1, 0, 0)
    );
    let Ok(Taken::OtherDelays(question)) = b.take(0) else {
        panic!("other delays are needed");
    };
    assert_eq!(question.take, Some(vec![step.clone()]));
    let delays = |all: [&str; 2]| {
        let delays = all.map(str::to_owned).to_vec();
        answer(Some(ChosenDelays::Delays { delays }), question.id)
    };
    let wrong = b.session.take_with(&question, &delays(["1", "0"]));
    assert!(wrong.is_err_and(|m| m.contains("do not replay: step 2")));
    assert_eq!(b.view().step, 1);
    assert_eq!(b.session.take_with(&question, &delays(["2", "0"])), Ok(()));
    let view = b.view();
    assert_eq!(
        view.message.as_deref(),
        Some("new delays were chosen for step 1")
    );
    assert_eq!((view.step, view.walk[0].delay.as_str()), (2, "2"));
    b.replays();
}

/// A saved walk is replayed, in the same model and in another version of it, and nothing in the
/// file is believed.
#[test]
fn saved_walks_are_taken_as_far_as_they_are_true() {
    // Two edges with the same ends: only the values tell which one was taken.
    let text = "int n; clock x; process P() { state A { x <= 5 }, B; init A;
        trans A -> B { guard x >= 1; assign n = 1; }, A -> B { guard x >= 1; assign n = 2; },
        B -> A { select k : int[0,3]; assign n = n + k, x = 0; }; } system P;";
    let mut b = Bench::new(text);
    assert_eq!(b.take(1), Ok(Taken::Done));
    assert_eq!(b.take(2), Ok(Taken::Done));
    assert_eq!(b.delay("7/3"), Ok(()));
    let saved = b.session.trace(&nowhere);
    let limit = b.limit();
    let open = |text: &str, trace: &Trace| {
        Session::from_saved(Arc::new(xta(text).network), trace, &nowhere, limit)
    };
    let opened = |text: &str, trace: &Trace| {
        let (session, stopped) = open(text, trace).expect("a run");
        let end = session.trace(&nowhere).steps.pop().expect("a state").state;
        (end, stopped.map(|s| (s.step, s.reason)))
    };
    let (end, stopped) = opened(text, &saved);
    assert_eq!((&end, &stopped), (&saved.steps[3].state, &None));

    // Numbers that belong to another version of the model are not followed.
    let mut renumbered = saved.clone();
    for step in &mut renumbered.steps {
        for edge in step.transition.iter_mut().flat_map(|t| &mut t.edges) {
            (edge.edge_index, edge.process_index) = (0, 9);
        }
    }
    assert_eq!(opened(text, &renumbered), (end.clone(), None));
    let another = text
        .replace("int n;", "int m; int n;")
        .replace("system P;", "process Q() { state q; init q; } system Q, P;");
    let (there, stopped) = opened(&another, &saved);
    assert_eq!((there.variables["n"], &stopped), (4, &None));

    // It ends where the model does not follow, with the reason.
    let stop = |text: &str, trace: &Trace| {
        let (_, stopped) = opened(text, trace);
        stopped.expect("it stops")
    };
    let guarded = text.replace("select k : int[0,3];", "select k : int[0,3]; guard n > 7;");
    let (step, reason) = stop(&guarded, &saved);
    assert!(step == 2 && reason.contains("guard"), "{reason}");
    let (step, reason) = stop(&text.replace("n = 2", "n = 3"), &saved);
    assert_eq!(step, 1);
    assert_eq!(reason, "n would be 3, in the saved walk it is 2");
    let (step, reason) = stop(&text.replace("int n;", "int n = 5;"), &saved);
    assert!(step == 1 && reason.contains("n would be 5"), "{reason}");
    let (_, reason) = stop(&text.replace("system P;", "Q = P(); system Q;"), &saved);
    assert!(reason.contains("no process P"), "{reason}");

    // Files that nobody wrote.
    let wrong = |change: &dyn Fn(&mut Trace)| {
        let mut trace = saved.clone();
        change(&mut trace);
        stop(text, &trace)
    };
    assert_eq!(
        wrong(&|t| t.steps[2]
            .state
            .variables
            .entry("n".into())
            .or_default()
            .add_assign(1))
        .0,
        2
    );
    assert_eq!(wrong(&|t| t.steps[1].delay = "9".into()).0, 1);
    assert_eq!(wrong(&|t| t.steps[1].delay = "-1".into()).0, 1);
    assert_eq!(wrong(&|t| t.steps[1].transition = None).0, 1);
    assert_eq!(wrong(&|t| t.steps[3].delay = "5".into()).0, 3);
    assert_eq!(
        wrong(&|t| t.steps[2].transition.as_mut().expect("one").edges.clear()).0,
        2
    );
    let twice = |t: &mut Trace| {
        let edges = &mut t.steps[1].transition.as_mut().expect("one").edges;
        *edges = vec![edges[0].clone(); 40];
    };
    assert_eq!(wrong(&twice).0, 1);
    let mut empty = saved.clone();
    empty.steps.clear();
    assert!(open(text, &empty).is_err());
}
