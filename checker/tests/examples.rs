//! Every example: verdicts with and without symmetry are equal, and every trace replays (the engine refuses to show one
//! that does not).

mod common;

use zonelens_analysis::report::{Options, SymmetryOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::SourceFile;

#[test]
fn verdicts_with_and_without_symmetry() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let mut files: Vec<_> = std::fs::read_dir(directory)
        .expect("the examples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "xta"))
        .collect();
    files.sort();
    assert!(!files.is_empty());
    for path in files {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.display();
        for n in [2, 3, 4] {
            let constants: &[(&str, i64)] = if text.contains("const int N") {
                &[("N", n)]
            } else {
                &[]
            };
            let model = common::load(&text, FileKind::Xta, constants)
                .unwrap_or_else(|e| panic!("{name}: {e}"));
            for query in SourceFile::parse(text.as_str(), FileKind::Xta).queries() {
                let formula = query.query.text.as_str();
                let limits = Options {
                    timeout: Some(20.0),
                    ..Options::default()
                };
                let audited = Options {
                    audit_symmetry: true,
                    ..limits.clone()
                };
                let off = model.verify(
                    formula,
                    &Options {
                        symmetry: SymmetryOption::Off,
                        ..limits.clone()
                    },
                );
                for options in [limits, audited] {
                    let on = model.verify(formula, &options);
                    assert_eq!(
                        on.verdict, off.verdict,
                        "{name}, N = {n}: {formula} {:?} {:?}",
                        on.reason, off.reason
                    );
                    assert_ne!(
                        on.verdict,
                        Verdict::Error,
                        "{name}, N = {n}: {formula} {:?}",
                        on.reason
                    );
                }
            }
        }
    }
}

/// In a model over plain integers a query may name elements, or quantify over some of them only.
#[test]
fn queries_that_name_elements_of_a_detected_set() {
    let model = common::xta(
        "const int N = 4; typedef int[0,N-1] id_t; int[-1,N-1] turn = -1; int[0,2] n; process P(const id_t i) { \
         state a, b, c; init a; trans a -> b { guard turn == -1; assign turn = i; }, b -> c { assign turn = -1; }, \
         c -> a { guard n < 2; assign n = n + 1; }; } system P;",
    );
    let queries = [
        ("E<> P(3).c && P(1).b", Verdict::Satisfied),
        ("E<> P(0).b && turn == 1", Verdict::Violated),
        ("E<> P(2).b && turn == 2", Verdict::Satisfied),
        ("A[] forall (i : int[0,1]) !P(i).c", Verdict::Violated),
        (
            "E<> exists (i : int[1,2]) P(i).c && P(0).c && P(3).c",
            Verdict::Satisfied,
        ),
        (
            "A[] forall (i : id_t) (P(i).b imply turn == i)",
            Verdict::Satisfied,
        ),
    ];
    for (formula, verdict) in queries {
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
        }
    }
}
