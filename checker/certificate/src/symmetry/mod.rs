//! Symmetry: a set of states that is closed only up to permutations of elements.
//!
//! A certificate may name an [`Action`]: sets of elements with blocks, and the positions that
//! belong to each element. With every successor it then names a permutation that stays within the
//! blocks, and the zones that cover the image of the successor.
//!
//! **Lemma.** If [`shown`] accepts the action, and every evaluation in a state of S succeeds when
//! *all* parts of it that run over elements are evaluated, then for every permutation π within the
//! blocks: `π` maps the steps, delays and failures of a concrete state of S to those of its image,
//! and the value of the condition is the same if the condition names no element.
//!
//! *Argument.* It is enough to look at the swaps of neighbours, which generate the group; see the
//! head of `action.rs` for images under products. `types.rs` decides which numbers are elements,
//! and `alike.rs` shows that every process, channel, function and update is mapped to the one in
//! the image's place. What remains is order: a step runs the updates of its receivers, a loop its
//! rounds and a quantifier its bodies in the order of the elements. `effects.rs` shows that
//! receivers and rounds that change places do not hinder each other, and that quantifiers have no
//! effects. A quantifier, or a loop that ends with its first result, does not evaluate the elements
//! after that; so that a failure does not depend on the order, the checker evaluates all of them,
//! and likewise the invariants of all processes. Two steps of the same priority do not stop each
//! other's evaluation. ∎
//!
//! **Theorem.** Let S be accepted up to permutations. Then every reachable state is the image of a
//! state of S: by induction, `s = π(t)` with `t` in S; a step from `s` to `s'` is the image of one
//! from `t` to `t' = π⁻¹(s')`, and the image of `t'` under the permutation in the file is in S, so
//! `s'` is the image of that. The initial state is the image of a state of S in the same way, and
//! need not be symmetric. The condition has the same value in `s` and `t` unless it names elements;
//! then it is tested for all assignments of elements to the named ones, see
//! [`Action::assignments`], and [`shown`] shows that permutations of the others do not change it. ∎
//!
//! Nothing that `analysis` or the engine found out about symmetry is used.

mod action;
mod alike;
mod effects;
mod types;

pub use action::{Action, Coordinate, Coordinates, Elements, Permutation};
pub(crate) use effects::Searches;

use crate::eval::{Eval, Failure, fail};
use crate::steps::{channels, direction};
use action::Swap;
use alike::Alike;
use effects::Updates;
use std::collections::HashMap;
use types::Types;
use zonelens_analysis::network::{Edge, Network, Query, QueryKind};
use zonelens_syntax::ast::Direction;

/// Why a network and a query are not symmetric under an action, as far as the checker can show.
pub fn refutation(network: &Network, query: &Query, action: &Action) -> Option<Failure> {
    shown(network, query, action, &|| false).err()
}

/// Shows that the permutations of an action are symmetries of a network and of a query; returns the
/// loops whose rounds must all be evaluated.
pub(crate) fn shown(
    network: &Network,
    query: &Query,
    action: &Action,
    stop: &dyn Fn() -> bool,
) -> Eval<Searches> {
    action.check(network).or_else(fail)?;
    let types = Types::of(network, query, action)?;
    let searches = effects::orders(network, &types)?;
    let mut receivers = Receivers {
        network,
        updates: HashMap::new(),
    };
    for swap in action.swaps() {
        if stop() {
            return fail("the check was stopped before its end");
        }
        Alike::new(network, action, &types, swap).network()?;
        receivers.commute(action, swap)?;
    }
    let QueryKind::Path(_, condition) = &query.kind else {
        return fail("queries of this kind have no certificates under symmetry");
    };
    for swap in action.swaps_of_others() {
        let shown = Alike::new(network, action, &types, swap).condition(condition);
        shown.map_err(|failure| Failure {
            message: format!("the query: {}", failure.message),
            span: None,
        })?;
    }
    Ok(searches)
}

/// The receivers of broadcasts, and what their updates do.
struct Receivers<'n> {
    network: &'n Network,
    updates: HashMap<(usize, usize), Updates<'n>>,
}

impl<'n> Receivers<'n> {
    /// Shows that receivers of the same broadcast that change places do not hinder each other.
    fn commute(&mut self, action: &Action, swap: Swap) -> Eval<()> {
        let count = self.network.processes.len();
        let image = |p: usize| Action::moved(swap, &action.processes, p).unwrap_or(p);
        let images: Vec<usize> = (0..count).map(image).collect();
        for p in (0..count).filter(|p| images[*p] != *p) {
            for q in (0..count).filter(|q| (*q < p) != (images[*q] < images[p]) && *q != p) {
                self.pair(p, q)?;
            }
        }
        Ok(())
    }

    fn pair(&mut self, p: usize, q: usize) -> Eval<()> {
        let network = self.network;
        let (own, others) = (&network.processes[p].edges, &network.processes[q].edges);
        let receives = |edge: &&Edge| direction(edge) == Some(Direction::Receive);
        for (e, edge) in own.iter().enumerate().filter(|(_, e)| receives(e)) {
            let broadcast =
                |c: &zonelens_analysis::network::ChannelId| network.channels[*c].broadcast;
            let heard: Vec<_> = channels(edge).filter(broadcast).collect();
            for (f, other) in others.iter().enumerate().filter(|(_, e)| receives(e)) {
                if !channels(other).any(|c| heard.contains(&c)) {
                    continue;
                }
                self.know(p, e, edge)?;
                self.know(q, f, other)?;
                if self.updates[&(p, e)].hinder(&self.updates[&(q, f)]) {
                    return Err(Failure {
                        message: "the receivers of a broadcast do not commute".into(),
                        span: edge.spans.first().copied(),
                    });
                }
            }
        }
        Ok(())
    }

    fn know(&mut self, process: usize, number: usize, edge: &Edge) -> Eval<()> {
        if !self.updates.contains_key(&(process, number)) {
            let updates = Updates::of(self.network, edge)?;
            self.updates.insert((process, number), updates);
        }
        Ok(())
    }
}
