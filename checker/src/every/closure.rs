//! The closure of views: what k elements of a set do together, whatever the others do.
//!
//! A *view* is a part of a configuration with k elements: the fixed part (global variables,
//! processes without an element, their clocks) and the processes, variables and clocks of these
//! elements; a variable with an element outside holds *other*. Discrete views are stored up to
//! renaming their elements, each with zones, in all orders of elements that are alike. The method
//! is view abstraction (Abdulla, Haziza, Holík, *All for the price of few*, VMCAI 2013; Lowe, *View
//! abstraction for systems with component identities*, FM 2018), here over zones.
//!
//! **Theorem.** Let V be the set of views when nothing is new. For every n >= k, every reachable
//! configuration c with n elements and every set A of k of them, the part of c with A is in V.
//!
//! *Proof*, by induction over the steps of a run; `docs/every-size.md` has it in full. The start:
//! all elements start alike, and all variables with elements hold the same element, which is in A
//! or not. Both parts are inserted, with their delays (`start`).
//!
//! A step from c to c', delay included: let M be the elements whose parts it reads or writes. They
//! are those of its moving processes, and values of `select` variables and of the fixed part that
//! are used as indices (one that is only compared or copied may be *other*);
//! `analysis::every::names` bounds their number for each step by counting these sources in the
//! text. (Receivers of a broadcast do not count: those outside change only themselves, because
//! `analysis::every` refuses all others.) All parts of B = A + M with k elements are parts of c, so
//! they are in V. `explore` builds every such B: it begins with any view, adds one element after
//! the other, each time from a view that shares k - 1 elements with what is there, and keeps a
//! configuration only if all its parts with k elements are views; `joined` meets one zone of each
//! of these views, and the clock values of c lie in that intersection for the zones that contain
//! its parts. Steps that touch fewer elements than were added are skipped: for them a smaller B
//! will do.
//!
//! *Lemma.* Replace every name outside B by *other*. Each expression that the step evaluates has in
//! B, for some choice of the open values, the value it has in c; if no value was open, it has this
//! value. The cases are at the head of `eval.rs` (values), and of `condition.rs` (clocks): members
//! and *other* differ, two *others* are open; `forall` that is true on the members and `exists`
//! that is false on them are open; connectives, branches, calls and assignments follow the choice;
//! the part of *other* is not read in a step, because its element is in M. Invariants count only
//! where no choice is open.
//!
//! So the step is possible in B, with the same effect on B: guards hold for some choice; what is
//! committed, urgent or certain to be received in B is so in c, hence what B forbids is forbidden
//! in c (a broadcast that a committed element outside may receive is never forbidden); invariants
//! of B hold in c, and time that passes in c may pass in B. The part of c' with A is a part of the
//! successor, which `project` inserts. Widening and hulls only add points, and `insert` leaves a
//! zone out only if V has one that contains it. An evaluation that fails ends the closure without a
//! proof; one that fails in c fails in some B, as it depends on the elements of M and at most k
//! more.
//!
//! It is enough to combine a new zone with all that are known: each B with a new zone in one of its
//! parts is built when that zone is taken from the queue, with this part as its first k elements. ∎
//!
//! The cost is the number of configurations of k + m elements times that of their zones. Hulls keep
//! one zone for each discrete view.

use super::eval::{Eval, Halt, broken};
use super::state::{Discrete, OTHER, State, permutations, subsets};
use super::steps::Rules;
use super::widen::Widening;
use crate::bounds::abstraction::{extra_lu_plus, extra_m};
use crate::mutation::{Mutation, is_on};
use crate::search::limits::{Counts, Stop, Watch};
use crate::zone::Zone;
use rustc_hash::FxHashMap;
use std::collections::{BTreeSet, VecDeque};
use zonelens_analysis::network::{CellId, ClockId, Expr, Id};

/// A claim: its condition, the size of its frame, and the value that violates it.
#[derive(Clone, Copy)]
pub(crate) struct Claim<'a> {
    pub condition: &'a Expr,
    pub frame: u32,
    pub want: bool,
}

/// How a closure ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// No view violates the claim; with the number of zones.
    Holds(u64),
    /// A view may violate it.
    Violated,
    /// Something cannot be followed, or may fail.
    Stuck(String),
    /// A limit was reached.
    Stopped(Stop),
}

/// A member that a view adds to fewer: its part, and the entries of the fixed part that hold it.
type Extension = (Vec<i64>, Vec<usize>);

