//! Quantifiers over elements that the state does not tell apart.
//!
//! If swapping two elements fixes the discrete state, and the condition names neither of them, it
//! holds for one iff it holds for the other. An element bound by an outer quantifier is named.

use zonelens_analysis::network::ScalarsetId;

/// Classes of elements, for `forall` and `exists` in the condition of a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alike {
    /// For each set, its first value and the class of each element: swaps inside a class fix the
    /// discrete state.
    pub classes: Vec<(ScalarsetId, i32, Vec<u16>)>,
    bound: Vec<(ScalarsetId, u32)>,
}

impl Alike {
    /// The elements of a set to evaluate: the bound ones and one per class of the others; `None` if
    /// the set has no classes.
    pub(crate) fn representatives(&self, set: ScalarsetId, lo: i32, len: u32) -> Option<Vec<u32>> {
        let (_, first, classes) = self.classes.iter().find(|(s, _, _)| *s == set)?;
        if (*first, classes.len()) != (lo, len as usize) {
            return None;
        }
        let mut met = vec![false; classes.len()];
        let fresh = |(e, class): (usize, &u16)| {
            let element = e as u32;
            let bound = self.bound.contains(&(set, element));
            (bound || !std::mem::replace(&mut met[*class as usize], true)).then_some(element)
        };
        Some(classes.iter().enumerate().filter_map(fresh).collect())
    }

    /// Marks an element as named while the body of a quantifier is evaluated.
    pub(crate) fn bind(&mut self, set: ScalarsetId, element: u32) {
        self.bound.push((set, element));
    }

    /// Ends the last binding.
    pub(crate) fn release(&mut self) {
        self.bound.pop();
    }

    /// Ends all bindings, including those that an error left behind.
    pub(crate) fn clear(&mut self) {
        self.bound.clear();
    }
}
