//! What the text of a document says is wrong.

use super::*;
use crate::diagnostics::of_text;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let mut out = String::new();
    for document in &fixture.documents {
        let model = fixture.model_of(document);
        let notes: Vec<(Span, String)> = of_text(document, model.as_deref(), true)
            .into_iter()
            .map(|d| (d.span, d.code.to_string()))
            .collect();
        if fixture.documents.len() > 1 {
            out.push_str(&format!("//- {}\n", fixture.file_name(&document.uri)));
        }
        out.push_str(&annotated(document, &notes));
    }
    expected.assert_eq(&out);
}

#[test]
fn nothing_is_wrong() {
    check(
        r#"
clock x;
process P() { state s { x <= 3 }; init s; trans s -> s { guard x >= 1; assign x = 0; }; }
system P;
"#,
        expect![[""]],
    );
}

#[test]
fn an_unknown_name() {
    check(
        r#"
process P() { state s; init s; trans s -> s { guard m < 3; }; }
system P;
"#,
        expect![[r#"
            process P() { state s; init s; trans s -> s { guard m < 3; }; }
                                                 ^^^^^^^^^^^^^^^^^^^^^^^ lint/zeno
                                                                ^ name/unknown
        "#]],
    );
}

#[test]
fn a_missing_semicolon() {
    check(
        r#"
int a
int b;
"#,
        expect![[r#"
            int a
                 ^ syntax/missing-semicolon
            int b;
                 ^ syntax/no-system
        "#]],
    );
}

#[test]
fn arithmetic_on_a_scalarset() {
    check(
        r#"
typedef scalar[3] pid;
pid id;
process P(pid i) { state s; init s; trans s -> s { assign id = i + 1; }; }
system P;
"#,
        expect![[r#"
            pid id;
                ^^ sym/initial
            process P(pid i) { state s; init s; trans s -> s { assign id = i + 1; }; }
                                                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ lint/zeno
                                                                           ^^^^^ sym/arithmetic
        "#]],
    );
}

#[test]
fn an_index_of_another_set() {
    check(
        r#"
typedef scalar[3] a;
typedef scalar[3] b;
int n[a];
process P(b i) { state s; init s; trans s -> s { assign n[i] = 1; }; }
system P;
"#,
        expect![[r#"
            process P(b i) { state s; init s; trans s -> s { assign n[i] = 1; }; }
                                                    ^^^^^^^^^^^^^^^^^^^^^^^^^^^ lint/zeno
                                                                      ^ sym/index-other
        "#]],
    );
}

#[test]
fn queries_of_the_model() {
    check(
        r#"
process P() { state s; init s; }
system P;
query { A[] P.t }
"#,
        expect![[r#"
            query { A[] P.t }
                          ^ query/name
        "#]],
    );
}

#[test]
fn a_query_file_and_its_model() {
    check(
        r#"
//- m.xta
process P() { state s; init s; }
system P;
//- m.q
A[] P.s
A[] Q.s
"#,
        expect![[r#"
            //- m.xta
            //- m.q
            A[] Q.s
                ^ query/name
        "#]],
    );
}

#[test]
fn a_query_file_without_a_model() {
    check(
        r#"
//- m.q
A[] true
A[] false
"#,
        expect![[r#"
            A[] true
            ^^^^^^^^ query/no-model
        "#]],
    );
}

#[test]
fn an_empty_query_file_needs_no_model() {
    check(
        r#"
//- m.q
// nothing yet
"#,
        expect![[""]],
    );
}

#[test]
fn an_error_in_a_query_file() {
    check(
        r#"
//- m.xta
process P() { state s; init s; }
system P;
//- m.q
A[] ( P.s
"#,
        expect![[r#"
            //- m.xta
            //- m.q
            A[] ( P.s
                     ^ query/syntax
        "#]],
    );
}

#[test]
fn two_errors_in_one_line() {
    check(
        r#"
int a = b; int c = d;
"#,
        expect![[r#"
            int a = b; int c = d;
                    ^ name/unknown
                               ^ name/unknown
                                ^ syntax/no-system
        "#]],
    );
}

#[test]
fn inside_xml() {
    check(
        r#"
<nta><declaration>int n = m;</declaration><template><name>P</name><location id="id0"/><init ref="id0"/></template><system>system P;</system></nta>
"#,
        expect![[r#"
            <nta><declaration>int n = m;</declaration><template><name>P</name><location id="id0"/><init ref="id0"/></template><system>system P;</system></nta>
                                      ^ name/unknown
        "#]],
    );
}

#[test]
fn xml_that_is_no_model() {
    check(
        r#"
<project><name>something</name></project>
"#,
        expect![[r#"
            <project><name>something</name></project>
            ^^^^^^^^^ syntax/xml
        "#]],
    );
}
