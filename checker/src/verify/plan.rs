//! Which abstraction is exact for which query.

use super::{Answer, Run};
use crate::explore::abstraction::Abstraction;
use crate::explore::bounds::Bounds;
use crate::explore::passed_waiting::Covering;
use crate::explore::search::Settings;
use crate::mutation::{Mutation, is_on};
use crate::program::{Formula, compile_formula};
use zonelens_analysis::network::{Expr, Position};
use zonelens_analysis::report::{AbstractionOption, SearchOrder, TraceOption, Verdict};

impl Run<'_> {
    /// Compiles a condition of the query.
    pub fn formula(&self, expr: &Expr) -> Result<Formula, Answer> {
        compile_formula(expr).map_err(|error| {
            Answer::because(Verdict::Unknown, format!("unsupported: {}", error.message))
        })
    }

    /// Bounds for the abstraction, or why there are none.
    pub fn bounds(&self, conditions: &[&Formula]) -> Result<Bounds, Answer> {
        let bounds = Bounds::new(self.program, conditions);
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

    /// How to search for reachable states. `plain` says that the query has no `deadlock`, so that simulation is enough;
    /// otherwise regions must be kept (a state covered under LU may hide a deadlock).
    pub fn settings(&self, bounds: &Bounds, plain: bool) -> Settings {
        let diagonals = !bounds.diagonals.is_empty();
        let abstraction = match self.options.abstraction {
            AbstractionOption::None => Abstraction::None,
            _ if diagonals || !plain && !is_on(Mutation::LuForDeadlock) => Abstraction::ExtraM,
            AbstractionOption::ExtraM => Abstraction::ExtraM,
            AbstractionOption::Alu => Abstraction::Alu,
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

    /// The abstraction for liveness: it must keep regions.
    pub fn region_abstraction(&self) -> Abstraction {
        match self.options.abstraction {
            AbstractionOption::None => Abstraction::None,
            _ => Abstraction::ExtraM,
        }
    }
}
