//! The outline of a document.

use super::*;
use crate::document_symbol::{Symbol, symbols};
use expect_test::{Expect, expect};

fn tree(list: &[Symbol], depth: usize, out: &mut String) {
    for symbol in list {
        let kind = symbol.kind.map_or("query", |k| k.word());
        let indent = "  ".repeat(depth);
        let (full, name) = (symbol.full, symbol.name_span);
        assert!(
            full.start <= name.start && name.end <= full.end,
            "the name lies inside"
        );
        out.push_str(&format!(
            "{indent}{} ({kind}) {}\n",
            symbol.name, symbol.detail
        ));
        tree(&symbol.children, depth + 1, out);
    }
}

#[track_caller]
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let mut out = String::new();
    tree(&symbols(&fixture.names()), 0, &mut out);
    expected.assert_eq(&out);
}

#[test]
fn declarations_in_order() {
    check(
        r#"
int a, b;
const int N = 3;
clock x;
chan go;
typedef int[0,N] id;
"#,
        expect![[r#"
            a (variable) int a
            b (variable) int b
            N (constant) const int N = 3
            x (clock) clock x
            go (channel) chan go
            id (type) typedef int[0,N] id
        "#]],
    );
}

#[test]
fn a_template_holds_its_members() {
    check(
        r#"
process P(const int i) { clock x; int n; state s, t; init s; trans s -> t { select k : int[0,1]; guard k == i; }; }
system P;
"#,
        expect![[r#"
            P (template) process P(const int i)
              i (parameter) const int i
              s (location) s
              t (location) t
              x (clock) clock x
              n (variable) int n
        "#]],
    );
}

#[test]
fn locals_of_a_function_are_left_out() {
    check(
        "int f(int n) { int m = 2; return n * m; }",
        expect![[r#"
        f (function) int f(int n)
    "#]],
    );
}

#[test]
fn a_function_inside_a_template() {
    check(
        r#"
process P() { int f() { return 1; } state s; init s; }
system P;
"#,
        expect![[r#"
            P (template) process P()
              s (location) s
              f (function) int f()
        "#]],
    );
}

#[test]
fn processes() {
    check(
        r#"
process P(const int i) { state s; init s; }
A = P(1);
system A;
"#,
        expect![[r#"
            P (template) process P(const int i)
              i (parameter) const int i
              s (location) s
            A (process) A = P(1);
        "#]],
    );
}

#[test]
fn queries_stand_where_they_stand() {
    check(
        r#"
int a;
//@ query E<> a > 1
int b;
"#,
        expect![[r#"
            a (variable) int a
            E<> a > 1 (query) query
            b (variable) int b
        "#]],
    );
}

#[test]
fn a_struct() {
    check(
        r#"
typedef struct { int a; bool b; } pair;
pair p;
"#,
        expect![[r#"
            pair (type) typedef struct { int a; bool b; } pair
            p (variable) pair p
        "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.q
/* about P */
E<> P.t
A[] not deadlock
//- m.xta
int n;
"#,
        expect![[r#"
            E<> P.t (query) query
            A[] not deadlock (query) query
        "#]],
    );
}

#[test]
fn an_empty_file() {
    check("", expect![[""]]);
}

#[test]
fn only_comments() {
    check(
        r#"
// nothing
/* at all */
"#,
        expect![[""]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
int m;
process P( {
int k;
"#,
        expect![[r#"
            m (variable) int m
            P (template) process P()
              k (variable) int k
        "#]],
    );
}

#[test]
fn a_template_that_is_being_written() {
    check(
        r#"
int n;
process P() { state s; init s; trans s -> 
"#,
        expect![[r#"
            n (variable) int n
            P (template) process P()
              s (location) s
        "#]],
    );
}

#[test]
fn an_xml_file() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>int n; clock x;</declaration>
<template><name>P</name><parameter>const int i</parameter>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
<queries><query><formula>E&lt;&gt; P.s</formula></query></queries>
</nta>
"#,
        expect![[r#"
            n (variable) int n
            x (clock) clock x
            P (template) process P(const int i)
              i (parameter) const int i
              s (location) s
              t (location) t
            E<> P.s (query) query
        "#]],
    );
}

#[test]
fn unnamed_locations_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration></declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"/>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            P (template) process P()
              s (location) s
              _id1 (location) _id1
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        r#"
/* 𝄞 */ int a; // é
int b;
"#,
        expect![[r#"
            a (variable) int a
            b (variable) int b
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int a;\r\nprocess P() {\r\n    state s;\r\n    init s;\r\n}\r\nsystem P;\r\n",
        expect![[r#"
            a (variable) int a
            P (template) process P()
              s (location) s
        "#]],
    );
}
