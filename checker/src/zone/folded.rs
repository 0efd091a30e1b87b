//! Zones that permutations inside classes of elements fix, on the clocks of two elements per class.
//!
//! Elements stand in a fixed order, and a class is a run of neighbours. If every swap of two
//! elements of a class fixes a zone, the bound between a clock of element `p` and one of element
//! `q` depends only on the clocks, on the classes of `p` and `q`, and on whether `p = q`: some
//! permutation inside classes maps the pair to any other pair of which the same is true. The bounds
//! between the clocks of the first two elements of each class and the clocks that belong to no
//! element therefore determine the matrix, and nothing is lost.
//!
//! Two zones with different classes are compared on the common refinement of their classes: both
//! are fixed by the permutations inside its runs, so the bounds between the first two elements of
//! each run decide about all others.

use super::bound::Bound;
use super::{Relation, Zone};
use crate::mutation::{Mutation, is_on};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::{Deref, Range};

/// Which clocks belong to which element.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    /// The number of clocks plus one.
    pub dim: usize,
    /// The clocks that belong to no element, by matrix index; the constant zero is the first.
    pub common: Vec<u32>,
    /// The clocks of each element, by matrix index. Elements that may share a class have the same
    /// number of clocks, in the same order.
    pub clocks: Vec<Vec<u32>>,
    /// Clocks with the same number mean the same of different elements.
    pub kinds: Vec<u32>,
}

/// A zone on the clocks of two elements of each class.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Folded {
    /// The first element of each class.
    pub starts: Vec<u32>,
    /// The bounds: first the clocks without an element, then for each class the clocks of its first
    /// element and, unless it is alone, those of its second.
    pub zone: Zone,
}

/// How a clock is found in a folded matrix.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spot {
    /// The class or group of its element; [`ALONE`] if it has none.
    pub class: u32,
    /// The element.
    pub element: u32,
    /// The index of the same clock of the first element of the class.
    pub first: u32,
    /// The same for the second element, if there is one.
    pub second: u32,
}

/// The class of clocks without an element.
pub(crate) const ALONE: u32 = u32::MAX;

impl Spot {
    /// A clock without an element.
    pub(crate) fn alone(at: usize) -> Spot {
        Spot {
            class: ALONE,
            element: ALONE,
            first: at as u32,
            second: at as u32,
        }
    }

    /// The bound between this clock and another one.
    #[inline(always)]
    pub(crate) fn to(&self, other: &Spot, zone: &Zone) -> Bound {
        let twins = (self.class == other.class) & (self.element != other.element);
        let to = if twins && !is_on(Mutation::TwinsForgotten) {
            other.second
        } else {
            other.first
        };
        zone.at(self.first as usize, to as usize)
    }
}

impl Layout {
    /// The elements of the class with this index.
    fn class(&self, starts: &[u32], class: usize) -> Range<u32> {
        let end = starts.get(class + 1).copied();
        starts[class]..end.unwrap_or(self.clocks.len() as u32)
    }

    /// Finds the clocks without an element and those of some elements, given in ascending order, in
    /// a zone with these classes.
    pub(crate) fn spots(
        &self,
        starts: &[u32],
        elements: impl Iterator<Item = u32>,
        out: &mut Vec<Spot>,
    ) {
        out.clear();
        out.extend((0..self.common.len()).map(Spot::alone));
        let (mut class, mut base) = (0, self.common.len());
        for element in elements {
            let mut range = self.class(starts, class);
            while element >= range.end {
                base += range.len().min(2) * self.clocks[range.start as usize].len();
                class += 1;
                range = self.class(starts, class);
            }
            let own = self.clocks[element as usize].len();
            let second = if range.len() > 1 { base + own } else { base };
            out.extend((0..own).map(|k| Spot {
                class: class as u32,
                element,
                first: (base + k) as u32,
                second: (second + k) as u32,
            }));
        }
    }

    /// The first two elements of each class.
    pub(crate) fn firsts(&self, starts: &[u32]) -> impl Iterator<Item = u32> {
        (0..starts.len()).flat_map(|c| self.class(starts, c).take(2))
    }

