//! From a state to its successors: the steps of a state, where they lead, how time passes, and what
//! a query asks about one state.

pub(crate) mod among;
pub(crate) mod deadlock;
pub(crate) mod expander;
pub(crate) mod goal;
pub(crate) mod moments;
mod passed;
pub(crate) mod receivers;
pub(crate) mod steps;
mod successors;
pub(crate) mod throughout;
pub(crate) mod timed;
mod visitor;

pub(crate) use passed::{Passed, Route};
pub(crate) use successors::{Broken, Classes, Compact, Plain, Successor, Successors};
pub(crate) use visitor::Visitor;
