//! From a state to its successors: which steps there are, where they lead, how time passes, and what a query asks of one
//! state.

pub mod among;
pub mod deadlock;
pub mod expander;
pub mod goal;
mod passed;
pub mod receivers;
pub mod steps;
mod successors;
pub mod throughout;
pub mod timed;
mod visitor;

pub use passed::{Passed, Route};
pub use successors::{Broken, Classes, Plain, Successor, Successors};
pub use visitor::Visitor;
