//! Random functions that loop over scalarsets, with aliases, wrappers, early ends, results, local
//! variables, C loops and failing parts: if `sym/loop-order` and the related rules accept a
//! function, swaps of elements must commute with every step, and the answers must be the same with
//! and without reduction.
//!
//! `ZONELENS_LOOP_MODELS` sets the number of models, `ZONELENS_LOOP_SEED` the seed.

use crate::common;
use common::Verify;
use std::fmt::Write;
use zonelens_analysis::report::{Options, SymmetryOption, TraceOption, Verdict};
use zonelens_test_support::Rng;

const SEED: u64 = 20_261_118;
const MODELS: usize = 2_000;
/// A model with more states than this is skipped.
const MOST_STATES: u64 = 4_000;

/// Writes functions. `scope` contains the names of variables that have elements of `pid` as values.
struct Writer<'r> {
    rng: &'r mut Rng,
    functions: usize,
    /// Functions with a result.
    results: usize,
    fresh: usize,
    /// Whether the set is detected, so that C loops can go through its elements.
    numbers: bool,
}

impl Writer<'_> {
    fn name(&mut self, prefix: &str) -> String {
        self.fresh += 1;
        format!("{prefix}{}", self.fresh)
    }

    fn element<'s>(&mut self, scope: &'s [String]) -> Option<&'s String> {
        match scope.is_empty() {
            true => None,
            false => Some(&scope[self.rng.below(scope.len())]),
        }
    }

    /// The beginning of a loop over all elements, and the declaration it needs in front.
    fn all(&mut self, i: &str) -> (String, String) {
        if !self.numbers || self.rng.below(2) == 0 {
            return (String::new(), format!("for ({i} : pid)"));
        }
        let start = ["", " = 0", " = 7"][self.rng.below(3)];
        let header = match self.rng.below(5) {
            0 => format!("for ({i} = 0; {i} <= 2; ++{i})"),
            1 => format!("for ({i} = 0; N != {i}; {i} += 1)"),
            2 => format!("for ({i} = 0; N > {i}; {i} = {i} + 1)"),
            // Some of the elements only, which stops detection.
            3 if self.rng.below(4) == 0 => format!("for ({i} = 0; {i} < 2; {i}++)"),
            _ => format!("for ({i} = 0; {i} < N; {i}++)"),
        };
        (format!("int {i}{start};"), header)
    }

    /// A function with a result.
    fn result(&mut self) -> String {
        let (i, n) = (self.name("i"), self.rng.below(4));
        let (before, head) = self.all(&i);
        let scope = [i.clone()];
        let c = self.condition(&scope, 1);
        let value = format!("c[{i}]");
        let other = self.rng.below(4);
        let c2 = self.condition(&scope, 1);
        let body = match self.rng.below(20) {
            0 => format!("{head} if ({c}) return {n}; return {other};"),
            1 => format!("{head} if ({c}) return {value}; return {n};"),
            2 => format!("{head} {{ int k = {value}; if (k > {n}) return k; }} return 0;"),
            3 => format!("int k = y; {head} if ({c}) return k; return {n};"),
            4 => format!("int k; {head} {{ k = {value}; if ({c}) return k; }} return {n};"),
            5 => {
                let j = self.name("j");
                let (more, inner) = self.all(&j);
                let last = [&i, &j][self.rng.below(2)];
                format!("{more} {head} {inner} if (a[{i}] && b[{j}]) return c[{last}]; return {n};")
            }
            6 => {
                let compare = ["c[I] > m", "m < c[I]", "c[I] >= m", "c[I] < m", "m >= c[I]"];
                let compare = compare[self.rng.below(5)].replace('I', &i);
                let other = ["", " y = 3;", " a[I] = true;"][self.rng.below(3)].replace('I', &i);
                format!(
                    "int m = {n}; {head} {{ if ({compare}) {{ m = {value}; }}{other} }} return m;"
                )
            }
            7 => format!("int m; {head} if ({value} > m) {{ m = {value}; y = m; }} return m;"),
            8 => format!("int m; {head} {{ if (m < {value}) m = {value}; z = m; }} return m;"),
            9 => format!("int k; {head} {{ if ({c}) {{ k = {n}; break; }} }} return k;"),
            10 => format!("int k; {head} {{ if ({c}) break; k++; }} return k;"),
            11 => format!("int k; {head} {{ if ({c}) continue; k += {n}; }} return k;"),
            12 => format!(
                "{head} {{ if ({c}) {{ y = {n}; break; }} if ({c2}) {{ z = {other}; break; }} }} return 0;"
            ),
            13 => format!("{head} if ({c}) {{ a[{i}] = true; break; }} return {n};"),
            14 => format!("{head} {{ if (mark({i})) {{ y = {n}; break; }} }} return {other};"),
            15 => format!("{head} if (mark({i})) return {n}; return {other};"),
            16 => format!(
                "{head} {{ if ({c}) {{ y = {n}; break; }} if ({c2}) return {other}; }} return 0;"
            ),
            17 => format!(
                "{head} {{ if ({c}) {{ y = {n}; break; }} if ({c2}) {{ y = {other}; break; }} }} return y;"
            ),
            18 => format!("{head} {{ if ({c}) {{ y = {value}; break; }} }} return y;"),
            _ => format!("{head} {{ if ({c}) {{ y = {n}; z = {other}; break; }} }} return y;"),
        };
        format!("{before} {body}")
    }

    fn condition(&mut self, scope: &[String], depth: usize) -> String {
        let n = self.rng.below(4);
        match (self.rng.below(11), self.element(scope)) {
            (9, Some(i)) => format!("cut(c[{i}]) > {n}"),
            (10, Some(i)) => format!("low(c[{i}]) > {n}"),
            (0, Some(i)) => format!("a[{i}]"),
            (1, Some(i)) => format!("!b[{i}]"),
            (2, Some(i)) => format!("c[{i}] > {n}"),
            (3, Some(i)) => format!("6 / c[{i}] > {n}"),
            (4 | 5, _) if depth > 0 => {
                let j = self.name("j");
                let inner = [scope, std::slice::from_ref(&j)].concat();
                let kind = ["exists", "forall"][self.rng.below(2)];
                format!("({kind} ({j} : pid) {})", self.condition(&inner, depth - 1))
            }
            (6, Some(i)) if scope.len() > 1 => format!("{i} == {}", scope[0]),
            (7, _) => format!("(sum (s : pid) c[s]) > {n}"),
            _ => format!("y > {n}"),
        }
    }

    /// A variable that a statement may write, aliases included.
    fn place(&mut self, scope: &[String], by_reference: bool) -> String {
        match (self.rng.below(6), self.element(scope)) {
            (0, Some(i)) => format!("c[{i}]"),
            (1 | 3, _) if by_reference => "r".to_owned(),
            (2, _) => "z".to_owned(),
            _ => "y".to_owned(),
        }
    }

    fn statement(&mut self, scope: &[String], refs: bool, depth: usize) -> String {
        let n = self.rng.below(4);
        if depth == 0 {
            return match (self.rng.below(5), self.element(scope)) {
                (0, Some(i)) => format!("a[{i}] = {};", ["true", "false"][n % 2]),
                (1, Some(i)) => format!("if (a[{i}]) {} = {n};", self.place(scope, refs)),
                (2, _) => format!("{} += 1;", self.place(scope, refs)),
                (3, Some(i)) => format!("if (b[{i}]) {} = {n};", self.place(&[], refs)),
                _ => format!("{} = {n};", self.place(scope, refs)),
            };
        }
        let inner = depth - 1;
        match self.rng.below(11) {
            // One round adds and another overwrites: the order decides if both use the same
            // variable.
            9.. => {
                let (place, other) = (self.place(&[], refs), self.place(&[], refs));
                let i = self.name("i");
                format!(
                    "for ({i} : pid) {{ if (a[{i}]) {place} += 1; if (b[{i}]) {other} = {n}; }}"
                )
            }
            0..=2 => {
                let i = self.name("i");
                let (before, head) = self.all(&i);
                let longer = [scope, std::slice::from_ref(&i)].concat();
                let first = self.statement(&longer, refs, inner);
                let second = self.statement(&longer, refs, 0);
                format!("{{ {before} {head} {{ {first} {second} }} }}")
            }
            3 => format!("for (k : oth) {{ {} }}", self.statement(scope, refs, inner)),
            4 => format!(
                "if ({}) {{ {} }} else {{ {} }}",
                self.condition(scope, 1),
                self.statement(scope, refs, inner),
                self.statement(scope, refs, 0)
            ),
            5 => format!(
                "switch ({n}) {{ case {}: {} break; default: {} }}",
                self.rng.below(4),
                self.statement(scope, refs, inner),
                self.statement(scope, refs, 0)
            ),
            6 => {
                let v = self.name("v");
                let value = self.condition(scope, 1);
                let rest = self.statement(scope, refs, inner);
                format!("{{ bool {v} = {value}; if ({v}) {{ {rest} }} }}")
            }
            7 if self.functions > 0 => self.call(scope, refs) + ";",
            8 if self.results > 0 => {
                let g = self.rng.below(self.results);
                format!("{} = g{g}();", self.place(scope, refs))
            }
            _ => format!(
                "{} {}",
                self.statement(scope, refs, inner),
                self.statement(scope, refs, 0)
            ),
        }
    }

    /// A call of an earlier function: those with an odd number take an element as well.
    fn call(&mut self, scope: &[String], refs: bool) -> String {
        let f = self.rng.below(self.functions);
        let place = self.place(&[], refs);
        match (f % 2 == 1, self.element(scope)) {
            (false, _) => format!("f{f}({place})"),
            (true, Some(i)) => format!("f{f}({place}, {i})"),
            (true, None) => format!("f0({place})"),
        }
    }
}

