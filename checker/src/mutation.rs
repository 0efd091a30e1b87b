//! Seeded bugs for the tests of the tests: the oracle must catch each of them. Outside unit tests
//! nothing is ever on.

/// A bug that can be switched on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutation {
    /// Static bounds are one too low.
    LowBound,
    /// Invariants of targets are not looked at.
    MissedInvariant,
    /// `<` is taken for `<=`.
    LostStrictness,
    /// Urgent channels do not stop time.
    UrgencyIgnored,
    /// Committed locations do not come first.
    CommittedIgnored,
    /// Broadcast receivers may stay out.
    LazyReceivers,
    /// Receivers' updates run before the sender's.
    ReceiversFirst,
    /// The static analysis believes that every edge sets every clock.
    EverythingSet,
    /// Subtraction keeps the border on both sides.
    ThickBorder,
    /// Invariants do not stop delays.
    EndlessDelay,
    /// A larger zone is dropped because a smaller one is stored.
    CoveredBySmaller,
    /// Liveness cycles close by inclusion.
    CycleByInclusion,
    /// `deadlock` is searched under LU bounds.
    LuForDeadlock,
    /// What is compared of a clock is not asked of those that it is set to.
    CopiesForgotten,
    /// The same, for differences of clocks only.
    DifferencesNotCopied,
    /// The static analysis takes every index for the first.
    FirstIndexOnly,
    /// The processes of a step have no priority.
    ProcessesEqual,
    /// `after_update` runs before the updates of edges.
    AfterComesFirst,
    /// Steps that others block are evaluated when they would block a third.
    BlockedBlocks,
    /// Faults count in the whole of a zone that a trace passes through.
    FaultsOnTheWay,
    /// Proofs about runs: every step takes time.
    StepsTakeTime,
    /// Proofs about runs: time stands still where it may pass for ever.
    NoWaiting,
    /// Coverage: a step counts as taken where its integer guards hold.
    FoundIsTaken,
    /// Coverage: a guard counts as true where its integers are.
    GuardWithoutClocks,
    /// Coverage: of a step only the first edge counts.
    ReceiversForgotten,
    /// Folded zones: two elements of a class are taken for one.
    TwinsForgotten,
    /// `a≼LU` compares the bounds of single clocks only.
    SimulationOfSingles,
    /// `a≼LU` takes L for U.
    SimulationSwapsBounds,
    /// Every size: only the elements of moving processes are added to views.
    EveryProcessesOnly,
    /// Every size: an index that the same step assigns to counts once.
    EveryWritesForgotten,
    /// Every size: `select` variables range over the members only.
    EverySelectInside,
    /// Every size: members that are alike are stored in one order only.
    EveryOneOrder,
    /// Every size: two elements outside are the same.
    EveryOthersEqual,
    /// Every size: quantifiers range over the members only.
    EveryQuantifierClosed,
    /// Every size: an open guard obliges a receiver, and an open invariant or guard is certain.
    EveryOpenObliges,
    /// Every size: committed members block every broadcast.
    EveryCommittedBlocks,
    /// Every size: an urgent synchronisation that is open stops time.
    EveryUrgentOpen,
    /// Every size: an invariant about an element outside is violated.
    EveryInvariantClosed,
}

#[cfg(test)]
impl Mutation {
    /// All that change verdicts.
    pub(crate) const ALL: [Mutation; 20] = [
        Mutation::LowBound,
        Mutation::MissedInvariant,
        Mutation::LostStrictness,
        Mutation::UrgencyIgnored,
        Mutation::CommittedIgnored,
        Mutation::LazyReceivers,
        Mutation::ReceiversFirst,
        Mutation::EverythingSet,
        Mutation::ThickBorder,
        Mutation::EndlessDelay,
        Mutation::CoveredBySmaller,
        Mutation::CycleByInclusion,
        Mutation::LuForDeadlock,
        Mutation::CopiesForgotten,
        Mutation::DifferencesNotCopied,
        Mutation::FirstIndexOnly,
        Mutation::ProcessesEqual,
        Mutation::AfterComesFirst,
        Mutation::BlockedBlocks,
        Mutation::FaultsOnTheWay,
    ];
    /// Those of proofs about runs, which other searches often hide.
    pub(crate) const OF_RUNS: [Mutation; 3] = [
        Mutation::StepsTakeTime,
        Mutation::NoWaiting,
        Mutation::CycleByInclusion,
    ];
    /// Those of the comparison up to `a≼LU`, which most models of the other campaigns do not use.
    pub(crate) const OF_SIMULATION: [Mutation; 2] = [
        Mutation::SimulationOfSingles,
        Mutation::SimulationSwapsBounds,
    ];
    /// Those of proofs for every size.
    pub(crate) const OF_EVERY: [Mutation; 9] = [
        Mutation::EveryProcessesOnly,
        Mutation::EveryWritesForgotten,
        Mutation::EverySelectInside,
        Mutation::EveryOthersEqual,
        Mutation::EveryQuantifierClosed,
        Mutation::EveryOpenObliges,
        Mutation::EveryCommittedBlocks,
        Mutation::EveryUrgentOpen,
        Mutation::EveryInvariantClosed,
    ];
    /// Those of coverage, which verdicts do not depend on.
    pub(crate) const OF_COVERAGE: [Mutation; 3] = [
        Mutation::FoundIsTaken,
        Mutation::GuardWithoutClocks,
        Mutation::ReceiversForgotten,
    ];
}

#[cfg(test)]
thread_local! {
    static CURRENT: std::cell::Cell<Option<Mutation>> = const { std::cell::Cell::new(None) };
}

/// Switches a bug on for this thread.
#[cfg(test)]
pub(crate) fn set(mutation: Option<Mutation>) {
    CURRENT.set(mutation);
}

/// Whether the bug is on.
#[cfg(test)]
pub(crate) fn is_on(mutation: Mutation) -> bool {
    CURRENT.get() == Some(mutation)
}

/// Whether the bug is on: never outside tests.
#[cfg(not(test))]
#[inline(always)]
pub(crate) const fn is_on(_: Mutation) -> bool {
    false
}
