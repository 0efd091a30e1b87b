//! The mistakes that users make in their first hour: each has one message, and its fix corrects the
//! text.
//!
//! Writes `docs/mistakes.md` if `ZONELENS_UPDATE_PAGES` is set; otherwise the test fails if the
//! page is out of date.

use std::collections::BTreeMap;
use zonelens_analysis::Model;
use zonelens_analysis::diagnostic::{Diagnostic, Fix, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::lexer::{Mode, lex};
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_syntax::token::TokenKind;

/// A model without mistakes, with a place for each of them.
const MODEL: &str = "const int N = 2;
typedef int[0,N-1] id_t;
typedef scalar[3] pid;
typedef struct {
    int first;
    int second;
} pair;
clock z;
chan go[id_t];
urgent broadcast chan stop;
int count, limit = 3;
bool ready = true;
id_t last;
pair both;
int list[2] = {1, 2};
chan priority go[0] < default;

int next(int v) {
    int w;
    w = v + 1;
    while (w > limit) {
        w = w - 1;
    }
    for (i : id_t) {
        list[i] = w;
        w++;
    }
    if (w > 2) {
        w = 2;
    } else {
        w = 1;
    }
    return w;
}

process Train(const id_t id) {
    clock x;
    id_t mine;
    int[0,9] k;
    state
        Safe,
        Near { x <= 20 },
        Cross { x <= 5 },
        Out,
        Late;
    commit Out;
    urgent Late;
    init Safe;
    trans
        Safe -> Near { sync go[id]!; assign x = 0, k = 1; },
        Near -> Cross {
            guard x >= 3 && count < limit;
            assign x = 0, mine = id;
        },
        Cross -> Out {
            select other : id_t;
            guard x >= 2 && other != mine;
            assign k = other;
        },
        Near -> Late { guard x >= 9 or count > 7; },
        Late -> Safe { guard not ready; sync stop!; },
        Out -> Safe { assign both.first = k; };
}

process Gate() {
    clock y;
    state Free, Busy;
    init Free;
    trans
        Free -> Busy { select i : id_t; sync go[i]?; assign y = 0, last = i; },
        Busy -> Free { guard y >= 1; assign count = next(count); };
}

process Worker(const pid me) {
    state idle, busy;
    init idle;
    trans
        idle -> busy { sync stop?; };
}

Crossing = Gate();
system Train, Crossing, Worker;
//@ query A[] not Train(0).Cross or Train(1).Safe
//@ query E<> forall (w : pid) Worker(w).busy
";

const XML: &str = "<?xml version=\"1.0\" encoding=\"utf-8\"?>
<nta>
<declaration>clock x;
int n;
chan go;</declaration>
<template>
<name>P</name>
<declaration>int m;
int twice(int v) {
    return 2 * v;
}</declaration>
<location id=\"id0\"><name>A</name><label kind=\"invariant\">x &lt;= 5</label></location>
<location id=\"id1\"><name>B</name></location>
<init ref=\"id0\"/>
<transition><source ref=\"id0\"/><target ref=\"id1\"/>
<label kind=\"guard\">x &gt;= 2 &amp;&amp; n &lt; 3</label>
<label kind=\"synchronisation\">go!</label>
<label kind=\"assignment\">x = 0, m = twice(n)</label>
</transition>
</template>
<template>
<name>Q</name>
<location id=\"id2\"><name>C</name></location>
<init ref=\"id2\"/>
<transition><source ref=\"id2\"/><target ref=\"id2\"/>
<label kind=\"synchronisation\">go?</label>
</transition>
</template>
<system>Q1 = Q();
system P, Q1;</system>
<queries>
<query><formula>E&lt;&gt; P.B</formula></query>
</queries>
</nta>
";

/// A mistake: a heading, the correct text in the model, the mistake in its place, and the code of
/// the message.
struct Mistake {
    about: &'static str,
    model: &'static str,
    right: &'static str,
    wrong: &'static str,
    code: &'static str,
    /// The index of the fix that corrects the text; the others must do no harm.
    repair: Option<usize>,
}

const fn xta(
    about: &'static str,
    right: &'static str,
    wrong: &'static str,
    code: &'static str,
    repair: Option<usize>,
) -> Mistake {
    Mistake {
        about,
        model: MODEL,
        right,
        wrong,
        code,
        repair,
    }
}

const fn xml(
    about: &'static str,
    right: &'static str,
    wrong: &'static str,
    code: &'static str,
    repair: Option<usize>,
) -> Mistake {
    Mistake {
        about,
        model: XML,
        right,
        wrong,
        code,
        repair,
    }
}

const SEMICOLON: &str = "syntax/missing-semicolon";
const UNEXPECTED: &str = "syntax/unexpected";
const UNKNOWN: &str = "name/unknown";
const FIRST: Option<usize> = Some(0);

#[rustfmt::skip]
const MISTAKES: &[Mistake] = &[
    xta("A missing `;`", "const int N = 2;", "const int N = 2", SEMICOLON, FIRST),
    xta("A missing `;`", "} pair;", "} pair", SEMICOLON, FIRST),
    xta("A missing `;`", "id_t last;", "id_t last // the last one", SEMICOLON, FIRST),
    xta("A missing `;`", "w = v + 1;", "w = v + 1", SEMICOLON, FIRST),
    xta("A missing `;`", "return w;", "return w", SEMICOLON, FIRST),
    xta("A missing `;`", "w = 2;\n    } else", "w = 2 } else", SEMICOLON, FIRST),
    xta("A missing `;`", "commit Out;", "commit Out", SEMICOLON, FIRST),
    xta("A missing `;`", "guard y >= 1; assign", "guard y >= 1 assign", SEMICOLON, FIRST),
    xta("A missing `;`", "assign both.first = k; };", "assign both.first = k; }", SEMICOLON, FIRST),
    xta("A missing `;`", "Crossing = Gate();", "Crossing = Gate()", SEMICOLON, FIRST),
    xta("A missing `;`", "system Train, Crossing, Worker;", "system Train, Crossing, Worker", SEMICOLON, FIRST),
    xml("A missing `;`", "int n;", "int n", SEMICOLON, FIRST),
    xml("A missing `;`", "Q1 = Q();", "Q1 = Q()", SEMICOLON, FIRST),
    xta("A missing `,`", "Late -> Safe { guard not ready; sync stop!; },", "Late -> Safe { guard not ready; sync stop!; }", SEMICOLON, FIRST),
    xta("`;` between edges", "Out -> Safe", "Out -> Safe { }; Out -> Safe", UNEXPECTED, None),
    xta("`;` between updates", "x = 0, k = 1;", "x = 0; k = 1;", UNEXPECTED, FIRST),
    xml("`;` between updates", "x = 0, m =", "x = 0; m =", UNEXPECTED, FIRST),
    xml("`;` at the end of an XML label", "m = twice(n)<", "m = twice(n);<", UNEXPECTED, FIRST),
    xta("No mark on a synchronisation", "sync go[i]?;", "sync go[i];", "unsupported/csp", Some(1)),
    xml("No mark on a synchronisation", ">go!<", ">go<", "unsupported/csp", FIRST),
    xta("Operators in capitals", "x >= 3 && count", "x >= 3 AND count", UNEXPECTED, FIRST),
    xta("Operators in capitals", "x >= 9 or count", "x >= 9 OR count", UNEXPECTED, FIRST),
    xta("Operators in capitals", "guard not ready", "guard NOT ready", UNEXPECTED, FIRST),
    xta("Operators in capitals", "guard not ready", "guard NOT(ready)", UNKNOWN, FIRST),
    xta("Operators in capitals", "Cross or Train(1)", "Cross OR Train(1)", "query/syntax", FIRST),
    xta("`template` for `process`", "process Gate()", "template Gate()", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "process Gate()", "proces Gate()", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "guard x >= 3", "gaurd x >= 3", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "sync stop?;", "snyc stop?;", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "assign both.first", "update both.first", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "select other", "selct other", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "commit Out;", "comit Out;", UNKNOWN, FIRST),
    xta("Misspelt keywords", "urgent Late;", "urgnet Late;", UNKNOWN, FIRST),
    xta("Misspelt keywords", "init Safe;", "inti Safe;", UNKNOWN, FIRST),
    xta("Misspelt keywords", "state idle, busy;", "stat idle, busy;", UNKNOWN, FIRST),
    xta("Misspelt keywords", "state\n        Safe,\n        Near {", "stae\n        Safe { x <= 90 },\n        Near {", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "trans\n        idle", "tarns\n        idle", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "while (w > limit) {", "whlie (w > limit) {", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "for (i : id_t) {", "fro (i : id_t) {", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "w = v + 1;", "swich (v) { case 1: w = 2; break; default: w = 1; }", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "} else {", "} esle {", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "return w;", "retrun w;", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "return w;", "retrun w + 0;", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "const int N", "cosnt int N", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "typedef int[0,N-1]", "typdef int[0,N-1]", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "urgent broadcast chan", "urgnet broadcast chan", UNEXPECTED, FIRST),
    xta("Misspelt keywords", "clock z;", "clokc z;", UNKNOWN, FIRST),
    xta("Misspelt keywords", "bool ready", "boolean ready", UNKNOWN, FIRST),
    xta("Misspelt keywords", "int count,", "integer count,", UNKNOWN, FIRST),
    xta("Misspelt keywords", "system Train,", "sytem Train,", "syntax/system", FIRST),
    xta("Misspelt names", "count < limit", "count < limt", UNKNOWN, FIRST),
    xta("Misspelt names", "id_t mine;", "idt mine;", UNKNOWN, FIRST),
    xta("Misspelt names", "sync stop!", "sync stp!", UNKNOWN, FIRST),
    xta("Misspelt names", "= next(count)", "= nxet(count)", UNKNOWN, FIRST),
    xta("Misspelt names", "k = other;", "k = othr;", UNKNOWN, FIRST),
    xta("Misspelt names", "both.first = k", "both.frist = k", "type/member", FIRST),
    xta("Misspelt names", "Near -> Late {", "Naer -> Late {", UNKNOWN, FIRST),
    xta("Misspelt names", "urgent Late", "urgent Lete", UNKNOWN, FIRST),
    xta("Misspelt names", "Crossing = Gate()", "Crossing = Gaet()", "system/not-a-template", FIRST),
    xta("Misspelt names", "system Train, Crossing, Worker;", "system Train, Crossing, Wroker;", "system/not-a-template", FIRST),
    xta("Misspelt names", "system Train, Crossing, Worker;", "system Train, Crossing, Employee;", "system/not-a-template", None),
    xta("Misspelt names", "Train(1).Safe", "Trian(1).Safe", "query/name", FIRST),
    xta("Misspelt names", "Train(1).Safe", "Train(1).Sfae", "query/name", FIRST),
    xta("Misspelt names", "(w : pid) Worker", "(w : pdi) Worker", "query/name", FIRST),
    xta("A process of a family by a number in its name", "not Train(0).Cross", "not Train0.Cross", "query/name", FIRST),
    xta("A process of a family by a number in its name", "forall (w : pid) Worker(w).busy", "Worker1.busy", "query/name", FIRST),
    xta("A number for an element of a scalarset", "forall (w : pid) Worker(w).busy", "Worker(1).busy", "query/type", FIRST),
    xml("`<` and `&` in XML", "x &lt;= 5", "x <= 5", "syntax/xml", FIRST),
    xml("`<` and `&` in XML", "n &lt; 3", "n<3", "syntax/xml", FIRST),
    xml("`<` and `&` in XML", "2 &amp;&amp; n", "2 && n", "syntax/xml", FIRST),
    xml("XML without `<init>`", "\n<init ref=\"id0\"/>", "", "system/initial", FIRST),
    xta("An invariant that is false on entry", "guard x >= 3 && count < limit;\n            assign x = 0, mine = id;", "guard x >= 6; assign mine = id;", "lint/invariant-on-entry", None),
    xta("An invariant that is false on entry", "assign x = 0, mine = id;", "assign x = 7, mine = id;", "lint/invariant-on-entry", None),
    xta("A loop that needs no time", "Out -> Safe", "Out -> Out { }, Out -> Safe", "lint/endless-loop", None),
    xta("A loop that needs no time", "Late -> Safe", "Late -> Late { }, Late -> Safe", "lint/endless-loop", None),
    xta("A loop that needs no time", "Free -> Busy", "Free -> Free { }, Free -> Busy", "lint/zeno", None),
];

fn kind(m: &Mistake) -> FileKind {
    match m.model.starts_with("<?xml") {
        true => FileKind::Xml,
        false => FileKind::Xta,
    }
}

fn diagnostics(text: &str, kind: FileKind) -> Vec<Diagnostic> {
    let file = SourceFile::parse(text, kind);
    Model::new(&file, &BTreeMap::new()).diagnostics().to_vec()
}

fn apply(text: &str, fix: &Fix) -> String {
    let mut edits = fix.edits.clone();
    edits.sort_by_key(|e| std::cmp::Reverse((e.span.start, e.span.end)));
    let mut out = text.to_owned();
    for e in edits {
        out.replace_range(e.span.range(), &e.text);
    }
    out
}

/// Checks that an edit from one text to the other gives the same result as parsing it again, in
/// both directions.
fn assert_reparse_is_exact(a: &str, b: &str, kind: FileKind) {
    for (from, to) in [(a, b), (b, a)] {
        let front = from
            .bytes()
            .zip(to.bytes())
            .take_while(|(x, y)| x == y)
            .count();
        let most = from.len().min(to.len()) - front;
        let behind = (from.bytes().rev().zip(to.bytes().rev()))
            .take(most)
            .take_while(|(x, y)| x == y)
            .count();
        let edit = TextEdit {
            span: Span::new(front as u32, (from.len() - behind) as u32),
            text: to[front..to.len() - behind].to_owned(),
        };
        let edited = SourceFile::parse(from, kind).reparse(&edit);
        assert_eq!(edited, SourceFile::parse(to, kind), "{edit:?}");
    }
}

/// The errors, and all other diagnostics with this code.
fn relevant<'a>(list: &'a [Diagnostic], code: &str) -> Vec<&'a Diagnostic> {
    let is_loud = |d: &&Diagnostic| d.severity == Severity::Error || d.code == code;
    list.iter().filter(is_loud).collect()
}

