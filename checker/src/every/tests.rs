//! Claims about every size against the ordinary engine at each size, and seeded bugs.

use super::attempt;
use super::traps::{TRAPS, Trap};
use crate::common::{Verify, load};
use crate::mutation::{self, Mutation};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::every::{Family, Refusal};
use zonelens_analysis::report::{EveryReport, Options, QueryReport, Reason, Verdict};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::{Rng, random};

fn family(text: &str, set: &str) -> Result<Family, Vec<Refusal>> {
    Family::new(
        &SourceFile::parse(text, FileKind::Xta),
        &BTreeMap::new(),
        set,
    )
}

fn ask(family: &Family, query: &str, largest: u32, options: &Options) -> QueryReport {
    let cancelled = AtomicBool::new(false);
    let control = crate::Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    attempt(family, query, options, &control, largest)
}

/// The answer for every size of `set`, with views of at most `largest`.
fn every(text: &str, set: &str, query: &str, largest: u32) -> QueryReport {
    let family = family(text, set).unwrap_or_else(|r| panic!("{r:?}\n{text}"));
    ask(&family, query, largest, &Options::default())
}

fn example(name: &str) -> String {
    let path = format!("{}/../examples/{name}.xta", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn of(r: &QueryReport) -> &EveryReport {
    r.every.as_ref().unwrap()
}

#[test]
fn fischer_is_proved_in_every_notation() {
    let mutex = |p: &str, set: &str| {
        format!("A[] forall (i : {set}) forall (j : {set}) {p}(i).cs && {p}(j).cs imply i == j")
    };
    let active = "A[] forall (i : proc_id) forall (j : proc_id) active[i] == 3 && active[j] == 3 imply i == j";
    for (name, set, query) in [
        ("fischer", "pid", mutex("Fischer", "pid")),
        ("fischer-001", "proc_id", active.to_owned()),
        ("fischer-004", "process_id", mutex("Procs", "process_id")),
        ("fischer-int", "pid", mutex("P", "id_t")),
    ] {
        let r = every(&example(name), set, &query, 4);
        assert_eq!(r.verdict, Verdict::Satisfied, "{name}: {:?}", r.reason);
        let e = of(&r);
        assert_eq!(
            (e.proved, e.views, &e.direct[..], e.violated_at),
            (true, 2, &[1][..], None)
        );
        assert!(e.count < 60, "{name}: {} views", e.count);
    }
}

#[test]
fn the_wrong_bound_is_violated_at_two() {
    let query = "A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j";
    let r = every(&example("fischer-broken"), "pid", query, 4);
    assert_eq!(
        (r.verdict, of(&r).violated_at),
        (Verdict::Violated, Some(2))
    );
    assert!(r.trace.is_some() && !of(&r).proved);
    let r = every(
        &example("fischer"),
        "pid",
        "E<> exists (i : pid) Fischer(i).cs",
        4,
    );
    assert_eq!(
        r.verdict,
        Verdict::Unknown,
        "true for some size is not false for all"
    );
}

/// The model for the lemma: one edge that assigns a value to `r`.
fn with_value(value: &str) -> String {
    format!(
        "const int N = 3;\ntypedef scalar[N] pid;\npid id, id2; bool r, set; int[0,3] g; bool flag[pid];\n\
         struct {{ pid who; int[0,3] n; }} s1, s2;\n\
         bool told(pid p) {{ if (p == id2) return true; return false; }}\n\
         bool same(pid p, pid q) {{ bool b = p == q; return b; }}\n\
         process P(const pid i) {{ state a, b; init a; trans a -> b {{ assign r = {value}; }}; }}\nsystem P;\n"
    )
}

/// The lemma, one case after the other: with `id`, `id2` and the structs outside, each expression
/// has its value or both. `0` and `1` are values, `01` is open, `-` reads an element outside.
#[test]
fn what_depends_on_elements_outside_is_open() {
    use super::eval::{Choices, Evaluator, Halt};
    use super::state::{OTHER, State};
    for (value, expected) in [
        // Constants, reads, operators.
        ("true", "1"),
        ("set", "0"),
        ("g + 1 > 0", "1"),
        ("!set", "1"),
        // Names: a member is never other, other may be other.
        ("id == i", "0"),
        ("id != i", "1"),
        ("id == id2", "01"),
        ("id != id2", "01"),
        ("(id == id2) == set", "01"),
        ("s1 == s2", "01"),
        ("s1 != s2", "01"),
        // Connectives: false && open is false.
        ("set && id == id2", "0"),
        ("id == id2 && set", "0"),
        ("!set || id == id2", "1"),
        ("!(id == id2)", "01"),
        ("id == id2 ? true : true", "1"),
        ("id == id2 ? set : set", "0"),
        ("id == id2 ? set : !set", "01"),
        // The parts of elements.
        ("flag[i]", "0"),
        ("flag[id]", "-"),
        ("set && flag[id]", "0"),
        // Quantifiers: decided by members, or open.
        ("forall (k : pid) flag[k]", "0"),
        ("forall (k : pid) !flag[k]", "01"),
        ("exists (k : pid) flag[k]", "01"),
        ("exists (k : pid) k == i", "1"),
        ("!(forall (k : pid) !flag[k])", "01"),
        ("!(exists (k : pid) k == i)", "0"),
        ("exists (k : pid) k == id", "01"),
        (
            "forall (k : pid) forall (l : pid) (k == l || !flag[k])",
            "01",
        ),
        ("forall (k : pid) exists (l : pid) (k == l)", "01"),
        ("exists (k : pid) forall (l : pid) (k == l)", "01"),
        ("forall (k : int[0,2]) k < 3", "1"),
        ("exists (k : int[0,2]) k > 2", "0"),
        // Functions, branches, locals.
        ("told(i)", "0"),
        ("told(id)", "01"),
        ("same(id, id2)", "01"),
        ("same(i, id2)", "0"),
        ("(set = id == id2)", "01"),
    ] {
        let family = family(&with_value(value), "pid").unwrap_or_else(|r| panic!("{value}: {r:?}"));
        let (instance, layout) = family.instance_for(3).unwrap();
        let network = &instance.network;
        let mut state = State {
            members: 2,
            locations: vec![0; network.processes.len()],
            cells: vec![0; network.cells.len()],
        };
        for c in &layout.fixed_cells {
            if layout.holds_elements(network, *c) {
                state.cells[*c] = OTHER;
            }
        }
        let update = &network.processes[0].edges[0].updates[0];
        let mut choices = Choices::default();
        let mut found = std::collections::BTreeSet::new();
        loop {
            let mut evaluator = Evaluator::new(network, &layout, state.clone());
            evaluator.choices = choices;
            evaluator.enter(8);
            found.insert(match evaluator.eval(update) {
                Ok(v) => v.to_string(),
                Err(Halt::Unseen) => "-".to_owned(),
                Err(Halt::Broken(message, _)) => message,
            });
            choices = evaluator.choices;
            if !choices.next().unwrap() {
                break;
            }
        }
        let found: String = found.into_iter().collect();
        assert_eq!(found, expected, "{value}");
    }
}

fn trap_text(trap: &Trap) -> String {
    format!("const int N = 3; typedef scalar[N] pid;\n{}\n", trap.text)
}

/// Each bug makes the closure claim what some size refutes; without it, the claim is refuted.
#[test]
fn each_rule_of_the_closure_is_needed() {
    for trap in &TRAPS {
        let text = trap_text(trap);
        for largest in [2, 4] {
            let r = every(&text, "pid", trap.claim, largest);
            let found = (r.verdict, of(&r).violated_at);
            assert_eq!(
                found,
                (Verdict::Violated, Some(trap.from)),
                "{}: {:?}",
                trap.name,
                r.reason
            );
        }
        let caught = trap.bugs.iter().filter(|bug| {
            mutation::set(Some(**bug));
            let r = every(&text, "pid", trap.claim, 2);
            mutation::set(None);
            of(&r).proved
        });
        assert_eq!(
            caught.count(),
            trap.bugs.len(),
            "{}: the bug goes unnoticed",
            trap.name
        );
    }
    // Those that this test cannot show have tests of their own.
    for bug in Mutation::OF_EVERY {
        assert!(
            TRAPS.iter().any(|t| t.bugs.contains(&bug)),
            "no test for {bug:?}"
        );
    }
}

/// Receivers outside that write shared data: refused, and rightly so.
#[test]
fn receivers_that_write_shared_data_would_be_lost() {
    let text = "const int N = 3; typedef scalar[N] pid; int[0,5] g; bool sent; broadcast chan go;
process P(const pid i) { state a, s, r; init a; trans
  a -> s { guard !sent; sync go!; assign sent = true; },
  a -> r { guard g < 5; sync go?; assign g = g + 1; }; }
system P;";
    let refused = family(text, "pid").map(|_| ()).unwrap_err();
    assert_eq!(refused[0].code, "every/broadcast");
    let trusting = Family::trusting(
        &SourceFile::parse(text, FileKind::Xta),
        &BTreeMap::new(),
        "pid",
    );
    let r = ask(&trusting.unwrap(), "A[] g < 3", 2, &Options::default());
    assert!(
        of(&r).proved,
        "without the refusal, four elements refute the claim: {:?}",
        r.reason
    );
}

/// The first refusal of a text in which `{}` is the size.
fn refusal(text: &str) -> &'static str {
    let file = SourceFile::parse(text, FileKind::Xta);
    match Family::new(&file, &BTreeMap::new(), "pid") {
        Ok(_) => "",
        Err(refusals) => refusals[0].code,
    }
}

#[test]
fn what_is_not_followed_is_refused_by_name() {
    let model = |declarations: &str, parts: &str, edge: &str| {
        format!(
            "const int N = 3; typedef scalar[N] pid; pid id; int[0,3] g; bool flag[pid]; clock x[pid];\n\
             chan c; broadcast chan b; urgent chan u;\n{declarations}\n\
             process P(const pid i) {{ {parts} state s, t; init s; trans s -> t {{ {edge} }}; }}\nsystem P;\n"
        )
    };
    assert_eq!(refusal(&model("", "", "guard flag[i];")), "");
    for (declarations, parts, edge, code) in [
        ("int[0,N] n;", "", "assign n = 0;", "every/size"),
        ("", "", "guard g < N;", "every/size"),
        ("int q[N];", "", "assign q[0] = 1;", "every/size"),
        ("typedef scalar[N] other; other o;", "", "", "every/size"),
        ("", "", "guard (sum (k : pid) flag[k]) < 2;", "every/count"),
        (
            "void f() { for (k : pid) if (flag[k]) g = 1; }",
            "",
            "assign f();",
            "every/loop",
        ),
        (
            "",
            "",
            "guard forall (k : pid) forall (l : pid) forall (m : pid) (k == l || l == m || flag[k]);",
            "every/loop",
        ),
        ("pid next[pid];", "", "assign next[i] = id;", "every/part"),
        ("", "pid mine;", "assign mine = id;", "every/part"),
        (
            "bool near[pid][pid];",
            "",
            "assign near[i][id] = true;",
            "every/part",
        ),
        (
            "",
            "bool seen[pid];",
            "assign seen[id] = true;",
            "every/part",
        ),
        (
            "int[0,2] h[pid] = { 0, 0, 0 };",
            "",
            "assign h[i] = 1;",
            "every/set",
        ),
        ("", "", "sync b?; assign g = 1;", "every/broadcast"),
        (
            "",
            "",
            "sync b?; assign flag[id] = true;",
            "every/broadcast",
        ),
        ("", "", "sync b?; assign id = i;", "every/set"),
        (
            "",
            "",
            "select j : pid; guard flag[j]; sync b?;",
            "every/broadcast",
        ),
        ("", "", "guard x[i] > 1; sync u!;", "every/clock"),
        (
            "chan priority default < c;",
            "",
            "sync c!;",
            "every/priority",
        ),
    ] {
        let text = model(declarations, parts, edge);
        assert_eq!(refusal(&text), code, "{text}");
    }
    let two = "const int N = 3; typedef scalar[N] pid;\nprocess P(const pid i, const pid j) { state s; init s; }\nsystem P;";
    assert_eq!(refusal(two), "every/part");
    let watch = "const int N = 3; typedef scalar[N] pid;\nprocess P(const pid i) { clock x; state s { x' == 0 }; init s; }\nsystem P;";
    assert_eq!(refusal(watch), "every/clock");
    let order = "const int N = 3; typedef scalar[N] pid;\nprocess P(const pid i) { state s; init s; }\nprocess Q() { state s; init s; }\nsystem P < Q;";
    assert_eq!(refusal(order), "every/priority");
    let numbers = "const int N = 3; typedef int[0,N-1] pid_t; int[0,2] n; bool f[pid_t];\n\
        process P(const pid_t pid) { state s, t; init s; trans s -> t { guard pid == 1; }; }\nsystem P;";
    assert_eq!(refusal(numbers), "every/set");
    assert_eq!(
        refusal("process P() { state s; init s; }\nsystem P;"),
        "every/set"
    );
}

#[test]
fn queries_that_views_cannot_decide_are_refused() {
    let text = "const int N = 3; typedef scalar[N] pid; pid id; bool flag[pid]; int[0,3] g;\n\
        process P(const pid i) { state a, b; init a; trans a -> b { }; }\nsystem P;\n";
    let family = family(text, "pid").unwrap();
    for query in [
        "A[] not deadlock",
        "A<> exists (i : pid) P(i).b",
        "E[] forall (i : pid) P(i).a",
        "(exists (i : pid) P(i).a) --> (exists (i : pid) P(i).b)",
        "sup: g",
        "A[] (sum (i : pid) flag[i]) < 2",
        "A[] !(forall (i : pid) P(i).a)",
        "A[] exists (i : pid) forall (j : pid) (i == j || P(j).a)",
        "A[] g < N",
        "E<> forall (i : pid) P(i).b",
    ] {
        let code = family.ask(query).map_err(|r| r.code);
        assert_eq!(code, Err("every/query"), "{query}");
        let r = ask(&family, query, 4, &Options::default());
        let reason = r.reason.map(|r| r.to_string()).unwrap_or_default();
        assert!(
            r.verdict == Verdict::Unknown && reason.starts_with("every: "),
            "{query}: {reason}"
        );
    }
    for (query, views) in [
        ("A[] forall (i : pid) P(i).a", 2),
        (
            "A[] forall (i : pid) forall (j : pid) (P(i).a || P(j).b || flag[id])",
            3,
        ),
        ("A[] forall (i : pid) exists (j : pid) P(j).a", 2),
        (
            "E<> exists (i : pid) exists (j : pid) exists (k : pid) i != j && j != k && i != k",
            3,
        ),
    ] {
        assert_eq!(family.ask(query).map(|a| a.views), Ok(views), "{query}");
    }
}

/// An evaluation that fails for some size is never part of a proof.
#[test]
fn what_may_fail_is_not_proved() {
    for edge in [
        "guard 3 / g > 0;",
        "assign g = g - 1;",
        "assign h[g + 3] = 1;",
        "assign x[i] = 0 - 1;",
    ] {
        let text = format!(
            "const int N = 3; typedef scalar[N] pid; int[0,3] g; int h[3]; bool flag[pid]; clock x[pid];\n\
             process P(const pid i) {{ state a, f, b; init a; trans a -> f {{ assign flag[i] = true; }}, a -> b {{ {edge} }}; }}\nsystem P;\n"
        );
        let r = every(&text, "pid", "A[] forall (i : pid) flag[i] imply P(i).f", 3);
        assert!(
            !of(&r).proved && r.verdict != Verdict::Satisfied,
            "{edge}: {:?}",
            r.reason
        );
    }
}

/// The results for random families.
#[derive(Debug, Default)]
struct Tally {
    claimed: usize,
    refuted: usize,
    /// Not proved, and some size up to 6 refutes it; not proved, and none does.
    missed: usize,
    open: usize,
    refused: BTreeMap<String, usize>,
    invalid: usize,
}

/// Compares the claims about one family with each size up to 6.
fn compare(seed: u64, largest: u32, tally: &mut Tally) {
    let mut rng = Rng(seed);
    let text = random::every::family(&mut rng);
    let claim = random::every::claim(&mut rng, &text);
    let about = format!("seed {seed}, views of {largest}\n{claim}\n{text}");
    if let Err(e) = load(&text, FileKind::Xta, &[]) {
        assert!(!e.contains("syntax"), "{e}\n{about}");
        tally.invalid += 1;
        return;
    }
    let refuse =
        |tally: &mut Tally, code: &str| *tally.refused.entry(code.to_owned()).or_default() += 1;
    let family = match family(&text, "pid") {
        Ok(family) => family,
        Err(refusals) => return refuse(tally, refusals[0].code),
    };
    if let Err(refusal) = family.ask(&claim) {
        return refuse(tally, refusal.code);
    }
    let options = Options {
        states: Some(1_500),
        ..Options::default()
    };
    let r = ask(&family, &claim, largest, &options);
    let proved = of(&r).proved;
    if r.verdict == Verdict::Violated && !proved || r.verdict == Verdict::Error {
        tally.refuted += 1;
        return;
    }
    if of(&r).violated_at.is_some() {
        tally.refuted += 1;
        return;
    }
    let holds = if claim.starts_with("E<>") {
        Verdict::Violated
    } else {
        Verdict::Satisfied
    };
    let mut wrong = None;
    for n in 1..=6 {
        let sized = random::every::of_size(&text, n);
        let Ok(model) = load(&sized, FileKind::Xta, &[]) else {
            break;
        };
        let one = model.verify(&claim, &options);
        if one.verdict == Verdict::Unknown {
            break;
        }
        if one.verdict != holds {
            wrong = Some((n, one.verdict, one.reason));
            break;
        }
    }
    if proved {
        assert_eq!(wrong, None, "{about}");
        assert_eq!(r.verdict, holds, "{about}");
        tally.claimed += 1;
    } else if wrong.is_some() {
        tally.missed += 1;
    } else {
        tally.open += 1;
    }
}

/// A sample; `ZONELENS_EVERY_MODELS` asks for more.
#[test]
fn claims_hold_at_every_size_that_is_checked() {
    let number = |name: &str, default: u64| {
        std::env::var(name)
            .ok()
            .and_then(|n| n.parse().ok())
            .unwrap_or(default)
    };
    let (first, count) = (
        number("ZONELENS_EVERY_SEED", 1),
        number("ZONELENS_EVERY_MODELS", 300),
    );
    for largest in [2, 3] {
        let mut tally = Tally::default();
        for seed in first..first + count {
            compare(seed, largest, &mut tally);
        }
        #[allow(clippy::print_stdout)]
        {
            println!("views of at most {largest}: {tally:?}");
        }
        let decided = tally.claimed + tally.open;
        assert!(
            tally.claimed * 3 >= decided,
            "a third of what is true is proved: {tally:?}"
        );
        assert!(tally.claimed * 20 >= count as usize, "{tally:?}");
        assert!((tally.refuted * 20) as u64 >= count, "{tally:?}");
    }
}

#[test]
fn limits_end_a_proof_without_a_verdict() {
    let family = family(&example("fischer"), "pid").unwrap();
    let query = "A[] forall (i : pid) forall (j : pid) Fischer(i).cs && Fischer(j).cs imply i == j";
    let options = Options {
        states: Some(2),
        ..Options::default()
    };
    let r = ask(&family, query, 4, &options);
    assert!(
        matches!(r.reason, Some(Reason::States(_))),
        "{:?}",
        r.reason
    );
    let options = Options {
        timeout: Some(0.0),
        ..Options::default()
    };
    let r = ask(&family, query, 4, &options);
    assert_eq!(r.verdict, Verdict::Unknown);
}

/// Whether the zones of a view of Fischer's protocol do not depend on the order of its members.
fn keeps_all_orders(hulls: bool) -> bool {
    use super::closure::{Claim, Closure};
    use super::steps::Rules;
    use super::widen::Widening;
    use crate::search::limits::Watch;
    use zonelens_analysis::network::QueryKind;
    let family = family(&example("fischer"), "pid").unwrap();
    let (instance, layout) = family.instance_for(4).unwrap();
    let query = instance
        .query("A[] forall (i : pid) !(Fischer(i).x == 9)")
        .unwrap();
    let QueryKind::Path(_, condition) = &query.kind else {
        panic!("a path query");
    };
    let cancelled = AtomicBool::new(false);
    let control = crate::Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let mut watch = Watch::new(&Options::default(), &control);
    let rules = Rules::new(&instance.network, &layout);
    let widening = Widening::new(&instance.network, &layout, condition, false);
    let claim = Claim {
        condition,
        frame: query.frame,
        want: false,
    };
    Closure::new(&rules, &widening, claim, (2, 1, hulls), &mut watch).keeps_all_orders()
}

/// Members that are alike may stand in any order: a configuration of three finds its pairs in the
/// order of its own.
#[test]
fn zones_are_kept_in_all_orders_of_members_that_are_alike() {
    for hulls in [true, false] {
        assert!(keeps_all_orders(hulls));
        mutation::set(Some(Mutation::EveryOneOrder));
        let symmetric = keeps_all_orders(hulls);
        mutation::set(None);
        assert!(!symmetric, "hulls {hulls}: the bug goes unnoticed");
    }
}
