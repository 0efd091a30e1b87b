//! The boxes of labels and locations in converted files must not overlap. They are read from the
//! XML text by code that shares nothing with the layout. The measure: 7.3 per character, 17 per
//! line, 30 for a location.

// Tests print their scores.
#![allow(clippy::print_stdout)]

use super::places;
use std::path::{Path, PathBuf};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::convert::{to_plain_xta, to_xml, to_xml_drawn, to_xta};

#[derive(Clone, Debug)]
struct Box {
    what: String,
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Box {
    fn meets(&self, other: &Box) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

fn attribute(tag: &str, name: &str) -> Option<f64> {
    let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
    rest.split_once('"')?.0.parse().ok()
}

fn decoded(text: &str) -> String {
    let named = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#13;", "\r"),
    ];
    let text = named
        .iter()
        .fold(text.to_owned(), |t, (a, b)| t.replace(a, b));
    text.replace("&amp;", "&")
}

/// The locations and labels of each template, and the lines of its edges.
struct Drawn {
    locations: Vec<Box>,
    labels: Vec<Box>,
    /// The corners of each edge, from the centre of one location to the centre of another.
    lines: Vec<Vec<(f64, f64)>>,
}

fn read(xml: &str) -> Vec<Drawn> {
    xml.split("<template").skip(1).map(template).collect()
}

fn template(text: &str) -> Drawn {
    let text = text.split("</template>").next().unwrap_or("");
    let mut out = Drawn {
        locations: Vec::new(),
        labels: Vec::new(),
        lines: Vec::new(),
    };
    let mut centres: Vec<(String, (f64, f64))> = Vec::new();
    let mut line: Vec<(f64, f64)> = Vec::new();
    let mut target = None;
    for piece in text.split('<').skip(1) {
        let (tag, inside) = piece.split_once('>').unwrap_or((piece, ""));
        let place = attribute(tag, "x").zip(attribute(tag, "y"));
        let word = |name: &str| {
            let (_, rest) = tag.split_once(&format!(" {name}=\""))?;
            Some(rest.split_once('"')?.0.to_owned())
        };
        let centre = |id: Option<String>| {
            let found = centres.iter().find(|(i, _)| Some(i) == id.as_ref());
            found.map(|(_, at)| *at)
        };
        match tag.split([' ', '/']).next() {
            Some(kind @ ("location" | "branchpoint")) => {
                let Some((x, y)) = place else { continue };
                let half = if kind == "location" { 15.0 } else { 5.0 };
                centres.push((word("id").unwrap_or_default(), (x, y)));
                out.locations.push(Box {
                    what: tag.to_owned(),
                    left: x - half,
                    top: y - half,
                    right: x + half,
                    bottom: y + half,
                });
            }
            Some("name" | "label") => {
                let Some((x, y)) = place else { continue };
                let text = decoded(inside);
                let wide = text.lines().map(|l| l.chars().count()).max().unwrap_or(0);
                let high = text.lines().count().max(1);
                out.labels.push(Box {
                    what: text,
                    left: x,
                    top: y,
                    right: x + wide as f64 * 7.3,
                    bottom: y + high as f64 * 17.0,
                });
            }
            Some("source") => line.extend(centre(word("ref"))),
            Some("target") => target = centre(word("ref")),
            Some("nail") => line.extend(place),
            // The end tag of a transition.
            Some("") if tag == "/transition" => {
                line.extend(target.take());
                out.lines.push(std::mem::take(&mut line));
            }
            _ => {}
        }
    }
    out
}

/// All pairs of a label and something that it covers.
fn covered(drawn: &Drawn) -> Vec<String> {
    let mut out = Vec::new();
    for (i, label) in drawn.labels.iter().enumerate() {
        let others = drawn.labels[..i].iter().chain(&drawn.locations);
        for other in others.filter(|other| label.meets(other)) {
            out.push(format!("{label:?} and {other:?}"));
        }
    }
    for (i, location) in drawn.locations.iter().enumerate() {
        for other in drawn.locations[..i].iter().filter(|o| location.meets(o)) {
            out.push(format!("{location:?} and {other:?}"));
        }
    }
    out
}

/// All labels that a line crosses, sampled in steps of one.
fn crossed(drawn: &Drawn) -> Vec<String> {
    let mut out = Vec::new();
    for pair in drawn.lines.iter().flat_map(|line| line.windows(2)) {
        let [a, b] = pair else { continue };
        let steps = (a.0 - b.0).hypot(a.1 - b.1).ceil().max(1.0);
        for label in &drawn.labels {
            let inside = (0..=steps as usize).any(|i| {
                let t = i as f64 / steps;
                let (x, y) = (a.0 + (b.0 - a.0) * t, a.1 + (b.1 - a.1) * t);
                x > label.left && x < label.right && y > label.top && y < label.bottom
            });
            if inside {
                out.push(format!("{label:?} by {pair:?}"));
            }
        }
    }
    out
}

fn xta(text: &str) -> SourceFile {
    SourceFile::parse(text, FileKind::Xta)
}

fn examples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(folder).expect("the examples").flatten();
    let mut out: Vec<PathBuf> = files.map(|f| f.path()).collect();
    out.retain(|p| p.extension().is_some_and(|e| e == "xta"));
    out.sort();
    out
}

