//! Random models in which time matters: guards, invariants and assignments of clocks.

use super::Rng;

/// The greatest constant of a model, before it is scaled.
pub const GREATEST: i64 = 3;

fn comparison(rng: &mut Rng) -> String {
    let clock = rng.pick(&["x", "x", "g", "h"]);
    let op = rng.pick(&["<", "<=", ">", ">=", "=="]);
    format!("{clock} {op} {} * K", rng.below(GREATEST as usize + 1))
}

/// A model over two processes and four clocks whose constants are multiples of `K`, which is 1.
pub fn model(rng: &mut Rng) -> String {
    let mut edges = Vec::new();
    for source in ["a", "b", "e"] {
        for _ in 0..1 + rng.below(2) {
            let target = rng.pick(&["a", "b", "e"]);
            let guard = match rng.below(8) {
                0 => "n < 2".to_owned(),
                1 => format!("x - g < {} * K", rng.below(GREATEST as usize + 1)),
                2..5 => comparison(rng),
                _ => format!("{} && {}", comparison(rng), comparison(rng)),
            };
            let sync = rng.pick(&["", "", "sync c!;", "sync c?;", "sync d!;", "sync d?;"]);
            let assign = match rng.below(6) {
                0 => "x = 0".to_owned(),
                1 => format!("x = {} * K", 1 + rng.below(GREATEST as usize)),
                2 => "x = 0, g = 0".to_owned(),
                3 => "h = 0, n = (n + 1) % 3".to_owned(),
                4 => "n = 0".to_owned(),
                _ => "x = 0, n = (n + 1) % 3".to_owned(),
            };
            edges.push(format!(
                "{source} -> {target} {{ guard {guard}; {sync} assign {assign}; }}"
            ));
        }
    }
    let invariant = |rng: &mut Rng| match rng.below(2) {
        0 => String::new(),
        _ => format!(" {{ x {} {GREATEST} * K }}", rng.pick(&["<=", "<"])),
    };
    let (in_b, in_e) = (invariant(rng), invariant(rng));
    format!(
        "const int K = 1; typedef scalar[2] S; clock g, h; int[0,2] n; chan c; broadcast chan d;\n\
         process P(const S i) {{ clock x; state a, b{in_b}, e{in_e}; init a; trans\n{};\n}} system P;\n",
        edges.join(",\n")
    )
}
