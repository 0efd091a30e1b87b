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
    let rules: Vec<Value> = codes.iter().map(|code| rule(code)).collect();
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

/// The rule that a code scanning service shows next to a finding: a title, the page of the rule and
/// its default severity.
fn rule(code: &str) -> Value {
    let title = zonelens_analysis::title(code).unwrap_or_else(|| code.to_owned());
    let page = zonelens_analysis::explain(code).unwrap_or(code).trim_end();
    let area = code.split('/').next().unwrap_or(code);
    json!({
        "id": code,
        "name": pascal_case(code),
        "shortDescription": { "text": title },
        "help": { "text": plain(page), "markdown": page },
        "defaultConfiguration": { "level": level(zonelens_analysis::severity(code)) },
        "properties": { "tags": [area] },
    })
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info | Severity::Hint => "note",
    }
}

/// `type/empty-range` as `TypeEmptyRange`: the form in which services show names.
fn pascal_case(code: &str) -> String {
    let words = code.split(['/', '-']);
    let capital = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    words.map(capital).collect()
}

/// A page without headings and code fences.
fn plain(page: &str) -> String {
    let lines = page.lines().filter(|l| !l.starts_with("```"));
    let lines: Vec<&str> = lines
        .map(|l| l.trim_start_matches('#').trim_start_matches(' '))
        .collect();
    lines.join("\n")
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
        let related: Vec<Value> = d
            .related
            .iter()
            .map(|r| location(r.span, Some(&r.message)))
            .collect();
        json!({
            "ruleId": d.code,
            "level": level(d.severity),
            "message": { "text": d.message },
            "locations": [location(d.span, None)],
            "relatedLocations": related,
        })
    };
    file.diagnostics.iter().map(result).collect()
}

/// A relative URI reference: with forward slashes, and other characters percent-encoded.
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
