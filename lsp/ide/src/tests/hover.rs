//! What a name stands for.

use super::*;
use crate::hover::hover;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let found = hover(&fixture, &fixture.at, fixture.offset());
    let shown = match found {
        Some((span, text)) => format!(
            "{}{text}\n",
            annotated(&fixture.at, &[(span, String::new())])
        ),
        None => "nothing\n".to_owned(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn a_variable_with_its_range() {
    check(
        r#"
int[0,5] count$0er = 2;
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            int[0,5] counter = 2;
                     ^^^^^^^
            ```xta
            int[0,5] counter = 2
            ```
            variable

            0 … 5, initially 2
        "#]],
    );
}

#[test]
fn a_constant_whose_value_is_computed() {
    check(
        r#"
const int A = 2;
const int B = A * 3 + 1;
int x[$0B];
"#,
        expect![[r#"
            int x[B];
                  ^
            ```xta
            const int B = A * 3 + 1
            ```
            constant

            value 7
        "#]],
    );
}

#[test]
fn a_constant_whose_value_is_written() {
    check(
        "const int $0A = 2;",
        expect![[r#"
        const int A = 2;
                  ^
        ```xta
        const int A = 2
        ```
        constant
    "#]],
    );
}

#[test]
fn the_comment_above_a_declaration() {
    check(
        r#"
// How many wait.
// Never negative.
int $0n;
"#,
        expect![[r#"
            int n;
                ^
            ```xta
            int n
            ```
            variable

            How many wait.
            Never negative.
        "#]],
    );
}

#[test]
fn a_pragma_above_is_no_comment() {
    check(
        r#"
//@ allow lint/never-read
int $0n;
"#,
        expect![[r#"
            int n;
                ^
            ```xta
            int n
            ```
            variable
        "#]],
    );
}

#[test]
fn the_cursor_at_the_end_of_a_word() {
    check(
        "int abc$0;",
        expect![[r#"
        int abc;
            ^^^
        ```xta
        int abc
        ```
        variable
    "#]],
    );
}

#[test]
fn a_cursor_in_a_comment() {
    check(
        "int abc; // abc$0",
        expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn a_keyword() {
    check(
        r#"
pro$0cess P() { state s; init s; }
system P;
"#,
        expect![[r#"
            nothing
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
            nothing
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
            process P() { clock x; state s; init s; trans s -> s { guard x > 1; }; }
                                                                         ^
            ```xta
            clock x
            ```
            clock of template `P`
        "#]],
    );
}

#[test]
fn a_select_variable() {
    check(
        r#"
process P() { state s; init s; trans s -> s { select i : int[0,3]; guard $0i > 1; }; }
system P;
"#,
        expect![[r#"
            process P() { state s; init s; trans s -> s { select i : int[0,3]; guard i > 1; }; }
                                                                                     ^
            ```xta
            i : int[0,3]
            ```
            bound variable of template `P`
        "#]],
    );
}

#[test]
fn a_field_of_a_struct() {
    check(
        r#"
typedef struct { int[0,3] a; bool b; } pair;
pair p;
void f() { p.$0b = true; }
"#,
        expect![[r#"
            void f() { p.b = true; }
                         ^
            ```xta
            bool b
            ```
            field
        "#]],
    );
}

#[test]
fn a_template_with_the_number_of_its_processes() {
    check(
        r#"
process $0P(const int[0,3] i) { state s; init s; }
system P;
"#,
        expect![[r#"
            process P(const int[0,3] i) { state s; init s; }
                    ^
            ```xta
            process P(const int[0,3] i)
            ```
            template

            4 processes in the system
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
            process P(const int[0,3] i) { state s; init s; trans s -> s { guard i > 1; }; }
                                                                                ^
            ```xta
            const int[0,3] i
            ```
            parameter of template `P`
        "#]],
    );
}

#[test]
fn a_location() {
    check(
        r#"
process P() { clock x; state s { x <= 3 }, t; init s; trans s -> $0t { }; }
system P;
"#,
        expect![[r#"
            process P() { clock x; state s { x <= 3 }, t; init s; trans s -> t { }; }
                                                                             ^
            ```xta
            t
            ```
            location of template `P`
        "#]],
    );
}

#[test]
fn a_scalarset() {
    check(
        r#"
typedef scalar[3] $0pid;
int n[pid];
process P(const pid i) { state s; init s; }
system P;
"#,
        expect![[r#"
            typedef scalar[3] pid;
                              ^^^
            ```xta
            typedef scalar[3] pid
            ```
            type

            scalarset of 3 elements; states that differ only by exchanging elements are explored once
        "#]],
    );
}

#[test]
fn a_function() {
    check(
        r#"
int twice(int n) { return n * 2; }
int m = 0;
void g() { m = $0twice(3); }
"#,
        expect![[r#"
            void g() { m = twice(3); }
                           ^^^^^
            ```xta
            int twice(int n)
            ```
            function
        "#]],
    );
}

#[test]
fn a_name_in_a_query_file() {
    check(
        r#"
//- m.xta
process P() { clock x; state s, t; init s; trans s -> t { guard x > 1; }; }
system P;
//- m.q
E<> P.$0t
"#,
        expect![[r#"
            E<> P.t
                  ^
            ```xta
            t
            ```
            location of template `P`
        "#]],
    );
}

#[test]
fn a_template_in_an_embedded_query() {
    check(
        r#"
process P() { state s; init s; }
system P;
//@ query E<> $0P.s
"#,
        expect![[r#"
            //@ query E<> P.s
                          ^
            ```xta
            process P()
            ```
            template

            1 process in the system
        "#]],
    );
}

#[test]
fn a_query_file_without_a_model() {
    check(
        r#"
//- m.q
E<> P.$0t
"#,
        expect![[r#"
            nothing
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
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">$0x &gt; 1</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            <transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt; 1</label></transition>
                                                                                  ^
            ```xta
            clock x
            ```
            clock
        "#]],
    );
}

#[test]
fn a_source_in_xml_is_its_location() {
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
</nta>
"#,
        expect![[r#"
            <transition><source ref="id0"/><target ref="id1"/></transition>
                        ^^^^^^^^^^^^^^^^^^^
            ```xta
            s
            ```
            location of template `P`
        "#]],
    );
}

#[test]
fn after_characters_outside_the_basic_plane() {
    check(
        "/* 𝄞𝄞 */ int a; /* é */ int $0b;",
        expect![[r#"
        /* 𝄞𝄞 */ int a; /* é */ int b;
                                    ^
        ```xta
        int b
        ```
        variable
    "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "// The count.\r\nint n;\r\nint m[2];\r\nvoid f() { m[0] = $0n; }\r\n",
        expect![[r#"
            void f() { m[0] = n; }
                              ^
            ```xta
            int n
            ```
            variable

            The count.
        "#]],
    );
}

#[test]
fn a_channel() {
    check(
        "urgent broadcast chan $0go[3];",
        expect![[r#"
        urgent broadcast chan go[3];
                              ^^
        ```xta
        urgent broadcast chan go[3]
        ```
        channel
    "#]],
    );
}
