//! When UPPAAL made the results that it stored.
//!
//! It stamps each with the second it was made in, and keeps it when the model is edited, saved under another name or used as
//! a template for others. One run is therefore found in many files, and was made of one of them. That tells which results
//! belong to other models, whatever we say of them.

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
pub struct Stored(BTreeMap<(String, String), Vec<Stamped>>);

/// A run of UPPAAL: whose, the formula, when, what came out.
pub type Made<'s> = (&'s str, String, &'s str, bool);

/// The formula without differences of layout.
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
    pub fn read<'n>(dir: &Path, names: impl Iterator<Item = &'n str>) -> Stored {
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

    /// The run that a row of the table tells of; the last one if the file has several that came out so.
    pub fn made<'s>(&'s self, file: &'s str, formula: &str, satisfied: bool) -> Option<Made<'s>> {
        let formula = folded(formula);
        let results = self.0.get(&(file.to_owned(), formula.clone()))?;
        let result = results.iter().rev().find(|r| r.satisfied == satisfied)?;
        Some((author(file), formula, &result.time, satisfied))
    }

    /// Until when the file was another model: for some formula it holds a result of then and a different one made later.
    pub fn changed_after(&self, file: &str) -> Option<&str> {
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
