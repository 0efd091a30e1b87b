//! The parameters of what is being called.

use super::*;
use crate::signature_help::signature;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let shown = match signature(&fixture.names(), fixture.offset()) {
        Some(found) => {
            let active = found.parameters.get(found.active);
            format!(
                "{}\nat {} of {:?}\n",
                found.label,
                active.map_or("none", |p| p),
                found.parameters
            )
        }
        None => "nothing\n".to_owned(),
    };
    expected.assert_eq(&shown);
}

#[test]
fn the_first_argument() {
    check(
        r#"
int f(int a, bool b) { return a; }
int n[2];
void g() { n[0] = f($0); }
"#,
        expect![[r#"
            int f(int a, bool b)
            at int a of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn the_second_argument() {
    check(
        r#"
int f(int a, bool b) { return a; }
int n[2];
void g() { n[0] = f(1, $0); }
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn too_many_arguments() {
    check(
        r#"
int f(int a, bool b) { return a; }
int n[2];
void g() { n[0] = f(1, true, $0); }
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn commas_inside_brackets_do_not_count() {
    check(
        r#"
int f(int a, bool b) { return a; }
int n[2];
void g() { n[0] = f(n[g(1, 2)], $0); }
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn the_inner_call() {
    check(
        r#"
int f(int a, int b) { return a; }
int h(int c) { return c; }
int n[2];
void g() { n[0] = f(1, h($0)); }
"#,
        expect![[r#"
            int h(int c)
            at int c of ["int c"]
        "#]],
    );
}

#[test]
fn after_the_call() {
    check(
        r#"
int f(int a) { return a; }
int n[2];
void g() { n[0] = f(1)$0; }
"#,
        expect![[r#"
            nothing
        "#]],
    );
}

#[test]
fn no_parameters() {
    check(
        r#"
int f() { return 1; }
int n[2];
void g() { n[0] = f($0); }
"#,
        expect![[r#"
            int f()
            at none of []
        "#]],
    );
}

#[test]
fn a_template() {
    check(
        r#"
process P(const int i, bool b) { state s; init s; }
A = P(1, $0);
system A;
"#,
        expect![[r#"
            process P(const int i, bool b)
            at bool b of ["const int i", "bool b"]
        "#]],
    );
}

#[test]
fn a_parameter_with_commas_in_its_type() {
    check(
        r#"
int f(int[0,3] a, bool b) { return a; }
int n[2];
void g() { n[0] = f(1, $0); }
"#,
        expect![[r#"
            int f(int[0,3] a, bool b)
            at bool b of ["int[0,3] a", "bool b"]
        "#]],
    );
}

#[test]
fn a_reference() {
    check(
        r#"
void f(int &a, bool b[3]) { a = 1; }
void g() { f($0); }
"#,
        expect![[r#"
            void f(int &a, bool b[3])
            at int &a of ["int &a", "bool b[3]"]
        "#]],
    );
}

#[test]
fn a_plain_parenthesis() {
    check(
        "int a = (1 + $02);",
        expect![[r#"
        nothing
    "#]],
    );
}

#[test]
fn a_variable_is_no_function() {
    check(
        r#"
int n;
void g() { n($0); }
"#,
        expect![[r#"
            nothing
        "#]],
    );
}

#[test]
fn inside_an_index() {
    check(
        r#"
int f(int a) { return a; }
int n[2];
void g() { n[0] = f(n[$0]); }
"#,
        expect![[r#"
            nothing
        "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.xta
int f(int a, bool b) { return a; }
process P() { state s; init s; }
system P;
//- m.q
E<> f(1, $0) > 1
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn a_process_in_a_query() {
    check(
        r#"
process P(const int[0,3] i) { state s; init s; }
system P;
//@ query E<> P($0).s
"#,
        expect![[r#"
            process P(const int[0,3] i)
            at const int[0,3] i of ["const int[0,3] i"]
        "#]],
    );
}

#[test]
fn a_guard_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>int f(int a, bool b) { return a; }</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">f(1, $0) &gt; 1</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int f(int a, bool b) { return a; }
int n = ;
void g() { f(1, $0
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        r#"
int f(int a, bool b) { return a; }
void g() { f(/* 𝄞, */ $0); }
"#,
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int f(int a, bool b) { return a; }\r\nvoid g() {\r\n    f(1,\r\n      $0);\r\n}\r\n",
        expect![[r#"
            int f(int a, bool b)
            at bool b of ["int a", "bool b"]
        "#]],
    );
}
