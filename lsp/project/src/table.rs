//! The table of all settings. The section of the VS Code extension, `docs/settings.md` and the
//! schema of `zonelens.toml` are generated from it (`tests/pages.rs`), and the command line uses
//! its words.

use crate::limit::{self, Limit};
use crate::settings::{Settings, severities};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A setting.
pub struct Setting {
    /// Its name in camelCase, as editors send it under `zonelens`.
    pub name: &'static str,
    /// The values that it accepts.
    pub kind: Kind,
    /// The VS Code scope in which it can be set.
    pub scope: &'static str,
    /// What it does, in Markdown.
    pub text: &'static str,
    /// Which program uses it.
    pub home: Home,
}

/// The values of a setting.
pub enum Kind {
    /// One of these words, each with its meaning.
    Words(&'static [(&'static str, &'static str)]),
    /// An integer from `least` to `most`.
    Number {
        /// The least value.
        least: u64,
        /// The greatest value, if there is one.
        most: Option<u64>,
    },
    /// `true` or `false`.
    Switch,
    /// A limit on memory.
    Memory,
    /// A limit on time.
    Time,
    /// Values of constants by name.
    Constants,
    /// Severities by code.
    Severities,
    /// The path of a file; empty for none.
    Path,
}

/// Which program uses a setting.
pub enum Home {
    /// The server and the command line; it is allowed in `zonelens.toml`.
    Server(Get, Set),
    /// Only the VS Code extension, with this default.
    Editor(fn() -> Value),
}

/// Reads the value of a setting, in the form that an editor sends.
pub type Get = fn(&Settings) -> Value;
/// Sets a value. An error without its own sentence means that the value does not have the form that
/// the kind requires.
pub type Set = fn(&mut Settings, &Value) -> Result<(), Option<String>>;

impl Kind {
    /// A description of the accepted values, for messages.
    pub fn expected(&self) -> String {
        match self {
            Kind::Words(words) => {
                let words: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                let (last, others) = words.split_last().unwrap_or((&"", &[]));
                format!("{} or {last}", others.join(", "))
            }
            Kind::Number { least, most: None } => format!("a whole number of at least {least}"),
            Kind::Number {
                least,
                most: Some(most),
            } => format!("a whole number from {least} to {most}"),
            Kind::Switch => "true or false".to_owned(),
            Kind::Memory => limit::MEMORY.to_owned(),
            Kind::Time => limit::TIME.to_owned(),
            Kind::Constants => "whole numbers by name, as {\"N\": 20}".to_owned(),
            Kind::Severities => "a severity per code, as {\"lint/zeno\": \"off\"}".to_owned(),
            Kind::Path => "a path".to_owned(),
        }
    }

    /// Whether the value is in the range or among the words. Types are checked when it is set.
    pub(crate) fn admits(&self, value: &Value) -> bool {
        match self {
            Kind::Words(words) => words.iter().any(|(word, _)| value == word),
            Kind::Number { least, most } => value
                .as_u64()
                .is_some_and(|n| *least <= n && most.is_none_or(|most| n <= most)),
            _ => true,
        }
    }
}

/// The words that a setting accepts.
pub fn words(name: &str) -> Vec<&'static str> {
    let found = SETTINGS.iter().find(|setting| setting.name == name);
    match found.map(|setting| &setting.kind) {
        Some(Kind::Words(words)) => words.iter().map(|(word, _)| *word).collect(),
        _ => Vec::new(),
    }
}

fn put<T: DeserializeOwned>(place: &mut T, value: &Value) -> Result<(), Option<String>> {
    *place = serde_json::from_value(value.clone()).map_err(|_| None)?;
    Ok(())
}

