//! All diagnostics of a query file.

use crate::Model;
use crate::diagnostic::Diagnostic;
use crate::pragma;
use zonelens_syntax::SourceFile;

/// The diagnostics of a query file in text order: checked against the model it belongs to, or
/// syntax only if there is none.
pub fn diagnostics(file: &SourceFile, model: Option<&Model>) -> Vec<Diagnostic> {
    let errors = file.errors();
    let mut out: Vec<Diagnostic> = errors.iter().map(|e| Diagnostic::syntax(e, 0)).collect();
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