    /// Folds a zone whose classes were checked.
    pub(crate) fn fold(&self, zone: &Zone, starts: &[u32], out: &mut Folded) {
        out.starts.clear();
        out.starts.extend_from_slice(starts);
        let own = self.firsts(starts).flat_map(|e| &self.clocks[e as usize]);
        let kept: Vec<u32> = self.common.iter().chain(own).copied().collect();
        out.reshape(kept.len());
        let rows = out.zone.raw_mut().chunks_exact_mut(kept.len());
        for (row, x) in rows.zip(&kept) {
            for (bound, y) in row.iter_mut().zip(&kept) {
                *bound = zone.at(*x as usize, *y as usize);
            }
        }
    }

    /// Writes the whole zone.
    pub(crate) fn unfold(&self, folded: &Folded, out: &mut Zone) {
        if out.dim() != self.dim {
            *out = Zone::universe(self.dim);
        }
        let mut spots = Vec::new();
        self.spots(&folded.starts, 0..self.clocks.len() as u32, &mut spots);
        let own = self.clocks.iter().flatten();
        let clocks: Vec<u32> = self.common.iter().chain(own).copied().collect();
        let raw = out.raw_mut();
        for (x, from) in clocks.iter().zip(&spots) {
            let row = &mut raw[*x as usize * self.dim..][..self.dim];
            for (y, to) in clocks.iter().zip(&spots) {
                row[*y as usize] = from.to(to, &folded.zone);
            }
        }
    }

    /// The relation between two folded zones.
    pub(crate) fn relation(&self, a: &Folded, b: &Folded) -> Relation {
        if a.starts == b.starts {
            return a.zone.relation(&b.zone);
        }
        let (mut ours, mut theirs) = (a.starts.iter().peekable(), b.starts.iter().peekable());
        let mut starts = Vec::with_capacity(a.starts.len() + b.starts.len());
        loop {
            let next = match (ours.peek(), theirs.peek()) {
                (Some(x), Some(y)) => **x.min(y),
                (Some(x), None) | (None, Some(x)) => **x,
                (None, None) => break,
            };
            ours.next_if(|x| **x == next);
            theirs.next_if(|x| **x == next);
            starts.push(next);
        }
        let (mut in_a, mut in_b) = (Vec::new(), Vec::new());
        self.spots(&a.starts, self.firsts(&starts), &mut in_a);
        self.spots(&b.starts, self.firsts(&starts), &mut in_b);
        let (mut less, mut more) = (false, false);
        for (x, u) in in_a.iter().zip(&in_b) {
            for (y, v) in in_a.iter().zip(&in_b) {
                let (one, other) = (x.to(y, &a.zone), u.to(v, &b.zone));
                less |= one < other;
                more |= one > other;
            }
            if less && more {
                return Relation::Different;
            }
        }
        match (less, more) {
            (false, false) => Relation::Equal,
            (true, false) => Relation::Subset,
            (false, true) => Relation::Superset,
            (true, true) => Relation::Different,
        }
    }
}

impl Folded {
    /// A folded zone without content.
    pub(crate) fn empty() -> Folded {
        Folded {
            starts: Vec::new(),
            zone: Zone::universe(1),
        }
    }

    /// Prepares the matrix for another dimension; its content has no meaning then.
    pub(crate) fn reshape(&mut self, dim: usize) {
        if self.zone.dim() != dim {
            self.zone = Zone::universe(dim);
        }
    }
}

/// A zone as searches pass it on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Shape<'a> {
    /// All bounds.
    Whole(&'a Zone),
    /// The bounds of two elements of each class.
    Folded(&'a Folded, &'a Layout),
}

impl<'a> Shape<'a> {
    /// The whole zone.
    pub(crate) fn whole(self) -> Cow<'a, Zone> {
        match self {
            Shape::Whole(zone) => Cow::Borrowed(zone),
            Shape::Folded(folded, layout) => {
                let mut zone = Zone::universe(layout.dim);
                layout.unfold(folded, &mut zone);
                Cow::Owned(zone)
            }
        }
    }
}

/// A zone that is unfolded when it is first used.
#[derive(Debug)]
pub(crate) struct Lazy<'a> {
    shape: Shape<'a>,
    unfolded: OnceCell<Zone>,
}

