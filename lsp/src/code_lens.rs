//! Lenses over queries: what was asked, what came out, what can be done.

use crate::commands;
use crate::queries::QuerySite;
use crate::runs::View;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use zonelens_analysis::Outline;
use zonelens_analysis::network::Network;
use zonelens_analysis::report::{QueryReport, Verdict};
use zonelens_analysis::report_text::{self, grouped, seconds, short_reason};
use zonelens_analysis::trace_text;
use zonelens_syntax::span::Span;

/// A lens.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Lens {
    /// Where it stands.
    pub span: Span,
    /// What it says.
    pub title: String,
    /// The server command it runs; empty for none.
    pub command: &'static str,
    /// The command's argument.
    pub argument: Value,
}

/// The lenses of a document.
pub(crate) fn lenses(uri: &str, sites: &[QuerySite], views: &[View]) -> Vec<Lens> {
    let mut out = Vec::new();
    if sites.len() > 1 {
        out.push(Lens {
            span: Span::new(0, 0),
            title: format!("▶ verify all ({})", sites.len()),
            command: commands::VERIFY_ALL,
            argument: json!({ "uri": uri }),
        });
    }
    for (site, view) in sites.iter().zip(views) {
        let (title, command) = title(view);
        let argument = match view {
            View::Queued(run, _) | View::Running(run, ..) => json!({ "run": run }),
            _ => json!({ "uri": uri, "query": site.text }),
        };
        out.push(Lens {
            span: site.span,
            title,
            command,
            argument,
        });
        if let View::Done {
            report,
            fresh: true,
            ..
        } = view
            && let Some(trace) = &report.trace
        {
            out.push(Lens {
                span: site.span,
                title: format!("trace, {}", trace_text::summary(trace)),
                command: commands::TRACE_OPEN,
                argument: json!({ "uri": uri, "query": site.text }),
            });
        }
    }
    out
}

/// Over each template: how many processes it makes, and over which sets they are alike.
pub(crate) fn over_templates(network: &Network) -> Vec<Lens> {
    let mut templates: BTreeMap<&str, (Span, u32, BTreeSet<&str>)> = BTreeMap::new();
    for family in &network.families {
        let Some(process) = network.processes.get(family.first.index()) else {
            continue;
        };
        let entry =
            templates
                .entry(family.template.as_str())
                .or_insert((process.span, 0, BTreeSet::new()));
        entry.1 += family.len;
        let sets = family.params.iter().filter_map(|p| p.scalarset);
        let sets = sets.filter_map(|id| network.scalarsets.get(id));
        let sound = sets.filter(|s| s.broken.is_empty());
        entry.2.extend(sound.map(|s| s.name.as_str()));
    }
    titled(templates)
}

/// The same where nothing was instantiated.
pub(crate) fn over_outline(outline: &Outline) -> Vec<Lens> {
    let mut templates: BTreeMap<&str, (Span, u32, BTreeSet<&str>)> = BTreeMap::new();
    for family in &outline.families {
        let entry =
            templates
                .entry(family.template.as_str())
                .or_insert((family.span, 0, BTreeSet::new()));
        let count = u32::try_from(family.count).unwrap_or(u32::MAX);
        entry.1 = entry.1.saturating_add(count);
        entry.2.extend(family.sets.iter().map(|s| s.as_str()));
    }
    titled(templates)
}

fn titled(templates: BTreeMap<&str, (Span, u32, BTreeSet<&str>)>) -> Vec<Lens> {
    let lens = |(span, count, sets): (Span, u32, BTreeSet<&str>)| {
        let noun = if count == 1 { "process" } else { "processes" };
        let mut title = format!("{count} {noun}");
        if !sets.is_empty() {
            let sets: Vec<&str> = sets.into_iter().collect();
            title.push_str(&format!(" · symmetric over {}", sets.join(", ")));
        }
        Lens {
            span,
            title,
            command: "",
            argument: Value::Null,
        }
    };
    templates.into_values().map(lens).collect()
}

/// What the lens over the queries of a file without a model says.
pub(crate) fn without_model(sites: &[Span]) -> Vec<Lens> {
    let lens = |span: &Span| Lens {
        span: *span,
        title: "no model next to this file".to_owned(),
        command: "",
        argument: Value::Null,
    };
    sites.iter().map(lens).collect()
}

/// What a lens says of a query, and the command it runs.
pub(crate) fn title(view: &View) -> (String, &'static str) {
    match view {
        View::Never => ("▶ verify".to_owned(), commands::VERIFY),
        View::Queued(_, fresh) => {
            let title = format!("◌ waiting{} · cancel", older(*fresh));
            (title, commands::CANCEL)
        }
        View::Running(_, progress, fresh) => {
            // A run that has just begun has nothing to count yet.
            let counts = match progress.stored {
                0 => "running".to_owned(),
                _ => report_text::progress(progress),
            };
            let title = format!("◌ {counts}{} · cancel", older(*fresh));
            (title, commands::CANCEL)
        }
        View::Cancelled(_) => ("⊘ cancelled · verify".to_owned(), commands::VERIFY),
        View::Done {
            report,
            fresh: false,
            ..
        } => {
            let title = format!(
                "↻ {} (stale) · verify again",
                report_text::verdict(report.verdict)
            );
            (title, commands::VERIFY)
        }
        View::Done { report, cached, .. } => {
            let mut title = done(report);
            if let Some(constants) = report.constants_text() {
                title.push_str(&format!(" · {constants}"));
            }
            if *cached {
                title.push_str(" · from cache");
            }
            (title, commands::VERIFY)
        }
        View::Failed { fresh: false, .. } => (
            "↻ failed (stale) · verify again".to_owned(),
            commands::VERIFY,
        ),
        View::Failed { message, .. } => (format!("⚠ {message} · retry"), commands::VERIFY),
    }
}