/// The lines of `text` that `other` does not have, as inline code for a table.
fn changed(text: &str, other: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let others: Vec<&str> = other.lines().collect();
    let same = |a: &[&str], b: &[&str]| a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let front = same(&lines, &others);
    let back: Vec<&str> = lines[front..].iter().rev().copied().collect();
    let other_back: Vec<&str> = others[front..].iter().rev().copied().collect();
    let end = lines.len() - same(&back, &other_back);
    // If text was only removed, show the line where it was.
    let shown = match front < end {
        true => &lines[front..end],
        false => &lines[front.saturating_sub(1)..front],
    };
    let shown: Vec<&str> = shown.iter().map(|l| l.trim()).collect();
    format!("`{}`", shown.join(" ⏎ ").replace('|', "\\|"))
}

#[test]
fn the_models_have_no_mistakes() {
    for (text, kind) in [(MODEL, FileKind::Xta), (XML, FileKind::Xml)] {
        let found = diagnostics(text, kind);
        let relevant: Vec<_> = found
            .iter()
            .filter(|d| d.severity == Severity::Error || MISTAKES.iter().any(|m| m.code == d.code))
            .collect();
        assert!(relevant.is_empty(), "{relevant:#?}");
    }
}

#[test]
fn each_mistake_has_one_message_and_a_working_fix() {
    let mut wrong = Vec::new();
    let mut page = String::from(
        "# Common mistakes\n\nWhat is said about the mistakes that are made in the first hour, and what the quick fix makes of them. Written by a test\n(`cargo test -p zonelens-analysis --test main mistakes`), which applies each fix and checks that nothing is left to say.\n",
    );
    let mut about = "";
    for m in MISTAKES {
        let text = m.model.replacen(m.right, m.wrong, 1);
        assert_ne!(text, m.model, "{} is not in the model", m.right);
        assert_reparse_is_exact(m.model, &text, kind(m));
        let found = diagnostics(&text, kind(m));
        let list = relevant(&found, m.code);
        let [only] = list[..] else {
            let said: Vec<_> = list.iter().map(|d| (d.code, &d.message)).collect();
            wrong.push(format!("{:?}: {} errors: {said:#?}", m.wrong, list.len()));
            continue;
        };
        if only.code != m.code {
            wrong.push(format!("{:?}: {} {}", m.wrong, only.code, only.message));
        }
        if m.repair.is_none() && !only.fixes.is_empty() && m.code != "system/initial" {
            wrong.push(format!(
                "{:?} has a repair that is not tested: {:?}",
                m.wrong, only.fixes
            ));
        }
        let mut made = "–".to_owned();
        for (i, fix) in only.fixes.iter().enumerate() {
            let repaired = apply(&text, fix);
            let left = diagnostics(&repaired, kind(m));
            let left = relevant(&left, m.code);
            if !left.is_empty() {
                wrong.push(format!("{:?}, {}: {left:#?}", m.wrong, fix.title));
            }
            if m.repair == Some(i) {
                made = changed(&repaired, &text);
            }
        }
        if m.repair.is_some() && made == "–" {
            wrong.push(format!("{:?} has no repair: {}", m.wrong, only.message));
        }
        if about != m.about {
            about = m.about;
            page.push_str(&format!(
                "\n## {about}\n\n| written | said | the fix makes |\n|---|---|---|\n"
            ));
        }
        page.push_str(&format!(
            "| {} | {} ([{}](rules/{}.md)) | {made} |\n",
            changed(&text, m.model),
            only.message.replace('|', "\\|"),
            m.code,
            m.code
        ));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mistakes.md");
    if std::env::var_os("ZONELENS_UPDATE_PAGES").is_some() {
        std::fs::write(&path, &page).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(kept, page, "docs/mistakes.md is not what happens");
}

/// Removes every `;` of the models, and the comma after every edge: there is one error at that
/// place, and its fix restores the text.
#[test]
fn a_missing_semicolon_is_one_error_wherever_it_is() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (model, kind) in [(MODEL, FileKind::Xta), (XML, FileKind::Xml)] {
        let masked = SourceFile::parse(model, kind).masked().into_owned();
        let tokens = lex(&masked, Mode::Model);
        for (i, t) in tokens.iter().enumerate() {
            let after_edge = t.kind == TokenKind::Comma
                && i > 0
                && tokens[i - 1].kind == TokenKind::RBrace
                && tokens
                    .get(i + 2)
                    .is_some_and(|t| t.kind == TokenKind::Arrow);
            if t.kind != TokenKind::Semi && !after_edge {
                continue;
            }
            tried += 1;
            let mut text = model.to_owned();
            text.replace_range(t.start as usize..t.end as usize, "");
            let line = model[..t.start as usize].lines().last().unwrap_or("");
            assert_reparse_is_exact(model, &text, kind);
            let found = diagnostics(&text, kind);
            let list = relevant(&found, SEMICOLON);
            match list[..] {
                [only]
                    if only.code == SEMICOLON
                        && only.span.start == t.start
                        && only.span.is_empty()
                        && only.fixes.len() == 1
                        && apply(&text, &only.fixes[0]) == model => {}
                _ => wrong.push(format!("{line:?}: {list:#?}")),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n---\n"));
    assert!(tried > 60, "{tried}");
}

/// Correct texts that look like mistakes.
#[test]
fn texts_that_look_like_mistakes_are_accepted() {
    let right: &[&str] = &[
        // A declaration over several lines; names and types like keywords; functions like
        // operators.
        "typedef int[0,3]\n  stat;\nstat\n  s;\nint\n  a\n  =\n  1\n  ,\n  b;\nprocess P() { stat t; state A; init A; }\nsystem P;",
        "typedef struct { int a; }\n  State;\nState\n  s;\nprocess P() { State comit; state A; init A; }\nsystem P;",
        "bool NOT(bool a) { return !a; }\nbool AND(bool a, bool b) { return a && b; }\nbool c;\nprocess P() { state A; init A; trans A -> A { guard NOT(c) && AND(c, c); assign c = NOT(c); }; }\nsystem P;",
        "typedef int[0,1] returns;\nint whale(int a) { returns r; r = 1; return a + r; }\nint f() { int forth; forth = 1; whale(forth); return forth; }\nprocess P() { state A; init A; }\nsystem P;",
        "typedef int[0,1] Systems;\nSystems s;\ntypedef int[0,1] template_t;\ntemplate_t f(int a) { return 1; }\nprocess P() { state A; init A; }\nsystem P;",
        "typedef scalar[2] pid;\nprocess P(const pid i) { state A; init A; }\nProcs = forall i in\n  pid : P(i);\nsystem Procs;",
        // The target's invariant holds for some value, or another process resets the clock.
        "clock g; chan c;\nprocess P(const int[0,9] n) { clock x; state A, B { x <= 9 }, C { g <= 3 }; init A; trans A -> B { guard x >= n; }, A -> B { guard x >= 9; }, A -> C { guard g >= 5; sync c!; }; }\nprocess Q() { state A; init A; trans A -> A { sync c?; assign g = 0; }; }\nsystem P, Q;",
    ];
    for text in right {
        let found = diagnostics(text, FileKind::Xta);
        let relevant: Vec<_> = found
            .iter()
            .filter(|d| d.severity == Severity::Error || d.code == "lint/invariant-on-entry")
            .collect();
        assert!(relevant.is_empty(), "{text}\n{relevant:#?}");
    }
    // A loop that waits for another process or for time, and one in a location that time forces to
    // leave.
    for edge in [
        "sync c!;",
        "guard x >= 1; assign x = 0;",
        "guard n < 3; assign n++;",
    ] {
        let text = format!(
            "chan c; int[0,3] n;\nprocess P() {{ clock x; state A; commit A; init A; trans A -> A {{ {edge} }}; }}\nprocess Q() {{ state A; init A; trans A -> A {{ sync c?; }}; }}\nsystem P, Q;"
        );
        let found = diagnostics(&text, FileKind::Xta);
        let warned = |d: &&Diagnostic| d.code == "lint/endless-loop";
        assert!(found.iter().find(warned).is_none(), "{edge} {found:#?}");
    }
}

/// A clock in arithmetic is real-valued, but the model contains no floating-point number.
#[test]
fn floating_point_is_named_only_where_there_is_some() {
    let reason = |declarations: &str, guard: &str| {
        let text = format!(
            "{declarations}\nprocess P() {{ clock x; state A; init A; trans A -> A {{ guard {guard}; }}; }}\nsystem P;"
        );
        let file = SourceFile::parse(text, FileKind::Xta);
        let model = Model::new(&file, &BTreeMap::new());
        let network = model.network().expect("a network");
        let first = network.unsupported.first();
        first.map(|u| (u.code.to_string(), u.message.to_string()))
    };
    let clock = reason("", "abs(x) >= 2").expect("not supported");
    assert_eq!(clock.0, "unsupported/clock-sum");
    assert!(!clock.1.contains("floating"), "{}", clock.1);
    let double = reason("double d;", "d > 1.5").expect("not supported");
    assert_eq!(double.0, "unsupported/double");
    assert!(double.1.contains("floating"), "{}", double.1);
}
