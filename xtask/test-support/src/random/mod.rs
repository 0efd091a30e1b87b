//! Random models over interchangeable parts, and mutants that may tell parts apart.
//!
//! Shared by the sample in the tests and the full run in `cargo xtask symmetry`.

pub mod every;
pub mod timed;
pub mod wide;

pub use crate::Rng;

const GUARDS: [&str; 21] = [
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
    "some(1)",
    "ones() < 2",
    "box.who == i || box.full",
    "near[i][owner]",
    "exists (t : T) seen[i][t]",
    "held[slot] != i",
    "memo[owner] == 0",
];

const UPDATES: [&str; 21] = [
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
    "reset()",
    "mark(i)",
    "box.who = i",
    "box.full = !box.full",
    "near[i][owner] = !near[i][owner]",
    "near[owner][i] = true",
    "seen[i][slot] = true",
    "held[slot] = i",
    "memo[last] = 1",
];

/// Guards that may tell elements apart, or depend on the order of a loop or of receivers.
const ODD_GUARDS: [&str; 6] = [
    "i == 0",
    "owner < i",
    "turn[0] == 0",
    "weight[i] > 1",
    "first() == i",
    "last <= owner",
];
const ODD_UPDATES: [&str; 8] = [
    "owner = 0",
    "pick()",
    "number()",
    "owner = first()",
    "count = weight[i]",
    "shift()",
    "turn[0] = 1",
    "last = weight[i] > 1 ? owner : i",
];

const FUNCTIONS: &str = "
bool some(int v) { for (k : S) if (turn[k] == v) return true; return false; }
int ones() { int n = 0; for (k : S) if (turn[k] == 1) n++; return n; }
void reset() { for (k : S) turn[k] = 0; }
void mark(S j) { for (k : S) near[j][k] = k == owner; }
";

/// Functions that are declared only if they are used: a broken rule counts wherever it occurs.
const ODD_FUNCTIONS: [(&str, &str); 4] = [
    (
        "first()",
        "S first() { for (k : S) if (turn[k] == 0) return k; return owner; }",
    ),
    (
        "pick()",
        "void pick() { for (k : S) if (turn[k] > 0) last = k; }",
    ),
    (
        "number()",
        "void number() { int n = 0; for (k : S) { turn[k] = n % 3; n++; } }",
    ),
    (
        "shift()",
        "void shift() { for (k : S) { friend[k] = last; last = k; } }",
    ),
];

/// A model over one or two sets of interchangeable elements. With `odd`, it includes phrases that
/// may tell elements apart; with `numbered`, elements are integers.
pub fn model(rng: &mut Rng, odd: bool, numbered: bool) -> String {
    let (n, m) = (2 + rng.below(2), 2);
    let mut text = if numbered {
        format!("typedef int[0,{}] S;\ntypedef int[0,{}] T;\n", n - 1, m - 1)
    } else {
        format!("typedef scalar[{n}] S;\ntypedef scalar[{m}] T;\n")
    };
    text += &format!(
        "S owner, last;\nbool busy;\nint[0,2] turn[S];\nS friend[S];\nint[0,3] count;\nclock z[S];\nclock g;\n\
         bool near[S][S];\nbool seen[S][T];\nS held[T];\nT slot;\nstruct {{ S who; bool full; }} box;\n\
         {} chan c[S];\n{} chan d;\n",
        rng.pick(&["", "broadcast", "urgent"]),
        rng.pick(&["", "broadcast", "broadcast"]),
    );
    text += FUNCTIONS;
    let edges: Vec<String> = (0..4 + rng.below(3)).map(|k| edge(rng, k, odd)).collect();
    let edges = edges.join(",\n");
    for (name, function) in ODD_FUNCTIONS {
        if edges.contains(name) {
            text += &format!("{function}\n");
        }
    }
    if edges.contains("weight") {
        let weights: Vec<&str> = (0..n).map(|_| rng.pick(&["1", "1", "2"])).collect();
        text += &format!("const int weight[S] = {{ {} }};\n", weights.join(", "));
    }
    text += "process P(const S i) {\n  clock x;\n  S mine;\n  int[0,1] memo[S];\n  state a, b";
    text += rng.pick(&["", " { x <= 3 }", " { z[i] < 2 }"]);
    text += ", e;\n";
    text += rng.pick(&["", "  commit e;\n", "  urgent e;\n"]);
    text += "  init a;\n  trans\n";
    text += &edges;
    text += ";\n}\n";
    if rng.one_in(3) {
        text += "process Q(const T t) { state a, b; init a; trans a -> b { guard seen[owner][t]; assign slot = t; }, \
                 b -> a { sync d?; assign seen[held[t]][t] = false; }; }\nsystem P, Q;\n";
    } else {
        text += "system P;\n";
    }
    text
}

fn edge(rng: &mut Rng, k: usize, odd: bool) -> String {
    let places = ["a", "b", "e"];
    let from = if k < 3 { places[k] } else { rng.pick(&places) };
    let (select, sync) = match rng.below(6) {
        0 => (
            " select k : S;",
            format!(" sync c[k]{};", rng.pick(&["!", "?"])),
        ),
        1 => ("", format!(" sync c[i]{};", rng.pick(&["!", "?"]))),
        2 => ("", format!(" sync d{};", rng.pick(&["!", "?", "?"]))),
        _ => ("", String::new()),
    };
    let guard = match odd && rng.one_in(8) {
        true => rng.pick(&ODD_GUARDS),
        false => rng.pick(&GUARDS),
    };
    let mut update = Vec::new();
    for _ in 0..1 + rng.below(2) {
        update.push(match odd && rng.one_in(6) {
            true => rng.pick(&ODD_UPDATES).to_owned(),
            false => rng.pick(&UPDATES).to_owned(),
        });
    }
    if !select.is_empty() && rng.one_in(2) {
        update.push(
            rng.pick(&["owner = k", "turn[k] = 1", "friend[i] = k"])
                .to_owned(),
        );
    }
    format!(
        "    {from} -> {} {{{select} guard {guard};{sync} assign {}; }}",
        rng.pick(&places),
        update.join(", ")
    )
}

/// Conditions that treat elements alike.
pub const QUERIES: [&str; 14] = [
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
    "A[] forall (t : T) forall (i : S) !seen[i][t] || held[t] != i",
];

/// Conditions that name elements of a numbered set.
pub const NAMING: [&str; 5] = [
    "E<> P(1).b && turn[1] == 1",
    "A[] P(0).e imply owner == 0",
    "E<> owner == 1 && last == 0 && P(1).e",
    "E[] !P(1).e",
    "P(0).b --> P(0).a",
];
