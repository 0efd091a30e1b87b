//! A model with its queries, and the run of one query: shared by `verify` and `worker`.

use crate::inputs;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use zonelens_analysis::Model;
use zonelens_analysis::coverage::{Coverage, CoverageReport};
use zonelens_analysis::diagnostic::{Diagnostic, Severity};
use zonelens_analysis::every::{Family, Refusal};
use zonelens_analysis::network::{Network, Position};
use zonelens_analysis::report::{
    EveryReport, Options, QueryReport, Reason, Trace, TraceValue, Verdict,
};
use zonelens_analysis::trace_text::Booleans;
use zonelens_checker::{Control, coverage, verify, verify_every};
use zonelens_interpreter::{Allowance, SharedBudget, Stopped, evaluate_expression};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, Query, QueryKind};
use zonelens_syntax::source::QueryRef;
use zonelens_syntax::span::{LineCol, LineIndex, Span};

const HAS_ERRORS: &str = "the model has errors";

/// What the evaluation of one expression may use up in a process of its own. Its memory is limited
/// by the process.
const EVALUATION: Allowance = Allowance {
    steps: u64::MAX,
    depth: 20_000,
    moments: usize::MAX,
    bytes: usize::MAX,
    time: Duration::from_secs(10),
};

/// Reads a text file or standard input; `Err` is one sentence.
pub(crate) fn read_text(path: &Path) -> Result<String, String> {
    let bytes = inputs::read_bytes(path)?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!(
            "{} is not UTF-8 text (first bad byte at offset {at}); save it as UTF-8",
            inputs::shown(path)
        )
    })
}

/// A parsed file with a table of its lines.
pub(crate) struct Source {
    /// The path it was read from; `None` for a formula of the command line.
    pub path: Option<PathBuf>,
    /// The parsed text.
    pub file: SourceFile,
    lines: LineIndex,
}

impl Source {
    /// Parses `text`.
    pub(crate) fn new(path: Option<PathBuf>, text: impl Into<Arc<str>>, kind: FileKind) -> Source {
        let file = SourceFile::parse(text, kind);
        let lines = LineIndex::new(&file.text);
        Source { path, file, lines }
    }

    /// Reads and parses a file; its extension determines the notation. A file that is not a model
    /// is refused with one sentence.
    pub(crate) fn read(path: &Path) -> Result<Source, String> {
        let text = read_text(path)?;
        let kind = inputs::kind_of(path, &text);
        let source = Source::new(Some(path.to_owned()), text, kind);
        if let Some(refusal) = inputs::foreign(path, &source.file) {
            return Err(refusal);
        }
        if inputs::is_foreign_xml(&source.file) {
            let name = inputs::shown(path);
            return Err(format!("{name} is not a model: it has no <nta> element"));
        }
        Ok(source)
    }

    /// The position of a byte of this file.
    pub(crate) fn line_col(&self, offset: u32) -> LineCol {
        self.lines.line_col(&self.file.text, offset)
    }

    /// The queries that can be answered.
    pub(crate) fn queries(&self) -> Vec<QueryRef<'_>> {
        let mut queries = self.file.queries();
        queries.retain(|q| !matches!(q.query.kind, QueryKind::Heading));
        queries
    }

    /// The line of a query, counted from 1; 0 for a formula of the command line.
    pub(crate) fn line_of(&self, query: QueryRef<'_>) -> u32 {
        match self.path {
            Some(_) => self.line_col(query.query.span.start + query.base).line,
            None => 0,
        }
    }

    /// `file:line:column`, for messages.
    pub(crate) fn place(&self, span: Span) -> String {
        let at = self.line_col(span.start);
        match &self.path {
            Some(path) => format!("{}:{}:{}", path.display(), at.line, at.column),
            None => format!("column {}", at.column),
        }
    }
}

/// A model that is ready for queries, or the reasons why it is not.
pub(crate) struct Prepared {
    /// The text of the model.
    pub source: Source,
    model: Model,
    network: Result<Network, Vec<Diagnostic>>,
}

impl Prepared {
    /// Analyses and instantiates the model.
    pub(crate) fn new(source: Source, constants: &BTreeMap<String, i64>) -> Prepared {
        let model = Model::new(&source.file, constants);
        let network = model.network();
        Prepared {
            source,
            model,
            network,
        }
    }

    /// Refuses an override from the command line without effect: with a misspelt name, the answer
    /// would be for another size than the one requested. If a model has errors, its declarations
    /// are not known well enough to decide.
    pub(crate) fn know_constants(&self, overrides: &[(String, i64)]) -> Result<(), String> {
        let unknown = |name: &String| !self.model.has_global_constant(name);
        match overrides.iter().find(|(name, _)| unknown(name)) {
            Some((name, value)) if self.network.is_ok() => {
                let path = self.source.path.as_deref().unwrap_or(Path::new("-"));
                Err(format!(
                    "--const {name}={value}: {} has no global constant `{name}`",
                    path.display()
                ))
            }
            _ => Ok(()),
        }
    }

