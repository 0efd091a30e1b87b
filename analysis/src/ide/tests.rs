use super::*;
use zonelens_syntax::ast::FileKind;

const MODEL: &str = "\
const int N = 3;
typedef struct { int a; bool b; } pair_t;
pair_t pair;
int id;
int f(int id) { int x = id + N; for (i : int[0, N]) { x += i; } return x; }
process P(const int id) {
    clock x;
    state s { x <= N }, t;
    init s;
    trans s -> t { select i : int[0, 1]; guard x > i; assign pair.a = id, x = 0; };
}
Q = P(1);
system Q;
//@ query A[] Q.t imply Q.x > id && forall (i : int[0, 1]) i < pair.a
";

fn index() -> Index {
    Index::of_model(&SourceFile::parse(MODEL, FileKind::Xta))
}

/// The line and kind of the definition that the `n`th `name` refers to.
fn target(name: &str, n: usize) -> Option<(usize, DefKind)> {
    let index = index();
    let word = |at: usize| {
        let after = MODEL[at + name.len()..].chars().next();
        let before = MODEL[..at].chars().next_back();
        let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
        !part(after) && !part(before)
    };
    let at = MODEL
        .match_indices(name)
        .map(|(at, _)| at)
        .filter(|&at| word(at))
        .nth(n)?;
    let def = index.definition(index.at(at as u32)?.def)?;
    let line = MODEL[..def.span.start as usize].matches('\n').count() + 1;
    Some((line, def.kind))
}

#[test]
fn names_follow_the_scopes() {
    assert_eq!(target("N", 1), Some((1, DefKind::Constant)));
    assert_eq!(target("id", 0), Some((4, DefKind::Variable)));
    assert_eq!(target("id", 2), Some((5, DefKind::Parameter)));
    assert_eq!(target("i", 1), Some((5, DefKind::Bound)));
    assert_eq!(target("id", 4), Some((6, DefKind::Parameter)));
    assert_eq!(
        target("id", 5),
        Some((4, DefKind::Variable)),
        "in the query"
    );
    assert_eq!(target("pair_t", 1), Some((2, DefKind::Type)));
}

#[test]
fn members_of_structs_and_processes_are_found() {
    assert_eq!(target("a", 1), Some((2, DefKind::Field)));
    assert_eq!(target("a", 2), Some((2, DefKind::Field)));
    assert_eq!(target("t", 2), Some((8, DefKind::Location)));
    assert_eq!(
        target("x", 7),
        Some((7, DefKind::Clock)),
        "Q.x in the query"
    );
}

#[test]
fn writes_differ_from_reads_and_nothing_is_unknown() {
    let index = index();
    assert_eq!(index.unresolved, []);
    let writes: Vec<&str> = index
        .occurrences
        .iter()
        .filter(|o| o.writes)
        .map(|o| &MODEL[o.span.range()])
        .collect();
    assert_eq!(writes, ["x", "pair", "a", "x"]);
}

#[test]
fn visible_names_depend_on_the_position() {
    let index = index();
    let names = |at: usize| -> Vec<&str> {
        let ids = index.visible(at as u32);
        ids.into_iter()
            .map(|id| &*index.definitions[id].name)
            .collect()
    };
    let inside = names(MODEL.find("guard").unwrap_or(0));
    for name in ["i", "x", "id", "s", "N", "f", "pair"] {
        assert!(inside.contains(&name), "{name} in {inside:?}");
    }
    let outside = names(MODEL.find("system").unwrap_or(0));
    assert!(
        !outside.contains(&"x") && outside.contains(&"Q"),
        "{outside:?}"
    );
}

#[test]
fn a_query_file_sees_its_model() {
    let file = SourceFile::parse("A[] Q.t imply id > N", FileKind::Query);
    let index = Index::of_queries(&index(), &file);
    assert_eq!(index.unresolved, []);
    assert_eq!(index.occurrences.len(), 4);
    assert!(
        index
            .occurrences
            .iter()
            .all(|o| index.definitions[o.def].foreign)
    );
}
