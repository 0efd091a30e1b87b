//! What the text leaves out.

use super::*;
use crate::inlay_hint::hints;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let mut text = fixture.text();
    for hint in hints(&fixture.at, fixture.span).iter().rev() {
        text.insert_str(hint.offset as usize, &format!("«{}»", hint.label));
    }
    expected.assert_eq(&text.replace('\r', "␍"));
}

#[test]
fn the_range_of_a_plain_int() {
    check(
        r#"
int n;
int[0,3] m;
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            int«[-32768, 32767]» n;
            int[0,3] m;
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn a_constant_has_no_range() {
    check(
        r#"
const int N = 3;
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            const int N = 3;
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn the_size_of_an_array() {
    check(
        r#"
const int N = 3;
bool a[N + 1];
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            const int N = 3;
            bool a[N + 1«= 4»];
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn a_written_size_needs_no_hint() {
    check(
        r#"
bool a[4];
bool b[(4)];
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            bool a[4];
            bool b[(4)];
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn an_array_over_a_type() {
    check(
        r#"
typedef int[0,4] id;
bool a[id];
bool b[id][int[1,2]];
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            typedef int[0,4] id;
            bool a[id«= 5»];
            bool b[id«= 5»][int[1,2]«= 2»];
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn how_many_processes_a_name_stands_for() {
    check(
        r#"
process P(const int[0,3] i) { state s; init s; }
system P;
"#,
        expect![[r#"
            process P(const int[0,3] i) { state s; init s; }
            system P«×4»;
        "#]],
    );
}

#[test]
fn one_process_needs_no_hint() {
    check(
        r#"
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn several_names_of_the_system_line() {
    check(
        r#"
process P(const int[0,3] i) { state s; init s; }
process Q() { state s; init s; }
system P, Q;
"#,
        expect![[r#"
            process P(const int[0,3] i) { state s; init s; }
            process Q() { state s; init s; }
            system P«×4», Q;
        "#]],
    );
}

#[test]
fn declarations_of_a_template() {
    check(
        r#"
process P() { int n; bool a[int[0,2]]; state s; init s; }
system P;
"#,
        expect![[r#"
            process P() { int«[-32768, 32767]» n; bool a[int[0,2]«= 3»]; state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn a_typedef_of_a_plain_int() {
    check(
        r#"
typedef int number;
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            typedef int«[-32768, 32767]» number;
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn only_the_part_that_is_asked_for() {
    check(
        r#"
int a;
$0int b;
$0int c;
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            int a;
            int«[-32768, 32767]» b;
            int c;
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
int m;
const int N = 2;
bool a[N];
process P( {
"#,
        expect![[r#"
            int n = ;
            int«[-32768, 32767]» m;
            const int N = 2;
            bool a[N];
            process P( {
        "#]],
    );
}

#[test]
fn a_size_that_is_not_known() {
    check(
        r#"
bool a[N];
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            bool a[N];
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.q
E<> P.s
"#,
        expect![[r#"
            E<> P.s
        "#]],
    );
}

#[test]
fn an_xml_file() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>int n; const int N = 3; bool a[N];</declaration>
<template><name>P</name><parameter>const int[0,2] i</parameter>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            <?xml version="1.0" encoding="utf-8"?>
            <nta>
            <declaration>int«[-32768, 32767]» n; const int N = 3; bool a[N«= 3»];</declaration>
            <template><name>P</name><parameter>const int[0,2] i</parameter>
            <location id="id0"><name>s</name></location>
            <location id="id1"><name>t</name></location>
            <init ref="id0"/>
            <transition><source ref="id0"/><target ref="id1"/></transition>
            </template>
            <system>system P«×3»;</system>
            </nta>
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        r#"
/* 𝄞 */ int n; /* é */
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            /* 𝄞 */ int«[-32768, 32767]» n; /* é */
            process P() { state s; init s; }
            system P;
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int n;\r\nbool a[int[0,2]];\r\nprocess P() { state s; init s; }\r\nsystem P;\r\n",
        expect![[r#"
            int«[-32768, 32767]» n;␍
            bool a[int[0,2]«= 3»];␍
            process P() { state s; init s; }␍
            system P;␍
        "#]],
    );
}
