//! The command line of `verify`.

use crate::certify::Wanted;
use clap::Args as ClapArgs;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use std::path::PathBuf;
use zonelens_analysis::report::{
    AbstractionOption, Options, SearchOrder, Switch, SymmetryOption, TraceOption,
};
use zonelens_project::limit::{self, Limit};
use zonelens_project::table;

/// The part of `--help` about the exit status.
const STATUS: &str = "\
By name, .xta, .ta and .xml are models and .q are queries; a second file with any other extension contains queries. Without QUERIES and \
-q, the queries inside each model and those of the .q file next to it run.

Exit status, the first that applies to any of the models:
  130  interrupted by Ctrl-C or SIGTERM; the results so far are written
  2    bad usage, an unreadable model, a model with errors, or an error during a run
  1    some query has another verdict than expected (without an expectation: is not satisfied)
  3    some query has no verdict within its limits
  0    every query passes";

/// Arguments of `zonelens verify`.
#[derive(ClapArgs)]
#[command(after_help = STATUS)]
pub(crate) struct Args {
    /// Models, folders of models or patterns, `-` for standard input; after a single model also a
    /// file of queries (`.q`), which run instead of those of the model
    #[arg(required = true, value_name = "MODEL|DIR|-|QUERIES")]
    pub paths: Vec<PathBuf>,
    /// Run this formula on each model, instead of its own queries; may be given several times
    #[arg(
        short = 'q',
        value_name = "FORMULA",
        id = "formula",
        allow_hyphen_values = true
    )]
    pub formulas: Vec<String>,
    /// The format of the results
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Which symmetries to use; `auto` also detects them among integers [default: auto]
    #[arg(long, value_parser = named::<SymmetryOption>("symmetry"))]
    symmetry: Option<SymmetryOption>,
    /// The order of exploration [default: bfs]
    #[arg(long, value_parser = named::<SearchOrder>("search"))]
    search: Option<SearchOrder>,
    /// The trace to produce [default: some]
    #[arg(long, value_parser = named::<TraceOption>("trace"))]
    trace: Option<TraceOption>,
    /// The abstraction that makes zones finite; `convex-hull` may answer `unknown` [default: auto]
    #[arg(long, value_parser = named::<AbstractionOption>("abstraction"))]
    abstraction: Option<AbstractionOption>,
    /// The number of threads [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,
    /// Give up on a query at this much memory, `4G` for instance; `none` or 0 for no limit
    #[arg(long, value_name = "BYTES", value_parser = limit::memory)]
    memory: Option<Limit<u64>>,
    /// Give up on a query after this time, `60s` for instance; `none` or 0 for no limit
    #[arg(long, value_name = "TIME", value_parser = limit::time)]
    timeout: Option<Limit<f64>>,
    /// Give up on a query after storing this many states
    #[arg(long, value_name = "N")]
    states: Option<u64>,
    /// The seed for random choices [default: 1]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Show the witness of an `E<>` that is satisfied, step by step, even without `--trace`
    #[arg(long)]
    pub witness: bool,
    /// Write the whole state in every step of a long trace in JSON, instead of only the changes
    #[arg(long)]
    pub full_trace: bool,
    /// Write a certificate of the answer, which `zonelens certify` checks; for one query: `A[]`,
    /// `A<>` or `-->` that holds, `E<>` or `E[]` that does not
    #[arg(long, value_name = "FILE")]
    pub certificate: Option<PathBuf>,
    /// Check every answer that can have a certificate, by code that shares nothing with the engine
    #[arg(long)]
    pub certify: bool,
    /// Answer every query for every size of this set of interchangeable elements (`A[]`, `E<>`)
    #[arg(long, value_name = "SET")]
    every: Option<String>,
    /// Check the symmetry of sampled states during the run
    #[arg(long)]
    audit_symmetry: bool,
    /// Run without this strategy, for example `hulls`; can be repeated. An unknown name lists all
    #[arg(long, value_name = "NAME")]
    without: Vec<Switch>,
    /// Also reduce over excluded scalarsets: only to see the audit fail
    #[arg(long, hide = true)]
    force_symmetry: bool,
    /// Run every query again without symmetry and compare
    #[arg(long, hide = true)]
    compare_symmetry: bool,
    /// Store whole zones in searches with symmetry
    #[arg(long, hide = true)]
    whole_zones: bool,
    /// Override a global integer or boolean constant before any size is evaluated
    #[arg(long = "const", value_name = "NAME=VALUE", value_parser = constant)]
    constants: Vec<(String, i64)>,
}

