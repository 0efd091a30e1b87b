//! Quantifiers over elements that the state does not tell apart.
//!
//! If swapping two elements fixes the discrete state, and the condition names neither of them, it
//! holds for one iff it holds for the other. An element bound by an outer quantifier is named.

use zonelens_analysis::network::ScalarsetId;

/// Classes of elements, for `forall` and `exists` in the condition of a query.
#[derive(Clone, Debug, Default)]
pub(crate) struct Alike {
    /// For each set, its first value and the class of each element, by the first element of the
    /// class: swaps inside a class fix the discrete state.
    pub classes: Vec<(ScalarsetId, i32, Vec<u16>)>,
    /// The first element of each class, by set.
    leaders: Vec<Vec<u32>>,
    bound: Vec<(ScalarsetId, u32)>,
}

impl Alike {
    /// The elements of a set to evaluate: the bound ones and one per class of the others; `None` if
    /// the set has no classes.
    pub(crate) fn representatives(&self, set: ScalarsetId, lo: i32, len: u32) -> Option<Vec<u32>> {
        let at = self.classes.iter().position(|(s, _, _)| *s == set)?;
        let (_, first, classes) = &self.classes[at];
        if (*first, classes.len()) != (lo, len as usize) {
            return None;
        }
        // One element of each class that no outer quantifier binds.
        let bound = |element: u32| self.bound.contains(&(set, element));
        let free = |leader: &u32| {
            let class = classes[*leader as usize];
            let mut rest = (*leader..len).filter(|e| classes[*e as usize] == class);
            rest.find(|e| !bound(*e))
        };
        let mut elements: Vec<u32> = self.leaders[at].iter().filter_map(free).collect();
        let of_set = self.bound.iter().filter(|(s, e)| *s == set && *e < len);
        elements.extend(of_set.map(|(_, element)| element));
        elements.sort_unstable();
        elements.dedup();
        Some(elements)
    }

    /// Must be called after the classes were changed.
    pub(crate) fn find_leaders(&mut self) {
        self.leaders.resize(self.classes.len(), Vec::new());
        for (leaders, (_, _, classes)) in self.leaders.iter_mut().zip(&self.classes) {
            leaders.clear();
            let all = classes.iter().enumerate();
            let first = all.filter(|(e, class)| *e == **class as usize);
            leaders.extend(first.map(|(e, _)| e as u32));
        }
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
