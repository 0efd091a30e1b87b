//! Severities configured by a workspace.

use crate::diagnostic::{Diagnostic, Severity};
use crate::rules;
use std::collections::BTreeMap;

/// Configured severities by code; `None` turns a code off. Codes that are not listed keep their
/// default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Severities(BTreeMap<&'static str, Option<Severity>>);

impl Severities {
    /// Sets a code to `off`, `hint`, `info`, `warning` or `error`. `area/*` sets all configurable
    /// codes of an area.
    pub fn set(&mut self, code: &str, level: &str) -> Result<(), String> {
        let level = match level {
            "off" => None,
            "hint" => Some(Severity::Hint),
            "info" => Some(Severity::Info),
            "warning" => Some(Severity::Warning),
            "error" => Some(Severity::Error),
            _ => {
                return Err(format!(
                    "`{level}` is not a severity; use \"off\", \"hint\", \"info\", \"warning\" or \"error\""
                ));
            }
        };
        let mut found = false;
        let mut fixed = false;
        for (known, _) in rules::codes() {
            let here = match code.strip_suffix("/*") {
                Some(area) => known.split_once('/').is_some_and(|(a, _)| a == area),
                None => *known == code,
            };
            if here && (is_settable(known) || level == Some(Severity::Error)) {
                self.0.insert(known, level);
                found = true;
            } else if here {
                fixed = true;
            }
        }
        match (found, fixed) {
            (true, _) => Ok(()),
            (false, true) => Err(format!(
                "`{code}` is always an error: a text with it has no meaning"
            )),
            (false, false) => Err(format!(
                "there is no code `{code}`; `zonelens explain` lists them"
            )),
        }
    }

    /// Reads severities from pairs of code and level. Returns messages for the pairs that are
    /// invalid.
    pub fn from_pairs<'a>(
        pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> (Severities, Vec<String>) {
        let mut out = Severities::default();
        let mut problems = Vec::new();
        // Areas first, so that a setting for a single code wins wherever it is written.
        let (areas, codes): (Vec<_>, Vec<_>) = pairs
            .into_iter()
            .partition(|(code, _)| code.ends_with("/*"));
        for (code, level) in areas.into_iter().chain(codes) {
            problems.extend(out.set(code, level).err());
        }
        (out, problems)
    }

    /// The severity of a code here; `None` if it is off.
    pub fn of(&self, code: &str) -> Option<Severity> {
        match self.0.get(code) {
            Some(level) => *level,
            None => Some(rules::severity(code)),
        }
    }

    /// Whether nothing is configured.
    pub fn is_default(&self) -> bool {
        self.0.is_empty()
    }

    /// Applies the configured severities and removes what is off. A diagnostic that is milder than
    /// the default of its code (for instance the reason why detection failed) changes only if its
    /// code is configured.
    pub fn apply(&self, diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if self.is_default() {
            return diagnostics;
        }
        diagnostics
            .into_iter()
            .filter_map(|mut d| {
                if let Some(level) = self.0.get(d.code) {
                    d.severity = (*level)?;
                }
                Some(d)
            })
            .collect()
    }

    /// Adds the settings of `other`, which override existing ones.
    pub fn extend(&mut self, other: &Severities) {
        self.0.extend(&other.0);
    }
}

/// Whether a code can be configured. Errors that leave the text without a meaning cannot.
fn is_settable(code: &str) -> bool {
    rules::severity(code) != Severity::Error
        || ["lint/", "sym/", "unsupported/"]
            .iter()
            .any(|area| code.starts_with(area))
        || code == "query/expectation"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_override_areas_in_any_order() {
        let (s, problems) = Severities::from_pairs([
            ("lint/zeno", "error"),
            ("lint/*", "off"),
            ("sym/initial", "hint"),
        ]);
        assert_eq!(problems, [""; 0]);
        assert_eq!(s.of("lint/zeno"), Some(Severity::Error));
        assert_eq!(s.of("lint/dead-end"), None);
        assert_eq!(s.of("sym/initial"), Some(Severity::Hint));
        assert_eq!(s.of("sym/order"), Some(Severity::Error));
    }

    #[test]
    fn invalid_settings_are_reported() {
        let problem = |code, level| Severities::from_pairs([(code, level)]).1.join("\n");
        assert!(problem("lint/zzz", "off").contains("no code `lint/zzz`"));
        assert!(problem("lint/zeno", "loud").contains("not a severity"));
        assert!(problem("type/mismatch", "off").contains("always an error"));
        assert_eq!(problem("type/mismatch", "error"), "");
    }
}
