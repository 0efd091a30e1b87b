//! Proofs for every size of a set: view abstraction over zones.
//!
//! `closure.rs` begins with the theorem and its proof. [`verify_every`] tries views of growing
//! size; sizes below that of the views are checked by the ordinary engine, and a size that refutes
//! a claim is only reported with a run of the ordinary engine.

mod closure;
mod condition;
mod eval;
mod state;
mod steps;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod traps;
mod widen;

use crate::Control;
use crate::search::limits::{Steady, Watch};
use crate::strategy::verify;
use closure::{Claim, Closure, Outcome};
use steps::Rules;
use widen::Widening;
use zonelens_analysis::every::{Asked, Family, Layout, of_condition};
use zonelens_analysis::network::{Network, QueryKind};
use zonelens_analysis::report::{EveryReport, Options, QueryReport, Reason, Verdict};

/// The largest views that are tried.
const LARGEST_VIEWS: u32 = 4;

/// The largest size that is searched for a run that refutes the claim.
const LARGEST_SIZE: u32 = 7;

/// The most states of one such search, unless the caller asks for fewer.
const MOST_STATES: u64 = 100_000;

/// Answers a formula for every size of a set.
pub fn verify_every(
    family: &Family,
    formula: &str,
    options: &Options,
    control: &Control<'_>,
) -> QueryReport {
    attempt(family, formula, options, control, LARGEST_VIEWS)
}

fn attempt(
    family: &Family,
    formula: &str,
    options: &Options,
    control: &Control<'_>,
    largest: u32,
) -> QueryReport {
    let steady = Steady::new(control.progress);
    let control = &Control {
        cancelled: control.cancelled,
        progress: &|progress| steady.show(progress),
    };
    let mut run = Run {
        family,
        formula,
        options,
        control,
        watch: Watch::new(options, control),
        every: EveryReport {
            set: family.set().to_owned(),
            ..EveryReport::default()
        },
    };
    let mut report = run.answer(largest);
    report.query = formula.to_owned();
    let direct = std::mem::take(&mut report.statistics);
    report.statistics = run.watch.statistics();
    report.statistics.peak_memory_bytes = report
        .statistics
        .peak_memory_bytes
        .max(direct.peak_memory_bytes);
    report.every = Some(run.every);
    report
}

struct Run<'a> {
    family: &'a Family,
    formula: &'a str,
    options: &'a Options,
    control: &'a Control<'a>,
    watch: Watch<'a>,
    every: EveryReport,
}

