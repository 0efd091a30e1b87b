//! Settings as editors send them, under `zonelens`.

use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use zonelens_analysis::diagnostic::Severity;
use zonelens_analysis::report::{Options, SearchOrder, SymmetryOption, TraceOption};

/// What the user chose. Unknown keys and values of the wrong kind leave the default.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How queries are run.
    pub options: Options,
    /// Run all queries of a document when it is saved.
    pub verify_on_save: bool,
    /// Stop a run when an edit changes what it is about.
    pub cancel_on_edit: bool,
    /// Queries that run at the same time.
    pub parallel_runs: usize,
    /// Severity per diagnostic code; `None` switches it off.
    pub severity: BTreeMap<String, Option<Severity>>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            options: Options {
                memory: Some(4 << 30),
                ..Options::default()
            },
            verify_on_save: false,
            cancel_on_edit: false,
            parallel_runs: 1,
            severity: BTreeMap::new(),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Amount {
    Number(f64),
    Text(String),
}

impl Settings {
    /// Reads settings; `value` is the section itself or an object that holds it under `zonelens`.
    pub fn from_json(value: &Value) -> Settings {
        let section = value.get("zonelens").unwrap_or(value);
        let mut settings = Settings::default();
        let options = &mut settings.options;
        take::<SymmetryOption>(section, "symmetry", |v| options.symmetry = v);
        take::<SearchOrder>(section, "search", |v| options.search = v);
        take::<TraceOption>(section, "trace", |v| options.trace = v);
        take::<u32>(section, "threads", |v| options.threads = v.clamp(1, 1024));
        take::<u64>(section, "seed", |v| options.seed = v);
        take::<BTreeMap<String, i64>>(section, "constants", |v| options.constants = v);
        take::<Amount>(section, "memory", |v| options.memory = memory(&v));
        take::<Amount>(section, "timeout", |v| options.timeout = timeout(&v));
        take::<bool>(section, "verifyOnSave", |v| settings.verify_on_save = v);
        take::<bool>(section, "cancelOnEdit", |v| settings.cancel_on_edit = v);
        take::<usize>(section, "parallelRuns", |v| {
            settings.parallel_runs = v.clamp(1, 64);
        });
        take::<BTreeMap<String, String>>(section, "severity", |v| {
            settings.severity = v
                .into_iter()
                .filter_map(|(code, name)| Some((code, severity(&name)?)))
                .collect();
        });
        settings
    }
}

fn take<T: for<'de> Deserialize<'de>>(section: &Value, key: &str, set: impl FnOnce(T)) {
    if let Some(value) = section.get(key)
        && let Ok(value) = serde_json::from_value(value.clone())
    {
        set(value);
    }
}

fn severity(name: &str) -> Option<Option<Severity>> {
    match name {
        "error" => Some(Some(Severity::Error)),
        "warning" => Some(Some(Severity::Warning)),
        "info" | "information" => Some(Some(Severity::Info)),
        "hint" => Some(Some(Severity::Hint)),
        "off" => Some(None),
        _ => None,
    }
}

/// Bytes, or text such as `4G`; zero and `none` mean no limit.
fn memory(amount: &Amount) -> Option<u64> {
    let bytes = match amount {
        Amount::Number(n) => *n,
        Amount::Text(text) => {
            let lower = text.trim().to_ascii_lowercase();
            let bare = lower.trim_end_matches("ib").trim_end_matches('b');
            let units = [
                ("k", 1u64 << 10),
                ("m", 1 << 20),
                ("g", 1 << 30),
                ("t", 1 << 40),
            ];
            let (digits, unit) = units
                .iter()
                .find_map(|(name, unit)| bare.strip_suffix(name).map(|d| (d, *unit)))
                .unwrap_or((bare, 1));
            digits.trim().parse::<f64>().unwrap_or(0.0) * unit as f64
        }
    };
    (bytes.is_finite() && bytes >= 1.0).then_some(bytes as u64)
}

/// Seconds, or text such as `60s`; zero and `none` mean no limit.
fn timeout(amount: &Amount) -> Option<f64> {
    let seconds = match amount {
        Amount::Number(n) => *n,
        Amount::Text(text) => {
            let text = text.trim();
            let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
            let (digits, unit) = units
                .iter()
                .find_map(|(u, f)| text.strip_suffix(u).map(|d| (d, *f)))
                .unwrap_or((text, 1.0));
            digits.trim().parse::<f64>().unwrap_or(0.0) * unit
        }
    };
    (seconds.is_finite() && seconds > 0.0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_said_counts_and_nonsense_does_not() {
        let settings = Settings::from_json(&json!({"zonelens": {
            "symmetry": "off", "threads": 0, "memory": "2G", "timeout": "90s", "search": 7,
            "cancelOnEdit": true, "severity": {"lint/unused": "off", "sym/arithmetic": "loud"}
        }}));
        assert_eq!(settings.options.symmetry, SymmetryOption::Off);
        assert_eq!(settings.options.threads, 1);
        assert_eq!(settings.options.memory, Some(2 << 30));
        assert_eq!(settings.options.timeout, Some(90.0));
        assert_eq!(settings.options.search, SearchOrder::Bfs);
        assert!(settings.cancel_on_edit);
        assert_eq!(settings.severity.get("lint/unused"), Some(&None));
        assert!(!settings.severity.contains_key("sym/arithmetic"));
        assert_eq!(Settings::from_json(&json!(null)), Settings::default());
    }

    #[test]
    fn no_limit_can_be_asked_for() {
        let settings = Settings::from_json(&json!({"memory": "none", "timeout": 0}));
        assert_eq!(settings.options.memory, None);
        assert_eq!(settings.options.timeout, None);
    }
}
