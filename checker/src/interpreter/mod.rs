//! The concrete interpreter: the plain semantics of the network over numbers, independent of zones and compiled code.

mod arithmetic;
mod claim;
mod eval;
mod regions;
mod replay;
mod retrace;
mod simulate;
mod state;
mod steps;

pub use claim::{Claim, End, Ending, Kept, check, is_dead};
pub use eval::{Evaluator, Failure};
pub use replay::{Replayed, replay};
pub use retrace::{evaluate, replay_trace};
pub use simulate::{Choice, Ended, SimulateOptions, Simulator, simulate};

pub use state::Names;
pub use steps::{ConcreteEdge, ConcreteStep, fails};
