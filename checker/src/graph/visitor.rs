//! The interface through which a search shows its states to a query.

use crate::program::{Alike, Fault};
use crate::zone::Lazy;

/// Examines every new state.
pub(crate) trait Visitor {
    /// Examines a state that was stored as `node`; returning true ends the search. A fault may be
    /// an error of the model: `deadlock` computes steps.
    fn visit(&mut self, state: &mut [i32], zone: &Lazy<'_>, node: u32) -> Result<bool, Fault>;

    /// Where to write the classes of elements that the discrete state does not tell apart, if the
    /// visitor uses them.
    fn alike(&mut self) -> Option<&mut Alike> {
        None
    }
}
