//! For each rule and each symmetric example: inserting a violation is reported with the right code
//! at the right place, and removing it clears the diagnostic.
//!
//! Every file of `examples/` takes part. Violations that a notation cannot express are listed with
//! the reason.

use std::collections::BTreeMap;
use zonelens_analysis::diagnostic::Diagnostic;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::{FileKind, ItemKind, MemberKind, Process, TypeBase};
use zonelens_syntax::span::{Span, TextEdit};

/// The rules that exclude a set from reduction.
const RULES: &[&str] = &[
    "sym/arithmetic",
    "sym/order",
    "sym/literal",
    "sym/index-int",
    "sym/index-other",
    "sym/index-scalar",
    "sym/mixed",
    "sym/clock",
    "sym/constant",
    "sym/default",
    "sym/meta",
    "sym/loop-order",
    "sym/broadcast-order",
    "sym/partial-instance",
    "sym/priority",
];

/// The notation of a set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Notation {
    /// `typedef scalar[n] S;`, and `scalarset[n]` of the paper.
    Scalar,
    /// `scalarset S[n];` of Hendriks' thesis, where elements are integers.
    Thesis,
    /// Plain integers, found by detection.
    Detected,
}

/// The inserted text: declarations before the template, an edge, lines before the system line. The
/// diagnostic must be at the text between « and ». SET, ELEM and TEMPLATE are replaced by names of
/// the example.
enum Case {
    Insert {
        globals: &'static str,
        edge: &'static str,
        tail: &'static str,
    },
    Cannot(&'static str),
}

const fn insert(globals: &'static str, edge: &'static str) -> Case {
    let tail = "";
    Case::Insert {
        globals,
        edge,
        tail,
    }
}

fn case(rule: &str, notation: Notation) -> Case {
    use Notation as N;
    match (rule, notation) {
        ("sym/arithmetic", _) => insert("int zz;", "assign zz = «ELEM + 1»;"),
        ("sym/order", N::Scalar) => insert("SET oo;", "guard «oo <= ELEM»;"),
        ("sym/order", _) => insert("", "guard «ELEM <= 1»;"),
        ("sym/literal", N::Scalar) => insert("SET oo;", "assign «oo = 1»;"),
        ("sym/literal", N::Thesis) => insert(
            "int oo;",
            "assign oo = ELEM; }, LOC -> LOC { guard «oo == 1»;",
        ),
        ("sym/literal", N::Detected) => insert("", "guard «ELEM == FIRST»;"),
        ("sym/index-int", N::Detected) => {
            insert("int aa[SET];", "assign aa[ELEM] = 0, aa[«FIRST»] = 1;")
        }
        ("sym/index-int", _) => insert("int aa[SET];", "assign aa[«0»] = 1;"),
        ("sym/index-other", N::Scalar) => insert(
            "typedef scalar[2] zother; zother oo; int aa[SET];",
            "assign aa[«oo»] = 1;",
        ),
        ("sym/index-other", N::Thesis) => Case::Cannot(
            "elements are integers, so an index of another set shows as one variable of two sets: sym/mixed",
        ),
        ("sym/index-other", N::Detected) => {
            Case::Cannot("two detected sets that meet become one set, or none")
        }
        ("sym/index-scalar", N::Detected) => Case::Cannot(
            "an integer dimension indexed by an identifier joins the set if its range fits",
        ),
        ("sym/index-scalar", _) => insert("int kk[9];", "assign kk[«ELEM»] = 1;"),
        ("sym/mixed", N::Scalar) => insert(
            "typedef scalar[2] zother; zother oo; SET ss;",
            "assign «ss = oo»;",
        ),
        ("sym/mixed", N::Thesis) => insert(
            "scalarset «zother»[2]; int aa[SET];",
            "guard forall (zk : zother) aa[zk] == 0;",
        ),
        ("sym/mixed", N::Detected) => {
            Case::Cannot("nothing names a set, so no variable can be said to hold two")
        }
        ("sym/clock", _) => insert("clock cc;", "guard «cc > ELEM»;"),
        ("sym/constant", N::Scalar) => {
            insert("int ff() { const int w[SET] = «{1, 2}»; return 0; }", "")
        }
        ("sym/constant", _) => insert(
            "const int «ww»[SET] = {VALUES}; int zz;",
            "assign zz = ww[ELEM];",
        ),
        ("sym/default", N::Scalar) => insert(
            "SET ff() { SET r; return «r»; } SET ss;",
            "assign ss = ff();",
        ),
        ("sym/default", N::Detected) => insert(
            "SET ff() { SET r; return «r»; } int ss;",
            "assign ss = ff(); }, LOC -> LOC { guard ss == ELEM;",
        ),
        ("sym/default", _) => insert(
            "int ff() { int r; return «r»; } int ss;",
            "assign ss = ff(); }, LOC -> LOC { guard ss == ELEM;",
        ),
        ("sym/meta", N::Scalar) => insert("meta SET mm; SET ss;", "assign ss = «mm», mm = ELEM;"),
        ("sym/meta", _) => Case::Cannot(
            "a meta integer is kept as ordinary state and permuted like any other variable",
        ),
        ("sym/loop-order", N::Scalar) => insert(
            "SET ss; void ff() { «for (zi : SET) ss = zi;» }",
            "assign ff();",
        ),
        ("sym/loop-order", _) => insert(
            "int ss; void ff() { «for (zi : SET) ss = zi;» }",
            "assign ff(); }, LOC -> LOC { guard ss == ELEM;",
        ),
        ("sym/broadcast-order", N::Scalar) => insert(
            "broadcast chan bb; SET ss;",
            "sync «bb?»; assign ss = ELEM;",
        ),
        ("sym/broadcast-order", _) => insert(
            "broadcast chan bb; int ss;",
            "sync «bb?»; assign ss = ELEM;",
        ),
        ("sym/partial-instance", N::Scalar) => Case::Cannot(
            "no expression denotes one element, so the types leave no way to instantiate for one only",
        ),
        ("sym/partial-instance", _) => Case::Insert {
            globals: "",
            edge: "",
            tail: "Zz = TEMPLATE(«FIRST»);",
        },
        ("sym/priority", N::Scalar) => Case::Cannot(
            "an element of a channel array cannot be named: c[0] is sym/index-int, c alone means all",
        ),
        ("sym/priority", _) => Case::Insert {
            globals: "chan pp[SET];",
            edge: "sync pp[ELEM]!;",
            tail: "chan priority pp[«FIRST»] < default;",
        },
        _ => Case::Cannot("no such rule"),
    }
}

/// An example and the positions to insert into.
struct Example {
    name: String,
    text: String,
    notation: Notation,
    /// Classes of interchangeable elements.
    blocks: Vec<Vec<u32>>,
    /// Placeholders and their replacements.
    words: Vec<(&'static str, String)>,
    /// Positions before the template, before its first edge, and before the system line.
    places: [usize; 3],
}

fn analyse(text: &str) -> (SourceFile, Model) {
    let file = SourceFile::parse(text, FileKind::Xta);
    let model = Model::new(&file, &BTreeMap::new());
    (file, model)
}

/// The symmetric examples of the folder with their sets. A file with two families over sets counts
/// twice.
fn examples() -> Vec<Example> {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path())
        .collect();
    paths.sort();
    let mut out = Vec::new();
    for path in paths {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = match path.extension().and_then(|e| e.to_str()) {
            Some("xta") => std::fs::read_to_string(&path).unwrap(),
            Some("xml") => {
                let text = std::fs::read_to_string(&path).unwrap();
                let file = SourceFile::parse(text, FileKind::Xml);
                zonelens_syntax::convert::to_xta(&file).unwrap()
            }
            _ => continue,
        };
        out.extend(families(&name, &text));
    }
    out
}

fn families(name: &str, text: &str) -> Vec<Example> {
    let (file, model) = analyse(text);
    let network = model.network().unwrap_or_else(|e| panic!("{name}: {e:?}"));
    let mut out = Vec::new();
    for item in &file.items {
        let ItemKind::Process(p) = &item.node.kind else {
            continue;
        };
        let Some((notation, k, set)) = parameter(p, item.offset, &network) else {
            continue;
        };
        let param = &p.params.as_ref().unwrap().list[k];
        let edge = p
            .members
            .iter()
            .find_map(|m| match &m.node.kind {
                MemberKind::Edge(e) => e.source.as_ref().map(|s| (e, s, item.offset + m.offset)),
                _ => None,
            })
            .unwrap_or_else(|| panic!("{name}: {} has no edge", p.name.name));
        let system = file
            .items
            .iter()
            .find(|i| matches!(i.node.kind, ItemKind::System(_)))
            .unwrap();
        let set_name = match notation {
            Notation::Detected => text[param.ty.span.shift(item.offset).range()]
                .trim_start_matches("const")
                .trim()
                .to_owned(),
            _ => set.name.to_string(),
        };
        let values: Vec<String> = (1..=set.size).map(|n| n.to_string()).collect();
        out.push(Example {
            name: format!("{name} ({})", p.name.name),
            text: text.to_owned(),
            notation,
            blocks: set.blocks.clone(),
            words: vec![
                ("SET", set_name),
                ("ELEM", param.name.name.to_string()),
                ("LOC", edge.1.name.to_string()),
                ("FIRST", one_of_many(set).to_string()),
                ("VALUES", values.join(", ")),
                ("TEMPLATE", p.name.name.to_string()),
            ],
            places: [
                (item.offset + item.node.span.start) as usize,
                (edge.2 + edge.0.span.start) as usize,
                (system.offset + system.node.span.start) as usize,
            ],
        });
    }
    out
}

/// The value of an element that is interchangeable with others.
fn one_of_many(set: &zonelens_analysis::network::Scalarset) -> i32 {
    let largest = set.blocks.iter().max_by_key(|b| b.len());
    set.first + largest.and_then(|b| b.first()).copied().unwrap_or(0) as i32
}

/// The parameter of a template that ranges over a sound set, and the notation of that set.
fn parameter<'a>(
    p: &Process,
    offset: u32,
    network: &'a zonelens_analysis::network::Network,
) -> Option<(Notation, usize, &'a zonelens_analysis::network::Scalarset)> {
    let list = &p.params.as_ref()?.list;
    let sound = || network.scalarsets.iter().filter(|s| s.broken.is_empty());
    list.iter().enumerate().find_map(|(k, param)| {
        let family = network
            .families
            .iter()
            .find(|f| f.template == p.name.name)?;
        if let Some(s) = sound().find(|s| s.detected && s.span == param.name.span.shift(offset)) {
            return Some((Notation::Detected, k, s));
        }
        let id = family.params.iter().find_map(|r| r.scalarset)?;
        let set = network
            .scalarsets
            .get(id)
            .filter(|s| s.broken.is_empty() && !s.detected)?;
        match &param.ty.base {
            TypeBase::ScalarsetParam => Some((Notation::Thesis, k, set)),
            TypeBase::Named(ident) if ident.name == set.name => Some((Notation::Scalar, k, set)),
            _ => None,
        }
    })
}

