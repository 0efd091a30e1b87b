//! Bad input through the whole analysis: an answer in good time, an error that says what is wrong, no crash.

use std::collections::BTreeMap;
use std::time::Instant;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

const END: &str = "\nprocess P() { state A; init A; }\nsystem P;\n";

/// Analyses a text completely and returns the codes of its errors.
#[track_caller]
fn errors(text: &str, kind: FileKind) -> Vec<&'static str> {
    let start = Instant::now();
    let file = SourceFile::parse(text, kind);
    let model = Model::new(&file, &BTreeMap::new());
    let network = model.network();
    let found: Vec<_> = model
        .diagnostics()
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .inspect(|d| {
            assert!(d.span.end as usize <= text.len(), "{d:?}");
            assert!(!d.message.is_empty());
        })
        .map(|d| d.code)
        .collect();
    if !found
        .iter()
        .any(|c| !c.starts_with("sym/") && !c.starts_with("query/"))
    {
        assert!(network.is_ok() || !network.unwrap_err().is_empty());
    }
    let seconds = start.elapsed().as_secs_f64();
    assert!(seconds < 20.0, "{seconds:.1} s for {:.60}", text);
    found
}

#[track_caller]
fn rejected(declarations: &str, code: &str) {
    let found = errors(&format!("{declarations}{END}"), FileKind::Xta);
    assert!(found.contains(&code), "{declarations}: {found:?}");
}

#[test]
fn types_that_contain_themselves() {
    rejected("typedef T T;", "name/unknown");
    rejected("typedef B A; typedef A B;", "name/unknown");
    rejected("typedef struct { Self next; } Self;", "name/unknown");
    rejected(
        "typedef struct { B b; } A; typedef struct { A a; } B;",
        "name/unknown",
    );
    rejected("typedef int[0,N] N;", "name/unknown");
    rejected("const int a = b; const int b = a;", "name/unknown");
    rejected("const int a = a + 1;", "name/unknown");
}

/// Bounds of products leave 64 bits (found by the soak): no crash, and never a bound that came round the other side.
#[test]
fn products_of_whole_ranges() {
    for bound in [
        "a * a * a",
        "-(a * a * a) * a",
        "a * a * a - a * a * a + a",
        "-a * 7 - a",
    ] {
        let text = format!(
            "typedef scalar[2] id; int a; int b[id];\nprocess P(id i) {{ clock x; state A {{ x <= {bound} }}; init A; trans A -> A {{ guard x >= {bound}; assign b[i] = {bound}; }}; }}\nsystem P;\n"
        );
        assert!(errors(&text, FileKind::Xta).is_empty(), "{bound}");
    }
}

#[test]
fn templates_that_use_themselves() {
    let with = |text: &str| {
        errors(
            &format!("process P(const int[0,1] i) {{ state A; init A; }}\n{text}\n"),
            FileKind::Xta,
        )
    };
    assert_eq!(with("Q = Q();\nsystem P;"), ["system/not-a-template"]);
    assert_eq!(
        with("A = B(); B = A();\nsystem P;"),
        ["system/not-a-template"]
    );
    assert_eq!(with("P = P(1);\nsystem P;"), ["name/duplicate"]);
    let own = "process P() { state A; init A; trans A -> A { guard P.A; }; }\nsystem P;\n";
    assert!(!errors(own, FileKind::Xta).is_empty());
    let calls = "int f(int n) { return g(n); } int g(int n) { return f(n); }";
    rejected(calls, "name/unknown");
    rejected("int f(int n) { return f(n - 1); }", "type/recursion");
}

#[test]
fn constants_out_of_range() {
    rejected("const int[0,3] c = 4;", "type/constant");
    rejected("int[0,3] v = 9;", "type/range");
    rejected("const int c = 2147483648;", "type/overflow");
    rejected("const int c = 2147483647 + 1;", "type/constant");
    rejected("const int c = -2147483647 - 2;", "type/constant");
    rejected("const int c = 65536 * 65536;", "type/constant");
    rejected("const int c = 1 / 0;", "type/constant");
    rejected("const int c = 1 % 0;", "type/constant");
    rejected("const int c = 1 << 99;", "type/constant");
    rejected("const int c = 1 << -1;", "type/constant");
    rejected("int[5,1] e;", "type/empty-range");
    rejected("const int[0,1] f[2] = {0, 7};", "type/constant");
}

