//! Certificates of the examples, and files that are none.

use crate::common::{Loaded, xta};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::Query;
use zonelens_analysis::report::{AbstractionOption, Options, QueryReport, Switch, Verdict};
use zonelens_certificate::{Asked, Kind, Limits, Obligation, Outcome, Rejection, certify, check};
use zonelens_checker::{Certificate, Control, verify_and_certify};
use zonelens_syntax::ast::FileKind;

fn certified(
    loaded: &Loaded,
    query: &Query,
    options: &Options,
) -> (QueryReport, Result<Certificate, String>) {
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    let about = ("a test", &options.constants);
    let position = |span| loaded.position(span);
    verify_and_certify(&loaded.network, query, options, about, &position, &control)
}

fn accept(loaded: &Loaded, query: &Query, bytes: &[u8]) -> Result<(), Rejection> {
    let (reader, limits) = (Cursor::new(bytes), Limits::default());
    check(&loaded.network, query, reader, bytes.len() as u64, &limits).map(drop)
}

/// The states of a search up to simulation are no proof, so a search that writes a certificate
/// compares zones by inclusion, and need not be repeated.
#[test]
fn certificates_do_not_come_from_simulated_states() {
    let loaded = xta(crate::alu::CERTIFICATES);
    let query = loaded.query("A[] Client(1).held <= 2").expect("a query");
    for without in [vec![], vec![Switch::Simulation]] {
        let options = Options {
            symmetry: zonelens_analysis::report::SymmetryOption::Off,
            without: Switch::ALL[..7].iter().copied().chain(without).collect(),
            ..Options::default()
        };
        let (report, certificate) = certified(&loaded, &query, &options);
        assert_eq!(
            (report.verdict, report.statistics.stored),
            (Verdict::Satisfied, 573)
        );
        let certificate = certificate.expect("a certificate");
        assert!(!certificate.searched_again);
        accept(&loaded, &query, &certificate.bytes).expect("accepted");
    }
}

#[allow(clippy::print_stdout)]
#[test]
fn claims_about_the_examples_are_certified() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let (mut count, mut symmetric) = (0, 0);
    for entry in std::fs::read_dir(folder).expect("examples").flatten() {
        let path = entry.path();
        if path.extension().is_none_or(|e| e != "xta") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("text");
        let loaded = xta(&text);
        let file = zonelens_syntax::SourceFile::parse(&*text, FileKind::Xta);
        for query in file.queries() {
            let formula = query.query.text.to_string();
            let Ok(query) = loaded.query(&formula) else {
                continue;
            };
            let (report, certificate) = certified(&loaded, &query, &Options::default());
            let claimed = match Kind::of(&query) {
                Ok((kind, _)) if kind.is_satisfied() => Verdict::Satisfied,
                Ok(_) => Verdict::Violated,
                Err(_) => continue,
            };
            if report.verdict != claimed {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let certificate = certificate.unwrap_or_else(|e| panic!("{name}: {formula}: {e}"));
            // Loose clocks are searched without symmetry, and claims about runs are certified so.
            let about_runs = Kind::of(&query).is_ok_and(|(kind, _)| kind.is_about_runs());
            let reduced = !report.symmetry.scalarsets.is_empty();
            let loose = report.reductions.iter().any(|r| r == "loose-clocks");
            let symmetry = reduced && !about_runs && !loose;
            assert_eq!(certificate.symmetry, symmetry, "{name}: {formula}");
            symmetric += usize::from(symmetry);
            let result = accept(&loaded, &query, &certificate.bytes);
            result.unwrap_or_else(|e| panic!("{name}: {formula}: {e}"));
            println!(
                "{name}: {formula}: {}{} states, {} zones, {} bytes",
                if certificate.symmetry {
                    "symmetry, "
                } else {
                    ""
                },
                certificate.states,
                certificate.zones,
                certificate.bytes.len()
            );
            count += 1;
        }
    }
    assert!(count >= 10 && symmetric >= 10, "{count}, {symmetric}");
}

/// Two processes that exclude each other by time, and a broadcast that nobody must miss.
const MODEL: &str = "
    const int N = 2;
    typedef int[0, N - 1] pid;
    int[-1, 1] id = -1;
    int[0, 5] n;
    broadcast chan tick;
    process P(const pid i) {
        clock x;
        state A, req { x <= 2 }, wait, cs;
        init A;
        trans A -> req { guard id == -1; assign x = 0; },
              req -> wait { assign x = 0, id = i; },
              wait -> A { guard id != i; },
              wait -> cs { guard x > 2 && id == i; },
              cs -> A { assign id = -1, n = (n + 1) % 6; },
              A -> A { sync tick?; };
    }
    process T() { clock y; state S { y <= 3 }; init S; trans S -> S { guard y >= 3; sync tick!; assign y = 0; }; }
    system P, T;