#[test]
fn no_label_of_an_example_covers_anything() {
    let mut labels = 0;
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let xml = to_xml_drawn(&xta(&text), &places).expect("convertible");
        for drawn in read(&xml) {
            labels += drawn.labels.len();
            assert_eq!(covered(&drawn), [""; 0], "{}", path.display());
            assert_eq!(crossed(&drawn), [""; 0], "{}", path.display());
        }
    }
    assert!(labels > 100, "only {labels} labels were found");
}

/// Loops, parallel edges, edges in both directions, long and multi-line labels, branchpoints, a
/// separate component.
const HARD: &str = "clock x; int n; chan a;
process P() {
    state s { x <= 5 && n < 100 && n > -100 }, t, a_very_long_name_of_a_location { x <= 3 }, alone;
    branchpoint b;
    commit t;
    init s;
    trans
        s -> s { guard x > 1; assign n = 0; },
        s -> s { guard x > 2; sync a!; assign n = 1; },
        s -> s { },
        s -> t { guard x > 1 &&
                       n < 5 &&
                       n > 2; sync a!; assign n = n + 1, n = n + 2, n = n + 3, n = n + 4, n = n + 5, n = n + 6; },
        s -> t { guard x > 4; },
        t -> s { guard x > 3; sync a?; },
        t -> b { },
        b -> s { probability 1; },
        b -> a_very_long_name_of_a_location { assign n = 7; probability 2; },
        a_very_long_name_of_a_location -> s { select i : int[0, 4]; guard i > 2; },
        alone -> alone { guard n == 4; };
}
system P;
";

#[test]
fn what_is_hard_to_place_keeps_its_distance() {
    for drawn in read(&to_xml_drawn(&xta(HARD), &places).expect("convertible")) {
        assert_eq!(covered(&drawn), [""; 0]);
        assert_eq!(crossed(&drawn), [""; 0]);
        assert_eq!(drawn.labels.len(), 23);
    }
    // The check can fail: the layout that does not measure text covers labels.
    let grid = read(&to_xml(&xta(HARD)).expect("convertible"));
    assert!(grid.iter().any(|d| !covered(d).is_empty()));
}

/// Parts with coordinates stay where they are; parts added later are put where there is room.
#[test]
fn additions_find_room() {
    let xml = to_xml_drawn(&xta(HARD), &places).expect("convertible");
    let there = to_xta(&SourceFile::parse(xml.as_str(), FileKind::Xml)).expect("convertible");
    let more = there
        .replace("alone;", "alone { x < 9 }, fresh { x < 8 }, other;")
        .replace(
            "alone -> alone {",
            "alone -> fresh { guard n == 5; sync a!; }, s -> t { guard n == 6; }, fresh -> other { guard n == 8; }, fresh -> fresh { guard n == 9; }, other -> s { guard n == 10; },\n alone -> alone {",
        );
    // A `//@ xml` line belongs to what follows it, so the edge before which others were inserted
    // lost its line.
    assert_ne!(there, more);
    let again = to_xml_drawn(&xta(&more), &places).expect("convertible");
    let (before, after) = (read(&xml), read(&again));
    assert_eq!(after[0].labels.len(), 23 + 4 + 6);
    for kept in &before[0].locations {
        assert!(after[0].locations.iter().any(|l| l.what == kept.what));
    }
    assert_eq!(covered(&after[0]), [""; 0]);
}

/// A template beyond the size that is laid out in layers.
#[test]
fn large_templates_keep_their_distance() {
    let names: Vec<String> = (0..400).map(|i| format!("s{i}")).collect();
    let edges: Vec<String> = (0..1_300)
        .map(|i| {
            let (a, b) = (i * 7 % 400, i * 13 % 400);
            format!("s{a} -> s{b} {{ guard n > {i} && n < 2000; assign n = {i}; }}")
        })
        .collect();
    let text = format!(
        "int n;\nprocess P() {{ state {}; init s0; trans {}; }}\nsystem P;\n",
        names.join(", "),
        edges.join(",\n")
    );
    for drawn in read(&to_xml_drawn(&xta(&text), &places).expect("convertible")) {
        assert_eq!(drawn.labels.len(), 400 + 2 * 1_300);
        assert_eq!(covered(&drawn), [""; 0]);
    }
}

/// Real models, read in place.
#[test]
fn no_label_of_the_corpus_covers_anything() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus");
    let folder =
        std::env::var_os("ZONELENS_CORPUS").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let mut files = Vec::new();
    let mut folders = vec![folder.join("models")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            match path.extension().and_then(|e| e.to_str()) {
                _ if path.is_dir() => folders.push(path),
                Some("xta" | "ta" | "xml") => files.push(path),
                _ => {}
            }
        }
    }
    if files.is_empty() {
        println!("no corpus (set ZONELENS_CORPUS): skipped");
        return;
    }
    let (mut models, mut labels, mut bad) = (0, 0, Vec::new());
    for path in files {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
        let kind = FileKind::from_path(&path.to_string_lossy());
        // The coordinates in XML files are the author's: here everything is laid out from scratch.
        let Ok(plain) = to_plain_xta(&SourceFile::parse(text, kind)) else {
            continue;
        };
        let Ok(xml) = to_xml_drawn(&xta(&plain), &places) else {
            continue;
        };
        models += 1;
        for drawn in read(&xml) {
            labels += drawn.labels.len();
            let faults = covered(&drawn);
            if !faults.is_empty() {
                bad.push(format!("{}: {}", path.display(), faults[0]));
            }
        }
    }
    println!("{models} models, {labels} labels");
    assert_eq!(bad, [""; 0]);
    assert!(models > 100, "only {models} could be converted");
}
