//! Families that are right for some sizes and wrong from some size on, for one rule each.

use crate::mutation::Mutation;

/// A family that is wrong from some size on, which a closure with one bug claims.
pub(super) struct Trap {
    /// The rule that the bug breaks.
    pub name: &'static str,
    /// The bugs, each of which is to be noticed.
    pub bugs: &'static [Mutation],
    /// The first size that is wrong.
    pub from: u32,
    /// The model after the declaration of `pid`.
    pub text: &'static str,
    /// The claim.
    pub claim: &'static str,
}

/// One for each rule.
pub(super) const TRAPS: [Trap; 11] = [
    Trap {
        name: "what a sender assigns, its receiver may use as an index",
        bugs: &[Mutation::EveryWritesForgotten],
        from: 6,
        text: "pid id, id2; bool s1, s2, seen; bool flag[pid]; chan c;
process P(const pid i) { state a, b, d, e, h; init a; trans
  a -> h { guard !s1; assign id = i, s1 = true, flag[i] = true; },
  a -> h { guard s1 && !s2; assign id2 = i, s2 = true, flag[i] = true; },
  a -> b { guard !seen; },
  a -> d { guard s2 && !seen && flag[id]; sync c!; assign id = id2; },
  a -> e { sync c?; assign seen = flag[id]; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && seen && P(i).b && P(j).b)",
    },
    Trap {
        name: "an element-valued variable as an index counts",
        bugs: &[Mutation::EveryProcessesOnly],
        from: 4,
        text: "pid id; bool set, seen; bool flag[pid];
process P(const pid i) { state a, b, c, h; init a; trans
  a -> h { guard !seen && !set; assign id = i, set = true, flag[i] = true; },
  a -> b { guard !seen; },
  a -> c { guard set && !seen && flag[id]; assign seen = true; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && seen && P(i).b && P(j).b)",
    },
    Trap {
        name: "an element-valued variable as an index of clocks counts",
        bugs: &[Mutation::EveryProcessesOnly],
        from: 4,
        text: "pid id; bool set, seen; clock x[pid];
process P(const pid i) { state a, b, c, h; init a; trans
  a -> h { guard !seen && !set; assign id = i, set = true, x[i] = 0; },
  a -> b { guard !seen; },
  a -> c { guard set && !seen && x[id] >= 1; assign seen = true; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && seen && P(i).b && P(j).b)",
    },
    Trap {
        name: "a select variable as an index counts",
        bugs: &[Mutation::EveryProcessesOnly],
        from: 4,
        text: "bool seen; bool flag[pid];
process P(const pid i) { state a, b, c, h; init a; trans
  a -> h { guard !seen; assign flag[i] = true; },
  a -> b { guard !seen; },
  a -> c { select j : pid; guard !seen && flag[j]; assign seen = true; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && seen && P(i).b && P(j).b)",
    },
    Trap {
        name: "select ranges over elements outside, too",
        bugs: &[Mutation::EverySelectInside],
        from: 4,
        text: "bool moved; pid id;
process P(const pid i) { state a, b; init a; trans
  a -> b { select j : pid; guard !moved && j != i; assign id = j, moved = true; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) (i != j && moved && P(i).a && P(j).a imply id == i || id == j)",
    },
    Trap {
        name: "two elements outside may differ",
        bugs: &[Mutation::EveryOthersEqual],
        from: 5,
        text: "pid id, id2; bool s1, s2, seen;
process P(const pid i) { state a, b, c, h; init a; trans
  a -> h { guard !s1; assign id = i, s1 = true; },
  a -> h { guard s1 && !s2; assign id2 = i, s2 = true; },
  a -> b { guard !seen; },
  a -> c { guard s2 && !seen && id != id2; assign seen = true; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && seen && P(i).b && P(j).b)",
    },
    Trap {
        name: "a quantifier that is true on the members is open",
        bugs: &[Mutation::EveryQuantifierClosed],
        from: 4,
        text: "bool looked, all; bool done[pid];
process P(const pid i) { state idle, d, look; init idle; trans
  idle -> d { guard !looked; assign done[i] = true; },
  idle -> look { guard !looked; assign looked = true, all = forall (j : pid) (j == i || done[j]); }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) (i != j && done[i] && done[j] && looked imply all)",
    },
    Trap {
        name: "an open guard does not oblige a receiver",
        bugs: &[Mutation::EveryOpenObliges],
        from: 4,
        text: "bool sent; bool odd[pid]; broadcast chan go;
process P(const pid i) { state a, o, s, r; init a; trans
  a -> o { guard !sent; assign odd[i] = true; },
  a -> s { guard !sent; sync go!; assign sent = true; },
  a -> r { guard !(exists (k : pid) odd[k]); sync go?; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) (i != j && P(i).a && P(j).a imply !sent)",
    },
    Trap {
        name: "committed members do not block a broadcast that a committed element may receive",
        bugs: &[Mutation::EveryCommittedBlocks],
        from: 4,
        text: "bool started, sent; broadcast chan start, go;
process P(const pid i) { state z, y, p, q, u, w, v; commit u, w; init z; trans
  z -> p { guard !started; }, z -> q { guard !started; },
  p -> u { sync start?; }, q -> w { sync start?; },
  z -> y { guard started && !sent; sync go!; assign sent = true; },
  w -> v { sync go?; }, u -> v { guard sent; }, u -> v { guard !sent; }, w -> v { guard !sent; }; }
process F() { state f, g; init f; trans f -> g { sync start!; assign started = true; }; }
system P, F;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && sent && P(i).u && P(j).u)",
    },
    Trap {
        name: "an open urgent synchronisation does not stop time",
        bugs: &[Mutation::EveryUrgentOpen, Mutation::EveryOpenObliges],
        from: 4,
        text: "bool odd[pid], late; clock z; urgent chan go;
process P(const pid i) { state a, o, s, m, e; init a; trans
  a -> o { guard !late; assign odd[i] = true; },
  a -> s { guard !late; },
  a -> m { guard !late; assign late = true, z = 0; },
  s -> e { guard late && !(exists (k : pid) odd[k]); sync go!; }; }
process F() { state f; init f; trans f -> f { sync go?; }; }
system P, F;",
        claim: "A[] forall (i : pid) forall (j : pid) (i != j && P(i).s && P(j).s && late imply z <= 0)",
    },
    Trap {
        name: "an invariant about an element outside is taken as true",
        bugs: &[Mutation::EveryInvariantClosed],
        from: 4,
        text: "pid id; bool set, seen; bool flag[pid];
process P(const pid i) { state a, b { flag[id] }, c, h; init a; trans
  a -> h { guard !set; assign id = i, set = true, flag[i] = true; },
  a -> b { guard set && !seen; },
  a -> c { guard set && !seen; assign seen = true; }; }
system P;",
        claim: "A[] forall (i : pid) forall (j : pid) not (i != j && seen && P(i).b && P(j).b)",
    },
];
