//! `--audit-symmetry`: sampled states are checked for `succ(π(q)) = π(succ(q))` and `θ(π(q)) = θ(q)`.

use super::permutation::Permutation;
use super::representative::Representative;
use crate::explore::expander::Expander;
use crate::program::Fault;
use crate::rng::Rng;
use crate::zone::Zone;

/// Checks sampled states during a run.
pub struct Audit {
    rng: Rng,
    countdown: u32,
}

/// Every how many explored states one is checked.
const INTERVAL: u32 = 16;

type Successors = Vec<(Vec<i32>, Vec<i32>)>;
/// Successor states with their zones; `None` if they cannot be compared.
type Comparable = Option<Vec<(Vec<i32>, Zone)>>;

impl Audit {
    /// With a seed for the samples.
    pub fn new(seed: u64) -> Audit {
        Audit {
            rng: Rng::new(seed),
            countdown: 1,
        }
    }

    /// Looks at a state now and then; a message if symmetry is broken there.
    pub fn check(
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
        self.countdown = INTERVAL;
        let tables = representative.tables();
        let mut swap = Permutation::identity(tables.sets.iter().map(|s| s.size));
        let blocks: Vec<(usize, &Vec<u16>)> = tables
            .sets
            .iter()
            .enumerate()
            .flat_map(|(s, set)| set.blocks.iter().map(move |b| (s, b)))
            .collect();
        let Some((set, block)) = blocks.get(self.rng.below(blocks.len())) else {
            return Ok(None);
        };
        let (a, b) = (
            block[self.rng.below(block.len())],
            block[self.rng.below(block.len())],
        );
        swap.0[*set].swap(a as usize, b as usize);
        let name = tables.sets[*set].id;
        let (moved, image) = tables.apply(&swap, state, zone);
        let (here, there) = (
            successors(expander, state, zone)?,
            successors(expander, &moved, &image)?,
        );
        if let (Some(here), Some(there)) = (here, there) {
            let mut expected: Successors = here
                .iter()
                .map(|(s, z)| {
                    let (s, z) = tables.apply(&swap, s, z);
                    (s, z.raw().to_vec())
                })
                .collect();
            let mut found: Successors = there
                .into_iter()
                .map(|(s, z)| (s, z.raw().to_vec()))
                .collect();
            expected.sort();
            expected.dedup();
            found.sort();
            found.dedup();
            if expected != found {
                return Ok(Some(format!(
                    "swapping elements {a} and {b} of scalarset number {name} changes the successors of a state: {state:?}"
                )));
            }
        }
        let before = representative.broken_ties;
        let (mut own, mut own_zone) = (state.to_vec(), zone.clone());
        let (mut other, mut other_zone) = (moved, image);
        representative.reduce(&mut own, &mut own_zone);
        representative.reduce(&mut other, &mut other_zone);
        let canonical = representative.broken_ties == before;
        representative.broken_ties = before;
        if canonical && (own != other || own_zone != other_zone) {
            return Ok(Some(format!(
                "two representatives of one orbit: {own:?} and {other:?}"
            )));
        }
        Ok(None)
    }
}

/// All successors, or none if one of them falls into pieces (which may be cut differently in the image).
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
