//! Settings: those that editors send under `zonelens` override `zonelens.toml`, which overrides the
//! defaults.
//!
//! An invalid value is ignored and becomes a problem, a sentence for the user.

use crate::table::{Home, Kind, SETTINGS, Set, Setting};
use serde_json::{Map, Value};
use zonelens_analysis::Severities;
use zonelens_analysis::report::Options;

/// The settings of the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// How queries are run.
    pub options: Options,
    /// Whether to run all queries of a document when it is saved.
    pub verify_on_save: bool,
    /// Whether to run instant queries of a document while it is edited.
    pub verify_on_type: bool,
    /// Whether to stop a run when an edit changes the model or the query.
    pub cancel_on_edit: bool,
    /// The number of queries that run at the same time.
    pub parallel_runs: usize,
    /// The severities of diagnostics.
    pub severities: Severities,
    /// The line length of the formatter.
    pub format_width: usize,
    /// Whether to show ranges, sizes and counts that the text does not contain.
    pub inlay_hints: bool,
}

/// The settings of an editor that sends none. They include a memory limit: a run must not use up
/// the memory of the machine.
impl Default for Settings {
    fn default() -> Settings {
        Settings {
            options: Options {
                memory: Some(4 << 30),
                ..Options::default()
            },
            verify_on_save: false,
            verify_on_type: false,
            cancel_on_edit: false,
            parallel_runs: 1,
            severities: Severities::default(),
            format_width: zonelens_syntax::format::FormatOptions::default().width,
            inlay_hints: true,
        }
    }
}

/// Names that an editor may send in addition to settings.
const FOREIGN: [&str; 7] = [
    "statusNotifications",
    "trusted",
    "trace.server",
    "path",
    "log",
    "logFile",
    "lens",
];

/// Whether a name is only for the client.
fn is_foreign(key: &str) -> bool {
    let of_editor = |setting: &Setting| {
        matches!(setting.home, Home::Editor(_)) && setting.name.split('.').next() == Some(key)
    };
    FOREIGN.contains(&key) || SETTINGS.iter().any(of_editor)
}

/// The kind of a setting of the server and the function that sets it.
fn known(key: &str) -> Option<(&'static Kind, Set)> {
    let setting = SETTINGS.iter().find(|setting| setting.name == key)?;
    match &setting.home {
        Home::Server(_, set) => Some((&setting.kind, *set)),
        Home::Editor(_) => None,
    }
}

impl Settings {
    /// Resets the settings that an untrusted file must not change to those of `usual`; returns
    /// their names.
    pub fn withhold(&mut self, usual: &Settings) -> Vec<&'static str> {
        let (own, usual_options) = (&mut self.options, &usual.options);
        let mut names = Vec::new();
        // No limit counts as larger than any limit.
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
        if self.verify_on_type && !usual.verify_on_type {
            self.verify_on_type = false;
            names.push("verify-on-type");
        }
        names
    }

    /// Applies one layer of settings. `name` is the source named in problems.
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
            if is_foreign(key) || value.is_null() {
                continue;
            }
            let Some((kind, set)) = known(key) else {
                problems.push(unknown(name, key));
                continue;
            };
            let taken = match kind.admits(value) {
                true => set(self, value),
                false => Err(None),
            };
            if let Err(why) = taken {
                let form = || format!("must be {}, not {value}", kind.expected());
                problems.push(format!("{name}: `{key}` {}", why.unwrap_or_else(form)));
            }
        }
    }
}

/// Reads `zonelens.toml`: the same settings with names in kebab-case. Problems include the line.
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
            // Tables that only group settings.
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
    // No name is this long, and computing the distance takes quadratic time.
    let said: String = key
        .chars()
        .take(64)
        .collect::<String>()
        .to_ascii_lowercase();
    let distance = |known: &str| strsim::levenshtein(&known.to_ascii_lowercase(), &said);
    let near = SETTINGS
        .iter()
        .filter(|setting| matches!(setting.home, Home::Server(..)))
        .map(|setting| (distance(setting.name), setting.name))
        .min()
        .filter(|(distance, _)| *distance <= 3);
    match near {
        Some((_, known)) => format!("{name}: there is no setting `{key}`; did you mean `{known}`?"),
        None => format!("{name}: there is no setting `{key}`"),
    }
}

/// Sets severities by code; valid ones are applied even if others are invalid.
pub(crate) fn severities(value: &Value, all: &mut Severities) -> Result<(), Option<String>> {
    let codes = value.as_object().ok_or(None)?;
    let mut wrong = Vec::new();
    let mut pairs = Vec::new();
    for (code, level) in codes {
        match level.as_str() {
            // The name of the level in the protocol.
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
        Err(Some(wrong.join("; ")))
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
            "verifyOnType": true,
            "constants": {"N": 99}, "timeout": 5, "formatWidth": 80,
        }));
        let withheld = settings.withhold(&usual);
        let names = [
            "memory",
            "threads",
            "constants",
            "parallel-runs",
            "verify-on-save",
            "verify-on-type",
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
