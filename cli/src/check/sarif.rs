//! SARIF 2.1.0, for code scanning services.

use super::Checked;
use super::json::ends;
use crate::output::Stream;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use zonelens_analysis::diagnostic::Severity;
use zonelens_syntax::span::Span;

pub(super) fn write(files: &[Checked], stream: Stream) {
    let codes: BTreeSet<&str> = files
        .iter()
        .flat_map(|f| f.diagnostics.iter().map(|d| d.code))
        .collect();
    let rules: Vec<Value> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<Value> = files.iter().flat_map(results).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": { "name": "zonelens", "version": env!("CARGO_PKG_VERSION"), "rules": rules } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    stream.say(&format!("{log:#}"));
}

fn results(file: &Checked) -> Vec<Value> {
    let location = |span: Span, message: Option<&str>| {
        let (start, end) = ends(file, span);
        let mut location = json!({
            "physicalLocation": {
                "artifactLocation": { "uri": uri(&file.name) },
                "region": {
                    "startLine": start.line,
                    "startColumn": start.column,
                    "endLine": end.line,
                    "endColumn": end.column,
                },
            },
        });
        if let Some(message) = message {
            location["message"] = json!({ "text": message });
        }
        location
    };
    let result = |d: &zonelens_analysis::diagnostic::Diagnostic| {
        let level = match d.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info | Severity::Hint => "note",
        };
        let related: Vec<Value> = d
            .related
            .iter()
            .map(|r| location(r.span, Some(&r.message)))
            .collect();
        json!({
            "ruleId": d.code,
            "level": level,
            "message": { "text": d.message },
            "locations": [location(d.span, None)],
            "relatedLocations": related,
        })
    };
    file.diagnostics.iter().map(result).collect()
}

/// A relative URI reference: separators forward, everything that is not allowed percent-encoded.
fn uri(name: &str) -> String {
    let mut out = String::new();
    for b in name.replace('\\', "/").bytes() {
        match b {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(b.into())
            }
            _ => out.push_str(&format!("%{b:02X}")),
        }
    }
    out
}
