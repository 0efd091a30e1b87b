//! `reparse` yields exactly what `parse` yields, over long random edit scripts on real files.

#![allow(clippy::print_stdout)] // Scores are read in the log.

use crate::common;

use common::examples;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_test_support::{Rng, corpus_files};

/// Snippets that are likely to upset parsers.
const SNIPPETS: [&str; 48] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    ";",
    ",",
    "/*",
    "*/",
    "//",
    "\n",
    "\"",
    "'",
    "process ",
    "system ",
    "int x;",
    "typedef ",
    "trans ",
    "state ",
    "->",
    "-u->",
    "-->",
    "&",
    "&lt;",
    "&amp;",
    "<",
    ">",
    "</label>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "//@ query E<> true\n",
    "//@ expect violated\n",
    "é",
    "\u{1F600}",
    "\0",
    "\\",
    "\\\n",
    "urgent ",
    "chan ",
    "1e",
    "+3",
    "query { A[] true }",
    "for (i : int[0,3]) ",
    "struct { int a; } ",
    "=",
];

fn random_edit(rng: &mut Rng, text: &str) -> TextEdit {
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at as u32
    };
    let start = boundary(rng.below(text.len() + 1));
    let len = match rng.below(10) {
        0..=5 => 0,
        6..=8 => rng.below(4),
        _ => rng.below(120),
    };
    let end = boundary((start as usize + len).min(text.len())).max(start);
    let insert = match rng.below(8) {
        0..=1 => String::new(),
        2..=4 => rng.pick(&SNIPPETS).to_owned(),
        5 => char::from(b' ' + rng.below(95) as u8).to_string(),
        6 => {
            let from = boundary(rng.below(text.len() + 1));
            let to = boundary((from as usize + rng.below(80)).min(text.len())).max(from);
            text[from as usize..to as usize].to_owned()
        }
        _ => "x".to_owned(),
    };
    TextEdit {
        span: Span::new(start, end),
        text: insert,
    }
}

fn check_script(name: &str, text: &str, kind: FileKind, seed: u64, steps: usize) {
    let mut rng = Rng(seed);
    let mut file = SourceFile::parse(text, kind);
    for step in 0..steps {
        let edit = random_edit(&mut rng, &file.text);
        let next = file.reparse(&edit);
        let full = SourceFile::parse(next.text.clone(), kind);
        if next != full {
            let at = next.items.iter().zip(&full.items).position(|(a, b)| a != b);
            panic!(
                "{name}, seed {seed}, step {step}: {edit:?}\nfirst difference at item {at:?}\nincremental {:?}\nfull {:?}\nerrors {:?} against {:?}",
                at.map(|i| &next.items[i]),
                at.map(|i| &full.items[i]),
                next.errors().len(),
                full.errors().len(),
            );
        }
        // Start over now and then, to keep the files from turning into noise.
        file = if step % 40 == 39 {
            SourceFile::parse(text, kind)
        } else {
            next
        };
    }
}

#[test]
fn edited_examples() {
    for (i, (name, text)) in examples().iter().enumerate() {
        let kind = FileKind::from_path(name);
        for seed in 0..4 {
            check_script(name, text, kind, seed * 1000 + i as u64, 200);
        }
        if kind == FileKind::Xta {
            check_script(name, &text.replace('\n', "\r\n"), kind, 77, 100);
        }
    }
}

/// Includes malformed XML: recovery from an error depends on the text before it (found by the
/// fuzzer).
#[test]
fn edited_xml() {
    let text = "int n;\nprocess P(int i) { clock x; state A { x <= 5 }, B; init A; trans A -> B { guard x > 1; assign x = 0; }; }\nprocess Q() { state C; init C; }\nsystem P, Q;\n//@ query E<> P.B\n";
    let file = SourceFile::parse(text, FileKind::Xta);
    let xml = zonelens_syntax::convert::to_xml(&file).expect("convertible");
    for seed in 0..6 {
        check_script("xml", &xml, FileKind::Xml, 500 + seed, 400);
    }
}

/// Realistic edits: one element is read again, while entities, CDATA, tags and comments appear and
/// disappear in it.
#[test]
fn edits_inside_one_element() {
    let xml = "<?xml version=\"1.0\"?>\n<nta>\n<declaration>int n = 1 &lt; 2;\nint m[n];<![CDATA[ bool b = 1 < 2; ]]>\nint k;</declaration>\n<template><name>P</name><declaration>clock x;</declaration><location id=\"a\"><name>A</name><label kind=\"invariant\">x &lt;= 5</label></location><init ref=\"a\"/><transition><source ref=\"a\"/><target ref=\"a\"/><label kind=\"guard\">x &gt; 1 &amp;&amp; b</label></transition></template>\n<template><name>Q</name><location id=\"b\"/><init ref=\"b\"/></template>\n<system>system P, Q;</system>\n<queries><query><formula>E&lt;&gt; P.A</formula><comment/></query><query><formula>A[] true</formula></query></queries>\n</nta>\n";
    let texts = [
        "",
        " ",
        "x",
        ";",
        "&lt;",
        "&",
        "<",
        ">",
        "]]>",
        "<![CDATA[",
        "<!-- -->",
        "-->",
        "/*",
        "int q;",
        "</declaration>",
        "<declaration>",
        "</template><template>",
        "<a><b/></a>",
        "\u{feff}",
        "é",
        "\r\n",
    ];
    let file = SourceFile::parse(xml, FileKind::Xml);
    assert!(file.errors().is_empty(), "{:?}", file.errors());
    for at in 0..xml.len() as u32 {
        for text in texts {
            for len in [0, 1, 7] {
                let end = (at + len).min(xml.len() as u32);
                let edit = TextEdit {
                    span: Span::new(at, end),
                    text: text.to_owned(),
                };
                let next = file.reparse(&edit);
                let full = SourceFile::parse(next.text.clone(), FileKind::Xml);
                assert!(next == full, "{edit:?}\n{next:?}\n{full:?}");
            }
        }
    }
}

