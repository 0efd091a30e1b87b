//! Models by other people with interchangeable parts: verdicts and orbits with and without
//! reduction. They are read in place; the tests are skipped if they are not available.

use super::tests::compare_orbits;
use crate::bounds::abstraction::Abstraction;
use crate::common::{self, Loaded, Verify};
use std::path::Path;
use zonelens_analysis::report::{Options, SymmetryOption, TraceOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::SourceFile;
use zonelens_test_support::corpus_files;

/// The queries in a model and in the files next to it, as text.
fn queries(path: &Path, text: &str, kind: FileKind) -> Vec<String> {
    let texts = |file: &SourceFile| -> Vec<String> {
        let found = file.queries().into_iter();
        found.map(|q| q.query.text.to_string()).collect()
    };
    let mut all = texts(&SourceFile::parse(text, kind));
    if let Ok(beside) = std::fs::read_to_string(path.with_extension("q")) {
        all.extend(texts(&SourceFile::parse(beside, FileKind::Query)));
    }
    all
}

/// Compares verdicts within small limits; returns how many could be compared.
fn verdicts(path: &Path, model: &Loaded, queries: &[String]) -> usize {
    let mut compared = 0;
    for formula in queries {
        if model.query(formula).is_err() {
            continue;
        }
        let limits = |symmetry| Options {
            symmetry,
            states: Some(1_000),
            timeout: Some(0.5),
            trace: TraceOption::Some,
            ..Options::default()
        };
        let on = model.verify(formula, &limits(SymmetryOption::Auto));
        if on.verdict == Verdict::Unknown {
            continue;
        }
        let off = model.verify(formula, &limits(SymmetryOption::Off));
        if off.verdict != Verdict::Unknown {
            let about = format!("{}: {formula}", path.display());
            assert_eq!(on.verdict, off.verdict, "{about} {:?}", on.reason);
            assert_eq!(on.value, off.value, "{about}");
            compared += 1;
        }
    }
    compared
}

#[test]
fn models_of_others() {
    let Some(all) = corpus_files(&["xml", "xta", "ta"]) else {
        return;
    };
    let (mut models, mut compared, mut orbits) = (0, 0, 0);
    for path in all {
        let kind = FileKind::from_path(&path.to_string_lossy());
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        let declared = text.contains("scalar[") || text.contains("scalarset");
        let small: &[(&str, i64)] = match declared && text.contains("const int N ") {
            true => &[("N", 3)],
            false => &[],
        };
        let Ok(model) = common::load(&text, kind, small) else {
            continue;
        };
        let sets = &model.network.scalarsets;
        if !sets.iter().any(|s| s.broken.is_empty() && s.size > 1) {
            continue;
        }
        models += 1;
        let mut queries = queries(&path, &text, kind);
        if !declared {
            // Many models are versions of each other.
            queries.truncate(1);
        }
        compared += verdicts(&path, &model, &queries);
        if declared {
            orbits += compare_orbits(&model, Abstraction::ExtraM, 500).map_or(0, |found| {
                let (orbits, stored, ties) = found;
                assert!(stored == orbits || ties > 0, "{}", path.display());
                1
            });
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("{models} models, {compared} verdicts and {orbits} sets of orbits compared");
    }
    assert!(models >= 5 && compared >= 5);
}
