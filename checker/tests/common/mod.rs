//! Shared by the tests of the checker: from text to verdicts.

#![allow(dead_code, unused_imports)]

use std::sync::atomic::AtomicBool;
use zonelens_analysis::network::Query;
use zonelens_analysis::report::{Options, QueryReport};
use zonelens_checker::{Control, verify};
pub(crate) use zonelens_test_support::{Loaded, load, xta};

/// Answers queries of a loaded model.
pub(crate) trait Verify {
    /// The report of a formula, which must have no errors.
    fn verify(&self, formula: &str, options: &Options) -> QueryReport;

    /// The report of a resolved query.
    fn verify_query(&self, query: &Query, options: &Options) -> QueryReport;
}

impl Verify for Loaded {
    fn verify(&self, formula: &str, options: &Options) -> QueryReport {
        let query = self
            .query(formula)
            .unwrap_or_else(|e| panic!("{formula}: {e}"));
        self.verify_query(&query, options)
    }

    fn verify_query(&self, query: &Query, options: &Options) -> QueryReport {
        let cancelled = AtomicBool::new(false);
        let control = Control {
            cancelled: &cancelled,
            progress: &|_| {},
        };
        let position = |span| self.position(span);
        verify(&self.network, query, options, &position, &control)
    }
}