/// The format of results.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Text for reading
    Human,
    /// One line of JSON per query
    Json,
    /// JUnit XML for continuous integration
    Junit,
}

impl Args {
    /// The overrides of constants on the command line.
    pub(crate) fn constants(&self) -> &[(String, i64)] {
        &self.constants
    }

    /// What to do about certificates; `None` if nothing.
    pub(crate) fn certificates(&self) -> Option<Wanted> {
        let wanted = Wanted {
            file: self.certificate.clone(),
            check: self.certify,
        };
        (wanted.check || wanted.file.is_some()).then_some(wanted)
    }

    /// Whether witnesses are shown in full: only on request.
    pub(crate) fn shows_witnesses(&self) -> bool {
        self.witness || self.trace.is_some()
    }

    /// The options for the checker: those of the command line override those of `zonelens.toml`.
    pub(crate) fn options(&self, base: Options) -> Options {
        let mut constants = base.constants;
        constants.extend(self.constants.iter().cloned());
        let mut without = base.without;
        without.extend(&self.without);
        Options {
            symmetry: self.symmetry.unwrap_or(base.symmetry),
            search: self.search.unwrap_or(base.search),
            trace: self.trace.unwrap_or(base.trace),
            abstraction: self.abstraction.unwrap_or(base.abstraction),
            threads: self.threads.unwrap_or(base.threads),
            memory: self.memory.map_or(base.memory, |limit| limit.0),
            timeout: self.timeout.map_or(base.timeout, |limit| limit.0),
            states: self.states.or(base.states),
            seed: self.seed.unwrap_or(base.seed),
            audit_symmetry: self.audit_symmetry,
            force_symmetry: self.force_symmetry,
            compare_symmetry: self.compare_symmetry,
            whole_zones: self.whole_zones,
            constants,
            without,
            every: self.every.clone(),
            ..Options::default()
        }
    }
}

/// A parser for an option that has the same words as a setting and the JSON output.
fn named<T>(setting: &str) -> impl TypedValueParser<Value = T>
where
    T: DeserializeOwned + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(table::words(setting))
        .try_map(|name| serde_json::from_value::<T>(serde_json::Value::String(name)))
}

/// Parses an override such as `N=20`.
pub(crate) fn constant(text: &str) -> Result<(String, i64), String> {
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
    use clap::Parser;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        args: Args,
    }

    /// The command line overrides `zonelens.toml` and can remove its limits.
    #[test]
    fn no_limit_can_be_asked_for() {
        let base = Options {
            memory: Some(5),
            timeout: Some(5.0),
            ..Options::default()
        };
        let limits = |arguments: &[&str]| {
            let all = ["verify", "m.xta"]
                .into_iter()
                .chain(arguments.iter().copied());
            let options = Command::try_parse_from(all)
                .expect("usage")
                .args
                .options(base.clone());
            (options.memory, options.timeout)
        };
        assert_eq!(limits(&[]), (Some(5), Some(5.0)));
        assert_eq!(limits(&["--memory", "1k"]), (Some(1024), Some(5.0)));
        assert_eq!(limits(&["--timeout", "0"]), (Some(5), None));
        assert_eq!(
            limits(&["--timeout", "none", "--memory", "0"]),
            (None, None)
        );
    }

    /// What `zonelens.toml` leaves out stays out; names are added.
    #[test]
    fn strategies_are_left_out_by_name() {
        let base = Options {
            without: [Switch::Guided].into(),
            ..Options::default()
        };
        let parsed = |arguments: &[&str]| {
            let all = ["verify", "m.xta"].iter().chain(arguments).copied();
            Command::try_parse_from(all)
        };
        let given = parsed(&["--without", "hulls", "--without", "lu-bounds"]);
        let options = given.expect("usage").args.options(base);
        let expected = [Switch::Guided, Switch::Hulls, Switch::LuBounds];
        assert_eq!(options.without, expected.into());
        let refused = parsed(&["--without", "huls"]).map(|_| ());
        let refused = refused.expect_err("unknown").to_string();
        assert!(refused.contains("did you mean `hulls`?"), "{refused}");
    }

    #[test]
    fn constants_by_name() {
        assert_eq!(constant("N=20"), Ok(("N".to_owned(), 20)));
        assert_eq!(constant("fast=true"), Ok(("fast".to_owned(), 1)));
        assert!(constant("N").is_err() && constant("=3").is_err() && constant("N=x").is_err());
    }
}
