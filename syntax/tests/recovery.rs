//! One wrong token leaves the rest of the file usable.

#![allow(clippy::print_stdout)] // Scores are read in the log.

use crate::common;

use common::{examples, without_spans};
use std::collections::HashMap;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::lexer::{Mode, lex};

fn trees(file: &SourceFile) -> Vec<String> {
    file.items
        .iter()
        .map(|i| without_spans(&format!("{:?}", i.node.kind)))
        .collect()
}

/// The share of items, except the one at `touched`, whose tree is unchanged.
fn kept(before: &[String], touched: usize, after: &SourceFile) -> f64 {
    let mut pool: HashMap<String, u32> = HashMap::new();
    for tree in trees(after) {
        *pool.entry(tree).or_default() += 1;
    }
    let others = before.iter().enumerate().filter(|(i, _)| *i != touched);
    let (mut found, mut total) = (0u32, 0u32);
    for (_, tree) in others {
        total += 1;
        if let Some(n) = pool.get_mut(tree).filter(|n| **n > 0) {
            *n -= 1;
            found += 1;
        }
    }
    if total == 0 {
        1.0
    } else {
        f64::from(found) / f64::from(total)
    }
}

#[test]
fn one_wrong_token_keeps_the_other_items() {
    let (mut sum, mut count, mut minimum) = (0.0, 0u32, (1.0, String::new()));
    for (name, text) in examples() {
        let kind = FileKind::from_path(&name);
        if kind != FileKind::Xta {
            continue;
        }
        let file = SourceFile::parse(text.as_str(), kind);
        let before = trees(&file);
        let tokens: Vec<_> = lex(&text, Mode::Model)
            .into_iter()
            .filter(|t| !t.kind.is_comment())
            .collect();
        for (i, token) in tokens.iter().enumerate() {
            let (s, e) = (token.start as usize, token.end as usize);
            let touched = file
                .items
                .iter()
                .position(|it| it.span().end > token.start)
                .unwrap_or(0);
            let mut variants = vec![
                format!("{}{}", &text[..s], &text[e..]),
                format!("{}{} {}", &text[..e], "", &text[s..]),
            ];
            if let Some(next) = tokens.get(i + 1) {
                let (ns, ne) = (next.start as usize, next.end as usize);
                variants.push(format!(
                    "{}{}{}{}{}",
                    &text[..s],
                    &text[ns..ne],
                    &text[e..ns],
                    &text[s..e],
                    &text[ne..]
                ));
            }
            for (v, mutated) in variants.iter().enumerate() {
                let after = SourceFile::parse(mutated.as_str(), kind);
                let share = kept(&before, touched, &after);
                sum += share;
                count += 1;
                if share < minimum.0 {
                    let what = ["delete", "duplicate", "swap"][v];
                    minimum = (share, format!("{what} `{}` at {s} of {name}", &text[s..e]));
                }
            }
        }
    }
    let mean = 100.0 * sum / f64::from(count);
    println!(
        "recovery: {count} mutations, other items kept: mean {mean:.2} %, minimum {:.1} % ({})",
        100.0 * minimum.0,
        minimum.1
    );
    assert!(mean >= 95.0);
}

#[test]
fn independent_errors_are_all_reported() {
    let mut text = String::new();
    for i in 0..50 {
        text += &format!("int good{i} = {i};\nint bad{i} = ;\n");
    }
    text += "void f() { int a; a = ; a = 1; if (a { a = 2; } return b b; }\n";
    text += "process P() { clock x y; state A { x < }, B; init A;\n trans A -> B { guard ; sync c!!; assign x = 0 0; }, B -> { }, A -> A { guard x > 1; };\n}\n";
    text += "system P;\n";
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    let errors = file.errors();
    println!("{} errors", errors.len());
    assert!(errors.len() >= 57, "{errors:#?}");
    let alive = file
        .items
        .iter()
        .filter(|i| matches!(&i.node.kind, zonelens_syntax::ast::ItemKind::Var(_)))
        .count();
    assert_eq!(alive, 50);
}

#[test]
fn a_thousand_errors_are_reported_once_each() {
    let text: String = (0..1000)
        .map(|i| format!("int a{i} = ;\n"))
        .collect::<String>()
        + "system P;";
    let file = SourceFile::parse(text.as_str(), FileKind::Xta);
    assert_eq!(file.errors().len(), 1000);
}
