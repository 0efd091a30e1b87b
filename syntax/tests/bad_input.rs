//! Hostile and malformed input: a clear error, quickly, in bounded memory.

use std::time::Duration;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_test_support::processor_time;

/// Processor time, twenty times the target of two seconds: for slow machines, and a busy machine
/// changes nothing.
const LIMIT: Duration = Duration::from_secs(40);

/// Peak memory of all tests of this file together, because they run in parallel.
const MEMORY: u64 = 6 << 30;

/// Peak resident memory of this process, where the system reports it.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|l| l.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? << 10)
}

/// Parses the text and checks spans, time and memory; returns the codes of all errors.
fn codes(text: &str, kind: FileKind) -> Vec<&'static str> {
    let start = processor_time();
    let file = SourceFile::parse(text, kind);
    let errors = file.errors();
    for e in &errors {
        assert!(
            e.span.start <= e.span.end && e.span.end as usize <= text.len(),
            "{e:?}"
        );
        assert!(text.is_char_boundary(e.span.start as usize), "{e:?}");
        assert!(!e.message.is_empty());
    }
    let _ = format(&file, FormatOptions::default());
    let middle = (text.len() / 2) as u32;
    let edited = file.reparse(&TextEdit {
        span: Span::new(middle, middle),
        text: ";".into(),
    });
    assert!(edited.text.len() > text.len());
    let taken = processor_time().saturating_sub(start);
    assert!(taken < LIMIT, "took {taken:?}");
    assert!(
        peak_memory().is_none_or(|bytes| bytes < MEMORY),
        "peak memory {:?}",
        peak_memory()
    );
    errors.iter().map(|e| e.code).collect()
}

#[test]
fn empty_files() {
    assert_eq!(codes("", FileKind::Xta), ["syntax/no-system"]);
    assert_eq!(codes("  \n", FileKind::Xta), ["syntax/no-system"]);
    assert_eq!(codes("", FileKind::Xml), ["syntax/xml"]);
    assert!(codes("", FileKind::Query).is_empty());
}

#[test]
fn byte_order_mark_and_line_ends() {
    assert!(
        codes(
            "\u{feff}process P() { state A; init A; }\r\nsystem P;\r\n",
            FileKind::Xta
        )
        .is_empty()
    );
    assert!(
        codes(
            "process P() { state A; init A; }\r// c\rsystem P;",
            FileKind::Xta
        )
        .is_empty()
    );
    assert!(codes("\u{feff}<?xml version=\"1.0\"?><nta><template><name>P</name><location id=\"a\"/><init ref=\"a\"/></template><system>system P;</system></nta>", FileKind::Xml).is_empty());
    assert!(codes("\u{feff}A[] true\r\nE<> true\r", FileKind::Query).is_empty());
}

#[test]
fn nul_bytes_and_replacement_characters() {
    assert!(codes("int a\0;\nsystem P;", FileKind::Xta).contains(&"syntax/character"));
    let lossy = String::from_utf8_lossy(b"int \xff\xfe a;\nsystem P;").into_owned();
    assert!(codes(&lossy, FileKind::Xta).contains(&"syntax/character"));
    assert!(!codes("<nta>\0</nta>", FileKind::Xml).is_empty());
}

#[test]
fn ten_megabytes_on_one_line() {
    let long = format!("int a = {}1; system P;", "1 + ".repeat(2_500_000));
    assert_eq!(codes(&long, FileKind::Xta), ["syntax/nesting"]);
    let many = format!("{} system P;", "int a; ".repeat(1_400_000));
    assert!(codes(&many, FileKind::Xta).is_empty());
    let noise = "§".repeat(5_000_000);
    assert!(!codes(&noise, FileKind::Xta).is_empty());
    let formula = format!("A[] {}true", "true && ".repeat(1_200_000));
    assert_eq!(codes(&formula, FileKind::Query), ["query/syntax"]);
    let xml = format!(
        "<nta><declaration>{}</declaration><system>system P;</system></nta>",
        "&lt;".repeat(2_500_000)
    );
    assert!(!codes(&xml, FileKind::Xml).is_empty());
}