impl<'a> Lazy<'a> {
    /// Creates it without unfolding.
    pub(crate) fn new(shape: Shape<'a>) -> Lazy<'a> {
        Lazy {
            shape,
            unfolded: OnceCell::new(),
        }
    }
}

impl<'a> From<&'a Zone> for Lazy<'a> {
    fn from(zone: &'a Zone) -> Lazy<'a> {
        Lazy::new(Shape::Whole(zone))
    }
}

impl Deref for Lazy<'_> {
    type Target = Zone;

    fn deref(&self) -> &Zone {
        match self.shape {
            Shape::Whole(zone) => zone,
            folded => self.unfolded.get_or_init(|| folded.whole().into_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zone::bound::{le, lt};
    use zonelens_interpreter::Rng;

    /// Two clocks without an element, then `count` elements with `each` clocks.
    fn layout(count: u32, each: u32) -> Layout {
        let clocks = (0..count).map(|e| (0..each).map(|k| 3 + k * count + e).collect());
        Layout {
            dim: (3 + count * each) as usize,
            common: vec![0, 1, 2],
            clocks: clocks.collect(),
            kinds: vec![0; (3 + count * each) as usize],
        }
    }

    /// A random zone that permutations inside classes fix.
    fn symmetric(rng: &mut Rng, layout: &Layout, starts: &[u32]) -> Option<Zone> {
        let class = |e: u32| starts.partition_point(|start| *start <= e) - 1;
        let mut zone = Zone::universe(layout.dim);
        for _ in 0..rng.below(5) {
            let c = rng.range(-3, 9);
            let bound = if rng.chance(50) { lt(c) } else { le(c) };
            let (k, j) = (
                rng.below(layout.clocks[0].len()),
                rng.below(layout.clocks[0].len()),
            );
            let (a, b) = (rng.below(starts.len()), rng.below(starts.len()));
            let (kind, own) = (rng.below(4), rng.chance(50));
            for (e, clocks) in layout.clocks.iter().enumerate() {
                for (f, others) in layout.clocks.iter().enumerate() {
                    if class(e as u32) != a || class(f as u32) != b || own && e != f {
                        continue;
                    }
                    let (i, j) = match kind {
                        0 => (clocks[k], 0),
                        1 => (1, clocks[k]),
                        2 => (0, clocks[k]),
                        _ => (clocks[k], others[j]),
                    };
                    if i != j && !zone.and(i as usize, j as usize, bound) {
                        return None;
                    }
                }
            }
        }
        Some(zone)
    }

    #[test]
    fn zones_come_back_and_compare_as_they_are() {
        let mut rng = Rng::new(71);
        let (mut related, mut apart) = (0, 0);
        let mut last: Option<(Folded, Zone)> = None;
        for round in 0..40_000 {
            let layout = layout(5, 1 + round / 20_000);
            if round == 20_000 {
                last = None;
            }
            let mut starts = vec![0];
            starts.extend((1..5).filter(|_| rng.chance(40)));
            let Some(mut zone) = symmetric(&mut rng, &layout, &starts) else {
                continue;
            };
            // Often a zone that contains the last one or lies in it.
            if let Some((_, other)) = last.as_ref().filter(|_| rng.chance(50)) {
                zone = other.clone();
                let coarse = &last.as_ref().expect("a zone").0.starts;
                starts.extend(coarse);
                starts.sort_unstable();
                starts.dedup();
                let Some(more) = symmetric(&mut rng, &layout, &starts) else {
                    continue;
                };
                if !zone.intersect(&more) {
                    continue;
                }
            }
            let mut folded = Folded::empty();
            layout.fold(&zone, &starts, &mut folded);
            let back = Shape::Folded(&folded, &layout).whole().into_owned();
            assert_eq!(back, zone, "{starts:?}");
            if let Some((other, whole)) = &last {
                let relation = zone.relation(whole);
                assert_eq!(layout.relation(&folded, other), relation);
                assert_eq!(layout.relation(other, &folded), whole.relation(&zone));
                related += usize::from(relation != Relation::Different);
                apart += usize::from(folded.starts != other.starts);
            }
            last = Some((folded, zone));
        }
        assert!(related > 2_000 && apart > 2_000, "{related} {apart}");
    }
}
