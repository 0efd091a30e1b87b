//! Real models with a few words changed: every text that is still a model must be answered, without
//! a panic, a trace that does not replay or contradicting answers. Random models are small and
//! limited to the features of their generator; authors combine features in unexpected ways.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use zonelens_analysis::Model;
use zonelens_analysis::network::{Network, Position, Query};
use zonelens_analysis::report::{
    AbstractionOption, Options, QueryReport, Reason, SearchOrder, SymmetryOption, Verdict,
};
use zonelens_checker::Control;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::{SourceFile, parse_query};
use zonelens_test_support::Rng;

/// Queries that can be evaluated on every model.
const QUERIES: [&str; 3] = ["A[] not deadlock", "A<> false", "E<> deadlock"];

/// The number of queries of the file itself that are evaluated.
const OWN_QUERIES: usize = 4;

/// Runs for `seconds`; everything except the duration depends only on the seed. The current model
/// is stored in `target/fuzz-model`.
pub(crate) fn run(texts: &[(String, FileKind)], seconds: u64, seed: u64) -> bool {
    let models: Vec<_> = (texts.iter())
        .filter(|(_, kind)| *kind != FileKind::Query)
        .collect();
    let mut rng = Rng(seed);
    let end = Instant::now() + Duration::from_secs(seconds);
    let (mut made, mut models_asked, mut answers, mut good) = (0u64, 0u64, 0u64, true);
    while Instant::now() < end {
        let (text, kind) = models[rng.below(models.len())];
        let changed = change(&mut rng, text, *kind);
        made += 1;
        let file = SourceFile::parse(changed.as_str(), *kind);
        let model = Model::new(&file, &Default::default());
        if model.blocks_verification() {
            continue;
        }
        let Ok(network) = model.network() else {
            continue;
        };
        models_asked += 1;
        let extension = if *kind == FileKind::Xml { "xml" } else { "xta" };
        let path = crate::corpus::root().join(format!("target/fuzz-model.{extension}"));
        let _ = std::fs::write(&path, &changed);
        let own = file.queries();
        let own = own
            .iter()
            .take(OWN_QUERIES)
            .map(|q| q.query.text.to_string());
        for text in own.chain(QUERIES.map(str::to_owned)) {
            let Ok(query) = model.resolve_query(&network, &parse_query(&text), 0) else {
                continue;
            };
            match disagreement(&mut rng, &network, &query) {
                Ok(n) => answers += n,
                Err(why) => {
                    good = false;
                    let kept = path.with_file_name(format!("fuzz-model-{made}.{extension}"));
                    let _ = std::fs::copy(&path, &kept);
                    println!("{}: `{text}`: {why}", kept.display());
                }
            }
        }
    }
    println!(
        "fuzz: {models_asked} models of {made} changed texts from seed {seed}, {answers} answers, {}",
        if good { "no two differ" } else { "see above" }
    );
    good
}

/// Evaluates a query in several ways; returns the number of answers, or what is wrong with them.
fn disagreement(rng: &mut Rng, network: &Network, query: &Query) -> Result<u64, String> {
    let plain = Options {
        states: Some(2_000),
        timeout: Some(2.0),
        memory: Some(1 << 30),
        ..Options::default()
    };
    let first_turn = Some(1 + rng.below(200) as u64);
    let ways = [
        plain.clone(),
        Options {
            symmetry: SymmetryOption::Off,
            search: SearchOrder::Dfs,
            ..plain.clone()
        },
        Options {
            symmetry: SymmetryOption::Off,
            abstraction: AbstractionOption::ExtraM,
            threads: 2,
            ..plain.clone()
        },
        Options {
            first_turn,
            ..plain.clone()
        },
    ];
    let mut known: Option<Verdict> = None;
    let mut answers = 0;
    for options in &ways {
        let report = ask(network, query, options);
        if let Some(reason @ Reason::Internal(_)) = report.reason {
            return Err(reason.to_string());
        }
        // If the model fails, the first failure depends on the order.
        if !matches!(report.verdict, Verdict::Satisfied | Verdict::Violated) {
            continue;
        }
        answers += 1;
        match known {
            Some(verdict) if verdict != report.verdict => {
                return Err(format!(
                    "{verdict:?}, but {:?} with {options:?}",
                    report.verdict
                ));
            }
            _ => known = Some(report.verdict),
        }
    }
    Ok(answers)
}

