//! Who calls which function, and what a function or template calls.

use super::*;
use crate::call_hierarchy::{Call, incoming, outgoing, prepare};
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let names = fixture.names();
    let Some(caller) = prepare(&names, fixture.offset()) else {
        expected.assert_eq("nothing to call\n");
        return;
    };
    let mut out = format!("{}: {}\n", caller.name, caller.detail);
    // Places are in the caller: the other end of incoming calls, this one of outgoing calls.
    let mut add = |heading: &str, calls: Vec<Call>, of_other: bool| {
        for call in calls {
            out.push_str(&format!("{heading} {}\n", call.other.name));
            let notes: Vec<(Span, String)> =
                call.places.iter().map(|p| (*p, String::new())).collect();
            let home = match of_other {
                true => &call.other.target.snapshot,
                false => &caller.target.snapshot,
            };
            out.push_str(&annotated(home, &notes));
        }
    };
    add("called by", incoming(&names, fixture.offset()), true);
    add("calls", outgoing(&names, fixture.offset()), false);
    expected.assert_eq(&out);
}

#[test]
fn a_function_that_calls_and_is_called() {
    check(
        r#"
int zero() { return 0; }
int o$0ne() { return zero() + 1; }
int two() { return one() + one(); }
"#,
        expect![[r#"
            one: int one()
            called by two
            int two() { return one() + one(); }
                               ^^^
                                       ^^^
            calls zero
            int one() { return zero() + 1; }
                               ^^^^
        "#]],
    );
}

#[test]
fn the_cursor_on_a_call() {
    check(
        r#"
int zero() { return 0; }
int one() { return ze$0ro() + 1; }
"#,
        expect![[r#"
            zero: int zero()
            called by one
            int one() { return zero() + 1; }
                               ^^^^
        "#]],
    );
}

#[test]
fn labels_of_a_template_call() {
    check(
        r#"
int n;
bool may() { return n < 3; }
void go$0() { n = n + 1; }
process P() {
    state s;
    init s;
    trans s -> s { guard may(); assign go(); };
}
system P;
"#,
        expect![[r#"
            go: void go()
            called by P
                trans s -> s { guard may(); assign go(); };
                                                   ^^
        "#]],
    );
}

#[test]
fn a_template_calls() {
    check(
        r#"
int n;
bool may() { return n < 3; }
void go() { n = n + 1; }
process $0P() {
    state s { may() };
    init s;
    trans s -> s { guard may(); assign go(); };
}
system P;
"#,
        expect![[r#"
            P: process P()
            calls may
                state s { may() };
                          ^^^
                trans s -> s { guard may(); assign go(); };
                                     ^^^
            calls go
                trans s -> s { guard may(); assign go(); };
                                                   ^^
        "#]],
    );
}

#[test]
fn local_functions_make_their_own_calls() {
    check(
        r#"
int n;
void go() { n = n + 1; }
process $0P() {
    void twice() { go(); go(); }
    state s;
    init s;
    trans s -> s { assign twice(); };
}
system P;
"#,
        expect![[r#"
            P: process P()
            calls twice
                trans s -> s { assign twice(); };
                                      ^^^^^
        "#]],
    );
}

#[test]
fn inside_a_local_function() {
    check(
        r#"
int n;
void go() { n = n + 1; }
process P() {
    void tw$0ice() { go(); go(); }
    state s;
    init s;
    trans s -> s { assign twice(); };
}
system P;
"#,
        expect![[r#"
            twice: void twice()
            called by P
                trans s -> s { assign twice(); };
                                      ^^^^^
            calls go
                void twice() { go(); go(); }
                               ^^
                                     ^^
        "#]],
    );
}

#[test]
fn a_recursive_function() {
    check(
        r#"
int down(int i) { return i == 0 ? 0 : do$0wn(i - 1); }
"#,
        expect![[r#"
            down: int down(int i)
            called by down
            int down(int i) { return i == 0 ? 0 : down(i - 1); }
                                                  ^^^^
            calls down
            int down(int i) { return i == 0 ? 0 : down(i - 1); }
                                                  ^^^^
        "#]],
    );
}

#[test]
fn a_shadowed_name_is_no_call() {
    check(
        r#"
int f() { return 1; }
int g$0(int f) { return f; }
"#,
        expect![[r#"
            g: int g(int f)
        "#]],
    );
}

#[test]
fn a_call_as_an_argument() {
    check(
        r#"
int in$0c(int i) { return i + 1; }
int three() { return inc(inc(inc(0))); }
"#,
        expect![[r#"
            inc: int inc(int i)
            called by three
            int three() { return inc(inc(inc(0))); }
                                 ^^^
                                     ^^^
                                         ^^^
        "#]],
    );
}

#[test]
fn a_function_that_nothing_calls() {
    check(
        r#"
void so$0lo() { }
"#,
        expect![[r#"
            solo: void solo()
        "#]],
    );
}

#[test]
fn a_variable_has_no_calls() {
    check(
        r#"
int n$0;
void f() { n = 1; }
"#,
        expect![[r#"
            nothing to call
        "#]],
    );
}

#[test]
fn calls_in_a_query_of_the_model() {
    check(
        r#"
int n;
bool lo$0w() { return n < 3; }
process P() { state s; init s; }
system P;
query { A[] low() }
"#,
        expect![[r#"
            low: bool low()
        "#]],
    );
}

#[test]
fn calls_with_a_broken_declaration_before() {
    check(
        r#"
int n = ;
void f() { }
void g$0() { f(); }
"#,
        expect![[r#"
            g: void g()
            calls f
            void g() { f(); }
                       ^
        "#]],
    );
}

#[test]
fn in_xml() {
    check(
        r#"
<nta><declaration>int n; void go() { n = 1; }</declaration><template><name>P</name><location id="id0"><name>s</name></location><init ref="id0"/><transition><source ref="id0"/><target ref="id0"/><label kind="assignment">g$0o()</label></transition></template><system>system P;</system></nta>
"#,
        expect![[r#"
            go: void go()
            called by P
            <nta><declaration>int n; void go() { n = 1; }</declaration><template><name>P</name><location id="id0"><name>s</name></location><init ref="id0"/><transition><source ref="id0"/><target ref="id0"/><label kind="assignment">go()</label></transition></template><system>system P;</system></nta>
                                                                                                                                                                                                                                       ^^
        "#]],
    );
}
