//! Certificates under symmetry: of random symmetric models, changed ones, and forged ones for
//! models whose elements the analysis distinguishes.

use crate::common::{Loaded, Verify, load, xta};
use std::collections::BTreeMap;
use std::io::Cursor;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::Query;
use zonelens_analysis::report::{Options, QueryReport, SymmetryOption, Verdict};
use zonelens_certificate::{Accepted, Kind, Limits, Obligation, Rejection, check, completed};
use zonelens_checker::{Certificate, Control, verify_and_certify};
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::certificate::File;
use zonelens_test_support::random::{self, Rng, wide};

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

fn accept(loaded: &Loaded, query: &Query, bytes: &[u8]) -> Result<Accepted, Rejection> {
    let (reader, limits) = (Cursor::new(bytes), Limits::default());
    check(&loaded.network, query, reader, bytes.len() as u64, &limits)
}

fn number(name: &str, default: u64) -> u64 {
    let given = std::env::var(name).ok().and_then(|n| n.parse().ok());
    given.unwrap_or(default)
}

fn claims(kind: Kind, report: &QueryReport) -> bool {
    report.verdict
        == match kind.is_satisfied() {
            true => Verdict::Satisfied,
            false => Verdict::Violated,
        }
}

/// What becomes of the claims about random models, by name. With `force`, symmetry is claimed even
/// if the analysis found that elements are distinguished; then only false claims count.
fn campaign(count: u64, odd: bool, force: bool) -> BTreeMap<String, usize> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..count {
        let mut rng = Rng(seed);
        let numbered = seed % 2 == 1;
        let wide_one = seed % 8 == 7 && !odd;
        let text = match wide_one {
            true => wide::model(&mut rng, numbered),
            false => random::model(&mut rng, odd, numbered),
        };
        let Ok(loaded) = load(&text, FileKind::Xta, &[]) else {
            continue;
        };
        for round in 0..3 {
            let formula = match (wide_one, numbered && (round == 2 || force)) {
                (true, true) => rng.pick(&wide::NAMING),
                (true, false) => rng.pick(&wide::QUERIES),
                (false, true) => rng.pick(&random::NAMING),
                (false, false) => rng.pick(&random::QUERIES),
            };
            let Ok(mut query) = loaded.query(formula) else {
                continue;
            };
            match Kind::of(&query) {
                Ok((kind, _)) if !kind.is_about_runs() => {}
                _ => continue,
            }
            if force {
                // The analysis does not notice what the query names, either.
                query.named_elements.clear();
            }
            let Ok((kind, _)) = Kind::of(&query) else {
                continue;
            };
            let options = Options {
                states: Some(5_000),
                force_symmetry: force,
                ..Options::default()
            };
            let (report, certificate) = certified(&loaded, &query, &options);
            if !claims(kind, &report) {
                continue;
            }
            let context = || format!("seed {seed}: {formula}\n{text}");
            let off = Options {
                symmetry: SymmetryOption::Off,
                force_symmetry: false,
                states: Some(20_000),
                ..Options::default()
            };
            let plain = || loaded.verify_query(&query, &off);
            let name = match certificate {
                Err(reason) => format!("none: {}", reason.split(':').next().unwrap_or_default()),
                Ok(certificate) => match accept(&loaded, &query, &certificate.bytes) {
                    Ok(accepted) => {
                        assert_eq!(accepted.symmetry, certificate.symmetry);
                        if certificate.symmetry && (force || seed % 4 == 0) {
                            let plain = plain();
                            let open = plain.verdict == Verdict::Unknown;
                            assert!(open || claims(kind, &plain), "accepted: {}", context());
                        }
                        match (certificate.symmetry, certificate.searched_again) {
                            (true, _) => "accepted with symmetry".to_owned(),
                            (false, true) => "accepted after a second search".to_owned(),
                            (false, false) => "accepted".to_owned(),
                        }
                    }
                    Err(rejection) => {
                        assert!(force, "{rejection}: {}", context());
                        let right = claims(kind, &plain());
                        let word = if right { "right" } else { "wrong" };
                        format!("rejected, {word}: {}", rejection.obligation.name())
                    }
                },
            };
            *seen.entry(name).or_default() += 1;
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("odd {odd}, force {force}: {seen:#?}");
    }
    seen
}