fn get(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// Sets a limit from a number, or from text that `parse` accepts.
fn put_limit<T>(
    place: &mut Option<T>,
    value: &Value,
    number: fn(f64) -> Option<Limit<T>>,
    parse: fn(&str) -> Result<Limit<T>, String>,
) -> Result<(), Option<String>> {
    let found = match value {
        Value::String(text) => parse(text).ok(),
        other => other.as_f64().and_then(number),
    };
    *place = found.ok_or(None)?.0;
    Ok(())
}

/// All settings.
pub const SETTINGS: [Setting; 20] = [
    Setting {
        name: "symmetry",
        kind: Kind::Words(&[
            (
                "auto",
                "Use declared scalarsets and families of processes that are found to be interchangeable.",
            ),
            ("off", "Explore every state."),
            ("scalarsets", "Use declared scalarsets only."),
        ]),
        scope: "resource",
        text: "Which symmetries are used to reduce the state space. Verdicts do not depend on it.",
        home: Home::Server(
            |s| get(&s.options.symmetry),
            |s, v| put(&mut s.options.symmetry, v),
        ),
    },
    Setting {
        name: "search",
        kind: Kind::Words(&[
            ("bfs", "Breadth first: short traces."),
            ("dfs", "Depth first."),
            ("random", "Random depth first, by seed."),
        ]),
        scope: "resource",
        text: "The order in which states are explored.",
        home: Home::Server(
            |s| get(&s.options.search),
            |s, v| put(&mut s.options.search, v),
        ),
    },
    Setting {
        name: "trace",
        kind: Kind::Words(&[
            ("none", "No trace."),
            ("some", "The first one found."),
            ("shortest", "One with the fewest steps."),
            ("fastest", "One that takes the least time."),
        ]),
        scope: "resource",
        text: "Which trace is produced as witness or counterexample.",
        home: Home::Server(
            |s| get(&s.options.trace),
            |s, v| put(&mut s.options.trace, v),
        ),
    },
    Setting {
        name: "abstraction",
        kind: Kind::Words(&[
            ("auto", "The best one that is exact for the query."),
            ("extra-lu", "Lower and upper bounds of clocks."),
            ("extra-m", "Maximal constants of clocks."),
            (
                "alu",
                "Lower and upper bounds, and simulation between zones.",
            ),
            ("none", "Exact zones; a run may not terminate."),
            (
                "convex-hull",
                "One zone per discrete state; the verdict may be *unknown*.",
            ),
        ]),
        scope: "resource",
        text: "The abstraction that makes zones finite.",
        home: Home::Server(
            |s| get(&s.options.abstraction),
            |s, v| put(&mut s.options.abstraction, v),
        ),
    },
    Setting {
        name: "threads",
        kind: Kind::Number {
            least: 1,
            most: Some(1024),
        },
        scope: "resource",
        text: "The number of threads per query.",
        home: Home::Server(
            |s| get(&s.options.threads),
            |s, v| put(&mut s.options.threads, v),
        ),
    },
    Setting {
        name: "memory",
        kind: Kind::Memory,
        scope: "resource",
        text: "Memory limit per query, `4G` for instance; `none` or 0 for no limit. A query that reaches it is answered *unknown*.",
        home: Home::Server(
            |s| limit::memory_text(s.options.memory).into(),
            |s, v| put_limit(&mut s.options.memory, v, limit::bytes, limit::memory),
        ),
    },
    Setting {
        name: "timeout",
        kind: Kind::Time,
        scope: "resource",
        text: "Time limit per query, `90s` for instance; `none` or 0 for no limit. A query that reaches it is answered *unknown*.",
        home: Home::Server(
            |s| limit::time_text(s.options.timeout).into(),
            |s, v| put_limit(&mut s.options.timeout, v, limit::seconds, limit::time),
        ),
    },
    Setting {
        name: "constants",
        kind: Kind::Constants,
        scope: "resource",
        text: "Values of global integer constants for verification, `{\"N\": 4}` for instance, so that one file can be used for every size.",
        home: Home::Server(
            |s| get(&s.options.constants),
            |s, v| put(&mut s.options.constants, v),
        ),
    },
    Setting {
        name: "seed",
        kind: Kind::Number {
            least: 0,
            most: None,
        },
        scope: "resource",
        text: "Seed of random choices: the same seed gives the same run.",
        home: Home::Server(|s| get(&s.options.seed), |s, v| put(&mut s.options.seed, v)),
    },
    Setting {
        name: "parallelRuns",
        kind: Kind::Number {
            least: 1,
            most: Some(64),
        },
        scope: "window",
        text: "The number of queries that run at the same time; the others wait.",
        home: Home::Server(
            |s| get(&s.parallel_runs),
            |s, v| put(&mut s.parallel_runs, v),
        ),
    },
    Setting {
        name: "verifyOnSave",
        kind: Kind::Switch,
        scope: "resource",
        text: "Run all queries of a file when it is saved. Not in untrusted workspaces.",
        home: Home::Server(
            |s| get(&s.verify_on_save),
            |s, v| put(&mut s.verify_on_save, v),
        ),
    },
    Setting {
        name: "verifyOnType",
        kind: Kind::Switch,
        scope: "resource",
        text: "Run the queries of a file 300 ms after the last edit, as far as they are instant: the last run took at most a second, or there was none. Such a run ends after one second or with the next edit, and then the query keeps the state it had. Not in untrusted workspaces.",
        home: Home::Server(
            |s| get(&s.verify_on_type),
            |s, v| put(&mut s.verify_on_type, v),
        ),
    },
    Setting {
        name: "cancelOnEdit",
        kind: Kind::Switch,
        scope: "resource",
        text: "Stop a run when an edit changes its model or query.",
        home: Home::Server(
            |s| get(&s.cancel_on_edit),
            |s, v| put(&mut s.cancel_on_edit, v),
        ),
    },
    Setting {
        name: "severity",
        kind: Kind::Severities,
        scope: "resource",
        text: "Severity per diagnostic code, `{\"lint/dead-end\": \"off\"}` for instance; `area/*` sets all codes of an area.",
        home: Home::Server(|_| json!({}), |s, v| severities(v, &mut s.severities)),
    },
    Setting {
        name: "formatWidth",
        kind: Kind::Number {
            least: 40,
            most: Some(1000),
        },
        scope: "resource",
        text: "The line length that the formatter aims at.",
        home: Home::Server(|s| get(&s.format_width), |s, v| put(&mut s.format_width, v)),
    },
    Setting {
        name: "inlayHints",
        kind: Kind::Switch,
        scope: "resource",
        text: "Show hints in the text: ranges, sizes, numbers of processes. Hints of an open trace are always shown.",
        home: Home::Server(|s| get(&s.inlay_hints), |s, v| put(&mut s.inlay_hints, v)),
    },
    Setting {
        name: "server.path",
        kind: Kind::Path,
        scope: "machine-overridable",
        text: "Path of a `zonelens` executable to use instead of the one in the extension. Leave it empty to use that one.",
        home: Home::Editor(|| json!("")),
    },
    Setting {
        name: "server.logFile",
        kind: Kind::Path,
        scope: "machine-overridable",
        text: "The log file of the server. If empty, a file in the extension's log folder is used; *Zonelens: Show Log* opens it.",
        home: Home::Editor(|| json!("")),
    },
    Setting {
        name: "xml.detect",
        kind: Kind::Switch,
        scope: "resource",
        text: "Treat an XML file as a model if it begins like one (`<!DOCTYPE nta` or `<nta`). *Zonelens: Treat This File as Plain XML* turns this off for one file.",
        home: Home::Editor(|| json!(true)),
    },
    Setting {
        name: "tracePanel.follow",
        kind: Kind::Switch,
        scope: "window",
        text: "Reveal the edges of a step in the editor while walking through a trace.",
        home: Home::Editor(|| json!(true)),
    },
];