";

const CLAIM: &str = "A[] forall (i : pid) forall (j : pid) P(i).cs && P(j).cs imply i == j";

fn certificate(options: &Options) -> (Loaded, Query, Certificate) {
    let loaded = xta(MODEL);
    let query = loaded.query(CLAIM).expect("a query");
    let (report, certificate) = certified(&loaded, &query, options);
    assert_eq!(report.verdict, Verdict::Satisfied);
    let certificate = certificate.expect("a certificate");
    accept(&loaded, &query, &certificate.bytes).expect("accepted");
    (loaded, query, certificate)
}

/// Every way to find the answer gives a certificate that is accepted.
#[test]
fn all_strategies_give_certificates() {
    let (_, _, exact) = certificate(&Options::default());
    assert!(exact.symmetry, "the processes are interchangeable");
    assert!(!exact.searched_again);
    for abstraction in [
        AbstractionOption::ExtraM,
        AbstractionOption::Alu,
        AbstractionOption::ConvexHull,
    ] {
        let (_, _, other) = certificate(&Options {
            abstraction,
            ..Options::default()
        });
        if abstraction == AbstractionOption::ConvexHull {
            assert_eq!(other.states, other.zones);
        }
    }
    let (_, _, parallel) = certificate(&Options {
        threads: 2,
        ..Options::default()
    });
    assert!(parallel.searched_again);
    // Turns are so short that other searches decide.
    certificate(&Options {
        first_turn: Some(3),
        without: [
            Switch::DepthFirst,
            Switch::BestFirst,
            Switch::RandomDepthFirst,
        ]
        .into(),
        ..Options::default()
    });
}

#[test]
fn what_has_no_certificate_says_so() {
    let cases = [
        (
            "",
            "sup: x",
            "`sup`, `inf` and `bounds` have no certificates yet",
        ),
        ("", "E<> P.a", "the trace shows the answer"),
        (
            "u",
            "A[] true",
            "certificates do not cover clock guards on urgent channels",
        ),
        (
            "x' == 0",
            "A[] x <= 9",
            "certificates do not cover stopwatches",
        ),
    ];
    for (change, query, expected) in cases {
        let (sync, invariant) = match change {
            "u" => ("sync go!;", "x <= 9"),
            "" => ("", "x <= 9"),
            rate => ("", rate),
        };
        let loaded = xta(&format!(
            "clock x; urgent broadcast chan go; process P() {{ state a {{ {invariant} }}, b; init a; \
             trans a -> b {{ guard x > 2; {sync} }}; }} system P;"
        ));
        let query = loaded.query(query).expect("a query");
        let (_, none) = certified(&loaded, &query, &Options::default());
        let reason = none.expect_err("no certificate");
        assert!(reason.contains(expected), "{reason}");
    }
}

/// The claim of a file is compared with model, query and constants.
#[test]
fn other_claims_are_rejected() {
    let constants = BTreeMap::from([("N".to_owned(), 2)]);
    let options = Options {
        constants: constants.clone(),
        ..Options::default()
    };
    let (_, _, certificate) = certificate(&options);
    let ask = |text: &str, query: Option<&str>, constants: Option<BTreeMap<String, i64>>| {
        let asked = Asked {
            query: query.map(str::to_owned),
            constants,
        };
        let mut file = Cursor::new(&certificate.bytes);
        certify(text, FileKind::Xta, &asked, &mut file, &Limits::default())
    };
    let obligation = |outcome: Outcome| match outcome {
        Outcome::Accepted(..) => None,
        Outcome::Rejected(rejection, _) => Some(rejection.obligation),
        Outcome::Unusable(message) => panic!("{message}"),
    };
    assert_eq!(obligation(ask(MODEL, None, None)), None);
    assert_eq!(obligation(ask(MODEL, Some(CLAIM), Some(constants))), None);
    let claim = Some(Obligation::Claim);
    assert_eq!(obligation(ask(MODEL, Some("A[] n < 6"), None)), claim);
    let three = BTreeMap::from([("N".to_owned(), 3)]);
    assert_eq!(obligation(ask(MODEL, None, Some(three))), claim);
    assert_eq!(obligation(ask(MODEL, None, Some(BTreeMap::new()))), claim);
    let other = MODEL.replace("x <= 2", "x <= 3");
    assert_eq!(obligation(ask(&other, None, None)), claim);
    // Layout and comments do not matter.
    let same = MODEL.replace("int[0, 5] n;", "int[0, 5]   n; // a counter");
    assert_eq!(obligation(ask(&same, None, None)), None);
    let broken = ask("process P() {", None, None);
    assert!(matches!(broken, Outcome::Unusable(_)), "{broken:?}");
    let nobody = ask(MODEL, Some("A[] nobody"), None);
    assert!(matches!(nobody, Outcome::Unusable(_)), "{nobody:?}");
}

