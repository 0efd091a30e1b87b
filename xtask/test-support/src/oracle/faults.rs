//! Steps and guards that fail.

use super::model::{Condition, Edge, TestModel, Update, random_place};
use crate::Rng;

/// Makes some steps fail, where priorities block many of them, and some guards, next to comparisons
/// of clocks.
pub(super) fn spoil(rng: &mut Rng, model: &mut TestModel) {
    model.faulty = true;
    if rng.chance(40) {
        return overshadow(rng, model);
    }
    if rng.chance(60) {
        let mut level = 0;
        for own in &mut model.levels {
            level += i32::from(rng.chance(60));
            *own = level;
        }
    }
    if !model.priorities && rng.chance(40) {
        model.priorities = true;
        for (k, channel) in model.channels.iter_mut().enumerate() {
            channel.priority = k as i32;
        }
    }
    let places = |rng: &mut Rng| (random_place(rng, model), random_place(rng, model));
    let mut changes = Vec::new();
    for (p, (_, edges)) in model.processes.iter().enumerate() {
        for e in 0..edges.len() {
            if rng.chance(30) {
                let (to, from) = places(rng);
                let over = Update::Over(to, from, rng.range(1, 2));
                changes.push((p, e, Some(over), None));
            } else if rng.chance(12) {
                changes.push((p, e, None, Some(places(rng).0)));
            }
        }
    }
    for (p, e, over, divisor) in changes {
        let edge = &mut model.processes[p].1[e];
        // Guards of synchronisations are evaluated only if a partner could take part.
        if edge.sync.is_none() && !edge.select {
            edge.guard.divisor = divisor;
        }
        let at = rng.below(edge.updates.len() + 1);
        over.into_iter()
            .for_each(|over| edge.updates.insert(at, over));
    }
}

/// Makes steps of the first process fail, which has the lowest priority, while the last one can
/// often move.
fn overshadow(rng: &mut Rng, model: &mut TestModel) {
    for (p, level) in model.levels.iter_mut().enumerate() {
        *level = p as i32;
    }
    let places = (random_place(rng, model), random_place(rng, model));
    for edge in &mut model.processes[0].1 {
        if rng.chance(60) {
            edge.updates
                .push(Update::Over(places.0, places.1, rng.range(2, 3)));
        }
    }
    let always = rng.chance(60);
    let Some((locations, edges)) = model.processes.last_mut() else {
        return;
    };
    for source in 0..locations.len() {
        if always || rng.chance(40) {
            edges.push(Edge {
                source,
                target: source,
                guard: Condition::default(),
                sync: None,
                updates: Vec::new(),
                select: false,
            });
        }
    }
}
