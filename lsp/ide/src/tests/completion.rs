//! What can be written at the cursor: names, then the keywords beyond those of expressions.

use super::*;
use crate::completion::proposals;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let mut names = Vec::new();
    let mut others = Vec::new();
    for proposal in proposals(&fixture.names(), fixture.offset()) {
        match proposal.kind {
            Some(kind) => names.push(format!(
                "{} ({}) {}\n",
                proposal.label,
                kind.word(),
                proposal.detail
            )),
            None => others.push(proposal.label),
        }
    }
    let rest: Vec<&str> = others.iter().skip(9).map(String::as_str).collect();
    if !rest.is_empty() {
        names.push(format!("and {}\n", rest.join(", ")));
    }
    expected.assert_eq(&names.concat());
}

#[test]
fn names_of_the_file() {
    check(
        r#"
int a;
const int B = 1;
int c = $0;
"#,
        expect![[r#"
            a (variable) int a
            B (constant) const int B = 1
            and bool, broadcast chan, chan, clock, const int, int, meta, process, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update, process …
        "#]],
    );
}

#[test]
fn a_word_that_is_half_written() {
    check(
        r#"
int apple;
int c = ap$0;
"#,
        expect![[r#"
            apple (variable) int apple
            c (variable) int c = ap
            and bool, broadcast chan, chan, clock, const int, int, meta, process, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update, process …
        "#]],
    );
}

#[test]
fn fields_after_a_dot() {
    check(
        r#"
typedef struct { int a; bool b; } pair;
pair p;
void f() { p.$0 }
"#,
        expect![[r#"
            a (field) int a
            b (field) bool b
        "#]],
    );
}

#[test]
fn fields_after_a_dot_and_a_letter() {
    check(
        r#"
typedef struct { int a; bool b; } pair;
pair p;
void f() { p.a$0 = 1; }
"#,
        expect![[r#"
            a (field) int a
            b (field) bool b
        "#]],
    );
}

#[test]
fn fields_of_an_element() {
    check(
        r#"
typedef struct { int a; } one;
one p[3];
void f() { p[1].$0 }
"#,
        expect![[r#"
            a (field) int a
        "#]],
    );
}

#[test]
fn fields_of_fields() {
    check(
        r#"
typedef struct { int a; } one;
typedef struct { one x; } two;
two p;
void f() { p.x.$0 }
"#,
        expect![[r#"
            a (field) int a
        "#]],
    );
}

#[test]
fn members_of_a_process_in_a_query() {
    check(
        r#"
process P() { clock x; state s, t; init s; }
system P;
//@ query E<> P.$0
"#,
        expect![[r#"
            s (location) s
            t (location) t
            x (clock) clock x
        "#]],
    );
}

#[test]
fn members_of_a_process_with_arguments() {
    check(
        r#"
process P(const int[0,3] i) { clock x; state s; init s; }
system P;
//@ query E<> P(2).$0
"#,
        expect![[r#"
            i (parameter) const int[0,3] i
            s (location) s
            x (clock) clock x
        "#]],
    );
}

#[test]
fn names_inside_a_template() {
    check(
        r#"
int g;
process P(const int[0,3] i) {
    clock x;
    state s;
    init s;
    trans s -> s { guard $0 };
}
system P;
"#,
        expect![[r#"
            i (parameter) const int[0,3] i
            s (location) s
            x (clock) clock x
            g (variable) int g
            P (template) process P(const int[0,3] i)
            and assign, bool, branchpoint, clock, commit, const int, guard, init, int, select, state, sync, trans, typedef, urgent, probability, edge
        "#]],
    );
}

#[test]
fn a_select_variable_is_in_scope_on_its_edge() {
    check(
        r#"
process P() { state s; init s; trans s -> s { select i : int[0,3]; guard $0i > 1; }; }
system P;
"#,
        expect![[r#"
            i (bound variable) i : int[0,3]
            s (location) s
            P (template) process P()
            and assign, bool, branchpoint, clock, commit, const int, guard, init, int, select, state, sync, trans, typedef, urgent, probability, edge
        "#]],
    );
}

#[test]
fn an_inner_name_hides_an_outer_one() {
    check(
        r#"
int x;
process P() { clock x; state s; init s; trans s -> s { guard $0x > 1; }; }
system P;
"#,
        expect![[r#"
            s (location) s
            x (clock) clock x
            P (template) process P()
            and assign, bool, branchpoint, clock, commit, const int, guard, init, int, select, state, sync, trans, typedef, urgent, probability, edge
        "#]],
    );
}

#[test]
fn another_template_is_not_in_scope() {
    check(
        r#"
process P() { clock x; state s; init s; }
process Q() { clock y; state t; init t; trans t -> t { guard $0y > 1; }; }
system P, Q;
"#,
        expect![[r#"
            t (location) t
            y (clock) clock y
            P (template) process P()
            Q (template) process Q()
            and assign, bool, branchpoint, clock, commit, const int, guard, init, int, select, state, sync, trans, typedef, urgent, probability, edge
        "#]],
    );
}

#[test]
fn keywords_of_a_function() {
    check(
        "int f(int n) { int m; re$0 }",
        expect![[r#"
        m (variable) int m
        f (function) int f(int n)
        n (parameter) int n
        and for, while, do, if, else, return, int, bool, assert
    "#]],
    );
}

#[test]
fn keywords_of_the_top_level() {
    check(
        r#"
int a;
$0
"#,
        expect![[r#"
            a (variable) int a
            and bool, broadcast chan, chan, clock, const int, int, meta, process, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update, process …
        "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
process P( {
$0
"#,
        expect![[r#"
            P (template) process P()
            and bool, broadcast chan, chan, clock, const int, int, meta, process, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update, process …
        "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.xta
int n;
process P() { state s; init s; }
system P;
//- m.q
E<> $0
"#,
        expect![[r#"
            n (variable) int n
            P (template) process P()
            and A[], E<>, A<>, E[], -->, deadlock, sup:, inf:
        "#]],
    );
}

#[test]
fn members_in_a_query_file() {
    check(
        r#"
//- m.xta
int n;
process P() { state s, t; init s; }
system P;
//- m.q
E<> P.$0
"#,
        expect![[r#"
            s (location) s
            t (location) t
        "#]],
    );
}

#[test]
fn a_query_file_without_a_model() {
    check(
        r#"
//- m.q
E<> $0
"#,
        expect![[r#"
            and A[], E<>, A<>, E[], -->, deadlock, sup:, inf:
        "#]],
    );
}

#[test]
fn a_guard_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>clock x; int n;</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt; $0n</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            s (location) s
            t (location) t
            x (clock) clock x
            n (variable) int n
            P (template) process P()
        "#]],
    );
}

#[test]
fn a_formula_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration></declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
<queries><query><formula>E&lt;&gt; P.$0s</formula></query></queries>
</nta>
"#,
        expect![[r#"
            s (location) s
            t (location) t
        "#]],
    );
}

#[test]
fn after_a_character_outside_the_basic_plane() {
    check(
        "/* 𝄞 */ int a; int b = $0a;",
        expect![[r#"
        a (variable) int a
        b (variable) int b = a
        and bool, broadcast chan, chan, clock, const int, int, meta, process, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update, process …
    "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int a;\r\nint b = $0;\r\n",
        expect![[r#"
        a (variable) int a
        and bool, broadcast chan, chan, clock, const int, int, meta, process, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update, process …
    "#]],
    );
}

#[test]
fn a_dot_after_a_number() {
    check("int a = 1.$0;", expect![[""]]);
}
