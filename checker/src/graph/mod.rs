//! From a state to its successors: the steps of a state, where they lead, how time passes, and what
//! a query asks about one state.

pub mod among;
pub mod deadlock;
pub mod expander;
pub mod goal;
pub mod moments;
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
