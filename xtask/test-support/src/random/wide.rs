//! More features, except urgent channels, which the other generator has: enough elements for
//! classes of several, pairs of elements as parameters, structs in arrays, arrays over two sets,
//! functions with loops and references, broadcasts over elements, priorities, `before_update`,
//! clocks set to values other than zero, queries that name elements and compare their clocks.

use super::Rng;

/// Declarations that any phrase may use.
const COMMON: &str = "S owner; S null; bool busy; int[0,2] turn[S]; int[0,3] count; clock g; clock z[S]; clock w[T]; \
    struct { S who; int[0,2] n; } rec[S]; bool near[S][S]; bool seen[S][T]; T slot; meta S tmp; meta int[0,3] m;\n\
    void bump(int[0,2] &v) { v = (v + 1) % 3; }\n\
    int[0,2] most() { int[0,2] r = 0; for (k : S) r = r >? turn[k]; return r; }\n\
    void level() { int[0,2] old[S]; for (k : S) old[k] = turn[k]; for (k : S) turn[k] = old[k] > 0 ? 1 : 0; }\n\
    void point(S j) { for (k : S) rec[k].who = j; }\n\
    void pass(S j) { for (k : S) if (near[j][k] && k != j) turn[k] = 0; }\n";

const GUARDS: [&str; 22] = [
    "!busy",
    "owner == i",
    "owner != i",
    "null == i",
    "turn[i] < 2",
    "rec[i].who == i",
    "rec[owner].who == i",
    "rec[rec[i].who].n < 2",
    "most() < 2",
    "near[i][owner]",
    "exists (k : S) near[k][i] && turn[k] > 0",
    "forall (t : T) !seen[i][t]",
    "(sum (k : S) turn[k]) < 3",
    "count < 3",
    "x > 1",
    "x <= 2",
    "x >= 1 && z[i] < 3",
    "z[owner] > 1",
    "g >= 1 && x < 3",
    "x == 2",
    "g - x >= 1",
    "w[slot] < 2",
];

const UPDATES: [&str; 22] = [
    "owner = i",
    "busy = !busy",
    "turn[i] = (turn[i] + 1) % 3",
    "bump(turn[i])",
    "bump(turn[owner])",
    "level()",
    "point(i)",
    "pass(owner)",
    "rec[i].n = turn[i]",
    "rec[i].who = owner",
    "near[i][owner] = true",
    "near[owner][i] = !near[owner][i]",
    "seen[i][slot] = true",
    "count = (count + 1) % 4",
    "x = 0",
    "x = 1",
    "z[i] = 0",
    "g = 0",
    "w[slot] = 0",
    "tmp = i, owner = tmp",
    "m = turn[i], count = m",
    "x = z[i]",
];

const SELECTED: [&str; 6] = [
    "owner = k",
    "turn[k] = 1",
    "rec[i].who = k",
    "near[i][k] = true",
    "z[k] = 0",
    "pass(k)",
];

