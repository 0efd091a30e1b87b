//! What a search shows its states to.

use crate::program::{Alike, Fault};
use crate::zone::Zone;

/// What looks at every new state.
pub trait Visitor {
    /// Looks at a state that was stored as `node`; true ends the search. A fault may be one of the model: `deadlock`
    /// looks at steps.
    fn visit(&mut self, state: &mut [i32], zone: &Zone, node: u32) -> Result<bool, Fault>;

    /// Where to put the classes of elements that the discrete state does not tell apart, if the visitor makes use of
    /// them.
    fn alike(&mut self) -> Option<&mut Alike> {
        None
    }
}
