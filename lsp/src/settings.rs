//! Settings: what editors send under `zonelens`, over what `zonelens.toml` says, over the defaults.
//!
//! A value that cannot be used leaves what stood there and becomes a problem, a sentence for the user.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use zonelens_analysis::Severities;
use zonelens_analysis::report::Options;

/// What the user chose.
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
    /// How bad findings are.
    pub severities: Severities,
    /// Where the formatter breaks lines.
    pub format_width: usize,
    /// Show ranges, sizes and counts that the text leaves out.
    pub inlay_hints: bool,
}

/// The settings of an editor that says nothing. A limit on memory is part of them: a run must not take the machine down.
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
            severities: Severities::default(),
            format_width: zonelens_syntax::format::FormatOptions::default().width,
            inlay_hints: true,
        }
    }
}

type Set = fn(&mut Settings, &Value) -> Result<(), String>;

/// Every setting: its name, and how a value of it is taken.
const KEYS: [(&str, Set); 15] = [
    ("symmetry", |s, v| {
        word(v, "auto, off or scalarsets").map(|x| s.options.symmetry = x)
    }),
    ("search", |s, v| {
        word(v, "bfs, dfs or random").map(|x| s.options.search = x)
    }),
    ("trace", |s, v| {
        word(v, "none, some, shortest or fastest").map(|x| s.options.trace = x)
    }),
    ("threads", |s, v| {
        number(v, 1, 1024).map(|x| s.options.threads = x as u32)
    }),
    ("seed", |s, v| {
        number(v, 0, u64::MAX).map(|x| s.options.seed = x)
    }),
    ("memory", |s, v| memory(v).map(|x| s.options.memory = x)),
    ("timeout", |s, v| timeout(v).map(|x| s.options.timeout = x)),
    ("constants", |s, v| {
        constants(v).map(|x| s.options.constants = x)
    }),
    ("parallelRuns", |s, v| {
        number(v, 1, 64).map(|x| s.parallel_runs = x as usize)
    }),
    ("verifyOnSave", |s, v| {
        switch(v).map(|x| s.verify_on_save = x)
    }),
    ("cancelOnEdit", |s, v| {
        switch(v).map(|x| s.cancel_on_edit = x)
    }),
    ("formatWidth", |s, v| {
        number(v, 40, 1000).map(|x| s.format_width = x as usize)
    }),
    ("inlayHints", |s, v| switch(v).map(|x| s.inlay_hints = x)),
    ("abstraction", |s, v| {
        word(v, "auto, extra-lu, extra-m, alu, none or convex-hull")
            .map(|x| s.options.abstraction = x)
    }),
    ("severity", |s, v| severities(v, &mut s.severities)),
];

/// What an editor may say beside settings, and what belongs to the client alone.
const FOREIGN: [&str; 8] = [
    "statusNotifications",
    "trusted",
    "server",
    "trace.server",
    "path",
    "log",
    "logFile",
    "lens",
];

impl Settings {
    /// Takes back what a file that is not trusted may not decide, as it is in `usual`; gives the names.
    pub fn withhold(&mut self, usual: &Settings) -> Vec<&'static str> {
        let (own, usual_options) = (&mut self.options, &usual.options);
        let mut names = Vec::new();
        // No limit is more than any.
        if own.memory.unwrap_or(u64::MAX) > usual_options.memory.unwrap_or(u64::MAX) {
            own.memory = usual_options.memory;
            names.push("memory");
        }
        let seconds = |limit: Option<f64>| limit.unwrap_or(f64::INFINITY);
        if seconds(own.timeout) > seconds(usual_options.timeout) {
            own.timeout = usual_options.timeout;
            names.push("timeout");
        }
        if own.threads > usual_options.threads {
            own.threads = usual_options.threads;
            names.push("threads");
        }
        if own.constants != usual_options.constants {
            own.constants.clone_from(&usual_options.constants);
            names.push("constants");
        }
        if self.parallel_runs > usual.parallel_runs {
            self.parallel_runs = usual.parallel_runs;
            names.push("parallel-runs");
        }
        if self.verify_on_save && !usual.verify_on_save {
            self.verify_on_save = false;
            names.push("verify-on-save");
        }
        names
    }

    /// Takes one layer over what is there. `name` says in problems where it comes from.
    pub fn apply(&mut self, name: &str, layer: &Value, problems: &mut Vec<String>) {
        let section = layer.get("zonelens").unwrap_or(layer);
        let Some(section) = section.as_object() else {
            if !section.is_null() {
                problems.push(format!(
                    "{name}: settings are an object with a value per name"
                ));
            }
            return;
        };
        for (key, value) in section {
            if FOREIGN.contains(&key.as_str()) || value.is_null() {
                continue;
            }
            match KEYS.iter().find(|(known, _)| known == key) {
                Some((_, set)) => {
                    if let Err(why) = set(self, value) {
                        problems.push(format!("{name}: `{key}` {why}"));
                    }
                }
                None => problems.push(unknown(name, key)),
            }
        }
    }
}

