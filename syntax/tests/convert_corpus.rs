//! Conversion from `.xml` to `.xta` and back on real models: nothing is lost. Skipped without the
//! corpus.

// Tests print their scores.
#![allow(clippy::print_stdout)]

use crate::round_trip;

use round_trip::{differ, parse, syntax_errors, xml_round_trip, xta_round_trip};
use std::path::PathBuf;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::convert::{to_xml, to_xta};
use zonelens_syntax::debug::ast_debug;
use zonelens_syntax::format::{FormatOptions, format};
use zonelens_test_support::corpus_files;

fn score(what: &str, paths: &[PathBuf], kind: FileKind, trip: impl Fn(&str) -> Result<(), String>) {
    let (mut same, mut broken, mut failed) = (0, 0, Vec::new());
    for path in paths {
        let bytes = std::fs::read(path).expect("model");
        let text = String::from_utf8_lossy(&bytes);
        if !syntax_errors(&parse(&text, kind)).is_empty() {
            broken += 1;
            continue;
        }
        match trip(&text) {
            Ok(()) => same += 1,
            Err(why) => failed.push(format!("{}: {why}", path.display())),
        }
    }
    let (refused, lost): (Vec<_>, Vec<_>) = failed
        .iter()
        .partition(|f| f.contains(": refused: ") && f.contains("does not allow"));
    for line in failed.iter() {
        println!("{line}");
    }
    println!(
        "{what}: {same} of {} keep everything; {} refused for their names, {broken} with syntax errors left out",
        paths.len() - broken - refused.len(),
        refused.len()
    );
    assert!(lost.is_empty(), "{} files lose something", lost.len());
}

#[test]
fn corpus_xml_to_xta_and_back() {
    if let Some(paths) = corpus_files(&["xml"]) {
        score("xml → xta → xml", &paths, FileKind::Xml, xml_round_trip);
    }
}

#[test]
fn corpus_formatting_in_between_loses_nothing() {
    let trip = |text: &str| {
        let first = parse(text, FileKind::Xml);
        let xta = to_xta(&first).map_err(|e| format!("refused: {}", e[0].message))?;
        let tidy = format(&parse(&xta, FileKind::Xta), FormatOptions::default());
        let xml = to_xml(&parse(&tidy, FileKind::Xta)).map_err(|e| format!("back: {e:?}"))?;
        differ(&ast_debug(&first), &ast_debug(&parse(&xml, FileKind::Xml)))
    };
    if let Some(paths) = corpus_files(&["xml"]) {
        score("xml → xta → fmt → xml", &paths, FileKind::Xml, trip);
    }
}

#[test]
fn corpus_xta_to_xml_and_back() {
    if let Some(paths) = corpus_files(&["xta", "ta"]) {
        score("xta → xml → xta", &paths, FileKind::Xta, xta_round_trip);
    }
}
