//! The formatter changes only white space, is idempotent, and keeps comments.

#![allow(clippy::print_stdout)] // Scores are read in the log.

use crate::common;

use common::examples;
use expect_test::expect;
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::format::{FormatOptions, format};
use zonelens_syntax::lexer::{Mode, lex};
use zonelens_test_support::corpus_files;

fn fmt(text: &str, kind: FileKind) -> String {
    format(&SourceFile::parse(text, kind), FormatOptions::default())
}

/// Token and comment texts in order.
fn words(text: &str, kind: FileKind) -> Vec<String> {
    let mode = if kind == FileKind::Query {
        Mode::Query
    } else {
        Mode::Model
    };
    lex(text, mode)
        .iter()
        .map(|t| text[t.start as usize..t.end as usize].trim_end().to_owned())
        .collect()
}

fn check_properties(name: &str, text: &str, kind: FileKind) {
    let once = fmt(text, kind);
    let same_words = words(text, kind) == words(&once, kind);
    assert!(same_words, "{name}: formatting changed the tokens\n{once}");
    let twice = fmt(&once, kind);
    if once != twice {
        let line = once
            .lines()
            .zip(twice.lines())
            .position(|(a, b)| a != b)
            .unwrap_or(0);
        let show = |t: &str| {
            t.lines()
                .skip(line.saturating_sub(2))
                .take(6)
                .collect::<Vec<_>>()
                .join("\n")
        };
        panic!(
            "{name}: formatting is not idempotent\n--- once\n{}\n--- twice\n{}",
            show(&once),
            show(&twice)
        );
    }
    let tree = |t: &str| {
        let file = SourceFile::parse(t, kind);
        let full = file.items.iter().filter(|i| !i.node.span.is_empty());
        let kinds: Vec<_> = full.map(|i| common::without_query_text(&i.node)).collect();
        common::without_spans(&format!("{kinds:?}"))
    };
    let (before, after) = (tree(text), tree(&once));
    if before != after {
        let at = before
            .bytes()
            .zip(after.bytes())
            .position(|(a, b)| a != b)
            .unwrap_or(0)
            .saturating_sub(60);
        let show = |t: &str| t.chars().skip(at).take(200).collect::<String>();
        panic!(
            "{name}: formatting changed the tree or moved a comment\n{}\n{}",
            show(&before),
            show(&after)
        );
    }
}

#[test]
fn examples_keep_their_words_and_are_formatted() {
    for (name, text) in examples() {
        let kind = FileKind::from_path(&name);
        check_properties(&name, &text, kind);
        if kind != FileKind::Xml {
            assert_eq!(fmt(&text, kind), text, "{name} is not formatted");
        }
    }
}

#[test]
fn corpus_keeps_its_words() {
    let Some(files) = corpus_files(&["xml", "xta", "ta", "q"]) else {
        return;
    };
    let mut count = 0;
    for path in files {
        let name = path.to_string_lossy().into_owned();
        let kind = FileKind::from_path(&name);
        if kind == FileKind::Xml {
            continue;
        }
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("model")).into_owned();
        check_properties(&name, &text, kind);
        count += 1;
    }
    println!("formatted {count} files: tokens, tree and comments kept, idempotent");
}

#[test]
fn style() {
    let text = "const  int N=5 ;int a[2]={1 ,2}; // two\n\n\n\nvoid f(int&x,const int y){int i;for(i=0;i<N;i++){if(a[i]>0)x=-1;else{x++;}}\n// end\nreturn;}\nprocess P( ){clock x;state A{x<=5},B;commit B;init A;trans A->B{guard x>1&&a[0]==1;sync c?;assign x=0;},\n->A{};}\nsystem P;";
    expect![[r#"
        const int N = 5;
        int a[2] = { 1, 2 }; // two

        void f(int &x, const int y) {
            int i;
            for (i = 0; i < N; i++) {
                if (a[i] > 0) x = -1;
                else {
                    x++;
                }
            }
            // end
            return;
        }

        process P() {
            clock x;
            state A { x <= 5 }, B;
            commit B;
            init A;
            trans
                A -> B { guard x > 1 && a[0] == 1; sync c?; assign x = 0; },
                -> A { };
        }

        system P;
    "#]]
    .assert_eq(&fmt(text, FileKind::Xta));
}

#[test]
fn query_style() {
    let text = "/*\nmutex\n*/\nA[]   not(P.cs&&Q.cs)\n\n\n//live\nP.req-->P.cs\nE<>deadlock // end\nsup{P.cs}:x\n";
    expect![[r#"
        /*
        mutex
        */
        A[] not (P.cs && Q.cs)

        //live
        P.req --> P.cs
        E<> deadlock // end
        sup{ P.cs }: x
    "#]]
    .assert_eq(&fmt(text, FileKind::Query));
}

#[test]
fn broken_items_stay_as_they_are() {
    let text = "int   a = ;\nint   b;\nsystem P;\n";
    assert_eq!(
        fmt(text, FileKind::Xta),
        "int   a = ;\nint b;\n\nsystem P;\n".replace("\n\n", "\n")
    );
}

/// A backslash that continues no line is kept before a comment; at the end it must not start to
/// continue one.
#[test]
fn stray_backslashes() {
    for (text, formatted) in [
        ("\\/* c */\nA[] false\n", "\\ /* c */\nA[] false\n"),
        ("\\   /* c\n*/\nA[] false\n", "\\ /* c\n*/\nA[] false\n"),
        ("A[] true\n/* c */ \\ ", "A[] true\n/* c */\n"),
    ] {
        let once = fmt(text, FileKind::Query);
        assert_eq!(once, formatted);
        assert_eq!(fmt(&once, FileKind::Query), formatted);
    }
}

#[test]
fn line_ends_stay() {
    let formatted =
        |text: &str, kind| format(&SourceFile::parse(text, kind), FormatOptions::default());
    let model =
        "int a=1;\r\n/* two\r\nlines */\r\nprocess P() { state s; init s; }\r\nsystem P;\r\n";
    let once = formatted(model, FileKind::Xta);
    assert!(
        once.starts_with("int a = 1;\r\n\r\n/* two\r\nlines */\r\n"),
        "{once:?}"
    );
    assert_eq!(once.matches('\n').count(), once.matches("\r\n").count());
    assert_eq!(formatted(&once, FileKind::Xta), once);
    assert_eq!(
        formatted(&model.replace("\r\n", "\n"), FileKind::Xta),
        once.replace("\r\n", "\n")
    );
    let queries = formatted("A[]  true\r\nE<> false\r\n", FileKind::Query);
    assert_eq!(queries, "A[] true\r\nE<> false\r\n");
}
