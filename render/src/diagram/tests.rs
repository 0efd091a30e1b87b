use super::*;
use std::collections::BTreeMap;
use zonelens_analysis::Model;
use zonelens_syntax::ast::FileKind;

fn of(text: &str, kind: FileKind) -> Diagram {
    let file = SourceFile::parse(text, kind);
    let model = Model::new(&file, &BTreeMap::new());
    let network = model.network().ok();
    diagram(&file, network.as_ref(), &|span| range(text, span))
}

fn range(text: &str, span: Span) -> Range {
    let position = |at: u32| {
        let before = &text[..at as usize];
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() as u32,
            character: at - line as u32,
        }
    };
    Range {
        start: position(span.start),
        end: position(span.end),
    }
}

/// The text between two positions.
fn slice(text: &str, range: Range) -> &str {
    let offset = |at: Position| {
        let lines = text.split_inclusive('\n').take(at.line as usize);
        lines.map(str::len).sum::<usize>() + at.character as usize
    };
    &text[offset(range.start)..offset(range.end)]
}

const MODEL: &str = "chan go;
process P(const int[0,1] i) {
    clock x;
    state idle, work { x <= 5 }, done;
    commit done;
    init idle;
    trans
        idle -> work { guard x < 3 && i >= 0; sync go!; assign x = 0; },
        -> done { },
        work -> work { guard x == 5; },
        done -> idle { };
}
system P;
";

#[test]
fn what_is_written_is_drawn() {
    let diagram = of(MODEL, FileKind::Xta);
    let [template] = diagram.templates.as_slice() else {
        panic!("{diagram:?}");
    };
    assert_eq!((template.name.as_str(), template.line), ("P", 1));
    assert_eq!(template.parameters, "const int[0,1] i");
    let nodes: Vec<_> = template
        .nodes
        .iter()
        .map(|n| (n.name.as_str(), n.kind, n.initial))
        .collect();
    assert_eq!(
        nodes,
        [
            ("idle", NodeKind::Normal, true),
            ("work", NodeKind::Normal, false),
            ("done", NodeKind::Committed, false)
        ]
    );
    let edges: Vec<_> = template
        .edges
        .iter()
        .map(|e| (e.source, e.target, e.line))
        .collect();
    assert_eq!(
        edges,
        [(0, 1, 7), (0, 2, 8), (1, 1, 9), (2, 0, 10)],
        "an edge without source leaves from the one before"
    );
    let labels: Vec<_> = template.edges[0]
        .labels
        .iter()
        .map(|l| (l.kind, l.text.as_str()))
        .collect();
    assert_eq!(
        labels,
        [
            ("guard", "x < 3 && i >= 0"),
            ("sync", "go!"),
            ("update", "x = 0")
        ]
    );
    let processes: Vec<&str> = diagram.processes.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(processes, ["P(0)", "P(1)"]);
}

#[test]
fn everything_is_inside_the_picture() {
    let diagram = of(MODEL, FileKind::Xta);
    for template in &diagram.templates {
        for node in &template.nodes {
            assert!(
                node.x - node.width / 2.0 >= 0.0 && node.x + node.width / 2.0 <= template.width
            );
            assert!(
                node.y - node.height / 2.0 >= 0.0 && node.y + node.height / 2.0 <= template.height
            );
        }
        for edge in &template.edges {
            for (x, y) in crate::drawing::points(&edge.path) {
                assert!(
                    (0.0..=template.width).contains(&x) && (0.0..=template.height).contains(&y),
                    "{edge:?}"
                );
            }
        }
    }
}

#[test]
fn coordinates_of_the_file_are_used() {
    let xml = r#"<nta><declaration>clock x;</declaration><template><name>T</name>
<location id="a" x="-100" y="40"><name x="-90" y="10">A</name><label kind="invariant" x="-90" y="60">x &lt;= 5</label></location>
<location id="b" x="100" y="40"><name>B</name><urgent/></location>
<init ref="a"/>
<transition><source ref="a"/><target ref="b"/><label kind="guard" x="0" y="0">x &gt; 2 &amp;&amp; true</label><nail x="0" y="-60"/></transition>
</template><system>system T;</system></nta>"#;
    let diagram = of(xml, FileKind::Xml);
    let template = &diagram.templates[0];
    let (a, b) = (&template.nodes[0], &template.nodes[1]);
    assert_eq!((b.x - a.x, b.y - a.y), (200.0, 0.0));
    assert_eq!(b.kind, NodeKind::Urgent);
    assert!(a.initial);
    assert_eq!(a.labels[0].text, "x <= 5");
    let edge = &template.edges[0];
    assert_eq!(edge.labels[0].text, "x > 2 && true");
    let points = crate::drawing::points(&edge.path);
    assert_eq!(points.len(), 3, "a nail is a corner: {}", edge.path);
    assert_eq!(points[1].0, a.x + 100.0);
}

#[test]
fn unreadable_models_are_drawn_as_far_as_they_go() {
    let diagram = of(
        "process P() { state a, b; init a; trans a -> nowhere { }, a -> b { guard ; }; }",
        FileKind::Xta,
    );
    assert_eq!(diagram.templates[0].nodes.len(), 2);
    assert!(diagram.processes.is_empty());
    let empty = of("process P() { } system P;", FileKind::Xta);
    assert!(empty.templates[0].nodes.is_empty());
}

