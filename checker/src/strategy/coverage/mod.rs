//! What a model never does: a search through everything, without a query.
//!
//! Nothing may be called *never* that a run of the model does. The argument:
//!
//! - **States.** The search stores zones under `Extra⁺_LU`, or under `Extra_M` where differences of
//!   clocks are compared, and covers by inclusion only. Neither hulls nor loose zones are used, and
//!   nothing drops a variable: the discrete state is stored as it is. So the discrete parts of the
//!   stored states are those of the reachable states, and of these locations and values are read.
//! - **Edges.** A point that the abstraction adds to a zone is simulated by a point of the zone
//!   with the same discrete state: whatever step the one can take, the other can, along the same
//!   edges. An edge is therefore taken in the search exactly if it is taken in a run. It counts
//!   only if the step has a successor: blocked by a committed location, by a higher priority or by
//!   the invariant of a target it is not taken. A broadcast receiver is part of the steps in which
//!   its guard holds. A step into a state that is stored already counts, too.
//! - **Guards.** The bounds of a location include the comparisons of all guards of its edges,
//!   whether the edges can be taken or not, so the simulating point satisfies the same guards: a
//!   guard is true somewhere in a stored zone exactly if it is true in some reachable state. Zones
//!   contain the delays in their state, so every moment counts and not only that of the arrival. A
//!   covered zone is part of the one that covers it.
//! - **Symmetry.** A permutation maps processes to processes of the same template and the steps of
//!   a state to those of its image, edge by edge as written; it moves cells within the variable, or
//!   the processes of the template, that they belong to. Of an orbit some member is reachable, and
//!   what is counted (locations, edges and guards of a template, the values of a variable in all
//!   its cells and processes) is the same for all members. This needs no invariant initial state.
//!   Variables that hold elements are the exception, because a permutation changes their values;
//!   their limits are not looked at, with or without the reduction.
//! - **Stopped clocks** are approximated from above: then everything named is never done, but
//!   not everything that is never done is named, which the reason says.
//!
//! Recording takes place in a wrapper of the successors and in the visitor of this search; other
//! searches do not pay for it.

mod catalogue;
mod seen;
#[cfg(test)]
mod tests;
mod unseen;

use super::{Answer, Run, compiled};
use crate::search::limits::{Steady, Watch};
use crate::search::sequential::{Outcome, Search, Settings};
use crate::store::passed_waiting::{Covering, NIL};
use crate::symmetry::Chosen;
use catalogue::Catalogue;
use seen::{Recorded, States};
use unseen::Met;
use zonelens_analysis::coverage::Coverage;
use zonelens_analysis::network::{Expr, ExprKind, Network, Position, Query, QueryKind};
use zonelens_analysis::report::{Options, Reason, TraceOption};
use zonelens_syntax::ast::PathKind;
use zonelens_syntax::span::Span;

/// Explores everything and reports what was not seen. Of the options, the limits and the choice of
/// symmetry count. `position` turns a span of the model into line and column.
pub fn coverage(
    network: &Network,
    options: &Options,
    position: &(dyn Fn(Span) -> Position + Sync),
    control: &crate::Control<'_>,
) -> Coverage {
    let steady = Steady::new(control.progress);
    let control = &crate::Control {
        cancelled: control.cancelled,
        progress: &|progress| steady.show(progress),
    };
    let options = &exact(options);
    let mut watch = Watch::new(options, control);
    let mut result = match compiled(network, position) {
        Err(answer) => ended(answer),
        Ok(program) => {
            let run = Run {
                network,
                query: &nothing(),
                options,
                position,
                program: &program,
                limit: watch.limit(),
                sink: None,
            };
            match run.start_fails() {
                Some(answer) => ended(answer),
                None => run.cover(&mut watch).unwrap_or_else(ended),
            }
        }
    };
    result.statistics = watch.statistics();
    result
}

/// The options of a run that is exact: only limits and symmetry are taken over.
fn exact(options: &Options) -> Options {
    Options {
        symmetry: options.symmetry,
        memory: options.memory,
        timeout: options.timeout,
        states: options.states,
        // An error of the model must be replayed before it is reported.
        trace: TraceOption::Some,
        ..Options::default()
    }
}

/// A query that asks for nothing: runs are described by one.
fn nothing() -> Query {
    let span = Span::default();
    let no = Expr {
        kind: ExprKind::Const(0),
        span,
    };
    Query {
        text: "".into(),
        kind: QueryKind::Path(PathKind::Possibly, no),
        frame: 0,
        named_elements: Vec::new(),
        span,
    }
}

/// The result of a run that ended with an answer other than "everything was explored".
fn ended(answer: Answer) -> Coverage {
    let reason = answer.reason.unwrap_or_else(|| {
        // Every way to end has a reason; this keeps a mistake from being called complete.
        Reason::Internal("the run ended without a reason".to_owned())
    });
    Coverage::without_run(reason)
}

impl Run<'_> {
    fn cover(&self, watch: &mut Watch<'_>) -> Result<Coverage, Answer> {
        let bounds = self.bounds(&[])?;
        let settings = Settings {
            covering: Covering::Inclusion,
            // What no state does is asked, too: a state that can do more hides it.
            ..Run::without_alu(self.settings(&bounds, true), true)
        };
        let representative = self.representative(&settings);
        let model = (self.program, &bounds);
        let graph = Recorded {
            chosen: Chosen::new(model, settings.abstraction, representative, None),
            taken: vec![false; self.program.edges.len()],
        };
        let catalogue = Catalogue::new(self.network);
        let mut states = States::new(self.program, &catalogue);
        let mut search = Search::new(self.program, &bounds, settings, graph);
        let stop = match search.run(&mut states, watch) {
            Outcome::Exhausted | Outcome::Found(_) => None,
            Outcome::Stopped(stop) => Some(stop.reason()),
            Outcome::Asymmetric(message) => return Err(Answer::internal(message)),
            Outcome::QueryFault(fault, _) => return Err(self.query_error(fault)),
            Outcome::Fault(fault, NIL) => return Err(self.model_error(fault, None)),
            Outcome::Fault(fault, node) => {
                let route = search.route(node);
                let steps = self.tracer().real_steps(&search.graph.chosen, &route, None);
                return Err(self.fault_after(fault, steps, settings.covering));
            }
        };
        let complete = stop.is_none();
        let met = Met::new(&catalogue, &states, &search.graph.taken, complete);
        let limited = (complete && self.program.has_rates).then(|| {
            let why = "clocks are stopped, so states may be counted that are not reachable: \
                       more may never happen than is listed";
            Reason::Approximate(why.to_owned())
        });
        Ok(Coverage {
            complete,
            reason: stop.or(limited),
            unseen: met.unseen(self.network),
            totals: catalogue.totals(),
            ..Coverage::default()
        })
    }
}
