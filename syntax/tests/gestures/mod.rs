//! Random gestures on XML models. After each, the file is read again by a reader of this test, and
//! must differ from the tree before by exactly what the reference function does.

// Tests print their scores.
#![allow(clippy::print_stdout)]

mod reference;
mod tree;

use reference::{edges, nodes, numbered, title};
use tree::Tree;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, ItemKind, MemberKind};
use zonelens_syntax::gesture::{Element, End, Gesture, LabelKind, NodeKind, change};
use zonelens_syntax::source::members;
use zonelens_syntax::span::{Span, TextEdit};
use zonelens_test_support::{Rng, corpus_files};

/// How often what happened.
#[derive(Default)]
struct Score {
    files: usize,
    done: usize,
    refused: usize,
    unread: usize,
}

/// A model as other programs write it.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    AsItIs,
    OtherLineEnds,
    OneLine,
    WithoutPlaces,
    Cdata,
}

const STYLES: [Style; 5] = [
    Style::AsItIs,
    Style::OtherLineEnds,
    Style::OneLine,
    Style::WithoutPlaces,
    Style::Cdata,
];

fn styled(text: &str, style: Style) -> String {
    match style {
        Style::AsItIs => text.to_owned(),
        Style::OtherLineEnds if text.contains('\r') => text.replace("\r\n", "\n"),
        Style::OtherLineEnds => text.replace('\n', "\r\n"),
        Style::OneLine => {
            let mut out = String::new();
            for part in text.split_inclusive('>') {
                let blank = part
                    .find('<')
                    .is_some_and(|at| part[..at].trim().is_empty());
                out.push_str(if blank { part.trim_start() } else { part });
            }
            out
        }
        Style::WithoutPlaces => {
            let mut out = String::new();
            let mut rest = text;
            while let Some(at) = [" x=\"", " y=\""].iter().filter_map(|a| rest.find(a)).min() {
                out.push_str(&rest[..at]);
                let value = &rest[at + 4..];
                rest = value.find('"').map_or("", |end| &value[end + 1..]);
            }
            out + rest
        }
        Style::Cdata => {
            let mut out = String::new();
            for (i, part) in text.split("</label>").enumerate() {
                if i > 0 {
                    out.push_str("</label>");
                }
                match part.rsplit_once('>') {
                    Some((tag, inside)) if tag.ends_with(['"', '\'']) && i % 2 == 0 => {
                        let plain = inside.replace("&lt;", "<").replace("&gt;", ">");
                        let plain = plain.replace("&amp;", "&");
                        out.push_str(&format!("{tag}><![CDATA[{plain}]]>"));
                    }
                    _ => out.push_str(part),
                }
            }
            out
        }
    }
}

/// Runs gestures on a file; `Err` describes the first difference.
fn play(text: &str, rng: &mut Rng, steps: usize, score: &mut Score) -> Result<(), String> {
    let Some(mut tree) = tree::read(text).filter(|t| t.tag == "nta") else {
        score.unread += 1;
        return Ok(());
    };
    let mut file = SourceFile::parse(text, FileKind::Xml);
    if file
        .file_errors
        .iter()
        .any(|e| e.message.starts_with("malformed"))
    {
        score.unread += 1;
        return Ok(());
    }
    score.files += 1;
    same_names(&file, &tree)?;
    let mut undo: Vec<Vec<TextEdit>> = Vec::new();
    for _ in 0..steps {
        let (template, gesture) = random(&tree, rng);
        let wanted = reference::after(&tree, &template, &gesture);
        let shown = || format!("{gesture:?} in `{template}`");
        let change = match (change(&file, &template, &gesture, &numbered), wanted) {
            (Ok(change), Some(wanted)) => (change, wanted),
            (Err(why), None) => {
                assert!(!why.is_empty());
                score.refused += 1;
                continue;
            }
            (Err(why), Some(_)) => return Err(format!("{} was refused: {why}", shown())),
            (Ok(_), None) => return Err(format!("{} was not refused", shown())),
        };
        let (change, wanted) = change;
        let before = file.text.to_string();
        let (after, back) = apply(&before, &change.edits)?;
        if matches!(gesture, Gesture::Move { .. }) {
            let digits = |e: &&TextEdit| {
                let old = zonelens_syntax::xml::unescape(&before[e.span.range()]);
                old.trim().parse::<f64>().is_ok()
            };
            assert!(change.edits.iter().all(|e| digits(&e)), "{}", shown());
        }
        let got = tree::read(&after).ok_or_else(|| format!("{}: unreadable", shown()))?;
        if got != wanted {
            let at = first_difference(&format!("{wanted:#?}"), &format!("{got:#?}"));
            return Err(format!("{}: {at}\n{:?}", shown(), change.edits));
        }
        // What a server does: the edits one after the other, the last one first.
        let reparsed = change
            .edits
            .iter()
            .rev()
            .fold(file, |f, edit| f.reparse(edit));
        file = SourceFile::parse(after, FileKind::Xml);
        if reparsed != file {
            return Err(format!("{}: reparsing gives another tree", shown()));
        }
        tree = got;
        if let Some(added) = &change.added {
            let mut templates = tree.children().filter(|t| t.tag == "template");
            let own = templates.find(|t| title(t) == template);
            let there = own.is_some_and(|t| match added {
                Element::Node(name) => nodes(t).iter().any(|n| n.1 == *name),
                Element::Edge(number) => edges(t).len() == *number as usize + 1,
            });
            assert!(there, "{}: {added:?} is not there", shown());
        }
        undo.push(back);
        score.done += 1;
    }
    same_names(&file, &tree)?;
    let mut undone = file.text.to_string();
    for back in undo.iter().rev() {
        undone = apply(&undone, back)?.0;
    }
    match undone == text {
        true => Ok(()),
        false => Err("undoing everything does not restore the bytes".to_owned()),
    }
}

