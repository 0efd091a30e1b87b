//! The uses of a name in its document.

use super::*;
use crate::names::highlights;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let found = highlights(&fixture, &fixture.at, fixture.offset());
    let note = |(span, writes)| (span, if writes { "write" } else { "read" }.to_owned());
    let notes: Vec<_> = found.into_iter().map(note).collect();
    expected.assert_eq(&annotated(&fixture.at, &notes));
}

#[test]
fn reads_and_writes() {
    check(
        r#"
int n;
void f() { $0n = n + 1; n++; }
"#,
        expect![[r#"
            int n;
                ^ write
            void f() { n = n + 1; n++; }
                       ^ write
                           ^ read
                                  ^ write
        "#]],
    );
}

#[test]
fn compound_assignments_write() {
    check(
        r#"
int n;
void f() { $0n += 2; n <<= 1; }
"#,
        expect![[r#"
            int n;
                ^ write
            void f() { n += 2; n <<= 1; }
                       ^ write
                               ^ write
        "#]],
    );
}

#[test]
fn a_clock_that_is_reset() {
    check(
        r#"
process P() { clock x; state s { $0x <= 3 }; init s; trans s -> s { guard x > 1; assign x = 0; }; }
system P;
"#,
        expect![[r#"
            process P() { clock x; state s { x <= 3 }; init s; trans s -> s { guard x > 1; assign x = 0; }; }
                                ^ write
                                             ^ read
                                                                                    ^ read
                                                                                                  ^ write
        "#]],
    );
}

#[test]
fn an_array_element_writes_the_array() {
    check(
        r#"
int a[3];
int i;
void f() { $0a[i] = a[0]; }
"#,
        expect![[r#"
            int a[3];
                ^ write
            void f() { a[i] = a[0]; }
                       ^ write
                              ^ read
        "#]],
    );
}

#[test]
fn the_index_is_read() {
    check(
        r#"
int a[3];
int i;
void f() { a[$0i] = 1; }
"#,
        expect![[r#"
            int i;
                ^ write
            void f() { a[i] = 1; }
                         ^ read
        "#]],
    );
}

#[test]
fn a_field() {
    check(
        r#"
typedef struct { int a; int b; } pair;
pair p;
void f() { p.$0a = p.b; p.b = p.a; }
"#,
        expect![[r#"
            typedef struct { int a; int b; } pair;
                                 ^ write
            void f() { p.a = p.b; p.b = p.a; }
                         ^ write
                                          ^ read
        "#]],
    );
}

#[test]
fn an_inner_name_hides_an_outer_one() {
    check(
        r#"
int x;
void f() { x = 1; }
void g() { int x; $0x = 2; }
"#,
        expect![[r#"
            void g() { int x; x = 2; }
                           ^ write
                              ^ write
        "#]],
    );
}

#[test]
fn a_location() {
    check(
        r#"
process P() { state $0s, t; init s; trans s -> t { }, t -> s { }; }
system P;
"#,
        expect![[r#"
            process P() { state s, t; init s; trans s -> t { }, t -> s { }; }
                                ^ write
                                           ^ read
                                                    ^ read
                                                                     ^ read
        "#]],
    );
}

#[test]
fn an_embedded_query() {
    check(
        r#"
int n;
process P() { state s; init s; }
system P;
//@ query E<> $0n > 1
"#,
        expect![[r#"
            int n;
                ^ write
            //@ query E<> n > 1
                          ^ read
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
E<> $0n > 1 && n < 3
"#,
        expect![[r#"
            E<> n > 1 && n < 3
                ^ read
                         ^ read
        "#]],
    );
}

#[test]
fn the_cursor_at_the_end_of_a_word() {
    check(
        r#"
int abc;
void f() { abc$0 = 1; }
"#,
        expect![[r#"
            int abc;
                ^^^ write
            void f() { abc = 1; }
                       ^^^ write
        "#]],
    );
}

#[test]
fn a_cursor_in_a_comment() {
    check("int n; /* $0n */", expect![[""]]);
}

#[test]
fn a_keyword() {
    check(
        r#"
int n;
$0void f() { n = 1; }
"#,
        expect![[""]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
void f() { $0n = n + ; }
"#,
        expect![[""]],
    );
}

#[test]
fn labels_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>clock x;</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">$0x &gt; 1</label><label kind="assignment">x = 0</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            <declaration>clock x;</declaration>
                               ^ write
            <transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt; 1</label><label kind="assignment">x = 0</label></transition>
                                                                                  ^ read
                                                                                                                           ^ write
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        "/* 𝄞 */ int n; void f() { $0n = 1; }",
        expect![[r#"
        /* 𝄞 */ int n; void f() { n = 1; }
                    ^ write
                                  ^ write
    "#]],
    );
}
