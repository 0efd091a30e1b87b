//! Every example: verdicts are the expected ones and do not depend on symmetry, and every trace
//! replays (the engine refuses to show one that does not).

use crate::common;

use common::Verify;

use zonelens_analysis::report::{Options, SymmetryOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::SourceFile;

/// Sizes at which a model can be explored without symmetry in a test.
fn sizes(name: &str) -> &'static [i64] {
    match name {
        "agreement.xta" => &[2],
        "timeout-task.xta" | "partial.xta" => &[2, 3],
        "leader.xta" => &[3, 4],
        // Its query is about every size.
        "right-up-to-three.xta" => &[4, 5],
        _ => &[2, 3, 4],
    }
}

/// Each example by name, with its text.
fn examples() -> Vec<(String, String)> {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the examples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "xta"))
        .map(|path| {
            let name = path.file_name().expect("a name").to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("readable");
            (name.into_owned(), text)
        })
        .collect();
    files.sort();
    assert!(files.len() >= 11);
    files
}

fn with(symmetry: SymmetryOption, audit_symmetry: bool) -> Options {
    Options {
        symmetry,
        audit_symmetry,
        ..Options::default()
    }
}

#[test]
fn verdicts_with_and_without_symmetry() {
    for (name, text) in examples() {
        let sizes: &[i64] = if text.contains("const int N") {
            sizes(&name)
        } else {
            &[0]
        };
        for n in sizes {
            let constants = [("N", *n)];
            let constants = if *n > 0 { &constants[..] } else { &[] };
            let model = common::load(&text, FileKind::Xta, constants)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            for query in SourceFile::parse(text.as_str(), FileKind::Xta).queries() {
                let formula = query.query.text.as_str();
                let expected = match &query.query.expectation {
                    Some(e) if e.satisfied => Verdict::Satisfied,
                    Some(_) => Verdict::Violated,
                    None => panic!("{name}: nothing is expected of {formula}"),
                };
                for options in [
                    with(SymmetryOption::Off, false),
                    with(SymmetryOption::Scalarsets, false),
                    with(SymmetryOption::Auto, false),
                    with(SymmetryOption::Auto, true),
                ] {
                    let report = model.verify(formula, &options);
                    assert_eq!(
                        report.verdict, expected,
                        "{name}, N = {n}: {formula} {:?} {:?}",
                        report.reason, options
                    );
                    let shown = report.trace.is_some();
                    let wanted = match formula.split_whitespace().next() {
                        Some("E<>" | "E[]") => expected == Verdict::Satisfied,
                        _ => expected == Verdict::Violated,
                    };
                    assert_eq!(shown, wanted, "{name}, N = {n}: {formula}");
                }
            }
        }
    }
}

/// In a model over plain integers a query may name elements, or quantify over only some of them.
#[test]
fn queries_that_name_elements_of_a_detected_set() {
    let model = common::xta(
        "const int N = 4; typedef int[0,N-1] id_t; int[-1,N-1] turn = -1; int[0,2] n; process P(const id_t i) { \
         state a, b, c; init a; trans a -> b { guard turn == -1; assign turn = i; }, b -> c { assign turn = -1; }, \
         c -> a { guard n < 2; assign n = n + 1; }; } system P;",
    );
    let (yes, no) = (Verdict::Satisfied, Verdict::Violated);
    // The verdict, and whether the query is evaluated for whole orbits.
    let queries = [
        ("E<> P(3).c && P(1).b", yes, true),
        ("E<> P(0).b && turn == 1", no, true),
        ("E<> P(2).b && turn == 2", yes, true),
        ("A[] P(2).b imply turn == 2", yes, true),
        ("A[] not (P(1).c && P(2).c && P(3).b)", no, true),
        ("A[] forall (i : int[0,1]) !P(i).c", no, true),
        (
            "E<> exists (i : int[1,2]) P(i).c && P(0).c && P(3).c",
            yes,
            false,
        ),
        ("A[] forall (i : id_t) (P(i).b imply turn == i)", yes, false),
        ("E[] !P(2).c", yes, false),
        ("P(1).b --> P(1).c", no, false),
        ("A<> P(2).c", no, false),
    ];
    for (formula, verdict, symmetrised) in queries {
        for symmetry in [SymmetryOption::Auto, SymmetryOption::Off] {
            let report = model.verify(
                formula,
                &Options {
                    symmetry,
                    ..Options::default()
                },
            );
            assert_eq!(
                report.verdict, verdict,
                "{formula} {symmetry:?} {:?} {:?}",
                report.reason, report.symmetry
            );
            let reduces = symmetry == SymmetryOption::Auto;
            assert_eq!(report.symmetrised, symmetrised && reduces, "{formula}");
            let shown = formula.starts_with('E') == (verdict == yes);
            assert_eq!(report.trace.is_some(), shown, "{formula}");
        }
    }
}
