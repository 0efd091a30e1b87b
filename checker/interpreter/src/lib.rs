//! The concrete interpreter: the plain semantics of the network over numbers.
//!
//! It shares neither zones nor compiled code with the engine and does not depend on it, so that a
//! run that it replays is confirmed by other code than the code that found it. It checks the
//! engine's schedules and claims about runs, and implements `simulate` and questions about the
//! steps of a trace.

mod arithmetic;
mod attempts;
mod claim;
mod eval;
mod expression;
mod limit;
mod regions;
mod replay;
mod retrace;
mod rng;
mod session;
mod simulate;
mod state;
mod steps;
mod windows;

pub use attempts::Reason;
pub use claim::{Claim, End, Ending, Kept, check, is_dead};
pub use eval::{Evaluator, Failure};
pub use expression::evaluate_expression;
pub use limit::{Allowance, Limit, Over, SharedBudget};
pub use replay::{Replayed, replay};
pub use retrace::{Stopped, evaluate, replay_trace, replay_within};
pub use rng::Rng;
pub use session::{CarryStop, Fraction, RandomEnd, RandomOptions, Session, Taken, Until};
pub use simulate::{Choice, Ended, SimulateOptions, Simulator, Unavailable, simulate};
pub use state::Names;
pub use steps::{ConcreteEdge, ConcreteStep, fails};
pub use windows::{Blocked, Interval, Possible, TimeEnd, Windows, windows};
