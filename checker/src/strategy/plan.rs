//! Decides which abstraction is exact for which query.

use super::{Answer, Run};
use crate::bounds::Bounds;
use crate::bounds::abstraction::Abstraction;
use crate::mutation::{Mutation, is_on};
use crate::program::{Formula, compile_formula};
use crate::search::sequential::Settings;
use crate::store::passed_waiting::Covering;
use crate::strategy::Search;
use crate::strategy::reachable::Target;
use crate::symmetry::{
    Audit, Chosen, MOST_NAMED, Representative, Tables, is_invariant, one_per_orbit,
};
use crate::zone::Zone;
use std::collections::BTreeSet;
use zonelens_analysis::network::{Expr, Position, ScalarsetId};
use zonelens_analysis::report::{
    AbstractionOption, ExcludedScalarset, ScalarsetReport, SearchOrder, Switch, SymmetryOption,
    SymmetryReport, TraceOption,
};
use zonelens_interpreter::Limit;

impl Run<'_> {
    /// Compiles a condition of the query.
    pub(crate) fn formula(&self, expr: &Expr) -> Result<Formula, Answer> {
        compile_formula(expr).map_err(|error| Answer::unsupported(error.message))
    }

    /// The bounds for the abstraction, or the answer that says why there are none.
    pub(crate) fn bounds(&self, conditions: &[&Formula]) -> Result<Bounds, Answer> {
        self.usable(Bounds::new(self.program, conditions))
    }

    /// The same for `E<>` and `A[]`. A condition that is evaluated for whole orbits needs its
    /// bounds everywhere.
    pub(crate) fn bounds_to_reach(&self, condition: &Formula) -> Result<Bounds, Answer> {
        self.usable(if self.named().is_empty() {
            Bounds::to_reach(self.program, condition)
        } else {
            Bounds::new(self.program, &[condition])
        })
    }

    fn usable(&self, bounds: Bounds) -> Result<Bounds, Answer> {
        if let Some(span) = bounds.wild_diagonal {
            let Position { line, column } = (self.position)(span);
            let message =
                "a clock difference is compared with too many values to treat each of them exactly";
            let message = format!("line {line}, column {column}: {message}");
            return Err(Answer::unsupported(message));
        }
        Ok(bounds)
    }

    /// The same, with inclusion of zones in place of `a≼LU` if more than reachability matters: if
    /// `exact` says so, or the order of clocks decides the representatives.
    pub(crate) fn without_alu(settings: Settings, exact: bool) -> Settings {
        match settings.abstraction {
            Abstraction::Alu if exact => Settings {
                abstraction: Abstraction::ExtraLu,
                ..settings
            },
            _ => settings,
        }
    }

    /// The same, with `a≼LU` in place of inclusion where that is exact, nobody asked for something
    /// else, and nobody reads the stored states (`bounds/abstraction.rs`).
    pub(crate) fn up_to_simulation(
        &self,
        settings: Settings,
        target: &Target<'_>,
        reduced: bool,
    ) -> Settings {
        let options = self.options;
        let wanted = options.abstraction == AbstractionOption::Auto
            && !options.without.contains(&Switch::Simulation)
            && matches!(options.trace, TraceOption::None | TraceOption::Some)
            && !options.audit_symmetry
            && !self.wants_certificate();
        // With differences of clocks, the abstraction is another one.
        let exact = settings.abstraction == Abstraction::ExtraLu
            && settings.covering == Covering::Inclusion
            && !settings.shortest
            && !target.formula.has_deadlock()
            && !self.program.has_rates
            && !reduced;
        match wanted && exact {
            true => Settings {
                abstraction: Abstraction::Alu,
                ..settings
            },
            false => settings,
        }
    }

    /// How to search for reachable states. `plain` says that the query has no `deadlock`, so that
    /// simulation is enough; otherwise regions must be kept (a state covered under LU may hide a
    /// deadlock).
    pub(crate) fn settings(&self, bounds: &Bounds, plain: bool) -> Settings {
        let diagonals = !bounds.diagonals.is_empty();
        let abstraction = match self.options.abstraction {
            AbstractionOption::None => Abstraction::None,
            _ if diagonals || !plain && !is_on(Mutation::LuForDeadlock) => Abstraction::ExtraM,
            AbstractionOption::ExtraM => Abstraction::ExtraM,
            // A state that simulates another may need more steps or time.
            AbstractionOption::Alu
                if !matches!(
                    self.options.trace,
                    TraceOption::Shortest | TraceOption::Fastest
                ) =>
            {
                Abstraction::Alu
            }
            AbstractionOption::Alu => Abstraction::ExtraLu,
            AbstractionOption::Auto
            | AbstractionOption::ExtraLu
            | AbstractionOption::ConvexHull => Abstraction::ExtraLu,
        };
        let hull = self.options.abstraction == AbstractionOption::ConvexHull && plain && !diagonals;
        let shortest = matches!(self.options.trace, TraceOption::Shortest);
        Settings {
            abstraction,
            covering: if hull {
                Covering::Hull
            } else {
                Covering::Inclusion
            },
            order: if shortest {
                SearchOrder::Bfs
            } else {
                self.options.search
            },
            seed: self.options.seed,
            shortest,
        }
    }

    /// The symmetry reduction for a search, if there is something to reduce over.
    pub(crate) fn representative(&self, settings: &Settings) -> Option<Representative> {
        let representative = self.tables().map(Representative::new);
        match settings.covering {
            Covering::Hull => representative.map(Representative::without_clocks),
            _ => representative,
        }
    }

    /// The reduction for `E<>` and `A[]`. If every permutation fixes the initial state, elements
    /// that the query names may be permuted too; they are returned with their sets. The query is
    /// then evaluated for whole orbits, and its bounds on their clocks become bounds of all clocks
    /// that they may be exchanged with.
    pub(crate) fn representative_and_named(
        &self,
        settings: &Settings,
        bounds: &mut Bounds,
    ) -> (Option<Representative>, Vec<(usize, u16)>) {
        let plain = || (self.representative(settings), Vec::new());
        let candidates = self.candidates();
        let named = self.named();
        // Zones are split on the differences as the query writes them, with its names.
        let split = !bounds.diagonals.is_empty();
        if named.is_empty() || split || settings.covering == Covering::Hull {
            return plain();
        }
        let of = |set: ScalarsetId| named.iter().filter(|n| n.0 == set).count();
        let (few, many): (BTreeSet<_>, BTreeSet<_>) =
            named.iter().partition(|n| of(n.0) <= MOST_NAMED);
        let Some(tables) = Tables::new(self.network, &candidates, &many) else {
            return plain();
        };
        let moved = few.iter().filter_map(|(id, element)| {
            let set = tables.sets.iter().position(|s| s.id == *id)?;
            let element = *element as u16;
            let free = tables.sets[set].blocks.iter().any(|b| b.contains(&element));
            free.then_some((set, element))
        });
        let moved: Vec<(usize, u16)> = moved.collect();
        let representative = Representative::new(tables);
        let start = Zone::point(&self.program.initial_clocks);
        let few_enough = (1..=MOST_NAMED).contains(&moved.len());
        if few_enough && is_invariant(&representative, &self.program.initial, &start) {
            bounds.even_out(|clock| representative.tables().kind_of_clock(clock));
            (Some(representative), moved)
        } else {
            plain()
        }
    }

    /// How permutations act on states, if there are any permutations.
    pub(crate) fn tables(&self) -> Option<Tables> {
        let candidates = self.candidates();
        Tables::new(self.network, &candidates, &self.named())
    }

    /// The elements that the query distinguishes.
    fn named(&self) -> BTreeSet<(ScalarsetId, u32)> {
        let candidates = self.candidates();
        let named = self.query.named_elements.iter();
        named
            .filter(|n| candidates.contains(&n.0))
            .copied()
            .collect()
    }

    /// The audit, if it is wanted; it also compares the values of the conditions.
    pub(crate) fn audit<'f>(
        &self,
        conditions: impl IntoIterator<Item = &'f Formula>,
    ) -> Option<Audit<'f>>
    where
        Self: 'f,
    {
        let wanted = self.options.audit_symmetry;
        wanted.then(|| {
            Audit::new(self.options.seed).conditions(self.program, self.query.frame, conditions)
        })
    }

    /// The scalarsets that may be reduced over.
    pub(crate) fn candidates(&self) -> Vec<ScalarsetId> {
        let sets = self.network.scalarsets.enumerated();
        sets.filter(|(_, set)| {
            let wanted = match self.options.symmetry {
                SymmetryOption::Off => false,
                SymmetryOption::Scalarsets => !set.detected,
                SymmetryOption::Auto => true,
            };
            wanted && (set.broken.is_empty() || self.options.force_symmetry) && set.size > 1
        })
        .map(|(id, _)| id)
        .collect()
    }

    /// A search whose paths are only needed for traces.
    pub(crate) fn search_for_goal<'s>(
        &self,
        bounds: &'s Bounds,
        settings: Settings,
        representative: Option<Representative>,
        audit: Option<Audit<'s>>,
    ) -> Search<'s>
    where
        Self: 's,
    {
        let model = (self.program, bounds);
        let graph = Chosen::new(model, settings.abstraction, representative, audit)
            .whole_zones(self.options.whole_zones)
            .for_paths(self.wants_trace());
        Search::new(self.program, bounds, settings, graph)
    }

    /// A search for states, reduced by `representative` if there is one.
    pub(crate) fn search<'s>(
        &self,
        bounds: &'s Bounds,
        settings: Settings,
        representative: Option<Representative>,
        audit: Option<Audit<'s>>,
    ) -> Search<'s>
    where
        Self: 's,
    {
        let graph = Chosen::new(
            (self.program, bounds),
            settings.abstraction,
            representative,
            audit,
        );
        let graph = graph.whole_zones(self.options.whole_zones);
        Search::new(self.program, bounds, settings, graph)
    }

    /// The report on the symmetry that a search used. `judge` is the limit for judging whether one
    /// state per orbit was kept; `None` if the run was stopped, because then nothing is claimed.
    pub(crate) fn symmetry_of(
        &self,
        search: &Search<'_>,
        judge: Option<Limit<'_>>,
    ) -> Box<SymmetryReport> {
        let shared = search.states.shared();
        self.symmetry_over(&search.graph, shared, |node| search.state(node), judge)
    }

    /// The same for states that are stored elsewhere.
    pub(crate) fn symmetry_over(
        &self,
        graph: &Chosen<'_>,
        shared: impl Iterator<Item = Vec<u32>>,
        load: impl Fn(u32) -> (Vec<i32>, Zone),
        judge: Option<Limit<'_>>,
    ) -> Box<SymmetryReport> {
        let mut report = self.symmetry_report(graph.representative());
        report.audit = graph.audit().map(|a| a.done().clone());
        report.canonical = match (graph.representative(), judge) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(r), Some(limit)) => one_per_orbit(r, self.program.dim(), shared, load, limit),
        };
        Box::new(report)
    }

    /// The report on symmetry.
    pub(crate) fn symmetry_report(&self, used: Option<&Representative>) -> SymmetryReport {
        let sets = used.iter().flat_map(|r| &r.tables().sets);
        let reduced = sets.filter(|s| !s.blocks.is_empty()).map(|reduced| {
            let set = &self.network.scalarsets[reduced.id];
            ScalarsetReport {
                name: set.name.to_string(),
                size: set.size,
                detected: set.detected,
                interchangeable: reduced.blocks.iter().map(|b| b.len() as u32).collect(),
            }
        });
        let excluded = self.network.scalarsets.iter().filter_map(|set| {
            let rule = set.broken.first()?;
            let Position { line, column } = (self.position)(rule.span);
            Some(ExcludedScalarset {
                name: set.name.to_string(),
                rule: rule.code.to_owned(),
                line,
                column,
            })
        });
        SymmetryReport {
            scalarsets: reduced.collect(),
            canonical: used.is_none_or(|r| r.broken_ties == 0),
            excluded: excluded.collect(),
            audit: None,
        }
    }

    /// The abstraction for liveness: it must keep regions.
    pub(crate) fn region_abstraction(&self) -> Abstraction {
        match self.options.abstraction {
            AbstractionOption::None => Abstraction::None,
            _ => Abstraction::ExtraM,
        }
    }
}
