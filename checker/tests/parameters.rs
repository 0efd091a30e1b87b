//! Parameters of templates that are assigned to, and constants that are passed by reference.

use crate::common;

use common::Verify;

use zonelens_analysis::report::{Options, SymmetryOption, Verdict};

fn check(model: &str, queries: &[(&str, Verdict)]) {
    let loaded = common::xta(model);
    for symmetry in [SymmetryOption::Auto, SymmetryOption::Off] {
        let options = Options {
            symmetry,
            audit_symmetry: symmetry == SymmetryOption::Auto,
            ..Options::default()
        };
        for (query, verdict) in queries {
            let report = loaded.verify(query, &options);
            assert_eq!(report.verdict, *verdict, "{query}: {:?}", report.reason);
        }
    }
}

/// Each process has its own parameter, whatever the others do with theirs.
#[test]
fn a_parameter_by_value_is_a_variable_of_the_process() {
    let model = "int v; process P(int[0,5] a, int &r) { state S; init S; trans \
         S -> S { guard a < 4; assign a += 2, r = a; }; } A = P(0, v); B = P(1, v); system A, B;";
    check(
        model,
        &[
            ("E<> A.a == 4 && B.a == 1 && v == 4", Verdict::Satisfied),
            ("E<> A.a == 4 && B.a == 5 && v == 5", Verdict::Satisfied),
            ("E<> A.a == 1 || B.a == 2 || v == 1", Verdict::Violated),
        ],
    );
    let leaves = model.replace("a < 4", "a < 5");
    let report = common::xta(&leaves).verify("A[] v <= 5", &Options::default());
    assert_eq!(report.verdict, Verdict::Error, "{:?}", report.reason);
}

/// Sizes and initial values come from the argument; functions and arrays write parameters too.
#[test]
fn functions_write_parameters_of_every_shape() {
    let model = "typedef struct { int n; bool b; } R; const int list[2] = { 3, 4 }; const R r = { 7, true }; \
         void twice(int &n) { n = 2 * n; } \
         process P(int size, int a[2], R s) { int own[4] = { size, size, 0, 0 }; \
         void all() { int k; for (k = 0; k < 2; k++) a[k]++; s.n = a[0]; s.b = false; } \
         state S, T, U; init S; trans S -> T { assign twice(size); }, T -> U { guard s.b; assign all(); }; } \
         Q = P(2, list, r); system Q;";
    check(
        model,
        &[
            (
                "E<> Q.T && Q.size == 4 && Q.own[1] == 2",
                Verdict::Satisfied,
            ),
            (
                "E<> Q.U && Q.a[0] == 4 && Q.a[1] == 5 && Q.s.n == 4",
                Verdict::Satisfied,
            ),
            ("E<> Q.U && (list[0] != 3 || Q.s.b)", Verdict::Violated),
        ],
    );
}

/// There is one process per value; later its parameter may have another value.
#[test]
fn free_parameters_may_change() {
    let family = |ty: &str, update: &str| {
        format!(
            "typedef {ty} id_t; id_t last; bool some; process P(id_t i) {{ state A, B; init A; trans \
             A -> B {{ guard some; assign i = last; }}, A -> B {{ assign some = true, {update}; }}; }} system P;"
        )
    };
    for (ty, update) in [
        ("scalar[3]", "last = i"),
        ("int[0,2]", "last = i"),
        ("int[0,2]", "last = 2 - i, i = 1"),
    ] {
        check(
            &family(ty, update),
            &[
                (
                    "E<> forall (k : id_t) P(k).B && P(k).i == last",
                    Verdict::Satisfied,
                ),
                (
                    "E<> exists (k : id_t) P(k).A && P(k).i != k",
                    Verdict::Violated,
                ),
                (
                    "E<> exists (k : id_t) P(k).B && P(k).i != k",
                    Verdict::Satisfied,
                ),
            ],
        );
    }
}

/// In the 3.x syntax such a parameter refers to the variable that is passed, if there is one.
#[test]
fn old_parameters_stand_for_variables_or_start_with_values() {
    let model = "int g; const N 3; process P(int a; const b) { state S; init S; trans \
         S -> S { guard a < 3; assign a := a + b; }; } P1 := P(N, 2); P2 := P(1, 2); P3 := P(g, 2); system P1, P2, P3;";
    check(
        model,
        &[
            ("E<> P2.a == 3", Verdict::Satisfied),
            ("E<> P3.a == 4 && g == 4", Verdict::Satisfied),
            ("E<> P1.a != 3", Verdict::Violated),
        ],
    );
}

#[test]
fn constants_are_passed_by_reference() {
    let model = "const int N = 3; const int A[2] = { 5, 3 }; int v = 3; \
         bool three(const int &a) { return a == 3; } int second(const int &a[2]) { return a[1]; } \
         process P(const int i, int j) { bool same(const int &a) { return a == i; } state S, T; init S; trans \
         S -> T { guard three(N) && three(v) && three(i) && three(j) && three(A[1]) && same(N) && second(A) == 3; }; } \
         Q = P(3, A[1]); R = P(4, 3); system Q, R;";
    check(
        model,
        &[
            ("E<> Q.T", Verdict::Satisfied),
            ("E<> R.T", Verdict::Violated),
        ],
    );
}