#[test]
fn symmetric_models_are_certified_with_symmetry() {
    let seen = campaign(number("ZONELENS_CERTIFIED_SYMMETRIC", 160), false, false);
    let of = |name: &str| seen.get(name).copied().unwrap_or_default();
    let again = of("accepted after a second search");
    assert!(of("accepted with symmetry") > 20 && again * 3 < of("accepted with symmetry"));
}

/// The analysis is wrong about symmetry, as if all its rules were off: what is accepted is true.
#[test]
fn wrong_symmetry_is_rejected() {
    let count = number("ZONELENS_CERTIFIED_SYMMETRIC", 160);
    let seen = campaign(count, true, true);
    let rejected = seen.iter().filter(|(name, _)| name.starts_with("rejected"));
    assert!(
        rejected.map(|(_, count)| count).sum::<usize>() > 0,
        "{seen:?}"
    );
}

/// Processes that nothing distinguishes.
const ALIKE: &str = "
    typedef int[0, 2] id_t;
    const int limit[id_t] = { 1, 1, 1 };
    int[-1, 2] owner = -1;
    bool flag[id_t];
    int[0, 9] n;
    int[0, 9] m;
    chan call[id_t];
    broadcast chan go;
    int count() { int r = 0; for (i : id_t) if (flag[i]) r++; return r; }
    bool any() { for (i : id_t) if (flag[i]) return true; return false; }
    void reset() { for (i : id_t) flag[i] = false; }
    process P(const id_t id) {
        clock x;
        state a { x <= 3 }, b, w;
        init a;
        trans
            a -> b { guard x >= 1 && owner == -1; assign owner = id, flag[id] = true, x = 0; },
            b -> w { guard x >= limit[id] && count() < 3; sync call[id]!; assign x = 0; },
            w -> a { guard owner == id; assign owner = -1, reset(), x = 0; },
            a -> a { guard x >= 1; sync go?; assign n = 1, x = 0; };
    }
    process Q() {
        state q;
        init q;
        trans q -> q { guard any(); sync go!; },
              q -> q { select i : id_t; sync call[i]?; assign m = 0; };
    }
    system P, Q;
";

/// The rejection of the certificate of [`ALIKE`] under the name of another model.
fn forged(other: &str, claim: &str) -> Option<Rejection> {
    let loaded = xta(ALIKE);
    let query = loaded.query(claim).expect("a query");
    let (_, certificate) = certified(&loaded, &query, &Options::default());
    let certificate = certificate.expect("a certificate");
    assert!(certificate.symmetry, "the base has symmetry");
    let other = xta(other);
    let wanted = other.query(claim).expect("a query");
    let digest = |loaded: &Loaded, query: &Query| {
        zonelens_certificate::header(&loaded.network, query, Kind::Always).digest
    };
    let own = digest(&loaded, &query);
    let mut bytes = certificate.bytes.clone();
    let at = bytes.windows(32).position(|w| w == own).expect("a digest");
    bytes[at..at + 32].copy_from_slice(&digest(&other, &wanted));
    accept(&other, &wanted, &bytes).err()
}

