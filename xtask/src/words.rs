//! Words: phrases that are not plain English (`xtask/words/phrases.txt`), comment lines of more
//! than 100 columns, and spelling by `typos`.

use crate::root::root;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

const PHRASES: &str = "xtask/words/phrases.txt";

/// Comment lines end by this column, as rustfmt's `comment_width` would have it.
const COMMENT_COLUMNS: usize = 100;

/// The version of `typos`, which determines the dictionary.
const TYPOS: &str = "1.32.0";

/// Checks phrases and comment lines, then spelling.
pub(crate) fn run() -> bool {
    let Some(found) = phrases_in_tree() else {
        return false;
    };
    for (file, places) in &found {
        places.iter().for_each(|place| println!("{file}:{place}"));
    }
    spelling() && found.is_empty()
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
            // "There is no such file" is plain English, unlike "it is no such file".
            let there = phrase.text.starts_with("is no ") && joined[..at].ends_with("there ");
            if there
                || joined[..at].ends_with(inside)
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
        let list = phrases(
            "# no\nis sung, except aloud => sounds\ntall tree => oak\nis no oak => is not an oak\n",
        );
        assert_eq!(list.len(), 3);
        let text = "/// It is\n/// sung so.\nthis_is sung_\nis sung aloud\nA Tall tree; tall trees\n\
                    There is no oak here; this is no oak.";
        let found = places(text, &list);
        let wanted = [
            "1: `is sung`; write sounds",
            "5: `tall tree`; write oak",
            "6: `is no oak`; write is not an oak",
        ];
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
}