/// The example with a violation, and where the diagnostic must be.
fn mutant(e: &Example, globals: &str, edge: &str, tail: &str) -> (String, Span) {
    let fill = |s: &str| {
        let mut s = s.to_owned();
        for (word, what) in &e.words {
            s = s.replace(word, what);
        }
        s
    };
    let edge = match edge {
        "" => String::new(),
        edge => fill(&format!("LOC -> LOC {{ {edge} }},\n        ")),
    };
    let mut text = e.text.clone();
    // From the end, so that earlier positions stay valid.
    text.insert_str(e.places[2], &format!("{}\n", fill(tail)));
    if !edge.is_empty() {
        text.insert_str(e.places[1], &edge);
    }
    text.insert_str(e.places[0], &format!("{}\n", fill(globals)));
    let start = text.find('«').unwrap();
    let text = text.replacen('«', "", 1);
    let end = text.find('»').unwrap();
    (
        text.replacen('»', "", 1),
        Span::new(start as u32, end as u32),
    )
}

fn errors(m: &Model) -> Vec<&Diagnostic> {
    let list = m.diagnostics().iter();
    list.filter(|d| d.severity == Severity::Error).collect()
}

/// Describes what is wrong with the diagnostics of a mutant, if anything.
fn judge(e: &Example, rule: &str, text: &str, at: Span) -> Option<String> {
    let (file, model) = analyse(text);
    let found = errors(&model);
    if e.notation == Notation::Detected {
        return judge_detected(e, &model, at);
    }
    let right = found.iter().any(|d| d.code == rule && d.span == at);
    let only = found.iter().all(|d| d.code == rule);
    if !right || !only {
        let found: Vec<_> = found
            .iter()
            .map(|d| (d.code, &text[d.span.range()], &d.message))
            .collect();
        return Some(format!("found {found:?}"));
    }
    // Removing the violation again restores the original diagnostics.
    let whole = TextEdit {
        span: Span::new(0, text.len() as u32),
        text: e.text.clone(),
    };
    let after = model.update(&file.reparse(&whole));
    let (_, fresh) = analyse(&e.text);
    (after.diagnostics() != fresh.diagnostics()).then(|| "it does not go away".to_owned())
}

