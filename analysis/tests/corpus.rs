//! Agreement with the reference front end on which models are accepted, on models by other people
//! that are read in place.

use std::collections::BTreeMap;
use std::path::PathBuf;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

/// Prints that the test of this thread is skipped, bypassing the harness' capture: `cargo xtask ci`
/// counts such lines.
fn skip(why: &str) {
    use std::io::Write;
    let test = std::thread::current();
    let test = test.name().unwrap_or("a test").to_owned();
    let _ = writeln!(std::io::stdout(), "SKIPPED: {test}: {why}");
}

fn corpus() -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = std::env::var_os("ZONELENS_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| root.join("../shared/corpus"));
    path.join("EXPECT-TYPES.tsv").exists().then_some(path)
}

#[test]
#[allow(clippy::print_stdout)]
fn verdicts_agree_with_the_reference() {
    let Some(corpus) = corpus() else {
        skip("there is no corpus (set ZONELENS_CORPUS)");
        return;
    };
    let table = std::fs::read_to_string(corpus.join("EXPECT-TYPES.tsv")).unwrap();
    let all = std::env::var_os("ZONELENS_CORPUS_ALL").is_some();
    let (mut agree, mut false_errors, mut missed, mut total) = (0, 0, 0, 0);
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [file, reference, first_error, scope, ..] = columns[..] else {
            continue;
        };
        if scope != "in" && !all {
            continue;
        }
        total += 1;
        let bytes = std::fs::read(corpus.join(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let parsed = SourceFile::parse(text, FileKind::from_path(file));
        let model = Model::new(&parsed, &BTreeMap::new());
        let error = model.diagnostics().iter().find(|d| {
            d.severity == Severity::Error
                && !["query/", "unsupported/", "lint/"]
                    .iter()
                    .any(|area| d.code.starts_with(area))
        });
        match (reference.starts_with("accept"), error) {
            (true, None) | (false, Some(_)) => agree += 1,
            (true, Some(d)) => {
                false_errors += 1;
                let index = zonelens_syntax::span::LineIndex::new(&parsed.text);
                let at = index.line_col(&parsed.text, d.span.start);
                println!(
                    "FALSE ERROR {file}:{}:{} {} {}",
                    at.line, at.column, d.code, d.message
                );
            }
            (false, None) => {
                missed += 1;
                println!("MISSED      {file} ({reference}: {first_error})");
            }
        }
    }
    println!("{agree} of {total} agree; {false_errors} false errors, {missed} missed");
    // docs/conformance.md lists where we accept more than the reference (later keywords, ECDAR,
    // order of XML labels).
    assert!(false_errors == 0, "{false_errors} valid models rejected");
}

#[test]
#[allow(clippy::print_stdout)]
fn accepted_models_have_networks() {
    let Some(corpus) = corpus() else {
        skip("there is no corpus (set ZONELENS_CORPUS)");
        return;
    };
    let table = std::fs::read_to_string(corpus.join("EXPECT-TYPES.tsv")).unwrap();
    let (mut networks, mut queries, mut unresolved) = (0, 0, 0);
    for line in table.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let file = columns[0];
        let bytes = std::fs::read(corpus.join(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let parsed = SourceFile::parse(text, FileKind::from_path(file));
        let model = Model::new(&parsed, &BTreeMap::new());
        if model.blocks_verification() {
            continue;
        }
        let network = match model.network() {
            Ok(n) => n,
            Err(e) => {
                println!("NO NETWORK {file}: {} {}", e[0].code, e[0].message);
                continue;
            }
        };
        networks += 1;
        for q in parsed.queries() {
            if q.query.kind == zonelens_syntax::ast::QueryKind::Heading {
                continue;
            }
            match model.resolve_query(&network, q.query, q.base) {
                Ok(_) => queries += 1,
                Err(e) => {
                    unresolved += 1;
                    if !e[0].code.starts_with("unsupported/") && columns[3] == "in" {
                        println!(
                            "QUERY {file}: {} {} in {}",
                            e[0].code, e[0].message, q.query.text
                        );
                    }
                }
            }
        }
    }
    println!("{networks} networks, {queries} queries resolved, {unresolved} not");
    assert!(networks > 450);
}
