//! A number that becomes a constant, and the text after it.

use super::*;
use crate::refactor::extract_constant;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let out = match extract_constant(&fixture.names(), fixture.span) {
        Some(change) => format!(
            "{}\n{}",
            change.title,
            edited(&fixture.text(), &change.edits)
        ),
        None => "nothing to extract\n".to_owned(),
    };
    expected.assert_eq(&out);
}

#[test]
fn a_bound_of_a_guard() {
    check(
        r#"
clock x;
process P() {
    state s;
    init s;
    trans s -> s { guard x >= 1$00; };
}
system P;
"#,
        expect![[r#"
            Extract 10 into a constant
            clock x;
            const int C10 = 10;
            process P() {
                state s;
                init s;
                trans s -> s { guard x >= C10; };
            }
            system P;
        "#]],
    );
}

#[test]
fn a_selected_number() {
    check(
        r#"
int n = 1 + $025$0;
"#,
        expect![[r#"
            Extract 25 into a constant
            const int C25 = 25;
            int n = 1 + C25;
        "#]],
    );
}

#[test]
fn part_of_a_number_is_the_number() {
    check(
        r#"
int n = $01$02345;
"#,
        expect![[r#"
            Extract 12345 into a constant
            const int C12345 = 12345;
            int n = C12345;
        "#]],
    );
}

#[test]
fn a_size_of_an_array() {
    check(
        r#"
int a[1$06];
"#,
        expect![[r#"
            Extract 16 into a constant
            const int C16 = 16;
            int a[C16];
        "#]],
    );
}

#[test]
fn the_name_is_taken() {
    check(
        r#"
const int C7 = 1;
int n = $07;
"#,
        expect![[r#"
            Extract 7 into a constant
            const int C7 = 1;
            const int C7_2 = 7;
            int n = C7_2;
        "#]],
    );
}

#[test]
fn a_numbered_name_is_taken_too() {
    check(
        r#"
int C7, C7_2;
int n = $07;
"#,
        expect![[r#"
            Extract 7 into a constant
            int C7, C7_2;
            const int C7_3 = 7;
            int n = C7_3;
        "#]],
    );
}

#[test]
fn a_constant_has_a_name_already() {
    check(
        r#"
const int N = $07;
"#,
        expect![[r#"
            nothing to extract
        "#]],
    );
}

#[test]
fn no_number_there() {
    check(
        r#"
int n$0 = m;
"#,
        expect![[r#"
            nothing to extract
        "#]],
    );
}

#[test]
fn a_number_in_a_comment() {
    check(
        r#"
int n; // up to $07
"#,
        expect![[r#"
            nothing to extract
        "#]],
    );
}

#[test]
fn digits_of_a_name() {
    check(
        r#"
int n2$0;
"#,
        expect![[r#"
            nothing to extract
        "#]],
    );
}

#[test]
fn not_in_queries() {
    check(
        r#"
int n;
system P;
query { A[] n < $03 }
"#,
        expect![[r#"
            nothing to extract
        "#]],
    );
}

#[test]
fn not_in_a_query_file() {
    check(
        r#"
//- m.xta
int n;
//- m.q
A[] n < $03
"#,
        expect![[r#"
            nothing to extract
        "#]],
    );
}

#[test]
fn an_item_after_another_on_its_line() {
    check(
        r#"
int a; int b = $05;
"#,
        expect![[r#"
            Extract 5 into a constant
            int a; const int C5 = 5; int b = C5;
        "#]],
    );
}

#[test]
fn a_template_of_xml() {
    check(
        r#"
<nta><declaration>int n;</declaration><template><name>P</name><location id="id0"><label kind="invariant">n &lt; $08</label></location><init ref="id0"/></template><system>system P;</system></nta>
"#,
        expect![[r#"
            Extract 8 into a constant
            <nta><declaration>int n;
            const int C8 = 8;</declaration><template><name>P</name><location id="id0"><label kind="invariant">n &lt; C8</label></location><init ref="id0"/></template><system>system P;</system></nta>
        "#]],
    );
}

#[test]
fn a_template_of_xml_without_declarations() {
    check(
        r#"
<nta><template><name>P</name><location id="id0"><label kind="invariant">1 &lt; $08</label></location><init ref="id0"/></template><system>system P;</system></nta>
"#,
        expect![[r#"
            Extract 8 into a constant
            <nta>
            <declaration>const int C8 = 8;</declaration><template><name>P</name><location id="id0"><label kind="invariant">1 &lt; C8</label></location><init ref="id0"/></template><system>system P;</system></nta>
        "#]],
    );
}
