//! Where a new name is written, or why not.

use super::*;
use crate::rename::{prepare, rename};
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, new: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let (at, offset) = (&fixture.at, fixture.offset());
    let before = match prepare(&fixture, at, offset) {
        Some((_, name)) => format!("`{name}`:"),
        None => "not offered:".to_owned(),
    };
    let after = match rename(&fixture, at, offset, new) {
        Ok(targets) => format!("\n{}", places(&fixture, &targets)),
        Err(why) => format!(" {why}\n"),
    };
    expected.assert_eq(&(before + &after));
}

#[test]
fn a_variable() {
    check(
        r#"
int n;
void f() { n = $0n + 1; }
"#,
        "m",
        expect![[r#"
            `n`:
            int n;
                ^
            void f() { n = n + 1; }
                       ^
                           ^
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
        "d",
        expect![[r#"
            `abc`:
            int abc;
                ^^^
            void f() { abc = 1; }
                       ^^^
        "#]],
    );
}

#[test]
fn a_location_with_its_queries() {
    check(
        r#"
process P() { state s, t; init s; trans s -> $0t { }; }
system P;
//@ query E<> P.t
"#,
        "done",
        expect![[r#"
            `t`:
            process P() { state s, t; init s; trans s -> t { }; }
                                   ^
                                                         ^
            //@ query E<> P.t
                            ^
        "#]],
    );
}

#[test]
fn a_template_with_the_query_file() {
    check(
        r#"
//- m.xta
process $0P() { state s; init s; }
system P;
//- m.q
E<> P.s
A[] P.s
"#,
        "Worker",
        expect![[r#"
            `P`:
            //- m.xta
            process P() { state s; init s; }
                    ^
            system P;
                   ^
            //- m.q
            E<> P.s
                ^
            A[] P.s
                ^
        "#]],
    );
}

#[test]
fn from_the_query_file() {
    check(
        r#"
//- m.xta
int n;
process P() { state s; init s; trans s -> s { assign n = 1; }; }
system P;
//- m.q
E<> $0n > 1
"#,
        "count",
        expect![[r#"
            `n`:
            //- m.xta
            int n;
                ^
            process P() { state s; init s; trans s -> s { assign n = 1; }; }
                                                                 ^
            //- m.q
            E<> n > 1
                ^
        "#]],
    );
}

#[test]
fn a_bound_variable_of_a_query_file() {
    check(
        r#"
//- m.xta
int a[3];
process P() { state s; init s; }
system P;
//- m.q
E<> forall (i : int[0,2]) a[$0i] > 0
"#,
        "k",
        expect![[r#"
            `i`:
            //- m.q
            E<> forall (i : int[0,2]) a[i] > 0
                        ^
                                        ^
        "#]],
    );
}

#[test]
fn a_field_of_a_struct() {
    check(
        r#"
typedef struct { int a; int b; } pair;
pair p;
void f() { p.$0a = p.b; }
"#,
        "first",
        expect![[r#"
            `a`:
            typedef struct { int a; int b; } pair;
                                 ^
            void f() { p.a = p.b; }
                         ^
        "#]],
    );
}

#[test]
fn a_field_to_the_name_of_another() {
    check(
        r#"
typedef struct { int a; int b; } pair;
pair p;
void f() { p.$0a = p.b; }
"#,
        "b",
        expect![[r#"
            `a`: `b` is already declared where `a` is
        "#]],
    );
}

#[test]
fn a_field_to_the_name_of_a_variable() {
    check(
        r#"
int n;
typedef struct { int a; int b; } pair;
pair p;
void f() { p.$0a = n; }
"#,
        "n",
        expect![[r#"
            `a`:
            typedef struct { int a; int b; } pair;
                                 ^
            void f() { p.a = n; }
                         ^
        "#]],
    );
}

#[test]
fn a_select_variable() {
    check(
        r#"
process P() { state s; init s; trans s -> s { select i : int[0,3]; guard $0i > 1; }, s -> s { select i : int[0,1]; guard i == 1; }; }
system P;
"#,
        "k",
        expect![[r#"
            `i`:
            process P() { state s; init s; trans s -> s { select i : int[0,3]; guard i > 1; }, s -> s { select i : int[0,1]; guard i == 1; }; }
                                                                 ^
                                                                                     ^
        "#]],
    );
}

#[test]
fn a_parameter_of_a_process() {
    check(
        r#"
process P(const int[0,3] i) { state s; init s; trans s -> s { guard $0i > 1; }; }
system P;
"#,
        "me",
        expect![[r#"
            `i`:
            process P(const int[0,3] i) { state s; init s; trans s -> s { guard i > 1; }; }
                                     ^
                                                                                ^
        "#]],
    );
}

#[test]
fn to_a_keyword() {
    check(
        "int $0n;",
        "clock",
        expect![[r#"
        `n`: `clock` is a keyword
    "#]],
    );
}

#[test]
fn to_no_name() {
    check(
        "int $0n;",
        "1a",
        expect![[r#"
        `n`: `1a` is not a name: names are letters, digits and underscores, and do not start with a digit
    "#]],
    );
}

#[test]
fn to_nothing() {
    check(
        "int $0n;",
        "",
        expect![[r#"
        `n`: `` is not a name: names are letters, digits and underscores, and do not start with a digit
    "#]],
    );
}

#[test]
fn to_a_name_of_the_same_scope() {
    check(
        r#"
int $0n;
int m;
"#,
        "m",
        expect![[r#"
            `n`: `m` already stands for something else here
        "#]],
    );
}

#[test]
fn to_a_name_that_an_inner_scope_has() {
    check(
        r#"
int n;
void f() { int m; m = $0n; }
"#,
        "m",
        expect![[r#"
            `n`: `m` already stands for something else here
        "#]],
    );
}

#[test]
fn to_a_name_that_would_hide_an_outer_one() {
    check(
        r#"
int m;
void f() { int n; $0n = m; }
"#,
        "m",
        expect![[r#"
            `n`: `m` already stands for something else here
        "#]],
    );
}

#[test]
fn to_a_name_of_another_template() {
    check(
        r#"
process P() { state s; init s; clock $0x; }
process Q() { state t; init t; clock y; }
system P, Q;
"#,
        "y",
        expect![[r#"
            `x`:
            process P() { state s; init s; clock x; }
                                                 ^
        "#]],
    );
}

#[test]
fn a_variable_to_the_name_of_a_field() {
    check(
        r#"
int $0n;
typedef struct { int a; } one;
one p;
void f() { p.a = n; }
"#,
        "a",
        expect![[r#"
            `n`:
            int n;
                ^
            void f() { p.a = n; }
                             ^
        "#]],
    );
}

#[test]
fn to_its_own_name() {
    check(
        "int $0n;",
        "n",
        expect![[r#"
        `n`:
        int n;
            ^
    "#]],
    );
}

#[test]
fn a_keyword() {
    check(
        "in$0t n;",
        "m",
        expect![[r#"
        not offered: there is no name here that can be renamed
    "#]],
    );
}

#[test]
fn a_cursor_in_a_comment() {
    check(
        "int n; // $0n",
        "m",
        expect![[r#"
        not offered: there is no name here that can be renamed
    "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
int m = $0n;
"#,
        "k",
        expect![[r#"
            not offered: there is no name here that can be renamed
        "#]],
    );
}

#[test]
fn an_unnamed_location_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration></declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"/>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="$0id1"/></transition>
</template>
<system>system P;</system>
</nta>
"#,
        "done",
        expect![[r#"
            not offered: this location has no name yet: give it one in a `<name>` element
        "#]],
    );
}

#[test]
fn a_location_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration></declaration>
<template><name>P</name>
<location id="id0"><name>$0s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
<queries><query><formula>E&lt;&gt; P.s</formula></query></queries>
</nta>
"#,
        "start",
        expect![[r#"
            `s`:
            <location id="id0"><name>s</name></location>
                                     ^
            <queries><query><formula>E&lt;&gt; P.s</formula></query></queries>
                                                 ^
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        "/* 𝄞 */ int n; void f() { $0n = 1; }",
        "m",
        expect![[r#"
        `n`:
        /* 𝄞 */ int n; void f() { n = 1; }
                    ^
                                  ^
    "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int n;\r\nvoid f() {\r\n    $0n = 1;\r\n}\r\n",
        "m",
        expect![[r#"
            `n`:
            int n;
                ^
                n = 1;
                ^
        "#]],
    );
}