/// A discrete view and its zones.
struct View {
    discrete: Discrete,
    zones: Vec<Zone>,
}

/// The closure of one claim for views of one size.
pub(crate) struct Closure<'a, 'w> {
    rules: &'a Rules<'a>,
    widening: &'a Widening,
    claim: Claim<'a>,
    /// The size of views.
    k: usize,
    /// The most elements that a step touches.
    movers: usize,
    /// Whether one zone contains all zones of a discrete view.
    hulls: bool,
    views: Vec<View>,
    known: FxHashMap<Discrete, usize>,
    /// For each configuration of `k - 1` members in some order, the members that views add to it.
    extensions: FxHashMap<Discrete, BTreeSet<Extension>>,
    work: VecDeque<(usize, Zone)>,
    queued: Vec<bool>,
    violated: bool,
    stopped: Option<Stop>,
    watch: &'a mut Watch<'w>,
    counts: Counts,
    zones: u64,
}

impl<'a, 'w> Closure<'a, 'w> {
    pub(crate) fn new(
        rules: &'a Rules<'a>,
        widening: &'a Widening,
        claim: Claim<'a>,
        (k, movers, hulls): (usize, usize, bool),
        watch: &'a mut Watch<'w>,
    ) -> Closure<'a, 'w> {
        Closure {
            rules,
            widening,
            claim,
            k,
            movers,
            hulls,
            views: Vec::new(),
            known: FxHashMap::default(),
            extensions: FxHashMap::default(),
            work: VecDeque::new(),
            queued: Vec::new(),
            violated: false,
            stopped: None,
            watch,
            counts: Counts::default(),
            zones: 0,
        }
    }

    /// Computes the closure.
    pub(crate) fn run(mut self) -> Outcome {
        let result = self.close();
        let counts = Counts {
            stored: self.zones,
            ..self.counts
        };
        self.watch.add(counts);
        match result {
            _ if self.violated => Outcome::Violated,
            _ if self.stopped.is_some() => self.stopped.map_or(Outcome::Violated, Outcome::Stopped),
            Ok(()) => Outcome::Holds(self.zones),
            Err(Halt::Broken(message, _)) => Outcome::Stuck(message),
            Err(Halt::Unseen) => Outcome::Stuck("the part of an element outside is read".into()),
        }
    }

    /// Whether the zones of a view are the same in all orders of members that are alike, after one
    /// is added in which the first member of an initial view has the smaller clock.
    #[cfg(test)]
    pub(crate) fn keeps_all_orders(mut self) -> bool {
        use crate::zone::bound::{le, lt};
        let started = self.start().is_ok();
        let alike = |v: &View| v.discrete.canonical().1.len() > 1;
        let Some(view) = self.views.iter().position(alike) else {
            return false;
        };
        let discrete = self.views[view].discrete.clone();
        let mut zone = Zone::universe(self.rules.dim(self.k));
        let first = 1 + self.rules.clocks().0;
        zone.and(first, 0, le(1));
        zone.and(0, first + 1, lt(-2));
        let inserted = self.insert(&discrete, zone).is_ok();
        let view = &self.views[view];
        let same = discrete.canonical().1.iter().all(|order| {
            let map = self.clock_map(order);
            view.zones.iter().all(|zone| {
                let mut renamed = Zone::universe(map.len());
                meet(&mut renamed, zone, &map);
                view.zones.iter().any(|z| z.includes(&renamed))
            })
        });
        started && inserted && same
    }

    /// Whether the computation ends here.
    fn ends(&mut self) -> bool {
        if self.violated || self.stopped.is_some() {
            return true;
        }
        let counts = Counts {
            stored: self.zones,
            waiting: self.work.len() as u64,
            ..self.counts
        };
        self.stopped = self.watch.check(|| counts);
        self.stopped.is_some()
    }

    fn close(&mut self) -> Eval<()> {
        self.start()?;
        while let Some((view, zone)) = self.work.pop_front() {
            if self.ends() {
                return Ok(());
            }
            let zone = match self.hulls {
                true => {
                    self.queued[view] = false;
                    self.views[view].zones[0].clone()
                }
                false => zone,
            };
            self.counts.explored += 1;
            let base = self.views[view].discrete.clone();
            self.explore(&base, vec![zone])?;
        }
        Ok(())
    }

