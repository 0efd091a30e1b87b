//! For each rule: inserting its violation into a symmetric example is caught with the right code at the right place,
//! and removing it clears the diagnostic.

use std::collections::BTreeMap;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

/// What a mutation adds: global declarations, an edge; the code; the text it is found at.
const VIOLATIONS: &[(&str, &str, &str, &str)] = &[
    (
        "int zz;",
        "assign zz = ELEM + 1;",
        "sym/arithmetic",
        "ELEM + 1",
    ),
    ("SET oo;", "guard oo <= ELEM;", "sym/order", "oo <= ELEM"),
    ("SET oo;", "assign oo = 1;", "sym/literal", "oo = 1"),
    (
        "int aa[SET];",
        "assign aa[0] = 1;",
        "sym/index-int",
        "0] = 1",
    ),
    (
        "typedef scalar[2] other; other oo; int aa[SET];",
        "assign aa[oo] = 1;",
        "sym/index-other",
        "oo] = 1",
    ),
    (
        "int kk[9];",
        "assign kk[ELEM] = 1;",
        "sym/index-scalar",
        "ELEM] = 1",
    ),
    (
        "typedef scalar[2] other; other oo; SET ss;",
        "assign ss = oo;",
        "sym/mixed",
        "ss = oo",
    ),
    ("clock cc;", "guard cc > ELEM;", "sym/clock", "cc > ELEM"),
    (
        "SET ss; void ff() { for (i : SET) ss = i; }",
        "assign ff();",
        "sym/loop-order",
        "for (i : SET)",
    ),
    (
        "SET ff() { SET r; return r; } SET ss;",
        "assign ss = ff();",
        "sym/default",
        "r; } SET",
    ),
    (
        "broadcast chan bb; SET ss;",
        "sync bb?; assign ss = ELEM;",
        "sym/broadcast-order",
        "bb?",
    ),
    (
        "meta SET mm; SET ss;",
        "assign ss = mm;",
        "sym/meta",
        "mm; }",
    ),
    (
        "int ff() { const int w[SET] = {1, 2, 3}; return 0; }",
        "",
        "sym/constant",
        "{1, 2, 3}",
    ),
];

struct Example {
    file: &'static str,
    set: &'static str,
    element: &'static str,
    location: &'static str,
}

const EXAMPLES: &[Example] = &[
    Example {
        file: "fischer.xta",
        set: "pid",
        element: "i",
        location: "idle",
    },
    Example {
        file: "fischer-001.xta",
        set: "proc_id",
        element: "pid",
        location: "idle",
    },
];

fn errors(text: &str) -> Vec<(&'static str, usize)> {
    let file = SourceFile::parse(text, FileKind::Xta);
    Model::new(&file, &BTreeMap::new())
        .diagnostics()
        .iter()
        .filter(|d| d.severity == Severity::Error)
        .map(|d| (d.code, d.span.start as usize))
        .collect()
}

#[test]
fn violations_are_caught_where_they_are() {
    let examples = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for example in EXAMPLES {
        let original = std::fs::read_to_string(examples.join(example.file)).unwrap();
        assert_eq!(errors(&original), [], "{}", example.file);
        for (global, edge, code, at) in VIOLATIONS {
            let fill = |s: &str| {
                s.replace("SET", example.set)
                    .replace("ELEM", example.element)
            };
            let start = original.find("\nprocess ").unwrap() + 1;
            let mut text = original.clone();
            let trans = text.find("trans").unwrap() + "trans".len();
            if !edge.is_empty() {
                let l = example.location;
                text.insert_str(trans, &format!(" {l} -> {l} {{ {} }},", fill(edge)));
            }
            text.insert_str(start, &format!("{}\n", fill(global)));
            let found = errors(&text);
            let place = text.find(&fill(at)).unwrap();
            assert!(
                found.iter().any(|(c, start)| c == code && *start == place),
                "{}: {code} at {place} expected, found {found:?} in\n{text}",
                example.file
            );
            assert!(
                found.iter().all(|(c, _)| c == code),
                "{}: {code}: {found:?}",
                example.file
            );
        }
    }
}
