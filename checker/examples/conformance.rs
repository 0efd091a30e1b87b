//! Runs the queries of a table of models with known verdicts and prints where the engine disagrees.
//!
//! `conformance TABLE [--timeout SECONDS] [--only TEXT] [--trace]`; the table has the columns file, formula, outcome.
//! Files are relative to the table.

#![allow(clippy::print_stdout)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::Path;
use zonelens_analysis::report::{Options, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| {
        args.iter()
            .position(|a| a == name)
            .and_then(|i| args.get(i + 1))
            .cloned()
    };
    let Some(table) = args.first() else {
        println!("usage: conformance TABLE [--timeout SECONDS] [--only TEXT] [--trace]");
        return;
    };
    let timeout: f64 = option("--timeout")
        .and_then(|t| t.parse().ok())
        .unwrap_or(10.0);
    let only = option("--only").unwrap_or_default();
    let trace = args.iter().any(|a| a == "--trace");
    let root = Path::new(table).parent().unwrap_or(Path::new("."));
    let text = std::fs::read_to_string(table).unwrap_or_default();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let mut loaded: Option<(String, Result<common::Loaded, String>)> = None;
    for line in text.lines().skip(1) {
        let mut fields = line.split('\t');
        let (Some(file), Some(formula), Some(outcome)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if !file.contains(&only) && !formula.contains(&only) {
            continue;
        }
        if loaded.as_ref().is_none_or(|(name, _)| name != file) {
            let source = std::fs::read(root.join(file)).unwrap_or_default();
            let kind = if file.ends_with(".xml") {
                FileKind::Xml
            } else {
                FileKind::Xta
            };
            loaded = Some((
                file.to_owned(),
                common::load(&String::from_utf8_lossy(&source), kind, &[]),
            ));
        }
        let Some((_, model)) = &loaded else { continue };
        let options = Options {
            timeout: Some(timeout),
            memory: Some(3 << 30),
            trace: if trace {
                TraceOption::Some
            } else {
                TraceOption::None
            },
            ..Options::default()
        };
        let (result, detail) = match model {
            Err(e) => ("model".to_owned(), e.chars().take(300).collect()),
            Ok(model) => match model.query(formula) {
                Err(e) => ("query".to_owned(), e.chars().take(300).collect()),
                Ok(_) => {
                    let report = model.verify(formula, &options);
                    let expected = if outcome == "satisfied" {
                        Verdict::Satisfied
                    } else {
                        Verdict::Violated
                    };
                    let s = &report.statistics;
                    let detail = format!(
                        "{:?} {} [{} stored, {:.2}s]",
                        report.verdict,
                        report.reason.clone().unwrap_or_default(),
                        s.stored,
                        s.seconds
                    );
                    let kind = match report.verdict {
                        v if v == expected => "agree".to_owned(),
                        Verdict::Satisfied | Verdict::Violated => "DISAGREE".to_owned(),
                        Verdict::Error => "error".to_owned(),
                        Verdict::Unknown => {
                            let reason = report.reason.clone().unwrap_or_default();
                            format!("unknown-{}", reason.split(':').next().unwrap_or_default())
                        }
                    };
                    (kind, detail)
                }
            },
        };
        *counts.entry(result.clone()).or_default() += 1;
        if result != "agree" || !only.is_empty() {
            println!("{result}\t{file}\t{formula}\texpected {outcome}\t{detail}");
        }
    }
    println!("{counts:?}");
}
