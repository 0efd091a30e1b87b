//! A second reader of certificates, for tests: plain, whole in memory, with a writer to match.
//!
//! It follows `docs/certificates.md` and shares no code with the checker of certificates, whose
//! tests change files with it and ask [`Naive`] about the result.

use crate::Rng;
use crate::oracle::model::TestModel;
use crate::oracle::regions::{State as Point, Walker};
use zonelens_analysis::network::{CellId, Id, Network};

/// A bound `2c + 1` for `<= c`, `2c` for `< c` on `x_i - x_j`.
pub type Bound = (usize, usize, i64);

/// A discrete state with its zones. A cell that is `None` is `*`.
#[derive(Clone, Debug, PartialEq)]
pub struct State {
    pub locations: Vec<u64>,
    pub cells: Vec<Option<i64>>,
    pub zones: Vec<Vec<Bound>>,
}

/// A state and zones of it.
pub type Target = (u64, Vec<u64>);

/// A participant of a step: process, edge, values of select variables from 0.
pub type Part = (u64, u64, Vec<u64>);

/// A certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// All bytes before the numbers of states and zones.
    pub head: Vec<u8>,
    pub states: Vec<State>,
    pub initial: Target,
    /// For each zone of each state, its steps.
    pub records: Vec<Vec<(Vec<Part>, Target)>>,
}

struct Reader<'b>(&'b [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Option<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
    }

    fn skip(&mut self, bytes: usize) -> Option<()> {
        self.0 = self.0.get(bytes..)?;
        Some(())
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        (0..self.number()?).map(|_| one(self)).collect()
    }

    fn target(&mut self) -> Option<Target> {
        Some((self.number()?, self.list(Reader::number)?))
    }
}

fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn put_target(out: &mut Vec<u8>, target: &Target) {
    put(out, target.0);
    put(out, target.1.len() as u64);
    target.1.iter().for_each(|zone| put(out, *zone));
}

