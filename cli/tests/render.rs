//! `zonelens render` through the real binary.

use std::path::Path;
use std::process::{Command, Output};

fn render(args: &[&str]) -> Output {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    Command::new(env!("CARGO_BIN_EXE_zonelens"))
        .arg("render")
        .args(args)
        .current_dir(examples)
        .output()
        .expect("the binary runs")
}

fn picture(args: &[&str]) -> String {
    let output = render(args);
    assert!(output.status.success(), "{}", complaint(&output));
    String::from_utf8(output.stdout).expect("text")
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Tags are closed in the order they were opened, and nothing comes from elsewhere.
fn is_sound(svg: &str) {
    let mut open = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') {
            open.push(tag.split_whitespace().next().expect("a name"));
        }
    }
    assert!(open.is_empty(), "{open:?}");
    for word in ["<script", "href=", "url(", "@import", "NaN", "inf "] {
        assert!(!svg.contains(word), "{word}");
    }
}

#[test]
fn every_example_can_be_drawn() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).expect("examples").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".xta") || name.ends_with(".xml") {
            is_sound(&picture(&[&name, "-o", "-"]));
            count += 1;
        }
    }
    assert!(count >= 5, "{count}");
}

#[test]
fn a_template_with_its_locations_and_labels() {
    let svg = picture(&["fischer.xta", "-o", "-", "--template", "Fischer"]);
    is_sound(&svg);
    for text in [
        "Fischer(const pid i)",
        ">idle<",
        ">x &lt;= k<",
        ">x &gt; k &amp;&amp; set &amp;&amp; id == i<",
    ] {
        assert!(svg.contains(text), "{text} in\n{svg}");
    }
    assert_eq!(svg.matches("class=\"node\"").count(), 4);
    assert_eq!(
        svg.matches("class=\"ring\"").count(),
        1,
        "one location is initial"
    );
    assert_eq!(svg.matches("class=\"arrow\"").count(), 5);
}

#[test]
fn a_trace_with_its_lanes_and_times() {
    let svg = picture(&["fischer-broken.xta", "--trace", "-o", "-"]);
    is_sound(&svg);
    assert_eq!(svg.matches("class=\"life\"").count(), 4);
    assert!(svg.contains(">t = 0<") && svg.contains(">cs<"), "{svg}");
    let one = picture(&[
        "fischer-broken.xta",
        "--trace",
        "-o",
        "-",
        "--process",
        "Fischer(0)",
    ]);
    assert_eq!(one.matches("class=\"life\"").count(), 1);
    let other = picture(&[
        "fischer-broken.xta",
        "--trace",
        "-o",
        "-",
        "-q",
        "E<> exists (i : pid) Fischer(i).wait",
    ]);
    assert!(other.contains("E&lt;&gt; exists (i : pid) Fischer(i).wait"));
}

#[test]
fn what_cannot_be_drawn_is_told() {
    let status = |args: &[&str]| {
        let output = render(args);
        (output.status.code(), complaint(&output))
    };
    let (code, text) = status(&["fischer.xta", "-o", "-", "--template", "Nobody"]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("no template Nobody; it has Fischer"),
        "{text}"
    );
    let (code, text) = status(&[
        "fischer-broken.xta",
        "--trace",
        "-o",
        "-",
        "--process",
        "P(9)",
    ]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("no process P(9); there are Fischer(0)"),
        "{text}"
    );
    let (code, text) = status(&["fischer.xta", "--trace", "-o", "-", "-q", "A[] true"]);
    assert_eq!(code, Some(1));
    assert!(
        text.contains("no query of this model has a trace"),
        "{text}"
    );
    let (code, text) = status(&["fischer.xta", "--trace", "-o", "-", "-q", "E<> nobody"]);
    assert_eq!(code, Some(2));
    assert!(
        text.contains("`E<> nobody` has no answer: query-error"),
        "{text}"
    );
    let (code, _) = status(&["nothing.xta", "-o", "-"]);
    assert_eq!(code, Some(2));
    let (code, _) = status(&["fischer.xta"]);
    assert_eq!(code, Some(2), "-o is needed");
}
