//! The answer to a query from the result of a search for runs.

use super::{Answer, Run};
use crate::program::Fault;
use crate::search::liveness::Live;
use crate::store::passed_waiting::Covering;
use crate::symmetry::{Passed, Permutation};
use crate::witness::lassos::LiveRun;
use zonelens_analysis::report::{Reason, Verdict};

/// Why a run that was found is not shown.
const TOO_LATE: &str = "the verdict stands, but its run repeats only after more steps than can be checked one by \
     one, so none is shown";

impl Run<'_> {
    /// The answer from the result of a liveness search.
    pub(crate) fn live_answer(
        &self,
        live: Live<Permutation>,
        run: LiveRun<'_>,
        (found, absent): (Verdict, Verdict),
    ) -> Answer {
        let (path, cycle) = match live {
            Live::None => return Answer::verdict(absent),
            Live::Stopped(stop) => return Answer::stopped(stop),
            Live::Fault(fault, path) => return self.live_fault(fault, path, &run),
            Live::Stays(path) => (path, None),
            Live::Cycle(path, start, closing) => (path, Some((start, closing))),
        };
        if !self.wants_trace() {
            return Answer::verdict(found);
        }
        let trace = self.tracer().live_steps(&run, path, cycle);
        let trace = trace.and_then(|(stem, steps, start)| match steps {
            Some(steps) => self.tracer().live_trace(stem, steps, start, &run),
            None => Ok(None),
        });
        match trace {
            Ok(Some(trace)) => Answer {
                trace: Some(Box::new(trace)),
                ..Answer::verdict(found)
            },
            Ok(None) => Answer::because(found, Reason::States(TOO_LATE.to_owned())),
            Err(failure) => self.untraced(found, &failure),
        }
    }

    /// The report of an error that a search for runs found in the last state of a path, or on a
    /// step from there.
    fn live_fault(&self, fault: Fault, path: Vec<Passed>, run: &LiveRun<'_>) -> Answer {
        if fault.of_query {
            return self.query_error(fault);
        }
        if fault.kind.is_ours() || !self.wants_trace() {
            return self.model_error(fault, None);
        }
        let leaves = self.tracer().live_steps(run, path, None);
        let leaves = leaves.map(|(mut stem, steps, _)| {
            stem.extend(steps.into_iter().flatten());
            stem
        });
        self.fault_after(fault, leaves, Covering::Inclusion)
    }
}