/// Each rule of symmetry, broken: the action of the certificate is none of the model.
#[test]
fn every_trap_is_rejected() {
    let claim = "A[] n <= 1";
    assert_eq!(forged(ALIKE, claim), None);
    let id = "owner = id, flag[id] = true";
    let traps = [
        (
            "a constant array that differs",
            "{ 1, 1, 1 }",
            "{ 1, 2, 1 }",
        ),
        ("a literal", "owner == -1", "(owner == -1 || owner == 1)"),
        (
            "another literal",
            "guard owner == id",
            "guard owner == id && id != 2",
        ),
        ("an order", "guard owner == id", "guard owner <= id"),
        ("arithmetic", id, "owner = (id + 1) % 3, flag[id] = true"),
        (
            "an element as a number",
            id,
            "owner = id, flag[id] = true, n = id",
        ),
        ("a number as an element", id, "owner = n, flag[id] = true"),
        ("a number as an index", id, "owner = id, flag[n] = true"),
        ("a literal as an index", id, "owner = id, flag[0] = true"),
        (
            "a clock and an element",
            "guard owner == id",
            "guard owner == id && x >= id",
        ),
        (
            "a bound of an invariant",
            "a { x <= 3 }",
            "a { x <= 3 + id }",
        ),
        (
            "a loop that depends on the order",
            "flag[i] = false",
            "owner = i",
        ),
        (
            "a loop that counts on",
            "flag[i] = false",
            "{ m = 2 * m; if (flag[i]) m = 1; }",
        ),
        (
            "a loop that ends after an effect",
            "flag[i] = false",
            "{ flag[i] = false; if (i == owner) return; }",
        ),
        (
            "receivers that write an element",
            "assign n = 1, x = 0",
            "assign owner = id, x = 0",
        ),
        (
            "receivers that do not commute",
            "assign n = 1, x = 0",
            "assign n = (n + 1) % 2, x = 0",
        ),
        (
            "receivers that read what others write",
            "assign n = 1, x = 0",
            "assign flag[id] = n == 0, n = 1, x = 0",
        ),
        (
            "a range of elements",
            "select i : id_t; sync call[i]?",
            "select i : int[0, 1]; sync call[i]?",
        ),
        (
            "a local variable",
            "int count() { int r = 0;",
            "int count() { id_t last; int r = 0; if (last == owner) return 0;",
        ),
        (
            "priorities of processes",
            "system P, Q",
            "A = P(0); B = P(1); C = P(2); system A < B < C, Q",
        ),
        (
            "priorities of channels",
            "    int count()",
            "    chan priority call[0] < default;\n int count()",
        ),
        (
            "a process more",
            "system P, Q",
            "P0 = P(0); P1 = P(1); P2 = P(1); system P0, P1, P2, Q",
        ),
    ];
    for (name, from, to) in traps {
        let other = ALIKE.replace(from, to);
        assert_ne!(other, ALIKE, "{name}");
        let rejection = forged(&other, claim).unwrap_or_else(|| panic!("{name}: accepted"));
        let expected = [Obligation::Symmetry, Obligation::Format];
        assert!(
            expected.contains(&rejection.obligation),
            "{name}: {rejection}"
        );
    }
}

/// A query that names an element is tested for all elements.
#[test]
fn queries_that_name_elements_are_certified() {
    let loaded = xta(ALIKE);
    let query = loaded.query("A[] P(1).w imply flag[1]").expect("a query");
    let (_, certificate) = certified(&loaded, &query, &Options::default());
    let bytes = certificate.expect("a certificate").bytes;
    let accepted = accept(&loaded, &query, &bytes).expect("accepted");
    let mut file = File::read(&loaded.network, &bytes).expect("a file");
    if accepted.symmetry && !file.action.named.is_empty() {
        file.action.named.clear();
        let changed = file.write(&loaded.network);
        let rejection = accept(&loaded, &query, &changed).expect_err("an element is named");
        assert_eq!(rejection.obligation, Obligation::Symmetry);
    }
    // One that only some elements meet.
    let truth = loaded.query("A[] n <= 1").expect("a query");
    let (_, certificate) = certified(&loaded, &truth, &Options::default());
    let bytes = certificate.expect("a certificate").bytes;
    let wrong = loaded.query("A[] owner != 1").expect("a query");
    let mut file = File::read(&loaded.network, &bytes).expect("a file");
    let digest =
        |query: &Query| zonelens_certificate::header(&loaded.network, query, Kind::Always).digest;
    let at = file.head.windows(32).position(|w| w == digest(&truth));
    let at = at.expect("a digest");
    file.head[at..at + 32].copy_from_slice(&digest(&wrong));
    for named in [vec![], vec![(0, 1)], vec![(0, 0)]] {
        file.action.named = named;
        let changed = file.write(&loaded.network);
        let rejection = accept(&loaded, &wrong, &changed).expect_err("false");
        let fits = [Obligation::Symmetry, Obligation::Good].contains(&rejection.obligation);
        assert!(fits, "{rejection}");
    }
}

/// Whether the images of the states are a proof without symmetry; `None` if they are too many.
fn judged(loaded: &Loaded, query: &Query, file: &File) -> Option<Result<(), Rejection>> {
    let open = file.expanded(&loaded.network, 200)?;
    let whole = completed(&loaded.network, &open, &Limits::default());
    Some(whole.and_then(|bytes| accept(loaded, query, &bytes).map(drop)))
}

