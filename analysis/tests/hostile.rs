//! Bad input through the whole analysis: a result in reasonable time, an error that says what is
//! wrong, and no crash.

use std::collections::BTreeMap;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::processor_time;

const END: &str = "\nprocess P() { state A; init A; }\nsystem P;\n";

/// Analyses a text completely and returns the codes of its errors.
#[track_caller]
fn errors(text: &str, kind: FileKind) -> Vec<&'static str> {
    let start = processor_time();
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
    let seconds = processor_time().saturating_sub(start).as_secs_f64();
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

/// Bounds of products exceed 64 bits (found by the soak test): no crash, and no bound that has
/// wrapped around.
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
fn impossible_sizes() {
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

/// Forty types that each contain the previous one twice: small in memory, but a walk over the last
/// one would never end.
#[test]
fn types_that_double() {
    let mut bomb = String::from("typedef struct { int[0,1] a; int[0,1] b; } T1;\n");
    for k in 2..=40 {
        bomb += &format!("typedef struct {{ T{0} a; T{0} b; }} T{k};\n", k - 1);
    }
    let named = |text: &str, kind| {
        let file = SourceFile::parse(text, kind);
        let model = Model::new(&file, &BTreeMap::new());
        let found = model.diagnostics().iter().find(|d| d.code == "system/size");
        found.map_or(String::new(), |d| d.message.clone())
    };
    for uses in [
        "T40 x;",
        "T40 x[2][2];",
        "void f(T40 x) { }",
        "void f(T40 &x) { }",
        "void f() { T40 x; }",
        "T40 f() { T40 x; return x; }",
        "process Q(T40 &x) { T40 y; state A; init A; }",
        "const T40 x = {{}};",
        "T40 x, y; bool same() { return x == y; }",
    ] {
        let text = format!("{bomb}{uses}{END}");
        rejected(&format!("{bomb}{uses}"), "system/size");
        assert!(named(&text, FileKind::Xta).contains("`T10` has 2047 parts"));
    }
    let text = format!(
        "<nta><declaration>{bomb}T40 x;</declaration><template><name>P</name><declaration>T40 y;</declaration><location id=\"i\"/><init ref=\"i\"/></template><system>system P;</system></nta>"
    );
    assert!(errors(&text, FileKind::Xml).contains(&"system/size"));
    assert!(named(&text, FileKind::Xml).contains("`T10`"));
    let mut deep = String::from("typedef int A0[1];\n");
    for k in 1..400 {
        deep += &format!("typedef A{} A{k}[1];\n", k - 1);
    }
    rejected(&format!("{deep}A399 x;"), "system/size");
    // The largest type allowed, many times.
    let fields: String = (0..1990).map(|k| format!("int f{k}; ")).collect();
    let many: String = (0..2000).map(|k| format!("T v{k}; ")).collect();
    let text = format!("typedef struct {{ {fields}}} T;\n{many}{END}");
    assert_eq!(errors(&text, FileKind::Xta), [""; 0]);
}

/// The memory for functions and constants is counted over the whole model before it is allocated.
#[test]
fn memory_that_adds_up() {
    let refused = |declarations: &str| {
        let text = format!("{declarations}{END}");
        let file = SourceFile::parse(text.as_str(), FileKind::Xta);
        let model = Model::new(&file, &BTreeMap::new());
        let network = model.network();
        let found = network.expect_err("too large");
        assert!(found.iter().any(|d| d.code == "system/size"), "{found:?}");
    };
    rejected(
        "typedef int M[1000000]; void f(M x[1000]) { }",
        "system/size",
    );
    rejected("void f() { int a[2000000]; }", "system/size");
    refused(&format!(
        "void f() {{ {} }}",
        "{ int a[1000000]; a[0] = 1; }".repeat(5000)
    ));
    let variables: String = (0..5000).map(|k| format!("int a{k}[1000000]; ")).collect();
    refused(&format!("void f() {{ {variables} }}"));
    let functions: String = (0..5000)
        .map(|k| format!("void f{k}() {{ int a[1000000]; a[0] = 1; }}\n"))
        .collect();
    refused(&functions);
    let constants: String = (0..5000)
        .map(|k| format!("const int c{k}[1000000] = {{0}};\n"))
        .collect();
    rejected(&constants, "type/constant");
    // Reading single entries does not copy the array each time.
    let reads = "int f() { int a[1000000]; int i; int n; for (i = 0; i < 30000; i++) { n = a[i]; } return 1; }\n";
    let text = format!("{reads}const int N = f();{END}");
    assert_eq!(errors(&text, FileKind::Xta), [""; 0]);
    // Using whole arrays does.
    rejected(
        "typedef struct { int v[1000000]; } R; int f() { R a; R b; int i; for (i = 0; i < 30000; i++) { b = a; } return 1; }\nconst int N = f();",
        "type/constant",
    );
    // Each constant is within its limit, but all of them together are not.
    let long = "int f() { int i; int n; for (i = 0; i < 30000; i++) { n = i % 7; } return 1; }\n";
    let constants: String = (0..2000)
        .map(|k| format!("const int c{k} = f();\n"))
        .collect();
    rejected(&format!("{long}{constants}"), "type/constant");
}

/// All diagnostics are counted, but only the worst are shown.
#[test]
fn only_the_worst_diagnostics_are_shown() {
    use zonelens_analysis::diagnostic::{Diagnostic, MAX_SHOWN, shown};
    let wrong: String = (0..3000).map(|i| format!("int a{i} = b{i};\n")).collect();
    let unused: String = (0..3000).map(|i| format!("int unused{i};\n")).collect();
    let file = SourceFile::parse(format!("{unused}{wrong}{END}"), FileKind::Xta);
    let model = Model::new(&file, &BTreeMap::new());
    let all = model.diagnostics().to_vec();
    let errors = all.iter().filter(|d| d.severity == Severity::Error).count();
    assert_eq!(errors, 3000);
    let list = shown(all.clone(), |d: &Diagnostic| d);
    assert_eq!(list.len(), MAX_SHOWN + 1);
    let (last, rest) = list.split_last().expect("some");
    assert!(rest.iter().all(|d| d.severity == Severity::Error));
    assert!(rest.is_sorted_by_key(|d| d.span.start));
    assert_eq!(last.code, "lint/more");
    let more = all.len() - MAX_SHOWN;
    let said = format!("and {more} more in this file, 2000 of them errors");
    assert_eq!(last.message, said);
    let few = all[..MAX_SHOWN].to_vec();
    assert_eq!(shown(few.clone(), |d: &Diagnostic| d), few);
}

/// The outline, computed without the network, gives the same numbers of processes and lengths of
/// arrays.
#[test]
fn the_outline_agrees_with_the_network() {
    let text = "const int N = 3; typedef scalar[N] S; typedef int[1,4] id; int a[S][N + 1]; bool b[id];\nprocess P(const S i, const id k) { int own[N]; state A; init A; }\nprocess R() { state A; init A; }\nQ(const S j) = P(j, 2);\nX = P;\nsystem P, Q, R;\n";
    for text in [text.to_owned(), text.replace("X = P;\n", "")] {
        let file = SourceFile::parse(text.as_str(), FileKind::Xta);
        let model = Model::new(&file, &BTreeMap::new());
        let Ok(network) = model.network() else {
            assert!(model.outline().families.is_empty());
            continue;
        };
        let outline = model.outline();
        let told: Vec<_> = outline
            .families
            .iter()
            .map(|f| (&f.name, &f.template, f.count))
            .collect();
        let made: Vec<_> = network
            .families
            .iter()
            .map(|f| (&f.name, &f.template, u64::from(f.len)))
            .collect();
        assert_eq!(told, made);
        for v in &network.variables {
            let mut lengths = Vec::new();
            let mut shape = &v.shape;
            while let zonelens_analysis::network::Shape::Array { index, element } = shape {
                lengths.push(Some(index.len));
                shape = element;
            }
            let found = outline.lengths.get(&v.span).cloned().unwrap_or_default();
            assert_eq!(found, lengths, "{}", v.name);
        }
        let sets: Vec<String> = outline.families.iter().map(|f| f.sets.join(",")).collect();
        assert_eq!(sets, ["S", "S", ""]);
    }
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
    // The work doubles at every call.
    let mut text = String::from("int f0() { return 1; }\n");
    for k in 1..60 {
        text += &format!("int f{k}() {{ return f{0}() + f{0}(); }}\n", k - 1);
    }
    rejected(&format!("{text}const int N = f59();"), "type/constant");
    // The same for symmetry summaries and for reads before assignment.
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

/// Random damage to a valid model: an update always agrees with a fresh analysis.
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
