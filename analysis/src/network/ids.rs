//! Ids of the parts of a network, one type for each kind, and the tables that they index.
//!
//! A clock cannot index cells: a [`Table`] takes only its own ids.
//!
//! Locations and slots are plain numbers: they are stored in states and frames among other numbers,
//! and mean something only together with their process or frame.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut};

/// The index of a location within its process.
pub type LocationId = u32;
/// A slot of a frame: it holds a select, quantifier or loop variable, a function parameter or a
/// local variable.
pub type Slot = u32;

/// An id: the position of a thing among its kind.
pub trait Id: Copy {
    /// The position.
    fn index(self) -> usize;
    /// The id of the thing at `index`. Networks are bounded, so 32 bits are enough.
    fn at(index: usize) -> Self;
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl Id for $name {
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }

            #[inline]
            fn at(index: usize) -> Self {
                $name(index as u32)
            }
        }

        impl $name {
            /// The position.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The distance from an earlier id.
            #[inline]
            pub fn since(self, earlier: Self) -> u32 {
                self.0 - earlier.0
            }

            /// The id `distance` after this one.
            #[inline]
            pub fn plus(self, distance: u32) -> Self {
                $name(self.0 + distance)
            }
        }
    )*};
}

ids! {
    /// An integer cell of the state.
    CellId
    /// A clock; clock 0 is the first real clock (the reference clock of a DBM is not counted).
    ClockId
    /// A channel (an element of a channel array).
    ChannelId
    /// A process.
    ProcessId
    /// A function of the network.
    FunctionId
    /// A scalarset of the network.
    ScalarsetId
    /// A declared variable.
    VariableId
}

/// Things of one kind, indexed by their ids.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<I, T> {
    entries: Vec<T>,
    id: PhantomData<I>,
}

impl<I, T> Default for Table<I, T> {
    fn default() -> Self {
        Table::from(Vec::new())
    }
}

impl<I, T> From<Vec<T>> for Table<I, T> {
    fn from(entries: Vec<T>) -> Self {
        Table {
            entries,
            id: PhantomData,
        }
    }
}

impl<I: Id, T> Table<I, T> {
    /// The id of the next entry.
    pub fn next_id(&self) -> I {
        I::at(self.entries.len())
    }

    /// Adds an entry and returns its id.
    pub fn push(&mut self, entry: T) -> I {
        let id = self.next_id();
        self.entries.push(entry);
        id
    }

    /// The entry of an id, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.entries.get(id.index())
    }

    /// The entry of an id to be changed, if there is one.
    pub fn get_mut(&mut self, id: I) -> Option<&mut T> {
        self.entries.get_mut(id.index())
    }

    /// The ids of the entries, in order.
    pub fn ids(&self) -> impl Iterator<Item = I> + use<I, T> {
        (0..self.entries.len()).map(I::at)
    }

    /// The entries with their ids.
    pub fn enumerated(&self) -> impl Iterator<Item = (I, &T)> {
        (self.entries.iter().enumerate()).map(|(k, entry)| (I::at(k), entry))
    }
}

impl<I: Id, T> Index<I> for Table<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.entries[id.index()]
    }
}

impl<I: Id, T> IndexMut<I> for Table<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.entries[id.index()]
    }
}

impl<I, T> Deref for Table<I, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.entries
    }
}

impl<I, T> DerefMut for Table<I, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.entries
    }
}

impl<I, T> Extend<T> for Table<I, T> {
    fn extend<E: IntoIterator<Item = T>>(&mut self, entries: E) {
        self.entries.extend(entries);
    }
}

impl<'a, I, T> IntoIterator for &'a Table<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.iter()
    }
}
