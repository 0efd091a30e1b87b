//! The zone of a walk: all clock values that are possible with some choice of delays along the
//! given transitions; and delays with which another transition can follow.
//!
//! Nothing is abstracted: no extrapolation, no symmetry, no reduction. If urgency makes the set
//! non-convex, it is a union. The simulator asks the questions; the interpreter replays the answers
//! before a run made from them is shown.

mod choose;
mod follow;
mod text;

use crate::program::{EdgeId, Fault, FaultKind, Program};
use crate::zone::Zone;
use follow::Level;
use zonelens_analysis::network::Network;
use zonelens_analysis::simulation::{
    ChosenDelays, WalkAnswer, WalkEdge, WalkRequest, WalkZone, ZonePiece,
};
use zonelens_interpreter::{Limit, Names};

/// Answers questions about walks of one model. Consecutive questions share the common part of their
/// walks.
pub struct Walks {
    program: Program,
    names: Vec<String>,
    /// The first edge of each process, and the number of all edges at the end.
    first_edges: Vec<EdgeId>,
    /// The walk of the last question.
    levels: Vec<Level>,
}

/// A transition as the engine names it.
type Named = Vec<(EdgeId, Vec<i32>)>;

impl Walks {
    /// Prepares questions about a model; `Err` says why it has no zones.
    pub fn new(network: &Network) -> Result<Walks, String> {
        if let Some(unsupported) = network.unsupported.iter().find(|u| u.fatal) {
            return Err(unsupported.message.clone());
        }
        let program = Program::new(network).map_err(|error| error.message.to_owned())?;
        if program.has_rates {
            return Err("the model has stopped clocks".into());
        }
        let names = Names::new(network);
        let mut first_edges = vec![0];
        for process in &network.processes {
            let next = first_edges.last().copied().unwrap_or(0) + process.edges.len() as EdgeId;
            first_edges.push(next);
        }
        Ok(Walks {
            names: (0..program.clocks).map(|x| names.clock(x)).collect(),
            program,
            first_edges,
            levels: Vec::new(),
        })
    }

    /// The zone of the walk, the transitions that it allows, and delays for the requested
    /// transition.
    pub fn answer(&mut self, request: &WalkRequest, limit: Limit<'_>) -> WalkAnswer {
        let refused = |reason: String| WalkAnswer {
            id: request.id,
            zone: WalkZone::None {
                reason: reason.clone(),
            },
            transitions: Vec::new(),
            left_out: 0,
            delays: request.take.as_ref().map(|_| ChosenDelays::None { reason }),
        };
        let steps: Option<Vec<Named>> =
            request.steps.iter().map(|s| self.named(&s.edges)).collect();
        let Some(steps) = steps else {
            return refused("the walk names an edge that the model does not have".into());
        };
        if let Err(reason) = self.follow(&steps, limit) {
            return refused(reason);
        }
        let Some(last) = self.levels.last() else {
            return refused("the walk has no state".into());
        };
        let pieces = last.zones.iter().map(|zone| self.piece(zone)).collect();
        let zone = WalkZone::Zone { pieces };
        let (found, left_out) = match follow::transitions(&self.program, last, limit) {
            Ok(found) => found,
            // If a guard fails at every point, nothing is possible.
            Err(fault) if !fault.kind.is_ours() => (Vec::new(), 0),
            Err(_) => (Vec::new(), 1),
        };
        let transitions = found.iter().map(|step| self.edges(step)).collect();
        let delays = request.take.as_ref().map(|take| match self.named(take) {
            Some(take) => self.choose(request, &take, limit),
            None => ChosenDelays::None {
                reason: "the model has no such edge".into(),
            },
        });
        WalkAnswer {
            id: request.id,
            zone,
            transitions,
            left_out,
            delays,
        }
    }

    /// Follows a walk, starting where it differs from the last one.
    fn follow(&mut self, steps: &[Named], limit: Limit<'_>) -> Result<(), String> {
        if self.levels.is_empty() {
            let first = follow::initial(&self.program).map_err(words)?;
            self.levels.push(first);
        }
        // The last state may have been left by a transition that was not possible.
        let passed = &self.levels[..self.levels.len() - 1];
        let left = passed.iter().map_while(|level| level.left.as_ref());
        let shared = left
            .zip(steps)
            .take_while(|(left, s)| left.step == **s)
            .count();
        self.levels.truncate(shared + 1);
        if let Some(last) = self.levels.last_mut() {
            last.left = None;
        }
        for step in &steps[shared..] {
            let Some(last) = self.levels.last_mut() else {
                return Err("the walk has no state".into());
            };
            let next = follow::pass(&self.program, last, step, limit).map_err(words)?;
            let Some(next) = next else {
                return Err(format!(
                    "no run takes step {} of the walk",
                    self.levels.len()
                ));
            };
            self.levels.push(next);
            let bounds: usize = self.levels.iter().map(Level::bounds).sum();
            if bounds > MOST_BOUNDS {
                self.levels.clear();
                return Err("the zones of the walk need too much memory".into());
            }
        }
        Ok(())
    }

    fn choose(&self, request: &WalkRequest, take: &Named, limit: Limit<'_>) -> ChosenDelays {
        let Some(last) = self.levels.last() else {
            return ChosenDelays::None {
                reason: "the walk has no state".into(),
            };
        };
        let mut ending = last.clone();
        let end = match follow::pass(&self.program, &mut ending, take, limit) {
            Ok(Some(end)) => end,
            Ok(None) => {
                return ChosenDelays::None {
                    reason: "no choice of delays makes this transition possible".into(),
                };
            }
            Err(fault) => {
                return ChosenDelays::None {
                    reason: words(fault),
                };
            }
        };
        let (before, _) = self.levels.split_at(self.levels.len() - 1);
        let stays: Vec<&Level> = before.iter().chain([&ending]).collect();
        choose::delays(&self.program, request, &stays, &end, limit)
    }

    fn piece(&self, zone: &Zone) -> ZonePiece {
        text::piece(zone, &self.names)
    }

    /// A transition by the engine's numbers; `None` if the model has no such edge.
    fn named(&self, edges: &[WalkEdge]) -> Option<Named> {
        let one = |edge: &WalkEdge| {
            let p = edge.process as usize;
            let (first, end) = (*self.first_edges.get(p)?, *self.first_edges.get(p + 1)?);
            let id = first.checked_add(edge.edge).filter(|id| *id < end)?;
            let selects = self.program.edges.get(id as usize)?.selects.len();
            (selects == edge.select.len()).then(|| (id, edge.select.clone()))
        };
        edges.iter().map(one).collect()
    }

    fn edges(&self, step: &Named) -> Vec<WalkEdge> {
        let one = |(id, select): &(EdgeId, Vec<i32>)| {
            let edge = &self.program.edges[*id as usize];
            WalkEdge {
                process: edge.process,
                edge: edge.index,
                select: select.clone(),
            }
        };
        step.iter().map(one).collect()
    }
}

/// The most bounds of all zones that are stored for one walk.
const MOST_BOUNDS: usize = 16 << 20;

/// Why there is no zone.
fn words(fault: Fault) -> String {
    match fault.kind {
        FaultKind::Interrupted => "there was no time to compute the zone".into(),
        FaultKind::TooManyParts => "the zone falls into too many pieces".into(),
        kind => kind.to_string(),
    }
}