impl File {
    /// Reads a certificate for a network; `None` if it is not one.
    pub fn read(network: &Network, bytes: &[u8]) -> Option<File> {
        let mut reader = Reader(bytes);
        reader.skip(8)?;
        reader.number()?;
        reader.number()?;
        reader.skip(32)?;
        let text = |reader: &mut Reader<'_>| {
            let length = reader.number()?;
            reader.skip(length as usize)
        };
        text(&mut reader)?;
        reader.list(|reader| {
            text(reader)?;
            reader.number()
        })?;
        text(&mut reader)?;
        let processes = reader.number()?;
        let cells = reader.number()?;
        let dim = reader.number()? + 1;
        let head = bytes[..bytes.len() - reader.0.len()].to_vec();
        let states = reader.number()?;
        reader.number()?;
        let states: Option<Vec<State>> = (0..states)
            .map(|_| {
                let locations = (0..processes).map(|_| reader.number());
                let locations: Option<Vec<u64>> = locations.collect();
                let cells = (0..cells as usize).map(|c| {
                    let above = reader.number()? as i64;
                    let lo = i64::from(network.cells.get(CellId::at(c))?.lo);
                    Some((above > 0).then_some(lo + above - 1))
                });
                let cells: Option<Vec<Option<i64>>> = cells.collect();
                let zones = reader.list(|reader| {
                    let mut free = 0;
                    reader.list(|reader| {
                        let position = free + reader.number()?;
                        let bound = reader.number()?;
                        free = position + 1;
                        let bound = (bound >> 1) as i64 ^ -((bound & 1) as i64);
                        Some(((position / dim) as usize, (position % dim) as usize, bound))
                    })
                });
                Some(State {
                    locations: locations?,
                    cells: cells?,
                    zones: zones?,
                })
            })
            .collect();
        let states = states?;
        let initial = reader.target()?;
        let zones: usize = states.iter().map(|s| s.zones.len()).sum();
        let records = (0..zones).map(|_| {
            reader.list(|reader| {
                let parts = reader.list(|reader| {
                    let (process, edge) = (reader.number()?, reader.number()?);
                    let edges = &network.processes.get(process as usize)?.edges;
                    let selects = edges.get(edge as usize)?.selects.iter();
                    let values: Option<Vec<u64>> = selects.map(|_| reader.number()).collect();
                    Some((process, edge, values?))
                })?;
                Some((parts, reader.target()?))
            })
        });
        let records: Option<Vec<_>> = records.collect();
        let file = File {
            head,
            states,
            initial,
            records: records?,
        };
        reader.0.is_empty().then_some(file)
    }

    /// The bytes of the certificate.
    pub fn write(&self, network: &Network) -> Vec<u8> {
        let mut out = self.head.clone();
        let dim = network.clocks.len() + 1;
        put(&mut out, self.states.len() as u64);
        let zones: usize = self.states.iter().map(|s| s.zones.len()).sum();
        put(&mut out, zones as u64);
        for state in &self.states {
            state.locations.iter().for_each(|l| put(&mut out, *l));
            for (c, value) in state.cells.iter().enumerate() {
                let lo = i64::from(network.cells[CellId::at(c)].lo);
                put(&mut out, value.map_or(0, |v| (v - lo + 1) as u64));
            }
            put(&mut out, state.zones.len() as u64);
            for zone in &state.zones {
                put(&mut out, zone.len() as u64);
                let mut free = 0;
                for (i, j, bound) in zone {
                    let position = i * dim + j;
                    put(&mut out, (position - free) as u64);
                    put(&mut out, ((bound << 1) ^ (bound >> 63)) as u64);
                    free = position + 1;
                }
            }
        }
        put_target(&mut out, &self.initial);
        for record in &self.records {
            put(&mut out, record.len() as u64);
            for (parts, target) in record {
                put(&mut out, parts.len() as u64);
                for (process, edge, values) in parts {
                    put(&mut out, *process);
                    put(&mut out, *edge);
                    values.iter().for_each(|v| put(&mut out, *v));
                }
                put_target(&mut out, target);
            }
        }
        out
    }

    /// Makes one random change and names it.
    pub fn change(&mut self, network: &Network, rng: &mut Rng) -> &'static str {
        let s = rng.below(self.states.len());
        let z = rng.below(self.states[s].zones.len().max(1));
        let first: usize = self.states[..s].iter().map(|s| s.zones.len()).sum();
        let state = &mut self.states[s];
        match rng.below(13) {
            0 if !state.zones.is_empty() => {
                state.zones.remove(z);
                self.records.remove(first + z);
                "a zone dropped"
            }
            1 | 2 => match state.zones.get_mut(z) {
                Some(zone) if !zone.is_empty() => {
                    let at = rng.below(zone.len());
                    zone[at].2 -= i64::from(rng.range(1, 4));
                    "a bound tightened"
                }
                _ => "nothing",
            },
            3 => match state.zones.get_mut(z) {
                Some(zone) if !zone.is_empty() => {
                    let at = rng.below(zone.len());
                    zone[at].2 += i64::from(rng.range(1, 4));
                    "a bound widened"
                }
                _ => "nothing",
            },
            4 => match state.zones.get_mut(z) {
                Some(zone) if !zone.is_empty() => {
                    let at = rng.below(zone.len());
                    zone[at].2 = [i64::from(i32::MAX), -i64::from(i32::MAX), 1 << 31][rng.below(3)];
                    "a bound near 2^31"
                }
                _ => "nothing",
            },
            5 => {
                let p = rng.below(state.locations.len());
                let locations = network.processes[p].locations.len();
                state.locations[p] = rng.below(locations) as u64;
                "a location changed"
            }
            6 if !state.cells.is_empty() => {
                let c = rng.below(state.cells.len());
                state.cells[c] = None;
                "a cell made *"
            }
            7 if !state.cells.is_empty() => {
                let c = rng.below(state.cells.len());
                let cell = &network.cells[CellId::at(c)];
                state.cells[c] = Some(i64::from(rng.range(cell.lo, cell.hi)));
                "a cell changed"
            }
            8 => {
                let record = rng.below(self.records.len());
                let record = &mut self.records[record];
                if record.is_empty() {
                    return "nothing";
                }
                record.remove(rng.below(record.len()));
                "a step left out"
            }
            9 => {
                let record = rng.below(self.records.len());
                let record = &mut self.records[record];
                if record.is_empty() {
                    return "nothing";
                }
                let at = rng.below(record.len());
                let twice = record[at].clone();
                record.insert(at, twice);
                "a step listed twice"
            }
            10 => {
                let record = rng.below(self.records.len());
                let record = &mut self.records[record];
                let Some((parts, _)) = record.iter_mut().find(|step| step.0.len() > 1) else {
                    return "nothing";
                };
                let last = parts.len() - 1;
                parts.swap(last - 1, last);
                "participants swapped"
            }
            11 => {
                let states = self.states.len();
                let record = rng.below(self.records.len());
                let Some((_, target)) = self.records[record].first_mut() else {
                    return "nothing";
                };
                target.0 = rng.below(states) as u64;
                "another state named"
            }
            _ => {
                let record = rng.below(self.records.len());
                let Some((_, target)) = self.records[record].first_mut() else {
                    return "nothing";
                };
                target.1 = vec![rng.below(3) as u64];
                "another zone named"
            }
        }
    }
}

