//! Where a name, its type and its processes are declared, and where it is used.

use super::*;
use crate::names::{definition, implementations, references, type_definition};
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let (at, offset) = (&fixture.at, fixture.offset());
    let found = definition(&fixture, at, offset);
    let mut shown = format!("definition\n{}", places(&fixture, found.as_slice()));
    let uses = references(&fixture, at, offset, false);
    shown.push_str(&format!("references\n{}", places(&fixture, &uses)));
    if let Some(found) = type_definition(&fixture, at, offset) {
        shown.push_str(&format!("type\n{}", places(&fixture, &[found])));
    }
    let made = implementations(&fixture, at, offset);
    if !made.is_empty() {
        shown.push_str(&format!("processes\n{}", places(&fixture, &made)));
    }
    expected.assert_eq(&shown);
}

#[test]
fn a_variable() {
    check(
        r#"
int n;
int m[2];
void f() { n = n + 1; m[0] = $0n; }
"#,
        expect![[r#"
            definition
            int n;
                ^
            references
            void f() { n = n + 1; m[0] = n; }
                       ^
                           ^
                                         ^
        "#]],
    );
}

#[test]
fn the_cursor_on_the_declaration() {
    check(
        r#"
int $0n;
void f() { n = 1; }
"#,
        expect![[r#"
            definition
            int n;
                ^
            references
            void f() { n = 1; }
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
        expect![[r#"
            definition
            int abc;
                ^^^
            references
            void f() { abc = 1; }
                       ^^^
        "#]],
    );
}

#[test]
fn between_two_names() {
    check(
        r#"
int a;
int b;
void f() { a$0=b; }
"#,
        expect![[r#"
            definition
            int a;
                ^
            references
            void f() { a=b; }
                       ^
        "#]],
    );
}

#[test]
fn a_cursor_in_a_comment() {
    check(
        "int n; // n is $0n",
        expect![[r#"
        definition
        references
    "#]],
    );
}

#[test]
fn a_keyword() {
    check(
        "in$0t n;",
        expect![[r#"
        definition
        references
    "#]],
    );
}

#[test]
fn a_number() {
    check(
        "int n = 1$02;",
        expect![[r#"
        definition
        references
    "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
int m = $0n;
process P( {
"#,
        expect![[r#"
            definition
            references
        "#]],
    );
}

#[test]
fn an_inner_name_hides_an_outer_one() {
    check(
        r#"
int x;
process P() { clock x; state s; init s; trans s -> s { guard $0x > 1; assign x = 0; }; }
system P;
"#,
        expect![[r#"
            definition
            process P() { clock x; state s; init s; trans s -> s { guard x > 1; assign x = 0; }; }
                                ^
            references
            process P() { clock x; state s; init s; trans s -> s { guard x > 1; assign x = 0; }; }
                                                                         ^
                                                                                       ^
        "#]],
    );
}

#[test]
fn the_outer_name_is_not_the_inner_one() {
    check(
        r#"
int $0x;
void f() { x = 1; }
void g() { int x; x = 2; }
"#,
        expect![[r#"
            definition
            int x;
                ^
            references
            void f() { x = 1; }
                       ^
        "#]],
    );
}

#[test]
fn a_local_of_a_block() {
    check(
        "void f() { int i; { int i; i = 1; } $0i = 2; }",
        expect![[r#"
            definition
            void f() { int i; { int i; i = 1; } i = 2; }
                           ^
            references
            void f() { int i; { int i; i = 1; } i = 2; }
                                                ^
        "#]],
    );
}

#[test]
fn a_select_variable() {
    check(
        r#"
process P() { state s; init s; trans s -> s { select i : int[0,3]; guard i > 1; assign x = $0i; }, s -> s { select i : int[0,1]; guard i == 1; }; }
system P;
"#,
        expect![[r#"
            definition
            process P() { state s; init s; trans s -> s { select i : int[0,3]; guard i > 1; assign x = i; }, s -> s { select i : int[0,1]; guard i == 1; }; }
                                                                 ^
            references
            process P() { state s; init s; trans s -> s { select i : int[0,3]; guard i > 1; assign x = i; }, s -> s { select i : int[0,1]; guard i == 1; }; }
                                                                                     ^
                                                                                                       ^
        "#]],
    );
}

#[test]
fn a_quantified_variable() {
    check(
        r#"
int a[3];
bool f() { return forall (i : int[0,2]) a[$0i] > 0 && exists (i : int[0,2]) a[i] == 1; }
"#,
        expect![[r#"
            definition
            bool f() { return forall (i : int[0,2]) a[i] > 0 && exists (i : int[0,2]) a[i] == 1; }
                                      ^
            references
            bool f() { return forall (i : int[0,2]) a[i] > 0 && exists (i : int[0,2]) a[i] == 1; }
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
pair q;
void f() { p.$0a = q.a + q.b; }
"#,
        expect![[r#"
            definition
            typedef struct { int a; int b; } pair;
                                 ^
            references
            void f() { p.a = q.a + q.b; }
                         ^
                               ^
        "#]],
    );
}

#[test]
fn fields_of_two_structs_with_one_name() {
    check(
        r#"
typedef struct { int a; } one;
typedef struct { int a; } two;
one p;
two q;
void f() { p.$0a = q.a; }
"#,
        expect![[r#"
            definition
            typedef struct { int a; } one;
                                 ^
            references
            void f() { p.a = q.a; }
                         ^
        "#]],
    );
}

#[test]
fn the_type_of_a_variable() {
    check(
        r#"
typedef int[0,3] id;
id x;
void f() { $0x = 1; }
"#,
        expect![[r#"
            definition
            id x;
               ^
            references
            void f() { x = 1; }
                       ^
            type
            typedef int[0,3] id;
                             ^^
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
        expect![[r#"
            definition
            process P(const int[0,3] i) { state s; init s; trans s -> s { guard i > 1; }; }
                                     ^
            references
            process P(const int[0,3] i) { state s; init s; trans s -> s { guard i > 1; }; }
                                                                                ^
        "#]],
    );
}

#[test]
fn a_location() {
    check(
        r#"
process P() { state s, t; init s; trans s -> $0t { }, t -> s { }; }
system P;
//@ query E<> P.t
"#,
        expect![[r#"
            definition
            process P() { state s, t; init s; trans s -> t { }, t -> s { }; }
                                   ^
            references
            process P() { state s, t; init s; trans s -> t { }, t -> s { }; }
                                                         ^
                                                                ^
            //@ query E<> P.t
                            ^
        "#]],
    );
}

#[test]
fn a_template_and_its_processes() {
    check(
        r#"
process $0P(const int i) { state s; init s; }
A = P(1);
B = P(2);
system A, B;
"#,
        expect![[r#"
            definition
            process P(const int i) { state s; init s; }
                    ^
            references
            A = P(1);
                ^
            B = P(2);
                ^
            processes
            A = P(1);
            ^
            B = P(2);
            ^
        "#]],
    );
}

#[test]
fn a_process_of_the_system_line() {
    check(
        r#"
process P() { state s; init s; }
A = P();
system $0A;
//@ query E<> A.s
"#,
        expect![[r#"
            definition
            A = P();
            ^
            references
            system A;
                   ^
            //@ query E<> A.s
                          ^
            type
            process P() { state s; init s; }
                    ^
            processes
            system A;
                   ^
        "#]],
    );
}

#[test]
fn a_template_used_in_a_query_file() {
    check(
        r#"
//- m.xta
process P() { state s, t; init s; }
system P;
//- m.q
E<> $0P.t
A[] not P.s
"#,
        expect![[r#"
            definition
            //- m.xta
            process P() { state s, t; init s; }
                    ^
            references
            //- m.xta
            system P;
                   ^
            //- m.q
            E<> P.t
                ^
            A[] not P.s
                    ^
            processes
            //- m.xta
            system P;
                   ^
        "#]],
    );
}

#[test]
fn a_location_in_a_query_file() {
    check(
        r#"
//- m.xta
process P() { state s, t; init s; trans s -> t { }; }
system P;
//- m.q
E<> P.$0t
A[] not P.t
"#,
        expect![[r#"
            definition
            //- m.xta
            process P() { state s, t; init s; trans s -> t { }; }
                                   ^
            references
            //- m.xta
            process P() { state s, t; init s; trans s -> t { }; }
                                                         ^
            //- m.q
            E<> P.t
                  ^
            A[] not P.t
                      ^
        "#]],
    );
}

#[test]
fn from_the_model_into_the_query_file() {
    check(
        r#"
//- m.xta
int $0n;
process P() { state s; init s; trans s -> s { assign n = 1; }; }
system P;
//- m.q
E<> n > 1
"#,
        expect![[r#"
            definition
            //- m.xta
            int n;
                ^
            references
            //- m.xta
            process P() { state s; init s; trans s -> s { assign n = 1; }; }
                                                                 ^
            //- m.q
            E<> n > 1
                ^
        "#]],
    );
}

#[test]
fn a_query_file_without_a_model() {
    check(
        r#"
//- m.q
E<> $0P.t
"#,
        expect![[r#"
            definition
            references
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
        expect![[r#"
            definition
            //- m.q
            E<> forall (i : int[0,2]) a[i] > 0
                        ^
            references
            //- m.q
            E<> forall (i : int[0,2]) a[i] > 0
                                        ^
        "#]],
    );
}

#[test]
fn a_function() {
    check(
        r#"
int f(int n) { return n; }
int a[2];
void g() { a[0] = $0f(1) + f(2); }
"#,
        expect![[r#"
            definition
            int f(int n) { return n; }
                ^
            references
            void g() { a[0] = f(1) + f(2); }
                              ^
                                     ^
        "#]],
    );
}

#[test]
fn a_channel() {
    check(
        r#"
chan go;
process P() { state s; init s; trans s -> s { sync $0go!; }, s -> s { sync go?; }; }
system P;
"#,
        expect![[r#"
            definition
            chan go;
                 ^^
            references
            process P() { state s; init s; trans s -> s { sync go!; }, s -> s { sync go?; }; }
                                                               ^^
                                                                                     ^^
        "#]],
    );
}

#[test]
fn a_label_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>clock x;</declaration>
<template><name>P</name>
<location id="id0"><name>s</name><label kind="invariant">x &lt;= 3</label></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">$0x &gt; 1</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            definition
            <declaration>clock x;</declaration>
                               ^
            references
            <location id="id0"><name>s</name><label kind="invariant">x &lt;= 3</label></location>
                                                                     ^
            <transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt; 1</label></transition>
                                                                                  ^
        "#]],
    );
}

#[test]
fn a_reference_by_id_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration></declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="$0id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
<queries><query><formula>E&lt;&gt; P.s</formula></query></queries>
</nta>
"#,
        expect![[r#"
            definition
            <location id="id0"><name>s</name></location>
                                     ^
            references
            <init ref="id0"/>
            ^^^^^^^^^^^^^^^^^
            <transition><source ref="id0"/><target ref="id1"/></transition>
                        ^^^^^^^^^^^^^^^^^^^
            <queries><query><formula>E&lt;&gt; P.s</formula></query></queries>
                                                 ^
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        "int a; /* 𝄞 */ int b; /* 𝄞𝄞 */ void f() { $0b = a; }",
        expect![[r#"
            definition
            int a; /* 𝄞 */ int b; /* 𝄞𝄞 */ void f() { b = a; }
                               ^
            references
            int a; /* 𝄞 */ int b; /* 𝄞𝄞 */ void f() { b = a; }
                                                      ^
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int n;\r\nvoid f() {\r\n    $0n = 1;\r\n}\r\n",
        expect![[r#"
            definition
            int n;
                ^
            references
                n = 1;
                ^
        "#]],
    );
}

#[test]
fn a_use_before_its_declaration() {
    check(
        r#"
void f() { $0n = 1; }
int n;
"#,
        expect![[r#"
            definition
            references
        "#]],
    );
}
