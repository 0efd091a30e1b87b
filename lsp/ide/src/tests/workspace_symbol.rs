//! Declarations of all documents by a part of their name.

use super::*;
use crate::workspace_symbol::find;
use expect_test::{Expect, expect};

#[track_caller]
fn check(text: &str, query: &str, expected: Expect) {
    let fixture = Fixture::new(text.trim_start_matches('\n'));
    let mut out = String::new();
    for found in find(fixture.documents.iter().cloned(), query) {
        let file = fixture.file_name(&found.target.snapshot.uri);
        let inside = found
            .container
            .map_or_else(String::new, |c| format!(" in {c}"));
        let at = found
            .target
            .snapshot
            .file()
            .slice(found.target.span)
            .to_owned();
        out.push_str(&format!(
            "{} ({}){inside} at `{at}` of {file}\n",
            found.name,
            found.kind.word()
        ));
    }
    expected.assert_eq(&out);
}

#[test]
fn a_part_of_a_name() {
    check(
        r#"
int counter;
int other;
"#,
        "count",
        expect![[r#"
            counter (variable) at `counter` of m.xta
        "#]],
    );
}

#[test]
fn letters_in_their_order() {
    check(
        r#"
process TrainGate() { state s; init s; }
system TrainGate;
"#,
        "tg",
        expect![[r#"
            TrainGate (template) at `TrainGate` of m.xta
        "#]],
    );
}

#[test]
fn letters_in_another_order() {
    check(
        r#"
process TrainGate() { state s; init s; }
system TrainGate;
"#,
        "gi",
        expect![[""]],
    );
}

#[test]
fn capitals_do_not_matter() {
    check(
        "int Counter;",
        "COUNT",
        expect![[r#"
        Counter (variable) at `Counter` of m.xta
    "#]],
    );
}

#[test]
fn everything() {
    check(
        r#"
int a;
process P(const int i) { clock x; state s; init s; trans s -> s { select k : int[0,1]; guard k == i; }; }
system P;
"#,
        "",
        expect![[r#"
            a (variable) at `a` of m.xta
            P (template) at `P` of m.xta
            s (location) in P at `s` of m.xta
            x (clock) in P at `x` of m.xta
        "#]],
    );
}

#[test]
fn members_name_their_template() {
    check(
        r#"
process P() { clock x; state idle; init idle; }
process Q() { clock x; state idle; init idle; }
system P, Q;
"#,
        "idle",
        expect![[r#"
            idle (location) in P at `idle` of m.xta
            idle (location) in Q at `idle` of m.xta
        "#]],
    );
}

#[test]
fn fields_name_no_container_without_a_name() {
    check(
        "typedef struct { int alpha; } one;",
        "alpha",
        expect![[r#"
        alpha (field) at `alpha` of m.xta
    "#]],
    );
}

#[test]
fn a_function_and_its_locals() {
    check(
        "int twice(int n) { int local = n; return local; }",
        "l",
        expect![[r#"
            local (variable) in twice at `local` of m.xta
        "#]],
    );
}

#[test]
fn two_documents() {
    check(
        r#"
//- a.xta
int count;
//- b.xta
clock count;
"#,
        "count",
        expect![[r#"
            count (variable) at `count` of a.xta
            count (clock) at `count` of b.xta
        "#]],
    );
}

#[test]
fn query_files_declare_nothing() {
    check(
        r#"
//- m.xta
int n;
//- m.q
E<> forall (nn : int[0,1]) n > nn
"#,
        "n",
        expect![[r#"
            n (variable) at `n` of m.xta
        "#]],
    );
}

#[test]
fn an_xml_file() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration>int count;</declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"><name>t</name></location>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
<queries><query><formula>E&lt;&gt; P.s</formula></query></queries>
</nta>
"#,
        "",
        expect![[r#"
            count (variable) at `count` of m.xml
            P (template) at `P` of m.xml
            s (location) in P at `s` of m.xml
            t (location) in P at `t` of m.xml
        "#]],
    );
}

#[test]
fn unnamed_locations_in_xml() {
    check(
        r#"
<?xml version="1.0" encoding="utf-8"?>
<nta>
<declaration></declaration>
<template><name>P</name>
<location id="id0"><name>s</name></location>
<location id="id1"/>
<init ref="id0"/>
<transition><source ref="id0"/><target ref="id1"/></transition>
</template>
<system>system P;</system>
</nta>
"#,
        "id",
        expect![[r#"
            _id1 (location) in P at `<location id="id1"/>` of m.xml
        "#]],
    );
}

#[test]
fn a_broken_model() {
    check(
        r#"
int n = ;
int nn;
process P( {
"#,
        "n",
        expect![[r#"
            nn (variable) at `nn` of m.xta
        "#]],
    );
}

#[test]
fn nothing_found() {
    check("int a;", "zzz", expect![[""]]);
}

#[test]
fn characters_outside_the_basic_plane() {
    check(
        "/* 𝄞 */ int count;",
        "count",
        expect![[r#"
        count (variable) at `count` of m.xta
    "#]],
    );
}

#[test]
fn a_query_that_is_no_name() {
    check("int a;", "𝄞", expect![[""]]);
}
