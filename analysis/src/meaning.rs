//! A digest of what a network and a query mean: the key of cached verdicts.
//!
//! Equal digests mean equal answers. Spans, comments, layout and templates without instances are not in a network, or
//! are left out here, and so are global variables that no process, called function or query mentions, and functions
//! that nothing calls: whether they are there or not, nobody can tell. Everything else counts: a process may block time
//! for all others. Names of processes, locations and variables are in, because traces show them: renaming one makes
//! results stale, which is safe. Every field is named below, so that a new one cannot be forgotten.

mod code;
mod parts;

use crate::network::{Network, Query};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A digest of 256 bits.
pub type Fingerprint = [u8; 32];

/// The digest of a network, with what of it counts whatever is asked.
#[derive(Clone, Debug)]
pub struct Digested {
    uses: Uses,
    fingerprint: Fingerprint,
}

/// The digest of a network.
pub fn of_network(network: &Network) -> Digested {
    let uses = Uses::of(network, None);
    Digested {
        fingerprint: written(network, &uses, None),
        uses,
    }
}

/// The digest of a query asked of a network.
pub fn of_question(network: &Network, digested: &Digested, query: &Query) -> Fingerprint {
    let uses = Uses::of(network, Some((query, &digested.uses)));
    let own;
    let base = if uses == digested.uses {
        &digested.fingerprint
    } else {
        // The query mentions what nothing else does.
        own = written(network, &uses, None);
        &own
    };
    let mut hash = Sha256::new();
    hash.update(base);
    hash.update(written(network, &uses, Some(query)));
    hash.finalize().into()
}

fn written(network: &Network, uses: &Uses, query: Option<&Query>) -> Fingerprint {
    let mut sink = Sink {
        network,
        hash: Some((Sha256::new(), Numbers::of(network, uses))),
        uses: uses.clone(),
        calls: Vec::new(),
    };
    match query {
        Some(query) => query.feed(&mut sink),
        None => network.feed(&mut sink),
    }
    let (hash, _) = sink
        .hash
        .unwrap_or_else(|| (Sha256::new(), Numbers::default()));
    hash.finalize().into()
}

/// Variables and functions that count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Uses {
    variables: BTreeSet<u32>,
    functions: BTreeSet<u32>,
}

impl Uses {
    /// What processes and updates mention, and the query on top of what was found before.
    fn of(network: &Network, query: Option<(&Query, &Uses)>) -> Uses {
        let mut sink = Sink {
            network,
            hash: None,
            uses: query.map(|(_, before)| before.clone()).unwrap_or_default(),
            calls: Vec::new(),
        };
        match query {
            Some((query, _)) => query.feed(&mut sink),
            None => {
                // Locals lie in strides that references across a family count by, so all of them stay.
                let locals = network.variables.iter().enumerate();
                let locals = locals.filter(|(_, v)| v.process.is_some());
                sink.uses.variables.extend(locals.map(|(i, _)| i as u32));
                network.processes.feed(&mut sink);
                network.before_update.feed(&mut sink);
                network.after_update.feed(&mut sink);
            }
        }
        while let Some(function) = sink.calls.pop() {
            if let Some(function) = network.functions.get(function as usize) {
                function.feed(&mut sink);
            }
        }
        sink.uses
    }
}

/// Where things would be if only what counts were there.
#[derive(Default)]
struct Numbers {
    variables: Vec<u32>,
    cells: Vec<u32>,
    clocks: Vec<u32>,
    channels: Vec<u32>,
    functions: Vec<u32>,
}

impl Numbers {
    fn of(network: &Network, uses: &Uses) -> Numbers {
        // What does not count has a number too, that of the next that does: nobody asks for it.
        // So does the end, where a variable starts that has nothing of this kind.
        let count = |flags: &mut dyn Iterator<Item = bool>| {
            let mut numbers = vec![0];
            let mut next = 0;
            for used in flags {
                next += u32::from(used);
                numbers.push(next);
            }
            numbers
        };
        let used = |variable: u32| uses.variables.contains(&variable);
        let variables = 0..network.variables.len() as u32;
        let functions = 0..network.functions.len() as u32;
        Numbers {
            variables: count(&mut variables.map(used)),
            cells: count(&mut network.cells.iter().map(|c| used(c.variable))),
            clocks: count(&mut network.clocks.iter().map(|c| used(c.variable))),
            channels: count(&mut network.channels.iter().map(|c| used(c.variable))),
            functions: count(&mut functions.map(|f| uses.functions.contains(&f))),
        }
    }
}

/// What is fed: without a hash it only notes what is mentioned.
struct Sink<'a> {
    network: &'a Network,
    hash: Option<(Sha256, Numbers)>,
    uses: Uses,
    /// Functions that were met and not looked into yet.
    calls: Vec<u32>,
}

impl Sink<'_> {
    fn bytes(&mut self, bytes: &[u8]) {
        if let Some((hash, _)) = &mut self.hash {
            hash.update(bytes);
        }
    }

    fn number(&mut self, value: impl Into<i64>) {
        self.bytes(&value.into().to_le_bytes());
    }

    fn text(&mut self, value: &str) {
        self.bytes(&(value.len() as u64).to_le_bytes());
        self.bytes(value.as_bytes());
    }

    /// For enums without fields, whose `Debug` form is their name.
    fn name(&mut self, value: impl std::fmt::Debug) {
        if self.hash.is_some() {
            self.text(&format!("{value:?}"));
        }
    }

    /// A number under what counts.
    fn renumbered(&mut self, id: u32, of: fn(&Numbers) -> &Vec<u32>) {
        if let Some((_, numbers)) = &self.hash {
            let new = of(numbers).get(id as usize).copied().unwrap_or(id);
            self.number(new);
        }
    }

    fn variable(&mut self, id: u32) {
        self.renumbered(id, |n| &n.variables);
    }

    fn cell(&mut self, id: u32) {
        let variable = self.network.cells.get(id as usize).map(|c| c.variable);
        self.uses.variables.extend(variable);
        self.renumbered(id, |n| &n.cells);
    }

    fn clock(&mut self, id: u32) {
        let variable = self.network.clocks.get(id as usize).map(|c| c.variable);
        self.uses.variables.extend(variable);
        self.renumbered(id, |n| &n.clocks);
    }

    fn channel(&mut self, id: u32) {
        let variable = self.network.channels.get(id as usize).map(|c| c.variable);
        self.uses.variables.extend(variable);
        self.renumbered(id, |n| &n.channels);
    }

    fn function(&mut self, id: u32) {
        if self.uses.functions.insert(id) {
            self.calls.push(id);
        }
        self.renumbered(id, |n| &n.functions);
    }
}

trait Feed {
    fn feed(&self, sink: &mut Sink<'_>);
}

#[cfg(test)]
mod tests;
