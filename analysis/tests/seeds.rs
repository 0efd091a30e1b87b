//! The models of the papers, rewritten, with the facts and diagnostics they must give. `//~ code`
//! at the end of a line expects exactly these diagnostics to start there: errors, and hints about
//! detection.

use std::collections::BTreeMap;
use zonelens_analysis::network::{Scalarset, ScalarsetId, Shape};
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::LineIndex;

/// Name, elements, classes, variables that hold elements (V_α), arrays over the set (D_α), families
/// (γ), broken rules.
#[derive(Debug, PartialEq)]
struct Facts {
    name: String,
    size: u32,
    blocks: Vec<Vec<u32>>,
    holds: Vec<String>,
    over: Vec<String>,
    families: Vec<String>,
    broken: Vec<&'static str>,
}

fn model(text: &str) -> Model {
    Model::new(&SourceFile::parse(text, FileKind::Xta), &BTreeMap::new())
}

/// Compares the markers in a text with the diagnostics.
#[track_caller]
fn check(text: &str) -> Model {
    let mut want: Vec<(u32, String)> = Vec::new();
    for (k, line) in text.lines().enumerate() {
        if let Some((_, codes)) = line.split_once("//~") {
            let codes = codes.split_whitespace();
            want.extend(codes.map(|c| (k as u32 + 1, c.to_owned())));
        }
    }
    let m = model(text);
    let index = LineIndex::new(text);
    let have: Vec<(u32, String)> = m
        .diagnostics()
        .iter()
        .filter(|d| d.severity == Severity::Error || d.code.contains("detected"))
        .map(|d| (index.line_col(text, d.span.start).line, d.code.to_owned()))
        .collect();
    assert_eq!(have, want, "{:#?}\nin\n{text}", m.diagnostics());
    m
}

fn facts(m: &Model) -> Vec<Facts> {
    let n = m.network().unwrap();
    let describe = |(id, s): (ScalarsetId, &Scalarset)| {
        let id = Some(id);
        let named = |test: &dyn Fn(&Shape) -> bool| {
            let found = n.variables.iter().filter(|v| test(&v.shape));
            found.map(|v| v.name.to_string()).collect::<Vec<_>>()
        };
        let families = n
            .families
            .iter()
            .filter(|f| f.params.iter().any(|p| p.scalarset == id));
        Facts {
            name: s.name.to_string(),
            size: s.size,
            blocks: s.blocks.clone(),
            holds: named(
                &|shape| matches!(shape, Shape::Int { scalarset, .. } if *scalarset == id),
            ),
            over: named(
                &|shape| matches!(shape, Shape::Array { index, .. } if index.scalarset == id),
            ),
            families: families.map(|f| f.name.to_string()).collect(),
            broken: s.broken.iter().map(|b| b.code).collect(),
        }
    };
    n.scalarsets.enumerated().map(describe).collect()
}

/// A sound set with one class of all elements.
fn whole(name: &str, size: u32, holds: &[&str], over: &[&str], families: &[&str]) -> Facts {
    Facts {
        name: name.to_owned(),
        size,
        blocks: vec![(0..size).collect()],
        holds: strings(holds),
        over: strings(over),
        families: strings(families),
        broken: Vec::new(),
    }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| (*s).to_string()).collect()
}

/// Fischer's protocol as in the thesis: `scalarset name[n];`, identifiers in an integer, -1 for
/// none.
#[test]
fn fischer_of_the_thesis() {
    let m = check(
        "scalarset pids[3];
int turn := -1;
process Member(scalarset me) {
  clock t;
  state rest, ask { t <= 4 }, pause, inside;
  init rest;
  trans
    rest -> ask { guard turn == -1; assign t := 0; },
    ask -> pause { guard t <= 4; assign t := 0, turn := me; },
    pause -> ask { guard turn == -1; assign t := 0; },
    pause -> inside { guard t > 4, turn == me; },
    inside -> rest { assign turn := -1; };
}
Members := Member(pids);
system Members;
",
    );
    let want = whole("pids", 3, &["turn"], &[], &["Members"]);
    assert_eq!(facts(&m), [want]);
}

/// As in the paper: `scalarset[n]` as a type, `forall … in` on the system line, an array over the
/// set.
#[test]
fn fischer_of_the_paper() {
    let m = check(
        "typedef scalarset[3] who;
who turn;
bool taken;
int[0,2] phase[who];
process Member(const who me) {
  clock t;
  state rest, ask { t <= 4 }, pause, inside;
  init rest;
  trans
    rest -> ask { guard !taken; assign t := 0, phase[me] := 1; },
    ask -> pause { assign t := 0, turn := me, taken := true; },
    pause -> ask { guard !taken; assign t := 0; },
    pause -> inside { guard t > 4 && taken && turn == me; assign phase[me] := 2; },
    inside -> rest { assign taken := false, phase[me] := 0; };
}
Members = forall m in who : Member(m);
system Members;
",
    );
    let want = whole("who", 3, &["turn"], &["phase"], &["Members"]);
    assert_eq!(facts(&m), [want]);
}