    /// The projections of the initial configuration. All element-valued data start at one element:
    /// it is a member, or it is not.
    fn start(&mut self) -> Eval<()> {
        let (network, layout) = (self.rules.network, self.rules.layout);
        let (lo, hi) = (layout.first, layout.first + layout.size as i32);
        let holds = |c: &&usize| {
            let cell = &network.cells[CellId::at(**c)];
            cell.scalarset == Some(layout.set) && (lo..hi).contains(&cell.init)
        };
        let named: Vec<usize> = layout.fixed_cells.iter().filter(holds).copied().collect();
        let starts: &[i64] = match named.is_empty() {
            true => &[OTHER],
            false => &[i64::from(lo), OTHER],
        };
        for value in starts {
            let mut state = State {
                members: self.k,
                locations: network.processes.iter().map(|p| p.initial).collect(),
                cells: network.cells.iter().map(|c| i64::from(c.init)).collect(),
            };
            named.iter().for_each(|c| state.cells[*c] = *value);
            let mut zone = Zone::universe(self.rules.dim(self.k));
            let init = |c: usize| i64::from(network.clocks[ClockId::at(c)].init);
            let own = layout.clocks.iter().take(self.k).flatten();
            for (x, c) in layout.fixed_clocks.iter().chain(own).enumerate() {
                zone.set(x + 1, init(*c));
            }
            match self.rules.wait(&state, zone)? {
                Some(zone) => {
                    let discrete = state.discrete(network, layout);
                    self.insert(&discrete, zone)?;
                }
                None => return broken("the initial state violates an invariant"),
            }
        }
        Ok(())
    }

