//! A digest of the meaning of a network and a query: the key of cached verdicts.
//!
//! Equal digests mean equal answers. The digest leaves out everything that cannot affect an answer:
//! spans, comments, layout, templates without instances (some of these are not in the network in
//! the first place), global variables that no process, called function or query mentions, and
//! functions that are never called. Everything else counts: a process may block time for all
//! others. Names of processes, locations and variables count because traces show them: renaming one
//! makes results stale, which is safe. The code destructures every field by name, so that a new one
//! cannot be forgotten.

mod code;
mod parts;

use crate::network::{CellId, ChannelId, ClockId, FunctionId, Id, Network, Query, VariableId};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A digest of 256 bits.
pub type Fingerprint = [u8; 32];

/// The digest of a network, with the variables and functions that count for every query.
#[derive(Clone, Debug)]
pub struct Digested {
    uses: Uses,
    fingerprint: Fingerprint,
}

impl Digested {
    /// The digest of the network alone: what a simulation belongs to.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }
}

/// Computes the digest of a network.
pub fn of_network(network: &Network) -> Digested {
    let uses = Uses::of(network, None);
    Digested {
        fingerprint: written(network, &uses, None),
        uses,
    }
}

/// Computes the digest of a query on a network.
pub fn of_question(network: &Network, digested: &Digested, query: &Query) -> Fingerprint {
    let uses = Uses::of(network, Some((query, &digested.uses)));
    let own;
    let base = if uses == digested.uses {
        &digested.fingerprint
    } else {
        // The query mentions a variable or function that nothing else does.
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

/// Variables and functions that affect answers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Uses {
    variables: BTreeSet<VariableId>,
    functions: BTreeSet<FunctionId>,
}

impl Uses {
    /// Collects what processes and updates mention or, with a query, adds what the query mentions.
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
                // References across a family address locals by a fixed stride, so all locals count.
                let locals = network.variables.enumerated();
                let locals = locals.filter(|(_, v)| v.process.is_some());
                sink.uses.variables.extend(locals.map(|(id, _)| id));
                network.processes.feed(&mut sink);
                network.before_update.feed(&mut sink);
                network.after_update.feed(&mut sink);
            }
        }
        while let Some(function) = sink.calls.pop() {
            if let Some(function) = network.functions.get(function) {
                function.feed(&mut sink);
            }
        }
        sink.uses
    }
}

/// The ids that things would have if only those that count existed.
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
        // An id that does not count gets the number of the next one that does; it is never used.
        // The end gets one too: a variable without cells, clocks or channels may start there.
        let count = |flags: &mut dyn Iterator<Item = bool>| {
            let mut numbers = vec![0];
            let mut next = 0;
            for used in flags {
                next += u32::from(used);
                numbers.push(next);
            }
            numbers
        };
        let used = |variable: VariableId| uses.variables.contains(&variable);
        let variables = network.variables.ids();
        let functions = network.functions.ids();
        Numbers {
            variables: count(&mut variables.map(used)),
            cells: count(&mut network.cells.iter().map(|c| used(c.variable))),
            clocks: count(&mut network.clocks.iter().map(|c| used(c.variable))),
            channels: count(&mut network.channels.iter().map(|c| used(c.variable))),
            functions: count(&mut functions.map(|f| uses.functions.contains(&f))),
        }
    }
}

/// Receives the parts of a network. Without a hash it only records what is mentioned.
struct Sink<'a> {
    network: &'a Network,
    hash: Option<(Sha256, Numbers)>,
    uses: Uses,
    /// Functions that were mentioned and not visited yet.
    calls: Vec<FunctionId>,
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

    /// Feeds an enum without fields by its `Debug` form, which is its name.
    fn name(&mut self, value: impl std::fmt::Debug) {
        if self.hash.is_some() {
            self.text(&format!("{value:?}"));
        }
    }

    /// Feeds an id, renumbered among those that count.
    fn renumbered(&mut self, id: impl Id, of: fn(&Numbers) -> &Vec<u32>) {
        if let Some((_, numbers)) = &self.hash {
            let new = of(numbers).get(id.index()).copied();
            let new = new.unwrap_or(id.index() as u32);
            self.number(new);
        }
    }

    fn variable(&mut self, id: VariableId) {
        self.renumbered(id, |n| &n.variables);
    }

    fn cell(&mut self, id: CellId) {
        let variable = self.network.cells.get(id).map(|c| c.variable);
        self.uses.variables.extend(variable);
        self.renumbered(id, |n| &n.cells);
    }

    fn clock(&mut self, id: ClockId) {
        let variable = self.network.clocks.get(id).map(|c| c.variable);
        self.uses.variables.extend(variable);
        self.renumbered(id, |n| &n.clocks);
    }

    fn channel(&mut self, id: ChannelId) {
        let variable = self.network.channels.get(id).map(|c| c.variable);
        self.uses.variables.extend(variable);
        self.renumbered(id, |n| &n.channels);
    }

    fn function(&mut self, id: FunctionId) {
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