/// Reads `zonelens.toml`: the same settings under names in kebab-case. Problems say the line.
pub fn from_toml(name: &str, text: &str, problems: &mut Vec<String>) -> Value {
    let table = match toml::from_str::<Map<String, Value>>(text) {
        Ok(table) => table,
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).map_or(1, |t| t.matches('\n').count() + 1);
            problems.push(format!("{name}:{line}: {}", error.message()));
            return Value::Null;
        }
    };
    let camel = |key: String| {
        let mut parts = key.split('-');
        let mut out = parts.next().unwrap_or("").to_owned();
        for part in parts {
            let mut letters = part.chars();
            out.extend(letters.next().map(|c| c.to_ascii_uppercase()));
            out.push_str(letters.as_str());
        }
        out
    };
    let mut out = Map::new();
    for (key, value) in table {
        match (key.as_str(), value) {
            // Tables that only group.
            ("limits", Value::Object(inside)) => {
                out.extend(inside.into_iter().map(|(k, v)| (camel(k), v)));
            }
            ("format", Value::Object(inside)) => {
                let prefixed = |k: String| camel(format!("format-{k}"));
                out.extend(inside.into_iter().map(|(k, v)| (prefixed(k), v)));
            }
            (_, value) => {
                out.insert(camel(key), value);
            }
        }
    }
    Value::Object(out)
}

fn unknown(name: &str, key: &str) -> String {
    let near = KEYS
        .iter()
        .map(|(known, _)| (distance(known, key), *known))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    match near {
        Some((_, known)) => format!("{name}: there is no setting `{key}`; did you mean `{known}`?"),
        None => format!("{name}: there is no setting `{key}`"),
    }
}

/// Letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = corner + usize::from(!x.eq_ignore_ascii_case(y));
            corner = row[j + 1];
            row[j + 1] = change.min(corner + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

fn word<T: for<'de> serde::Deserialize<'de>>(value: &Value, words: &str) -> Result<T, String> {
    serde_json::from_value(value.clone()).map_err(|_| format!("must be {words}, not {value}"))
}

fn switch(value: &Value) -> Result<bool, String> {
    value
        .as_bool()
        .ok_or_else(|| format!("must be true or false, not {value}"))
}

fn number(value: &Value, least: u64, most: u64) -> Result<u64, String> {
    let found = value.as_u64().filter(|n| (least..=most).contains(n));
    let most = if most == u64::MAX {
        "…".to_owned()
    } else {
        most.to_string()
    };
    found.ok_or_else(|| format!("must be a whole number from {least} to {most}, not {value}"))
}

fn constants(value: &Value) -> Result<BTreeMap<String, i64>, String> {
    serde_json::from_value(value.clone())
        .map_err(|_| format!("must give whole numbers by name, as {{\"N\": 20}}, not {value}"))
}

fn severities(value: &Value, all: &mut Severities) -> Result<(), String> {
    let codes = value
        .as_object()
        .ok_or("must give a severity per code, as \"lint/zeno\": \"off\"")?;
    let mut wrong = Vec::new();
    let mut pairs = Vec::new();
    for (code, level) in codes {
        match level.as_str() {
            // What the protocol calls it.
            Some("information") => pairs.push((code.as_str(), "info")),
            Some(level) => pairs.push((code.as_str(), level)),
            None => wrong.push(format!("of `{code}` must be text, \"off\" for instance")),
        }
    }
    let (found, problems) = Severities::from_pairs(pairs);
    all.extend(&found);
    wrong.extend(problems);
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(wrong.join("; "))
    }
}

/// Bytes, or text such as `4G`; zero and `none` mean no limit.
fn memory(value: &Value) -> Result<Option<u64>, String> {
    let units =
        [("k", 10), ("m", 20), ("g", 30), ("t", 40)].map(|(u, bits)| (u, (1u64 << bits) as f64));
    let text = |text: &str| {
        let lower = text.trim().to_ascii_lowercase();
        let bare = lower
            .trim_end_matches("ib")
            .trim_end_matches('b')
            .to_owned();
        let found = units
            .iter()
            .find_map(|(u, f)| bare.strip_suffix(u).map(|d| (d.to_owned(), *f)));
        let (digits, unit) = found.unwrap_or((bare, 1.0));
        Some(digits.trim().parse::<f64>().ok()? * unit)
    };
    let bytes = limit(value, text, "bytes, text such as \"4G\", or \"none\"")?;
    Ok(bytes.map(|b| b as u64))
}