/// The text after edits, and the edits that undo them.
fn apply(text: &str, edits: &[TextEdit]) -> Result<(String, Vec<TextEdit>), String> {
    let mut out = String::new();
    let mut back = Vec::new();
    let mut from = 0;
    for edit in edits {
        let Span { start, end } = edit.span;
        if (start as usize) < from || text.get(start as usize..end as usize).is_none() {
            return Err(format!("edits overlap or cut characters: {edits:?}"));
        }
        out.push_str(&text[from..start as usize]);
        let at = out.len() as u32;
        out.push_str(&edit.text);
        back.push(TextEdit {
            span: Span::new(at, out.len() as u32),
            text: text[edit.span.range()].to_owned(),
        });
        from = end as usize;
    }
    out.push_str(&text[from..]);
    Ok((out, back))
}

/// The names and numbers of elements are those of the tree that the picture is drawn from.
fn same_names(file: &SourceFile, tree: &Tree) -> Result<(), String> {
    let processes = file.items.iter().filter_map(|item| match &item.node.kind {
        ItemKind::Process(process) => Some((item, process)),
        _ => None,
    });
    let templates: Vec<&Tree> = tree.children().filter(|t| t.tag == "template").collect();
    for ((item, process), template) in processes.zip(templates) {
        let mut names: Vec<String> = Vec::new();
        let mut count = 0;
        for member in members(item) {
            match &member.node.kind {
                MemberKind::States(all) => {
                    names.extend(all.iter().map(|l| l.name.name.to_string()))
                }
                MemberKind::Branchpoints(all) => {
                    names.extend(all.iter().map(|b| b.name.name.to_string()));
                }
                MemberKind::Edge(_) => count += 1,
                _ => {}
            }
        }
        let own: Vec<String> = nodes(template).into_iter().map(|n| n.1).collect();
        if process.name.name != title(template) || names != own || count != edges(template).len() {
            return Err(format!(
                "the picture of `{}` has other names",
                title(template)
            ));
        }
    }
    Ok(())
}

fn first_difference(wanted: &str, got: &str) -> String {
    let mut pairs = wanted.lines().zip(got.lines()).enumerate();
    let Some((line, _)) = pairs.find(|(_, (a, b))| a != b) else {
        return "one tree is longer".to_owned();
    };
    let around = |text: &str| {
        let lines = text.lines().skip(line.saturating_sub(4)).take(9);
        lines.collect::<Vec<_>>().join("\n")
    };
    format!("wanted\n{}\ngot\n{}", around(wanted), around(got))
}

const TEXTS: [&str; 11] = [
    "x < 5 && y >= 3",
    "x",
    "",
    " ",
    "a := 1,\nb := 2",
    "]]> & <nta>",
    "é \"quoted\" 'text'",
    "i : int[0, 3]",
    " c! ",
    "// a comment\n",
    "&lt;",
];

fn random(tree: &Tree, rng: &mut Rng) -> (String, Gesture) {
    let templates: Vec<&Tree> = tree.children().filter(|t| t.tag == "template").collect();
    let empty = Tree::default();
    let template = match templates.len() {
        0 => &empty,
        n => templates[rng.below(n)],
    };
    let gesture = gesture(template, rng);
    let name = match rng.one_in(60) {
        true => "Nowhere".to_owned(),
        false => title(template),
    };
    (name, gesture)
}