/// A run that started before an edit answers for the text of then.
fn older(fresh: bool) -> &'static str {
    match fresh {
        true => "",
        false => " (about an older text)",
    }
}

fn done(report: &QueryReport) -> String {
    let s = &report.statistics;
    let cost = format!("{} · {} states", seconds(s.seconds), grouped(s.stored));
    match report.verdict {
        Verdict::Satisfied => {
            let mut title = format!("✓ satisfied · {cost}");
            let sets = report_text::scalarsets(report);
            for part in sets.into_iter().chain(report_text::values(report)) {
                title.push_str(&format!(" · {part}"));
            }
            title
        }
        Verdict::Violated => {
            format!("✗ violated · {cost}")
        }
        Verdict::Unknown => format!("? {} · retry", short_reason(report)),
        Verdict::Error => format!("⚠ error: {}", short_reason(report)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use zonelens_analysis::report::{BoundsValue, Progress, Reason, ScalarsetReport};

    fn report(verdict: Verdict, reason: impl Into<Option<Reason>>) -> QueryReport {
        let mut report = QueryReport::without_run("A[] true", 1, verdict, reason);
        report.statistics.seconds = 0.84;
        report.statistics.stored = 3880;
        report
    }

    fn shown(report: QueryReport, fresh: bool) -> String {
        let report = Arc::new(report);
        title(&View::Done {
            report,
            fresh,
            cached: false,
        })
        .0
    }

    /// A lens says of measured values what the command line says, and so does the hover.
    #[test]
    fn measured_values_have_the_words_of_the_command_line() {
        let mut measured = report(Verdict::Satisfied, None);
        measured.query = "sup: x".to_owned();
        measured.value = Some(BoundsValue {
            lower: Some(0),
            upper: Some(7),
            lower_strict: false,
            upper_strict: true,
        });
        let line = "supremum: 7, approached but never reached";
        assert_eq!(report_text::values(&measured), [line]);
        let title = shown(measured.clone(), true);
        assert!(title.ends_with(&format!(" · {line}")), "{title}");
        measured.query = "inf: x".to_owned();
        measured.value = Some(BoundsValue {
            upper: None,
            ..measured.value.unwrap_or_default()
        });
        assert!(shown(measured.clone(), true).ends_with(" · infimum: 0"));
        measured.query = "sup: x".to_owned();
        assert!(shown(measured.clone(), true).ends_with(" · supremum: unbounded"));
        let view = View::Done {
            report: Arc::new(measured),
            fresh: true,
            cached: false,
        };
        assert!(crate::query_hover::tell(&view).contains("- supremum: unbounded\n"));
    }

    #[test]
    fn a_title_for_every_state() {
        assert_eq!(title(&View::Never), ("▶ verify".into(), commands::VERIFY));
        let progress = Progress {
            stored: 41200,
            states_per_second: 38123,
            ..Progress::default()
        };
        let running = title(&View::Running(1, progress.clone(), true));
        assert_eq!(running.0, "◌ 41\u{202f}200 states, 38k/s · cancel");
        assert_eq!(running.1, commands::CANCEL);
        let waiting = title(&View::Queued(1, true));
        assert_eq!(waiting, ("◌ waiting · cancel".into(), commands::CANCEL));
        let begun = title(&View::Running(1, Progress::default(), true)).0;
        assert_eq!(begun, "◌ running · cancel");
        let stopped = title(&View::Cancelled(Box::new(View::Never)));
        assert_eq!(stopped, ("⊘ cancelled · verify".into(), commands::VERIFY));
        let running = title(&View::Running(1, progress, false)).0;
        assert!(
            running.ends_with("38k/s (about an older text) · cancel"),
            "{running}"
        );
        let mut satisfied = report(Verdict::Satisfied, None);
        satisfied.symmetry.scalarsets.push(ScalarsetReport {
            name: "pid".into(),
            size: 20,
            detected: false,
            interchangeable: vec![20],
        });
        let text = shown(satisfied.clone(), true);
        assert_eq!(
            text,
            "✓ satisfied · 840 ms · 3\u{202f}880 states · pid (20 interchangeable elements)"
        );
        let mut partly = satisfied.clone();
        partly.symmetry.scalarsets[0].interchangeable = vec![19];
        assert!(shown(partly, true).ends_with("· pid (19 of 20 elements interchangeable)"));
        assert_eq!(
            shown(satisfied, false),
            "↻ satisfied (stale) · verify again"
        );
        let mut given = report(Verdict::Violated, None);
        given.constants.insert("N".into(), 5);
        let text = shown(given.clone(), true);
        assert_eq!(text, "✗ violated · 840 ms · 3\u{202f}880 states · N = 5");
        let view = View::Done {
            report: Arc::new(given),
            fresh: true,
            cached: false,
        };
        let hover = crate::query_hover::tell(&view);
        assert!(hover.contains("- with constants: N = 5\n"), "{hover}");
        let memory = Reason::Memory("4 GB are used up".to_owned());
        let text = shown(report(Verdict::Unknown, memory), true);
        assert_eq!(text, "? memory limit · retry");
    }
}
