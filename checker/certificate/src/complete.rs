//! Finds the steps and covering zones that a certificate must list, for tests and for programs that
//! have a set of states only. This is no part of any proof: the result is checked like any other
//! certificate.

use crate::check::{Check, Limits, Obligation, Rejection};
use crate::eval::State;
use crate::format::{Bytes, Stream, Target, Writer};
use crate::set::Set;
use crate::steps::{Key, Model};
use crate::zone::Union;
use std::collections::HashMap;
use zonelens_analysis::network::Network;

/// Completes a certificate about states, without symmetry, of which only the header and the states
/// are given: adds where the initial state lies, and the records. All zones of a state are named
/// wherever it is reached. `Err` if a step leaves the states, or fails.
pub fn completed(network: &Network, bytes: &[u8], limits: &Limits<'_>) -> Check<Vec<u8>> {
    let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
    let mut stream = Stream::new(bytes, bytes.len() as u64);
    stream.header()?;
    let model = Model::new(network).map_err(failed)?;
    let shape = stream.shape(network)?;
    let action = stream.action(network)?;
    if !action.is_empty() {
        let message = "only certificates without symmetry are completed";
        return Err(Rejection::new(Obligation::Symmetry, message));
    }
    let about = (network, &action);
    let set = Set::read(&mut stream, about, (shape.states, shape.zones), limits)?;
    let mut numbers: HashMap<Vec<u32>, Vec<usize>> = HashMap::new();
    for number in 0..set.len() {
        let locations = set.state(number)?.locations;
        numbers.entry(locations).or_default().push(number);
    }
    // All zones of the first state that covers a successor.
    let target = |state: &State, zones: Union| {
        for number in numbers.get(&state.locations).into_iter().flatten() {
            let target = Target {
                state: *number as u64,
                zones: (0..set.zones_of(*number).len() as u64).collect(),
                ..Target::default()
            };
            if set.covered(state, zones.clone(), &target).is_ok() {
                return Ok(target);
            }
        }
        let message = "a state that is reached is missing";
        Err(Rejection::new(Obligation::Closed, message))
    };
    let mut writer = Writer {
        bytes: bytes.to_vec(),
    };
    let (arrival, zone) = model.initial().map_err(failed)?;
    writer.target(&target(&arrival.state, zone.into_iter().collect())?);
    for number in 0..set.len() {
        limits.check()?;
        let mut expanded = model.expand(set.state(number)?).map_err(failed)?;
        for zone in set.zones_of(number) {
            let mut entries: Vec<(Key, Target)> = Vec::new();
            if let Some(zone) = set.zone(zone)? {
                for index in 0..expanded.steps.len() {
                    let zones = expanded.successors(index, &zone).map_err(failed)?;
                    if !zones.is_empty() {
                        let to = target(expanded.target(index).map_err(failed)?, zones)?;
                        entries.push((expanded.steps[index].key.clone(), to));
                    }
                }
            }
            writer.record(network, &entries);
        }
    }
    Ok(writer.bytes)
}
