//! Which queries the arguments of `verify` select for which models.

use super::{Args, Order};
use crate::inputs::{self, Input, Role};
use crate::model::{Source, read_text};
use std::path::{Path, PathBuf};
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::source::QueryRef;

/// The queries to run and their models.
pub(super) struct Plan {
    /// The models, in command-line order.
    pub models: Vec<Input>,
    /// Whether to run the queries inside and next to each model; otherwise `asked` is run.
    pub embedded: bool,
    /// Query files and formulas of the command line, in order.
    pub asked: Vec<Source>,
    /// Problems of arguments.
    pub problems: Vec<String>,
}

impl Plan {
    /// Classifies the arguments; `Err` means bad usage.
    pub(super) fn new(args: &Args, order: &Order) -> Result<Plan, String> {
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        for (k, argument) in args.paths.iter().enumerate() {
            let at = order.paths.get(k).copied().unwrap_or(k);
            match inputs::expand(argument, inputs::is_model) {
                Ok(found) if found.is_empty() => {
                    problems.push(format!("{} contains no model", argument.display()));
                }
                Ok(found) => files.extend(found.into_iter().map(|input| (at, input))),
                Err(problem) => problems.push(problem),
            }
        }
        let (mut models, mut asked) = (Vec::new(), Vec::new());
        let mut queries = None;
        for (k, (at, input)) in files.into_iter().enumerate() {
            let is_queries = match inputs::role(&input.path) {
                _ if input.found => false,
                Role::Queries => true,
                Role::Model => false,
                // A second file with another extension contains queries.
                Role::Other => k == 1,
            };
            if is_queries {
                asked.push((at, query_file(&input.path)?));
                queries.get_or_insert(input.path);
            } else {
                models.push(input);
            }
        }
        if let Some(queries) = queries {
            refuse(&queries, models.len(), problems.is_empty())?;
        }
        if models.iter().filter(|m| inputs::is_stdin(&m.path)).count() > 1 {
            return Err("standard input (`-`) can be read only once".to_owned());
        }
        for (i, formula) in args.formulas.iter().enumerate() {
            let source = Source::new(None, formula.as_str(), FileKind::Query);
            if source.queries().is_empty() {
                return Err(format!("-q {formula:?} contains no query"));
            }
            let at = order.formulas.get(i).copied().unwrap_or(usize::MAX);
            asked.push((at, source));
        }
        asked.sort_by_key(|(at, _)| *at);
        Ok(Plan {
            models,
            embedded: asked.is_empty(),
            asked: asked.into_iter().map(|(_, source)| source).collect(),
            problems,
        })
    }
}

/// Query files need exactly one model.
fn refuse(queries: &Path, models: usize, complete: bool) -> Result<(), String> {
    let name = queries.display();
    match models {
        0 if complete => Err(format!(
            "{name} is a query file; give the model too: zonelens verify MODEL {name}"
        )),
        0 | 1 => Ok(()),
        _ => Err(format!(
            "{name}: queries can be given for one model only, and there are {models}; the `.q` file next to each model is found automatically, and -q runs a formula on each"
        )),
    }
}

fn query_file(path: &Path) -> Result<Source, String> {
    let source = Source::new(Some(path.to_owned()), read_text(path)?, FileKind::Query);
    match source.queries().is_empty() {
        true => Err(format!("{} contains no query", path.display())),
        false => Ok(source),
    }
}

/// The query file next to a model, if there is one.
pub(crate) fn sibling(model: &Path) -> Option<PathBuf> {
    if inputs::is_stdin(model) {
        return None;
    }
    let path = model.with_extension("q");
    path.is_file().then_some(path)
}

/// The queries to run. Embedded queries and those of the file next to the model run once if their
/// text is the same.
pub(super) fn select_queries<'a>(
    model: &'a Source,
    embedded: bool,
    others: &'a [Source],
) -> Vec<(&'a Source, QueryRef<'a>)> {
    let mut out: Vec<(&Source, QueryRef<'_>)> = Vec::new();
    let own = embedded.then_some(model);
    for from in own.into_iter().chain(others) {
        for query in from.queries() {
            let again = out.iter().any(|(_, q)| q.query.text == query.query.text);
            if !(embedded && again) {
                out.push((from, query));
            }
        }
    }
    out
}
