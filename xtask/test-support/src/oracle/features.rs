//! The features of a model, to check that the generator produces all of them often enough.

use super::model::{Channel, Edge, Kind, Op, Place, TestModel, Update, Value};
use std::collections::BTreeMap;

pub fn note_features(model: &TestModel, seen: &mut BTreeMap<String, usize>) {
    let edges = || model.processes.iter().flat_map(|p| &p.1);
    let locations = || model.processes.iter().flat_map(|p| &p.0);
    let mut note =
        |name: &str, there: bool| *seen.entry(name.into()).or_default() += usize::from(there);
    let diagonal = edges().flat_map(|e| &e.guard.atoms).any(|a| a.y.is_some());
    note("diagonal", diagonal);
    note("diagonal and ticks", diagonal && model.ticks);
    note("diagonal without end", diagonal && !model.bounded);
    note("committed", locations().any(|l| l.kind == Kind::Committed));
    note(
        "urgent location",
        locations().any(|l| l.kind == Kind::Urgent),
    );
    note("urgent channel", model.channels.iter().any(|c| c.urgent));
    note("broadcast", model.channels.iter().any(|c| c.broadcast));
    note("priorities", model.priorities);
    let low = model.channels.iter().any(|c| c.priority < 0);
    note("priority below default", low);
    note("select", edges().any(|e| e.select));
    let updates = || {
        let around = model.around.iter().flatten();
        let of_functions = model
            .functions
            .iter()
            .flat_map(|f| f.then.iter().chain(&f.other));
        let of_edges = edges().flat_map(|e| &e.updates);
        of_edges.chain(around).chain(of_functions)
    };
    note(
        "reset to a value",
        updates().any(|u| matches!(u, Update::Reset(_, Value { c: 1.., .. }))),
    );
    note(
        "clock copy",
        updates().any(|u| matches!(u, Update::Copy(x, y) if x != y)),
    );
    note("before_update", !model.around[0].is_empty());
    note("after_update", !model.around[1].is_empty());
    note("process priorities", model.levels.iter().any(|l| *l > 0));
    note("meta", model.meta);
    let tests = || edges().filter_map(|e| e.guard.test.map(|t| t.place));
    let assigned = || {
        updates().filter_map(|u| match u {
            Update::Assign(place, ..) => Some(*place),
            _ => None,
        })
    };
    let picked = |place: Place| matches!(place, Place::Cell(_, Some(_)));
    note("array cell tested by index", tests().any(picked));
    note("array cell assigned by index", assigned().any(picked));
    note(
        "clock tested by index",
        edges()
            .flat_map(|e| &e.guard.atoms)
            .any(|a| a.x.by.is_some()),
    );
    note(
        "clock set by index",
        updates().any(|u| match u {
            Update::Reset(x, _) | Update::Copy(x, _) => x.by.is_some(),
            Update::Assign(..) | Update::Call(_) | Update::Over(..) => false,
        }),
    );
    note(
        "strict invariant",
        locations()
            .flat_map(|l| &l.invariant.atoms)
            .any(|a| a.op == Op::Lt),
    );
    let clock_guard = |e: &&Edge, wanted: &dyn Fn(&Channel, bool) -> bool| {
        !e.guard.atoms.is_empty()
            && e.sync
                .is_some_and(|sync| wanted(&model.channels[sync.channel], sync.sends))
    };
    note(
        "clock guard on receiver",
        edges().any(|e| clock_guard(&e, &|c, sends| c.broadcast && !sends)),
    );
    note(
        "clock guard on urgent",
        edges().any(|e| clock_guard(&e, &|c, _| c.urgent)),
    );
    note("function", updates().any(|u| matches!(u, Update::Call(_))));
    note(
        "channel picked by index",
        edges().any(|e| e.sync.is_some_and(|sync| sync.by.is_some())),
    );
    let atoms = || edges().flat_map(|e| &e.guard.atoms);
    note("guard with a variable", atoms().any(|a| a.c.plus.is_some()));
    let limits = || locations().flat_map(|l| &l.invariant.atoms);
    note(
        "invariant with a variable",
        limits().any(|a| a.c.plus.is_some()),
    );
    note(
        "difference in an invariant",
        limits().any(|a| a.y.is_some()),
    );
    note(
        "lower bound in an invariant",
        limits().any(|a| a.op == Op::Ge),
    );
    note(
        "integers in an invariant",
        locations().any(|l| l.invariant.test.is_some()),
    );
    note(
        "integers or clocks",
        edges().any(|e| e.guard.either) || locations().any(|l| l.invariant.either),
    );
    note(
        "reset to a variable",
        updates().any(|u| matches!(u, Update::Reset(_, Value { plus: Some(_), .. }))),
    );
    let first = model.first_numbers.iter().chain(&model.first_clocks);
    note("initial values", first.clone().any(|value| *value > 0));
}
