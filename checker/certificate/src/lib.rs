//! Checks certificates: files that prove a verdict of `zonelens verify`.
//!
//! Nothing here is shared with the engine that writes them: neither zones nor compiled expressions,
//! neither the search nor its abstractions, reductions or query plans. What is trusted is this
//! crate, `syntax` and `analysis` up to the network (parsing, types, constants, instantiation), and
//! the compiler. A person can read the crate in an afternoon; begin with `check.rs`, then
//! `steps.rs`, `condition.rs`, `eval.rs`, `zone.rs`, `set.rs`, `format.rs`; claims about runs are
//! in `live.rs` and `paths.rs`, and sets of states that stand for their images under permutations
//! are in `symmetry`. `complete.rs` is no part of any proof.
//!
//! # What is proved
//!
//! A certificate lists a set S of symbolic states: discrete states (locations, values of variables;
//! a value may be `*`, any value), each with zones (sets of clock values given by bounds on
//! differences). A concrete state *is in S* if a discrete state of S agrees with it wherever it is
//! not `*` and one of its zones contains the clock values.
//!
//! **Theorem.** If [`check()`] accepts a certificate for `A[] φ`, every reachable state satisfies
//! φ, and no reachable evaluation fails. If it accepts one for `E<> φ`, no reachable state
//! satisfies φ, and no reachable evaluation fails.
//!
//! *Argument.* The checker establishes, for the network as `analysis` built it:
//!
//! 0. *No errors.* For every zone of S that is not empty, every guard, synchronisation, update,
//!    hook, target invariant and the query is evaluated without failure where the clock part of its
//!    guard allows it at some point of the zone. To read a `*` counts as failure.
//! 1. *Initial.* The initial state and all states that time reaches from it are in S.
//! 2. *Closed.* For every zone of S and every step from it, the exact set of successors, and all
//!    states that time reaches from them while the invariants hold, is covered by zones of S of one
//!    discrete state that agrees with the target. Steps are enumerated by the checker; the list in
//!    the file says only where to look, and a list with one step more or less is rejected.
//! 3. *Good.* No point of any zone of S violates the claim. For `deadlock`, the points are computed
//!    that meet the invariants and from which no delay that is allowed leads to a step that exists.
//!
//! By 1 and 2, and induction over the steps of a run, every reachable state is in S: a state that
//! agrees with a discrete state of S up to `*` has the same steps and, as no `*` was read, the same
//! results in all cells that are not `*`; a cell that a step does not write stays `*`, which covers
//! every value. By 3, every reachable state satisfies the claim. By 0, no evaluation that the
//! semantics makes on the way fails: a guard, update or invariant is evaluated at a reachable
//! point, which lies in a zone of S, and it does not fail there. ∎
//!
//! A certificate of this kind may be *up to symmetry*: its states stand for their images under
//! permutations, which the checker shows to be symmetries. Obligations 1 and 2 then hold for the
//! image under a permutation that the file names, and 3 for all elements that the query may name.
//! The theorem is the same; `symmetry/mod.rs` has the argument.
//!
//! # Claims about runs
//!
//! `A<> q` claims that no run keeps `¬q`, `p --> q` that no run from a reachable state with `p`
//! does, and a refuted `E[] φ` that no run keeps `φ`. A *run* takes infinitely many steps, or lets
//! time pass for ever, or ends where no step exists, now or after any delay that is allowed, and no
//! more time may pass. Infinitely many steps in finite time are a run, too. Call the condition that
//! is kept `κ`. The certificate has a set L of states; for `p --> q` it has a set S as well, which
//! meets obligations 0 to 2.
//!
//! **Theorem.** If [`check()`] accepts a certificate for `A<> q` or a refuted `E[] φ`, no run from
//! the initial state keeps `κ`, and no evaluation fails while it is kept. If it accepts one for
//! `p --> q`, no run from a reachable state with `p` keeps `¬q`, and no reachable evaluation fails.
//!
//! *Argument.* The checker establishes, for the points of L that meet the invariants and `κ`:
//!
//! 4. *Start.* L contains the initial state if it meets `κ` (for `p --> q`: every point of S that
//!    meets the invariants, `p` and `¬q`, also in the middle of a delay), and all states that time
//!    reaches from there while `κ` holds at every instant.
//! 5. *Closed.* As 2, with successors that meet `κ`, delayed while `κ` holds at every instant. What
//!    is evaluated on the way does not fail, as 0.
//! 6. *Not for ever.* From no point may time pass for ever while `κ` holds.
//! 7. *Not stuck.* From every point, an allowed delay leads to a step that exists, or to a state
//!    without `κ`.
//! 8. *No infinite path.* No run follows an infinite path over the steps of the zones of L.
//!
//! Assume a run from a start that keeps `κ`. By 4, 5 and induction over its steps, all its states
//! lie in L, and what follows a step lies in the zones that are named for it. If the run lets time
//! pass for ever, it does so from a point of L, against 6. If it ends, then at a point `v` after
//! which neither time nor a step is possible, and `v` is in L, against 7. If it takes infinitely
//! many steps, it follows an infinite path over the zones of L, against 8: the argument about the
//! proof in the file is at the head of `paths.rs`. `live.rs` has the details of delays through a
//! `κ` that is not convex, and of 6 and 7. ∎
//!
//! The set may contain more than the reachable states: every closed set without violations is a
//! proof, however it was found. Nothing is extrapolated, no bounds are computed and nothing is
//! searched for. Inclusion of a zone Z in a zone Z' of the file is decided by comparing the bounds
//! of Z, which is closed, with the bounds that the file lists for Z', which need not be closed.
//!
//! Steps 3 and 7 rely on the exactness of *possible* steps in `steps.rs`: a step that the checker
//! invented would hide a deadlock. Steps 2 and 5 do not: a step too many only asks for more.

mod check;
mod claim;
mod complete;
mod condition;
mod coverage;
mod eval;
mod format;
mod live;
mod paths;
mod set;
mod steps;
mod symmetry;
mod zone;
#[cfg(test)]
mod zone_tests;

pub use check::{Accepted, Limits, Obligation, Rejection, check, header};
pub use claim::{Asked, Outcome, certify};
pub use complete::completed;
pub use coverage::{Kind, refusal};
pub use eval::Failure;
pub use format::{Header, Malformed, Shape, Stream, Target, Tree, TreePart, Writer};
pub use steps::{Key, Part};
pub use symmetry::{Action, Coordinate, Coordinates, Elements, Permutation, refutation};
pub use zone::{Bound, Constraint, INFINITE};
