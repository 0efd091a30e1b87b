//! From a state to its successors: which steps there are, where they lead, how time passes, and what a query asks of one
//! state.

mod among;
pub mod deadlock;
pub mod expander;
pub mod goal;
pub mod receivers;
pub mod steps;
pub mod timed;
mod visitor;

pub use visitor::Visitor;
