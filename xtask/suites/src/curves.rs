//! Growth curves as SVG: one line per series, states on a logarithmic scale.

use std::fmt::Write;

/// A line of a chart: its name and points (size, value).
pub(crate) struct Series {
    /// Its name in the legend.
    pub name: &'static str,
    /// Points in order of size.
    pub points: Vec<(f64, f64)>,
}

const COLOURS: [&str; 3] = ["#b3541e", "#1f6f8b", "#5b8c2a"];
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 50.0;

/// Draws a chart.
pub(crate) fn chart(title: &str, axis: &str, series: &[Series]) -> String {
    let points = || series.iter().flat_map(|s| &s.points);
    let last = points().map(|p| p.0).fold(1.0, f64::max);
    let decades = points()
        .map(|p| p.1.max(1.0).log10().ceil())
        .fold(1.0, f64::max);
    let x = |n: f64| LEFT + n / last * (WIDTH - LEFT - RIGHT);
    let y = |v: f64| HEIGHT - BOTTOM - v.max(1.0).log10() / decades * (HEIGHT - TOP - BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"15\" fill=\"#222\">{title}</text>\n"
    );
    for decade in 0..=decades as i32 {
        let at = y(10f64.powi(decade));
        let _ = writeln!(
            svg,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#ddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">10<tspan dy=\"-4\" font-size=\"9\">{decade}</tspan></text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            at + 4.0
        );
    }
    for tick in 0..=5 {
        let n = (last * f64::from(tick) / 5.0).round();
        let _ = writeln!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#555\">{n}</text>",
            x(n),
            HEIGHT - BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#222\">{axis}</text>",
        (WIDTH + LEFT - RIGHT) / 2.0,
        HEIGHT - 10.0
    );
    // The names of the lines have a background: otherwise lines of the grid would cross them.
    let _ = writeln!(
        svg,
        "<rect x=\"{}\" y=\"{}\" width=\"150\" height=\"{}\" fill=\"#ffffff\"/>",
        WIDTH - RIGHT - 156.0,
        HEIGHT - BOTTOM - 72.0,
        18 * series.len() + 6
    );
    for (k, line) in series.iter().enumerate() {
        let colour = COLOURS[k % COLOURS.len()];
        let at: Vec<String> = line
            .points
            .iter()
            .map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1)))
            .collect();
        // Later series are drawn over earlier ones; dashes keep both visible where they coincide.
        let dash = if k == 2 {
            " stroke-dasharray=\"5 4\""
        } else {
            ""
        };
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>",
            at.join(" ")
        );
        let (cx, cy) = (
            WIDTH - RIGHT - 150.0,
            HEIGHT - BOTTOM - 60.0 + 18.0 * k as f64,
        );
        let _ = writeln!(
            svg,
            "<line x1=\"{cx}\" y1=\"{cy}\" x2=\"{}\" y2=\"{cy}\" stroke=\"{colour}\" stroke-width=\"2\"{dash}/>\n\
             <text x=\"{}\" y=\"{}\" fill=\"#222\">{}</text>",
            cx + 24.0,
            cx + 30.0,
            cy + 4.0,
            line.name
        );
    }
    svg.push_str("</svg>\n");
    svg
}
