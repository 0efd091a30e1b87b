//! Words: phrases that are not plain English (`xtask/words/phrases.txt`), comment lines of more
//! than 100 columns, and spelling by `typos`.
//!
//! Existing violations are counted per file in `xtask/words/baseline.txt`. A count may only shrink:
//! more is an error that lists the places; fewer can be recorded with `--update`.

use crate::root::root;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const PHRASES: &str = "xtask/words/phrases.txt";
const BASELINE: &str = "xtask/words/baseline.txt";

/// Comment lines end by this column, as rustfmt's `comment_width` would have it.
const COMMENT_COLUMNS: usize = 100;

/// The version of `typos`, which determines the dictionary.
const TYPOS: &str = "1.32.0";

/// Checks phrases and comment lines, then spelling; `update` writes counts that shrank.
pub fn run(update: bool) -> bool {
    let Some(found) = phrases_in_tree() else {
        return false;
    };
    let path = root().join(BASELINE);
    let known = baseline(&std::fs::read_to_string(&path).unwrap_or_default());
    let mut good = true;
    let mut lower = BTreeMap::new();
    for (file, places) in &found {
        let allowed = known.get(file).copied().unwrap_or(0);
        if places.len() > allowed {
            good = false;
            println!("{file}: {} places, {allowed} at most:", places.len());
            places.iter().for_each(|place| println!("  {file}:{place}"));
        }
        lower.insert(file.clone(), places.len().min(allowed));
    }
    lower.retain(|_, count| *count > 0);
    if update && lower != known {
        let lines: String = lower.iter().map(|(f, n)| format!("{n} {f}\n")).collect();
        if let Err(error) = std::fs::write(&path, lines) {
            println!("{BASELINE} cannot be written: {error}");
            return false;
        }
    } else if lower != known {
        println!("fewer than in {BASELINE}: run `cargo xtask words --update`");
    }
    let left: usize = found.values().map(Vec::len).sum();
    println!("{left} places with phrases of {PHRASES} or long comments are left");
    spelling() && good
}

/// The phrases in all texts under version control.
fn phrases_in_tree() -> Option<BTreeMap<String, Vec<String>>> {
    let text = match std::fs::read_to_string(root().join(PHRASES)) {
        Ok(text) => text,
        Err(error) => {
            println!("{PHRASES}: {error}");
            return None;
        }
    };
    let phrases = phrases(&text);
    let mut git = Command::new("git");
    // New files count before they are committed.
    git.args(["ls-files", "--cached", "--others", "--exclude-standard"]);
    let listed = git.current_dir(root()).output().ok()?;
    let mut found = BTreeMap::new();
    for file in String::from_utf8_lossy(&listed.stdout).lines() {
        let extension = Path::new(file).extension().and_then(|e| e.to_str());
        if !matches!(extension, Some("rs" | "md" | "ts" | "lua")) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(root().join(file)) else {
            continue;
        };
        let mut places = places(&text, &phrases);
        if extension == Some("rs") {
            places.extend(wide_comments(&text));
        }
        if !places.is_empty() {
            found.insert(file.to_owned(), places);
        }
    }
    Some(found)
}

/// A phrase, the word that must not follow it, and what to write instead.
struct Phrase {
    text: String,
    except: Option<String>,
    instead: String,
}

fn phrases(text: &str) -> Vec<Phrase> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(" => "))
        .map(|(phrase, instead)| {
            let (text, except) = match phrase.split_once(", except ") {
                Some((text, except)) => (text, Some(except.to_owned())),
                None => (phrase, None),
            };
            Phrase {
                text: text.to_owned(),
                except,
                instead: instead.to_owned(),
            }
        })
        .collect()
}

fn baseline(text: &str) -> BTreeMap<String, usize> {
    text.lines()
        .filter_map(|line| {
            let (count, file) = line.split_once(' ')?;
            Some((file.to_owned(), count.parse().ok()?))
        })
        .collect()
}

