//! Certificates with random changes.

use super::{Claim, File, Naive};
use crate::Rng;
use crate::oracle::model::{self, Clock};
use crate::oracle::regions::State as Point;

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
        let at = |point: &Point, unit: i32| point.locations[p] == l && point.clocks[0] > c * unit;
        let not_at = |point: &Point, unit: i32| !at(point, unit);
        let there = |point: &Point, _: i32| point.locations[p] == l;
        let goal = rng.below(model.processes.len());
        let end = rng.below(model.processes[goal].0.len());
        let not_end = |point: &Point, _: i32| point.locations[goal] != end;
        let (query, claim) = match rng.below(5) {
            0 => (format!("E<> P{p}.l{l} && {clock} > {c}"), Claim::Never(&at)),
            1 => (
                format!("A<> P{p}.l{l} && {clock} > {c}"),
                Claim::NoRun(&not_at, None),
            ),
            2 => (
                format!("E[] P{p}.l{l} && {clock} > {c}"),
                Claim::NoRun(&at, None),
            ),
            3 => (
                format!("E[] P{goal}.l{end} imply false"),
                Claim::NoRun(&not_end, None),
            ),
            _ => (
                format!("P{p}.l{l} --> P{goal}.l{end}"),
                Claim::NoRun(&not_end, Some(&there)),
            ),
        };
        let Some(bytes) = certify(&loaded, &query) else {
            continue;
        };
        let naive = Naive {
            model: &model,
            claim,
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