impl Run<'_> {
    fn report(&self, verdict: Verdict, reason: Option<Reason>) -> QueryReport {
        QueryReport::without_run(self.formula, 0, verdict, reason)
    }

    fn unknown(&self, why: impl Into<String>) -> QueryReport {
        self.report(Verdict::Unknown, Some(Reason::Every(why.into())))
    }

    fn answer(&mut self, largest: u32) -> QueryReport {
        let asked = match self.family.ask(self.formula) {
            Ok(asked) => asked,
            Err(refusal) => return self.unknown(format!("{} ({})", refusal.message, refusal.code)),
        };
        let mut k = asked.views;
        let mut why = String::new();
        let mut searched = false;
        loop {
            if k > largest {
                if why.is_empty() {
                    why = format!(
                        "the claim relates {k} elements, and views of more than {largest} are not tried"
                    );
                }
                break;
            }
            self.every.views = k;
            match self.closure(k, &asked) {
                Ok(Closed::Holds(count)) => {
                    self.every.count = count;
                    return self.below(k, &asked);
                }
                Ok(Closed::Larger(needed)) => {
                    k = needed;
                    continue;
                }
                Ok(Closed::Fails(reason)) => why = reason,
                Err(report) => return *report,
            }
            if !std::mem::replace(&mut searched, true)
                && let Some(report) = self.refute(&asked)
            {
                return report;
            }
            k += 1;
        }
        self.unknown(format!(
            "not proved for every size of `{}`: {why}",
            self.family.set()
        ))
    }

    /// One closure, with hulls first.
    fn closure(&mut self, k: u32, asked: &Asked) -> Result<Closed, Box<QueryReport>> {
        let refused = |run: &Self, message: String| Box::new(run.unknown(message));
        let place = |run: &Self, mut r: Vec<zonelens_analysis::every::Refusal>| {
            let first = r.remove(0);
            refused(run, format!("{} ({})", first.message, first.code))
        };
        let (instance, layout) = self.family.instance_for(k).map_err(|r| place(self, r))?;
        let needed = conditions(&instance.network, &layout);
        if needed > k {
            return Ok(Closed::Larger(needed));
        }
        let movers = Rules::new(&instance.network, &layout).most_movers();
        let (instance, layout) = self
            .family
            .instance_for(k + movers)
            .map_err(|r| place(self, r))?;
        let query = instance.query(self.formula).map_err(|m| refused(self, m))?;
        let QueryKind::Path(_, condition) = &query.kind else {
            return Err(refused(
                self,
                "only `A[]` and `E<>` can be answered for every size".into(),
            ));
        };
        let rules = Rules::new(&instance.network, &layout);
        let claim = Claim {
            condition,
            frame: query.frame,
            want: asked.possibly,
        };
        let widening = Widening::new(&instance.network, &layout, condition, asked.possibly);
        let mut why = String::new();
        for hulls in [true, false] {
            let sizes = (k as usize, movers as usize, hulls);
            match Closure::new(&rules, &widening, claim, sizes, &mut self.watch).run() {
                Outcome::Holds(count) => return Ok(Closed::Holds(count)),
                Outcome::Violated => {
                    why = format!("with views of {k}, a violation cannot be excluded")
                }
                Outcome::Stuck(message) => why = message,
                Outcome::Stopped(stop) => {
                    return Err(Box::new(self.report(Verdict::Unknown, Some(stop.reason()))));
                }
            }
            // Without clocks, zones say nothing.
            if instance.network.clocks.is_empty() {
                break;
            }
        }
        Ok(Closed::Fails(why))
    }

    /// Checks the sizes below that of the views, which the proof does not cover.
    fn below(&mut self, k: u32, asked: &Asked) -> QueryReport {
        let holds = if asked.possibly {
            Verdict::Violated
        } else {
            Verdict::Satisfied
        };
        for n in 1..k {
            match self.size(n, self.options.states) {
                Err(report) => return *report,
                Ok(report) if report.verdict == holds => self.every.direct.push(n),
                Ok(report) => return self.differs(report, n, asked),
            }
        }
        self.every.proved = true;
        self.report(holds, None)
    }

    /// Searches small sizes for a run that refutes the claim.
    fn refute(&mut self, asked: &Asked) -> Option<QueryReport> {
        let bad = if asked.possibly {
            Verdict::Satisfied
        } else {
            Verdict::Violated
        };
        let states = self.options.states.unwrap_or(MOST_STATES).min(MOST_STATES);
        for n in 1..=LARGEST_SIZE {
            if self.watch.is_over().is_some() {
                return None;
            }
            match self.size(n, Some(states)) {
                Ok(report) if report.verdict == bad => return Some(self.differs(report, n, asked)),
                Ok(report) if report.verdict == Verdict::Error => {
                    return Some(self.differs(report, n, asked));
                }
                // Larger sizes have more states.
                Ok(report) if report.verdict == Verdict::Unknown => return None,
                _ => {}
            }
        }
        None
    }

    /// The report for a size that is not as claimed.
    fn differs(&mut self, mut report: QueryReport, n: u32, asked: &Asked) -> QueryReport {
        match report.verdict {
            Verdict::Violated if !asked.possibly => self.every.violated_at = Some(n),
            Verdict::Satisfied => {
                report.verdict = Verdict::Unknown;
                let s = if n == 1 { "" } else { "s" };
                let message = format!(
                    "some run with {n} element{s} of `{}` reaches the condition, so it is not false for every size",
                    self.family.set()
                );
                report.reason = Some(Reason::Every(message));
                self.every.violated_at = Some(n);
            }
            _ => {}
        }
        report
    }

    /// The answer of the ordinary engine for one size.
    fn size(&mut self, n: u32, states: Option<u64>) -> Result<QueryReport, Box<QueryReport>> {
        let fail = |run: &Self, message: String| Box::new(run.unknown(message));
        let instance = self
            .family
            .at(n)
            .map_err(|r| fail(self, format!("{} ({})", r.message, r.code)))?;
        let query = instance.query(self.formula).map_err(|m| fail(self, m))?;
        let spent = self.watch.statistics().seconds;
        let options = Options {
            states,
            timeout: self.options.timeout.map(|t| (t - spent).max(0.0)),
            ..self.options.clone()
        };
        let position = |span| instance.position(span);
        Ok(verify(
            &instance.network,
            &query,
            &options,
            &position,
            self.control,
        ))
    }
}

/// The result of one closure.
enum Closed {
    /// The claim holds for every size of at least that of the views.
    Holds(u64),
    /// The model needs larger views.
    Larger(u32),
    /// There is no proof with views of this size.
    Fails(String),
}

/// The size of views in which every evaluation that fails for some elements fails: an invariant is
/// evaluated for its own element, those that data names, and those of its quantifiers.
fn conditions(network: &Network, layout: &Layout) -> u32 {
    let mut most = 2;
    for (p, process) in network.processes.iter().enumerate() {
        let own = u32::from(layout.process_owner[p].is_some());
        for invariant in process
            .locations
            .iter()
            .filter_map(|l| l.invariant.as_ref())
        {
            most = most.max(own + of_condition(network, layout, invariant));
        }
    }
    most
}
