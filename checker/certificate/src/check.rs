//! The obligations of a certificate.

use crate::condition::has_deadlock;
use crate::coverage::Kind;
use crate::eval::{Failure, State};
use crate::format::{Bytes, Header, Malformed, Stream};
use crate::live::{self, Kept};
use crate::set::{Listed, Set, open_at, state_text};
use crate::steps::{Expanded, Model};
use crate::symmetry::{self, Permutation};
use crate::zone::Zone;
use std::io::Read;
use zonelens_analysis::meaning;
use zonelens_analysis::network::{Expr, Network, Query};
use zonelens_syntax::span::Span;

/// What a certificate failed to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obligation {
    /// The file is well formed.
    Format,
    /// The header is that of this model, query and constants.
    Claim,
    /// The model and the query are such that the checker knows their exact meaning.
    Covered,
    /// The permutations of elements are symmetries of the model and the query.
    Symmetry,
    /// No evaluation fails.
    NoErrors,
    /// The initial state is in the set.
    Initial,
    /// The steps of the states of the set stay in it.
    Closed,
    /// No state of the set violates the claim.
    Good,
    /// Time cannot pass for ever while the condition that runs must leave is kept.
    NotForEver,
    /// No run ends while the condition is kept.
    NotStuck,
    /// No run keeps the condition for infinitely many steps.
    NoInfinitePath,
    /// The check was not stopped by a limit or by the caller.
    Finished,
}

impl Obligation {
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Obligation::Format => "format",
            Obligation::Claim => "claim",
            Obligation::Covered => "covered",
            Obligation::Symmetry => "symmetry",
            Obligation::NoErrors => "no errors",
            Obligation::Initial => "initial",
            Obligation::Closed => "closed",
            Obligation::Good => "good",
            Obligation::NotForEver => "not for ever",
            Obligation::NotStuck => "not stuck",
            Obligation::NoInfinitePath => "no infinite path",
            Obligation::Finished => "finished",
        }
    }
}

/// Why a certificate is not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    /// The obligation that fails.
    pub obligation: Obligation,
    /// What is wrong.
    pub message: String,
    /// The number of the state in the certificate, and the state as text.
    pub state: Option<(u64, String)>,
    /// The place in the model, if there is one.
    pub span: Option<Span>,
}

impl Rejection {
    /// A rejection that is not about a state.
    pub fn new(obligation: Obligation, message: impl Into<String>) -> Rejection {
        Rejection {
            obligation,
            message: message.into(),
            state: None,
            span: None,
        }
    }

    pub(crate) fn failure(obligation: Obligation, failure: Failure) -> Rejection {
        Rejection {
            span: failure.span,
            ..Rejection::new(obligation, failure.message)
        }
    }

    /// The rejection because the condition of the query fails. Its span is no place in the model.
    pub(crate) fn of_query(failure: Failure) -> Rejection {
        let message = format!("the query: {}", failure.message);
        Rejection::new(Obligation::NoErrors, message)
    }
}

impl std::fmt::Display for Rejection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.obligation.name(), self.message)?;
        match &self.state {
            Some((number, text)) => write!(f, " (state {number}: {text})"),
            None => Ok(()),
        }
    }
}

impl From<Malformed> for Rejection {
    fn from(Malformed(message): Malformed) -> Rejection {
        Rejection::new(Obligation::Format, message)
    }
}

pub(crate) type Check<T> = Result<T, Rejection>;

/// Limits of a check.
pub struct Limits<'a> {
    /// The most bytes that are kept in memory; 8 GB if nothing else is said.
    pub memory: u64,
    /// Asked now and then whether to stop.
    pub stop: &'a dyn Fn() -> bool,
}

impl Default for Limits<'_> {
    fn default() -> Self {
        Limits {
            memory: 8 << 30,
            stop: &|| false,
        }
    }
}

impl Limits<'_> {
    /// `Err` if the caller wants to stop.
    pub(crate) fn check(&self) -> Check<()> {
        match (self.stop)() {
            true => Err(Rejection::new(
                Obligation::Finished,
                "the check was stopped before its end",
            )),
            false => Ok(()),
        }
    }
}

/// The most assignments of elements to those that a query names.
const MOST_IMAGES: usize = 20_000;