    /// Takes the steps of a configuration that touch its elements beyond the first `k`, then adds
    /// one more element. The first `k` elements are a view with a new zone.
    fn explore(&mut self, b: &Discrete, zones: Vec<Zone>) -> Eval<()> {
        let (network, layout) = (self.rules.network, self.rules.layout);
        let beyond = b.parts.len() - self.k;
        let state = State::of(network, layout, b);
        let rules = self.rules;
        for zone in &zones {
            if self.ends() {
                return Ok(());
            }
            rules.successors(&state, zone, beyond as u32, &mut |state, zone| {
                self.counts.transitions += 1;
                self.project(&state, &zone)
            })?;
        }
        if beyond == self.movers {
            return Ok(());
        }
        let shared: Vec<usize> = (0..self.k - 1).collect();
        let key = b.restrict(&shared);
        let Some(extensions) = self.extensions.get(&key).cloned() else {
            return Ok(());
        };
        for (part, held) in extensions {
            if let Some(next) = b.with(part, &held) {
                let zones = self.joined(&next, &zones);
                if !zones.is_empty() {
                    self.explore(&next, zones)?;
                }
            }
            if self.ends() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// The zones of a configuration with one more element: the given ones of all others, met with
    /// one zone of each view that has the new element.
    fn joined(&mut self, b: &Discrete, zones: &[Zone]) -> Vec<Zone> {
        let members = b.parts.len();
        let dim = self.rules.dim(members);
        let lift = |z: &Zone| {
            let map: Vec<usize> = (0..z.dim()).collect();
            let mut lifted = Zone::universe(dim);
            meet(&mut lifted, z, &map).then_some(lifted)
        };
        let mut out: Vec<Zone> = zones.iter().filter_map(lift).collect();
        for mut others in subsets(members - 1, self.k - 1) {
            others.push(members - 1);
            let (canonical, orders) = b.restrict(&others).canonical();
            let Some(&view) = self.known.get(&canonical) else {
                return Vec::new();
            };
            // The zones of a view are the same in all its orders.
            let order: Vec<usize> = orders[0].iter().map(|o| others[*o]).collect();
            let map = self.clock_map(&order);
            let mut next = Vec::new();
            for zone in &out {
                for part in &self.views[view].zones {
                    let mut both = zone.clone();
                    if meet(&mut both, part, &map) {
                        next.push(both);
                    }
                }
                if next.len() % 64 == 63 && self.ends() {
                    return Vec::new();
                }
            }
            crate::zone::drop_included(&mut next);
            out = next;
        }
        out
    }

    /// For the clocks of a view of these members, the clocks of the configuration.
    fn clock_map(&self, members: &[usize]) -> Vec<usize> {
        let (fixed, own) = self.rules.clocks();
        let of = |m: &usize| 1 + fixed + m * own..1 + fixed + (m + 1) * own;
        (0..=fixed).chain(members.iter().flat_map(of)).collect()
    }

    /// Adds all projections of a configuration.
    fn project(&mut self, state: &State, zone: &Zone) -> Eval<()> {
        let b = state.discrete(self.rules.network, self.rules.layout);
        for members in subsets(state.members, self.k) {
            let map = self.clock_map(&members);
            let mut part = Zone::universe(map.len());
            let raw = part.raw_mut();
            for (i, x) in map.iter().enumerate() {
                for (j, y) in map.iter().enumerate() {
                    raw[i * map.len() + j] = zone.at(*x, *y);
                }
            }
            // A part of a closed matrix is closed.
            self.insert(&b.restrict(&members), part)?;
        }
        Ok(())
    }

    /// Adds a zone of a view, in all orders of members that are alike: which of them comes first in
    /// another configuration is not known.
    fn insert(&mut self, discrete: &Discrete, zone: Zone) -> Eval<()> {
        let (canonical, mut orders) = discrete.canonical();
        if is_on(Mutation::EveryOneOrder) {
            orders.truncate(1);
        }
        for order in orders {
            let map = self.clock_map(&order);
            let mut sorted = Zone::universe(map.len());
            let raw = sorted.raw_mut();
            for (i, x) in map.iter().enumerate() {
                for (j, y) in map.iter().enumerate() {
                    raw[i * map.len() + j] = zone.at(*x, *y);
                }
            }
            self.insert_sorted(canonical.clone(), sorted)?;
        }
        Ok(())
    }

    /// Adds a zone of a view in its own order, widened.
    fn insert_sorted(&mut self, canonical: Discrete, mut zone: Zone) -> Eval<()> {
        let (network, layout) = (self.rules.network, self.rules.layout);
        let state = State::of(network, layout, &canonical);
        let (l, u) = self.widening.of(layout, &state);
        let known = self.known.get(&canonical).copied();
        if let (Some(view), true) = (known, self.hulls) {
            let old = &self.views[view].zones[0];
            if old.includes(&zone) {
                return Ok(());
            }
            zone.hull(old);
        }
        match self.hulls {
            true => extra_lu_plus(&mut zone, &l, &u),
            false => extra_m(&mut zone, &l, &u),
        }
        if zone.overflowed() {
            return broken("a clock bound grew beyond 2^27");
        }
        let view = match known {
            Some(view) => view,
            None => self.add(canonical),
        };
        let zones = &mut self.views[view].zones;
        if zones.iter().any(|z| z.includes(&zone)) {
            return Ok(());
        }
        let before = zones.len();
        zones.retain(|z| !zone.includes(z));
        zones.push(zone.clone());
        let bytes = (4 * zone.dim() * zone.dim() + 64) as u64;
        self.counts.bytes += bytes;
        self.zones = self.zones + zones.len() as u64 - before as u64;
        let (claim, want) = ((self.claim.condition, self.claim.frame), self.claim.want);
        self.violated |= self.rules.violates(&state, &zone, claim, want)?;
        if !self.hulls || !std::mem::replace(&mut self.queued[view], true) {
            self.work.push_back((view, zone));
        }
        Ok(())
    }

    /// Adds a discrete view, with what it says about extensions of smaller configurations.
    fn add(&mut self, canonical: Discrete) -> usize {
        let view = self.views.len();
        self.counts.bytes += 4 * canonical.bytes();
        for order in permutations(self.k) {
            let renamed = canonical.restrict(&order);
            let shared: Vec<usize> = (0..self.k - 1).collect();
            let held = renamed.holding(self.k - 1);
            let part = renamed.parts[self.k - 1].clone();
            let key = renamed.restrict(&shared);
            self.extensions.entry(key).or_default().insert((part, held));
        }
        self.known.insert(canonical.clone(), view);
        self.views.push(View {
            discrete: canonical,
            zones: Vec::new(),
        });
        self.queued.push(false);
        view
    }
}

/// Intersects with a zone over some of the clocks; false if nothing is left.
fn meet(zone: &mut Zone, part: &Zone, map: &[usize]) -> bool {
    let dim = zone.dim();
    let raw = zone.raw_mut();
    for (i, x) in map.iter().enumerate() {
        for (j, y) in map.iter().enumerate() {
            let entry = &mut raw[x * dim + y];
            *entry = part.at(i, j).min(*entry);
        }
    }
    zone.close() && !zone.is_empty()
}
