//! Whatever the analysis considers symmetric is symmetric. The models are random and made of
//! phrases, many of which distinguish elements. If a set is left to reduce over, swaps must commute
//! with the steps of every state that is explored, and verdicts must be those of the plain search.

use crate::common;

use common::{Loaded, Verify, load};
use zonelens_analysis::report::{Options, SymmetryOption, Verdict};
use zonelens_syntax::ast::FileKind;
use zonelens_test_support::Rng;

/// Functions; each model gets those that its phrases call.
const FUNCTIONS: &[&str] = &[
    "id_t pick(id_t i) { id_t r; if (f[i]) r = i; return r; }",
    "id_t keep(id_t i) { id_t r = i; if (f[i]) r = last; return r; }",
    "id_t noret(id_t i) { if (f[i]) return i; }",
    "id_t first() { for (j : id_t) if (f[j]) return j; return last; }",
    "int cnt() { int k = 0; for (j : id_t) if (f[j]) k++; return k; }",
    "bool any() { for (j : id_t) if (f[j]) return true; return false; }",
    "bool some() { for (j : id_t) { f[j] = false; if (next[j] == last) return true; } return false; }",
    "void clear() { for (j : id_t) f[j] = false; }",
    "void lastset() { for (j : id_t) if (f[j]) last = j; }",
    "void chase() { for (j : id_t) next[j] = next[next[j]]; }",
    "void point() { for (j : id_t) next[j] = last; }",
    "void spread() { for (j : id_t) f[next[j]] = true; }",
    "void carry() { bool p = false; for (j : id_t) { f[j] = p; p = !p; } }",
    "void tally() { n = 0; for (j : id_t) if (f[j]) n += 1; }",
    "void dbl() { for (j : id_t) if (f[j]) n = n * 2 % 4; }",
    "void own() { for (j : id_t) { id_t k = next[j]; if (k == j) f[j] = true; } }",
    "void ref(bool &v) { v = !v; }",
    "void each() { for (j : id_t) ref(f[j]); }",
    "void same() { for (j : id_t) ref(f[last]); }",
    "void two() { for (j : id_t) for (k : id_t) if (j != k && f[k]) next[j] = k; }",
    "void brk() { for (j : id_t) { if (f[j]) { n = 1; break; } } }",
];

const GUARDS: &[&str] = &[
    "f[me]",
    "!f[me]",
    "cnt() < 2",
    "any()",
    "n < 3",
    "last == me",
    "next[me] == me",
    "next[last] != me",
    "exists (j : id_t) f[j] && j != me",
    "forall (j : id_t) next[j] == me || f[j]",
    "x > 1",
    "true",
];

const UPDATES: &[&str] = &[
    "f[me] = !f[me]",
    "f[me] = true",
    "clear()",
    "point()",
    "spread()",
    "tally()",
    "own()",
    "each()",
    "brk()",
    "last = me",
    "last = keep(me)",
    "last = next[me]",
    "next[me] = last",
    "next[last] = me",
    "f[last] = true",
    "n = cnt()",
    "n = (n + 1) % 4",
    "x = 0",
];

/// Updates whose result depends on an order or on an element that nothing chose, unless the rest of
/// the model compensates for it.
const RISKY: &[&str] = &[
    "lastset()",
    "chase()",
    "carry()",
    "dbl()",
    "same()",
    "two()",
    "last = pick(me)",
    "last = noret(me)",
    "last = first()",
    "n = some() ? 1 : 0",
];

/// Phrases that are only meaningful for integers.
const INT_GUARDS: &[&str] = &[
    "turn == -1",
    "turn == me",
    "me != 1",
    "w[me] == 1",
    "x > w[me]",
    "me < 2",
    "forall (j : int[0,1]) !f[j]",
    "last == 0",
    "f[1]",
];

const INT_UPDATES: &[&str] = &[
    "turn = me",
    "turn = -1",
    "turn = last",
    "f[0] = true",
    "last = 0",
    "rank()",
    "last = (me + 1) % N",
];

const SYNCS: &[&str] = &[
    "",
    "",
    "",
    "sync c[me]!;",
    "sync c[me]?;",
    "sync c[last]!;",
    "sync b!;",
    "sync b?;",
    "sync b?;",
];

fn edges(rng: &mut Rng, integers: bool, name: &str) -> String {
    let mut out = Vec::new();
    for _ in 0..3 + rng.below(3) {
        let guard = match integers && rng.below(9) == 0 {
            true => rng.pick(INT_GUARDS),
            false => rng.pick(GUARDS),
        };
        let mut updates = Vec::new();
        for _ in 0..1 + rng.below(2) {
            updates.push(match rng.below(24) {
                0 => rng.pick(RISKY),
                1 | 2 if integers => rng.pick(INT_UPDATES),
                _ => rng.pick(UPDATES),
            });
        }
        let sync = rng.pick(SYNCS);
        let (from, to) = (rng.pick(&["A", "B"]), rng.pick(&["A", "B"]));
        out.push(format!(
            "{from} -> {to} {{ guard {guard}; {sync} assign {}; }}",
            updates.join(", ")
        ));
    }
    format!(
        "process {name}(const id_t me) {{ clock x; state A {{ x <= 3 }}, B; init A; trans {}; }}\n",
        out.join(", ")
    )
}

