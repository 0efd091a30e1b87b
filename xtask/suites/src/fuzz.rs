//! Random input: nothing may panic, hang or disagree with itself. The targets are those of the
//! coverage-guided fuzzers in `fuzz/`.

use crate::corpus;
use crate::fuzz_models;
use crate::generate;
use std::time::{Duration, Instant};
use zonelens_analysis::Model;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::fuzzing;
use zonelens_test_support::Rng;

/// Runs for `seconds`, and for the same time with models that are verified. Everything except the
/// duration depends only on the seed.
pub(crate) fn run(seconds: u64, seed: u64) -> bool {
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
    println!("fuzz: {count} inputs from seed {seed}, no promise broken");
    fuzz_models::run(&texts, seconds, seed)
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

/// Deletes, repeats, swaps and inserts pieces of the text.
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
    fuzzing::lexer(text.as_bytes());
    match kind {
        FileKind::Xml => fuzzing::xml(text.as_bytes()),
        FileKind::Xta | FileKind::Query => fuzzing::parser(text.as_bytes()),
    }
    let mut edited = vec![
        kind as u8,
        rng.next_u64() as u8,
        rng.next_u64() as u8,
        rng.next_u64() as u8,
    ];
    edited.extend_from_slice(text.as_bytes());
    fuzzing::reparse(&edited);
    if kind != FileKind::Query {
        let file = SourceFile::parse(text, kind);
        drop(Model::new(&file, &Default::default()).network());
    }
}
