//! For every code that can reject a text: a text that it rejects, and the most similar one that
//! must be accepted.

use std::collections::{BTreeMap, BTreeSet};
use zonelens_analysis::{Model, Severity, codes};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

/// Where rules of proofs for every size are tested.
const ONLY_FOR_EVERY: &str = "needs a proof for every size: checker/src/every/tests.rs";

/// Errors that need more than a text, and where they are tested.
const ELSEWHERE: &[(&str, &str)] = &[
    ("every/broadcast", ONLY_FOR_EVERY),
    ("every/clock", ONLY_FOR_EVERY),
    ("every/count", ONLY_FOR_EVERY),
    ("every/initial", ONLY_FOR_EVERY),
    ("every/loop", ONLY_FOR_EVERY),
    ("every/part", ONLY_FOR_EVERY),
    ("every/priority", ONLY_FOR_EVERY),
    ("every/query", ONLY_FOR_EVERY),
    ("every/set", ONLY_FOR_EVERY),
    ("every/size", ONLY_FOR_EVERY),
    ("query/expectation", "needs a verdict: cli/tests/server"),
    ("query/unanswered", "needs a run: cli/tests/server"),
    (
        "syntax/convert",
        "arises when writing: syntax/tests/convert.rs",
    ),
    (
        "syntax/encoding",
        "needs bytes that are not text: cli/tests/files.rs",
    ),
    ("syntax/size", "needs 256 MB: syntax/src/source.rs"),
];

/// A template and a system line.
const RUN: &str = "process P() { state A; init A; }\nsystem P;\n";
/// Two sets, and a template over the first.
const SETS: &str = "typedef scalar[3] S; typedef scalar[2] T; S x; S y; T t; int n; int a[S]; int k[3]; clock c;\n";

/// Declarations before a system that uses none of them.
fn with(declarations: &str) -> String {
    format!("{declarations}\n{RUN}")
}

/// An edge of a template with a few declarations.
fn edge(labels: &str) -> String {
    format!(
        "clock x; int n; bool b; chan c; int a[3]; typedef struct {{ int p; }} R; R r;\nint f(int v) {{ return v; }}\nvoid g() {{ n = 1; }}\nvoid h(int &v) {{ v = 2; }}\nprocess P(const int[0,2] id) {{ state A, B; init A; trans A -> B {{ {labels} }}; }}\nsystem P;\n"
    )
}

/// An edge of a family over a scalarset.
fn scalar(labels: &str) -> String {
    format!(
        "{SETS}process P(const S id) {{ state A; init A; trans A -> A {{ {labels} }}; }}\nsystem P;\n"
    )
}

/// The same in `scalarset` notation, where elements are integers.
fn thesis(declarations: &str, labels: &str, tail: &str) -> String {
    format!(
        "scalarset pid[3]; int id := -1; {declarations}\nprocess P(scalarset me) {{ state A; init A; trans A -> A {{ {labels} }}; }}\nProcs := P(pid);\n{tail}\nsystem Procs;\n"
    )
}

/// A query on a model with a family of three processes and an array.
fn query(formula: &str) -> String {
    format!(
        "const int N = 3; int list[N]; int n; int f(int[0,2] i) {{ return i; }}\nprocess P(const int[0,2] i) {{ clock x; state A, B; init A; trans A -> B {{ guard x > 1; }}; }}\nprocess Q() {{ state A; init A; }}\nsystem P;\n//@ query {formula}\n"
    )
}

fn xml(template: &str) -> String {
    format!(
        "<nta><declaration>clock x;</declaration>{template}<system>P = T(); system P;</system></nta>"
    )
}

fn located(name: &str) -> String {
    xml(&format!(
        "<template><name>T</name><location id=\"id0\"><name>{name}</name></location><init ref=\"id0\"/></template>"
    ))
}

