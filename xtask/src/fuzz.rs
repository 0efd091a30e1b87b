//! Random input: nothing may panic, hang or disagree with itself. The coverage-guided targets in `fuzz/` run the same
//! functions.

use crate::corpus;
use crate::generate;
use crate::rng::Rng;
use std::time::{Duration, Instant};
use zonelens_analysis::Model;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};
use zonelens_syntax::span::{Span, TextEdit};

/// Runs for `seconds`; the seed decides everything but how far it gets.
pub fn run(seconds: u64, seed: u64) -> bool {
    let texts = seeds();
    let mut rng = Rng(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut count = 0u64;
    while Instant::now() < end {
        let (text, kind) = &texts[rng.below(texts.len())];
        let mutated = mutate(&mut rng, text);
        check(&mut rng, &mutated, *kind);
        count += 1;
    }
    println!(
        "fuzz: {count} inputs from seed {seed}, no panic, reparse equal to parse, formatter idempotent"
    );
    true
}

fn seeds() -> Vec<(String, FileKind)> {
    let mut out = vec![(generate::model(200), FileKind::Xta)];
    let mut folders = vec![corpus::root().join("examples")];
    folders.extend(corpus::dir().map(|d| d.join("models")));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.to_string_lossy().into_owned();
            if path.is_dir() {
                folders.push(path);
            } else if [".xta", ".xml", ".q"].iter().any(|e| name.ends_with(e)) {
                let text =
                    String::from_utf8_lossy(&std::fs::read(&path).unwrap_or_default()).into_owned();
                if text.len() < 60_000 {
                    out.push((text, FileKind::from_path(&name)));
                }
            }
        }
    }
    out.sort_by(|a, b| a.0.cmp(&b.0));
    out
}

/// Cuts, repeats, swaps and sprinkles.
fn mutate(rng: &mut Rng, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + rng.below(6) {
        if chars.is_empty() {
            break;
        }
        let at = rng.below(chars.len());
        let len = rng.below(40).min(chars.len() - at);
        match rng.below(5) {
            0 => drop(chars.drain(at..at + len)),
            1 => {
                let part: Vec<char> = chars[at..at + len].to_vec();
                let to = rng.below(chars.len());
                chars.splice(to..to, part);
            }
            2 => chars.truncate(at),
            3 => {
                chars[at] = [
                    '{', '}', '(', ')', ';', ',', '<', '&', '"', '\'', '\0', 'é', '\n',
                ][rng.below(13)]
            }
            _ => {
                let word = [
                    "process ",
                    "system ",
                    "/*",
                    "*/",
                    "->",
                    "typedef ",
                    "]]>",
                    "<!--",
                    "//@ xml <a>",
                ][rng.below(9)];
                chars.splice(at..at, word.chars());
            }
        }
    }
    chars.into_iter().collect()
}

fn check(rng: &mut Rng, text: &str, kind: FileKind) {
    let file = SourceFile::parse(text, kind);
    for e in file.errors() {
        assert!(
            e.span.end as usize <= text.len() && e.span.start <= e.span.end,
            "{e:?}"
        );
    }
    let mut at = rng.below(text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let edit = TextEdit {
        span: Span::new(at as u32, at as u32),
        text: "x;".to_owned(),
    };
    let edited = file.reparse(&edit);
    assert!(
        edited == SourceFile::parse(edited.text.clone(), kind),
        "reparse differs from parse"
    );
    let once = format(&file, FormatOptions::default());
    if kind != FileKind::Xml {
        let twice = format(
            &SourceFile::parse(once.as_str(), kind),
            FormatOptions::default(),
        );
        assert!(
            once == twice || !file.errors().is_empty(),
            "formatting is not idempotent\n{text}"
        );
    }
    match kind {
        FileKind::Xta => drop(zonelens_syntax::convert::to_xml(&file)),
        FileKind::Xml => drop(zonelens_syntax::convert::to_xta(&file)),
        FileKind::Query => {}
    }
    if kind != FileKind::Query {
        drop(Model::new(&file, &Default::default()).network());
    }
}