/// An `.xta` file keeps its coordinates in `//@ xml` lines: the drawing is that of the XML file.
#[test]
fn xml_lines_give_coordinates() {
    let xml = r#"<nta><declaration>clock x;</declaration><template><name>T</name>
<location id="a" x="-100" y="40"><name x="-90" y="10">A</name><label kind="invariant" x="-90" y="60">x &lt;= 5</label></location>
<location id="b" x="100" y="40"><name x="110" y="10">B</name></location>
<branchpoint id="c" x="0" y="90"/>
<init ref="a"/>
<transition><source ref="a"/><target ref="c"/><label kind="guard" x="0" y="0">x &gt; 2</label><nail x="0" y="-60"/></transition>
<transition><source ref="c"/><target ref="b"/></transition>
</template><system>system T;</system></nta>"#;
    let mut drawn = of(xml, FileKind::Xml);
    let text = zonelens_syntax::convert::to_xta(&SourceFile::parse(xml, FileKind::Xml))
        .expect("convertible");
    let mut again = of(&text, FileKind::Xta);
    // The places in the text differ.
    for template in drawn.templates.iter_mut().chain(&mut again.templates) {
        (template.line, template.range) = (0, Range::default());
        template.selection_range = Range::default();
        for node in &mut template.nodes {
            (node.line, node.range) = (0, Range::default());
            node.labels
                .iter_mut()
                .for_each(|l| l.range = Range::default());
        }
        for edge in &mut template.edges {
            (edge.line, edge.range) = (0, Range::default());
            edge.labels
                .iter_mut()
                .for_each(|l| l.range = Range::default());
        }
    }
    assert_eq!(drawn, again);
    let template = &again.templates[0];
    assert_eq!(template.nodes[1].x - template.nodes[0].x, 200.0);
}

#[test]
fn character_references_are_decoded() {
    let xml = r#"<nta><declaration>clock x;</declaration><template><name>T</name>
<location id="a"><name>A</name><label kind="invariant">x &#60;= 5 &#38;&#x26; x &#x3C; 7</label></location>
<init ref="a"/><transition><source ref="a"/><target ref="a"/><label kind="guard">x &#62; 2 &amp;&amp; <![CDATA[x < 4]]></label></transition>
</template><system>system T;</system></nta>"#;
    let diagram = of(xml, FileKind::Xml);
    let template = &diagram.templates[0];
    let mut labels = template.nodes[0].labels.iter();
    let invariant = labels.find(|l| l.kind == "invariant");
    assert_eq!(invariant.expect("there").text, "x <= 5 && x < 7");
    assert_eq!(template.edges[0].labels[0].text, "x > 2 && x < 4");
}

/// Every element has its place in the text, each label that of what it shows; edges count in the
/// text, those that cannot be drawn included.
#[test]
fn elements_and_labels_have_ids_and_ranges() {
    let text = MODEL.replace(
        "        -> done",
        "        idle -> nowhere { },\n        -> done",
    );
    let diagram = of(&text, FileKind::Xta);
    let template = &diagram.templates[0];
    assert_eq!(slice(&text, template.selection_range), "P");
    assert!(slice(&text, template.range).starts_with("process P("));
    assert!(slice(&text, template.range).ends_with('}'));
    let work = &template.nodes[1];
    assert_eq!((work.id.as_str(), work.anonymous), ("work", false));
    assert_eq!(slice(&text, work.range), "work { x <= 5 }");
    let shown = |labels: &[Label]| -> Vec<String> {
        let places = labels.iter().map(|l| slice(&text, l.range).to_owned());
        places.collect()
    };
    assert_eq!(shown(&work.labels), ["work", "x <= 5"]);
    let ids: Vec<u32> = template.edges.iter().map(|e| e.id).collect();
    assert_eq!(ids, [0, 2, 3, 4]);
    let first = &template.edges[0];
    assert!(slice(&text, first.range).starts_with("idle -> work {"));
    assert_eq!(shown(&first.labels), ["x < 3 && i >= 0", "go!", "x = 0"]);
}

#[test]
fn ranges_colours_and_comments_of_xml() {
    let xml = r##"<nta><declaration>clock x; chan c;</declaration><template><name>T</name>
<location id="a" color="#ff0000"><name>A</name><label kind="invariant">x &lt;= 5</label></location>
<location id="b"><label kind="comments"> no &lt;name&gt; </label></location>
<init ref="a"/>
<transition color="#00ff00"><source ref="a"/><target ref="b"/><label kind="select">i : int[0,1]</label><label kind="guard">x &gt; 2</label>
<label kind="synchronisation">c!</label><label kind="assignment">x = 0</label><label kind="comments">why</label></transition>
</template><system>system T;</system></nta>"##;
    let diagram = of(xml, FileKind::Xml);
    let template = &diagram.templates[0];
    let [a, b] = template.nodes.as_slice() else {
        panic!("{template:?}");
    };
    assert_eq!(a.color.as_deref(), Some("#ff0000"));
    assert_eq!((b.anonymous, b.id == b.name), (true, true));
    assert_eq!(b.comment.as_deref(), Some("no <name>"));
    let shown = |labels: &[Label]| -> Vec<(&str, &str)> {
        labels
            .iter()
            .map(|l| (l.kind, slice(xml, l.range)))
            .collect()
    };
    assert_eq!(
        shown(&a.labels),
        [("name", "A"), ("invariant", "x &lt;= 5")]
    );
    let edge = &template.edges[0];
    assert_eq!(edge.color.as_deref(), Some("#00ff00"));
    assert_eq!(edge.comment.as_deref(), Some("why"));
    assert_eq!(
        shown(&edge.labels),
        [
            ("select", "i : int[0,1]"),
            ("guard", "x &gt; 2"),
            ("sync", "c!"),
            ("update", "x = 0")
        ]
    );
    assert_eq!(slice(xml, template.selection_range), "T");
}
