//! `lint/label-kind`: labels of XML files that UPPAAL silently ignores because it does not know
//! their kind.

use crate::diagnostic::Diagnostic;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, Graphics, GraphicsChild, MemberKind};
use zonelens_syntax::source::members;
use zonelens_syntax::span::Span;

/// Kinds that UPPAAL itself writes and that have no meaning for verification.
const NOTES: [&str; 4] = ["comments", "testcode", "testcodeEnter", "testcodeExit"];
const OF_LOCATIONS: [&str; 2] = ["invariant", "exponentialrate"];
const OF_EDGES: [&str; 5] = [
    "select",
    "guard",
    "synchronisation",
    "assignment",
    "probability",
];

/// Checks the labels of an XML file.
pub(crate) fn check(file: &SourceFile) -> Vec<Diagnostic> {
    let mut out = Vec::new();
    if file.kind != FileKind::Xml {
        return out;
    }
    for item in &file.items {
        for m in members(item) {
            let at = m.node.span.shift(item.offset + m.offset);
            match &m.node.kind {
                MemberKind::States(list) => {
                    let drawn = list.iter().filter_map(|l| l.graphics.as_deref());
                    drawn.for_each(|g| labels(file, g, at, "location", &OF_LOCATIONS, &mut out));
                }
                MemberKind::Edge(e) => {
                    let drawn = e.graphics.as_deref().into_iter();
                    drawn.for_each(|g| labels(file, g, at, "transition", &OF_EDGES, &mut out));
                }
                _ => {}
            }
        }
    }
    out
}

fn labels(
    file: &SourceFile,
    graphics: &Graphics,
    at: Span,
    what: &str,
    known: &[&str],
    out: &mut Vec<Diagnostic>,
) {
    let kind_of = |c: &GraphicsChild| {
        let kind = c.attributes.iter().find(|(name, _)| name == "kind");
        kind.map(|(_, kind)| kind.clone())
    };
    let is_known = |kind: &str| known.contains(&kind) || NOTES.contains(&kind);
    let all = || graphics.children.iter().filter(|c| c.tag == "label");
    let Some(text) = file.text.get(at.range()) else {
        return;
    };
    if all().all(|c| kind_of(c).is_some_and(|kind| is_known(&kind))) {
        return;
    }
    let mut from = 0;
    for label in all() {
        // Labels are in file order, so the search for each starts after the previous one.
        let Some(start) = text[from..].find("<label").map(|k| from + k) else {
            return;
        };
        from = start + "<label".len();
        let tag = &text[start..text[start..].find('>').map_or(text.len(), |k| start + k)];
        let place = |s: usize, len: usize| {
            let s = at.start + s as u32;
            Span::new(s, s + len as u32)
        };
        let Some(kind) = kind_of(label) else {
            let message = format!(
                "this label has no `kind`, so it is not read; a {what} has {}",
                list(known)
            );
            out.push(Diagnostic::new(
                "lint/label-kind",
                message,
                place(start, tag.len()),
            ));
            continue;
        };
        if is_known(&kind) {
            continue;
        }
        let value = ["\"", "'"]
            .iter()
            .find_map(|q| tag.find(&format!("kind={q}{kind}{q}")));
        let span = match value {
            Some(k) => place(start + k + "kind=\"".len(), kind.len()),
            None => place(start, tag.len()),
        };
        // There is no repair: text that was never read may contain mistakes, which would then
        // surface.
        let instead = match meant(&kind, known) {
            Some(near) => format!("write `{near}`"),
            None => format!("a {what} has {}", list(known)),
        };
        let message = format!(
            "neither Zonelens nor UPPAAL reads labels of the kind `{kind}`, so this one is ignored; {instead}"
        );
        out.push(Diagnostic::new("lint/label-kind", message, span));
    }
}

fn list(known: &[&str]) -> String {
    let quoted: Vec<String> = known.iter().map(|k| format!("`{k}`")).collect();
    quoted.join(", ")
}

/// The kind that was probably meant: other spellings and the words of `.xta`.
fn meant<'a>(kind: &str, known: &[&'a str]) -> Option<&'a str> {
    let kind = kind.to_ascii_lowercase();
    let meant = match kind.as_str() {
        "synchronization" | "sync" | "synchronise" | "synchronize" => "synchronisation",
        "assign" | "assignments" | "update" | "updates" => "assignment",
        "guards" | "condition" => "guard",
        "selection" | "selects" => "select",
        "weight" => "probability",
        "invariants" => "invariant",
        "rate" | "exponential_rate" => "exponentialrate",
        other => other,
    };
    known.iter().copied().find(|k| *k == meant)
}
