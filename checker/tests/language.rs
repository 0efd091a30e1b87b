//! The models of `docs/language.md`: each is free of errors and warnings, or gives exactly the
//! errors and warnings that its fence names, and every expectation in it comes true.

use crate::common;

use common::Verify;
use std::collections::BTreeSet;
use zonelens_analysis::Model;
use zonelens_analysis::diagnostic::Severity;
use zonelens_analysis::report::{Options, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::SourceFile;

const PAGE: &str = include_str!("../../docs/language.md");

/// A fenced block: the line of its fence, the words after the three backticks, and its text.
struct Fence {
    line: usize,
    info: String,
    text: String,
}

fn fences(page: &str) -> Vec<Fence> {
    let mut found: Vec<Fence> = Vec::new();
    let mut open = false;
    for (number, line) in page.lines().enumerate() {
        match line.strip_prefix("```") {
            Some(info) if !open => {
                open = true;
                found.push(Fence {
                    line: number + 1,
                    info: info.to_owned(),
                    text: String::new(),
                });
            }
            Some(_) => open = false,
            None if open => {
                let fence = found.last_mut().expect("an open fence");
                fence.text.push_str(line);
                fence.text.push('\n');
            }
            None => {}
        }
    }
    assert!(!open, "a fence is not closed");
    found
}

/// What a reader would have to add to a block of declarations.
const REST: &str = "process Rest() { state s; init s; }\nsystem Rest;\n";

#[test]
fn models_of_the_reference_are_as_described() {
    let mut models = 0;
    let mut asked = 0;
    let mut wrong = Vec::new();
    for fence in fences(PAGE) {
        let mut words = fence.info.split_whitespace();
        match words.next() {
            Some("xta") => {}
            Some("text") => continue,
            other => panic!("line {}: a fence of kind {other:?}", fence.line),
        }
        let mut named: BTreeSet<&str> = words.collect();
        // In a block of declarations nothing is used, which the lints would report.
        let declarations = named.remove("declarations");
        let text = match declarations {
            true => format!("{}{REST}", fence.text),
            false => fence.text.clone(),
        };
        let line = fence.line;
        let file = SourceFile::parse(text.as_str(), FileKind::Xta);
        let model = Model::new(&file, &Default::default());
        let diagnostics = model.diagnostics();
        let found: BTreeSet<&str> = diagnostics
            .iter()
            .filter(|d| d.severity <= Severity::Warning || named.contains(d.code))
            .map(|d| d.code)
            .filter(|code| !(declarations && code.starts_with("lint/")))
            .collect();
        if found != named {
            wrong.push(format!("line {line}: {found:?}, not {named:?}"));
        }
        models += 1;
        let expectations: Vec<(String, bool)> = file
            .queries()
            .into_iter()
            .filter_map(|q| {
                let expected = q.query.expectation?.satisfied;
                Some((q.query.text.to_string(), expected))
            })
            .collect();
        if expectations.is_empty() {
            continue;
        }
        let loaded =
            common::load(&text, FileKind::Xta, &[]).unwrap_or_else(|e| panic!("line {line}: {e}"));
        for (formula, expected) in expectations {
            let report = loaded.verify(&formula, &Options::default());
            let wanted = match expected {
                true => Verdict::Satisfied,
                false => Verdict::Violated,
            };
            let reason = report.reason;
            if report.verdict != wanted {
                let verdict = report.verdict;
                wrong.push(format!("line {line}: {formula}: {verdict:?} {reason:?}"));
            }
            asked += 1;
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Without this check, fences that are no longer recognised would pass.
    assert!(
        models >= 24 && asked >= 33,
        "{models} models, {asked} queries"
    );
}
