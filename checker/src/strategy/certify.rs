//! Writes certificates: the stored states of a search that found nothing, in the format of the
//! crate `certificate`, whose checker shares no code with this one.
//!
//! The stored zones are closed under steps, because each was explored, and what it leads to was
//! stored or is included in a stored zone. Wider zones (`Extra⁺_LU`, hulls, loose clocks) are
//! proofs too, and so are sets that are closed up to symmetry, see `certify_symmetry.rs`. Not
//! written are sets that are closed only up to `a≼LU`.
//! Every step is computed again here, without abstraction, to name the zones that cover its
//! successors: the checker must find the same steps.

use super::certify_symmetry::{Mover, images};
use super::{Run, Search, verify_once};
use crate::bounds::abstraction::Abstraction;
use crate::graph::expander::Expander;
use crate::program::Program;
use crate::search::sequential::Settings;
use crate::store::passed_waiting::PassedWaiting;
use crate::zone::bound::{self, INF, LE_ZERO};
use crate::zone::{Zone, subtract};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use zonelens_analysis::network::{Network, Position, Query};
use zonelens_analysis::report::{
    AbstractionOption, Options, QueryReport, Switch, SymmetryOption, TraceOption, Verdict,
};
use zonelens_certificate::{Action, Constraint, Header, Key, Kind, Shape, Target, Writer};
use zonelens_syntax::span::Span;

/// A certificate in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Certificate {
    /// The kind of the claim.
    pub kind: Kind,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
    /// The number of discrete states.
    pub states: u64,
    /// The number of zones.
    pub zones: u64,
    /// Whether the states stand for their images under permutations.
    pub symmetry: bool,
    /// Whether the query was searched again for the certificate: with one thread, or without
    /// symmetry.
    pub searched_again: bool,
}

/// Where the run leaves its certificate.
pub(crate) struct Sink {
    header: Header,
    written: Mutex<Option<Result<Certificate, String>>>,
}

impl Sink {
    fn put(
        &self,
        written: Option<Result<Certificate, String>>,
    ) -> Option<Result<Certificate, String>> {
        let mut place = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut place, written)
    }
}

/// Runs one query and writes a certificate of the answer. The report is that of
/// [`verify`](super::verify); the certificate is `Err` with the reason if there is none. If the
/// search used several threads or `a≼LU`, the query is searched again without, and if its symmetry
/// is not one that the checker can show, without symmetry, all in the time that is left.
pub fn verify_and_certify(
    network: &Network,
    query: &Query,
    options: &Options,
    (tool, constants): (&str, &BTreeMap<String, i64>),
    position: &(dyn Fn(Span) -> Position + Sync),
    control: &crate::Control<'_>,
) -> (QueryReport, Result<Certificate, String>) {
    let start = Instant::now();
    let plain = || super::verify(network, query, options, position, control);
    let (kind, _) = match Kind::of(query) {
        Ok(claim) => claim,
        Err(refusal) => return (plain(), Err(refusal)),
    };
    if let Some(refusal) = zonelens_certificate::refusal(network) {
        let place = refusal
            .span
            .map(position)
            .map(|p| format!("line {}: ", p.line));
        let reason = format!("{}{}", place.unwrap_or_default(), refusal.message);
        return (plain(), Err(reason));
    }
    let sink = Sink {
        header: Header {
            tool: tool.to_owned(),
            constants: constants.clone(),
            ..zonelens_certificate::header(network, query, kind)
        },
        written: Mutex::new(None),
    };
    let report = verify_once(network, query, options, position, control, Some(&sink));
    let claimed = match kind.is_satisfied() {
        true => Verdict::Satisfied,
        false => Verdict::Violated,
    };
    if report.verdict != claimed {
        let why = match report.verdict {
            Verdict::Satisfied | Verdict::Violated if report.trace.is_some() => {
                "the trace shows the answer"
            }
            Verdict::Satisfied | Verdict::Violated => "the answer is shown by a trace",
            Verdict::Unknown | Verdict::Error => "there is no answer to certify",
        };
        return (report, Err(why.to_owned()));
    }
    match sink.put(None) {
        // Wide zones may prove an answer in a way that the checker does not follow.
        Some(Err(_)) if kind.is_about_runs() => {}
        Some(written) => return (report, written),
        None => {}
    }
    let again = |symmetry: SymmetryOption| Options {
        symmetry,
        abstraction: match options.abstraction {
            AbstractionOption::Alu => AbstractionOption::ExtraLu,
            other => other,
        },
        threads: 1,
        trace: TraceOption::None,
        audit_symmetry: false,
        without: match kind.is_about_runs() {
            true => [Switch::LooseClocks, Switch::Guided]
                .into_iter()
                .chain(options.without.iter().copied())
                .collect(),
            false => options.without.clone(),
        },
        timeout: (options.timeout).map(|limit| (limit - start.elapsed().as_secs_f64()).max(0.0)),
        ..options.clone()
    };
    // A search by several threads or under `a≼LU` leaves nothing, symmetric or not.
    let left_nothing = options.threads > 1 || options.abstraction == AbstractionOption::Alu;
    let keeps = left_nothing && !kind.is_about_runs();
    let first = keeps.then_some(options.symmetry);
    let mut second = None;
    let mut written = None;
    for symmetry in first.into_iter().chain([SymmetryOption::Off]) {
        if written.is_none() {
            let again = again(symmetry);
            second = Some(verify_once(
                network,
                query,
                &again,
                position,
                control,
                Some(&sink),
            ));
            written = sink.put(None);
        }
    }
    let certificate = match written {
        Some(Ok(certificate)) => Ok(Certificate {
            searched_again: true,
            ..certificate
        }),
        Some(Err(reason)) => Err(reason),
        None => {
            let reason = second.and_then(|report| report.reason);
            let reason = reason.map(|reason| reason.to_string());
            let reason = reason.unwrap_or_else(|| "it found no proof".to_owned());
            Err(format!(
                "the second search, without symmetry, ended early: {reason}"
            ))
        }
    };
    (report, certificate)
}

