//! Changes that are offered, and the text after each.

use super::*;
use crate::code_action::actions;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let text = fixture.text();
    let mut out = String::new();
    for action in actions(&fixture, &fixture.at, fixture.span, &[]) {
        let preferred = if action.preferred { ", preferred" } else { "" };
        out.push_str(&format!(
            "{} ({:?}{preferred})\n",
            action.title, action.kind
        ));
        let after = edited(&text, &action.edits);
        for line in after
            .split('\n')
            .filter(|line| !text.split('\n').any(|l| l == *line))
        {
            out.push_str(&format!("  | {}\n", line.replace('\r', "␍").trim_end()));
        }
    }
    expected.assert_eq(&out);
}

#[test]
fn a_missing_semicolon() {
    check(
        r#"
int a$0
int b;
"#,
        expect![[r#"
            Insert `;` (QuickFix, preferred)
              | int a;
        "#]],
    );
}

#[test]
fn a_misspelt_keyword() {
    check(
        r#"
proc$0es P() { state s; init s; }
system P;
"#,
        expect![[r#"
            Change to `process` (QuickFix, preferred)
              | process P() { state s; init s; }
        "#]],
    );
}

#[test]
fn a_misspelt_name() {
    check(
        r#"
int limit_reached;
void f() { limit_reac$0hd = 1; }
"#,
        expect![[r#"
            Change to `limit_reached` (QuickFix, preferred)
              | void f() { limit_reached = 1; }
            Declare `int limit_reachd;` (QuickFix)
              | int limit_reachd;
        "#]],
    );
}

#[test]
fn a_lint_inside_a_template() {
    check(
        r#"
process P() {
    state s;
    init s;
    trans
        s -> s { select $0i : int[0,3]; };
}
system P;
"#,
        expect![[r#"
            Allow lint/zeno here (QuickFix)
              |         //@ allow lint/zeno
            Remove it (QuickFix, preferred)
              |         s -> s { };
            Allow lint/unused-select here (QuickFix)
              |         //@ allow lint/unused-select
        "#]],
    );
}

#[test]
fn an_unused_select() {
    check(
        r#"
process P() { state s; init s; trans s -> s { select $0i : int[0,3]; }; }
system P;
"#,
        expect![[r#"
            Allow lint/zeno here (QuickFix)
              | //@ allow lint/zeno
            Remove it (QuickFix, preferred)
              | process P() { state s; init s; trans s -> s { }; }
            Allow lint/unused-select here (QuickFix)
              | //@ allow lint/unused-select
        "#]],
    );
}

#[test]
fn a_number_becomes_a_constant() {
    check(
        r#"
process P() {
    clock x;
    state s { x <= 1$02 };
    init s;
}
system P;
"#,
        expect![[r#"
            Extract 12 into a constant (Extract)
              | const int C12 = 12;
              |     state s { x <= C12 };
        "#]],
    );
}

#[test]
fn a_number_of_a_constant_has_a_name() {
    check(
        r#"
const int N = 1$02;
int a[N];
"#,
        expect![[""]],
    );
}

#[test]
fn a_number_whose_constant_exists() {
    check(
        r#"
const int C12 = 3;
int[0,C12] a;
int[0,1$02] b;
"#,
        expect![[r#"
            Extract 12 into a constant (Extract)
              | const int C12_2 = 12;
              | int[0,C12_2] b;
        "#]],
    );
}

#[test]
fn a_number_behind_something_on_its_line() {
    check(
        "int a; int[0,1$02] b;",
        expect![[r#"
        Extract 12 into a constant (Extract)
          | int a; const int C12 = 12; int[0,C12] b;
    "#]],
    );
}

#[test]
fn a_number_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>clock x;</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt; 1$02</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            Extract 12 into a constant (Extract)
              | <declaration>clock x;
              | const int C12 = 12;</declaration>
              | <transition><source ref="id0"/><target ref="id1"/><label kind="guard">x &gt; C12</label></transition>
        "#]],
    );
}

#[test]
fn a_number_in_a_query() {
    check(
        r#"
int n;
process P() { state s; init s; }
system P;
//@ query E<> n > 1$02
"#,
        expect![[""]],
    );
}

#[test]
fn a_query_file_has_no_refactorings() {
    check(
        r#"
//- m.xta
int n;
process P() { state s; init s; }
system P;
//- m.q
E<> n > 1$02
"#,
        expect![[""]],
    );
}

#[test]
fn a_misspelt_name_in_a_query_file() {
    check(
        r#"
//- m.xta
int counter;
process P() { state s; init s; }
system P;
//- m.q
E<> count$0r > 1
"#,
        expect![[r#"
            Change to `counter` (QuickFix, preferred)
              | E<> counter > 1
        "#]],
    );
}

#[test]
fn nothing_to_do() {
    check(
        r#"
int $0n;
process P() { state s; init s; trans s -> s { guard n > 1; assign n = n - 1; }; }
system P;
"#,
        expect![[""]],
    );
}

#[test]
fn a_cursor_in_a_comment() {
    check(
        r#"
// a 1$02 in words
int n;
"#,
        expect![[""]],
    );
}

#[test]
fn a_selection_over_two_findings() {
    check(
        r#"
$0int a
int b
int c;$0
"#,
        expect![[r#"
            Insert `;` (QuickFix, preferred)
              | int a;
            Insert `;` (QuickFix, preferred)
              | int b;
        "#]],
    );
}

#[test]
fn an_assignment_for_a_comparison() {
    check(
        r#"
process P() { int n; state s; init s; trans s -> s { guard $0n = 1; }; }
system P;
"#,
        expect![[r#"
            Allow lint/zeno here (QuickFix)
              | //@ allow lint/zeno
            Compare with `==` (QuickFix, preferred)
              | process P() { int n; state s; init s; trans s -> s { guard n == 1; }; }
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        "/* 𝄞 */ int[0,1$02] b;",
        expect![[r#"
        Extract 12 into a constant (Extract)
          | /* 𝄞 */ const int C12 = 12; int[0,C12] b;
    "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int a;\r\nint[0,1$02] b;\r\n",
        expect![[r#"
        Extract 12 into a constant (Extract)
          | const int C12 = 12;␍
          | int[0,C12] b;␍
    "#]],
    );
}

#[test]
fn an_allowed_lint_with_crlf() {
    check(
        "process P() {\r\n    state s;\r\n    init s;\r\n    trans\r\n        s -> s { select $0i : int[0,3]; };\r\n}\r\nsystem P;\r\n",
        expect![[r#"
            Allow lint/zeno here (QuickFix)
              |         //@ allow lint/zeno ␍
            Remove it (QuickFix, preferred)
              |         s -> s { };␍
            Allow lint/unused-select here (QuickFix)
              |         //@ allow lint/unused-select ␍
        "#]],
    );
}
