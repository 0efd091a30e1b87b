//! Names, types, instantiation, lints and hostile input on small models. `//~ code` at the end of a
//! line expects exactly these diagnostics (except hints) to start there.

use std::collections::BTreeMap;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::LineIndex;

fn model(text: &str) -> Model {
    Model::new(&SourceFile::parse(text, FileKind::Xta), &BTreeMap::new())
}

#[track_caller]
fn check(text: &str) {
    let mut want: Vec<(u32, String)> = Vec::new();
    for (k, line) in text.lines().enumerate() {
        if let Some((_, codes)) = line.split_once("//~") {
            want.extend(
                codes
                    .split_whitespace()
                    .map(|c| (k as u32 + 1, c.to_string())),
            );
        }
    }
    let index = LineIndex::new(text);
    let m = model(text);
    let found: Vec<_> = m
        .diagnostics()
        .iter()
        .filter(|d| d.severity < Severity::Info)
        .collect();
    let mut have: Vec<(u32, String)> = found
        .iter()
        .map(|d| (index.line_col(text, d.span.start).line, d.code.to_string()))
        .collect();
    have.dedup();
    assert_eq!(have, want, "{found:#?}");
}

#[test]
fn names_and_declarations() {
    check(
        "const int N = 3;
int a[N]; int b[M]; //~ name/unknown
bool a; //~ name/duplicate
typedef int[0,N-1] id_t;
id_t i; idt j; //~ name/unknown
int[3,1] e; //~ type/empty-range
int z[0]; //~ type/array-size
int y[-2]; //~ type/array-size
scalar[0] s; //~ type/scalar-size
int v = 40000; //~ type/range
const int c; //~ type/constant
const int d = 1 / 0; //~ type/constant
const int o = 2147483647 + 1; //~ type/constant
int w[v]; //~ type/not-constant
urgent int u; //~ type/prefix
typedef struct { int x; chan k; } R; //~ type/field
typedef T1 T2; //~ name/unknown
typedef struct { Self x; } Self; //~ name/unknown
process P() { state A; init A; }
system P;
",
    );
}

#[test]
fn expressions_and_labels() {
    check(
        "clock x, y; int n; bool b; chan c; broadcast chan bc; int a[3];
typedef struct { int p; } R; R r;
int f(int v) { return v; }
void g() { n = 1; }
void h(int &v) { v = 2; }
int rec(int v) { return rec(v); } //~ type/recursion
process P(const int[0,2] id) {
  state A { x == 2 }, //~ type/invariant
    B { x <= 2 && n == 1 };
  init A;
  trans A -> B { guard x != 2; }, //~ type/guard
  A -> B { guard x > 1 || y > 1; }, //~ type/guard
  A -> B { guard n = 1; }, //~ type/side-effect
  A -> B { guard f(1, 2) == 1; }, //~ type/argument-count
  A -> B { sync n!; }, //~ type/sync
  A -> B { sync c!; assign id = 1; }, //~ type/not-assignable
  A -> B { sync c?; assign r.q = 1; }, //~ type/member
  A -> B { assign x += 1; }, //~ type/operand
  A -> B { assign n = x; }, //~ type/mismatch
  A -> B { assign h(3); }, //~ type/argument
  A -> B { assign n = c; }, //~ type/mismatch
  A -> D { }, //~ name/unknown
  A -> B { guard g() == 1; }, //~ type/side-effect type/operand
  A -> B { assign a[7] = 1; }, //~ lint/index
  A -> B { assign n == 1; }, //~ lint/no-effect
  B -> A { guard x > 1 && y - x <= n + 2 && forall (i : int[0,2]) a[i] > 0; assign x = 0, y = n, n++, h(n), g(); };
}
system P;
",
    );
}

#[test]
fn instantiation() {
    check(
        "const int N = 2; int v; chan c; urgent chan u; clock x;
process P(const int[0,N] i, int &r) { state A; init A; trans A -> A { guard i < N; assign r = i; }; }
process Q(int n) { int a[n]; state A; init A; }
process R(chan &k) { state A; init A; trans A -> A { sync k!; }, A -> A { sync k?; }; }
process S() { state A; } //~ system/initial
P1 = P(1, v);
P2 = P(v, v); //~ type/not-constant
P3 = P(1, 2); //~ system/argument
P4 = P(1); //~ type/argument-count
P5 = Nope(1); //~ system/not-a-template
R1 = R(u); //~ system/argument
Q1(const int[1,2] k) = Q(k);
Loop = Loop(); //~ system/not-a-template
system P1, P, v, Q1, P1; //~ system/free-parameter system/not-a-template system/free-parameter system/duplicate-process
",
    );
}