impl Run<'_> {
    /// Writes the certificate of a search that explored everything and found nothing, if one is
    /// wanted and its states are a proof.
    pub(super) fn certify(&self, search: &Search<'_>, settings: &Settings) {
        let Some(sink) = self.sink else {
            return;
        };
        if settings.abstraction == Abstraction::Alu {
            return;
        }
        let stored = || Stored::new(self, &search.states);
        let Some((plain, representative)) = search.graph.pipeline() else {
            let certificate = stored().and_then(|stored| stored.write(&sink.header));
            sink.put(Some(certificate));
            return;
        };
        let mover = Mover::new(plain, representative);
        let action = mover.action(self);
        let asymmetric = zonelens_certificate::refutation(self.network, self.query, &action);
        // Forced, it claims what the checker will reject.
        if asymmetric.is_some() && !self.options.force_symmetry {
            return;
        }
        let certificate = stored().and_then(|mut stored| {
            stored.symmetry = Some((action, mover));
            stored.write(&sink.header)
        });
        if certificate.is_ok() {
            sink.put(Some(certificate));
        }
    }

    /// Whether the states of a liveness search are needed for a certificate.
    pub(super) fn wants_certificate(&self) -> bool {
        self.sink.is_some()
    }

    /// The header of the certificate that is wanted.
    pub(super) fn wanted_header(&self) -> Option<&Header> {
        self.sink.map(|sink| &sink.header)
    }

    /// Leaves a certificate.
    pub(super) fn leave_certificate(&self, certificate: Result<Certificate, String>) {
        if let Some(sink) = self.sink {
            sink.put(Some(certificate));
        }
    }
}

/// A set of states that a search has stored.
pub(super) trait Nodes {
    /// The numbers of the states.
    fn kept(&self) -> Box<dyn Iterator<Item = u32> + '_>;

    /// Restores a state.
    fn get(&self, node: u32, state: &mut Vec<i32>, zone: &mut Zone);
}

impl Nodes for PassedWaiting {
    fn kept(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(PassedWaiting::kept(self))
    }

    fn get(&self, node: u32, state: &mut Vec<i32>, zone: &mut Zone) {
        PassedWaiting::get(self, node, state, zone);
    }
}

/// The states of a search, by their discrete parts.
pub(super) struct Stored<'s> {
    run: &'s Run<'s>,
    pub states: &'s dyn Nodes,
    /// The number of each discrete state.
    numbers: FxHashMap<Vec<i32>, usize>,
    /// The nodes of each discrete state.
    pub nodes: Vec<Vec<u32>>,
    /// For each discrete state, the zone that covered the last successor.
    hints: Vec<usize>,
    scratch: (Vec<i32>, Zone),
    /// The symmetry up to which the states are closed.
    symmetry: Option<(Action, Mover<'s>)>,
}

