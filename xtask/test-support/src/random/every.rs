//! Random families for proofs about every size: models whose only use of `N` is the size of `pid`.

use crate::Rng;

const GUARDS: [&str; 26] = [
    "!set",
    "set",
    "id == i",
    "id != i",
    "id == id2",
    "id != id2",
    "flag[id]",
    "!flag[id]",
    "flag[i]",
    "!flag[i]",
    "n[i] < 2",
    "n[id] == 1",
    "n[id] < n[i]",
    "x[i] >= 1",
    "x[i] <= 2",
    "x[id] >= 2",
    "x[id] < 2",
    "g < 2",
    "forall (k : pid) (k == i || flag[k])",
    "exists (k : pid) (k != i && flag[k])",
    "!(forall (k : pid) !flag[k])",
    "!(exists (k : pid) (k != id && n[k] == 1))",
    "forall (k : pid) (flag[k] imply k == id)",
    "(id == id2) == set",
    "forall (k : pid) x[k] >= 1",
    "id2 != i && flag[id2]",
];

const UPDATES: [&str; 26] = [
    "set = true",
    "set = false",
    "id = i",
    "id2 = i",
    "id2 = id",
    "id = id2",
    "flag[i] = true",
    "flag[i] = false",
    "flag[id] = true",
    "flag[id] = false",
    "n[i] = 1",
    "n[i] = 2",
    "n[id] = 0",
    "n[id2] = 2",
    "x[i] = 0",
    "x[id] = 0",
    "gx = 0",
    "g = (g + 1) % 3",
    "all = forall (k : pid) flag[k]",
    "some = exists (k : pid) (k != i && flag[k])",
    "set = id == id2",
    "clear()",
    "g = flag[id] ? 1 : 2",
    "some = flag[id] || n[id2] == 2",
    "all = id != id2 && !(forall (k : pid) n[k] < 2)",
    "choose(i)",
];

/// Updates of receivers: what belongs to the element.
const OWN: [&str; 8] = [
    "flag[i] = true",
    "flag[i] = false",
    "n[i] = 1",
    "n[i] = 2",
    "x[i] = 0",
    "flag[i] = id == i",
    "flag[i] = forall (k : pid) (k == i || !flag[k])",
    "n[i] = flag[id] ? 1 : 0",
];

const INVARIANTS: [&str; 9] = [
    "x[i] <= 2",
    "x[id] <= 3",
    "forall (k : pid) x[k] <= 4",
    "gx <= 3",
    "!set || x[i] <= 2",
    "flag[i] || !set",
    "flag[id] || g < 2",
    "x[i] < 3 && n[id] < 2",
    "!(exists (k : pid) n[k] == 2)",
];

const SELECTED: [&str; 7] = [
    "j != i",
    "j == id",
    "flag[j]",
    "j != i && !flag[j]",
    "x[j] >= 1",
    "j != id && j != i",
    "true",
];

/// Claims that treat elements alike.
pub const CLAIMS: [&str; 17] = [
    "A[] forall (i : pid) forall (j : pid) (P(i).e && P(j).e imply i == j)",
    "A[] forall (i : pid) (P(i).b imply flag[i])",
    "A[] forall (i : pid) forall (j : pid) (i != j && P(i).b && P(j).b imply set)",
    "A[] (set imply flag[id])",
    "A[] not (all && some)",
    "A[] forall (i : pid) (P(i).e imply id == i)",
    "A[] (id == id2 or set or g < 2)",
    "A[] forall (i : pid) (P(i).e imply x[i] <= 3)",
    "A[] forall (i : pid) forall (j : pid) (n[i] == 2 && n[j] == 2 imply i == j)",
    "A[] (P(id).a or set or g < 2)",
    "A[] forall (i : pid) (P(i).e imply exists (j : pid) flag[j])",
    "A[] g < 2",
    "A[] forall (i : pid) forall (j : pid) forall (k : pid) (P(i).b && P(j).b && P(k).b imply i == j || j == k || i == k)",
    "E<> exists (i : pid) P(i).e && n[i] == 2",
    "E<> exists (i : pid) exists (j : pid) i != j && P(i).e && x[j] > 2",
    "A[] forall (i : pid) (flag[i] imply !P(i).e)",
    "A[] forall (i : pid) (P(i).b && set imply x[id] >= 0 && x[i] <= 5)",
];

