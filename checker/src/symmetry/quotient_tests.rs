//! Successors on a few clocks of each class equal those on all clocks, bound by bound.

use super::tests::{load, some_states, tables};
use super::{OnePerClass, Permutation, Representative};
use crate::bounds::Bounds;
use crate::bounds::abstraction::{Abstraction, Abstractor};
use crate::common;
use crate::graph::expander::Expander;
use crate::program::Program;
use crate::zone::{Folded, Zone};

/// Takes every step of every state in all ways; returns how many were computed on a few clocks, and
/// how many of these were represented by groups.
fn compare(model: &common::Loaded, abstraction: Abstraction, most: u64) -> (usize, usize) {
    let program = Program::new(&model.network).expect("a program");
    let tables = tables(model).expect("sets");
    let bounds = Bounds::new(&program, &[]);
    let mut abstractor = Abstractor::new(abstraction, program.dim());
    let mut representative = Representative::new(tables.clone());
    let quotient = representative.quotient(&program, &bounds, &abstractor);
    let mut one = OnePerClass::new(&tables).on_few_clocks(quotient);
    let all = some_states(&program, abstraction, tables.clone(), most);
    let folding = representative.folding(&program, &bounds);
    let (mut compared, mut by_groups, mut folded) = (0, 0, Folded::empty());
    let mut expander = Expander::new(&program);
    for (state, zone) in &all.0 {
        let mut state = state.clone();
        one.begin(&program, &representative, &state, zone, &mut expander.steps);
        expander.find_steps(&mut state, zone).expect("steps");
        for step in 0..expander.steps.len() {
            let (mut next, mut few_next) = (Vec::new(), Vec::new());
            let found = expander.successors(step, &mut state, zone, &mut next);
            let mut zones = found.expect("successors");
            let few = one.successor(
                &representative,
                &mut expander,
                step,
                (&mut state, zone),
                &mut few_next,
            );
            let Some(few) = few.expect("a successor") else {
                continue;
            };
            compared += 1;
            assert_eq!(few.is_some(), !zones.is_empty());
            let (Some(few), Some(mut whole)) = (few, zones.pop()) else {
                continue;
            };
            assert_eq!(next, few_next);
            let mut written = zone.clone();
            representative.write_out(few, &mut written);
            assert_eq!(written, whole, "before abstraction");
            abstractor.at_state(&program, &bounds, &next);
            abstractor.apply_whole(&mut whole);
            assert!(few.abstracted(&abstractor));
            let before = few_next.clone();
            let permutation = representative.reduce_quotient(&mut few_next, few, &mut written);
            let expected = representative.reduce(&mut next, &mut whole);
            assert_eq!(
                (&few_next, &written, permutation),
                (&next, &whole, expected.clone())
            );
            // The same from a folded zone.
            let Some(folding) = &folding else { continue };
            let (mut starts, mut target) = (Vec::new(), before);
            let leaders = representative.classes(&state, zone);
            folding.starts(representative.index(), &leaders, &mut starts);
            folding.layout.fold(zone, &starts, &mut folded);
            let mut back = Zone::universe(1);
            folding.layout.unfold(&folded, &mut back);
            assert_eq!(back, *zone, "{starts:?}");
            let from = (folding, &mut state[..], &folded);
            let mut again = Vec::new();
            let few = one.successor_folded(&representative, &mut expander, step, from, &mut again);
            let few = few.expect("a successor").expect("few clocks");
            let few = few.expect("it is possible");
            assert_eq!(again, target);
            if folding.uniform_bounds {
                few.abstracted_by_few(&program, &bounds, &target);
            } else {
                assert!(few.abstracted(&abstractor));
            }
            let mut result = Folded::empty();
            let mut moved_by = Permutation(Vec::new());
            let moved = Some(&mut moved_by);
            let start = target.clone();
            if representative.reduce_folded(folding, &mut target, few, &mut result, moved) {
                by_groups += 1;
                folding.layout.unfold(&result, &mut back);
                assert_eq!((&target, &back), (&next, &whole));
                let (image, _) = tables.apply(&moved_by, &start, zone);
                assert_eq!(image, next, "{moved_by:?}");
                let leaders = representative.classes(&next, &whole);
                folding.starts(representative.index(), &leaders, &mut starts);
                assert_eq!(starts, result.starts);
            }
        }
    }
    (compared, by_groups)
}

#[test]
fn examples_have_the_same_successors() {
    for (name, n) in [
        ("fischer", 7),
        ("fischer-001", 6),
        ("fischer-int", 6),
        ("csma-cd", 6),
        ("timeout-task", 5),
        ("train-gate", 6),
        ("partial", 7),
        ("leader", 6),
    ] {
        for abstraction in [Abstraction::ExtraLu, Abstraction::ExtraM, Abstraction::Alu] {
            let (compared, by_groups) = compare(&load(name, n), abstraction, 4_000);
            // Some always have three elements, or no clocks.
            let large = ["fischer", "fischer-int", "csma-cd"].contains(&name);
            assert!(!large || compared > 15, "{name}: {compared}");
            assert!(
                !large || by_groups * 10 > compared,
                "{name}: {by_groups} of {compared}"
            );
        }
    }
}

/// Several clocks per element, in processes and arrays; broadcasts whose receivers differ; two
/// sets; clocks without an element.
#[test]
fn several_clocks_have_the_same_successors() {
    let text = "typedef scalar[6] S; typedef scalar[5] R; clock g, a[S], b[R]; int[0,3] n; broadcast chan c; S last; \
        process P(const S i) { clock x; state u, v { x <= 4 }, w; init u; trans \
          u -> v { guard g >= 1 && n < 3; sync c!; assign x = 0, g = 0, n++, last = i; }, \
          u -> u { guard a[i] <= 3; sync c?; assign a[i] = 0; }, u -> w { sync c?; }, w -> w { sync c?; assign x = 1; }, \
          v -> u { guard x >= 2 && a[last] > 1; assign n--; }; } \
        process Q(const R k) { state s { b[k] <= 5 }, t; init s; trans s -> t { guard b[k] > 2; }, t -> s { sync c?; assign b[k] = 0; }; } \
        system P, Q;";
    let model = common::xta(text);
    for abstraction in [Abstraction::ExtraLu, Abstraction::ExtraM] {
        let (compared, by_groups) = compare(&model, abstraction, 60);
        assert!(compared > 100 && by_groups > 50, "{compared} {by_groups}");
    }
}