#[test]
fn queries_have_codes_of_their_own() {
    let m = |q: &str| {
        let text = format!(
            "int n; typedef scalar[2] S; S s;\nprocess P(const S i) {{ clock x; state A, B; init A; trans A -> B {{ guard x > 1; }}; }}\nprocess Q() {{ state A; init A; }}\nsystem P;\n//@ query {q}\n"
        );
        let m = model(&text);
        m.diagnostics()
            .iter()
            .find(|d| d.severity <= Severity::Info && d.code != "sym/initial")
            .map(|d| d.code)
    };
    assert_eq!(m("E<> P.A"), Some("query/type"));
    assert_eq!(m("E<> Q.A"), Some("query/name"));
    assert_eq!(m("E<> exists (i : S) P(i).C"), Some("query/name"));
    assert_eq!(m("E<> P(0).A"), Some("query/type"));
    assert_eq!(m("E<> s + 1 == 2"), Some("query/type"));
    assert_eq!(m("A<> deadlock"), Some("query/deadlock"));
    assert_eq!(m("E<> n = 1"), Some("query/type"));
    assert_eq!(m("E<> mm == 1"), Some("query/name"));
    assert_eq!(
        m("A[] forall (i : S) P(i).x <= 3 || !(P(i).x > 4) imply n == 0"),
        None
    );
    assert_eq!(m("sup{n == 1}: n, P(s).x"), None);
}

#[test]
fn lints() {
    check(
        "chan lonely, c; clock never; int w; int r;
process P() {
  clock x;
  state A, B, //~ lint/allow
    Island; //~ lint/unreachable-location
  init A;
  trans A -> B { guard x > 1 && r == 0; sync lonely!; assign x = 0, w = 1; },
  B -> A { guard 1 == 2; sync c!; }, //~ lint/false-guard
  A -> A { select i : int[0,3]; sync c?; }; //~ lint/unused-select
}
system P;
//@ query E<> P.B
"
        .replace("lonely, c; clock never; int w; int r;", "lonely, c; clock never; int w; int r; //~ lint/channel-partner lint/clock-never-read lint/never-read")
        .replace("state A, B, //~ lint/allow", "state A, B,")
        .as_str(),
    );
}

