//! Claims about every size against the ordinary engine at each size, and seeded bugs.

use super::{Asked, attempt};
use crate::common::{Verify, load};
use crate::mutation::{self, Mutation};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use zonelens_analysis::every::Family;
use zonelens_analysis::report::{EveryReport, Options, QueryReport, Verdict};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

/// The answer for every size of `set`, with views of at most `largest`.
fn every(text: &str, set: &str, query: &str, largest: u32) -> QueryReport {
    let file = SourceFile::parse(text, FileKind::Xta);
    let family = Family::new(&file, &BTreeMap::new(), set).unwrap_or_else(|r| panic!("{r:?}\n{text}"));
    let cancelled = AtomicBool::new(false);
    let control = crate::Control { cancelled: &cancelled, progress: &|_| {} };
    attempt(&family, query, &Options::default(), &control, largest)
}

fn example(name: &str) -> String {
    let path = format!("{}/../examples/{name}.xta", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn report(r: &QueryReport) -> &EveryReport {
    r.every.as_ref().unwrap()
}

#[test]
fn fischer_is_proved_in_every_notation() {
    let mutex = |p: &str, set: &str| format!("A[] forall (i : {set}) forall (j : {set}) {p}(i).cs && {p}(j).cs imply i == j");
    for (name, set, query) in [
        ("fischer", "pid", mutex("Fischer", "pid")),
        ("fischer-001", "proc_id", "A[] forall (i : proc_id) forall (j : proc_id) active[i] == 3 && active[j] == 3 imply i == j".to_owned()),
        ("fischer-004", "process_id", mutex("Procs", "process_id")),
        ("fischer-int", "pid", mutex("P", "id_t")),
    ] {
        let r = every(&example(name), set, &query, 4);
        println!("{name} {:?} {:?} {:?} {}", r.verdict, r.reason, r.every, r.statistics.seconds);
        assert_eq!(r.verdict, Verdict::Satisfied, "{name}: {:?}", r.reason);
    }
}
