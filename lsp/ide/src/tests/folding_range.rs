//! What can be folded.

use super::*;
use crate::folding_range::folds;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let text = fixture.text();
    let lines: Vec<&str> = text.lines().collect();
    let mut out = String::new();
    for fold in folds(&fixture.at) {
        let (first, last) = fold.lines;
        let kind = if fold.comment { "comment" } else { "code" };
        let shown = |n: u32| lines.get(n as usize).map_or("", |l| l.trim());
        out.push_str(&format!(
            "{first}-{last} {kind}: {} … {}\n",
            shown(first),
            shown(last)
        ));
    }
    expected.assert_eq(&out);
}

#[test]
fn a_template() {
    check(
        r#"
process P() {
    state s;
    init s;
}
system P;
"#,
        expect![[r#"
            0-3 code: process P() { … }
        "#]],
    );
}

#[test]
fn a_function() {
    check(
        r#"
int f() {
    return 1;
}
"#,
        expect![[r#"
            0-2 code: int f() { … }
        "#]],
    );
}

#[test]
fn one_line_is_not_folded() {
    check(
        r#"
process P() { state s; init s; }
system P;
"#,
        expect![[""]],
    );
}

#[test]
fn a_long_declaration() {
    check(
        r#"
const int a[3] = {
    1,
    2,
    3
};
"#,
        expect![[r#"
            0-4 code: const int a[3] = { … };
        "#]],
    );
}

#[test]
fn states_on_several_lines() {
    check(
        r#"
process P() {
    state s,
          t;
    init s;
}
system P;
"#,
        expect![[r#"
            0-4 code: process P() { … }
            1-2 code: state s, … t;
        "#]],
    );
}

#[test]
fn line_comments_that_follow_each_other() {
    check(
        r#"
// one
// two
// three
int a;
"#,
        expect![[r#"
            0-2 comment: // one … // three
        "#]],
    );
}

#[test]
fn one_line_comment() {
    check(
        r#"
// one
int a;
"#,
        expect![[""]],
    );
}

#[test]
fn two_blocks_of_comments() {
    check(
        r#"
// one
// two


int a;
// three
// four
int b;
"#,
        expect![[r#"
            0-1 comment: // one … // two
            5-6 comment: // three … // four
        "#]],
    );
}

#[test]
fn comments_behind_code_are_no_block() {
    check(
        r#"
const int a[3] = { 1, // one
    2, // two
    3 };
"#,
        expect![[r#"
            0-2 code: const int a[3] = { 1, // one … 3 };
        "#]],
    );
}

#[test]
fn comments_apart_are_two_blocks() {
    check(
        r#"
// one
// two

// three
// four
int a;
"#,
        expect![[r#"
            0-1 comment: // one … // two
            3-4 comment: // three … // four
        "#]],
    );
}

#[test]
fn a_block_comment() {
    check(
        r#"
/* one
   two */
int a;
"#,
        expect![[r#"
            0-1 comment: /* one … two */
        "#]],
    );
}

#[test]
fn a_comment_inside_a_template() {
    check(
        r#"
process P() {
    // one
    // two
    state s;
    init s;
}
system P;
"#,
        expect![[r#"
            0-5 code: process P() { … }
            1-2 comment: // one … // two
        "#]],
    );
}

#[test]
fn a_struct() {
    check(
        r#"
typedef struct {
    int a;
    int b;
} pair;
"#,
        expect![[r#"
            0-3 code: typedef struct { … } pair;
        "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int a = ;
process P() {
    state s;
    init
}
system P;
"#,
        expect![[r#"
            1-4 code: process P() { … }
        "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.q
/* about
   this */
E<> P.t

// one
// two
A[] true
"#,
        expect![[r#"
            0-1 comment: /* about … this */
            4-5 comment: // one … // two
        "#]],
    );
}

#[test]
fn an_xml_file() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>
int f() {
    return 1;
}
// one
// two
int n;
</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            1-17 code: <nta> … </nta>
            2-9 code: <declaration> … </declaration>
            3-5 code: int f() { … }
            6-7 comment: // one … // two
            10-15 code: <template><name>P</name> … </template>
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "// one\r\n// two\r\nprocess P() {\r\n    state s;\r\n    init s;\r\n}\r\nsystem P;\r\n",
        expect![[r#"
            0-1 comment: // one … // two
            2-5 code: process P() { … }
        "#]],
    );
}

#[test]
fn an_empty_file() {
    check("", expect![[""]]);
}
