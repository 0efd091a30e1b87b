//! `--audit-symmetry`: checks the assumptions of the reduction on states of the run.
//!
//! For a state q and a swap π of two elements that the run treats as interchangeable, it checks
//! that `succ(π(q)) = π(succ(q))`, that the query has the same value in q and in π(q), and that
//! `θ(π(q)) = θ(q)` if the representative is canonical. The first states are checked with every
//! swap if there are not too many; later states are sampled and checked with a few swaps. A query
//! that names elements is evaluated for whole orbits, so it may differ under swaps of those
//! elements.

use super::permutation::Permutation;
use super::representative::Representative;
use super::tables::Tables;
use crate::graph::expander::Expander;
use crate::graph::goal::Goal;
use crate::program::Measured;
use crate::program::{Fault, Formula, Program};
use crate::zone::{Federation, Zone, subtract_all};
use zonelens_analysis::report::AuditReport;
use zonelens_interpreter::Rng;

/// Checks states during a run.
pub(crate) struct Audit<'p> {
    rng: Rng,
    countdown: u32,
    /// The conditions of the query.
    conditions: Vec<Goal<'p>>,
    measured: &'p [Measured],
    /// Evaluates the measured expressions.
    expander: Option<Expander<'p>>,
    frame: u32,
    /// The elements that the query names although they are permuted, by set.
    named: Vec<(usize, u16)>,
    done: AuditReport,
}

/// This many states at the start are all checked, with all swaps.
const EVERY_STATE: u64 = 1_000;
/// After that, one in this many explored states is checked.
const INTERVAL: u32 = 16;
/// The number of swaps for a state that is checked later.
const SOME_SWAPS: usize = 3;
/// The most swaps for a state of a model with many elements.
const MOST_SWAPS: usize = 64;

type Successors = Vec<(Vec<i32>, Vec<i32>)>;
/// Successor states with their zones; `None` if they cannot be compared.
type Comparable = Option<Vec<(Vec<i32>, Zone)>>;
/// A set and two of its elements.
type Swap = (usize, u16, u16);