/// Seconds, or text such as `60s`; zero and `none` mean no limit.
fn timeout(value: &Value) -> Result<Option<f64>, String> {
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let text = |text: &str| {
        let text = text.trim();
        let found = units
            .iter()
            .find_map(|(u, f)| text.strip_suffix(u).map(|d| (d, *f)));
        let (digits, unit) = found.unwrap_or((text, 1.0));
        Some(digits.trim().parse::<f64>().ok()? * unit)
    };
    limit(value, text, "seconds, text such as \"60s\", or \"none\"")
}

fn limit(
    value: &Value,
    text: impl Fn(&str) -> Option<f64>,
    words: &str,
) -> Result<Option<f64>, String> {
    let amount = match value {
        Value::String(none) if none == "none" => Some(0.0),
        Value::String(said) => text(said),
        other => other.as_f64(),
    };
    match amount.filter(|n| n.is_finite() && *n >= 0.0) {
        Some(n) => Ok((n > 0.0).then_some(n)),
        None => Err(format!("must be {words}, not {value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use zonelens_analysis::Severity;
    use zonelens_analysis::report::{SearchOrder, SymmetryOption};

    fn read(value: &Value) -> (Settings, Vec<String>) {
        let (mut settings, mut problems) = (Settings::default(), Vec::new());
        settings.apply("settings", value, &mut problems);
        (settings, problems)
    }

    #[test]
    fn what_is_said_counts_and_nonsense_is_told() {
        let (settings, problems) = read(&json!({"zonelens": {
            "symmetry": "off", "threads": 0, "memory": "2G", "timeout": "90s", "search": 7,
            "cancelOnEdit": true, "severity": {"lint/zeno": "off", "sym/arithmetic": "loud"}, "symetry": "off"
        }}));
        assert_eq!(settings.options.symmetry, SymmetryOption::Off);
        assert_eq!(settings.options.threads, 1);
        assert_eq!(settings.options.memory, Some(2 << 30));
        assert_eq!(settings.options.timeout, Some(90.0));
        assert_eq!(settings.options.search, SearchOrder::Bfs);
        assert!(settings.cancel_on_edit);
        assert_eq!(settings.severities.of("lint/zeno"), None);
        assert_eq!(
            settings.severities.of("sym/arithmetic"),
            Some(Severity::Error)
        );
        let told = problems.join("\n");
        for part in [
            "`threads` must be a whole number from 1 to 1024, not 0",
            "`search` must be bfs",
            "did you mean `symmetry`?",
            "loud",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert_eq!(read(&json!(null)).0, Settings::default());
    }

    #[test]
    fn no_limit_can_be_asked_for() {
        let (settings, problems) = read(&json!({"memory": "none", "timeout": 0}));
        assert_eq!(
            (settings.options.memory, settings.options.timeout),
            (None, None)
        );
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(read(&json!({"memory": "1k"})).0.options.memory, Some(1024));
        assert_eq!(read(&json!({"memory": "lots"})).1.len(), 1);
    }

    #[test]
    fn a_file_that_is_not_trusted_may_lower_limits_only() {
        let usual = Settings::default();
        let (mut settings, _) = read(&json!({
            "memory": "none", "threads": 64, "parallelRuns": 8, "verifyOnSave": true,
            "constants": {"N": 99}, "timeout": 5, "formatWidth": 80,
        }));
        let withheld = settings.withhold(&usual);
        let names = [
            "memory",
            "threads",
            "constants",
            "parallel-runs",
            "verify-on-save",
        ];
        assert_eq!(withheld, names);
        assert_eq!(settings.options.timeout, Some(5.0));
        assert_eq!(settings.format_width, 80);
        settings.options.timeout = usual.options.timeout;
        settings.format_width = usual.format_width;
        assert_eq!(settings, usual);
        let (mut lower, _) = read(&json!({"memory": "1M"}));
        assert!(lower.withhold(&usual).is_empty());
        assert_eq!(lower.options.memory, Some(1 << 20));
    }

    #[test]
    fn a_file_stands_under_the_editor() {
        let mut problems = Vec::new();
        let text = "symmetry = \"off\"\nthreads = 2\n[limits]\nmemory = \"1G\"\n[format]\nwidth = 80\n[severity]\n\"lint/*\" = \"error\"\n";
        let file = from_toml("zonelens.toml", text, &mut problems);
        let mut settings = Settings::default();
        settings.apply("zonelens.toml", &file, &mut problems);
        settings.apply("editor", &json!({"threads": 4}), &mut problems);
        assert_eq!(problems, Vec::<String>::new());
        assert_eq!(settings.format_width, 80);
        assert_eq!(settings.options.threads, 4);
        assert_eq!(settings.options.symmetry, SymmetryOption::Off);
        assert_eq!(settings.severities.of("lint/zeno"), Some(Severity::Error));
        assert_eq!(settings.options.memory, Some(1 << 30));
        from_toml("zonelens.toml", "threads = 2\nsymmetry = [", &mut problems);
        assert!(problems[0].starts_with("zonelens.toml:2: "), "{problems:?}");
    }
}