/// Elements nested as deeply as allowed, counted from the root of the file.
#[test]
fn depth_is_counted_from_the_root() {
    let xml = "<nta><template><name>P</name></template><system>system P;</system></nta>";
    let file = SourceFile::parse(xml, FileKind::Xml);
    let at = xml.find("<name>").expect("there") as u32;
    for depth in 60..66 {
        let text = format!("{}{}", "<a>".repeat(depth), "</a>".repeat(depth));
        let span = Span::new(at, at);
        let next = file.reparse(&TextEdit { span, text });
        assert!(
            next == SourceFile::parse(next.text.clone(), FileKind::Xml),
            "{depth}"
        );
    }
}

#[test]
fn an_edit_in_xml_shares_all_other_items() {
    let declarations: String = (0..50).map(|i| format!("int v{i};\n")).collect();
    let templates: String = (0..50)
        .map(|i| {
            format!("<template><name>P{i}</name><declaration>int w;</declaration></template>\n")
        })
        .collect();
    let xml = format!(
        "<nta><declaration>{declarations}</declaration>{templates}<system>system P1;</system></nta>"
    );
    let file = SourceFile::parse(xml.as_str(), FileKind::Xml);
    for place in ["v25;", "w;"] {
        let at = xml.find(place).expect("there") as u32;
        let next = file.reparse(&TextEdit {
            span: Span::new(at, at + 1),
            text: "abc".into(),
        });
        let same = |(a, b): &(&_, &_)| {
            let (a, b): (
                &zonelens_syntax::ast::Placed<_>,
                &zonelens_syntax::ast::Placed<_>,
            ) = (a, b);
            std::sync::Arc::ptr_eq(&a.node, &b.node)
        };
        let shared = file.items.iter().zip(&next.items).filter(same).count();
        assert_eq!(shared, file.items.len() - 1, "{place}");
    }
}

#[test]
fn edited_corpus() {
    let Some(files) = corpus_files(&["xml", "xta", "ta", "q"]) else {
        return;
    };
    let steps: usize = std::env::var("ZONELENS_TEST_STEPS")
        .ok()
        .and_then(|s| s.parse().ok())
        .unwrap_or(12);
    let mut total = 0;
    for (i, path) in files.iter().enumerate() {
        let name = path.to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&std::fs::read(path).expect("model")).into_owned();
        // Each step costs a full parse, so fewer steps are enough for large files.
        let steps = if text.len() > 100_000 {
            steps / 4
        } else {
            steps
        };
        check_script(
            &name,
            &text,
            FileKind::from_path(&name),
            42 + i as u64,
            steps,
        );
        total += steps;
    }
    println!("incremental = full after each of {total} edits");
}

#[test]
fn untouched_items_are_shared() {
    let text: String = (0..200).map(|i| format!("int v{i};\n")).collect::<String>() + "system P;\n";
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let at = text.find("v100").expect("name") as u32;
    let next = file.reparse(&TextEdit {
        span: Span::new(at, at + 1),
        text: "w".into(),
    });
    let shared = file
        .items
        .iter()
        .filter(|a| {
            next.items
                .iter()
                .any(|b| std::sync::Arc::ptr_eq(&a.node, &b.node))
        })
        .count();
    assert_eq!(shared, file.items.len() - 1);
}

#[test]
fn untouched_edges_are_shared() {
    let edges: Vec<String> = (0..100)
        .map(|i| format!("A -> A {{ guard n == {i}; }}"))
        .collect();
    let text = format!(
        "int n;\nprocess P() {{\n state A; init A;\n trans {};\n}}\nsystem P;\n",
        edges.join(",\n ")
    );
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let at = text.find("== 50").expect("edge") as u32 + 3;
    let next = file.reparse(&TextEdit {
        span: Span::new(at, at + 1),
        text: "7".into(),
    });
    let members = |f: &SourceFile| zonelens_syntax::source::members(&f.items[1]).to_vec();
    let (old, new) = (members(&file), members(&next));
    let shared = old
        .iter()
        .zip(&new)
        .filter(|(a, b)| std::sync::Arc::ptr_eq(&a.node, &b.node))
        .count();
    assert_eq!(shared, old.len() - 1);
}