/// A broken declaration causes one error, not another one for each use of its names.
#[test]
fn unreadable_declarations_still_declare() {
    let text = "int a = ;
typedef int(0,3] id_t;
int b, m[3] 1, n;
int k = 4;
clock x
clock y;
int f(int q { return q; }
chan c[id_t];
process P(const id_t i) {
  int w = ;
  state s, t { x <= a };
  init s;
  trans s -> t { guard a == b && m[0] > w; sync c[i]!; assign x = 0, y = 0, k = f(2); };
}
system P;
//@ query E<> a == n
";
    let m = model(text);
    let errors = m.diagnostics().iter();
    let errors: Vec<_> = errors
        .filter(|d| d.severity == Severity::Error)
        .map(|d| {
            let line = text[..d.span.start as usize].matches('\n').count() + 1;
            (d.code, line)
        })
        .collect();
    let lines = [1, 2, 3, 5, 7, 10].map(|line| match line {
        5 => ("syntax/missing-semicolon", line),
        _ => ("syntax/unexpected", line),
    });
    assert_eq!(errors, lines);
    // A proper declaration of the same name is not an error.
    let again = model("int a = ;\nint a;\nprocess P() { state s; init s; }\nsystem P;\n");
    let codes: Vec<_> = again.diagnostics().iter().map(|d| d.code).collect();
    assert!(!codes.contains(&"name/duplicate"), "{codes:?}");
}

/// An edge in XML with an invalid reference is reported once.
#[test]
fn a_wrong_reference_is_one_error() {
    let text = "<nta><template><name>P</name><location id=\"a\"/><init ref=\"a\"/><transition>\
                <source ref=\"b\"/><target ref=\"a\"/></transition></template><system>system P;</system></nta>";
    let m = Model::new(&SourceFile::parse(text, FileKind::Xml), &BTreeMap::new());
    let errors = m.diagnostics().iter();
    let errors = errors.filter(|d| d.severity == Severity::Error);
    let codes: Vec<_> = errors.map(|d| d.code).collect();
    assert_eq!(codes, ["syntax/xml"]);
}

#[test]
fn allow_silences_one_line() {
    let text = "chan a;\n//@ allow lint/channel-partner the partner comes later\nchan b;\n//@ allow lint/zeno nothing here\nint n;\nprocess P() { state A; init A; trans A -> A { sync a!; }, A -> A { sync b!; }; }\nsystem P;\n";
    let codes: Vec<_> = model(text)
        .diagnostics()
        .iter()
        .filter(|d| d.severity == Severity::Warning)
        .map(|d| {
            (
                d.code,
                text[..d.span.start as usize].matches('\n').count() + 1,
            )
        })
        .collect();
    assert_eq!(codes, [("lint/channel-partner", 1), ("lint/allow", 4)]);
}

#[test]
fn absurd_sizes_are_errors_that_name_the_declaration() {
    for (declaration, name) in [
        ("int a[1000000000];", "`a`"),
        ("typedef int[0,999] T; int big[T][T][T];", "`big`"),
        ("clock x[2147483647];", "`x`"),
        ("typedef struct { int v[100000]; } R; R r[100000];", "`r`"),
        ("scalar[1000000000] s;", "1000000000"),
        ("typedef int[-2147483647,2147483647] W; bool w[W];", "`w`"),
    ] {
        let m = model(&format!(
            "{declaration}\nprocess P() {{ state A; init A; }}\nsystem P;\n"
        ));
        let d = m.diagnostics().iter().find(|d| d.code == "system/size");
        assert!(
            d.is_some_and(|d| d.message.contains(name)),
            "{declaration}: {:?}",
            m.diagnostics()
        );
        assert!(m.network().is_err());
    }
    let many = model(
        "process P(const int[0,999] a, const int[0,999] b, const int[0,999] c) { state A; init A; }\nsystem P;\n",
    );
    assert!(many.diagnostics().iter().any(|d| d.code == "system/size"));
    // A size that is known only after instantiation.
    let late = model(
        "process P(const int n) { int a[n]; state A; init A; }\nQ = P(1000000000);\nsystem Q;\n",
    );
    assert!(late.network().is_err());
    let late =
        model("process P(const int n) { int a[n]; state A; init A; }\nQ = P(0 - 5);\nsystem Q;\n");
    assert!(late.network().is_err() || late.network().is_ok_and(|n| n.cells.is_empty()));
}

#[test]
fn overrides_change_sizes_and_families() {
    let text = "const int N = 3; typedef scalar[N] S; int a[S];\nprocess P(const S i) { state A; init A; }\nsystem P;\n";
    let file = SourceFile::parse(text, FileKind::Xta);
    let m = Model::new(&file, &BTreeMap::from([("N".to_string(), 7)]));
    let network = m.network().unwrap();
    assert_eq!((network.cells.len(), network.processes.len()), (7, 7));
    // The same limits as in the file: a plain integer has 32 bits, one with a range keeps its
    // range.
    let refused = |text: &str, value: i64| {
        let file = SourceFile::parse(text, FileKind::Xta);
        let m = Model::new(&file, &BTreeMap::from([("N".to_string(), value)]));
        m.diagnostics().iter().any(|d| d.code == "type/constant")
    };
    assert!(!refused(text, 99_999) && refused(text, 3_000_000_000));
    let ranged = text.replace("const int N", "const int[1,9] N");
    assert!(!refused(&ranged, 9) && refused(&ranged, 10));
}

#[test]
fn an_endless_constant_function_is_given_up() {
    let m = model(
        "int f() { int i = 0; while (true) i = 1; return i; }\nconst int N = f();\nprocess P() { state A; init A; }\nsystem P;\n",
    );
    assert!(m.diagnostics().iter().any(|d| d.code == "type/constant"));
}

#[test]
fn invariants_that_never_bind() {
    check(
        "const int N = 3; clock x, y; int[0,5] n; int[0,9] m; bool b;
process P() {
  state A { x <= 5 && x <= 7 }, //~ lint/never-binding
    B { x <= N && y >= 0 }, //~ lint/never-binding
    C { n <= 5 && x < 5 }, //~ lint/never-binding
    D { x < 5 && x <= 5 }, //~ lint/never-binding
    E { m <= 5 && x <= N && y <= 2 && x - y <= 3 && b };
  init A;
  trans A -> B { guard x > 1; assign x = 0, n = 1; }, B -> C { guard y > 1; assign y = 0, m = n, b = true; },
    C -> D { assign m = 2; }, D -> E { guard x > 1; }, E -> A { guard y > 1; assign x = 0, y = 0; };
}
system P;
",
    );
}
