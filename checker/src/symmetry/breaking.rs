//! Random models whose processes are interchangeable, with queries that may tell them apart.
//!
//! A query is built from phrases. Each phrase adds the declarations that it needs, so that a model
//! does not contain asymmetric data that the query does not use. `odd` is the element that is
//! different.

use std::collections::BTreeSet;
use zonelens_interpreter::Rng;

/// A model and a query.
pub(super) struct Case {
    /// The model.
    pub text: String,
    /// The query.
    pub query: String,
}

/// A phrase; the names in it are replaced.
struct Phrase {
    text: &'static str,
    needs: &'static [&'static str],
}

const fn plain(text: &'static str) -> Phrase {
    Phrase { text, needs: &[] }
}

const fn with(text: &'static str, needs: &'static [&'static str]) -> Phrase {
    Phrase { text, needs }
}

/// Conditions about an element `i` that treat all elements alike.
const ALIKE: [Phrase; 20] = [
    plain("P(i).b"),
    plain("P(i).a"),
    plain("f[i]"),
    plain("own[i] == i"),
    plain("i == o"),
    plain("f[o]"),
    plain("z[i] <= 1"),
    plain("P(i).x >= 1"),
    plain("t.e == i"),
    plain("t.a[i]"),
    plain("P(i).mine == o"),
    plain("P(o).b"),
    plain("P(own[i]).b"),
    plain("cnt > 1"),
    with("same(i, o)", &["same"]),
    with("nx(i) == o", &["nx"]),
    with("f[nx(i)]", &["nx"]),
    with("any(f)", &["any"]),
    with("count(f) >= 2", &["count"]),
    with("P(i).at_home()", &[]),
];

/// Conditions about an element `i` that may tell elements apart.
const APART: [Phrase; 48] = [
    with("w[i]", &["w"]),
    with("w[o]", &["w"]),
    with("k[i] > 1", &["k"]),
    with("k[own[i]] > 1", &["k"]),
    with("P(i).x <= k[i]", &["k"]),
    with("z[i] < k[i]", &["k"]),
    with("z[i] < kv[i]", &["kv"]),
    with("pv[i]", &["pv"]),
    with("pv[o]", &["pv"]),
    with("P(i).l[i]", &[]),
    with("P(o).l[i]", &[]),
    with("ks.a[i]", &["ks"]),
    with("ka[i].c > 0", &["ka"]),
    with("two[i][o]", &["two"]),
    with("tv.a[i]", &["tv"]),
    with("tv.e == i", &["tv"]),
    with("perm[i] == i", &["perm"]),
    with("perm[i] == o", &["perm"]),
    with("f[perm[i]]", &["perm"]),
    with("i == never", &["never"]),
    with("o == never", &["never"]),
    with("nx(o) == never", &["nx", "never"]),
    with("nx(i) == never", &["nx", "never"]),
    with("o == numw", &["numw"]),
    with("f[numw]", &["numw"]),
    with("nx(numw) == i", &["nx", "numw"]),
    with("P(i).loc == i", &[]),
    with("last(i)", &["last"]),
    with("last(o)", &["last"]),
    with("last(nx(i))", &["last", "nx"]),
    with("inw(i)", &["w", "inw"]),
    with("innw(i)", &["innw"]),
    with("i > 0 && f[i]", &[]),
    with("own[i] < o", &[]),
    with("i == ODD", &[]),
    with("P(ODD).b", &[]),
    with("f[ODD]", &[]),
    with("(i == ODD ? f[i] : P(i).b)", &[]),
    with("f == kf", &["kf"]),
    with("f == fv", &["fv"]),
    with("own == perm", &["perm"]),
    with("t == kt", &["kt"]),
    with("g(f)", &["g"]),
    with("gr(f)", &["gr"]),
    with("gs(t)", &["gs"]),
    with("gi(own)", &["gi"]),
    with("P(i).l == kf", &["kf"]),
    with("P(i).odd(i)", &[]),
];

/// Conditions with loops and default values that only the query uses.
const LOOPS: [Phrase; 6] = [
    with("head(f) == o", &["head"]),
    with("f[tail(f)]", &["tail"]),
    with("unset(f, i)", &["unset"]),
    with("P(head(f)).b", &["head"]),
    with("listed(i)", &["listed"]),
    with("boxed(f)", &["boxed"]),
];

/// A model and a query; a third to a half of the queries tell elements apart.
pub(super) fn case(rng: &mut Rng) -> Case {
    let n = [3, 3, 3, 4][rng.below(4)];
    let first = [0, 0, 0, 1][rng.below(4)];
    let odd = first + [0, n / 2, n - 1][rng.below(3)];
    let mut words = Words {
        breaks: rng.below(8) < 5,
        blank: rng.below(3) == 0,
        needs: BTreeSet::new(),
    };
    let query = words.query(rng);
    let Words { blank, needs, .. } = words;
    let size = |rng: &mut Rng| match rng.below(2) {
        // If the range starts at 1, an array over the set has no other notation.
        1 if first == 0 => n.to_string(),
        _ => "S".to_owned(),
    };
    let mut text = format!(
        "const int N = {n};\ntypedef int[{first},{}] S;\n",
        first + n - 1
    );
    text += "bool f[S];\nclock z[S];\nint[0,4] cnt;\ntypedef struct { bool a[S]; S e; } Box;\n";
    if !blank {
        text += "S o = FIRST;\nS own[S];\nBox t;\n";
    }
    // Functions come after the data that they read.
    let mut declared: Vec<String> = needs
        .iter()
        .map(|name| declaration(name, rng, &size, (first, n, odd)))
        .collect();
    declared.sort_by_key(|d| d.contains('('));
    text += &declared.join("\n");
    text += "\n";
    text += &process(rng, &needs, blank, first, n);
    let fill = |s: String| {
        s.replace("ODD", &odd.to_string())
            .replace("FIRST", &first.to_string())
            .replace("LAST", &(first + n - 1).to_string())
    };
    Case {
        text: fill(text),
        query: fill(query),
    }
}

/// A list with one entry per element.
fn list((first, n, odd): (i32, i32, i32), usual: &str, there: &str) -> String {
    let entry = |e| if e == odd { there } else { usual };
    let all: Vec<&str> = (first..first + n).map(entry).collect();
    format!("{{ {} }}", all.join(", "))
}

/// The declaration that a phrase needs.
fn declaration(
    name: &str,
    rng: &mut Rng,
    size: &dyn Fn(&mut Rng) -> String,
    of: (i32, i32, i32),
) -> String {
    let (first, n, _) = of;
    let (s, p) = (size(rng), size(rng));
    let bools = list(of, "false", "true");
    let ints = list(of, "1", "2");
    let constant = if rng.below(3) == 0 { "" } else { "const " };
    let shifted: Vec<String> = (0..n).map(|k| (first + (k + 1) % n).to_string()).collect();
    match name {
        "w" => format!("{constant}bool w[{s}] = {bools};"),
        "k" => format!("{constant}int k[{s}] = {ints};"),
        "kv" => format!("int[0,3] kv[{s}];"),
        "pv" => format!("bool pv[{s}];"),
        "ks" => format!("{constant}struct {{ int c; bool a[{s}]; }} ks = {{ 1, {bools} }};"),
        "ka" => {
            let entries = list(of, "{ 0 }", "{ 1 }");
            format!("{constant}struct {{ int c; }} ka[{s}] = {entries};")
        }
        "two" => {
            let rows = vec![bools; n as usize].join(", ");
            format!("{constant}bool two[{s}][{p}] = {{ {rows} }};")
        }
        "tv" => "Box tv;".into(),
        "kt" => format!("{constant}Box kt = {{ {bools}, ODD }};"),
        "perm" => format!("{constant}S perm[{s}] = {{ {} }};", shifted.join(", ")),
        "never" => "S never = ODD;".into(),
        "numw" => "S numw = FIRST;".into(),
        "kf" => format!("{constant}bool kf[S] = {bools};"),
        "fv" => "bool fv[S];".into(),
        "same" => "bool same(S a, S b) { return a == b; }".into(),
        "nx" => "S nx(const S a) { return a; }".into(),
        "any" => format!("bool any(bool a[{s}]) {{ return exists (j : S) a[j]; }}"),
        "count" => {
            format!("int count(bool a[{s}]) {{ int c = 0; for (j : S) if (a[j]) c++; return c; }}")
        }
        "last" => "bool last(const S a) { return a > LAST - 1; }".into(),
        "inw" => "bool inw(const S a) { return w[a]; }".into(),
        "innw" => format!("bool innw(S a) {{ bool v[{s}] = {bools}; return v[a]; }}"),
        "g" => format!("bool g(const bool a[{s}]) {{ return a[ODD]; }}"),
        "gr" => format!("bool gr(bool &a[{s}]) {{ return a[ODD] && !a[FIRST]; }}"),
        "gs" => "bool gs(Box b) { return b.a[ODD] || b.e == ODD; }".into(),
        "gi" => format!("bool gi(S a[{s}]) {{ return a[ODD] == ODD; }}"),
        "head" => format!("S head(bool a[{s}]) {{ for (j : S) if (a[j]) return j; return o; }}"),
        "tail" => {
            format!("S tail(bool a[{s}]) {{ S r = o; for (j : S) if (a[j]) r = j; return r; }}")
        }
        "unset" => format!("bool unset(bool a[{s}], S i) {{ S r; return a[i] && r == i; }}"),
        "listed" => "bool listed(S i) { S r[2] = { i, o }; return r[0] == r[1]; }".into(),
        "boxed" => format!(
            "bool boxed(bool a[{s}]) {{ struct {{ bool b[{s}]; }} r = {{ a }}; return r.b[ODD]; }}"
        ),
        _ => String::new(),
    }
}

/// The family: every edge treats elements alike.
fn process(rng: &mut Rng, needs: &BTreeSet<&str>, blank: bool, first: i32, n: i32) -> String {
    let updates: Vec<&str> = [
        "o = id",
        "f[id] = true",
        "f[id] = !f[id]",
        "own[id] = o",
        "own[o] = id",
        "x = 0",
        "z[id] = 0",
        "mine = o",
        "t.e = id",
        "t.a[id] = true",
        "cnt = (cnt + 1) % 5",
    ]
    .into_iter()
    .filter(|u| !blank || !holds_elements(u))
    .collect();
    let guards: Vec<&str> = [
        "true",
        "true",
        "x >= 1",
        "z[id] <= 2",
        "o == id",
        "o != id",
        "!f[id]",
        "cnt < 2",
    ]
    .into_iter()
    .filter(|g| !blank || !holds_elements(g))
    .collect();
    // Data outside the set, written only with numbers.
    let mut outside = vec!["l[FIRST] = true", "loc = ODD"];
    for (name, update) in [
        ("pv", "pv[ODD] = true"),
        ("kv", "kv[ODD] = 2"),
        ("numw", "numw = ODD"),
        ("fv", "fv[ODD] = true"),
    ] {
        if needs.contains(name) {
            outside.push(update);
        }
    }
    let local = if first == 0 && rng.below(2) == 0 {
        n.to_string()
    } else {
        "S".to_owned()
    };
    let mut text = format!(
        "process P(const S id) {{\n  clock x;\n{}  bool l[{local}];\n  int[0,4] loc;\n\
         \x20 bool odd(S a) {{ return a == ODD; }}\n\
         \x20 state a, b{}, c;\n  init a;\n  trans\n",
        if blank {
            ""
        } else {
            "  S mine = FIRST;\n  bool at_home() { return mine == id; }\n"
        },
        ["", " { x <= 2 }"][rng.below(2)]
    );
    let mut edges = Vec::new();
    for (from, to) in [("a", "b"), ("b", "c"), ("c", "a"), ("a", "c")]
        .iter()
        .take(2 + rng.below(3))
    {
        let mut all: Vec<&str> = (0..1 + rng.below(2))
            .map(|_| updates[rng.below(updates.len())])
            .collect();
        if rng.below(2) == 0 {
            all.push(outside[rng.below(outside.len())]);
        }
        edges.push(format!(
            "    {from} -> {to} {{ guard {}; assign {}; }}",
            guards[rng.below(guards.len())],
            all.join(", ")
        ));
    }
    text += &edges.join(",\n");
    text += ";\n}\nsystem P;\n";
    text
}

/// Whether a phrase is about variables that hold elements. Initially they hold the first one, so
/// that not every permutation fixes the initial state.
fn holds_elements(phrase: &str) -> bool {
    let mut words = phrase.split(|c: char| !c.is_alphanumeric() && c != '_');
    words.any(|w| ["o", "own", "mine", "t", "at_home"].contains(&w))
}

/// The settings for building queries.
struct Words {
    /// Whether a part of it may tell elements apart.
    breaks: bool,
    /// Whether no variable holds elements.
    blank: bool,
    needs: BTreeSet<&'static str>,
}

impl Words {
    fn phrase(&mut self, rng: &mut Rng, breaks: bool) -> &'static str {
        loop {
            let phrase = match (breaks, rng.below(6)) {
                (true, 0) => &LOOPS[rng.below(LOOPS.len())],
                (true, _) => &APART[rng.below(APART.len())],
                (false, _) => &ALIKE[rng.below(ALIKE.len())],
            };
            if !self.blank
                || !(holds_elements(phrase.text) || LOOPS.iter().any(|l| l.text == phrase.text))
            {
                self.needs.extend(phrase.needs);
                return phrase.text;
            }
        }
    }

    /// A condition with bound variables `i` and `j`.
    fn condition(&mut self, rng: &mut Rng, breaks: bool) -> String {
        let quantifier = |rng: &mut Rng| ["forall", "exists"][rng.below(2)];
        if rng.below(3) == 0 {
            // Exactly one process has moved.
            let phrase = self.phrase(rng, breaks);
            return format!(
                "exists (i : S) (!P(i).a && ({phrase}) && forall (j : S) (j != i imply P(j).a))"
            );
        }
        let phrases = 1 + rng.below(2) + usize::from(breaks);
        let mut parts = Vec::new();
        for k in 0..phrases {
            let not = ["", "", "!"][rng.below(3)];
            parts.push(format!("{not}({})", self.phrase(rng, breaks && k == 0)));
        }
        // The position of the odd phrase is random.
        let at = rng.below(parts.len());
        parts.swap(0, at);
        let joined = parts.join([" && ", " || ", " imply "][rng.below(3)]);
        match rng.below(4) {
            0 => format!(
                "{} (j : S) {} (i : S) (i != j && P(j).b && ({joined}))",
                quantifier(rng),
                quantifier(rng)
            ),
            1 if !timed(&joined) => {
                format!("(sum (i : S) (({joined}) ? 1 : 0)) >= {}", 1 + rng.below(2))
            }
            2 => format!(
                "exists (i : S) (({joined}) && {} (j : S) (f[j] || i == j))",
                quantifier(rng)
            ),
            _ => format!("{} (i : S) ({joined})", quantifier(rng)),
        }
    }

    fn query(&mut self, rng: &mut Rng) -> String {
        let phi = self.condition(rng, self.breaks);
        match rng.below(9) {
            0 | 1 => format!("E<> {phi}"),
            2 | 3 => format!("A[] {phi}"),
            4 => format!("E[] {phi}"),
            5 => format!("A<> {phi}"),
            6 => {
                let psi = self.condition(rng, false);
                format!("({phi}) --> ({psi})")
            }
            7 if !timed(&phi) => format!("sup{{cnt >= 0}}: (({phi}) ? 1 : 0)"),
            7 => format!(
                "{}{{{phi}}}: P({}).x",
                ["sup", "inf"][rng.below(2)],
                ["ODD", "FIRST"][rng.below(2)]
            ),
            _ => format!("{}{{{phi}}}: cnt", ["sup", "inf", "bounds"][rng.below(3)]),
        }
    }
}

/// Whether clocks decide a condition.
fn timed(condition: &str) -> bool {
    condition.contains(".x ") || condition.contains("z[")
}