fn gesture(template: &Tree, rng: &mut Rng) -> Gesture {
    let all = nodes(template);
    let count = edges(template).len();
    let node = |rng: &mut Rng| match all.len() {
        0 => "nothing".to_owned(),
        _ if rng.one_in(50) => "nothing".to_owned(),
        n => all[rng.below(n)].1.clone(),
    };
    let edge = |rng: &mut Rng| {
        let beyond = usize::from(rng.one_in(20));
        rng.below(count + beyond) as u32
    };
    let element = |rng: &mut Rng| match rng.chance(50) {
        true => Element::Node(node(rng)),
        false => Element::Edge(edge(rng)),
    };
    let point = |rng: &mut Rng| (rng.range(-500, 500), rng.range(-500, 500));
    let name = |rng: &mut Rng| match rng.below(8) {
        0 => "int".to_owned(),
        1 => "1st".to_owned(),
        n => format!("{}{}", ["L", "wait_", "P"][n % 3], rng.below(40)),
    };
    match rng.below(19) {
        0 | 1 => Gesture::Move {
            nodes: (0..=rng.below(3)).map(|_| node(rng)).collect(),
            by: match rng.one_in(40) {
                true => (999_000, 0),
                false => point(rng),
            },
        },
        2 => Gesture::MoveLabel {
            of: element(rng),
            label: rng.pick(&LabelKind::ALL),
            to: point(rng),
        },
        3 => Gesture::MoveNail {
            edge: edge(rng),
            nail: rng.below(3),
            to: point(rng),
        },
        4 => Gesture::AddNail {
            edge: edge(rng),
            nail: rng.below(3),
            at: point(rng),
        },
        5 => Gesture::RemoveNail {
            edge: edge(rng),
            nail: rng.below(2),
        },
        6 => Gesture::AddLocation {
            at: point(rng),
            name: rng.chance(60).then(|| name(rng)),
        },
        7 => Gesture::AddBranchpoint { at: point(rng) },
        8 | 9 => Gesture::AddEdge {
            source: node(rng),
            target: node(rng),
            nails: (0..rng.below(3)).map(|_| point(rng)).collect(),
        },
        10 => Gesture::Delete {
            elements: (0..=rng.below(3)).map(|_| element(rng)).collect(),
        },
        11 => Gesture::Reconnect {
            edge: edge(rng),
            end: rng.pick(&[End::Source, End::Target]),
            node: node(rng),
        },
        12 => Gesture::Initial { node: node(rng) },
        13 => Gesture::SetKind {
            node: node(rng),
            to: rng.pick(&[NodeKind::Normal, NodeKind::Urgent, NodeKind::Committed]),
        },
        14 | 15 => Gesture::Label {
            of: element(rng),
            label: rng.pick(&LabelKind::ALL),
            text: rng.pick(&TEXTS).to_owned(),
            at: rng.one_in(4).then(|| point(rng)),
        },
        16 => Gesture::Label {
            of: Element::Node(node(rng)),
            label: LabelKind::Name,
            text: name(rng),
            at: None,
        },
        17 => match rng.below(4) {
            0 => Gesture::AddTemplate { name: name(rng) },
            1 => Gesture::RenameTemplate { name: name(rng) },
            _ => Gesture::Parameters {
                text: rng.pick(&TEXTS).to_owned(),
            },
        },
        _ => match rng.one_in(4) {
            true => Gesture::WriteLayout,
            false => Gesture::Move {
                nodes: vec![node(rng)],
                by: (0, rng.range(-9, 9)),
            },
        },
    }
}

fn check(name: &str, text: &str, seed: u64, steps: usize, score: &mut Score) {
    for (i, style) in STYLES.into_iter().enumerate() {
        check_as(name, text, style, seed.wrapping_add(i as u64), steps, score);
    }
}

fn check_as(name: &str, text: &str, style: Style, seed: u64, steps: usize, score: &mut Score) {
    let text = styled(text, style);
    if let Err(why) = play(&text, &mut Rng::new(seed), steps, score) {
        panic!("{name}, seed {seed}: {why}");
    }
}

fn shown(what: &str, score: &Score) {
    println!(
        "{what}: {} gestures on {} files as the reference, {} refused by both; {} files not well-formed",
        score.done, score.files, score.refused, score.unread
    );
}

