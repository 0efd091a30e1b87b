//! The states of a document's queries as data, for panels, status lines and tests.

use crate::code_lens;
use crate::queries::QuerySite;
use crate::runs::View;
use crate::to_proto::Place;
use serde_json::{Value, json};
use zonelens_analysis::report::Verdict;
use zonelens_analysis::report_text::verdict;

/// One object per query, in order of the text.
pub(crate) fn to_json(place: Place<'_>, sites: &[QuerySite], views: &[View]) -> Value {
    let one = |(site, view): (&QuerySite, &View)| {
        let expected = site.expected.map(|(verdict, _)| verdict);
        let mut object = state(view);
        object["query"] = json!(site.text);
        object["version"] = json!(place.snapshot.version);
        object["line"] = json!(site.line);
        object["range"] = json!(place.range(site.span));
        object["meaning"] = json!(site.meaning.to_hex());
        object["expected"] = json!(expected.map(verdict));
        object["passes"] = json!(passes(view, expected));
        object["title"] = json!(code_lens::title(view).0);
        object
    };
    Value::Array(sites.iter().zip(views).map(one).collect())
}

/// As expected or, without an expectation, satisfied; `None` without a fresh verdict.
fn passes(view: &View, expected: Option<Verdict>) -> Option<bool> {
    match view {
        View::Done {
            report,
            fresh: true,
            ..
        } => match report.verdict {
            Verdict::Satisfied | Verdict::Violated => {
                Some(report.verdict == expected.unwrap_or(Verdict::Satisfied))
            }
            Verdict::Unknown | Verdict::Error => None,
        },
        _ => None,
    }
}

fn state(view: &View) -> Value {
    match view {
        View::Never => json!({ "state": "never" }),
        View::Queued(run, fresh) => json!({ "state": "queued", "run": run, "stale": !fresh }),
        View::Running(run, progress, fresh) => {
            json!({ "state": "running", "run": run, "progress": progress, "stale": !fresh })
        }
        View::Cancelled(before) => {
            let mut object = state(before);
            object["cancelled"] = json!(true);
            object
        }
        View::Done {
            report,
            fresh,
            cached,
        } => json!({
            "state": verdict(report.verdict),
            "stale": !fresh,
            "cached": cached,
            "report": **report,
        }),
        View::Failed { message, fresh } => {
            json!({ "state": "failed", "stale": !fresh, "message": message })
        }
    }
}
