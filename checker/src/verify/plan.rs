//! Which abstraction is exact for which query.

use super::{Answer, Run};
use crate::explore::abstraction::Abstraction;
use crate::explore::bounds::Bounds;
use crate::explore::passed_waiting::Covering;
use crate::explore::search::Settings;
use crate::mutation::{Mutation, is_on};
use crate::program::{Formula, compile_formula};
use crate::symmetry::{Audit, MOST_NAMED, Representative, Tables, is_invariant, named_elements};
use crate::zone::Zone;
use std::collections::BTreeSet;
use zonelens_analysis::network::{Expr, Position};
use zonelens_analysis::report::{
    AbstractionOption, ExcludedScalarset, ScalarsetReport, SearchOrder, SymmetryOption,
    SymmetryReport, TraceOption, Verdict,
};

impl Run<'_> {
    /// Compiles a condition of the query.
    pub fn formula(&self, expr: &Expr) -> Result<Formula, Answer> {
        compile_formula(expr).map_err(|error| {
            Answer::because(Verdict::Unknown, format!("unsupported: {}", error.message))
        })
    }

    /// Bounds for the abstraction, or why there are none.
    pub fn bounds(&self, conditions: &[&Formula]) -> Result<Bounds, Answer> {
        self.usable(Bounds::new(self.program, conditions))
    }

    /// The same for `E<>` and `A[]`. What is asked of whole orbits must be known of them all, wherever they are.
    pub fn bounds_to_reach(&self, condition: &Formula) -> Result<Bounds, Answer> {
        let named = named_elements(self.network, self.query, &self.candidates());
        self.usable(if named.is_empty() {
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
            return Err(Answer::because(
                Verdict::Unknown,
                format!("unsupported: line {line}, column {column}: {message}"),
            ));
        }
        Ok(bounds)
    }

    /// The same, with inclusion of zones in place of `a≼LU` where more counts than what can be reached: where `exact` says
    /// so, or representatives are made by the order of clocks.
    pub fn without_alu(settings: Settings, exact: bool) -> Settings {
        match settings.abstraction {
            Abstraction::Alu if exact => Settings {
                abstraction: Abstraction::ExtraLu,
                ..settings
            },
            _ => settings,
        }
    }

    /// How to search for reachable states. `plain` says that the query has no `deadlock`, so that simulation is enough;
    /// otherwise regions must be kept (a state covered under LU may hide a deadlock).
    pub fn settings(&self, bounds: &Bounds, plain: bool) -> Settings {
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
    pub fn representative(&self, settings: &Settings) -> Option<Representative> {
        match settings.covering {
            Covering::Hull => None,
            _ => self.tables().map(Representative::new),
        }
    }

    /// The reduction for `E<>` and `A[]`. If every permutation fixes the initial state, elements that the query names may
    /// be moved all the same, and are given with their sets: the query is then asked of whole orbits, and what it says of
    /// their clocks becomes a bound of all clocks they may be exchanged with.
    pub fn representative_and_named(
        &self,
        settings: &Settings,
        bounds: &mut Bounds,
    ) -> (Option<Representative>, Vec<(usize, u16)>) {
        let plain = || (self.representative(settings), Vec::new());
        let candidates = self.candidates();
        let named = named_elements(self.network, self.query, &candidates);
        // Zones are split on differences as the query writes them, with its names.
        let split = !bounds.diagonals.is_empty();
        if named.is_empty() || split || settings.covering == Covering::Hull {
            return plain();
        }
        let of = |set: u32| named.iter().filter(|n| n.0 == set).count();
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

    /// How permutations act, if there are any.
    pub fn tables(&self) -> Option<Tables> {
        let candidates = self.candidates();
        let fixed = named_elements(self.network, self.query, &candidates);
        Tables::new(self.network, &candidates, &fixed)
    }

    /// The audit, if it is wanted.
    pub fn audit(&self) -> Option<Audit> {
        self.options
            .audit_symmetry
            .then(|| Audit::new(self.options.seed))
    }

    /// Scalarsets that may be reduced over.
    pub fn candidates(&self) -> Vec<u32> {
        let sets = self.network.scalarsets.iter().enumerate();
        sets.filter(|(_, set)| {
            let wanted = match self.options.symmetry {
                SymmetryOption::Off => false,
                SymmetryOption::Scalarsets => !set.detected,
                SymmetryOption::Auto => true,
            };
            wanted && set.broken.is_empty() && set.size > 1
        })
        .map(|(id, _)| id as u32)
        .collect()
    }

    /// The report on symmetry.
    pub fn symmetry_report(&self, used: Option<&Representative>) -> SymmetryReport {
        let reduced = used.map(|r| {
            r.tables()
                .sets
                .iter()
                .filter(|s| !s.blocks.is_empty())
                .map(|s| s.id)
        });
        let name = |id: u32| {
            let set = &self.network.scalarsets[id as usize];
            ScalarsetReport {
                name: set.name.to_string(),
                size: set.size,
                detected: set.detected,
            }
        };
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
            scalarsets: reduced
                .map(|ids| ids.map(name).collect())
                .unwrap_or_default(),
            canonical: used.is_none_or(|r| r.broken_ties == 0),
            excluded: excluded.collect(),
        }
    }

    /// The abstraction for liveness: it must keep regions.
    pub fn region_abstraction(&self) -> Abstraction {
        match self.options.abstraction {
            AbstractionOption::None => Abstraction::None,
            _ => Abstraction::ExtraM,
        }
    }
}
