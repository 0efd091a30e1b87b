//! Tokens coloured by what they mean.

use super::*;
use crate::semantic_tokens::{MODIFIERS, TYPES, tokens};
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let text = fixture.text();
    let whole = fixture.span == fixture.at.full_span();
    let mut out = String::new();
    for token in tokens(&fixture.names(), (!whole).then_some(fixture.span)) {
        let named = MODIFIERS.iter().enumerate();
        let named = named.filter(|(i, _)| token.modifiers & 1 << i != 0);
        let modifiers: String = named.map(|(_, m)| format!(" {m}")).collect();
        let kind = TYPES[token.kind as usize];
        out.push_str(&format!(
            "{} {kind}{modifiers}\n",
            &text[token.span.range()]
        ));
    }
    expected.assert_eq(&out);
}

#[test]
fn a_declaration() {
    check(
        "int[0,3] n = 2;",
        expect![[r#"
        int keyword
        0 number
        3 number
        n variable declaration
        2 number
    "#]],
    );
}

#[test]
fn a_constant_is_read_only() {
    check(
        r#"
const int N = 2;
int a[N];
"#,
        expect![[r#"
            const keyword
            int keyword
            N variable declaration readonly
            2 number
            int keyword
            a variable declaration
            N variable readonly
        "#]],
    );
}

#[test]
fn a_write() {
    check(
        r#"
int n;
void f() { n = n + 1; }
"#,
        expect![[r#"
            int keyword
            n variable declaration
            void keyword
            f function declaration
            n variable modification
            n variable
            1 number
        "#]],
    );
}

#[test]
fn a_clock_and_a_channel() {
    check(
        r#"
clock x;
chan go;
"#,
        expect![[r#"
            clock keyword
            x variable declaration
            chan keyword
            go event declaration
        "#]],
    );
}

#[test]
fn a_type() {
    check(
        r#"
typedef int[0,3] id;
id x;
"#,
        expect![[r#"
            typedef keyword
            int keyword
            0 number
            3 number
            id type declaration
            id type
            x variable declaration
        "#]],
    );
}

#[test]
fn a_field() {
    check(
        r#"
typedef struct { int a; } one;
one p;
void f() { p.a = 1; }
"#,
        expect![[r#"
            typedef keyword
            struct keyword
            int keyword
            a property declaration
            one type declaration
            one type
            p variable declaration
            void keyword
            f function declaration
            p variable modification
            a property modification
            1 number
        "#]],
    );
}

#[test]
fn a_template() {
    check(
        r#"
process P(const int i) { state s; init s; trans s -> s { guard i > 1; }; }
A = P(1);
system A;
"#,
        expect![[r#"
            process keyword
            P class declaration
            const keyword
            int keyword
            i parameter declaration
            state keyword
            s enumMember declaration
            init keyword
            s enumMember
            trans keyword
            s enumMember
            s enumMember
            guard keyword
            i parameter
            1 number
            A namespace declaration
            P class
            1 number
            system keyword
            A namespace
        "#]],
    );
}

#[test]
fn a_select_variable() {
    check(
        r#"
process P() { state s; init s; trans s -> s { select i : int[0,3]; guard i > 1; }; }
system P;
"#,
        expect![[r#"
            process keyword
            P class declaration
            state keyword
            s enumMember declaration
            init keyword
            s enumMember
            trans keyword
            s enumMember
            s enumMember
            select keyword
            i variable declaration readonly
            int keyword
            0 number
            3 number
            guard keyword
            i variable readonly
            1 number
            system keyword
            P class
        "#]],
    );
}

#[test]
fn names_in_an_embedded_query() {
    check(
        r#"
int n;
//@ query E<> n > 1 && deadlock
"#,
        expect![[r#"
            int keyword
            n variable declaration
            n variable
        "#]],
    );
}

#[test]
fn a_comment_has_no_tokens() {
    check(
        r#"
// int n = 2;
/* clock x; */
"#,
        expect![[""]],
    );
}

#[test]
fn unknown_names_have_none() {
    check(
        "void f() { nobody = 1; }",
        expect![[r#"
        void keyword
        f function declaration
        1 number
    "#]],
    );
}

#[test]
fn a_part_of_a_text() {
    check(
        r#"
int a;
$0int b;
int $0c;
"#,
        expect![[r#"
            int keyword
            b variable declaration
            int keyword
        "#]],
    );
}

#[test]
fn a_part_that_cuts_a_word() {
    check(
        "int abc, d$0e$0f, g;",
        expect![[r#"
        def variable declaration
    "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
process P( { n
"#,
        expect![[r#"
            int keyword
            process keyword
            P class declaration
        "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.q
E<> P.t and n > 1
A[] not deadlock
//- m.xta
int n;
process P() { state s, t; init s; }
system P;
"#,
        expect![[r#"
            P class
            t enumMember
            and keyword
            n variable
            1 number
            not keyword
            deadlock keyword
        "#]],
    );
}

#[test]
fn an_xml_file() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>clock x;</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt;= 1 &amp;&amp; true</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            clock keyword
            x variable declaration
            P class declaration
            s enumMember declaration
            t enumMember declaration
            x variable
            1 number
            true keyword
            system keyword
            P class
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
            int keyword
            a variable declaration
            int keyword
            b variable declaration
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int a;\r\nint b;\r\n",
        expect![[r#"
        int keyword
        a variable declaration
        int keyword
        b variable declaration
    "#]],
    );
}

#[test]
fn a_shadowed_name() {
    check(
        r#"
int x;
process P(const int x) { state s { x > 1 }; init s; }
system P;
"#,
        expect![[r#"
            int keyword
            x variable declaration
            process keyword
            P class declaration
            const keyword
            int keyword
            x parameter declaration
            state keyword
            s enumMember declaration
            x parameter
            1 number
            init keyword
            s enumMember
            system keyword
            P class
        "#]],
    );
}