fn ask(network: &Network, query: &Query, options: &Options) -> QueryReport {
    let cancelled = AtomicBool::new(false);
    let control = Control {
        cancelled: &cancelled,
        progress: &|_| {},
    };
    zonelens_checker::verify(network, query, options, &|_| Position::default(), &control)
}

/// Words of the language that can replace each other.
const ALIKE: [&[&str]; 7] = [
    &["<", "<=", ">", ">=", "==", "!="],
    &["+", "-", "*", "/", "%"],
    &["&&", "||", "imply"],
    &[
        "int",
        "bool",
        "clock",
        "const int",
        "meta int",
        "int &",
        "const int &",
    ],
    &[
        "chan",
        "urgent chan",
        "broadcast chan",
        "urgent broadcast chan",
    ],
    &["forall", "exists", "sum"],
    &["=", "+=", "-="],
];

const NUMBERS: [&str; 8] = ["0", "1", "2", "3", "7", "100", "32767", "70000"];

/// The text with a few words replaced by others of the same kind.
fn change(rng: &mut Rng, text: &str, kind: FileKind) -> String {
    let mut words = split(text);
    let places: Vec<usize> = (0..words.len())
        .filter(|k| kind_of(&words[*k]) != Kind::Other)
        .collect();
    if places.is_empty() {
        return text.to_owned();
    }
    for _ in 0..1 + rng.below(4) {
        let at = places[rng.below(places.len())];
        let word = plain(&words[at]);
        let other = &words[places[rng.below(places.len())]];
        let new = match (kind_of(&words[at]), kind_of(other)) {
            (Kind::Number, _) => NUMBERS[rng.below(NUMBERS.len())].to_owned(),
            (Kind::Name, Kind::Name) if rng.below(3) == 0 => plain(other),
            _ => match ALIKE.iter().find(|list| list.contains(&word.as_str())) {
                Some(list) => list[rng.below(list.len())].to_owned(),
                None => word,
            },
        };
        words[at] = match kind {
            FileKind::Xml => escaped(&new),
            _ => new,
        };
    }
    words.concat()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Number,
    Name,
    Operator,
    Other,
}

fn kind_of(word: &str) -> Kind {
    let first = word.chars().next().unwrap_or(' ');
    if first.is_ascii_digit() {
        Kind::Number
    } else if first.is_alphabetic() || first == '_' {
        Kind::Name
    } else if ALIKE
        .iter()
        .any(|list| list.contains(&plain(word).as_str()))
    {
        Kind::Operator
    } else {
        Kind::Other
    }
}

/// Splits into names, numbers, operators (in XML with their entities), and single characters for
/// the rest. Tags stay whole.
fn split(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let tag =
            first == '<' && rest[1..].starts_with(|c: char| c.is_alphabetic() || "/!?".contains(c));
        let len = if tag {
            rest.find('>').map_or(rest.len(), |end| end + 1)
        } else if first.is_alphanumeric() || first == '_' {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            rest.find(|c| !word(c)).unwrap_or(rest.len())
        } else {
            let operators = [
                "&lt;=",
                "&gt;=",
                "&amp;&amp;",
                "&lt;",
                "&gt;",
                "<=",
                ">=",
                "==",
                "!=",
                "&&",
                "||",
                "->",
                "-->",
            ];
            let found = operators.iter().find(|op| rest.starts_with(**op));
            found.map_or(first.len_utf8(), |op| op.len())
        };
        let (word, after) = rest.split_at(len);
        words.push(word.to_owned());
        rest = after;
    }
    words
}

fn plain(word: &str) -> String {
    word.replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}

fn escaped(word: &str) -> String {
    word.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