#[test]
fn deep_nesting() {
    let n = 100_000;
    let nested = |open: &str, close: &str| {
        format!("int a = {}1{};\nsystem P;", open.repeat(n), close.repeat(n))
    };
    for (open, close) in [
        ("(", ")"),
        ("-", ""),
        ("!", ""),
        ("a[", "]"),
        ("f(", ")"),
        ("1 ? ", " : 1"),
        ("{", "}"),
        ("a = ", ""),
    ] {
        assert_eq!(
            codes(&nested(open, close), FileKind::Xta),
            ["syntax/nesting"],
            "{open}"
        );
    }
    let quantifiers = format!(
        "int a = {}1;\nsystem P;",
        "forall (i : int[0,1]) ".repeat(n)
    );
    assert_eq!(codes(&quantifiers, FileKind::Xta), ["syntax/nesting"]);
    let blocks = format!("void f() {}{}\nsystem P;", "{".repeat(n), "}".repeat(n));
    assert_eq!(codes(&blocks, FileKind::Xta), ["syntax/nesting"]);
    let unclosed = format!("void f() {}", "{".repeat(n));
    assert!(!codes(&unclosed, FileKind::Xta).is_empty());
    let ifs = format!("void f() {{ {} ; }}\nsystem P;", "if (1) ".repeat(n));
    assert_eq!(codes(&ifs, FileKind::Xta), ["syntax/nesting"]);
    let elses = format!(
        "void f() {{ if (1) ; {} ; }}\nsystem P;",
        "else if (1) ; ".repeat(n)
    );
    assert!(codes(&elses, FileKind::Xta).contains(&"syntax/nesting"));
    let parens = format!("A[] {}true{}", "(".repeat(n), ")".repeat(n));
    assert_eq!(codes(&parens, FileKind::Query), ["query/syntax"]);
    let structs = format!(
        "{} int a; {} x;\nsystem P;",
        "struct { ".repeat(n),
        "} b; ".repeat(n)
    );
    assert!(!codes(&structs, FileKind::Xta).is_empty());
}

#[test]
fn what_is_deep_but_allowed_parses() {
    let deep = format!(
        "int a = {}1{};\nsystem P;",
        "(".repeat(400),
        ")".repeat(400)
    );
    assert!(codes(&deep, FileKind::Xta).is_empty());
    let chain = format!("int a = {}1;\nsystem P;", "1 + ".repeat(1900));
    assert!(codes(&chain, FileKind::Xta).is_empty());
    let elses = format!(
        "void f() {{ if (1) ; {} }}\nsystem P;",
        "else if (1) ; ".repeat(200)
    );
    assert!(codes(&elses, FileKind::Xta).is_empty());
    let separate = format!(
        "void f() {{ {} }}\nsystem P;",
        "if (1) { } else { } ".repeat(3000)
    );
    assert!(codes(&separate, FileKind::Xta).is_empty());
}

#[test]
fn xml_bombs_are_not_expanded() {
    let mut bomb =
        String::from("<?xml version=\"1.0\"?><!DOCTYPE nta [<!ENTITY a0 \"aaaaaaaaaa\">");
    for i in 1..20 {
        bomb += &format!("<!ENTITY a{i} \"{}\">", format!("&a{};", i - 1).repeat(10));
    }
    bomb += "]><nta><declaration>int &a19;;</declaration><system>system P;</system></nta>";
    assert!(codes(&bomb, FileKind::Xml).contains(&"syntax/xml"));
}

#[test]
fn external_entities_are_never_fetched() {
    let text = "<?xml version=\"1.0\"?><!DOCTYPE nta [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><nta><declaration>// &x;\n</declaration><system>system P;</system></nta>";
    let file = SourceFile::parse(text, FileKind::Xml);
    assert!(
        file.errors()
            .iter()
            .any(|e| e.code == "syntax/xml" && e.message.contains("not expanded"))
    );
    assert!(!format!("{:?}", file.items).contains("root:"));
}

#[test]
fn malformed_xml() {
    for text in [
        "<nta>",
        "<nta><template></nta>",
        "<nta",
        "nta",
        "<a/>",
        "<nta/><nta/>",
        "<nta><system>system P;</system></nta>x",
        "<nta><![CDATA[",
        "<nta><!--",
        "<nta a=\"1\" a=\"2\"><system>system P;</system></nta>",
        "<nta a=1><system>system P;</system></nta>",
        "<nta>&#xD800;&#0;&nope;&</nta>",
        "<html><body>no</body></html>",
    ] {
        let codes = codes(text, FileKind::Xml);
        assert!(codes.contains(&"syntax/xml"), "{text}: {codes:?}");
    }
    let deep = "<a>".repeat(100_000);
    assert!(codes(&deep, FileKind::Xml).contains(&"syntax/xml"));
}

#[test]
fn edits_outside_the_text_are_clamped() {
    let file = SourceFile::parse("int é;\nsystem P;", FileKind::Xta);
    let edited = file.reparse(&TextEdit {
        span: Span::new(5, 999),
        text: "x".into(),
    });
    assert!(edited.text.ends_with('x'));
    assert_eq!(
        edited,
        SourceFile::parse(edited.text.clone(), FileKind::Xta)
    );
}