/// The rejection of the certificate of [`MODEL`] with the digest of another model, as if the engine
/// had overlooked the difference; the place in the other model is the text of its line.
fn transplanted(other: &str) -> (Rejection, String) {
    let (loaded, query, certificate) = certificate(&Options::default());
    let digest = |loaded: &Loaded, query: &Query| {
        zonelens_certificate::header(&loaded.network, query, Kind::Always).digest
    };
    let own = digest(&loaded, &query);
    let loaded = xta(other);
    let wanted = loaded.query(CLAIM).expect("a query");
    let mut bytes = certificate.bytes.clone();
    let at = bytes.windows(32).position(|w| w == own);
    let at = at.expect("the digest");
    bytes[at..at + 32].copy_from_slice(&digest(&loaded, &wanted));
    let rejection = accept(&loaded, &wanted, &bytes).expect_err("rejected");
    let line = rejection.span.map(|span| loaded.position(span).line);
    let text = line.and_then(|line| other.lines().nth(line as usize - 1));
    (rejection.clone(), text.unwrap_or_default().to_owned())
}

/// A rejection says which obligation fails, in which state, and where in the model.
#[test]
fn a_rejection_names_state_and_place() {
    let (rejection, line) = transplanted(&MODEL.replace(
        "A -> A { sync tick?; };",
        "A -> A { sync tick?; },\n wait -> cs { guard x > 1 && n == 5; };",
    ));
    assert_eq!(rejection.obligation, Obligation::Closed, "{rejection}");
    assert!(rejection.to_string().contains("wait -> cs"), "{rejection}");
    assert!(line.contains("wait -> cs"), "{line}");
    let (_, state) = rejection.state.expect("a state");
    assert!(
        state.contains(".wait") && state.contains("n = 5"),
        "{state}"
    );
}

/// The set is closed, but an update fails in one of its states.
#[test]
fn a_reachable_error_is_no_proof() {
    let (rejection, line) = transplanted(&MODEL.replace("n = (n + 1) % 6", "n = n + 1"));
    assert_eq!(rejection.obligation, Obligation::NoErrors, "{rejection}");
    assert!(
        rejection.message.contains("the value 6 does not fit"),
        "{rejection}"
    );
    assert!(line.contains("n = n + 1"), "{line}");
    // Another update leads elsewhere.
    let (rejection, _) = transplanted(&MODEL.replace("n = (n + 1) % 6", "n = 0"));
    assert_eq!(rejection.obligation, Obligation::Closed, "{rejection}");
}

/// A weaker invariant lets time pass further than the set says.
#[test]
fn a_set_that_misses_delays_is_no_proof() {
    let (rejection, _) = transplanted(&MODEL.replace("req { x <= 2 }", "req { x <= 4 }"));
    assert_eq!(rejection.obligation, Obligation::Closed, "{rejection}");
    assert!(rejection.message.contains("do not cover"), "{rejection}");
}

/// Bytes that are no certificate: a clear rejection, and no allocation that the file's own size
/// does not cover.
#[test]
fn hostile_files_are_rejected() {
    let (loaded, query, certificate) = certificate(&Options::default());
    let bytes = &certificate.bytes;
    let format = |bytes: &[u8]| {
        let rejection = accept(&loaded, &query, bytes).expect_err("rejected");
        (rejection.obligation, rejection.message)
    };
    for end in (0..200).chain((200..bytes.len()).step_by(97)) {
        let (obligation, message) = format(&bytes[..end]);
        assert_eq!(obligation, Obligation::Format, "{end}: {message}");
    }
    // Every number after the header in turn becomes 2^63.
    let huge = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    let start = bytes.len() - bytes.len() / 3 * 2;
    for at in (100..start)
        .step_by(5)
        .chain((start..bytes.len()).step_by(53))
    {
        let mut changed = bytes[..at].to_vec();
        changed.extend(huge);
        changed.extend(&bytes[at + 1..]);
        format(&changed);
    }
    // One byte changed, anywhere: accepted only if it is not part of the proof.
    let mut rng = zonelens_test_support::Rng::new(3);
    let mut accepted = 0;
    for _ in 0..300 {
        let mut changed = bytes.clone();
        let at = rng.below(changed.len());
        changed[at] ^= 1 << rng.below(8);
        accepted += usize::from(accept(&loaded, &query, &changed).is_ok());
    }
    assert!(accepted < 60, "{accepted}");
    for claim in [u64::MAX, 10 << 30] {
        // A file that says it is longer than it is.
        let limits = Limits::default();
        let reader = Cursor::new(&bytes[..bytes.len() / 2]);
        let result = check(&loaded.network, &query, reader, claim, &limits);
        assert_eq!(result.expect_err("rejected").obligation, Obligation::Format);
    }
}

