//! When UPPAAL computed the results that it stored.
//!
//! It stamps each result with the time when it was computed, and keeps it when the model is edited,
//! saved under another name or used as a template for others. One run therefore occurs in many
//! files, but was made on one of them. This shows which results belong to other models, independent
//! of our verdicts.

use crate::corpus;
use std::collections::BTreeMap;
use std::path::Path;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, StoredResult};

/// One result in one file.
#[derive(Clone)]
struct Stamped {
    time: String,
    satisfied: bool,
}

/// All stored results by file and formula, in the order of the file.
pub(crate) struct Stored(BTreeMap<(String, String), Vec<Stamped>>);

/// A run of UPPAAL: author, formula, time, result.
pub(crate) type Made<'s> = (&'s str, String, &'s str, bool);

/// The formula with normalised white space.
fn folded(formula: &str) -> String {
    formula.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The folder of one author.
fn author(file: &str) -> &str {
    file.split('/').nth(1).unwrap_or(file)
}

fn stamp(result: &StoredResult) -> Option<Stamped> {
    let time = result
        .attributes
        .iter()
        .find(|(name, _)| name == "timestamp");
    Some(Stamped {
        time: time?.1.to_string(),
        satisfied: result.satisfied?,
    })
}

impl Stored {
    /// Reads the results of these files.
    pub(crate) fn read<'n>(dir: &Path, names: impl Iterator<Item = &'n str>) -> Stored {
        let mut all: BTreeMap<_, Vec<Stamped>> = BTreeMap::new();
        for name in names.filter(|name| name.ends_with(".xml")) {
            let file = SourceFile::parse(corpus::read(dir, name), FileKind::from_path(name));
            for query in file.queries() {
                let key = (name.to_owned(), folded(&query.query.text));
                let stamped = query.query.results.iter().filter_map(stamp);
                all.entry(key).or_default().extend(stamped);
            }
        }
        Stored(all)
    }

    /// The run that a row of the table describes; the last one if the file has several with this
    /// result.
    pub(crate) fn made<'s>(
        &'s self,
        file: &'s str,
        formula: &str,
        satisfied: bool,
    ) -> Option<Made<'s>> {
        let formula = folded(formula);
        let results = self.0.get(&(file.to_owned(), formula.clone()))?;
        let result = results.iter().rev().find(|r| r.satisfied == satisfied)?;
        Some((author(file), formula, &result.time, satisfied))
    }

    /// The time until which the file was another model: for some formula it contains a result from
    /// that time and a different, later one.
    pub(crate) fn changed_after(&self, file: &str) -> Option<&str> {
        let of_file = self.0.iter().filter(|((name, _), _)| name == file);
        let times = of_file.flat_map(|(_, results)| {
            results.iter().filter(|early| {
                let overruled =
                    |late: &&Stamped| late.satisfied != early.satisfied && late.time > early.time;
                results.iter().any(|late| overruled(&late))
            })
        });
        times.map(|r| r.time.as_str()).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(results: &[(&str, &str, &str, bool)]) -> Stored {
        let mut all: BTreeMap<_, Vec<Stamped>> = BTreeMap::new();
        for (file, formula, time, satisfied) in results {
            let (time, satisfied) = (time.to_string(), *satisfied);
            let of_formula = all.entry((file.to_string(), folded(formula))).or_default();
            of_formula.push(Stamped { time, satisfied });
        }
        Stored(all)
    }

    #[test]
    fn one_run_in_two_files_is_one_run() {
        let stored = stored(&[
            ("models/a/x.xml", "A[]  p", "10:00", true),
            ("models/a/y.xml", "A[] p", "10:00", true),
            ("models/a/y.xml", "A[] p", "11:00", true),
        ]);
        let one = stored.made("models/a/x.xml", "A[] p", true);
        assert_eq!(one, Some(("a", "A[] p".to_owned(), "10:00", true)));
        let other = stored.made("models/a/y.xml", "A[] p", true);
        assert_eq!(other, Some(("a", "A[] p".to_owned(), "11:00", true)));
        assert_eq!(stored.made("models/a/x.xml", "A[] p", false), None);
    }

    #[test]
    fn two_answers_to_one_question_show_a_change() {
        let stored = stored(&[
            ("models/a/x.xml", "A[] p", "10:00", false),
            ("models/a/x.xml", "A[] p", "12:00", true),
            ("models/a/x.xml", "A[] q", "11:00", true),
            ("models/a/y.xml", "A[] p", "10:00", false),
        ]);
        assert_eq!(stored.changed_after("models/a/x.xml"), Some("10:00"));
        assert_eq!(stored.changed_after("models/a/y.xml"), None);
    }
}