    /// The errors that prevent verification.
    pub(crate) fn errors(&self) -> &[Diagnostic] {
        self.network.as_ref().err().map_or(&[], Vec::as_slice)
    }

    /// The network, if the model has no errors.
    pub(crate) fn network(&self) -> Option<&Network> {
        self.network.as_ref().ok()
    }

    /// The variables whose values are shown as `true` and `false`.
    pub(crate) fn booleans(&self) -> Booleans {
        self.network()
            .map(Network::boolean_names)
            .unwrap_or_default()
    }

    /// The overridden constants, as text for users.
    pub(crate) fn constants_text(&self, report: &QueryReport) -> Option<String> {
        let one = |(name, value): (&String, &i64)| match value {
            0 if self.model.is_boolean_constant(name) => format!("{name} = false"),
            1 if self.model.is_boolean_constant(name) => format!("{name} = true"),
            _ => format!("{name} = {value}"),
        };
        let all: Vec<String> = report.constants.iter().map(one).collect();
        (!all.is_empty()).then(|| all.join(", "))
    }

    /// Answers one query of `from`, which may be the model's own file.
    pub(crate) fn ask(
        &self,
        from: &Source,
        query: QueryRef<'_>,
        options: &Options,
        control: &Control<'_>,
    ) -> QueryReport {
        let set = options.every.as_deref().or(query.query.every.as_deref());
        if let Some(set) = set {
            return self.ask_for_every(set, from, query, (options, control));
        }
        self.answer(from, query, (options, control), |network, resolved| {
            verify(network, resolved, options, &|s| self.position(s), control)
        })
    }