/// A worker that must leave its location in time, by way of another one.
const WORK: &str = "
    clock x, y;
    process P() {
        state a { x <= 3 }, b { x <= 5 }, c;
        init a;
        trans a -> b { guard x >= 2; assign y = 0; },
              b -> a { guard y >= 1 && x < 3; },
              b -> c { guard y >= 2; };
    }
    system P;
";

/// The rejection of the certificate of a claim about [`WORK`] with the digest of another model.
fn forged(claim: &str, other: &str) -> Result<(), Rejection> {
    let loaded = xta(WORK);
    let query = loaded.query(claim).expect("a query");
    let (_, certificate) = certified(&loaded, &query, &Options::default());
    let certificate = certificate.expect("a certificate");
    accept(&loaded, &query, &certificate.bytes).expect("accepted");
    let other = xta(other);
    let wanted = other.query(claim).expect("a query");
    let (kind, _) = Kind::of(&query).expect("a kind");
    let digest = |loaded: &Loaded, query: &Query| {
        zonelens_certificate::header(&loaded.network, query, kind).digest
    };
    let own = digest(&loaded, &query);
    let mut bytes = certificate.bytes.clone();
    let at = bytes.windows(32).position(|w| w == own).expect("a digest");
    bytes[at..at + 32].copy_from_slice(&digest(&other, &wanted));
    accept(&other, &wanted, &bytes)
}

/// The proof of one model does not prove what is false in another one.
#[test]
fn proofs_about_runs_are_about_one_model() {
    let changes = [
        // No step any more, from some points.
        ("guard y >= 2", "guard y >= 4", Obligation::NotStuck),
        // Time may pass for ever.
        ("b { x <= 5 }", "b", Obligation::NotForEver),
        // One more step.
        (
            "b -> c {",
            "b -> b { guard y >= 2; },\n b -> c {",
            Obligation::Closed,
        ),
        // A step that keeps its clock, and no longer takes time.
        ("y >= 1 && x < 3", "x < 3", Obligation::Closed),
    ];
    for claim in ["A<> P.c", "P.a --> P.c", "E[] !P.c"] {
        for (from, to, obligation) in changes {
            let other = WORK.replace(from, to);
            assert_ne!(other, WORK);
            let rejection = forged(claim, &other).expect_err(claim);
            let found = rejection.obligation;
            // For `-->`, all states of the model come first.
            let all = claim.contains("-->") && found == Obligation::Closed;
            let fits = found == obligation || all;
            assert!(fits, "{claim}: {to}: {rejection}");
        }
        // Layout does not matter, and neither does a guard that is always true there.
        let same = WORK.replace("guard y >= 2", "guard y >= 2 && x >= 2");
        assert_eq!(forged(claim, &same), Ok(()), "{claim}");
    }
}

/// The results for claims about real models.
#[derive(Default)]
struct Real {
    claims: usize,
    accepted: usize,
    symmetric: usize,
    again: usize,
    late: usize,
    /// Seconds of the searches and of the checks of what was accepted.
    seconds: (f64, f64),
    zones: u64,
    bytes: u64,
    /// File, formula and reason of those without a certificate.
    without: Vec<[String; 3]>,
}

impl Real {
    fn text(&self, about: &str) -> String {
        let Real {
            claims,
            accepted,
            symmetric,
            again,
            late,
            seconds: (search, check),
            zones,
            bytes,
            without,
        } = self;
        let mut text = format!(
            "{accepted} of {claims} claims about {about} are certified and accepted, {symmetric} of them up to symmetry, \
             {again} after a second search; {late} of the others for want of time. The searches took {search:.1} s, the checks \
             {check:.1} s; {zones} zones, {bytes} bytes.\n\n"
        );
        if !without.is_empty() {
            text += "| file | claim | reason |\n|---|---|---|\n";
        }
        for [file, formula, reason] in without {
            let formula = formula.replace('|', "\\|");
            text += &format!("| `{file}` | `{formula}` | {reason} |\n");
        }
        text
    }
}