/// In today's notation: `typedef scalar[n]`, with the parameter left free on the system line.
#[test]
fn fischer_of_today() {
    let m = check(
        "const int N = 4;
typedef scalar[N] who;
who turn;
bool taken;
process Member(const who me) {
  clock t;
  state rest, ask { t <= 4 }, pause, inside;
  init rest;
  trans
    rest -> ask { guard !taken; assign t = 0; },
    ask -> pause { assign t = 0, turn = me, taken = true; },
    pause -> ask { guard !taken; assign t = 0; },
    pause -> inside { guard t > 4 && taken && turn == me; },
    inside -> rest { assign taken = false; };
}
system Member;
",
    );
    let want = whole("who", 4, &["turn"], &[], &["Member"]);
    assert_eq!(facts(&m), [want]);
}

fn figure(edges: &str) -> String {
    format!(
        "scalarset id[3];
int a[id];
process P(scalarset me) {{
  int[0,2] v;
  state from, to;
  init from;
  trans
{edges}
}}
Procs := P(id);
system Procs;
"
    )
}

fn broken(m: &Model) -> Vec<&'static str> {
    let sets = m.network().unwrap().scalarsets;
    sets[ScalarsetId(0)].broken.iter().map(|b| b.code).collect()
}

/// Figure 3.4: the dimension over the set is indexed by the process' own element.
#[test]
fn a_well_formed_edge() {
    let m = check(&figure(
        "    from -> to { guard a[me] == 3; assign a[me] := 0; };",
    ));
    assert_eq!(broken(&m), [""; 0]);
}

/// Figure 3.5: a number, and a variable that is assigned a number, as indices, which no family of
/// edges can complete.
#[test]
fn an_edge_that_is_not_well_formed() {
    let m = check(&figure(
        "    from -> to { guard
      a[2] == 3; //~ sym/index-int
      assign a[v] := 0,
      v := 1; }; //~ sym/literal",
    ));
    assert_eq!(broken(&m), ["sym/index-int", "sym/literal"]);
}

/// Figure 3.6: one edge per element, identical except for the index. A missing element, or two on
/// one edge, breaks it.
#[test]
fn edges_that_are_malformed_for_each_element() {
    let m = check(&figure(
        "    from -> to { guard a[0] == 3; assign a[0] := 0; },
    from -> to { guard a[1] == 3; assign a[1] := 0; },
    from -> to { guard a[2] == 3; assign a[2] := 0; };",
    ));
    assert_eq!(broken(&m), [""; 0]);
    check(&figure(
        "    from -> to { guard a[0] == 3; assign a[0] := 0; }, //~ sym/index-int sym/index-int
    from -> to { guard a[2] == 3; assign a[2] := 0; }; //~ sym/index-int sym/index-int",
    ));
    check(&figure(
        "    from -> to { guard a[0] == 3; assign a[0] := 0; }, //~ sym/index-int sym/index-int
    from -> to { guard a[1] == 3; assign a[2] := 0; }, //~ sym/index-int sym/index-int
    from -> to { guard a[2] == 3; assign a[2] := 0; }; //~ sym/index-int sym/index-int",
    ));
    // A different target or a different guard: not a family.
    check(&figure(
        "    from -> to { guard a[0] == 3; }, //~ sym/index-int
    from -> from { guard a[1] == 3; }, //~ sym/index-int
    from -> to { guard a[2] == 4; }; //~ sym/index-int",
    ));
}

fn numbered(enter: &str) -> String {
    format!(
        "const int N = 4;
typedef int[0,N-1] pid_t;
int[-1,N-1] turn = -1;
process Member(const pid_t me) {{ {}
  clock t;
  state rest, ask {{ t <= 2 }}, pause, inside;
  init rest;
  trans
    rest -> ask {{ guard turn == -1; assign t = 0; }},
    ask -> pause {{ assign t = 0, turn = me; }},
    pause -> ask {{ guard turn == -1; assign t = 0; }},
    {enter}
    inside -> rest {{ assign turn = -1; }};
}}
system Member;
",
        if enter.contains("//~") {
            ""
        } else {
            "//~ sym/detected"
        }
    )
}

/// Example 2 of the paper on detection: one process is singled out, and the others stay
/// interchangeable.
#[test]
fn one_process_is_singled_out() {
    let m = check(&numbered("pause -> inside { guard t > 2 && turn == me; },"));
    assert_eq!(facts(&m)[0].blocks, [vec![0, 1, 2, 3]]);
    let m = check(&numbered(
        "pause -> inside { guard t > 2 && turn == me && me != 2; },",
    ));
    let want = Facts {
        blocks: vec![vec![0, 1, 3], vec![2]],
        ..whole("me", 4, &["turn"], &[], &["Member"])
    };
    assert_eq!(facts(&m), [want]);
    // An order between identifiers leaves nothing interchangeable, and the hint shows where.
    let m = check(&numbered(
        "pause -> inside { guard t > 2 && turn == me && me < 2; }, //~ sym/undetected",
    ));
    assert_eq!(facts(&m), []);
    // Elements must be interchangeable in all templates at once, not in one of them (the paper
    // takes the union).
    let two = numbered("pause -> inside { guard t > 2 && turn == me && me != 2; },").replace(
        "system Member;",
        "process Other(const pid_t i) { state A; init A; trans A -> A { guard turn == i && i != 1; }; }\nsystem Member, Other;",
    );
    let m = model(&two);
    let sets = m.network().unwrap().scalarsets;
    assert_eq!(sets[ScalarsetId(0)].blocks, [vec![0, 3], vec![1], vec![2]]);
}
