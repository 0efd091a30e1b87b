//! Drawings as SVG files: readable on light and dark backgrounds, without scripts, fonts or
//! external resources.
//!
//! No information is conveyed by colour alone: initial locations have a double outline, urgent and
//! committed ones a letter, and uncontrollable edges of games are dashed.

use crate::chart::Chart;
use crate::diagram::{Diagram, Edge, Label, Node, NodeKind, Template};
use crate::drawing::number;
use crate::text::{CHAR, LINE};
use std::fmt::Write;
use zonelens_syntax::xml;

const STYLE: &str = "
  svg { background: #ffffff; }
  text { font: 12px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #1b1f24; }
  .title { font-weight: bold; font-size: 14px; }
  .node { fill: #eef3fb; stroke: #33475b; stroke-width: 1.5; }
  .ring { fill: none; stroke: #33475b; stroke-width: 1; }
  .edge { fill: none; stroke: #33475b; stroke-width: 1.3; }
  .dashed { stroke-dasharray: 5 4; }
  .arrow { fill: #33475b; }
  .invariant, .rate { fill: #7a1f6a; }
  .guard, .probability { fill: #1c6b2a; }
  .sync { fill: #0b5394; }
  .update { fill: #5b3a00; }
  .select { fill: #6b5a00; }
  .label { paint-order: stroke; stroke: #ffffff; stroke-width: 5px; }
  .ground { fill: #ffffff; }
  .life { stroke: #8a97a5; stroke-width: 1; stroke-dasharray: 3 3; }
  .time { fill: #57606a; }
  .badge { font-size: 10px; font-weight: bold; }
";

fn escape(text: &str) -> String {
    // XML does not allow control characters at all.
    let allowed = text.replace(char::is_control, "\u{fffd}");
    xml::escape(&allowed).replace('"', "&quot;")
}

fn open(width: f64, height: f64, title: &str) -> String {
    let (width, height) = (number(width.max(1.0)), number(height.max(1.0)));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n",
        escape(title)
    )
}

/// Writes all templates, one below the other.
pub fn diagram(diagram: &Diagram, title: &str) -> String {
    const HEAD: f64 = 30.0;
    let width = diagram
        .templates
        .iter()
        .map(|t| t.width.max(heading(t).chars().count() as f64 * 8.6 + 24.0));
    let width = width.fold(0.0, f64::max);
    let height: f64 = diagram.templates.iter().map(|t| t.height + HEAD).sum();
    let mut out = open(width, height, title);
    let mut y = 0.0;
    for template in &diagram.templates {
        let _ = writeln!(out, "<g transform=\"translate(0 {})\">", number(y));
        let _ = writeln!(
            out,
            "<text class=\"title\" x=\"12\" y=\"20\">{}</text>",
            escape(&heading(template))
        );
        let _ = writeln!(out, "<g transform=\"translate(0 {HEAD})\">");
        for edge in &template.edges {
            draw_edge(&mut out, edge);
        }
        for node in &template.nodes {
            draw_node(&mut out, node);
        }
        template.edges.iter().for_each(|e| draw_ground(&mut out, e));
        for edge in &template.edges {
            edge.labels.iter().for_each(|l| draw_label(&mut out, l));
        }
        out.push_str("</g>\n</g>\n");
        y += template.height + HEAD;
    }
    out.push_str("</svg>\n");
    out
}

fn heading(template: &Template) -> String {
    if template.parameters.is_empty() {
        template.name.clone()
    } else {
        format!("{}({})", template.name, template.parameters)
    }
}

fn draw_edge(out: &mut String, edge: &Edge) {
    let dashed = if edge.controllable { "" } else { " dashed" };
    let _ = writeln!(
        out,
        "<path class=\"edge{dashed}\" d=\"{}\"/><polygon class=\"arrow\" points=\"{}\"/>",
        edge.path, edge.arrow
    );
}

fn draw_node(out: &mut String, node: &Node) {
    let mut outline = |class: &str, inset: f64| {
        let (width, height) = (node.width - 2.0 * inset, node.height - 2.0 * inset);
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
            number(node.x - width / 2.0),
            number(node.y - height / 2.0),
            number(width),
            number(height),
            number(width.min(height) / 2.0)
        );
    };
    outline("node", 0.0);
    if node.initial {
        outline("ring", 3.0);
    }
    let letter = match node.kind {
        NodeKind::Urgent => "U",
        NodeKind::Committed => "C",
        NodeKind::Normal | NodeKind::Branchpoint => "",
    };
    if !letter.is_empty() {
        // A circle has room in the middle, a pill at its left end.
        let x = if node.width > node.height {
            node.x - node.width / 2.0 + 8.0
        } else {
            node.x
        };
        let _ = writeln!(
            out,
            "<text class=\"badge\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{letter}</text>",
            number(x),
            number(node.y + 4.0)
        );
    }
    // Labels inside an outline need no background.
    let ground = |l: &Label| if l.centred { "" } else { "label " };
    let labels = node.labels.iter();
    labels.for_each(|l| draw_text(out, l, ground(l)));
}

/// Draws a background for labels that are on their line: pieces of the line between two labels
/// would look like characters.
fn draw_ground(out: &mut String, edge: &Edge) {
    let centred = || edge.labels.iter().filter(|l| l.centred);
    let Some(first) = centred().next() else {
        return;
    };
    let wide = centred().map(|l| l.text.chars().count()).max().unwrap_or(0) as f64 * CHAR;
    let bottom = centred().map(|l| l.y).fold(first.y, f64::max) + 4.0;
    let top = first.y - LINE + 4.0;
    let _ = writeln!(
        out,
        "<rect class=\"ground\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
        number(first.x - wide / 2.0 - 2.0),
        number(top),
        number(wide + 4.0),
        number(bottom - top)
    );
}

fn draw_label(out: &mut String, label: &Label) {
    draw_text(out, label, "label ");
}

fn draw_text(out: &mut String, label: &Label, class: &str) {
    let anchor = if label.centred { "middle" } else { "start" };
    let _ = writeln!(
        out,
        "<text class=\"{class}{}\" text-anchor=\"{anchor}\" x=\"{}\" y=\"{}\">{}</text>",
        label.kind,
        number(label.x),
        number(label.y),
        escape(&label.text)
    );
}

/// Writes a trace as a sequence chart.
pub fn chart(chart: &Chart, title: &str) -> String {
    const HEAD: f64 = 26.0;
    let width = chart.width.max(title.chars().count() as f64 * 8.6 + 24.0);
    let mut out = open(width, chart.height + HEAD, title);
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"12\" y=\"20\">{}</text>\n<g transform=\"translate(0 {HEAD})\">",
        escape(title)
    );
    for lane in &chart.lanes {
        let x = number(lane.x);
        let _ = writeln!(
            out,
            "<text class=\"title\" text-anchor=\"middle\" x=\"{x}\" y=\"26\">{}</text><line class=\"life\" x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\"/>",
            escape(&lane.process),
            number(chart.top),
            number(chart.height - 6.0)
        );
    }
    axis(&mut out, chart);
    for arrow in &chart.arrows {
        sync(&mut out, chart, arrow);
    }
    for mark in &chart.marks {
        let Some(lane) = chart.lanes.get(mark.lane) else {
            continue;
        };
        let _ = writeln!(
            out,
            "<rect class=\"node\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"22\" rx=\"11\"/><text text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
            number(lane.x - mark.half),
            number(mark.y - 11.0),
            number(2.0 * mark.half),
            number(lane.x),
            number(mark.y + 4.0),
            escape(&mark.location)
        );
    }
    out.push_str("</g>\n</svg>\n");
    out
}

fn axis(out: &mut String, chart: &Chart) {
    let x = 84.0;
    let _ = writeln!(
        out,
        "<line class=\"edge\" x1=\"{x}\" y1=\"{}\" x2=\"{x}\" y2=\"{}\"/>",
        number(chart.top),
        number(chart.height - 6.0)
    );
    let mut first = true;
    for row in &chart.rows {
        let time = if row.later || first {
            format!("t = {}", row.time)
        } else {
            String::new()
        };
        first = false;
        let _ = writeln!(
            out,
            "<line class=\"edge\" x1=\"{}\" y1=\"{y}\" x2=\"{x}\" y2=\"{y}\"/><text text-anchor=\"end\" x=\"22\" y=\"{base}\">{}</text><text class=\"time\" x=\"28\" y=\"{base}\">{}</text>",
            number(x - 4.0),
            row.step,
            escape(&time),
            y = number(row.y),
            base = number(row.y + 4.0)
        );
    }
}

fn sync(out: &mut String, chart: &Chart, arrow: &crate::chart::Arrow) {
    let (Some(from), Some(to)) = (chart.lanes.get(arrow.from), chart.lanes.get(arrow.to)) else {
        return;
    };
    let half = |lane: usize| {
        let mark = |m: &&crate::chart::Mark| m.step == arrow.step && m.lane == lane;
        chart.marks.iter().find(mark).map_or(0.0, |m| m.half)
    };
    let side = (to.x - from.x).signum();
    let (start, tip) = (
        from.x + side * half(arrow.from),
        to.x - side * half(arrow.to),
    );
    let _ = writeln!(
        out,
        "<path class=\"edge\" d=\"M{} {y} L{} {y}\"/><polygon class=\"arrow\" points=\"{}\"/>",
        number(start),
        number(tip - side * 8.0),
        crate::drawing::arrowhead((tip, arrow.y), (start, arrow.y)),
        y = number(arrow.y)
    );
    if !arrow.label.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"label sync\" text-anchor=\"middle\" x=\"{}\" y=\"{}\">{}</text>",
            number(f64::midpoint(start, tip)),
            number(arrow.y - 5.0),
            escape(&arrow.label)
        );
    }
}
