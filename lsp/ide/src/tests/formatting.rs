//! The text after formatting, of all of it or of what touches a selection.

use super::*;
use crate::formatting::format_document;
use expect_test::{Expect, expect};
use zonelens_syntax::format::FormatOptions;

/// Follows every text of declarations, because a file without a system line has an error and is not
/// formatted.
const REST: &str = "
process P() {
    state s;
    init s;
}

system P;
";

#[track_caller]
fn check(text: &str, expected: Expect) {
    let text = text.trim_start_matches('\n');
    let whole = match text.starts_with(['<', '/']) || text.contains("system") {
        true => text.to_owned(),
        false if text.contains('\r') => format!("{text}{}", REST.replace('\n', "\r\n")),
        false => format!("{text}{REST}"),
    };
    let fixture = Fixture::new(&whole);
    let marked = !fixture.span.is_empty() && fixture.span != fixture.at.full_span();
    let range = marked.then_some(fixture.span);
    let out = match format_document(&fixture.at, FormatOptions::default(), range) {
        None => "not formatted\n".to_owned(),
        Some(edits) if edits.is_empty() => "nothing to change\n".to_owned(),
        Some(edits) => edited(&fixture.text(), &edits).replace("\r\n", "␍\n"),
    };
    let out = out.strip_suffix(REST).unwrap_or(&out);
    expected.assert_eq(out);
}

#[test]
fn blanks_around_operators() {
    check(
        r#"
int n=1+2*3;
"#,
        expect![[r#"
            int n = 1 + 2 * 3;
        "#]],
    );
}

#[test]
fn a_formatted_text() {
    check(
        r#"
int n = 1;
"#,
        expect![[r#"
            nothing to change
        "#]],
    );
}

#[test]
fn labels_of_an_edge() {
    check(
        r#"
process P(){state s,t;init s;trans s->t{guard n<3;assign n=n+1;};}
system P;
"#,
        expect![[r#"
            process P() {
                state s, t;
                init s;
                trans
                    s -> t { guard n < 3; assign n = n + 1; };
            }

            system P;
        "#]],
    );
}

#[test]
fn a_function() {
    check(
        r#"
void f(){if(n<3){n=n+1;}else n=0;}
"#,
        expect![[r#"
            void f() {
                if (n < 3) {
                    n = n + 1;
                } else n = 0;
            }
        "#]],
    );
}

#[test]
fn comments_stay() {
    check(
        r#"
int n ; // the number
int m ; /* all   of
   it */
"#,
        expect![[r#"
            int n; // the number
            int m; /* all   of
               it */
        "#]],
    );
}

#[test]
fn text_with_an_error_stays() {
    check(
        r#"
int n = ;
int   m;
"#,
        expect![[r#"
            not formatted
        "#]],
    );
}

#[test]
fn xml_stays() {
    check(
        r#"
<nta><declaration>int   n;</declaration><system>system P;</system></nta>
"#,
        expect![[r#"
            not formatted
        "#]],
    );
}

#[test]
fn only_the_selection() {
    check(
        r#"
int a=1;
$0int b=2;$0
int c=3;
"#,
        expect![[r#"
            int a=1;
            int b = 2;
            int c=3;
        "#]],
    );
}

#[test]
fn a_selection_inside_a_line() {
    check(
        r#"
int a=1+$02*3+4$0;
"#,
        expect![[r#"
            int a=1+ 2 * 3 + 4;
        "#]],
    );
}

#[test]
fn line_ends_of_windows() {
    check(
        "int a=1;\r\nint b=2;\r\n",
        expect![[r#"
            int a = 1;␍
            int b = 2;␍
            ␍
            process P() {␍
                state s;␍
                init s;␍
            }␍
            ␍
            system P;␍
        "#]],
    );
}

#[test]
fn queries() {
    check(
        r#"
//- m.q
A[]   not  deadlock
E<>  P.s
"#,
        expect![[r#"
            A[] not deadlock
            E<> P.s
        "#]],
    );
}

#[test]
fn blank_lines_between_declarations() {
    check(
        r#"
int a;




int b;
"#,
        expect![[r#"
            int a;

            int b;
        "#]],
    );
}

#[test]
fn only_white_space() {
    check(
        r#"
   
"#,
        expect![[r#"
            process P() {
                state s;
                init s;
            }

            system P;
        "#]],
    );
}

#[test]
fn names_beyond_ascii_in_comments() {
    check(
        r#"
int a=1;// naïve café
"#,
        expect![[r#"
            int a = 1; // naïve café
        "#]],
    );
}