/// Certificates with random changes: what is accepted is a proof without symmetry, if all images of
/// its states are listed.
#[test]
fn changed_symmetry_is_rejected_unless_it_is_a_proof() {
    let count = number("ZONELENS_CERTIFIED_MUTANTS", 600) as usize;
    let mut made: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let (mut done, mut seed) = (0, 0);
    while done < count {
        seed += 1;
        let mut rng = zonelens_test_support::Rng::new(seed);
        let numbered = seed % 2 == 1;
        let text = match seed % 5 {
            0 => ALIKE.to_owned(),
            _ => random::model(&mut Rng(seed), false, numbered),
        };
        let Ok(loaded) = load(&text, FileKind::Xta, &[]) else {
            continue;
        };
        let formula = match seed % 5 {
            0 => ["A[] n <= 1", "A[] P(1).w imply flag[1]"][rng.below(2)],
            _ => random::QUERIES[rng.below(random::QUERIES.len())],
        };
        let Ok(query) = loaded.query(formula) else {
            continue;
        };
        let options = Options {
            states: Some(2_000),
            ..Options::default()
        };
        let (_, certificate) = certified(&loaded, &query, &options);
        let Some(certificate) = certificate.ok().filter(|c| c.symmetry && c.states < 60) else {
            continue;
        };
        let file = File::read(&loaded.network, &certificate.bytes).expect("a certificate");
        assert_eq!(file.write(&loaded.network), certificate.bytes);
        let context = |what: &str| format!("seed {seed}: {what}\n{formula}\n{text}");
        if let Some(Err(rejection)) = judged(&loaded, &query, &file) {
            panic!("no proof: {rejection}: {}", context(""));
        }
        for _ in 0..20 {
            let mut changed = file.clone();
            let what = match rng.below(3) {
                0 => changed.change(&loaded.network, &mut rng),
                _ => changed.change_symmetry(&mut rng),
            };
            if changed == file {
                continue;
            }
            let entry = made.entry(what).or_default();
            entry.0 += 1;
            done += 1;
            if accept(&loaded, &query, &changed.write(&loaded.network)).is_ok() {
                entry.1 += 1;
                if let Some(Err(rejection)) = judged(&loaded, &query, &changed) {
                    panic!("accepted, but {rejection}: {}", context(what));
                }
            }
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!("change: (made, accepted) {made:#?}");
    }
    let (swapped, accepted) = made["a permutation swapped"];
    assert!(swapped >= 10 && accepted * 2 < swapped, "{made:?}");
}

/// Sets of elements that are larger than the file, and other nonsense.
#[test]
fn hostile_actions_are_rejected() {
    let loaded = xta(ALIKE);
    let query = loaded.query("A[] n <= 1").expect("a query");
    let (_, certificate) = certified(&loaded, &query, &Options::default());
    let bytes = certificate.expect("a certificate").bytes;
    let file = File::read(&loaded.network, &bytes).expect("a certificate");
    let reject = |change: &dyn Fn(&mut File)| {
        let mut changed = file.clone();
        change(&mut changed);
        let result = accept(&loaded, &query, &changed.write(&loaded.network));
        result.expect_err("rejected").obligation
    };
    let action = [
        reject(&|f| f.action.sets[0].1 = 1 << 60),
        reject(&|f| f.action.sets[0].1 = 65_536),
        reject(&|f| f.action.sets[0].2[0].push(0)),
        reject(&|f| f.action.sets[0].2[0].push(7)),
        reject(&|f| f.action.sets[0].0 = i64::MAX / 2),
        reject(&|f| f.action.sets[0].0 = 1),
        reject(&|f| f.action.named = vec![(0, 9)]),
        reject(&|f| f.action.coordinates[0] = vec![(0, 0, i64::MIN / 2)]),
        reject(&|f| f.action.coordinates[0] = vec![(9, 0, 1)]),
        reject(&|f| f.action.holds[0] = 5),
        reject(&|f| f.records[0][0].1.2[0] = vec![(0, 1)]),
        reject(&|f| f.records[0][0].1.2[0] = vec![(0, 2), (2, 0), (9, 1)]),
        reject(&|f| f.records[0][0].1.2[0] = vec![(0, 0)]),
    ];
    let fits = |o: &Obligation| matches!(o, Obligation::Format | Obligation::Symmetry);
    assert!(action.iter().all(fits), "{action:?}");
}