/// One row per code: a text that it rejects, and the most similar text without any error.
fn rows() -> Vec<(&'static str, String, String)> {
    let mut rows = Vec::new();
    let mut row = |code, wrong: String, right: String| rows.push((code, wrong, right));
    // Names
    row(
        "name/duplicate",
        with("int n; bool n;"),
        with("int n; int f(int n) { return n; }"),
    );
    row(
        "name/identifier",
        located("wait here"),
        located(" wait_here2 "),
    );
    row("name/keyword", located("init"), located("broadcast_done"));
    row(
        "name/not-a-type",
        with("int n; n m;"),
        with("typedef int n; n m;"),
    );
    row(
        "name/not-a-value",
        edge("assign n = f;"),
        edge("assign n = f(1);"),
    );
    // `exit` and `abs` became keywords in later versions.
    row(
        "name/unknown",
        edge("assign m = 1;"),
        with("int exit; int fabs_;"),
    );
    // Queries
    row(
        "query/deadlock",
        query("A<> deadlock"),
        query("A[] not deadlock"),
    );
    row("query/name", query("E<> Q.A"), query("E<> P(0).A"));
    row(
        "query/range",
        query("E<> P(3).A"),
        query("E<> N > 3 && P(3).A"),
    );
    row(
        "query/range",
        query("A[] list[N] == 0"),
        query("A[] forall (i : int[N,2]) list[i] == P(3).A"),
    );
    row(
        "query/range",
        query("A[] f(3) == 0"),
        query("A[] (N == 3 ? f(2) : f(3)) == 2"),
    );
    row("query/syntax", query("E<> (P(0).A"), query("E<> (P(0).A)"));
    row("query/type", query("E<> P.A"), query("E<> P(n).A"));
    // Symmetry on declared sets
    row(
        "sym/arithmetic",
        scalar("assign n = x + 1;"),
        scalar("assign n = a[x] + 1;"),
    );
    row(
        "sym/broadcast-order",
        format!(
            "{SETS}broadcast chan bb; process P(const S id) {{ state A; init A; trans A -> A {{ sync bb?; assign x = id; }}, A -> A {{ sync bb!; }}; }}\nsystem P;\n"
        ),
        format!(
            "{SETS}broadcast chan bb; process P(const S id) {{ state A; init A; trans A -> A {{ sync bb?; assign a[id] = 1; }}, A -> A {{ sync bb!; }}; }}\nsystem P;\n"
        ),
    );
    row(
        "sym/clock",
        scalar("guard c > x;"),
        scalar("guard c > a[x];"),
    );
    row(
        "sym/constant",
        with(&format!(
            "{SETS}int f() {{ const int w[S] = {{1, 2, 3}}; return 0; }}"
        )),
        with(&format!(
            "{SETS}int f() {{ const int w[3] = {{1, 2, 3}}; return w[0]; }}"
        )),
    );
    row(
        "sym/default",
        with(&format!("{SETS}S f() {{ S z; return z; }}")),
        with(&format!("{SETS}S f(S v) {{ S z; z = v; return z; }}")),
    );
    row(
        "sym/index-int",
        scalar("assign a[0] = 1;"),
        scalar("assign a[id] = 1, k[0] = 1;"),
    );
    row(
        "sym/index-other",
        scalar("assign a[t] = 1;"),
        scalar("guard t == t; assign a[x] = 1;"),
    );
    row(
        "sym/index-scalar",
        scalar("assign k[x] = 1;"),
        scalar("assign k[a[x]] = 1;"),
    );
    row(
        "sym/literal",
        scalar("assign x = 0;"),
        scalar("assign x = id, n = 0;"),
    );
    row(
        "sym/loop-order",
        with(&format!("{SETS}void f() {{ for (i : S) x = i; }}")),
        with(&format!("{SETS}void f() {{ for (i : S) a[i] = 0; }}")),
    );
    row(
        "sym/meta",
        format!(
            "{SETS}meta S m; process P(const S id) {{ state A; init A; trans A -> A {{ assign x = m, m = id; }}; }}\nsystem P;\n"
        ),
        // It is never written, so it is a constant.
        format!(
            "{SETS}meta S m; process P(const S id) {{ state A; init A; trans A -> A {{ guard m == id; assign x = m; }}; }}\nsystem P;\n"
        ),
    );
    // If one sender writes it as a whole and the other field by field, it counts as written.
    let mixed = |second: &str| {
        format!(
            "typedef scalar[3] S; typedef struct {{ S who; bool up; }} M; meta M m; S seen; bool b; chan go;\nprocess P(const S id) {{ M own; state A; init A; trans A -> A {{ sync go!; assign m.who = id, m.up = true; }}, A -> A {{ sync go!; assign own.who = id, own.up = b{second}; }}; }}\nprocess R() {{ state A; init A; trans A -> A {{ sync go?; assign seen = m.who, b = m.up; }}; }}\nsystem P, R;\n"
        )
    };
    row("sym/meta", mixed(""), mixed(", m = own"));
    row(
        "sym/mixed",
        scalar("assign x = t;"),
        scalar("assign x = y;"),
    );
    row("sym/order", scalar("guard x < y;"), scalar("guard x != y;"));
    row(
        "sym/partial-instance",
        thesis("", "assign id := me;", "One = P(1);"),
        thesis("", "assign id := me;", ""),
    );
    row(
        "sym/priority",
        thesis(
            "chan p[pid];",
            "sync p[me]!;",
            "chan priority p[1] < default;",
        ),
        thesis("chan p[pid];", "sync p[me]!;", "chan priority p < default;"),
    );
    // Syntax
    row(
        "syntax/after-system",
        format!("{RUN}int n;\n"),
        format!("{RUN}// nothing but a comment\n"),
    );
    row(
        "syntax/character",
        with("int n = 1 ` 2;"),
        with("int n = 1; // `"),
    );
    row(
        "syntax/nesting",
        with(&format!(
            "const int n = {}1{};",
            "(".repeat(600),
            ")".repeat(600)
        )),
        with(&format!(
            "const int n = {}1{};",
            "(".repeat(40),
            ")".repeat(40)
        )),
    );
    // A declaration may continue over several lines.
    row(
        "syntax/missing-semicolon",
        with("int a\nint b;"),
        with("int a\n  = 1,\n  b;"),
    );
    row(
        "syntax/no-system",
        "process P() { state A; init A; }\n".into(),
        RUN.into(),
    );
    row(
        "syntax/system",
        "process P() { state A; init A; }\nsystem P Q;\n".into(),
        "process P() { state A; init A; }\nsystem P;\n".into(),
    );
    row(
        "syntax/unclosed",
        "process P() { state A; init A;\nsystem P;\n".into(),
        RUN.into(),
    );
    row(
        "syntax/unclosed-comment",
        with("/* int n;"),
        with("/* int n; */"),
    );
    row("syntax/unexpected", with("int n 5;"), with("int n = 5;"));
    row(
        "syntax/xml",
        "<nta><system>system P;</system>".into(),
        located("A"),
    );
    // The system
    let family = |body: &str, rest: &str| {
        format!(
            "const int N = 3, F = 0; int v;\nprocess P(const int[0,2] i) {{ {body} state A; init A; }}\nprocess B(const int[N-F,N-1] i) {{ int[N-F,N-1] own; state A; init A; }}\n{rest}\n"
        )
    };
    row(
        "system/argument",
        family("", "One = P(3); system One;"),
        family("", "One = P(N - 1); system One, B;"),
    );
    row(
        "system/duplicate-process",
        family("", "system P, P;"),
        family("", "P2(const int[0,1] i) = P(i); system P, P2;"),
    );
    row(
        "system/free-parameter",
        family("int a[i + 1];", "system P;"),
        family("int[0,i] a;", "system P;"),
    );
    row(
        "system/initial",
        "process P() { state A; }\nsystem P;\n".into(),
        "process P() { state A; init A; }\nprocess E() { }\nsystem P;\n".into(),
    );
    row(
        "system/missing",
        format!("{RUN}system P;"),
        format!("{RUN}// system P;"),
    );
    row(
        "system/not-a-template",
        format!("int v; {}", RUN.replace("system P", "system v")),
        format!("int v; Q = P(); {RUN}").replace(
            "int v; Q = P(); process P() { state A; init A; }",
            "int v; process P() { state A; init A; } Q = P();",
        ),
    );
    row(
        "system/size",
        with("typedef scalar[200000] S; S x;"),
        with("typedef scalar[20] S; S x;"),
    );
    // Types
    row("type/argument", edge("assign h(3);"), edge("assign h(n);"));
    row(
        "type/argument-count",
        edge("guard f(1, 2) == 1;"),
        edge("guard f(1) == 1;"),
    );
    row(
        "type/array-size",
        with("int z[0];"),
        with("const int N = 0; int z[int[0,N-1]];"),
    );
    row("type/call", edge("assign n();"), edge("assign g();"));
    row(
        "type/condition",
        edge("assign n = c ? 1 : 2;"),
        edge("assign n = b ? 1 : 2;"),
    );
    row(
        "type/constant",
        with("const int c;"),
        with("const int c = 100000;"),
    );
    // An empty range is allowed where no value of it is needed.
    row(
        "type/empty-range",
        with("int[3,1] e;"),
        with("typedef int[3,1] none; bool e[none]; none f(none v) { none w = v; return w; }"),
    );
    let local = "process P(const int i) { int[1,0] e; state A; init A; }\n";
    row(
        "type/empty-range",
        format!("{local}Q = P(1); system Q;"),
        format!("{local}process R() {{ state A; init A; }} system R;"),
    );
    let called = |labels: &str| {
        format!("typedef int[3,1] none; int n; none w; int f(none v) {{ return 1; }}\nprocess P() {{ state A; init A; trans A -> A {{ {labels} }}; }}\nsystem P;\n").replace(" none w;", "")
    };
    row(
        "type/empty-range",
        called("assign n = f(2);"),
        called("select i : none; guard forall (j : none) f(j) == f(1); assign n = f(2);"),
    );
    row(
        "type/field",
        with("typedef struct { chan k; } R;"),
        with("typedef struct { clock k; int n; } R;"),
    );
    row(
        "type/for-declaration",
        with("int f() { for (int i = 0; i < 3; i++) { } return 1; }"),
        with("int f() { int i; for (i = 0; i < 3; i++) { } return i; }"),
    );
    row(
        "type/guard",
        edge("guard x != 2;"),
        edge("guard x == 2 && n != 2;"),
    );
    row(
        "type/index",
        edge("assign n = b[1];"),
        edge("assign n = a[1];"),
    );
    row(
        "type/index-type",
        with("typedef clock C; int a[C];"),
        with("int a[int[2,4]];"),
    );
    row(
        "type/initialiser",
        with("typedef scalar[2] S; S s = 0;"),
        with("typedef scalar[2] S; S s;"),
    );
    row(
        "type/invariant",
        "clock x; process P() { state A { x == 2 }; init A; } system P;".into(),
        "clock x; process P() { state A { x <= 2 && x >= 0 }; init A; } system P;".into(),
    );
    row(
        "type/iteration",
        edge("guard forall (i : int) n > i;"),
        edge("guard forall (i : bool) n > i;"),
    );
    row(
        "type/local",
        with("int f() { clock c; return 1; }"),
        with("clock c; int f(clock &d) { d = 0; c = 0; return 1; }"),
    );
    row(
        "type/location",
        "process P() { state A; commit A; urgent A; init A; } system P;".into(),
        "process P() { state A, B; commit A; urgent B; init A; trans A -> B { }; } system P;"
            .into(),
    );
    row(
        "type/loop",
        with("void f() { break; }"),
        with("void f() { while (true) { break; } }"),
    );
    row(
        "type/member",
        edge("assign r.q = 1;"),
        edge("assign r.p = 1;"),
    );
    row(
        "type/mismatch",
        edge("assign n = x;"),
        edge("assign n = b, b = n, x = n;"),
    );
    row(
        "type/misplaced",
        "chan c; process P() { chan priority c < default; state A; init A; } system P;".into(),
        "chan c; process P() { state A; init A; } chan priority c < default; system P;".into(),
    );
    row(
        "type/not-assignable",
        edge("assign id = 1;"),
        "process P(int[0,2] id) { state A; init A; trans A -> A { assign id = 1; }; } system P;"
            .into(),
    );
    row(
        "type/not-constant",
        with("int v; int w[v];"),
        with("const int v = 2; int w[v + 1];"),
    );
    row(
        "type/operand",
        edge("assign x += 1;"),
        edge("assign n += 1;"),
    );
    row(
        "type/overflow",
        with("const int n = 2147483648;"),
        with("const int n = -2147483648;"),
    );
    row(
        "type/prefix",
        with("urgent int u;"),
        with("urgent broadcast chan u;"),
    );
    row(
        "type/range",
        with("int v = 40000;"),
        with("int v = 32767; int[0,40000] w = 40000;"),
    );
    row(
        "type/recursion",
        with("int f(int v) { return f(v); }"),
        with("int g(int v) { return v; } int f(int v) { return g(g(v)); }"),
    );
    row(
        "type/reference",
        "process P(chan k) { state A; init A; } chan c; Q = P(c); system Q;".into(),
        "process P(chan &k) { state A; init A; } chan c; Q = P(c); system Q;".into(),
    );
    row(
        "type/return",
        with("int f() { return; }"),
        with("void f() { return; }"),
    );
    row(
        "type/scalar-size",
        with("scalar[0] s;"),
        with("scalar[1] s;"),
    );
    row(
        "type/side-effect",
        edge("guard n = 1;"),
        edge("guard n == 1;"),
    );
    row("type/sync", edge("sync n!;"), edge("sync c!;"));
    row("type/void", with("void v;"), with("void v() { }"));
    rows
}