/// `LINE: phrase; write …` for each phrase. Lines are joined without comment markers, so that a
/// phrase is also found across lines.
fn places(text: &str, phrases: &[Phrase]) -> Vec<String> {
    let mut joined = String::new();
    let mut starts = Vec::new();
    for line in text.lines() {
        let marks = |c: char| c.is_whitespace() || "/!*-#".contains(c);
        starts.push(joined.len());
        joined.push_str(&line.trim_start_matches(marks).to_lowercase());
        joined.push(' ');
    }
    let mut out = Vec::new();
    for phrase in phrases {
        for (at, _) in joined.match_indices(&phrase.text) {
            let after = &joined[at + phrase.text.len()..];
            let inside = |c: char| c.is_alphanumeric() || c == '_';
            let excepted = |word: &String| after.trim_start().starts_with(word.as_str());
            if joined[..at].ends_with(inside)
                || after.starts_with(inside)
                || phrase.except.as_ref().is_some_and(excepted)
            {
                continue;
            }
            let line = starts.partition_point(|start| *start <= at);
            out.push((line, format!("`{}`; write {}", phrase.text, phrase.instead)));
        }
    }
    out.sort();
    out.into_iter()
        .map(|(n, text)| format!("{n}: {text}"))
        .collect()
}

/// `LINE: …` for each comment line of Rust code that is too long. Tables, addresses and `//@` lines
/// of models cannot be broken.
fn wide_comments(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let columns = line.chars().count();
        let Some(comment) = line.trim_start().strip_prefix("//") else {
            continue;
        };
        let words = comment.trim_start_matches(['/', '!', ' ']);
        let unbreakable =
            comment.starts_with('@') || words.starts_with('|') || words.contains("://");
        if columns > COMMENT_COLUMNS && !unbreakable {
            let number = number + 1;
            out.push(format!(
                "{number}: a comment of {columns} columns; end it by column {COMMENT_COLUMNS}"
            ));
        }
    }
    out
}

/// Runs `typos`, which is installed on first use into a folder of the build. Skipped if that is not
/// possible.
fn spelling() -> bool {
    let folder = root().join("target/typos").join(TYPOS);
    let program = folder.join("bin/typos");
    if !program.exists()
        && let Err(why) = install(&folder)
    {
        println!("SKIPPED: spelling: typos {TYPOS} cannot be installed: {why}");
        return true;
    }
    let status = Command::new(program)
        .args(["--format", "brief", "--config", "typos.toml", "."])
        .current_dir(root())
        .status();
    status.is_ok_and(|s| s.success())
}

fn install(folder: &Path) -> Result<(), String> {
    let run = |program: &Path, args: &[&str]| {
        let output = Command::new(program).args(args).output();
        let output = output.map_err(|e| format!("{}: {e}", program.display()))?;
        match output.status.success() {
            true => Ok(()),
            false => {
                let text = String::from_utf8_lossy(&output.stderr);
                Err(text.lines().last().unwrap_or("no reason given").to_owned())
            }
        }
    };
    let text = folder.to_string_lossy();
    run(Path::new("python3"), &["-m", "venv", &text])?;
    let package = format!("typos=={TYPOS}");
    run(&folder.join("bin/pip"), &["install", "--quiet", &package])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phrases_are_found_across_lines_and_not_inside_words() {
        let list = phrases("# no\nis sung, except aloud => sounds\ntall tree => oak\n");
        assert_eq!(list.len(), 2);
        let text = "/// It is\n/// sung so.\nthis_is sung_\nis sung aloud\nA Tall tree; tall trees";
        let found = places(text, &list);
        let wanted = ["1: `is sung`; write sounds", "5: `tall tree`; write oak"];
        assert_eq!(found, wanted);
    }

    #[test]
    fn long_comments_are_found() {
        let long = "word ".repeat(20);
        let text = format!(
            "/// {long}\n// {long}\nlet a = \"{long}\"; // {long}\n//@ query {long}\n/// | {long}\n//! {}",
            "x".repeat(96)
        );
        let found = wide_comments(&text);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].starts_with("1: a comment of 104 columns"),
            "{found:?}"
        );
        assert!(
            found[1].starts_with("2: a comment of 103 columns"),
            "{found:?}"
        );
    }

    #[test]
    fn counts_are_read() {
        let counts = baseline("2 a/b c.rs\nno\n1 d.md\n");
        let read: Vec<_> = counts.iter().map(|(f, n)| (f.as_str(), *n)).collect();
        assert_eq!(read, [("a/b c.rs", 2), ("d.md", 1)]);
    }
}