fn some<'a>(rng: &mut Rng, from: &[&'a str], most: usize) -> Vec<&'a str> {
    (0..rng.below(most + 1)).map(|_| rng.pick(from)).collect()
}

fn edge(rng: &mut Rng, k: usize) -> String {
    let places = ["a", "b", "e"];
    let from = if k < 3 { places[k] } else { rng.pick(&places) };
    let to = rng.pick(&places);
    let mut guards = some(rng, &GUARDS, 2);
    let mut updates = some(rng, &UPDATES, 2);
    let (mut select, mut sync) = ("", "");
    match rng.below(9) {
        0 => sync = rng.pick(&["c[i]!", "c[i]?", "c[id]!", "d!", "d?"]),
        1 => sync = rng.pick(&["br!", "br?", "bs[i]?", "bs[id]!", "br?"]),
        2 => sync = rng.pick(&["u!", "u?", "ub!", "ub?"]),
        3 | 4 => {
            select = "select j : pid; ";
            guards.push(rng.pick(&SELECTED));
            updates.extend(some(
                rng,
                &["id = j", "flag[j] = true", "n[j] = 1", "id2 = j"],
                2,
            ));
            sync = rng.pick(&["", "", "c[j]!"]);
        }
        _ => {}
    }
    if ["br?", "bs[i]?", "ub?"].contains(&sync) {
        updates = some(rng, &OWN, 2);
        if rng.one_in(20) {
            updates.push("set = true");
        }
    }
    if sync.starts_with('u') {
        guards.retain(|g| !g.contains("x["));
    }
    if rng.one_in(3) {
        guards.push(rng.pick(&["g == 0", "g == 1", "g == 2"]));
    }
    let part = |name: &str, list: &[&str], by: &str| match list.is_empty() {
        true => String::new(),
        false => format!("{name} {}; ", list.join(by)),
    };
    let guard = guards.iter().map(|g| format!("({g})")).collect::<Vec<_>>();
    let guard: Vec<&str> = guard.iter().map(String::as_str).collect();
    let sync = if sync.is_empty() {
        String::new()
    } else {
        format!("sync {sync}; ")
    };
    format!(
        "    {from} -> {to} {{ {select}{}{sync}{}}}",
        part("guard", &guard, " && "),
        part("assign", &updates, ", ")
    )
}

/// A random family.
pub fn family(rng: &mut Rng) -> String {
    if rng.one_in(5) {
        return chain(rng);
    }
    let mut text = "const int N = 3;\ntypedef scalar[N] pid;\npid id, id2;\nbool set, all, some;\nint[0,2] g;\n\
         bool flag[pid];\nint[0,2] n[pid];\nclock x[pid];\nclock gx;\n\
         chan c[pid], d;\nbroadcast chan br, bs[pid];\nurgent chan u;\nurgent broadcast chan ub;\n\
         void clear() { for (k : pid) flag[k] = false; }\n\
         void choose(pid p) { if (flag[p]) id = p; else id2 = p; }\n\
         process P(const pid i) {\n  state a"
        .to_owned();
    for name in ["", ", b", ", e"] {
        text += name;
        if rng.one_in(4) {
            // The initial location keeps its invariant weak: the model must have a start.
            let invariant = match name.is_empty() {
                true => rng.pick(&INVARIANTS[..4]),
                false => rng.pick(&INVARIANTS),
            };
            text += &format!(" {{ {invariant} }}");
        }
    }
    text += ";\n";
    text += rng.pick(&[
        "",
        "",
        "  commit e;\n",
        "  urgent e;\n",
        "  commit b, e;\n",
        "  commit b;\n  urgent e;\n",
    ]);
    text += "  init a;\n  trans\n";
    let count = 3 + rng.below(3);
    let edges: Vec<String> = (0..count).map(|k| edge(rng, k)).collect();
    text += &edges.join(",\n");
    text += ";\n}\n";
    if rng.one_in(2) {
        let sync = rng.pick(&["br!", "d?", "u?", "c[id]!", "br?", "ub!", "bs[id2]!"]);
        let guard = rng.pick(&[
            "",
            "guard !set; ",
            "guard flag[id]; ",
            "guard exists (k : pid) n[k] == 1; ",
        ]);
        let guard = if sync.starts_with('u') { "" } else { guard };
        let update = rng.pick(&[
            "",
            "assign set = true; ",
            "assign flag[id] = false; ",
            "assign g = 1, gx = 0; ",
        ]);
        text += &format!(
            "process Q() {{\n  state q, r;\n  {}init q;\n  trans\n    q -> r {{ {guard}sync {sync}; {update}}},\n    r -> q {{ {}}};\n}}\nsystem P, Q;\n",
            rng.pick(&["", "commit r; ", "urgent r; "]),
            rng.pick(&[
                "",
                "guard gx >= 1; ",
                "select j : pid; guard flag[j]; assign id = j; "
            ]),
        );
    } else {
        text += "system P;\n";
    }
    text
}

