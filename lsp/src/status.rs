//! The states of a document's queries as data, for panels, status lines and tests.

use crate::queries::QuerySite;
use crate::runs::{View, word};
use serde_json::{Value, json};

/// One object per query, in order of the text.
pub fn to_json(sites: &[QuerySite], views: &[View]) -> Value {
    let one = |(site, view): (&QuerySite, &View)| {
        let mut object = state(view);
        object["query"] = json!(site.text);
        object["line"] = json!(site.line);
        object["meaning"] = json!(site.meaning.to_hex());
        object
    };
    Value::Array(sites.iter().zip(views).map(one).collect())
}

fn state(view: &View) -> Value {
    match view {
        View::Never => json!({ "state": "never" }),
        View::Queued(run) => json!({ "state": "queued", "run": run }),
        View::Running(run, progress) => {
            json!({ "state": "running", "run": run, "progress": progress })
        }
        View::Done {
            report,
            fresh,
            cached,
        } => json!({
            "state": word(report.verdict),
            "stale": !fresh,
            "cached": cached,
            "report": **report,
        }),
        View::Failed { message, fresh } => {
            json!({ "state": "failed", "stale": !fresh, "message": message })
        }
    }
}
