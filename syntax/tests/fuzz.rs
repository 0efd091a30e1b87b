//! A short fixed run of the fuzz targets on stable Rust; `cargo xtask fuzz` runs them for longer.

use crate::common;

use common::examples;
use zonelens_syntax::fuzzing;
use zonelens_test_support::Rng;

/// Damaged example texts and random bytes.
fn input(rng: &mut Rng, texts: &[Vec<u8>]) -> Vec<u8> {
    if rng.below(8) == 0 {
        return (0..rng.below(400)).map(|_| rng.next_u64() as u8).collect();
    }
    let mut bytes = texts[rng.below(texts.len())].clone();
    for _ in 0..1 + rng.below(8) {
        if bytes.is_empty() {
            break;
        }
        let at = rng.below(bytes.len());
        let len = rng.below(60).min(bytes.len() - at);
        match rng.below(4) {
            0 => drop(bytes.drain(at..at + len)),
            1 => bytes[at] = rng.next_u64() as u8,
            2 => {
                let part = bytes[at..at + len].to_vec();
                let to = rng.below(bytes.len());
                bytes.splice(to..to, part);
            }
            _ => bytes[at] = rng.pick(b"{}()[];,<>&\"'/*\\\n-:="),
        }
    }
    bytes
}

fn run(seed: u64, target: fn(&[u8]), count: usize) {
    let mut texts: Vec<Vec<u8>> = examples()
        .into_iter()
        .map(|(_, t)| t.into_bytes())
        .collect();
    let models: Vec<Vec<u8>> = texts
        .iter()
        .filter_map(|t| {
            let text = String::from_utf8(t.clone()).ok()?;
            let file =
                zonelens_syntax::SourceFile::parse(text, zonelens_syntax::ast::FileKind::Xta);
            zonelens_syntax::convert::to_xml(&file)
                .ok()
                .map(String::into_bytes)
        })
        .collect();
    texts.extend(models);
    let mut rng = Rng(seed);
    for _ in 0..count {
        target(&input(&mut rng, &texts));
    }
}

#[test]
fn lexer() {
    run(1, fuzzing::lexer, 3000);
}

#[test]
fn parser() {
    run(2, fuzzing::parser, 1500);
}

#[test]
fn xml() {
    run(3, fuzzing::xml, 1500);
}

#[test]
fn reparse() {
    run(4, fuzzing::reparse, 1500);
}
