//! Round trips between `.xml` and `.xta`, and what they must preserve.

use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{
    Comment, Edge, FileKind, ItemKind, Location, MemberKind, Params, Pragma, PragmaKind, Process,
};
use zonelens_syntax::convert::{to_xml, to_xta};
use zonelens_syntax::debug::{ast_debug, without_spans};
use zonelens_syntax::source::members;

pub(crate) fn parse(text: &str, kind: FileKind) -> SourceFile {
    SourceFile::parse(text, kind)
}

pub(crate) fn syntax_errors(file: &SourceFile) -> Vec<String> {
    file.errors()
        .into_iter()
        .filter(|e| e.code.starts_with("syntax/"))
        .map(|e| {
            let from = file.text[..e.span.start as usize].rfind('\n').unwrap_or(0);
            let line = file.text[from..].lines().find(|l| !l.is_empty());
            format!("{} in {:?}", e.message, line)
        })
        .collect()
}

/// `xml → xta → xml`; returns the difference, if any.
pub(crate) fn xml_round_trip(text: &str) -> Result<(), String> {
    let first = parse(text, FileKind::Xml);
    let xta = to_xta(&first).map_err(|e| format!("refused: {}", e[0].message))?;
    let middle = parse(&xta, FileKind::Xta);
    if let Some(error) = syntax_errors(&middle).first() {
        return Err(format!("the .xta has an error: {error}"));
    }
    let xml = to_xml(&middle).map_err(|e| format!("back refused: {}", e[0].message))?;
    let second = parse(&xml, FileKind::Xml);
    if let Some(error) = syntax_errors(&second).first() {
        return Err(format!("the second .xml has an error: {error}"));
    }
    differ(&ast_debug(&first), &ast_debug(&second))?;
    // Data that the tree does not contain (prolog, options, exact white space) is in the `.xta`.
    let again = to_xta(&second).map_err(|e| e[0].message.clone())?;
    differ(&xta, &again).map_err(|e| format!("second .xta: {e}"))
}

/// `xta → xml → xta`; returns the difference, if any.
pub(crate) fn xta_round_trip(text: &str) -> Result<(), String> {
    let first = parse(text, FileKind::Xta);
    let xml = to_xml(&first).map_err(|e| format!("refused: {}", e[0].message))?;
    let middle = parse(&xml, FileKind::Xml);
    if let Some(error) = syntax_errors(&middle).first() {
        return Err(format!("the .xml has an error: {error}"));
    }
    let xta = to_xta(&middle).map_err(|e| format!("back refused: {}", e[0].message))?;
    let second = parse(&xta, FileKind::Xta);
    differ(&model(&first), &model(&second))?;
    let again = to_xml(&second).map_err(|e| e[0].message.clone())?;
    differ(&xml, &again).map_err(|e| format!("second .xml: {e}"))
}

pub(crate) fn differ(a: &str, b: &str) -> Result<(), String> {
    if a == b {
        return Ok(());
    }
    let at = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let show = |s: &str| {
        let from = (0..=at.saturating_sub(60)).rev();
        let from = from.into_iter().find(|i| s.is_char_boundary(*i));
        let rest = &s[from.unwrap_or(0).min(s.len())..];
        rest.chars().take(160).collect::<String>()
    };
    Err(format!(
        "\n   first  {:?}\n   second {:?}",
        show(a),
        show(b)
    ))
}

/// The model of an `.xta` file in a fixed order, without positions: its meaning to UPPAAL, and all
/// comments.
fn model(file: &SourceFile) -> String {
    let mut declarations = String::new();
    let mut system = String::new();
    let mut processes = String::new();
    let mut comments = Vec::new();
    for item in &file.items {
        let taken = |k: &PragmaKind| {
            matches!(
                k,
                PragmaKind::Query(_) | PragmaKind::Expect(_) | PragmaKind::Xml(_)
            )
        };
        let mut take = |list: &[Comment], pragmas: &[Pragma]| {
            for c in list {
                if !pragmas.iter().any(|p| p.span == c.span && taken(&p.kind)) {
                    comments.push(c.text.to_string());
                }
            }
        };
        take(&item.node.comments, &item.node.pragmas);
        for m in members(item) {
            take(&m.node.comments, &m.node.pragmas);
        }
        let line = || without_spans(&item.node.kind) + "\n";
        match &item.node.kind {
            ItemKind::Process(p) => processes += &process(p),
            ItemKind::Query(_) | ItemKind::Empty => {}
            ItemKind::Instantiation(_)
            | ItemKind::System(_)
            | ItemKind::Progress(_)
            | ItemKind::Gantt(_) => system += &line(),
            _ => declarations += &line(),
        }
    }
    comments.sort();
    let queries: Vec<_> = file
        .queries()
        .iter()
        .filter(|q| !q.query.text.is_empty())
        .map(|q| {
            (
                q.query.text.clone(),
                q.query.expectation.map(|e| e.satisfied),
            )
        })
        .collect();
    format!("{declarations}{processes}{system}{queries:?}\n{comments:#?}")
}

fn process(p: &Process) -> String {
    let params: Vec<_> = p.params.iter().flat_map(|p: &Params| &p.list).collect();
    let mut out = format!("process {} {}\n", p.name.name, without_spans(&params));
    let mut locations: Vec<Location> = Vec::new();
    let mut edges: Vec<Edge> = Vec::new();
    let mut rest = String::new();
    for m in &p.members {
        match &m.node.kind {
            MemberKind::States(list) => locations.extend(list.iter().cloned()),
            MemberKind::Commit(names) => {
                let hit = locations
                    .iter_mut()
                    .filter(|l| names.iter().any(|n| n.name == l.name.name));
                hit.for_each(|l| l.committed = true);
            }
            MemberKind::Urgent(names) => {
                let hit = locations
                    .iter_mut()
                    .filter(|l| names.iter().any(|n| n.name == l.name.name));
                hit.for_each(|l| l.urgent = true);
            }
            MemberKind::Edge(edge) => {
                let mut edge = edge.clone();
                if edge.source.is_none() {
                    edge.source = edges.last().and_then(|e| e.source.clone());
                }
                edges.push(edge);
            }
            MemberKind::Empty => {}
            kind @ (MemberKind::Branchpoints(_) | MemberKind::Init(_)) => {
                rest += &(without_spans(kind) + "\n");
            }
            kind => out += &(without_spans(kind) + "\n"),
        }
    }
    for l in &locations {
        out += &(without_spans(l) + "\n");
    }
    out += &rest;
    for e in &edges {
        out += &(without_spans(e) + "\n");
    }
    out
}