impl<'p> Audit<'p> {
    /// Creates an audit with a seed for the samples.
    pub(crate) fn new(seed: u64) -> Audit<'p> {
        Audit {
            rng: Rng::new(seed),
            countdown: 1,
            conditions: Vec::new(),
            measured: &[],
            expander: None,
            frame: 0,
            named: Vec::new(),
            done: AuditReport::default(),
        }
    }

    /// Also compares the conditions of the query.
    pub(crate) fn conditions(
        mut self,
        program: &'p Program,
        frame: u32,
        conditions: impl IntoIterator<Item = &'p Formula>,
    ) -> Audit<'p> {
        let conditions = conditions.into_iter();
        self.conditions = conditions
            .map(|f| Goal::new(program, f, frame, true))
            .collect();
        self.frame = frame;
        self
    }

    /// Also compares what the query measures.
    pub(crate) fn measuring(mut self, program: &'p Program, measured: &'p [Measured]) -> Audit<'p> {
        self.expander = Some(Expander::new(program));
        self.measured = measured;
        self
    }

    /// Declares that the query is evaluated for whole orbits, because it names these elements.
    pub(crate) fn naming(mut self, named: Vec<(usize, u16)>) -> Audit<'p> {
        self.named = named;
        self
    }

    /// What was checked so far.
    pub(crate) fn done(&self) -> &AuditReport {
        &self.done
    }

    /// Adds what another thread checked.
    pub(crate) fn absorb(&mut self, other: &Audit<'_>) {
        self.done.states += other.done.states;
        self.done.swaps += other.done.swaps;
    }

    /// Makes sure that the next state is checked.
    pub(crate) fn now(&mut self) {
        self.countdown = 1;
    }

    /// Checks a state, or skips it if it is not sampled; returns a message if symmetry is broken
    /// there.
    pub(crate) fn check(
        &mut self,
        representative: &mut Representative,
        expander: &mut Expander<'_>,
        state: &[i32],
        zone: &Zone,
    ) -> Result<Option<String>, Fault> {
        self.countdown -= 1;
        if self.countdown > 0 {
            return Ok(None);
        }
        let early = self.done.states < EVERY_STATE;
        self.countdown = if early { 1 } else { INTERVAL };
        let swaps = self.swaps(representative.tables(), early);
        if swaps.is_empty() {
            return Ok(None);
        }
        self.done.states += 1;
        let here = successors(expander, state, zone)?;
        for swap in swaps {
            self.done.swaps += 1;
            let found = self.swapped(representative, expander, swap, &here, state, zone)?;
            if let Some(what) = found {
                let (set, a, b) = swap;
                let id = representative.tables().sets[set].id.0;
                return Ok(Some(format!(
                    "swapping elements {a} and {b} of scalarset number {id} changes {what} of a state: {state:?}"
                )));
            }
        }
        Ok(None)
    }

    /// All swaps, or a sample of them.
    fn swaps(&mut self, tables: &Tables, early: bool) -> Vec<Swap> {
        let blocks = tables.sets.iter().enumerate();
        let blocks: Vec<(usize, &Vec<u16>)> = blocks
            .flat_map(|(s, set)| set.blocks.iter().map(move |b| (s, b)))
            .filter(|(_, b)| b.len() > 1)
            .collect();
        let pairs = blocks.iter().map(|(_, b)| b.len() * (b.len() - 1) / 2);
        if blocks.is_empty() || early && pairs.sum::<usize>() <= MOST_SWAPS {
            let mut all = Vec::new();
            for (set, block) in blocks {
                for (k, a) in block.iter().enumerate() {
                    all.extend(block[k + 1..].iter().map(|b| (set, *a, *b)));
                }
            }
            return all;
        }
        let mut any = || {
            let (set, block) = blocks[self.rng.below(blocks.len())];
            let a = self.rng.below(block.len());
            let b = (a + 1 + self.rng.below(block.len() - 1)) % block.len();
            (set, block[a], block[b])
        };
        (0..SOME_SWAPS).map(|_| any()).collect()
    }

    /// Describes the first difference that a swap makes and must not make.
    fn swapped(
        &mut self,
        representative: &mut Representative,
        expander: &mut Expander<'_>,
        (set, a, b): Swap,
        here: &Comparable,
        state: &[i32],
        zone: &Zone,
    ) -> Result<Option<&'static str>, Fault> {
        let tables = representative.tables();
        let mut swap = Permutation::identity(tables.sets.iter().map(|s| s.size));
        swap.0[set].swap(a as usize, b as usize);
        let (moved, image) = tables.apply(&swap, state, zone);
        let there = successors(expander, &moved, &image)?;
        if let (Some(here), Some(there)) = (here, there) {
            let expected = here.iter().map(|(s, z)| tables.apply(&swap, s, z));
            if sorted(expected) != sorted(there.into_iter()) {
                return Ok(Some("the successors"));
            }
        }
        let names = |e: u16| self.named.contains(&(set, e));
        if !names(a)
            && !names(b)
            && self.query_differs(tables, &swap, (state, zone), (&moved, &image))
        {
            return Ok(Some("the value of the query"));
        }
        let before = representative.broken_ties;
        let (mut own, mut own_zone) = (state.to_vec(), zone.clone());
        let (mut other, mut other_zone) = (moved, image);
        representative.reduce(&mut own, &mut own_zone);
        representative.reduce(&mut other, &mut other_zone);
        let canonical = representative.broken_ties == before;
        representative.broken_ties = before;
        let apart = canonical && (own != other || own_zone != other_zone);
        Ok(apart.then_some("the representative"))
    }

    /// Whether the query has different values in a state and its image. An evaluation error counts
    /// as a value.
    fn query_differs(
        &mut self,
        tables: &Tables,
        swap: &Permutation,
        here: (&[i32], &Zone),
        there: (&[i32], &Zone),
    ) -> bool {
        for goal in &mut self.conditions {
            let one = goal.part(&mut here.0.to_vec(), here.1);
            let other = goal.part(&mut there.0.to_vec(), there.1);
            match (one, other) {
                (Ok(one), Ok(other)) => {
                    let images = one.iter().map(|z| tables.apply(swap, here.0, z).1);
                    if !same(images.collect(), other) {
                        return true;
                    }
                }
                (Err(_), Err(_)) => {}
                _ => return true,
            }
        }
        let (measured, frame) = (self.measured, self.frame);
        let Some(expander) = &mut self.expander else {
            return false;
        };
        measured.iter().any(|m| {
            let one = measure(expander, m, frame, here.0);
            let other = measure(expander, m, frame, there.0);
            let image = |x: i32| Tables::image(x as usize, &tables.clocks[x as usize], swap) as i32;
            let one = one.map(|values| match m {
                Measured::Int(_) => values,
                Measured::Clock(..) => values.into_iter().map(image).collect(),
            });
            one != other
        })
    }
}

/// The value of an integer, or the measured clocks; `None` if evaluation fails.
fn measure(
    expander: &mut Expander<'_>,
    measured: &Measured,
    frame: u32,
    state: &[i32],
) -> Option<Vec<i32>> {
    let (program, machine) = (expander.program, &mut expander.machine);
    let state = &mut state.to_vec();
    machine.frame(frame, &[]);
    match measured {
        Measured::Int(code) => Some(vec![machine.eval(program, code, state).ok()?]),
        Measured::Clock(left, right) => {
            let clocks = std::iter::once(left).chain(right);
            let clocks = clocks.map(|c| machine.clock(program, c, state).ok().map(|x| x as i32));
            clocks.collect()
        }
    }
}

/// Whether two unions have the same points.
fn same(a: Federation, b: Federation) -> bool {
    subtract_all(a.clone(), &b).is_empty() && subtract_all(b, &a).is_empty()
}

fn sorted(successors: impl Iterator<Item = (Vec<i32>, Zone)>) -> Successors {
    let mut all: Successors = successors.map(|(s, z)| (s, z.raw().to_vec())).collect();
    all.sort();
    all.dedup();
    all
}

/// All successors; `None` if one of them consists of several pieces (which may be cut differently
/// in the image).
fn successors(
    expander: &mut Expander<'_>,
    state: &[i32],
    zone: &Zone,
) -> Result<Comparable, Fault> {
    let mut state = state.to_vec();
    let (mut result, mut next) = (Vec::new(), Vec::new());
    expander.find_steps(&mut state, zone)?;
    for step in 0..expander.steps.len() {
        let mut zones = expander.successors(step, &mut state, zone, &mut next)?;
        if zones.len() > 1 {
            return Ok(None);
        }
        result.extend(zones.pop().map(|z| (next.clone(), z)));
    }
    Ok(Some(result))
}