/// A certificate that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// The kind of the claim.
    pub kind: Kind,
    /// Its discrete states.
    pub states: u64,
    /// Its zones.
    pub zones: u64,
    /// Its size.
    pub bytes: u64,
    /// Whether its states stand for their images under permutations.
    pub symmetry: bool,
    /// The steps that were checked.
    pub steps: u64,
}

/// The header that a certificate of this claim must have, apart from the name of the tool.
pub fn header(network: &Network, query: &Query, kind: Kind) -> Header {
    let digested = meaning::of_network(network);
    Header {
        kind,
        digest: meaning::of_question(network, &digested, query),
        tool: String::new(),
        constants: Default::default(),
        query: query.text.to_string(),
    }
}

/// Checks a certificate of `length` bytes for a query of a network. The header must be that of this
/// claim; constants are for the caller to compare, because the network has them built in.
pub fn check(
    network: &Network,
    query: &Query,
    reader: impl Read,
    length: u64,
    limits: &Limits<'_>,
) -> Check<Accepted> {
    let mut stream = Stream::new(reader, length);
    let found = stream.header()?;
    let refuse = |message: String| Rejection::new(Obligation::Covered, message);
    let (kind, condition) = Kind::of(query).map_err(refuse)?;
    let expected = header(network, query, kind);
    if found.kind != kind {
        let message = format!(
            "it claims that {}, which is not what `{}` asks",
            found.kind.claim(),
            query.text
        );
        return Err(Rejection::new(Obligation::Claim, message));
    }
    if found.digest != expected.digest {
        let message = "it was made for another model, other constants or another query";
        return Err(Rejection::new(Obligation::Claim, message));
    }
    if kind.is_about_runs() && has_deadlock(condition) {
        return Err(refuse(
            "certificates do not cover `deadlock` along runs".into(),
        ));
    }
    let mut model = Model::new(network).map_err(|f| Rejection::failure(Obligation::Covered, f))?;
    let shape = stream.shape(network)?;
    let action = stream.action(network)?;
    let mut images = vec![Permutation::new()];
    if !action.is_empty() {
        let asymmetric = |failure| Rejection::failure(Obligation::Symmetry, failure);
        if kind.is_about_runs() {
            return Err(refuse(
                "claims about runs are not certified under symmetry".into(),
            ));
        }
        let searches = symmetry::shown(network, query, &action, limits.stop);
        model.searches = Some(searches.map_err(asymmetric)?);
        images = action.assignments(MOST_IMAGES).ok_or_else(|| {
            Rejection::new(Obligation::Symmetry, "the query names too many elements")
        })?;
    }
    let about = (network, &action);
    let set = Set::read(&mut stream, about, (shape.states, shape.zones), limits)?;
    let checker = Checker {
        network,
        model: &model,
        set: &set,
        images: &images,
        condition: kind.forbidden().map(|value| (condition, value)),
        frame: query.frame,
    };
    let mut accepted = Accepted {
        kind,
        states: shape.states,
        zones: shape.zones,
        bytes: length,
        symmetry: !action.is_empty(),
        steps: 0,
    };
    match kind.kept() {
        None => accepted.steps = checker.run(&mut stream, limits)?,
        Some(value) => {
            let kept = Kept {
                model: &model,
                condition,
                value,
                frame: query.frame,
            };
            live::run(
                &checker,
                &kept,
                kind.start(query),
                &mut stream,
                limits,
                &mut accepted,
            )?;
        }
    }
    if !stream.ends() {
        let message = "bytes follow the end of the certificate";
        return Err(Rejection::new(Obligation::Format, message));
    }
    Ok(accepted)
}

/// The obligations of a set that is closed under all steps.
pub(crate) struct Checker<'c, 'n> {
    pub network: &'n Network,
    pub model: &'c Model<'n>,
    pub set: &'c Set<'n>,
    /// The permutations under which the condition is tested.
    pub images: &'c [Permutation],
    /// The condition of the query with the value that no state may have; `None` if the set is only
    /// to be closed.
    pub condition: Option<(&'n Expr, bool)>,
    pub frame: u32,
}

impl Checker<'_, '_> {
    /// Obligation 1.
    fn initial(&self, stream: &mut impl Bytes) -> Check<()> {
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        let (arrival, zone) = self.model.initial().map_err(failed)?;
        let Some(zone) = zone else {
            return Err(no_behaviour());
        };
        let target = stream.target(self.set.action)?;
        self.set
            .covered(&arrival.state, vec![zone], &target)
            .map_err(|message| Rejection {
                state: Some((target.state, state_text(self.network, &arrival.state))),
                ..Rejection::new(Obligation::Initial, message)
            })
    }

