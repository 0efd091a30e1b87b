//! All diagnostics of a query file.

use crate::Model;
use crate::diagnostic::Diagnostic;
use crate::pragma;
use zonelens_syntax::SourceFile;

/// What is wrong in a query file, in order of the text: against the model it is asked of, or of syntax alone when there
/// is none.
pub fn diagnostics(file: &SourceFile, model: Option<&Model>) -> Vec<Diagnostic> {
    let errors = file.errors().into_iter();
    let mut out: Vec<Diagnostic> = errors
        .map(|e| Diagnostic::new(e.code, e.message, e.span))
        .collect();
    let lints = pragma::check(file);
    match model {
        Some(model) => {
            out.extend(model.configured_severities(lints));
            for q in file.queries() {
                if q.query.errors.is_empty() {
                    out.extend(model.check_query(q.query, q.base));
                }
            }
        }
        None => out.extend(lints),
    }
    out.sort_by_key(|d| (d.span.start, d.span.end));
    out
}