/// A model and whether some function loops over `pid`.
fn model(rng: &mut Rng) -> (String, bool) {
    let numbers = rng.below(2) == 0;
    let set = ["scalar[3]", "int[0,N-1]"][usize::from(numbers)];
    let mut text = format!(
        "const int N = 3; typedef {set} pid; typedef scalar[2] oth; bool a[pid], b[pid]; \
         int[0,50] c[pid]; bool o[oth]; int[0,50] y, z;\n\
         int cut(int[0,4] v) {{ return v; }} int[0,4] low(int v) {{ return v; }}\n\
         bool mark(pid p) {{ b[p] = true; return c[p] > 2; }}\n",
    );
    let mut writer = Writer {
        rng,
        functions: 0,
        results: 0,
        fresh: 0,
        numbers,
    };
    for g in 0..writer.rng.below(3) {
        let body = writer.result();
        let _ = writeln!(text, "int g{g}() {{ {body} }}");
        writer.results += 1;
    }
    let functions = 1 + writer.rng.below(3);
    for f in 0..functions {
        let takes_element = f % 2 == 1;
        let scope: Vec<String> = takes_element.then(|| "p".to_owned()).into_iter().collect();
        let more = if takes_element { ", const pid p" } else { "" };
        let depth = 1 + writer.rng.below(2);
        let body = writer.statement(&scope, true, depth);
        let _ = writeln!(text, "void f{f}(int[0,50] &r{more}) {{ {body} }}");
        writer.functions += 1;
    }
    let loops = text.contains("for (");
    let id = ["id".to_owned()];
    let (mut first, second) = (writer.call(&id, false), writer.call(&id, false));
    if writer.results > 0 {
        let g = writer.rng.below(writer.results);
        first += &format!(", {} = g{g}()", ["y", "z"][writer.rng.below(2)]);
    }
    let n = writer.rng.below(4);
    let third = ["b[id] = true", "c[id] = 2", "y = 1"][writer.rng.below(3)];
    let _ = write!(
        text,
        "process P(const pid id) {{ state A, B, C, D; init A; trans A -> B {{ assign a[id] = true; }}, \
         A -> B {{ assign a[id] = true, c[id] = 3; }}, A -> B {{ assign b[id] = true, c[id] = 5; }}, \
         A -> C {{ assign {third}, c[id] = {n}; }}, B -> D {{ assign {first}; }}, \
         C -> D {{ assign {second}; }}; }} system P;"
    );
    (text, loops)
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn random_loops_give_the_same_answers_with_reduction() {
    let seed = from_environment("ZONELENS_LOOP_SEED").unwrap_or(SEED);
    let models = from_environment("ZONELENS_LOOP_MODELS").map_or(MODELS, |n| n as usize);
    let (mut reduced, mut excluded, mut failing, mut compared) = (0, 0, 0, 0);
    for k in 0..models {
        let mut rng = Rng::new(seed ^ (k as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (text, loops) = model(&mut rng);
        let Ok(loaded) =
            zonelens_test_support::load(&text, zonelens_syntax::ast::FileKind::Xta, &[])
        else {
            continue;
        };
        let run = |query: &str, symmetry| {
            let options = Options {
                symmetry,
                states: Some(MOST_STATES),
                trace: TraceOption::None,
                ..Options::default()
            };
            loaded.verify(query, &options)
        };
        // Everything is explored, so every reachable error is found.
        let nothing = "E<> y == 0 and y == 1";
        let (on, off) = (
            run(nothing, SymmetryOption::Auto),
            run(nothing, SymmetryOption::Off),
        );
        if off.verdict == Verdict::Unknown || on.verdict == Verdict::Unknown {
            continue;
        }
        assert_eq!(
            on.verdict, off.verdict,
            "model {k}: {:?}\n{text}",
            on.reason
        );
        // A detected set has the name of the parameter that numbers its processes.
        let mut sets = on.symmetry.scalarsets.iter();
        let is_reduced = sets.any(|s| ["pid", "id"].contains(&s.name.as_str()));
        match is_reduced {
            true => reduced += usize::from(loops),
            false => excluded += 1,
        }
        if off.verdict == Verdict::Error {
            failing += 1;
            continue;
        }
        if !is_reduced {
            continue;
        }
        // Answers are often equal although the order matters: swaps must commute with every step.
        let audited = Options {
            audit_symmetry: true,
            states: Some(MOST_STATES),
            trace: TraceOption::None,
            ..Options::default()
        };
        let audited = loaded.verify(nothing, &audited);
        assert_eq!(
            audited.verdict, off.verdict,
            "model {k}: {:?}\n{text}",
            audited.reason
        );
        for query in ["sup: y, z", "inf: y, z", "sup: sum (i : pid) c[i]"] {
            let (on, off) = (
                run(query, SymmetryOption::Auto),
                run(query, SymmetryOption::Off),
            );
            assert_eq!(on.values, off.values, "model {k}, {query}\n{text}");
            assert_eq!(on.value, off.value, "model {k}, {query}\n{text}");
            compared += 1;
        }
        for value in 0..8 {
            let query = format!("E<> y == {value} and (exists (i : pid) a[i]) and z != {value}");
            let (on, off) = (
                run(&query, SymmetryOption::Auto),
                run(&query, SymmetryOption::Off),
            );
            assert_eq!(on.verdict, off.verdict, "model {k}, {query}\n{text}");
            compared += 1;
        }
    }
    // How often the sample contains each case; shown with `--nocapture`.
    #[allow(clippy::print_stdout)]
    {
        println!(
            "{models} models: {reduced} reduced over a set with loops, {excluded} excluded, {failing} fail, {compared} answers compared"
        );
    }
    assert!(
        reduced * 20 > models && excluded * 5 > models,
        "{reduced} {excluded}"
    );
}
