//! The corpus of real models: accepts and rejects as the reference parser does, and reports the
//! same line where it names one. Skipped without the corpus.

#![allow(clippy::print_stdout)] // Scores are read in the log.

use crate::common;

use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{LineIndex, Span};
use zonelens_test_support::{Rng, corpus, corpus_files};

/// Words that later versions reserved: the reference rejects older models that use them, Zonelens
/// accepts those models.
const LATER_WORDS: [&str; 3] = ["T_ABS", "T_EXIT", "T_IO"];

#[test]
fn verdicts_and_lines_agree_with_the_reference() {
    let Some(dir) = corpus() else { return };
    let table = std::fs::read_to_string(dir.join("EXPECT-PARSE.tsv")).expect("table");
    let types = std::fs::read_to_string(dir.join("EXPECT-TYPES.tsv")).expect("table");
    let (mut agree, mut kinder, mut late, mut lines, mut near) = (0, 0, 0, 0, 0);
    let mut misses = Vec::new();
    for (row, type_row) in table.lines().zip(types.lines()).skip(1) {
        let cols: Vec<&str> = row.split('\t').collect();
        let (name, expected, reference) = (cols[0], cols[1], cols[2]);
        let bytes = std::fs::read(dir.join(name)).expect("model");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let file = SourceFile::parse(text.clone(), FileKind::from_path(name));
        let errors: Vec<_> = file
            .errors()
            .into_iter()
            .filter(|e| e.code.starts_with("syntax/"))
            .collect();
        if errors.is_empty() == (expected != "reject") {
            agree += 1;
            let later = LATER_WORDS.iter().any(|w| reference.contains(w));
            if let (Some(want), false) =
                (reference_line(&text, reference), errors.is_empty() || later)
            {
                lines += 1;
                let index = LineIndex::new(&text);
                let close = |span: Span| index.line_col(&text, span.start).line.abs_diff(want) <= 2;
                if errors.iter().any(|e| close(e.span)) {
                    near += 1;
                } else {
                    let got = index.line_col(&text, errors[0].span.start).line;
                    misses.push(format!(
                        "{name}: line {got}, reference {want}: {reference}: {}",
                        errors[0].message
                    ));
                }
            }
        } else if errors.is_empty() && LATER_WORDS.iter().any(|w| reference.contains(w)) {
            kinder += 1;
        } else if expected == "accept" && after_type_error(&text, type_row, errors[0].span) {
            // The table contains only the reference's first error, here a type error; ours comes
            // after it.
            late += 1;
            println!("later syntax error: {name}: {}", errors[0].message);
        } else {
            misses.push(format!(
                "{expected}: {name}: {reference}: {:?}",
                errors.first()
            ));
        }
    }
    let total = table.lines().count() - 1;
    println!(
        "parse verdicts: {agree} of {total} agree, {kinder} kinder (later keywords, ECDAR), {late} behind a type error"
    );
    println!("error lines: {near} of {lines} within 2 of the reference");
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

/// Whether the reference stopped at a type error and `span` lies after it: the table contains only
/// first errors.
fn after_type_error(text: &str, type_row: &str, span: Span) -> bool {
    let cols: Vec<&str> = type_row.split('\t').collect();
    let line = LineIndex::new(text).line_col(text, span.start).line;
    cols[1] == "reject-types" && reference_line(text, cols[2]).is_some_and(|first| line >= first)
}

/// The line that `… @/nta/template[2]/declaration:16` or `… @:42` refers to.
fn reference_line(text: &str, reference: &str) -> Option<u32> {
    let (_, place) = reference.rsplit_once('@')?;
    let (path, line) = place.rsplit_once(':')?;
    let line: u32 = line.parse().ok()?;
    let start = if path.is_empty() {
        0
    } else {
        element_start(text, path)?
    };
    Some(text[..start].matches('\n').count() as u32 + line)
}

/// Where the content of an element starts, given an XPath of tags and positions.
fn element_start(text: &str, path: &str) -> Option<usize> {
    let mut reader = quick_xml::Reader::from_str(text);
    let wanted: Vec<(String, u32)> = path
        .split('/')
        .filter(|s| !s.is_empty())
        .map(|s| match s.trim_end_matches(']').split_once('[') {
            Some((tag, n)) => (tag.to_owned(), n.parse().unwrap_or(1)),
            None => (s.to_owned(), 1),
        })
        .collect();
    let mut seen: Vec<std::collections::HashMap<String, u32>> = vec![Default::default()];
    let mut matched = 0;
    let mut depth = 0;
    loop {
        match reader.read_event().ok()? {
            quick_xml::events::Event::Start(tag) => {
                let name = tag.name().as_ref().to_owned();
                let count = seen.last_mut()?.entry(name.clone()).or_default();
                *count += 1;
                if depth == matched && wanted.get(matched) == Some(&(name, *count)) {
                    matched += 1;
                    if matched == wanted.len() {
                        return Some(reader.buffer_position() as usize);
                    }
                }
                depth += 1;
                seen.push(Default::default());
            }
            quick_xml::events::Event::Empty(tag) => {
                let name = tag.name().as_ref().to_owned();
                *seen.last_mut()?.entry(name).or_default() += 1;
            }
            quick_xml::events::Event::End(_) => {
                depth -= 1;
                seen.pop();
            }
            quick_xml::events::Event::Eof => return None,
            _ => {}
        }
    }
}

#[test]
fn spans_of_xml_point_at_the_text_they_name() {
    let Some(files) = corpus_files(&["xml", "xta", "ta", "q"]) else {
        return;
    };
    let mut names = 0u32;
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("model")).into_owned();
        let file = SourceFile::parse(text, FileKind::from_path(&name));
        names += common::check_name_spans(&file, &name);
    }
    println!("{names} names stand where their spans say");
    assert!(names > 10_000);
}

#[test]
fn truncated_files_never_panic() {
    let Some(files) = corpus_files(&["xml", "xta", "ta", "q"]) else {
        return;
    };
    let mut rng = Rng(7);
    for path in files.into_iter().step_by(3) {
        let name = path.to_string_lossy().into_owned();
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("model")).into_owned();
        let mut cut = rng.below(text.len() + 1);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let file = SourceFile::parse(&text[..cut], FileKind::from_path(&name));
        for e in file.errors() {
            assert!(e.span.end as usize <= cut, "{name}: {e:?}");
        }
    }
}
