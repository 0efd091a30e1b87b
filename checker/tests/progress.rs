//! The progress that a run reports while several searches take turns.

use crate::common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use zonelens_analysis::network::Position;
use zonelens_analysis::report::{Options, Progress, SymmetryOption, TraceOption};
use zonelens_checker::{Control, verify};

/// Large enough to run for seconds, with clocks that give discrete states many zones, so that all
/// searches join.
const LARGE: &str = "\
process P(const int[0, 7] i) {
    clock x, y;
    int[0, 50] n;
    state a { x <= 7 + 3 * i }, b { y <= 11 + 5 * i }, c;
    init a;
    trans a -> b { guard x >= 1 + i; assign y = 0, n = (n + i + 1) % 47; },
          b -> c { guard y > 2 + i; },
          c -> a { assign x = 0; };
}
system P;
";

#[test]
fn counts_never_fall() {
    let model = common::xta(LARGE);
    let query = model
        .query("A[] not (P(0).n == 48 && P(7).n == 48)")
        .expect("a query");
    let options = Options {
        symmetry: SymmetryOption::Off,
        trace: TraceOption::None,
        // Turns are short here, so that many of them end between two reports.
        first_turn: Some(300),
        timeout: Some(60.0),
        ..Options::default()
    };
    let cancelled = AtomicBool::new(false);
    let seen: Mutex<Vec<Progress>> = Mutex::new(Vec::new());
    let show = |progress: &Progress| {
        let mut seen = seen.lock().expect("not poisoned");
        seen.push(progress.clone());
        if seen.len() >= 30 {
            cancelled.store(true, Ordering::Relaxed);
        }
    };
    let control = Control {
        cancelled: &cancelled,
        progress: &show,
    };
    verify(
        &model.network,
        &query,
        &options,
        &|_| Position::default(),
        &control,
    );
    let seen = seen.into_inner().expect("not poisoned");
    assert!(seen.len() > 5, "only {} reports", seen.len());
    for pair in seen.windows(2) {
        let [before, after] = pair else { continue };
        assert!(before.stored <= after.stored, "{before:?} {after:?}");
        assert!(before.explored <= after.explored, "{before:?} {after:?}");
        assert!(before.seconds <= after.seconds, "{before:?} {after:?}");
    }
}