/// Certifies every `step`th of the claims of a corpus that `wanted` selects by outcome and kind.
#[allow(clippy::print_stdout)]
fn real_claims(folder: &Path, step: usize, wanted: fn(&str, &str) -> bool) -> Real {
    let table = std::fs::read_to_string(folder.join("EXPECTED.tsv")).expect("a table");
    let rows = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>());
    let options = Options {
        timeout: Some(10.0),
        ..Options::default()
    };
    let mut real = Real::default();
    for row in rows
        .filter(|row| row.len() == 4 && wanted(row[2], row[3]))
        .step_by(step)
    {
        let (file, formula) = (folder.join(row[0]), row[1]);
        let kind = match file.extension().is_some_and(|e| e == "xml") {
            true => FileKind::Xml,
            false => FileKind::Xta,
        };
        let text = std::fs::read(&file).expect("a model");
        let Ok(loaded) = zonelens_test_support::load(&String::from_utf8_lossy(&text), kind, &[])
        else {
            continue;
        };
        let Ok(query) = loaded.query(formula) else {
            continue;
        };
        let claimed = match Kind::of(&query) {
            Ok((kind, _)) if kind.is_satisfied() => Verdict::Satisfied,
            Ok(_) => Verdict::Violated,
            Err(_) => continue,
        };
        let (report, certificate) = certified(&loaded, &query, &options);
        if report.verdict != claimed {
            continue;
        }
        real.claims += 1;
        let said = match certificate {
            Ok(certificate) => {
                let begin = std::time::Instant::now();
                let result = accept(&loaded, &query, &certificate.bytes);
                result.unwrap_or_else(|e| panic!("{}: {formula}: {e}", file.display()));
                real.accepted += 1;
                real.symmetric += usize::from(certificate.symmetry);
                real.again += usize::from(certificate.searched_again);
                real.seconds.0 += report.statistics.seconds;
                real.seconds.1 += begin.elapsed().as_secs_f64();
                real.zones += certificate.zones;
                real.bytes += certificate.bytes.len() as u64;
                format!("{} zones", certificate.zones)
            }
            Err(reason) => {
                real.late += usize::from(reason.contains("limit") || reason.contains("early"));
                real.without
                    .push([row[0].to_owned(), formula.to_owned(), reason.clone()]);
                reason
            }
        };
        println!("{}: {formula}: {said}", row[0]);
    }
    real
}

/// One of how many claims is tried; all with `ZONELENS_CERTIFIED_CORPUS=1`.
fn one_of(usual: usize) -> usize {
    let every = std::env::var("ZONELENS_CERTIFIED_CORPUS");
    every.ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// Claims of real models: nearly all about states and at least four of five about runs have
/// certificates, and all of these are accepted. `ZONELENS_CERTIFIED_PAGE` names a file for the
/// result.
#[allow(clippy::print_stdout)]
#[test]
fn claims_of_real_models_are_certified() {
    let Some(folder) = zonelens_test_support::corpus() else {
        return;
    };
    let states = real_claims(&folder, one_of(12), |outcome, kind| {
        matches!((outcome, kind), ("satisfied", "AG") | ("violated", "EF"))
    });
    let runs = real_claims(&folder, one_of(20), |outcome, kind| {
        matches!(
            (outcome, kind),
            ("satisfied", "AF" | "leadsto") | ("violated", "EG")
        )
    });
    let text = format!(
        "# Certificates of real models\n\n\
         Written by `cargo xtask certify --corpus`: the claims of a corpus of real models that are true and were decided within \
         10 seconds, with and without [certificates](certificates.md).\n\n\
         ## States\n\n{}\n## Runs\n\n{}",
        states.text("states (`A[]` satisfied, `E<>` violated)"),
        runs.text("runs (`A<>` and `-->` satisfied, `E[]` violated)")
    );
    println!("{text}");
    if let Ok(page) = std::env::var("ZONELENS_CERTIFIED_PAGE") {
        std::fs::write(page, text.trim_end().to_owned() + "\n").expect("a page");
    }
    for (real, least) in [(states, 9), (runs, 8)] {
        let in_time = real.claims - real.late;
        assert!(real.accepted * 10 >= in_time * least, "{in_time}");
    }
}
