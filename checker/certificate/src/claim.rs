//! From a model's text and a certificate's file to a result: what `zonelens certify` and
//! `zonelens-certify` do.

use crate::check::{Accepted, Limits, Obligation, Rejection, check};
use crate::format::{Header, Stream};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use zonelens_analysis::meaning::{self, Fingerprint};
use zonelens_analysis::network::{Network, Query};
use zonelens_analysis::{Model, report_text};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::{SourceFile, parse_query};
use zonelens_syntax::span::{LineIndex, Span};

/// The claim that the user expects; what is left out is taken from the certificate and reported.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// The formula.
    pub query: Option<String>,
    /// The values of constants.
    pub constants: Option<BTreeMap<String, i64>>,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The claim is proved.
    Accepted(Header, Accepted),
    /// The certificate does not prove it; the place is a line and a column of the model.
    Rejected(Rejection, Option<(u32, u32)>),
    /// There is nothing to check against: the model or the formula has errors.
    Unusable(String),
}

/// Checks a certificate against the text of a model.
pub fn certify(
    text: &str,
    kind: FileKind,
    asked: &Asked,
    file: &mut (impl Read + Seek),
    limits: &Limits<'_>,
) -> Outcome {
    match attempt(text, kind, asked, file, limits) {
        Ok((header, accepted)) => Outcome::Accepted(header, accepted),
        Err(Stop::Rejected(rejection)) => {
            let at = rejection.span.map(|span| position(text, span));
            Outcome::Rejected(rejection, at)
        }
        Err(Stop::Unusable(message)) => Outcome::Unusable(message),
    }
}

enum Stop {
    Rejected(Rejection),
    Unusable(String),
}

impl From<Rejection> for Stop {
    fn from(rejection: Rejection) -> Stop {
        Stop::Rejected(rejection)
    }
}

fn position(text: &str, span: Span) -> (u32, u32) {
    let offset = span.start.min(text.len() as u32);
    let at = LineIndex::new(text).line_col(text, offset);
    (at.line, at.column)
}

fn attempt(
    text: &str,
    kind: FileKind,
    asked: &Asked,
    file: &mut (impl Read + Seek),
    limits: &Limits<'_>,
) -> Result<(Header, Accepted), Stop> {
    let unreadable = |error| Stop::Unusable(format!("the certificate cannot be read: {error}"));
    let length = file.seek(SeekFrom::End(0)).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let header = Stream::new(&mut *file, length).header();
    let header = header.map_err(Rejection::from)?;
    let wrong = |message: String| Stop::Rejected(Rejection::new(Obligation::Claim, message));
    if let Some(constants) = &asked.constants
        && *constants != header.constants
    {
        return Err(wrong(format!(
            "it is about {}, not {}",
            constants_text(&header.constants),
            constants_text(constants)
        )));
    }
    let model = Model::new(&SourceFile::parse(text, kind), &header.constants);
    let network = network(&model, text)?;
    let unknown = |name: &&String| !model.has_global_constant(name);
    if let Some(name) = header.constants.keys().find(unknown) {
        return Err(wrong(format!(
            "it gives a value to `{name}`, which is no global constant of the model"
        )));
    }
    let query = resolve(&model, &network, &header.query)
        .map_err(|message| wrong(format!("its query `{}`: {message}", header.query)))?;
    if let Some(formula) = &asked.query {
        let wanted = resolve(&model, &network, formula)
            .map_err(|message| Stop::Unusable(format!("`{formula}`: {message}")))?;
        if digest(&network, &wanted) != digest(&network, &query) {
            let message = format!("it is about `{}`, not `{formula}`", header.query);
            return Err(wrong(message));
        }
    }
    file.rewind().map_err(unreadable)?;
    let accepted = check(&network, &query, file, length, limits)?;
    Ok((header, accepted))
}

/// The network of a model without errors.
fn network(model: &Model, text: &str) -> Result<Network, Stop> {
    model.network().map_err(|errors| {
        let first = errors.first().map(|error| {
            let (line, column) = position(text, error.span);
            format!("line {line}, column {column}: {}", error.message)
        });
        let first = first.unwrap_or_default();
        Stop::Unusable(format!("the model has errors: {first}"))
    })
}

fn digest(network: &Network, query: &Query) -> Fingerprint {
    meaning::of_question(network, &meaning::of_network(network), query)
}

fn resolve(model: &Model, network: &Network, formula: &str) -> Result<Query, String> {
    let parsed = parse_query(formula);
    if let Some(error) = parsed.errors.first() {
        return Err(error.message.to_string());
    }
    model
        .resolve_query(network, &parsed, 0)
        .map_err(|errors| match errors.into_iter().next() {
            Some(error) => error.message,
            None => "it is not a query of this model".to_owned(),
        })
}

fn constants_text(constants: &BTreeMap<String, i64>) -> String {
    match constants.is_empty() {
        true => "the constants of the model as written".to_owned(),
        false => {
            let all = constants
                .iter()
                .map(|(name, value)| format!("{name} = {value}"));
            all.collect::<Vec<_>>().join(", ")
        }
    }
}

impl Outcome {
    /// The exit status of a program that checks certificates.
    pub fn status(&self) -> u8 {
        match self {
            Outcome::Accepted(..) => 0,
            Outcome::Rejected(..) => 1,
            Outcome::Unusable(_) => 2,
        }
    }

    /// The result as text; `model` is the name of the model's file.
    pub fn text(&self, model: &str) -> String {
        match self {
            Outcome::Accepted(header, accepted) => {
                let Accepted {
                    kind,
                    states,
                    zones,
                    bytes,
                    symmetry,
                    steps,
                } = accepted;
                format!(
                    "accepted: {}\n  proved: {}, and {}\n  with {}\n  \
                     {zones} zones of {states} discrete states{}, {steps} steps, {}; written by {}",
                    header.query,
                    kind.claim(),
                    kind.evaluations(),
                    constants_text(&header.constants),
                    if *symmetry { " up to symmetry" } else { "" },
                    report_text::bytes(*bytes),
                    header.tool
                )
            }
            Outcome::Rejected(rejection, place) => {
                let place = place.map(|(line, column)| format!("\n  at {model}:{line}:{column}"));
                format!("rejected: {rejection}{}", place.unwrap_or_default())
            }
            Outcome::Unusable(message) => message.clone(),
        }
    }
}
