//! Every feature inside the text of XML: entities, CDATA sections, labels beside labels.

use super::*;
use crate::call_hierarchy;
use crate::tests::{code_action, completion, folding_range, highlight, hover, inlay_hint};
use crate::tests::{navigation, selection_range, semantic_tokens, signature_help};
use expect_test::expect;

/// A model with these declarations, those of its template, and the labels of its one edge.
fn model(global: &str, local: &str, labels: &str) -> String {
    format!(
        "<nta>\n{global}\n<template><name>P</name>\n<declaration>{local}</declaration>\n\
         <location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n\
         <init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n{labels}\n</transition>\n\
         </template>\n<system>system P;</system>\n</nta>\n"
    )
}

fn declared(text: &str) -> String {
    format!("<declaration>{text}</declaration>")
}

fn label(kind: &str, text: &str) -> String {
    format!("<label kind=\"{kind}\">{text}</label>")
}

#[test]
fn fixes_are_written_with_entities_or_in_cdata() {
    let location = |invariant: &str| {
        format!(
            "<nta>\n<declaration>clock x;</declaration>\n<template><name>P</name>\n<location id=\"a\"><name>s</name>\
             <label kind=\"invariant\">{invariant}</label></location>\n<init ref=\"a\"/>\n</template>\n\
             <system>system P;</system>\n</nta>\n"
        )
    };
    code_action::check(
        &location("x $0== 5"),
        expect![[r#"
        Use `<=` (QuickFix, preferred)
          | <location id="a"><name>s</name><label kind="invariant">x &lt;= 5</label></location>
    "#]],
    );
    code_action::check(
        &location("<![CDATA[x $0== 5]]>"),
        expect![[r#"
        Use `<=` (QuickFix, preferred)
          | <location id="a"><name>s</name><label kind="invariant"><![CDATA[x <= 5]]></label></location>
    "#]],
    );
    // The change would leave half of a section.
    code_action::check(&location("x <![CDATA[$0== 5]]>"), expect![[""]]);
}

#[test]
fn a_comparison_is_meant() {
    let guard = |text: &str| model(&declared("int n;"), "", &label("guard", text));
    code_action::check(
        &guard("n $0= 1 &amp;&amp; n &lt; 3"),
        expect![[r#"
        Compare with `==` (QuickFix, preferred)
          | <label kind="guard">n == 1 &amp;&amp; n &lt; 3</label>
    "#]],
    );
    code_action::check(
        &guard("<![CDATA[n $0= 1 && n < 3]]>"),
        expect![[r#"
        Compare with `==` (QuickFix, preferred)
          | <label kind="guard"><![CDATA[n == 1 && n < 3]]></label>
    "#]],
    );
}

#[test]
fn an_unknown_name_is_declared_wherever_declarations_are() {
    let labels = label("guard", "lim$0it &gt; 1");
    code_action::check(
        &model(&declared("int n;"), "", &labels),
        expect![[r#"
        Declare `int limit;` (QuickFix, preferred)
          | <declaration>int limit;
          | int n;</declaration>
    "#]],
    );
    code_action::check(
        &model(&declared("<![CDATA[int n;]]>"), "", &labels),
        expect![[r#"
            Declare `int limit;` (QuickFix, preferred)
              | <declaration><![CDATA[int limit;
              | int n;]]></declaration>
        "#]],
    );
    code_action::check(
        &model(&declared(""), "", &labels),
        expect![[r#"
        Declare `int limit;` (QuickFix, preferred)
          | <declaration>int limit;
          | </declaration>
    "#]],
    );
    code_action::check(
        &model(&declared("\n// none yet\n"), "", &labels),
        expect![[r#"
            Declare `int limit;` (QuickFix, preferred)
              | <declaration>int limit;
        "#]],
    );
    code_action::check(
        &model("", "", &labels),
        expect![[r#"
        Declare `int limit;` (QuickFix, preferred)
          | <declaration>int limit;</declaration>
    "#]],
    );
}

#[test]
fn a_missing_semicolon() {
    code_action::check(
        &model(&declared("int a$0\nint b;"), "", ""),
        expect![[r#"
        Insert `;` (QuickFix, preferred)
          | <declaration>int a;
    "#]],
    );
    code_action::check(
        &model(&declared("int n;"), "int a$0\nint b;", ""),
        expect![[r#"
            Insert `;` (QuickFix, preferred)
              | <declaration>int a;
        "#]],
    );
}

#[test]
fn an_unused_select() {
    let labels = label("select", "$0i : int[0,3]");
    code_action::check(
        &model(&declared("int n;"), "", &labels),
        expect![[r#"
        Remove it (QuickFix, preferred)
          | <label kind="select"></label>
    "#]],
    );
    let labels = label("select", "$0i : int[0,3], j : int[0,1]") + &label("guard", "j == 1");
    code_action::check(
        &model(&declared("int n;"), "", &labels),
        expect![[r#"
        Remove it (QuickFix, preferred)
          | <label kind="select">j : int[0,1]</label><label kind="guard">j == 1</label>
    "#]],
    );
}

#[test]
fn a_lint_is_allowed_in_declarations() {
    let labels = label("guard", "y &gt; 1");
    code_action::check(
        &model(&declared("clock $0y;"), "", &labels),
        expect![[r#"
        Allow lint/clock-never-reset here (QuickFix)
          | <declaration>//@ allow lint/clock-never-reset
          | clock y;</declaration>
    "#]],
    );
    code_action::check(
        &model(&declared("\n  clock $0y;\n"), "", &labels),
        expect![[r#"
            Allow lint/clock-never-reset here (QuickFix)
              |   //@ allow lint/clock-never-reset
        "#]],
    );
    code_action::check(
        &model(&declared("<![CDATA[clock $0y;]]>"), "", &labels),
        expect![[r#"
            Allow lint/clock-never-reset here (QuickFix)
              | <declaration><![CDATA[//@ allow lint/clock-never-reset
              | clock y;]]></declaration>
        "#]],
    );
}

#[test]
fn a_number_becomes_a_constant() {
    let guard = label("guard", "x &gt; 1$02");
    code_action::check(
        &model(&declared("clock x;"), "", &guard),
        expect![[r#"
        Extract 12 into a constant (Extract)
          | <declaration>clock x;
          | const int C12 = 12;</declaration>
          | <label kind="guard">x &gt; C12</label>
    "#]],
    );
    code_action::check(
        &model("", "clock x;", &guard),
        expect![[r#"
        Extract 12 into a constant (Extract)
          | <declaration>const int C12 = 12;</declaration>
          | <label kind="guard">x &gt; C12</label>
    "#]],
    );
    code_action::check(
        &model("", "int[0, 1$02] n;", ""),
        expect![[r#"
        Extract 12 into a constant (Extract)
          | <declaration>const int C12 = 12;</declaration>
          | <declaration>int[0, C12] n;</declaration>
    "#]],
    );
    // A declaration needs it before itself.
    let before = declared("int a;\nint[0, 1$02] b;\nint c;");
    code_action::check(
        &model(&before, "", ""),
        expect![[r#"
        Extract 12 into a constant (Extract)
          | const int C12 = 12;
          | int[0, C12] b;
    "#]],
    );
    let first = declared("int[0, 1$02] b;");
    code_action::check(
        &model(&first, "", ""),
        expect![[r#"
        Extract 12 into a constant (Extract)
          | <declaration>const int C12 = 12; int[0, C12] b;</declaration>
    "#]],
    );
}

#[test]
fn a_number_of_a_query_stays() {
    let text = model(&declared("int n;"), "", "").replace(
        "</nta>",
        "<queries><query><formula>E&lt;&gt; n &gt; 1$02</formula></query></queries>\n</nta>",
    );
    code_action::check(&text, expect![[""]]);
}

#[test]
fn an_empty_system_line() {
    let text = model(&declared("int n;"), "", "").replace("system P;", "$0");
    code_action::check(
        &text,
        expect![[r#"
        Run one process of each template (QuickFix, preferred)
          | <system>
          | system P;</system>
    "#]],
    );
}

#[test]
fn keywords_fit_their_element() {
    let check = |text: &str, expected: expect_test::Expect| completion::check(text, expected);
    check(
        &model("", "clock x;", &label("guard", "$0")),
        expect![[r#"
        s (location) s
        t (location) t
        x (clock) clock x
        P (template) process P()
    "#]],
    );
    check(
        &model("", "clock x;", &label("select", "i : $0")),
        expect![[r#"
            s (location) s
            t (location) t
            x (clock) clock x
            P (template) process P()
            and int, scalar
        "#]],
    );
    check(
        &model("", "clock x; $0", ""),
        expect![[r#"
        s (location) s
        t (location) t
        x (clock) clock x
        P (template) process P()
        and bool, clock, const int, int, meta, typedef
    "#]],
    );
    check(
        &model("", "void f() { $0 }", ""),
        expect![[r#"
        s (location) s
        t (location) t
        f (function) void f()
        P (template) process P()
        and for, while, do, if, else, return, int, bool, assert
    "#]],
    );
    check(
        &model(&declared("int n; $0"), "", ""),
        expect![[r#"
        n (variable) int n
        P (template) process P()
        and bool, broadcast chan, chan, clock, const int, int, meta, scalar, struct, system, typedef, urgent chan, void, chan priority, progress, before_update, after_update
    "#]],
    );
}

#[test]
fn nothing_is_proposed_in_tags_and_names() {
    let text = model("", "clock x;", "");
    completion::check(&text.replace("<init ref", "<in$0it ref"), expect![[""]]);
    completion::check(&text.replace("<name>s", "<name>s$0"), expect![[""]]);
    completion::check(&text.replace("<init ref", "$0\n<init ref"), expect![[""]]);
}

#[test]
fn members_in_a_formula_in_cdata() {
    let text = model("", "int n;", "").replace(
        "</nta>",
        "<queries><query><formula><![CDATA[E<> 1 < 2 && P.$0]]></formula></query></queries>\n</nta>",
    );
    completion::check(
        &text,
        expect![[r#"
        n (variable) int n
        s (location) s
        t (location) t
    "#]],
    );
}

#[test]
fn the_arguments_of_a_call_in_a_label() {
    let global = declared("bool f(int a, int b) { return a &lt; b; }");
    let labels = label("guard", "1 &lt; 2 &amp;&amp; f(1 &lt; 2 ? 1 : 2, $0)");
    signature_help::check(
        &model(&global, "", &labels),
        expect![[r#"
        bool f(int a, int b)
        at int b of ["int a", "int b"]
    "#]],
    );
    // A call that another label leaves open is none here.
    let labels = label("guard", "f(1") + &label("assignment", "x = 1, $0");
    signature_help::check(
        &model(&global, "int x;", &labels),
        expect![[r#"
        nothing
    "#]],
    );
    signature_help::check(
        &model(&global, "", &label("guard", "true")).replace("<init", "<init$0"),
        expect![[r#"
            nothing
        "#]],
    );
}

#[test]
fn a_label_that_leaves_a_comment_open_colours_the_others() {
    let labels = label("guard", "true /* open") + "\n" + &label("assignment", "n = 12");
    let text = model(&declared("int n;"), "", &labels).replace(
        "</nta>",
        "<queries><query><formula>A[] not deadlock</formula></query></queries>\n</nta>",
    );
    semantic_tokens::check(
        &text,
        expect![[r#"
        int keyword
        n variable declaration
        P class declaration
        s enumMember declaration
        t enumMember declaration
        true keyword
        n variable modification
        12 number
        system keyword
        P class
        not keyword
        deadlock keyword
    "#]],
    );
}

#[test]
fn the_comment_above_a_declaration() {
    hover::check(
        &model(&declared("// how many\nint $0n;"), "", ""),
        expect![[r#"
            int n;</declaration>
                ^
            ```xta
            int n
            ```
            variable

            -32768 … 32767, initially 0

            how many
        "#]],
    );
    hover::check(
        &model(&declared("\n// a &lt; b\n// always\nint $0n;"), "", ""),
        expect![[r#"
            int n;</declaration>
                ^
            ```xta
            int n
            ```
            variable

            -32768 … 32767, initially 0

            a < b
            always
        "#]],
    );
    hover::check(
        &model(&declared("<![CDATA[\n// a < b\nint $0n;]]>"), "", ""),
        expect![[r#"
            int n;]]></declaration>
                ^
            ```xta
            int n
            ```
            variable

            -32768 … 32767, initially 0

            a < b
        "#]],
    );
    // Another element's comment is about something else.
    let text = model(&declared("int a; // about a"), "int $0n;", "");
    hover::check(
        &text,
        expect![[r#"
        <declaration>int n;</declaration>
                         ^
        ```xta
        int n
        ```
        variable of template `P`

        -32768 … 32767, initially 0
    "#]],
    );
}

#[test]
fn selections_grow_from_the_expression_to_the_template() {
    let labels = label("guard", "x &gt; 1 &amp;&amp; (n + $02) &lt; 3");
    selection_range::check(
        &model("", "clock x; int n;", &labels),
        expect![[r#"
        "2"
        "n + 2"
        "(n + 2)"
        "(n + 2) &lt; 3"
        "x &gt; 1 &amp;&amp; (n + 2) &lt; 3"
        "<label kind=\"guard\">x &gt; 1 &amp;&amp; (n + 2) &lt; 3</label>"
        "<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"guard\">x &gt; 1 &amp;&amp; (n + 2) &lt; 3</label>\n</transition>"
        "<template><name>P</name>\n<declaration>clock x; int n;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"guard\">x &gt; 1 &amp;&amp; (n + 2) &lt; 3</label>\n</transition>\n</template>"
        "<nta>\n\n<template><name>P</name>\n<declaration>clock x; int n;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"guard\">x &gt; 1 &amp;&amp; (n + 2) &lt; 3</label>\n</transition>\n</template>\n<system>system P;</system>\n</nta>"
        "<nta>\n\n<template><name>P</name>\n<declaration>clock x; int n;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"guard\">x &gt; 1 &amp;&amp; (n + 2) &lt; 3</label>\n</transition>\n</template>\n<system>system P;</system>\n</nta>\n"
    "#]],
    );
    let labels = label("assignment", "<![CDATA[a = 1, n = n < $02 ? 1 : 2]]>");
    selection_range::check(
        &model("", "int n, a;", &labels),
        expect![[r#"
        "2"
        "n < 2"
        "n < 2 ? 1 : 2"
        "n = n < 2 ? 1 : 2"
        "a = 1, n = n < 2 ? 1 : 2"
        "<![CDATA[a = 1, n = n < 2 ? 1 : 2]]>"
        "<label kind=\"assignment\"><![CDATA[a = 1, n = n < 2 ? 1 : 2]]></label>"
        "<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"assignment\"><![CDATA[a = 1, n = n < 2 ? 1 : 2]]></label>\n</transition>"
        "<template><name>P</name>\n<declaration>int n, a;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"assignment\"><![CDATA[a = 1, n = n < 2 ? 1 : 2]]></label>\n</transition>\n</template>"
        "<nta>\n\n<template><name>P</name>\n<declaration>int n, a;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"assignment\"><![CDATA[a = 1, n = n < 2 ? 1 : 2]]></label>\n</transition>\n</template>\n<system>system P;</system>\n</nta>"
        "<nta>\n\n<template><name>P</name>\n<declaration>int n, a;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"assignment\"><![CDATA[a = 1, n = n < 2 ? 1 : 2]]></label>\n</transition>\n</template>\n<system>system P;</system>\n</nta>\n"
    "#]],
    );
    let labels = label("select", "i : int[0, $03]");
    selection_range::check(
        &model("", "", &labels),
        expect![[r#"
        "3"
        "0, 3"
        "[0, 3]"
        "int[0, 3]"
        "i : int[0, 3]"
        "<label kind=\"select\">i : int[0, 3]</label>"
        "<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"select\">i : int[0, 3]</label>\n</transition>"
        "<template><name>P</name>\n<declaration></declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"select\">i : int[0, 3]</label>\n</transition>\n</template>"
        "<nta>\n\n<template><name>P</name>\n<declaration></declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"select\">i : int[0, 3]</label>\n</transition>\n</template>\n<system>system P;</system>\n</nta>"
        "<nta>\n\n<template><name>P</name>\n<declaration></declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n<label kind=\"select\">i : int[0, 3]</label>\n</transition>\n</template>\n<system>system P;</system>\n</nta>\n"
    "#]],
    );
    selection_range::check(
        &model(&declared("int a[2] = { 1, $02 };"), "", ""),
        expect![[r#"
            "2"
            " 1, 2 "
            "{ 1, 2 }"
            "a[2] = { 1, 2 }"
            "int a[2] = { 1, 2 };"
            "<declaration>int a[2] = { 1, 2 };</declaration>"
            "<nta>\n<declaration>int a[2] = { 1, 2 };</declaration>\n<template><name>P</name>\n<declaration></declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n\n</transition>\n</template>\n<system>system P;</system>\n</nta>"
            "<nta>\n<declaration>int a[2] = { 1, 2 };</declaration>\n<template><name>P</name>\n<declaration></declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n\n</transition>\n</template>\n<system>system P;</system>\n</nta>\n"
        "#]],
    );
}

#[test]
fn a_formula_is_selected() {
    let text = model("", "int n;", "").replace(
        "</nta>",
        "<queries><query><formula>E&lt;&gt; P.$0t &amp;&amp; P.n == 1</formula></query></queries>\n</nta>",
    );
    selection_range::check(
        &text,
        expect![[r#"
        "t"
        "P.t"
        "P.t &amp;&amp; P.n == 1"
        "E&lt;&gt; P.t &amp;&amp; P.n == 1"
        "<formula>E&lt;&gt; P.t &amp;&amp; P.n == 1</formula>"
        "<query><formula>E&lt;&gt; P.t &amp;&amp; P.n == 1</formula></query>"
        "<queries><query><formula>E&lt;&gt; P.t &amp;&amp; P.n == 1</formula></query></queries>"
        "<nta>\n\n<template><name>P</name>\n<declaration>int n;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n\n</transition>\n</template>\n<system>system P;</system>\n<queries><query><formula>E&lt;&gt; P.t &amp;&amp; P.n == 1</formula></query></queries>\n</nta>"
        "<nta>\n\n<template><name>P</name>\n<declaration>int n;</declaration>\n<location id=\"id0\"><name>s</name></location>\n<location id=\"id1\"><name>t</name></location>\n<init ref=\"id0\"/>\n<transition><source ref=\"id0\"/><target ref=\"id1\"/>\n\n</transition>\n</template>\n<system>system P;</system>\n<queries><query><formula>E&lt;&gt; P.t &amp;&amp; P.n == 1</formula></query></queries>\n</nta>\n"
    "#]],
    );
}

#[test]
fn elements_and_functions_are_folded() {
    let labels = "<label kind=\"guard\">\ntrue\n</label>\n<!-- a\n  comment -->";
    let local = "\nint f() {\n    return 1;\n}\n/* two\nlines */\n";
    folding_range::check(
        &model("", local, labels),
        expect![[r#"
        0-22 code: <nta> … </nta>
        2-20 code: <template><name>P</name> … </template>
        3-9 code: <declaration> … </declaration>
        4-6 code: int f() { … }
        7-8 comment: /* two … lines */
        13-19 code: <transition><source ref="id0"/><target ref="id1"/> … </transition>
        14-16 code: <label kind="guard"> … </label>
        17-18 comment: <!-- a … comment -->
    "#]],
    );
}

#[test]
fn hints_in_declarations() {
    let text = model(&declared("const int N = 3;\nint a[N];"), "int n;", "");
    inlay_hint::check(
        &text,
        expect![[r#"
        <nta>
        <declaration>const int N = 3;
        int«[-32768, 32767]» a[N«= 3»];</declaration>
        <template><name>P</name>
        <declaration>int«[-32768, 32767]» n;</declaration>
        <location id="id0"><name>s</name></location>
        <location id="id1"><name>t</name></location>
        <init ref="id0"/>
        <transition><source ref="id0"/><target ref="id1"/>

        </transition>
        </template>
        <system>system P;</system>
        </nta>
    "#]],
    );
}

#[test]
fn uses_in_labels_are_highlighted() {
    let labels = label("guard", "n &lt; 3") + "\n" + &label("assignment", "<![CDATA[n = n + 1]]>");
    highlight::check(
        &model(&declared("int $0n;"), "", &labels),
        expect![[r#"
        <declaration>int n;</declaration>
                         ^ write
        <label kind="guard">n &lt; 3</label>
                            ^ read
        <label kind="assignment"><![CDATA[n = n + 1]]></label>
                                          ^ write
                                              ^ read
    "#]],
    );
    navigation::check(
        &model(&declared("int $0n;"), "", &labels),
        expect![[r#"
        definition
        <declaration>int n;</declaration>
                         ^
        references
        <label kind="guard">n &lt; 3</label>
                            ^
        <label kind="assignment"><![CDATA[n = n + 1]]></label>
                                          ^
                                              ^
    "#]],
    );
}

#[test]
fn labels_call_functions() {
    let labels = label("guard", "f() &lt; 3") + &label("assignment", "<![CDATA[g()]]>");
    let text = model(
        &declared("int $0f() { return 1; }\nvoid g() { f(); }"),
        "",
        &labels,
    );
    let fixture = Fixture::new(&text);
    let names = fixture.names();
    let show = |calls: Vec<call_hierarchy::Call>| -> Vec<String> {
        let text = fixture.text();
        let one = |call: call_hierarchy::Call| {
            let places: Vec<&str> = call.places.iter().map(|s| &text[s.range()]).collect();
            format!("{} {places:?}", call.other.name)
        };
        calls.into_iter().map(one).collect()
    };
    let callers = show(call_hierarchy::incoming(&names, fixture.offset()));
    assert_eq!(callers, ["g [\"f\"]", "P [\"f\"]"]);
    let template = text.replace("$0", "").find("P</name>").expect("there") as u32;
    let called = show(call_hierarchy::outgoing(&names, template));
    assert_eq!(called, ["f [\"f\"]", "g [\"g\"]"]);
}

#[test]
fn a_file_that_is_no_model_has_nothing() {
    let text = "<project><name>int n;</name></project>\n";
    let open =
        |text: &str| Snapshot::open_xml("file:///pom.xml".to_owned(), 1, text, Arc::default());
    let other = Arc::new(open(text));
    assert!(other.is_foreign());
    let fixture = Fixture {
        documents: vec![Arc::clone(&other)],
        at: Arc::clone(&other),
        span: Span::new(15, 15),
    };
    let names = fixture.names();
    assert!(crate::diagnostics::of_text(&other, None, true).is_empty());
    assert!(crate::document_symbol::symbols(&names).is_empty());
    assert!(crate::folding_range::folds(&other).is_empty());
    assert!(crate::semantic_tokens::tokens(&names, None).is_empty());
    assert!(crate::completion::proposals(&names, 15).is_empty());
    assert!(crate::inlay_hint::hints(&other, other.full_span()).is_empty());
    assert!(crate::code_action::actions(&fixture, &other, fixture.span, &[]).is_empty());
    // An edit may make it one, and then it stays one while it is being written.
    let model = other.edited(2, ropey::Rope::from_str("<nta>"), None);
    assert!(!model.is_foreign());
    assert_eq!(model.kind, FileKind::Xml);
    let broken = model.edited(3, ropey::Rope::from_str("<nt"), None);
    assert_eq!(broken.kind, FileKind::Xml);
    assert!(!open("<nta/>").is_foreign());
}

#[test]
fn the_edges_of_a_family_are_elements() {
    let text = "<nta>\n<declaration>scalarset id[3]; int a[id];</declaration>\n\
        <template><name>P</name><parameter>scalarset me</parameter>\n\
        <location id=\"id0\"><name>s</name></location>\n<init ref=\"id0\"/>\n\
        \t<transition id=\"id7\"><source ref=\"id0\"/><target ref=\"id0\"/>\
        <label kind=\"guard\">a[$02] &gt; 1 &amp;&amp; true</label></transition>\n\
        </template>\n<system>Procs := P(id); system Procs;</system>\n</nta>\n";
    code_action::check(
        text,
        expect![[r#"
        Add the edges of the other elements (QuickFix, preferred)
          | 	<transition><source ref="id0"/><target ref="id0"/><label kind="guard">a[0] &gt; 1 &amp;&amp; true</label></transition>
          | 	<transition><source ref="id0"/><target ref="id0"/><label kind="guard">a[1] &gt; 1 &amp;&amp; true</label></transition>
        Extract 2 into a constant (Extract)
          | <declaration>scalarset id[3]; int a[id];
          | const int C2 = 2;</declaration>
          | 	<transition id="id7"><source ref="id0"/><target ref="id0"/><label kind="guard">a[C2] &gt; 1 &amp;&amp; true</label></transition>
    "#]],
    );
}