impl<'s> Stored<'s> {
    pub(super) fn new(run: &'s Run<'s>, states: &'s dyn Nodes) -> Result<Stored<'s>, String> {
        let mut stored = Stored {
            run,
            states,
            numbers: FxHashMap::default(),
            nodes: Vec::new(),
            hints: Vec::new(),
            scratch: (Vec::new(), Zone::universe(run.program.dim())),
            symmetry: None,
        };
        for node in states.kept() {
            let (state, zone) = &mut stored.scratch;
            states.get(node, state, zone);
            let next = stored.nodes.len();
            let number = *stored.numbers.entry(state.clone()).or_insert(next);
            if number == next {
                stored.nodes.push(Vec::new());
            }
            stored.nodes[number].push(node);
            stored.within_limits()?;
        }
        stored.hints = vec![0; stored.nodes.len()];
        Ok(stored)
    }

    pub(super) fn within_limits(&self) -> Result<(), String> {
        match self.run.limit.is_over() {
            None => Ok(()),
            Some(_) => Err("the limits were reached before the certificate was written".into()),
        }
    }

    /// The numbers of discrete states and of zones.
    pub(super) fn counts(&self) -> (u64, u64) {
        let zones = self.nodes.iter().map(|nodes| nodes.len() as u64).sum();
        (self.nodes.len() as u64, zones)
    }

    fn write(mut self, header: &Header) -> Result<Certificate, String> {
        let (states, zones) = self.counts();
        let mut writer = Writer::new(header, Shape::new(self.run.network, states, zones));
        let symmetry = self.symmetry.is_some();
        match &self.symmetry {
            None => writer.action(&Action::default()),
            Some((action, _)) => writer.action(action),
        }
        self.write_states(&mut writer);
        self.write_records(&mut writer)?;
        Ok(Certificate {
            kind: header.kind,
            bytes: writer.bytes,
            states,
            zones,
            symmetry,
            searched_again: false,
        })
    }

    /// Writes all states with their zones.
    pub(super) fn write_states(&self, writer: &mut Writer) {
        let (network, program) = (self.run.network, self.run.program);
        let (mut state, mut zone) = (Vec::new(), Zone::universe(program.dim()));
        for nodes in &self.nodes {
            for (k, node) in nodes.iter().enumerate() {
                self.states.get(*node, &mut state, &mut zone);
                if k == 0 {
                    let (cells, locations) = state.split_at(program.cells.len());
                    let locations = locations.iter().map(|l| *l as u32);
                    let cells = cells.iter().map(|value| Some(*value));
                    writer.state(network, locations, cells, nodes.len() as u64);
                }
                writer.zone(program.clocks, &constraints(&zone));
            }
        }
    }

    /// `Err` if the certificate is too large.
    pub(super) fn within_memory(&self, writer: &Writer) -> Result<(), String> {
        let memory = self.run.options.memory.unwrap_or(u64::MAX);
        match writer.bytes.len() as u64 > memory {
            true => Err("the certificate is larger than the memory limit".into()),
            false => Ok(()),
        }
    }

    /// Writes where the initial state lies, and the steps of all zones.
    pub(super) fn write_records(&mut self, writer: &mut Writer) -> Result<(), String> {
        let (run, stored) = (self.run, self.states);
        let (network, program) = (run.network, run.program);
        let (mut state, mut zone) = (Vec::new(), Zone::universe(program.dim()));
        let mut expander = Expander::new(program);
        let (first, pieces) = (expander.initial()).map_err(|fault| fault.kind.to_string())?;
        writer.target(&self.covered(&first, &pieces)?);
        let (mut next, mut entries): (Vec<i32>, Vec<(Key, Target)>) = (Vec::new(), Vec::new());
        for number in 0..self.nodes.len() {
            self.within_limits()?;
            self.within_memory(writer)?;
            for at in 0..self.nodes[number].len() {
                stored.get(self.nodes[number][at], &mut state, &mut zone);
                (expander.find_steps(&mut state, &zone)).map_err(|f| f.kind.to_string())?;
                entries.clear();
                for step in 0..expander.steps.len() {
                    let pieces = expander.successors(step, &mut state, &zone, &mut next);
                    let pieces = pieces.map_err(|fault| fault.kind.to_string())?;
                    if pieces.is_empty() {
                        continue;
                    }
                    let key = key(program, &expander, step);
                    entries.push((key, self.covered(&next, &pieces)?));
                    expander.recycle_list(pieces);
                }
                entries.sort_by(|a, b| a.0.cmp(&b.0));
                writer.record(network, &entries);
            }
        }
        Ok(())
    }

    /// The stored zones that cover these zones of a discrete state, or under symmetry an image.
    fn covered(&mut self, state: &[i32], pieces: &[Zone]) -> Result<Target, String> {
        let Some((action, mut mover)) = self.symmetry.take() else {
            return self.cover(state, pieces, &|_| true);
        };
        let result = self.covered_by(&mut mover, state, pieces);
        self.symmetry = Some((action, mover));
        result
    }

    fn covered_by(
        &mut self,
        mover: &mut Mover<'_>,
        state: &[i32],
        pieces: &[Zone],
    ) -> Result<Target, String> {
        let mut result = Err("internal: a successor has no representative".to_owned());
        for by in mover.permutations(state, pieces)? {
            let (moved, zones) = mover.image(&by, state, pieces);
            let target = self.cover(&moved, &zones, &|_| true);
            let by = images(&by);
            result = target.map(|target| Target { by, ..target });
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// The stored zones that cover these zones of a discrete state, of the nodes that may.
    pub(super) fn cover(
        &mut self,
        state: &[i32],
        pieces: &[Zone],
        may: &dyn Fn(u32) -> bool,
    ) -> Result<Target, String> {
        let open = || "internal: the stored states do not cover a successor".to_owned();
        let number = *self.numbers.get(state).ok_or_else(open)?;
        let mut zones = Vec::new();
        for piece in pieces {
            if piece.overflowed() {
                return Err("a clock bound exceeds the range of the arithmetic".into());
            }
            let count = self.nodes[number].len();
            let mut rest = vec![piece.clone()];
            let mut some = Vec::new();
            for k in 0..count {
                let at = (self.hints[number] + k) % count;
                let stored = &mut self.scratch;
                let node = self.nodes[number][at];
                if !may(node) {
                    continue;
                }
                self.states.get(node, &mut stored.0, &mut stored.1);
                if stored.1.includes(piece) {
                    self.hints[number] = at;
                    (some, rest) = (vec![at as u64], Vec::new());
                    break;
                }
                if rest.iter().any(|zone| zone.meets(&stored.1)) {
                    rest = (rest.iter()).flat_map(|z| subtract(z, &stored.1)).collect();
                    some.push(at as u64);
                }
            }
            if !rest.is_empty() {
                return Err(open());
            }
            zones.extend(some);
        }
        zones.sort_unstable();
        zones.dedup();
        Ok(Target {
            state: number as u64,
            zones,
            by: Vec::new(),
        })
    }
}

/// The key of a step of the expander's present state.
pub(super) fn key(program: &Program, expander: &Expander<'_>, step: usize) -> Key {
    let named = expander.steps.named(program, step).into_iter();
    let key = named.map(|(edge, values)| {
        let edge = &program.edges[edge as usize];
        (edge.process, edge.index, values)
    });
    key.collect()
}

/// The bounds of a zone from which all others follow (Larsen, Larsson, Pettersson, Yi: *Efficient
/// verification of real-time systems: compact data structure and state-space reduction*, 1997).
/// Clocks with a fixed difference form a class; a class is a cycle of equations, and between the
/// first clocks of the classes a bound stays unless it follows from two others.
fn constraints(zone: &Zone) -> Vec<Constraint> {
    let dim = zone.dim();
    let tied = |i: usize, j: usize| bound::add(zone.at(i, j), zone.at(j, i)) == LE_ZERO;
    let first: Vec<usize> = (0..dim)
        .map(|i| (0..i).find(|&j| tied(i, j)).unwrap_or(i))
        .collect();
    let mut keep = vec![false; dim * dim];
    for i in 0..dim {
        // The next clock of the class of `i`, or the first one.
        let next = (i + 1..dim).find(|&j| first[j] == first[i]);
        let next = next.unwrap_or(first[i]);
        if next != i {
            keep[i * dim + next] = true;
        }
    }
    let firsts: Vec<usize> = (0..dim).filter(|&i| first[i] == i).collect();
    for &i in &firsts {
        for &j in firsts.iter().filter(|&&j| j != i) {
            let mut others = firsts.iter().filter(|&&k| k != i && k != j);
            let follows = |k: &usize| bound::add(zone.at(i, *k), zone.at(*k, j)) <= zone.at(i, j);
            keep[i * dim + j] = !others.any(follows);
        }
    }
    let entries = (0..dim).flat_map(|i| (0..dim).map(move |j| (i, j)));
    entries
        .filter(|&(i, j)| keep[i * dim + j] && zone.at(i, j) != INF)
        // Every clock is at least 0.
        .filter(|&(i, j)| i != 0 || zone.at(i, j) < LE_ZERO)
        .map(|(i, j)| Constraint {
            i,
            j,
            bound: i64::from(zone.at(i, j)),
        })
        .collect()
}
