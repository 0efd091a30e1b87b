//! Edits of one model that do and do not change its digest.

use super::{Fingerprint, of_network, of_question};
use crate::Model;
use std::collections::BTreeMap;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::{SourceFile, parse_query};

const MODEL: &str = "\
const int N = 2;
typedef scalar[N] pid;
int[0, 9] n; clock g; chan go[pid]; pid id;
int twice(int k) { return k + k; }
process P(const pid i) {
    clock x; int m;
    state s { x <= 5 }, t;
    init s;
    trans s -> t { guard n < 5; sync go[i]!; assign x = 0, n = twice(n), id = i, m = 1; };
}
process Q() { state a; init a; trans a -> a { select j : pid; sync go[j]?; }; }
system P, Q;
";

fn meaning(text: &str, query: &str) -> Fingerprint {
    let file = SourceFile::parse(text, FileKind::Xta);
    let model = Model::new(&file, &BTreeMap::new());
    let network = model.network().unwrap_or_else(|e| panic!("{text}: {e:?}"));
    let query = model.resolve_query(&network, &parse_query(query), 0);
    let query = query.unwrap_or_else(|e| panic!("{text}: {e:?}"));
    of_question(&network, &of_network(&network), &query)
}

const QUERY: &str = "E<> n == 4 && exists (i : pid) P(i).m == 1 && P(i).t";

#[test]
fn invisible_edits_do_not_count() {
    let same = meaning(MODEL, QUERY);
    let after = |from: &str, to: &str| {
        assert!(MODEL.contains(from), "{from}");
        meaning(&MODEL.replacen(from, to, 1), QUERY)
    };
    for (from, to) in [
        ("const int", "/* a comment */ const int"),
        ("init s;", "\n\n    init   s ;"),
        (
            "process Q",
            "process Never(int &k) { state z; init z; }\nprocess Q",
        ),
        ("int[0, 9] n;", "int unused = 3; int[0, 9] n;"),
        (
            "int[0, 9] n;",
            "bool flags[pid]; clock never; chan quiet; int[0, 9] n;",
        ),
        ("chan go[pid];", "chan go[pid]; broadcast chan other[4];"),
        ("int twice", "int idle(int k) { return n * k; }\nint twice"),
        (
            "int twice",
            "const int UNUSED = 7; typedef int[0, 3] small;\nint twice",
        ),
        ("system P, Q;", "system P, Q;\n//@ query A[] n < 3"),
    ] {
        assert!(same == after(from, to), "`{to}` counts");
    }
    let text = MODEL.replace("clock g; ", "");
    assert!(same == meaning(&text, QUERY), "a clock nobody reads");
    assert!(same == meaning(MODEL, "E<>  n==4 && exists (k : pid) P(k).m == 1 && P(k).t"));
}

#[test]
fn everything_else_counts() {
    let same = meaning(MODEL, QUERY);
    let after = |from: &str, to: &str| {
        assert!(MODEL.contains(from), "{from}");
        meaning(&MODEL.replacen(from, to, 1), QUERY)
    };
    for (from, to) in [
        ("N = 2", "N = 3"),
        ("int[0, 9] n", "int[0, 8] n"),
        ("int[0, 9] n", "int[0, 9] n = 1"),
        ("int[0, 9] n", "meta int[0, 9] n"),
        ("chan go", "urgent chan go"),
        ("chan go", "broadcast chan go"),
        ("x <= 5", "x <= 6"),
        ("x <= 5", "x < 5"),
        ("n < 5", "n <= 5"),
        ("n < 5", "n < 5 && g > 0"),
        ("go[i]!", "go[i]?"),
        ("k + k", "k * k"),
        ("k + k", "k + n"),
        ("twice(n)", "twice(n) + 0"),
        ("m = 1", "m = 2"),
        (", id = i", ""),
        ("init s;", "urgent t; init s;"),
        ("init s;", "commit t; init s;"),
        ("init s;", "init t;"),
        ("system P, Q;", "system Q, P;"),
        ("system P, Q;", "system P < Q;"),
        ("system P, Q;", "system P, Q, Q2;"),
    ] {
        let mut from_to = (from.to_owned(), to.to_owned());
        if to.contains("Q2") {
            from_to.1 = "Q2 = Q(); system P, Q, Q2;".to_owned();
        }
        assert!(
            same != after(&from_to.0, &from_to.1),
            "`{to}` does not count"
        );
    }
    for query in [
        "E<> n == 5 && exists (i : pid) P(i).m == 1 && P(i).t",
        "A[] n == 4 && exists (i : pid) P(i).m == 1 && P(i).t",
        "E<> g > 1",
        "E<> n == 4 && exists (i : pid) P(i).m == 1 && P(i).s",
    ] {
        assert!(same != meaning(MODEL, query), "`{query}` is the same");
    }
}

#[test]
fn a_variable_that_only_the_query_mentions_counts_for_it() {
    let asks = "E<> g > 3";
    let same = meaning(MODEL, asks);
    assert!(
        same == meaning(
            &MODEL.replace("int[0, 9] n;", "int more; int[0, 9] n;"),
            asks
        )
    );
    assert!(same != meaning(&MODEL.replace("clock g;", "clock g = 2;"), asks));
}