fn errors(text: &str) -> Vec<(&'static str, String)> {
    let kind = match text.starts_with('<') {
        true => FileKind::Xml,
        false => FileKind::Xta,
    };
    let model = Model::new(&SourceFile::parse(text, kind), &BTreeMap::new());
    let list = model.diagnostics().iter();
    let list = list.filter(|d| d.severity == Severity::Error);
    let mut out: Vec<_> = list.map(|d| (d.code, d.message.clone())).collect();
    // Errors of instantiation count as well.
    if out.is_empty()
        && let Err(more) = model.network()
    {
        out.extend(more.into_iter().map(|d| (d.code, d.message)));
    }
    out
}

#[test]
fn each_rule_rejects_its_text_and_accepts_the_nearest() {
    let mut wrong = Vec::new();
    for (code, reject, accept) in rows() {
        let found = errors(&reject);
        if !found.iter().any(|(c, _)| *c == code) {
            wrong.push(format!(
                "{code} does not reject, found {found:?} in\n{reject}"
            ));
        }
        let found = errors(&accept);
        if !found.is_empty() {
            wrong.push(format!("{code}: {found:?} in\n{accept}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
}

#[test]
fn every_error_has_a_row() {
    let rows = rows();
    let known: BTreeSet<&str> = rows
        .iter()
        .map(|r| r.0)
        .chain(ELSEWHERE.iter().map(|e| e.0))
        .collect();
    let all = codes().iter().filter(|(_, s)| *s == Severity::Error);
    let missing: Vec<&str> = all.map(|c| c.0).filter(|c| !known.contains(c)).collect();
    assert_eq!(missing, [""; 0]);
    let errors: BTreeSet<&str> = codes()
        .iter()
        .filter(|(_, s)| *s == Severity::Error)
        .map(|c| c.0)
        .collect();
    let strange: Vec<&&str> = known.iter().filter(|c| !errors.contains(**c)).collect();
    assert!(strange.is_empty(), "{strange:?} are no errors");
}