    /// Answers one query of `from` for every size of a set.
    fn ask_for_every(
        &self,
        set: &str,
        from: &Source,
        query: QueryRef<'_>,
        (options, control): (&Options, &Control<'_>),
    ) -> QueryReport {
        let text = &query.query.text;
        let mut report = match self.resolve(from, query) {
            Err((verdict, reason)) => QueryReport::without_run(text, 0, verdict, reason),
            Ok(_) => match Family::new(&self.source.file, &options.constants, set) {
                Ok(family) => verify_every(&family, text, options, control),
                Err(refusals) => {
                    let mut report = QueryReport::without_run(text, 0, Verdict::Unknown, None);
                    report.reason = refusals.first().map(|r| Reason::Every(self.refused(r)));
                    report.every = Some(EveryReport {
                        set: set.to_owned(),
                        ..EveryReport::default()
                    });
                    report
                }
            },
        };
        report.line = from.line_of(query);
        report.expected = expected(query.query);
        report.constants = self.known_constants(options);
        report
    }

    /// A refusal with its place.
    fn refused(&self, refusal: &Refusal) -> String {
        match refusal.span == Span::default() {
            true => format!("{} ({})", refusal.message, refusal.code),
            false => {
                let place = self.source.place(refusal.span);
                format!("{} ({}, {place})", refusal.message, refusal.code)
            }
        }
    }

    /// The report on one query of `from`, which `run` answers once it is resolved.
    pub(crate) fn answer(
        &self,
        from: &Source,
        query: QueryRef<'_>,
        (options, control): (&Options, &Control<'_>),
        run: impl FnOnce(&Network, &zonelens_analysis::network::Query) -> QueryReport,
    ) -> QueryReport {
        let line = from.line_of(query);
        let mut report = match self.resolve(from, query) {
            Err((verdict, reason)) => {
                QueryReport::without_run(&query.query.text, line, verdict, reason)
            }
            Ok((network, resolved)) => run(network, &resolved),
        };
        report.vacuous = crate::vacuous::hint(self, &report, options, control);
        report.query = query.query.text.to_string();
        report.line = line;
        report.expected = expected(query.query);
        report.constants = self.known_constants(options);
        report
    }

    /// The overrides of constants that the model has.
    pub(crate) fn known_constants(&self, options: &Options) -> BTreeMap<String, i64> {
        let known = |name: &String| self.model.has_global_constant(name);
        let given = options.constants.iter().filter(|(name, _)| known(name));
        given.map(|(name, value)| (name.clone(), *value)).collect()
    }

    /// Explores everything and says what was not seen.
    pub(crate) fn cover(&self, options: &Options, control: &Control<'_>) -> Coverage {
        match self.network() {
            Some(network) => coverage(network, options, &|s| self.position(s), control),
            None => Coverage::without_run(self.model_error()),
        }
    }

    /// The names and places of what was not seen.
    pub(crate) fn coverage_report(&self, coverage: &Coverage, model: &str) -> CoverageReport {
        let none = Network::default();
        let network = self.network().unwrap_or(&none);
        coverage.report(network, model, &|span| self.position(span))
    }

    /// Replays a trace; `Err` is the reason if it does not fit the model.
    pub(crate) fn replay(&self, trace: &Trace) -> Result<Trace, String> {
        let network = self.network.as_ref().map_err(|_| HAS_ERRORS.to_owned())?;
        zonelens_interpreter::replay_trace(network, trace, &|span| self.position(span))
    }

    /// The value of an expression in a step of a trace; `Err` is the reason if there is none.
    pub(crate) fn evaluate(
        &self,
        trace: &Trace,
        step: usize,
        expression: &str,
    ) -> Result<TraceValue, String> {
        let network = self.network.as_ref().map_err(|_| HAS_ERRORS.to_owned())?;
        let budget = SharedBudget::new(EVALUATION);
        let value = evaluate_expression(&self.model, network, trace, step, expression, &budget);
        value.map_err(|stopped| match stopped {
            Stopped::Refused(message) => message,
            Stopped::Limit => "the evaluation takes too long and was stopped".to_owned(),
        })
    }

    /// Resolves a condition on one state; `Err` says what is wrong with it.
    pub(crate) fn condition(
        &self,
        expression: &str,
    ) -> Result<zonelens_analysis::network::Query, String> {
        let expression = zonelens_syntax::parse_expression(expression).map_err(|errors| {
            let first = errors.into_iter().next();
            first.map_or_else(|| "it is not a state expression".into(), |e| e.message)
        })?;
        self.model
            .resolve_condition(&expression)
            .map_err(|diagnostics| {
                let first = diagnostics.into_iter().next();
                first.map_or_else(|| "it is not a state expression".into(), |d| d.message)
            })
    }

    /// The line and column of a place in the model.
    pub(crate) fn position(&self, span: Span) -> Position {
        let at = self.source.line_col(span.start);
        Position {
            line: at.line,
            column: at.column,
        }
    }

    /// The reason why a model with errors is not verified.
    fn model_error(&self) -> Reason {
        Reason::ModelError(self.errors().first().map_or_else(
            || HAS_ERRORS.to_owned(),
            |d| format!("{} ({}, {})", d.message, d.code, self.source.place(d.span)),
        ))
    }

    /// Resolves a query of `from`, or says what is wrong.
    pub(crate) fn resolve(
        &self,
        from: &Source,
        query: QueryRef<'_>,
    ) -> Result<(&Network, zonelens_analysis::network::Query), (Verdict, Reason)> {
        let network = self.network.as_ref();
        let network = network.map_err(|_| (Verdict::Error, self.model_error()))?;
        if let Some(error) = query.query.errors.first() {
            let reason = Reason::QueryError(error.message.to_string());
            return Err((Verdict::Error, reason));
        }
        let judge = |diagnostics: &[Diagnostic]| -> Option<(Verdict, Reason)> {
            let mut errors = diagnostics.iter().filter(|d| d.severity == Severity::Error);
            let first = errors.next()?;
            let all_unsupported = diagnostics
                .iter()
                .filter(|d| d.severity == Severity::Error)
                .all(|d| d.code.starts_with("unsupported/"));
            let place = from.place(first.span);
            Some(if all_unsupported {
                let reason = format!("{} ({place})", first.message);
                (Verdict::Unknown, Reason::Unsupported(reason))
            } else {
                let reason = format!("{} ({}, {place})", first.message, first.code);
                (Verdict::Error, Reason::QueryError(reason))
            })
        };
        let known = self.model.check_query(query.query, query.base);
        if let Some(refusal) = judge(&known) {
            return Err(refusal);
        }
        match self.model.resolve_query(network, query.query, query.base) {
            Ok(resolved) => Ok((network, resolved)),
            Err(diagnostics) => Err(judge(&diagnostics).unwrap_or_else(|| {
                // A query that is recognised but not supported, such as a statistical one, is not
                // an error of its author.
                let mut notes = known.iter().chain(&diagnostics);
                match notes.find(|d| d.code.starts_with("unsupported/")) {
                    Some(note) => {
                        let place = from.place(note.span);
                        let reason = format!("{} ({place})", note.message);
                        (Verdict::Unknown, Reason::Unsupported(reason))
                    }
                    None => {
                        let reason = "the query has no meaning in this model".to_owned();
                        (Verdict::Error, Reason::QueryError(reason))
                    }
                }
            })),
        }
    }
}

/// The verdict that the author of a query expects.
pub(crate) fn expected(query: &Query) -> Option<Verdict> {
    query.expectation.map(|e| {
        if e.satisfied {
            Verdict::Satisfied
        } else {
            Verdict::Violated
        }
    })
}

/// Whether a query passes: its verdict is the expected one or, without an expectation, `satisfied`.
pub(crate) fn passes(report: &QueryReport) -> bool {
    report.verdict == report.expected.unwrap_or(Verdict::Satisfied)
}