fn model(rng: &mut Rng, integers: bool) -> String {
    let mut body = edges(rng, integers, "P");
    let mut system = "P";
    if rng.below(4) == 0 {
        body += &edges(rng, integers, "Q");
        system = "P, Q";
    }
    let mut text = String::from("const int N = 3;\n");
    if integers {
        text += "typedef int[0,N-1] id_t;\nint[-1,N-1] turn = -1;\n";
        text += rng.pick(&[
            "const int w[N] = {1, 1, 1};\n",
            "const int w[N] = {1, 1, 2};\n",
        ]);
    } else {
        text += "typedef scalar[N] id_t;\n";
    }
    text +=
        "id_t last; int[0,3] n; bool f[id_t]; id_t next[id_t]; chan c[id_t]; broadcast chan b;\n";
    if body.contains("rank()") {
        text += "void rank() { int k = 0; for (j : id_t) { next[j] = k; k++; } }\n";
    }
    // A function that others call comes before them.
    for f in FUNCTIONS {
        let name = f
            .split('(')
            .next()
            .unwrap_or("")
            .rsplit(' ')
            .next()
            .unwrap_or("");
        let called = format!("{name}(");
        if body.contains(&called)
            || (name == "ref" && (body.contains("each()") || body.contains("same()")))
        {
            text += f;
            text.push('\n');
        }
    }
    text += &body;
    if integers && rng.below(8) == 0 {
        text += rng.pick(&[
            "chan priority c[0] < default;\n",
            "chan priority c < default;\n",
            "chan priority b < c;\n",
            "chan priority default < c[2];\n",
        ]);
    }
    if integers && rng.below(10) == 0 {
        text += "R = P(1);\n";
        return format!("{text}system R, {system};\n");
    }
    format!("{text}system {system};\n")
}

/// Whether something is left to reduce over.
fn reduces(m: &Loaded) -> bool {
    m.network
        .scalarsets
        .iter()
        .any(|s| s.broken.is_empty() && s.blocks.iter().any(|b| b.len() > 1))
}

fn compare(text: &str, m: &Loaded, seed: u64) {
    let limits = Options {
        states: Some(1500),
        timeout: Some(10.0),
        seed,
        ..Options::default()
    };
    let plain = Options {
        symmetry: SymmetryOption::Off,
        ..limits.clone()
    };
    let audited = Options {
        audit_symmetry: true,
        ..limits
    };
    for query in [
        "A[] n < 3",
        "E<> forall (i : id_t) f[i]",
        "A[] forall (i : id_t) P(i).B imply f[i] || last == i",
    ] {
        let off = m.verify(query, &plain);
        let on = m.verify(query, &audited);
        if off.verdict == Verdict::Error
            || off.verdict == Verdict::Unknown
            || on.verdict == Verdict::Unknown
        {
            continue;
        }
        assert_eq!(
            on.verdict, off.verdict,
            "seed {seed}: {query}: {:?} against {:?} in\n{text}",
            on.reason, off.reason
        );
    }
}

fn run(integers: bool, models: u64, at_least: u32) {
    let (mut reduced, mut refused) = (0, 0);
    for seed in 0..models {
        let text = model(&mut Rng(seed * 7919 + u64::from(integers)), integers);
        let m = match load(&text, FileKind::Xta, &[]) {
            Ok(m) => m,
            Err(e) => panic!("seed {seed}: {e}\n{text}"),
        };
        if reduces(&m) {
            reduced += 1;
            compare(&text, &m, seed);
        } else {
            refused += 1;
        }
    }
    assert!(reduced >= at_least, "{reduced} of {models} are reduced");
    assert!(refused >= at_least, "{refused} of {models} are refused");
}

#[test]
fn detected_sets_are_symmetric() {
    run(true, 1500, 300);
}

#[test]
fn accepted_scalar_sets_are_symmetric() {
    run(false, 1500, 300);
}

/// A set that belongs to one template: alone it is reduced, in a symmetric family it is not.
#[test]
fn sets_of_a_template() {
    let text = |param: &str| {
        format!(
            "typedef scalar[2] pid; process P({param}) {{ typedef scalar[3] slot; bool full[slot]; slot top; int[0,3] n; \
             state A; init A; trans A -> A {{ select s : slot; guard !full[s]; assign full[s] = true, top = s, n++; }}, \
             A -> A {{ guard full[top]; assign full[top] = false, n--; }}; }} system P;"
        )
    };
    let alone = common::xta(&text(""));
    assert!(reduces(&alone));
    let options = Options {
        audit_symmetry: true,
        ..Options::default()
    };
    let off = Options {
        symmetry: SymmetryOption::Off,
        ..Options::default()
    };
    let (on, plain) = (
        alone.verify("A[] P.n <= 3", &options),
        alone.verify("A[] P.n <= 3", &off),
    );
    assert_eq!(
        (on.verdict, plain.verdict),
        (Verdict::Satisfied, Verdict::Satisfied)
    );
    assert!(on.statistics.stored < plain.statistics.stored);
    let family = common::xta(&text("const pid i"));
    let sets = &family.network.scalarsets;
    assert!(sets.iter().any(|s| s.name == "pid" && s.broken.is_empty()));
    assert!(
        sets.iter()
            .any(|s| s.name == "slot" && s.broken[0].code == "sym/local")
    );
    let query = "A[] forall (i : pid) P(i).n <= 3";
    let (on, plain) = (family.verify(query, &options), family.verify(query, &off));
    assert_eq!(
        (on.verdict, plain.verdict),
        (Verdict::Satisfied, Verdict::Satisfied)
    );
}
