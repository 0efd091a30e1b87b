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

#[allow(clippy::print_stdout)]
#[test]
fn claims_about_the_examples_are_certified() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut count = 0;
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
                Ok((Kind::Always, _)) => Verdict::Satisfied,
                Ok((Kind::Never, _)) => Verdict::Violated,
                Err(_) => continue,
            };
            if report.verdict != claimed {
                continue;
            }
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let certificate = certificate.unwrap_or_else(|e| panic!("{name}: {formula}: {e}"));
            let result = accept(&loaded, &query, &certificate.bytes);
            result.unwrap_or_else(|e| panic!("{name}: {formula}: {e}"));
            println!(
                "{name}: {formula}: {} states, {} zones, {} bytes",
                certificate.states,
                certificate.zones,
                certificate.bytes.len()
            );
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
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
    assert!(exact.searched_again, "the processes are interchangeable");
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
    certificate(&Options {
        threads: 2,
        ..Options::default()
    });
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
        ("", "A<> P.b", "liveness (`A<>`) has no certificates yet"),
        (
            "",
            "P.a --> P.b",
            "liveness (`-->`) has no certificates yet",
        ),
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
