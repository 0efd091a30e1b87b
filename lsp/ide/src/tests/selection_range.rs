//! Ever larger selections, innermost first.

use super::*;
use crate::selection_range::spans;
use expect_test::{Expect, expect};

#[track_caller]
pub(super) fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let text = fixture.text();
    let mut out = String::new();
    for span in spans(&fixture.at, fixture.offset()) {
        out.push_str(&format!("{:?}\n", &text[span.range()]));
    }
    expected.assert_eq(&out);
}

#[test]
fn a_word_in_brackets() {
    check(
        r#"
int a = f(b + (c$0c));
int d;
"#,
        expect![[r#"
            "cc"
            "(cc)"
            "b + (cc)"
            "(b + (cc))"
            "f(b + (cc))"
            "a = f(b + (cc))"
            "int a = f(b + (cc));"
            "int a = f(b + (cc));\nint d;\n"
        "#]],
    );
}

#[test]
fn the_end_of_a_word() {
    check(
        "int abc$0;",
        expect![[r#"
        "abc"
        "int abc;"
    "#]],
    );
}

#[test]
fn the_start_of_a_word() {
    check(
        "int $0abc;",
        expect![[r#"
        "abc"
        "int abc;"
    "#]],
    );
}

#[test]
fn between_words() {
    check(
        "int  $0  abc;",
        expect![[r#"
        ""
        "int    abc;"
    "#]],
    );
}

#[test]
fn a_guard() {
    check(
        r#"
process P() { state s; init s; trans s -> s { guard x > $01; assign y = 2; }; }
system P;
"#,
        expect![[r#"
            "1"
            "x > 1"
            " guard x > 1; assign y = 2; "
            "{ guard x > 1; assign y = 2; }"
            "s -> s { guard x > 1; assign y = 2; }"
            "trans s -> s { guard x > 1; assign y = 2; };"
            " state s; init s; trans s -> s { guard x > 1; assign y = 2; }; "
            "{ state s; init s; trans s -> s { guard x > 1; assign y = 2; }; }"
            "process P() { state s; init s; trans s -> s { guard x > 1; assign y = 2; }; }"
            "process P() { state s; init s; trans s -> s { guard x > 1; assign y = 2; }; }\nsystem P;\n"
        "#]],
    );
}

#[test]
fn an_index() {
    check(
        "void f() { a[i + $01] = 2; }",
        expect![[r#"
            "1"
            "i + 1"
            "[i + 1]"
            "a[i + 1]"
            "a[i + 1] = 2"
            "a[i + 1] = 2;"
            " a[i + 1] = 2; "
            "{ a[i + 1] = 2; }"
            "void f() { a[i + 1] = 2; }"
        "#]],
    );
}

#[test]
fn a_statement() {
    check(
        "void f() { if (a) { b = $01; } }",
        expect![[r#"
            "1"
            "b = 1"
            "b = 1;"
            " b = 1; "
            "{ b = 1; }"
            "if (a) { b = 1; }"
            " if (a) { b = 1; } "
            "{ if (a) { b = 1; } }"
            "void f() { if (a) { b = 1; } }"
        "#]],
    );
}

#[test]
fn a_comment() {
    check(
        r#"
int a; // one $0two
int b;
"#,
        expect![[r#"
            "two"
            "int a; // one two\nint b;\n"
        "#]],
    );
}

#[test]
fn unbalanced_brackets() {
    check(
        r#"
int a = (1 + $02;
int b;
"#,
        expect![[r#"
            "2"
            "int a = (1 + 2;"
            "int a = (1 + 2;\nint b;\n"
        "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
process P( {
    state $0s;
"#,
        expect![[r#"
            "s"
            "state s;"
            "process P( {\n    state s;"
            "process P( {\n    state s;\n"
        "#]],
    );
}

#[test]
fn an_empty_file() {
    check(
        "$0",
        expect![[r#"
        ""
    "#]],
    );
}

#[test]
fn the_end_of_the_file() {
    check(
        "int a;$0",
        expect![[r#"
        ""
        "int a;"
    "#]],
    );
}

#[test]
fn a_query_file() {
    check(
        r#"
//- m.q
E<> (P.s && Q.$0t)
A[] true
"#,
        expect![[r#"
            "t"
            "Q.t"
            "P.s && Q.t"
            "(P.s && Q.t)"
            "E<> (P.s && Q.t)"
            "E<> (P.s && Q.t)\nA[] true\n"
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
<transition><source ref="id0"/><target ref="id1"/><label kind="guard">(x &gt; $01)</label></transition>
</template>
<system>system P;</system>
</nta>
"#,
        expect![[r#"
            "1"
            "x &gt; 1"
            "(x &gt; 1)"
            "<label kind=\"guard\">(x &gt; 1)</label>"
            "<transition><source ref=\"id0\"/><target ref=\"id1\"/><label kind=\"guard\">(x &gt; 1)</label></transition>"
            "<template><name>P</name>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/><label kind=\"guard\">(x &gt; 1)</label></transition>\n</template>"
            "<nta>\n<declaration>clock x;</declaration>\n<template><name>P</name>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/><label kind=\"guard\">(x &gt; 1)</label></transition>\n</template>\n<system>system P;</system>\n</nta>"
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<nta>\n<declaration>clock x;</declaration>\n<template><name>P</name>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/><label kind=\"guard\">(x &gt; 1)</label></transition>\n</template>\n<system>system P;</system>\n</nta>\n"
        "#]],
    );
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        "int a = /* 𝄞 */ (b + 𝄞$0c);",
        expect![[r#"
            "c"
            "b + 𝄞c"
            "(b + 𝄞c)"
            "a = /* 𝄞 */ (b + 𝄞c)"
            "int a = /* 𝄞 */ (b + 𝄞c);"
        "#]],
    );
}

#[test]
fn lines_that_end_in_crlf() {
    check(
        "int a;\r\nint b = (c + $0d);\r\n",
        expect![[r#"
            "d"
            "c + d"
            "(c + d)"
            "b = (c + d)"
            "int b = (c + d);"
            "int a;\r\nint b = (c + d);\r\n"
        "#]],
    );
}