/// Whether a certificate is a proof, by looking at points: multiples of `1 / unit` of every clock.
pub struct Naive<'m> {
    pub model: &'m TestModel,
    /// Whether a point meets the condition that no state may meet.
    pub bad: &'m dyn Fn(&Point, i32) -> bool,
}

/// The parts of a time unit that points are multiples of.
const UNIT: i32 = 2;
/// The greatest value of a clock, in time units.
const FAR: i32 = 6;

impl Naive<'_> {
    /// The first point that shows that the set is no proof.
    pub fn refute(&self, file: &File) -> Option<String> {
        let walker = Walker::exact(self.model, UNIT);
        let initial = walker.initial();
        for point in delays(&walker, initial) {
            if !contains(file, &point) {
                return Some(format!("{point:?} is initial and missing"));
            }
        }
        for state in &file.states {
            for zone in &state.zones {
                for point in self.points(state, zone) {
                    if (self.bad)(&point, UNIT) {
                        return Some(format!("{point:?} is bad"));
                    }
                    let (steps, fails, _) = walker.actions(&point);
                    if fails {
                        return Some(format!("{point:?} fails"));
                    }
                    for (step, target) in steps {
                        for later in delays(&walker, target) {
                            if !contains(file, &later) {
                                return Some(format!(
                                    "{point:?} by {step:?}: {later:?} is missing"
                                ));
                            }
                        }
                    }
                }
            }
        }
        None
    }

    /// Points of a zone; a `*` stands for each value that the variable can have.
    fn points(&self, state: &State, zone: &[Bound]) -> Vec<Point> {
        let clocks = self.model.clocks + usize::from(self.model.bounded);
        let mut values: Vec<Vec<i32>> = vec![Vec::new()];
        for cell in &state.cells {
            let all = match cell {
                Some(value) => vec![*value as i32],
                None => vec![0, 1, 2],
            };
            values = (values.iter())
                .flat_map(|v| all.iter().map(|x| [v.clone(), vec![*x]].concat()))
                .collect();
        }
        let mut times: Vec<Vec<i32>> = vec![Vec::new()];
        for _ in 0..clocks {
            times = (times.iter())
                .flat_map(|t| (0..=FAR * UNIT).map(|x| [t.clone(), vec![x]].concat()))
                .collect();
        }
        times.retain(|clocks| inside(zone, clocks));
        let locations: Vec<usize> = state.locations.iter().map(|l| *l as usize).collect();
        (values.iter())
            .flat_map(|vars| {
                times.iter().map(|clocks| Point {
                    locations: locations.clone(),
                    vars: vars.clone(),
                    clocks: clocks.clone(),
                })
            })
            .collect()
    }
}

/// The points that time reaches, up to the greatest value of a clock.
fn delays(walker: &Walker<'_>, from: Point) -> Vec<Point> {
    let mut all = vec![from];
    while let Some(last) = all.last() {
        let mut next = last.clone();
        next.clocks.iter_mut().for_each(|c| *c += 1);
        let far = next.clocks.iter().any(|c| *c > FAR * UNIT);
        if far || !walker.may_delay(last) || !walker.invariants(&next) {
            break;
        }
        all.push(next);
    }
    all
}

