//! The command line of `verify`.

use clap::Args as ClapArgs;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, SymmetryOption, TraceOption,
};

/// What `--help` says about the exit status.
const STATUS: &str = "\
By name, .xta, .ta and .xml are models and .q are queries; a file of another name in second place is queries. Without QUERIES and \
-q, the queries inside each model and those of the .q file beside it run.

Exit status, the first that applies to any of the models:
  130  interrupted by Ctrl-C or SIGTERM; what is known is written
  2    bad usage, an unreadable or erroneous model, an error during a run
  1    some query does not answer as expected (without expectation: is not satisfied)
  3    some query has no answer within its limits
  0    every query passes";

/// Arguments of `zonelens verify`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub struct Args {
    /// Models, folders of models or patterns, `-` for standard input; beside one model also a file of queries (`.q`), which
    /// run instead of those of the model
    #[arg(required = true, value_name = "MODEL|DIR|-|QUERIES")]
    pub paths: Vec<PathBuf>,
    /// Ask this formula of each model, not its own queries; may be given several times
    #[arg(
        short = 'q',
        value_name = "FORMULA",
        id = "formula",
        allow_hyphen_values = true
    )]
    pub formulas: Vec<String>,
    /// How to write the results
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Which symmetries to use; `auto` also detects them among integers [default: auto]
    #[arg(long, value_parser = named::<SymmetryOption>(&["auto", "off", "scalarsets"]))]
    symmetry: Option<SymmetryOption>,
    /// Order of exploration [default: bfs]
    #[arg(long, value_parser = named::<SearchOrder>(&["bfs", "dfs", "random"]))]
    search: Option<SearchOrder>,
    /// Which trace to give [default: some]
    #[arg(long, value_parser = named::<TraceOption>(&["none", "some", "shortest", "fastest"]))]
    trace: Option<TraceOption>,
    /// How zones are made finite; `convex-hull` may answer `unknown` [default: auto]
    #[arg(long, value_parser = named::<AbstractionOption>(&["auto", "extra-lu", "extra-m", "alu", "none", "convex-hull"]))]
    abstraction: Option<AbstractionOption>,
    /// Threads that explore [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Give up on a query at this much memory, `4G` for instance
    #[arg(long, value_name = "BYTES", value_parser = memory)]
    memory: Option<u64>,
    /// Give up on a query after this time, `60s` for instance
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<f64>,
    /// Give up on a query after storing this many states
    #[arg(long, value_name = "N")]
    states: Option<u64>,
    /// Seed of random choices [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Show the witness of an `E<>` that holds, step by step, also without `--trace`
    #[arg(long)]
    pub witness: bool,
    /// Give the whole state in every step of a long trace in JSON, not what a step changes
    #[arg(long)]
    pub full_trace: bool,
    /// Check the symmetry of sampled states during the run
    #[arg(long)]
    audit_symmetry: bool,
    /// Reduce over excluded scalarsets too: only to see the audit fail
    #[arg(long, hide = true)]
    force_symmetry: bool,
    /// Run every query again without symmetry and compare
    #[arg(long, hide = true)]
    compare_symmetry: bool,
    /// Override a global integer or boolean constant before any size is evaluated
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    constants: Vec<(String, i64)>,
}

/// How results are written.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Human,
    /// One JSON object per query and line
    Json,
    /// JUnit XML for continuous integration
    Junit,
}

impl Args {
    /// The overrides of constants that were asked for.
    pub fn constants(&self) -> &[(String, i64)] {
        &self.constants
    }

    /// Whether witnesses are shown that nobody has to see: if one was asked for.
    pub fn shows_witnesses(&self) -> bool {
        self.witness || self.trace.is_some()
    }

    /// What the checker is told: what the command line says, over what `zonelens.toml` says.
    pub fn options(&self, base: Options) -> Options {
        let mut constants = base.constants;
        constants.extend(self.constants.iter().cloned());
        Options {
            symmetry: self.symmetry.unwrap_or(base.symmetry),
            search: self.search.unwrap_or(base.search),
            trace: self.trace.unwrap_or(base.trace),
            abstraction: self.abstraction.unwrap_or(base.abstraction),
            threads: self.threads.unwrap_or(base.threads),
            memory: self.memory.or(base.memory),
            timeout: self.timeout.or(base.timeout),
            states: self.states.or(base.states),
            seed: self.seed.unwrap_or(base.seed),
            audit_symmetry: self.audit_symmetry,
            force_symmetry: self.force_symmetry,
            compare_symmetry: self.compare_symmetry,
            constants,
            ..Options::default()
        }
    }
}

/// A parser for an option whose names on the command line are those in the JSON.
fn named<T>(names: &'static [&'static str]) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names)
        .try_map(|name| serde_json::from_value::<T>(serde_json::Value::String(name)))
}

/// `4G`, `512M`, `100000`
fn memory(text: &str) -> Result<u64, String> {
    let lower = text.trim().to_ascii_lowercase();
    let bare = lower.trim_end_matches("ib").trim_end_matches('b');
    let (digits, shift) = match bare.strip_suffix(['k', 'm', 'g', 't']) {
        Some(digits) if bare.ends_with('k') => (digits, 10),
        Some(digits) if bare.ends_with('m') => (digits, 20),
        Some(digits) if bare.ends_with('g') => (digits, 30),
        Some(digits) => (digits, 40),
        None => (bare, 0),
    };
    digits
        .trim()
        .parse::<u64>()
        .ok()
        .and_then(|n| n.checked_mul(1 << shift))
        .filter(|&n| n > 0)
        .ok_or_else(|| "write a number of bytes such as 500M or 4G".to_owned())
}

/// `60s`, `500ms`, `2m`, `1h`, `90`
fn duration(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0)];
    let (digits, unit) = units
        .iter()
        .find_map(|(suffix, unit)| text.strip_suffix(suffix).map(|d| (d, *unit)))
        .unwrap_or((text, 1.0));
    digits
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|n| n.is_finite() && *n >= 0.0)
        .map(|n| n * unit)
        .ok_or_else(|| "write a time such as 60s, 500ms or 2m".to_owned())
}

/// `N=20`
pub fn constant(text: &str) -> Result<(String, i64), String> {
    let wrong = || "write the constant's name and its value, as in N=20".to_owned();
    let (name, value) = text.split_once('=').ok_or_else(wrong)?;
    let value = match value.trim() {
        "true" => 1,
        "false" => 0,
        number => number.parse().map_err(|_| wrong())?,
    };
    let name = name.trim();
    if name.is_empty() {
        return Err(wrong());
    }
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!(memory("4G"), Ok(4 << 30));
        assert_eq!(memory("512MiB"), Ok(512 << 20));
        assert_eq!(memory("1000"), Ok(1000));
        assert!(memory("0").is_err() && memory("x").is_err() && memory("99999999T").is_err());
        assert_eq!(duration("60s"), Ok(60.0));
        assert_eq!(duration("500ms"), Ok(0.5));
        assert_eq!(duration("2m"), Ok(120.0));
        assert!(duration("-1").is_err() && duration("soon").is_err());
        assert_eq!(constant("N=20"), Ok(("N".to_owned(), 20)));
        assert_eq!(constant("fast=true"), Ok(("fast".to_owned(), 1)));
        assert!(constant("N").is_err() && constant("=3").is_err() && constant("N=x").is_err());
    }
}
