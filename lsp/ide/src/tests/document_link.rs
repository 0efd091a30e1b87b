//! Links between a model and its queries, and from names of neighbouring files.

use super::*;
use crate::document_link::links;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let mut out = String::new();
    for document in &fixture.documents {
        let notes: Vec<(Span, String)> = links(&fixture, document)
            .into_iter()
            .map(|l| (l.span, format!("{}: {}", l.target, l.tooltip)))
            .collect();
        out.push_str(&format!("//- {}\n", fixture.file_name(&document.uri)));
        out.push_str(&annotated(document, &notes));
    }
    expected.assert_eq(&out);
}

#[test]
fn a_model_and_its_queries() {
    check(
        r#"
//- m.xta
process P() { state s; init s; }
system P;
//- m.q
A[] not deadlock
E<> P.s
"#,
        expect![[r#"
            //- m.xta
            system P;
            ^^^^^^ file:///m.q: Open the queries m.q
            //- m.q
            A[] not deadlock
            ^^^^^^^^^^^^^^^^ file:///m.xta: Open the model m.xta
        "#]],
    );
}

#[test]
fn a_model_alone() {
    check(
        r#"
process P() { state s; init s; }
system P;
"#,
        expect![[r#"
            //- m.xta
        "#]],
    );
}

#[test]
fn a_model_without_a_system_line() {
    check(
        r#"
//- m.xta
int n;
//- m.q
A[] n == 0
"#,
        expect![[r#"
            //- m.xta
            //- m.q
            A[] n == 0
            ^^^^^^^^^^ file:///m.xta: Open the model m.xta
        "#]],
    );
}

#[test]
fn queries_without_a_model() {
    check(
        r#"
//- m.q
A[] true
"#,
        expect![[r#"
            //- m.q
        "#]],
    );
}

#[test]
fn an_empty_query_file() {
    check(
        r#"
//- m.xta
system P;
//- m.q
"#,
        expect![[r#"
            //- m.xta
            system P;
            ^^^^^^ file:///m.q: Open the queries m.q
            //- m.q
        "#]],
    );
}

#[test]
fn queries_after_a_comment() {
    check(
        r#"
//- m.xta
system P;
//- m.q

// what must hold
A[] true
"#,
        expect![[r#"
            //- m.xta
            system P;
            ^^^^^^ file:///m.q: Open the queries m.q
            //- m.q
            // what must hold
            ^^^^^^^^^^^^^^^^^ file:///m.xta: Open the model m.xta
        "#]],
    );
}

#[test]
fn a_neighbour_named_in_a_comment() {
    check(
        r#"
//- m.xta
// See other.xta and missing.xta.
int n;
//- other.xta
int k;
"#,
        expect![[r#"
            //- m.xta
            // See other.xta and missing.xta.
                   ^^^^^^^^^ file:///other.xta: Open other.xta
            //- other.xta
        "#]],
    );
}

#[test]
fn a_name_that_goes_on() {
    check(
        r#"
//- m.xta
// other.xtaa, other.xta_1 and other.xta2 are something else.
int n;
//- other.xta
int k;
"#,
        expect![[r#"
            //- m.xta
            //- other.xta
        "#]],
    );
}

#[test]
fn a_model_does_not_link_to_itself() {
    check(
        r#"
//- m.xta
// This is m.xta.
int n;
"#,
        expect![[r#"
            //- m.xta
        "#]],
    );
}

#[test]
fn names_with_dashes_and_dots() {
    check(
        r#"
//- m.xta
// (a-b.v2.xta), "a-b.v2.xta"; not .xta
int n;
//- a-b.v2.xta
int k;
"#,
        expect![[r#"
            //- m.xta
            // (a-b.v2.xta), "a-b.v2.xta"; not .xta
                ^^^^^^^^^^ file:///a-b.v2.xta: Open a-b.v2.xta
                              ^^^^^^^^^^ file:///a-b.v2.xta: Open a-b.v2.xta
            //- a-b.v2.xta
        "#]],
    );
}

#[test]
fn a_model_in_xml() {
    check(
        r#"
//- m.xml
<nta><declaration>int n;</declaration><system>system P;</system></nta>
//- m.q
A[] true
"#,
        expect![[r#"
            //- m.xml
            <nta><declaration>int n;</declaration><system>system P;</system></nta>
                                                          ^^^^^^ file:///m.q: Open the queries m.q
            //- m.q
            A[] true
            ^^^^^^^^ file:///m.xml: Open the model m.xml
        "#]],
    );
}

#[test]
fn a_query_file_names_its_model() {
    check(
        r#"
//- m.xta
system P;
//- m.q
// Queries of m.xta.
A[] true
"#,
        expect![[r#"
            //- m.xta
            system P;
            ^^^^^^ file:///m.q: Open the queries m.q
            //- m.q
            // Queries of m.xta.
            ^^^^^^^^^^^^^^^^^^^^ file:///m.xta: Open the model m.xta
        "#]],
    );
}