    /// Obligations 0 to 3 for the whole set; returns the number of steps.
    pub(crate) fn run(&self, stream: &mut impl Bytes, limits: &Limits<'_>) -> Check<u64> {
        self.initial(stream)?;
        let mut steps = 0;
        for state in 0..self.set.len() {
            limits.check()?;
            steps += self.state(state, stream)?;
        }
        Ok(steps)
    }

    /// Obligations 0, 2 and 3 for the zones of one state; returns the number of their steps.
    fn state(&self, number: usize, stream: &mut impl Bytes) -> Check<u64> {
        let state = self.set.state(number)?;
        let (mut expanded, mut steps) = (None, 0);
        for zone in self.set.zones_of(number) {
            let listed = Listed::begin(self.set, stream)?;
            let result = match self.set.zone(zone)? {
                // An empty zone owes nothing.
                None => listed.end("are of an empty zone").map(|()| 0),
                Some(zone) => {
                    let expanded = match &mut expanded {
                        Some(expanded) => expanded,
                        none => none.insert(expand(self.model, state.clone())),
                    };
                    match expanded {
                        Ok(expanded) => self
                            .closed(expanded, &zone, listed, stream)
                            .and_then(|steps| self.good(expanded, zone).map(|()| steps)),
                        Err(rejection) => Err(rejection.clone()),
                    }
                }
            };
            steps += result.map_err(|rejection| Rejection {
                state: Some((number as u64, state_text(self.network, &state))),
                ..rejection
            })?;
        }
        Ok(steps)
    }

    /// Obligations 0 and 2: every step of the zone has its entry, and the zones that the entry
    /// names cover the exact successors. Returns the number of steps.
    fn closed(
        &self,
        expanded: &mut Expanded<'_, '_>,
        zone: &Zone,
        mut listed: Listed<'_>,
        stream: &mut impl Bytes,
    ) -> Check<u64> {
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        let mut steps = 0;
        expanded.failing_guard(zone).map_err(failed)?;
        for index in 0..expanded.steps.len() {
            let successors = expanded.successors(index, zone).map_err(failed)?;
            if successors.is_empty() {
                continue;
            }
            steps += 1;
            let target = listed.target(&expanded.steps[index].key, stream)?;
            let state = expanded.target(index).map_err(failed)?;
            if let Err(message) = self.set.covered(state, successors, &target) {
                let message = format!("{message}, after the step");
                return Err(open_at(self.network, &expanded.steps[index].key, &message));
            }
        }
        listed.end("do not exist")?;
        Ok(steps)
    }

    /// Obligation 3.
    fn good(&self, expanded: &mut Expanded<'_, '_>, zone: Zone) -> Check<()> {
        let Some((condition, forbidden)) = self.condition else {
            return Ok(());
        };
        let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
        let dead = match has_deadlock(condition) {
            true => expanded.dead(&zone).map_err(failed)?,
            false => Vec::new(),
        };
        for by in self.images {
            let mut state = self.set.action.state(by, &expanded.state);
            let dead = self.set.action.zones(by, dead.clone());
            let mut evaluator = self.model.evaluator(&mut state);
            evaluator.enter(self.frame, std::iter::empty());
            for zone in self.set.action.zones(by, vec![zone.clone()]) {
                let parts = evaluator.parts(condition, zone, &dead);
                let mut parts = parts.map_err(Rejection::of_query)?.into_iter();
                if parts.any(|(value, _)| (value != 0) == forbidden) {
                    return Err(Rejection::new(
                        Obligation::Good,
                        match forbidden {
                            true => "the condition of the query holds in a part of the zone",
                            false => "the condition of the query is false in a part of the zone",
                        },
                    ));
                }
            }
        }
        Ok(())
    }
}

/// The steps of a state.
pub(crate) fn expand<'m, 'n>(model: &'m Model<'n>, state: State) -> Check<Expanded<'m, 'n>> {
    let failed = |failure| Rejection::failure(Obligation::NoErrors, failure);
    model.expand(state).map_err(failed)
}

/// The rejection of a model whose initial state is impossible.
pub(crate) fn no_behaviour() -> Rejection {
    let message = "the initial state violates an invariant, so the model has no behaviour";
    Rejection::new(Obligation::Initial, message)
}