/// Detection reports no errors: the set is gone, or the element is in a separate class, and a
/// hint gives the reason.
fn judge_detected(e: &Example, model: &Model, at: Span) -> Option<String> {
    if let Some(d) = errors(model).first() {
        return Some(format!("an error: {d:?}"));
    }
    let network = match model.network() {
        Ok(n) => n,
        Err(e) => return Some(format!("{e:?}")),
    };
    let element = &e.words[1].1;
    let whole = network
        .scalarsets
        .iter()
        .any(|s| s.detected && s.name == *element && s.blocks == e.blocks);
    if whole {
        return Some("the same elements are still taken to be interchangeable".into());
    }
    let split = network
        .scalarsets
        .iter()
        .any(|s| s.detected && s.name == *element);
    let hint = model
        .diagnostics()
        .iter()
        .any(|d| d.code == "sym/undetected" && d.span == at);
    let hints: Vec<_> = model
        .diagnostics()
        .iter()
        .filter(|d| d.code.starts_with("sym/"))
        .collect();
    (!split && !hint).then(|| format!("no hint at {at:?}: {hints:#?}"))
}

#[test]
#[allow(clippy::print_stdout)]
fn violations_are_caught_where_they_are() {
    let examples = examples();
    let notations: std::collections::BTreeSet<Notation> =
        examples.iter().map(|e| e.notation).collect();
    assert_eq!(notations.len(), 3, "an example in each notation");
    let (mut wrong, mut tried) = (Vec::new(), 0);
    for e in &examples {
        let (_, original) = analyse(&e.text);
        assert!(
            errors(&original).is_empty(),
            "{}: {:?}",
            e.name,
            errors(&original)
        );
        for rule in RULES {
            let alone = e.notation == Notation::Detected && e.blocks.contains(&vec![0]);
            if *rule == "sym/default" && alone {
                println!(
                    "{}: {rule} changes nothing: element 0 is on its own already",
                    e.name
                );
                continue;
            }
            match case(rule, e.notation) {
                Case::Cannot(why) => println!("{}: {rule} cannot be inserted: {why}", e.name),
                Case::Insert {
                    globals,
                    edge,
                    tail,
                } => {
                    let (text, at) = mutant(e, globals, edge, tail);
                    tried += 1;
                    if let Some(why) = judge(e, rule, &text, at) {
                        wrong.push(format!("{}: {rule}: {why}\nin\n{text}", e.name));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----\n"));
    assert!(tried >= 45, "{tried}");
    println!(
        "{tried} violations in {} families of {} rules",
        examples.len(),
        RULES.len()
    );
}