#[test]
fn sizes_that_cannot_be() {
    rejected("int a[-1];", "type/array-size");
    rejected("int a[0];", "type/array-size");
    rejected("const int N = -3; int a[N];", "type/array-size");
    rejected("int a[1000000000];", "system/size");
    rejected("clock a[1000000000];", "system/size");
    rejected("chan a[100000][100000];", "system/size");
    rejected(
        "typedef struct { int v[100000]; } R; R r[100000];",
        "system/size",
    );
    rejected("scalar[0] s;", "type/scalar-size");
    rejected("scalar[-1] s;", "type/scalar-size");
    rejected("typedef scalar[0] S; S s;", "type/scalar-size");
    rejected("typedef scalar[1000000000] S; S s;", "system/size");
    rejected("typedef scalar[1000000000] S; int a[S];", "system/size");
    rejected("scalarset pid[1000000000];", "system/size");
    rejected("scalarset pid[0];", "type/scalar-size");
    let many = "process P(const int[0,999] a, const int[0,999] b, const int[0,999] c) { state A; init A; }\nsystem P;\n";
    assert_eq!(errors(many, FileKind::Xta), ["system/size"]);
    let family = "typedef scalar[100000] S;\nprocess P(const S a, const S b) { state A; init A; }\nsystem P;\n";
    assert_eq!(errors(family, FileKind::Xta), ["system/size"]);
}

#[test]
fn work_without_end() {
    rejected(
        "int f() { while (true) { } return 1; } const int N = f();",
        "type/constant",
    );
    rejected(
        "int f() { int i = 0; for (i = 0; i < 2; i = 0) { } return 1; } int a[f()];",
        "type/constant",
    );
    // Doubling at every call.
    let mut text = String::from("int f0() { return 1; }\n");
    for k in 1..60 {
        text += &format!("int f{k}() {{ return f{0}() + f{0}(); }}\n", k - 1);
    }
    rejected(&format!("{text}const int N = f59();"), "type/constant");
    // The same through symmetry summaries and through reads before assignment.
    let mut text = String::from("typedef scalar[3] S; S x; S g0(S v) { S r; r = v; return r; }\n");
    for k in 1..40 {
        text += &format!(
            "S g{k}(S v) {{ S r = g{0}(v); r = g{0}(r); return r; }}\n",
            k - 1
        );
    }
    let all = format!(
        "{text}process P(const S id) {{ state A; init A; trans A -> A {{ assign x = g39(id); }}; }}\nsystem P;\n"
    );
    assert_eq!(errors(&all, FileKind::Xta), [""; 0]);
    // Quantifiers over large ranges in a constant.
    rejected(
        "const int N = sum (i : int[0,30000]) sum (j : int[0,30000]) 1;",
        "type/constant",
    );
}

#[test]
fn every_prefix_of_a_model() {
    let text = "const int N = 3; typedef scalar[N] S; S x; int a[S] ; chan c[S];\nvoid f(S i) { for (j : S) if (j != i) a[j] = 0; }\nprocess P(const S id) { clock t; state A { t <= 5 }, B; init A; trans A -> B { select k : S; guard t > 2 && k != id; sync c[k]!; assign x = id, f(k); }; }\nsystem P;\n//@ query A[] forall (i : S) P(i).A imply a[i] == 0\n";
    for end in 0..=text.len() {
        errors(&text[..end], FileKind::Xta);
    }
    let file = SourceFile::parse(text, FileKind::Xta);
    let xml = zonelens_syntax::convert::to_xml(&file).unwrap();
    assert_eq!(errors(&xml, FileKind::Xml), [""; 0]);
    for (end, _) in xml.char_indices().step_by(3) {
        errors(&xml[..end], FileKind::Xml);
    }
}

#[test]
fn huge_and_nested_texts() {
    let n = 100_000;
    let (open, close) = ("(".repeat(n), ")".repeat(n));
    assert!(!errors(&format!("int a = {open}1{close};{END}"), FileKind::Xta).is_empty());
    assert!(
        !errors(
            &format!("int a = {}1;{END}", "1 + ".repeat(n)),
            FileKind::Xta
        )
        .contains(&"syntax/unexpected")
    );
    assert!(
        !errors(
            &format!("void f() {}{}{END}", "{".repeat(n), "}".repeat(n)),
            FileKind::Xta
        )
        .is_empty()
    );
    assert!(!errors(&format!("int a{};{END}", "[2]".repeat(1000)), FileKind::Xta).is_empty());
    assert!(!errors(&"int a; ".repeat(20_000), FileKind::Xta).is_empty());
    let deep = format!(
        "process P() {{ state A; init A; trans A -> A {{ guard {}true; }}; }}\nsystem P;\n",
        "!".repeat(n)
    );
    errors(&deep, FileKind::Xta);
    let many: String = (0..2000).map(|i| format!("int a{i} = b{i};\n")).collect();
    assert_eq!(errors(&format!("{many}{END}"), FileKind::Xta).len(), 2000);
    errors(&"§".repeat(100_000), FileKind::Xta);
    errors(&format!("/*{END}"), FileKind::Xta);
}