/// A family in which elements leave their first location once each, so that a claim about the last
/// phase breaks at a size between 2 and 6.
fn chain(rng: &mut Rng) -> String {
    let last = 2 + rng.below(4);
    let mut text = format!(
        "const int N = 3;\ntypedef scalar[N] pid;\npid id, id2;\nbool set, all, some;\nint[0,{}] g;\n\
         bool flag[pid];\nint[0,2] n[pid];\nclock x[pid];\nbroadcast chan br;\n\
         process P(const pid i) {{\n  state a, b, e;\n  init a;\n  trans\n",
        last.max(2)
    );
    let mut edges = Vec::new();
    for phase in 0..last {
        let to = rng.pick(&["b", "e"]);
        let extra = rng.pick(&[
            "",
            " && id != i",
            " && !flag[i]",
            " && (g == 0 || flag[id])",
            " && !(exists (k : pid) n[k] == 2)",
            " && (g < 2 || id != id2)",
        ]);
        let update = rng.pick(&[
            "",
            ", id = i",
            ", id2 = i",
            ", flag[i] = true",
            ", flag[id] = true",
            ", id2 = id, id = i",
            ", n[i] = 1",
            ", all = forall (k : pid) (k == i || flag[k])",
        ]);
        edges.push(format!(
            "    a -> {to} {{ guard g == {phase}{extra}; assign g = {}{update}; }}",
            phase + 1
        ));
    }
    if rng.one_in(3) {
        edges.push("    a -> b { guard g < 2; }".to_owned());
    }
    if rng.one_in(3) {
        edges.push("    a -> b { guard g >= 1; sync br?; assign flag[i] = true; }".to_owned());
        edges.push("    a -> e { guard g >= 1 && !set; sync br!; assign set = true; }".to_owned());
    }
    if rng.one_in(3) {
        edges.push(
            "    a -> e { select j : pid; guard j != i && flag[j] && !set; assign set = true, id = j; }".to_owned(),
        );
    }
    text += &edges.join(",\n");
    text += ";\n}\nsystem P;\n";
    text
}

/// A claim for a family.
pub fn claim(rng: &mut Rng, text: &str) -> String {
    if text.contains("clock gx") || rng.one_in(3) {
        return rng.pick(&CLAIMS).to_owned();
    }
    let last = text
        .split("int[0,")
        .nth(1)
        .and_then(|t| t.split(']').next())
        .unwrap_or("2");
    let also = rng.pick(&[
        "",
        "",
        "forall (i : pid) forall (j : pid) (i != j && P(i).b && P(j).b) imply ",
        "set imply ",
        "some || id == id2 || ",
    ]);
    match also.is_empty() {
        true => format!("A[] g < {last}"),
        false if also.starts_with("forall") => format!(
            "A[] forall (i : pid) forall (j : pid) (i != j && P(i).a && P(j).a imply g < {last})"
        ),
        false => format!("A[] ({also}g < {last})"),
    }
}

/// The text with another size.
pub fn of_size(text: &str, n: u32) -> String {
    text.replacen("const int N = 3;", &format!("const int N = {n};"), 1)
}
