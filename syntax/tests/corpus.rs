//! The corpus of real models: accept and reject as the reference parser does. Skipped where the corpus is absent.

use std::path::PathBuf;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

fn corpus() -> Option<PathBuf> {
    let dir = std::env::var_os("ZONELENS_CORPUS")
        .map(PathBuf::from)
        .unwrap_or_else(|| {
            PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/corpus"))
        });
    dir.join("EXPECT-PARSE.tsv").exists().then_some(dir)
}

#[test]
fn parse_verdicts_agree_with_the_reference() {
    let Some(dir) = corpus() else {
        eprintln!("skipped: no corpus (set ZONELENS_CORPUS)");
        return;
    };
    let table = std::fs::read_to_string(dir.join("EXPECT-PARSE.tsv")).expect("table");
    let (mut agree, mut total) = (0, 0);
    for row in table.lines().skip(1) {
        let cols: Vec<&str> = row.split('\t').collect();
        let (name, expected, reference) = (cols[0], cols[1], cols[2]);
        let bytes = std::fs::read(dir.join(name)).expect("model");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let file = SourceFile::parse(text.clone(), FileKind::from_path(name));
        let errors: Vec<_> = file
            .errors()
            .into_iter()
            .filter(|e| e.code.starts_with("syntax/"))
            .collect();
        total += 1;
        if errors.is_empty() == (expected != "reject") {
            agree += 1;
        } else {
            println!("{expected}: {name}: {reference}");
            if let Some(e) = errors.first() {
                let at = e.span.range();
                println!(
                    "    {} {} … {:?}",
                    e.code,
                    e.message,
                    &text[at.start.saturating_sub(40)..(at.end + 20).min(text.len())]
                );
            }
        }
    }
    println!("parse verdicts: {agree} of {total} agree");
}