#[test]
fn bytes_that_are_not_text() {
    for bytes in [
        &b"int a\xff;\xfe system P;"[..],
        &[0u8, 159, 146, 150],
        &[0xEF, 0xBB, 0xBF, b'i'],
    ] {
        let text = String::from_utf8_lossy(bytes);
        errors(&text, FileKind::Xta);
        errors(&text, FileKind::Xml);
    }
    errors("\u{0}\u{0}int a;\u{0}", FileKind::Xta);
    errors("int \u{202e}a;", FileKind::Xta);
}

#[test]
fn hostile_xml() {
    for text in [
        "",
        "<nta>",
        "<nta></nta>",
        "<nta/><nta/>",
        "<a>".repeat(50_000).as_str(),
        "<!DOCTYPE nta [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><nta><declaration>&b;</declaration></nta>",
        "<!DOCTYPE nta SYSTEM \"file:///etc/passwd\"><nta><declaration>int a;</declaration><system>system P;</system></nta>",
        "<nta><declaration><![CDATA[int a[1000000000];]]></declaration><template><name>P</name><location id=\"i\"/><init ref=\"i\"/></template><system>system P;</system></nta>",
        "<nta><template><name>P</name><location id=\"i\"/><init ref=\"nowhere\"/><transition><source ref=\"x\"/><target ref=\"i\"/></transition></template><system>system P;</system></nta>",
        "<nta><template><name></name></template><template></template><system>system P, P;</system></nta>",
        "<nta><declaration>int a = &#x110000;;</declaration><system>&undefined;</system></nta>",
        "<nta><template><name>int</name><parameter>const</parameter><location id=\"i\"><name>while</name></location><init ref=\"i\"/></template><system>system int;</system></nta>",
    ] {
        assert!(!errors(text, FileKind::Xml).is_empty(), "{:.80}", text);
    }
}

/// Random damage to a good model: whatever comes, an update says the same as a fresh analysis.
#[test]
fn random_damage() {
    let good = "typedef scalar[3] S; S x; int a[S]; int n; meta S m;\nint f(S i, int &r) { int c = 0; for (j : S) if (j != i) c++; r = c; return c; }\nprocess P(const S id) { clock t; S own; state A { t <= 5 }, B; init A; trans A -> B { select k : S; guard t > 2 && k != id; assign x = id, n = f(k, a[id]); }, B -> A { guard own == x; assign own = id; }; }\nQ(const S i) = P(i);\nsystem Q;\n";
    let pieces = [
        "",
        ";",
        "{",
        "}",
        "(",
        "scalar[2]",
        "int",
        " x ",
        "= 0",
        "[id]",
        "+ 1",
        "forall (i : S)",
        "P",
        "\u{e9}",
    ];
    let mut seed = 0x2545_F491_4F6C_DD1Du64;
    let mut next = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    let mut file = SourceFile::parse(good, FileKind::Xta);
    let mut model = Model::new(&file, &BTreeMap::new());
    for round in 0..1500 {
        if round % 8 == 0 {
            file = SourceFile::parse(good, FileKind::Xta);
            model = model.update(&file);
        }
        let at = next(file.text.len() + 1);
        let end = (at + next(6)).min(file.text.len());
        let edit = zonelens_syntax::span::TextEdit {
            span: zonelens_syntax::span::Span::new(at as u32, end as u32),
            text: pieces[next(pieces.len())].into(),
        };
        file = file.reparse(&edit);
        model = model.update(&file);
        let fresh = Model::new(&file, &BTreeMap::new());
        let differ: Vec<_> = (model.diagnostics().iter().zip(fresh.diagnostics()))
            .filter(|(a, b)| a != b)
            .collect();
        assert!(differ.is_empty(), "{differ:#?} in\n{}", file.text);
        assert_eq!(model.diagnostics().len(), fresh.diagnostics().len());
        let _ = model.network();
    }
}