/// A model in an odd but legal spelling.
fn generated(rng: &mut Rng) -> String {
    let broken = rng.pick(&["\n", "\r\n", "\n  ", ""]);
    let place = |rng: &mut Rng| match rng.below(4) {
        0 => String::new(),
        1 => format!(" y = '{}' x='{}.5'", rng.range(-99, 99), rng.range(-99, 99)),
        2 => format!(
            " x=\"&#52;{}\" color=\"#00ff00\" y=\"{}\"",
            rng.below(9),
            rng.range(-99, 99)
        ),
        _ => format!(" x=\"{}\" y=\"{}\"", rng.range(-99, 99), rng.range(-99, 99)),
    };
    let label = |rng: &mut Rng, kind: &str| {
        let text = match rng.below(5) {
            0 => "<![CDATA[a < b]]>",
            1 => "a &lt; b <![CDATA[&& c > d]]>",
            2 => " a &#38;&amp; b\n",
            3 => "a <!-- why --> b",
            _ => "x",
        };
        let at = place(rng);
        match rng.one_in(8) {
            true => format!("<label kind='{kind}'{at}/>"),
            false => format!("<label kind=\"{kind}\"{at} >{text}</label >"),
        }
    };
    let count = rng.below(5);
    let mut out = format!("<nta>{broken}<declaration/>");
    for template in 0..=rng.below(2) {
        out += &format!("{broken}<template>{broken}<name> T{template} </name>");
        if rng.one_in(3) {
            out += &format!("{broken}<!-- <location> -->");
        }
        for id in 0..count {
            let at = place(rng);
            match rng.below(5) {
                0 => out += &format!("{broken}<location id=\"id{id}\"{at}/>"),
                1 => out += &format!("{broken}<location id=\"id{id}\"{at}>\t\n</location>"),
                2 => out += &format!("{broken}<branchpoint{at} id='id{id}' />"),
                _ => {
                    let (name, inv) = (place(rng), label(rng, "invariant"));
                    let kind = rng.pick(&["", "<urgent/>", "<committed></committed>"]);
                    out += &format!(
                        "{broken}<location{at} id=\"id{id}\">{broken}<name{name}>\nL{id}</name>{broken}{inv}{kind}{broken}</location>"
                    );
                }
            }
        }
        if rng.chance(70) && count > 0 {
            out += &format!("{broken}<init ref=\"id{}\"/>", rng.below(count));
        }
        for _ in 0..rng.below(5).min(count * 3) {
            let (a, b) = (rng.below(count), rng.below(count));
            let (guard, sync) = (label(rng, "guard"), label(rng, "synchronisation"));
            let nails = rng.pick(&[
                "",
                "<nail x='1' y='2'/>",
                "<nail/>\r\n <nail x=\"3\" y=\"4\"/>",
            ]);
            out += &format!(
                "{broken}<transition>{broken}<source ref=\"id{a}\"/><target ref='id{b}'/>{broken}{guard}{broken}{sync}<!-- n -->{nails}{broken}</transition>"
            );
        }
        out += &format!("{broken}</template>");
    }
    out + "<system>system T0;</system>\n</nta>\n"
}

#[test]
fn gestures_on_our_example() {
    let mut score = Score::default();
    let text = include_str!("../../../examples/crossing.xml");
    for seed in 0..60 {
        check("examples/crossing.xml", text, seed * 100, 30, &mut score);
    }
    shown("examples/crossing.xml", &score);
    assert!(score.done > 3_000, "{}", score.done);
}

#[test]
fn gestures_on_generated_models() {
    let mut score = Score::default();
    for seed in 0..1_000 {
        let text = generated(&mut Rng::new(seed));
        let style = STYLES[seed as usize % STYLES.len()];
        check_as("a generated model", &text, style, seed, 25, &mut score);
    }
    shown("generated", &score);
    assert!(score.done > 5_000 && score.unread == 0, "{}", score.done);
}

#[test]
fn gestures_on_the_corpus() {
    let Some(paths) = corpus_files(&["xml"]) else {
        return;
    };
    // Every nth, so that many authors are among them.
    let step = (paths.len() / 200).max(1);
    let mut score = Score::default();
    for (i, path) in paths.iter().step_by(step).enumerate() {
        let bytes = std::fs::read(path).expect("model");
        let text = String::from_utf8_lossy(&bytes);
        let style = STYLES[(i / 2) % STYLES.len()];
        for style in [Style::AsItIs, style] {
            check_as(
                &path.display().to_string(),
                &text,
                style,
                i as u64,
                12,
                &mut score,
            );
        }
    }
    shown("corpus", &score);
    assert!(score.files >= 400, "{} files", score.files);
}