fn inside(zone: &[Bound], clocks: &[i32]) -> bool {
    let value = |i: usize| match i {
        0 => 0,
        _ => i64::from(clocks[i - 1]),
    };
    zone.iter().all(|(i, j, bound)| {
        let (difference, limit) = (value(*i) - value(*j), bound.div_euclid(2) * i64::from(UNIT));
        difference < limit || difference == limit && bound.rem_euclid(2) == 1
    })
}

fn contains(file: &File, point: &Point) -> bool {
    file.states.iter().any(|state| {
        let same = |(cell, own): (&Option<i64>, &i32)| cell.is_none_or(|v| v == i64::from(*own));
        let locations = state.locations.iter().map(|l| *l as usize);
        locations.eq(point.locations.iter().copied())
            && state.cells.iter().zip(&point.vars).all(same)
            && state.zones.iter().any(|zone| inside(zone, &point.clocks))
    })
}

/// Writes a certificate for a query; `None` if there is none.
pub type Certify<'c> = &'c dyn Fn(&crate::Loaded, &str) -> Option<Vec<u8>>;
/// Whether a certificate for a query is accepted.
pub type Accepts<'c> = &'c dyn Fn(&crate::Loaded, &str, &[u8]) -> bool;

/// Certificates of random models, changed at random: each must be rejected unless it is still a
/// proof of the same claim. Returns how many of each change were made and how many of them
/// accepted; `Err` describes an accepted certificate that is no proof, or a sound one that is
/// rejected.
pub fn mutants(
    seed: u64,
    count: usize,
    certify: Certify<'_>,
    accepts: Accepts<'_>,
) -> Result<std::collections::BTreeMap<&'static str, (usize, usize)>, String> {
    use crate::oracle::model::{self, Clock};
    let mut made = std::collections::BTreeMap::new();
    let mut done = 0;
    for round in 0.. {
        let model_seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        let mut rng = Rng::new(model_seed);
        let model = model::random(&mut rng);
        if model.clocks > 2 || model.vars + model.cells > 4 {
            // The points of a zone are listed one by one.
            continue;
        }
        let loaded = crate::load(&model.text(), zonelens_syntax::ast::FileKind::Xta, &[])
            .map_err(|e| format!("seed {model_seed}: {e}"))?;
        let p = rng.below(model.processes.len());
        let (l, c) = (rng.below(model.processes[p].0.len()), rng.range(0, 3));
        let clock = model.clock_text(Clock { x: 0, by: None });
        let query = format!("E<> P{p}.l{l} && {clock} > {c}");
        let Some(bytes) = certify(&loaded, &query) else {
            continue;
        };
        let bad = |point: &Point, unit: i32| point.locations[p] == l && point.clocks[0] > c * unit;
        let naive = Naive {
            model: &model,
            bad: &bad,
        };
        let context = |what: &str| format!("seed {model_seed}: {what}\n{query}\n{}", model.text());
        let Some(file) = File::read(&loaded.network, &bytes) else {
            return Err(context("the second reader cannot read the certificate"));
        };
        if file.write(&loaded.network) != bytes {
            return Err(context("the second writer writes other bytes"));
        }
        if !accepts(&loaded, &query, &bytes) {
            return Err(context("the certificate itself is rejected"));
        }
        if let Some(point) = naive.refute(&file) {
            return Err(context(&format!(
                "the certificate itself is no proof: {point}"
            )));
        }
        if file.states.len() > 60 {
            continue;
        }
        for _ in 0..8 {
            let mut changed = file.clone();
            let what = changed.change(&loaded.network, &mut rng);
            if changed == file {
                continue;
            }
            let accepted = accepts(&loaded, &query, &changed.write(&loaded.network));
            let entry: &mut (usize, usize) = made.entry(what).or_default();
            entry.0 += 1;
            if accepted {
                entry.1 += 1;
                if let Some(point) = naive.refute(&changed) {
                    return Err(context(&format!("accepted after {what}, but {point}")));
                }
            }
            let cut = rng.below(bytes.len());
            let mut longer = bytes.clone();
            longer.push(0);
            if accepts(&loaded, &query, &bytes[..cut]) || accepts(&loaded, &query, &longer) {
                return Err(context(&format!(
                    "accepted cut to {cut} bytes, or with one more"
                )));
            }
            done += 1;
            if done >= count {
                return Ok(made);
            }
        }
    }
    Ok(made)
}
