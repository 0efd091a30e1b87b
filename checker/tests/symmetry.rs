//! Random symmetric models: verdicts with and without reduction, audited, traces replayed.

mod common;

use common::load;
use zonelens_analysis::report::{Options, SymmetryOption, Verdict};
use zonelens_syntax::ast::FileKind;

/// SplitMix64, as reproducible as the seed that a failure prints.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n.max(1) as u64) as usize
    }

    fn pick<'a>(&mut self, options: &[&'a str]) -> &'a str {
        options[self.below(options.len())]
    }
}

/// A model over one or two scalarsets that the rules accept: guards and updates from a list of symmetric phrases.
fn random_model(rng: &mut Rng) -> String {
    let n = 2 + rng.below(2);
    let mut text = format!(
        "typedef scalar[{n}] S;\nS owner, last;\nbool busy;\nint[0,2] turn[S];\nS friend[S];\nint[0,3] count;\nclock z[S];\n\
         clock g;\n{} chan c[S];\n{} chan d;\n",
        rng.pick(&["", "broadcast", "urgent"]),
        rng.pick(&["", "broadcast"]),
    );
    text += "process P(const S i) {\n  clock x;\n  S mine;\n  state a, b";
    text += rng.pick(&["", " { x <= 3 }", " { z[i] < 2 }"]);
    text += ", e;\n";
    text += rng.pick(&["", "  commit e;\n", "  urgent e;\n"]);
    text += "  init a;\n  trans\n";
    let guards = [
        "!busy",
        "owner == i",
        "owner != i",
        "turn[i] < 2",
        "x > 1",
        "x >= 2 && last == i",
        "z[i] < 3",
        "friend[i] == i",
        "friend[i] != owner",
        "mine == owner",
        "forall (k : S) turn[k] < 2",
        "exists (k : S) friend[k] == i",
        "(sum (k : S) turn[k]) < 3",
        "g >= 1",
    ];
    let updates = [
        "owner = i",
        "busy = !busy",
        "turn[i] = (turn[i] + 1) % 3",
        "x = 0",
        "z[i] = 0",
        "friend[i] = owner",
        "last = owner",
        "mine = owner",
        "friend[owner] = i",
        "count = (count + 1) % 4",
        "g = 0",
        "turn[friend[i]] = 0",
    ];
    let places = ["a", "b", "e"];
    let mut edges = Vec::new();
    for k in 0..4 + rng.below(3) {
        let from = if k < 3 { places[k] } else { rng.pick(&places) };
        let (select, sync) = match rng.below(6) {
            0 => (
                " select k : S;",
                format!(" sync c[k]{};", rng.pick(&["!", "?"])),
            ),
            1 => ("", format!(" sync c[i]{};", rng.pick(&["!", "?"]))),
            2 => ("", format!(" sync d{};", rng.pick(&["!", "?"]))),
            _ => ("", String::new()),
        };
        let mut update = vec![rng.pick(&updates).to_owned()];
        if rng.below(2) == 0 {
            update.push(rng.pick(&updates).to_owned());
        }
        if !select.is_empty() && rng.below(2) == 0 {
            update.push("owner = k".into());
        }
        edges.push(format!(
            "    {from} -> {} {{{select} guard {};{sync} assign {}; }}",
            rng.pick(&places),
            rng.pick(&guards),
            update.join(", ")
        ));
    }
    text + &edges.join(",\n") + ";\n}\nsystem P;\n"
}

const QUERIES: [&str; 13] = [
    "E<> exists (i : S) exists (j : S) i != j && P(i).e && P(j).e",
    "A[] forall (i : S) (P(i).b imply turn[i] < 2)",
    "E<> exists (i : S) P(i).x > 2 && z[i] <= 1",
    "A[] not deadlock",
    "E<> owner != last && busy",
    "E<> forall (i : S) friend[i] == owner && P(i).b",
    "A[] forall (i : S) (P(i).e imply P(i).mine == i)",
    "E[] forall (i : S) !P(i).e",
    "E[] exists (i : S) P(i).a && owner != last",
    "A<> exists (i : S) P(i).e || P(i).x > 4",
    "(exists (i : S) P(i).b) --> (forall (i : S) !P(i).b)",
    "owner != last --> owner == last",
    "E<> forall (i : S) exists (j : S) i != j && friend[i] == j && turn[j] != turn[i]",
];

#[test]
fn verdicts_do_not_depend_on_reduction() {
    let count: u64 = std::env::var("ZONELENS_SYMMETRY_MODELS")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(400);
    let (mut accepted, mut reduced, mut smaller) = (0, 0, 0);
    for seed in 0..count {
        let mut rng = Rng(seed);
        let text = random_model(&mut rng);
        let Ok(model) = load(&text, FileKind::Xta, &[]) else {
            continue;
        };
        accepted += 1;
        for _ in 0..2 {
            let query = QUERIES[rng.below(QUERIES.len())];
            let limits = Options {
                states: Some(20_000),
                ..Options::default()
            };
            let off = model.verify(
                query,
                &Options {
                    symmetry: SymmetryOption::Off,
                    ..limits.clone()
                },
            );
            // Half of them with the audit, which takes every step, half with one step per class.
            let audited = Options {
                audit_symmetry: rng.below(2) == 0,
                ..limits
            };
            let on = model.verify(query, &audited);
            if off.verdict == Verdict::Unknown || on.verdict == Verdict::Unknown {
                continue;
            }
            assert_eq!(
                on.verdict, off.verdict,
                "seed {seed}: {query}\n{:?}\n{:?}\n{text}",
                on.reason, off.reason
            );
            assert_ne!(
                on.verdict,
                Verdict::Error,
                "seed {seed}: {query}\n{:?}\n{text}",
                on.reason
            );
            reduced += usize::from(!on.symmetry.scalarsets.is_empty());
            smaller += usize::from(on.statistics.stored < off.statistics.stored);
        }
    }
    #[allow(clippy::print_stdout)]
    {
        println!(
            "{count} seeds: {accepted} accepted, {reduced} runs reduced, {smaller} with fewer states"
        );
    }
    assert!(accepted * 2 > count as usize && reduced * 4 > accepted && smaller > 20);
}
