//! What the text of a document itself says is wrong.

use crate::snapshot::Snapshot;
use zonelens_analysis::diagnostic::{self, Diagnostic};
use zonelens_analysis::query_file;
use zonelens_syntax::ast::FileKind;

/// There is no model for a query file.
const NO_MODEL: &str = "query/no-model";

/// What the text itself says. `model` is the document itself, or the model beside a query file.
/// What nobody will see is not copied, where findings are as bad as `usual`.
pub fn of_text(snapshot: &Snapshot, model: Option<&Snapshot>, usual: bool) -> Vec<Diagnostic> {
    if snapshot.kind != FileKind::Query {
        let all = snapshot.model().diagnostics();
        return match usual {
            true => diagnostic::shown_of(all),
            false => all.to_vec(),
        };
    }
    let beside = model.map(|m| m.model());
    let mut out = query_file::diagnostics(snapshot.file(), beside);
    if let (None, Some(first)) = (model, snapshot.queries().first()) {
        out.push(Diagnostic::new(
            NO_MODEL,
            "There is no model next to this file. Queries are asked of the `.xta` or `.xml` file of the same name.",
            first.query.span.shift(first.base),
        ));
    }
    out
}