/// A model with many possible features, of which it uses a few.
pub fn model(rng: &mut Rng, numbered: bool) -> String {
    let pairs = rng.below(5) == 0;
    let n = if pairs { 2 } else { 2 + rng.below(4) };
    let m = 2 + rng.below(2);
    let mut text = match numbered {
        true => format!("typedef int[0,{}] S;\ntypedef int[0,{}] T;\n", n - 1, m - 1),
        false => format!("typedef scalar[{n}] S;\ntypedef scalar[{m}] T;\n"),
    };
    text += COMMON;
    let kinds = ["", "broadcast ", "broadcast "];
    text += &format!(
        "{}chan c[S];\n{}chan d;\n",
        rng.pick(&kinds),
        rng.pick(&kinds)
    );
    if rng.below(8) == 0 {
        text += "chan priority d < default;\n";
    }
    if rng.below(6) == 0 {
        text += rng.pick(&[
            "before_update { count = 0 }\n",
            "after_update { busy = count > 1 }\n",
            "before_update { level() }\n",
        ]);
    }
    let edges: Vec<String> = (0..3 + rng.below(3)).map(|k| edge(rng, k)).collect();
    text += &format!(
        "process P(const S i) {{ clock x; state a, b{}, e; {} init a; trans {}; }}\n",
        rng.pick(&[
            "",
            " { x <= 3 }",
            " { z[i] < 2 }",
            " { x <= 2 && z[i] <= 4 }"
        ]),
        rng.pick(&["", "", "commit e;", "urgent e;"]),
        edges.join(",\n")
    );
    let mut system = vec!["P"];
    if pairs {
        text += "process R(const S i, const S j) { clock y; state a, b { y <= 2 }; init a; trans \
            a -> b { guard near[i][j]; sync d?; assign y = 0; }, b -> a { guard y >= 1; assign near[j][i] = i != j; }; }\n";
        system.push("R");
    }
    if rng.below(4) == 0 {
        text += "process Q(const T t) { state a, b { w[t] <= 3 }; init a; trans \
            a -> b { select k : S; guard seen[k][t]; sync d?; assign slot = t, w[t] = 0; }, \
            b -> a { guard w[t] > 1; sync d!; assign seen[owner][t] = false; }; }\n";
        system.insert(rng.below(system.len() + 1), "Q");
    }
    text + &format!("system {};\n", system.join(", "))
}

fn edge(rng: &mut Rng, k: usize) -> String {
    let places = ["a", "b", "e"];
    let from = if k < 3 { places[k] } else { rng.pick(&places) };
    let (select, sync) = match rng.below(8) {
        0 => (
            " select k : S;",
            format!(" sync c[k]{};", rng.pick(&["!", "?"])),
        ),
        1 => ("", format!(" sync c[i]{};", rng.pick(&["!", "?"]))),
        2 | 3 => ("", format!(" sync d{};", rng.pick(&["!", "?", "?"]))),
        4 => (" select k : S;", String::new()),
        _ => ("", String::new()),
    };
    let mut updates = vec![rng.pick(&UPDATES)];
    if rng.below(2) == 0 {
        updates.push(rng.pick(&UPDATES));
    }
    if !select.is_empty() {
        updates.push(rng.pick(&SELECTED));
    }
    format!(
        "{from} -> {} {{{select} guard {};{sync} assign {}; }}",
        rng.pick(&places),
        rng.pick(&GUARDS),
        updates.join(", ")
    )
}

/// Conditions that treat elements alike.
pub const QUERIES: [&str; 14] = [
    "A[] not deadlock",
    "E<> deadlock && exists (i : S) P(i).b",
    "E<> exists (i : S) P(i).b && P(i).x > 2",
    "A[] forall (i : S) (P(i).b imply P(i).x <= 3)",
    "A[] forall (i : S) (P(i).e && P(i).x > 3 imply turn[i] < 2)",
    "E<> exists (i : S) exists (j : S) i != j && P(i).e && P(j).b && P(i).x > P(j).x",
    "E<> forall (i : S) P(i).b || z[i] > 4",
    "E<> exists (i : S) rec[i].who == i && rec[i].n == 1 && g < 3",
    "A[] (sum (i : S) turn[i]) < 4",
    "E[] forall (i : S) !P(i).e",
    "A<> exists (i : S) P(i).b",
    "(exists (i : S) P(i).e) --> (exists (i : S) P(i).a)",
    "sup{exists (i : S) P(i).b}: g",
    "inf{exists (i : S) P(i).e}: count",
];

/// Conditions that name elements of a numbered set.
pub const NAMING: [&str; 8] = [
    "E<> P(1).b && P(1).x > 3",
    "A[] P(0).e imply P(0).x <= 2",
    "E<> P(1).b && P(0).a && P(1).x > 2 && z[0] < 2",
    "E<> P(0).e && P(0).x > 4 && g < 3",
    "A[] !(P(1).e && turn[0] == 1 && P(0).x < 2 && P(1).x > 3)",
    "E<> rec[1].who == 0 && P(1).x - P(0).x > 1",
    "E[] !P(1).b",
    "P(0).b --> P(0).x > 2",
];
