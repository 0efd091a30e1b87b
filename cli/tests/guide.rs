//! `docs/guide.md` word by word: its files are written, its edits made, its commands run, their
//! output compared.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A fenced block: the text after the fence, and its lines.
struct Block {
    info: String,
    line: usize,
    lines: Vec<String>,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut out: Vec<Block> = Vec::new();
    let mut open = false;
    for (number, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open) {
            (Some(info), false) => {
                open = true;
                out.push(Block {
                    info: info.to_owned(),
                    line: number + 1,
                    lines: Vec::new(),
                });
            }
            (Some(_), true) => open = false,
            (None, true) => {
                if let Some(block) = out.last_mut() {
                    block.lines.push(line.to_owned());
                }
            }
            (None, false) => {}
        }
    }
    assert!(!open, "a block is not closed");
    out
}

/// Replaces `-` lines by `+` lines; without `-` lines the `+` lines go to the end.
fn edit(text: &str, block: &Block) -> String {
    let with = |sign: char| -> Vec<&str> {
        let lines = block.lines.iter();
        lines.filter_map(|l| l.strip_prefix(sign)).collect()
    };
    let (old, new) = (with('-'), with('+'));
    if old.is_empty() {
        return format!("{text}{}\n", new.join("\n"));
    }
    let old = format!("{}\n", old.join("\n"));
    let found = text.matches(&old).count();
    assert_eq!(
        found, 1,
        "line {}: {old:?} stands {found} times in the file",
        block.line
    );
    text.replace(&old, &format!("{}\n", new.join("\n")))
}

/// Times and counts are those of a machine and of a version of the engine.
fn general(line: &str) -> String {
    let mut out = line.to_owned();
    if let Some(at) = out.find(" in ")
        && ["satisfied", "violated"].iter().any(|w| out.contains(w))
    {
        out.truncate(at);
    }
    out
}

/// Whether the output is as told; `…` stands for any lines.
fn fits(told: &[String], said: &[String]) -> bool {
    match told.split_first() {
        None => said.is_empty(),
        Some((line, rest)) if line == "…" => {
            (0..=said.len()).any(|skipped| fits(rest, &said[skipped..]))
        }
        Some((line, rest)) => said
            .split_first()
            .is_some_and(|(first, others)| general(first) == general(line) && fits(rest, others)),
    }
}

fn run(block: &Block, folder: &Path) {
    let binary = Path::new(env!("CARGO_BIN_EXE_zonelens"));
    let mut commands: Vec<(String, Vec<String>)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), Vec::new())),
            (None, Some((_, told))) => told.push(line.clone()),
            (None, None) => panic!("line {}: output before any command", block.line),
        }
    }
    let mut path = vec![binary.parent().map(Path::to_owned).unwrap_or_default()];
    path.extend(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    ));
    for (command, told) in commands {
        let ran = Command::new("sh")
            .args(["-c", &command])
            .env(
                "PATH",
                std::env::join_paths(&path).expect("paths without colons"),
            )
            .env("NO_COLOR", "1")
            .current_dir(folder)
            .output()
            .expect("there is a shell");
        assert!(
            ran.stderr.is_empty(),
            "{command}: {}",
            String::from_utf8_lossy(&ran.stderr)
        );
        let said = String::from_utf8(ran.stdout).expect("text");
        let said: Vec<String> = said.trim_end().lines().map(str::to_owned).collect();
        assert!(
            fits(&told, &said),
            "docs/guide.md, line {}: `{command}` prints\n{}\n\nbut the page says\n{}",
            block.line,
            said.join("\n"),
            told.join("\n")
        );
    }
}

/// Follows a page in a folder of its own; the folder and how many commands were run.
fn follow(page: &str, name: &str) -> (PathBuf, usize) {
    let folder = std::env::temp_dir().join(format!("zonelens-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut count = 0;
    for block in blocks(page) {
        let mut words = block.info.split(' ');
        match (words.next(), words.next()) {
            (Some("xta"), Some(file)) => {
                let text = format!("{}\n", block.lines.join("\n"));
                std::fs::write(folder.join(file), text).expect("a file");
            }
            (Some("diff"), Some(file)) => {
                let text = std::fs::read_to_string(folder.join(file)).expect("the file");
                std::fs::write(folder.join(file), edit(&text, &block)).expect("the file");
            }
            (Some("console"), None) => {
                count += block.lines.iter().filter(|l| l.starts_with("$ ")).count();
                run(&block, &folder);
            }
            other => panic!("line {}: nobody runs {other:?}", block.line),
        }
    }
    (folder, count)
}

#[test]
fn the_guide_says_what_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = std::fs::read_to_string(root.join("docs/guide.md")).expect("the guide");
    let (folder, count) = follow(&page, "guide");
    assert!(count >= 8, "only {count} commands");
    for (made, shown) in [
        ("trace.svg", "guide-trace.svg"),
        ("fischer.svg", "guide-diagram.svg"),
    ] {
        let new = std::fs::read_to_string(folder.join(made)).expect("the picture");
        let path = root.join("docs/img").join(shown);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            std::fs::write(&path, &new).expect("the picture of the page");
        }
        let old = std::fs::read_to_string(&path).unwrap_or_default();
        assert!(
            new == old,
            "docs/img/{shown} is not what the guide's command draws; UPDATE_EXPECT=1 renews it"
        );
    }
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn elided_lines_and_wrong_ones() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(str::to_owned).collect() };
    assert!(fits(&lines("a\n…\nd"), &lines("a\nb\nc\nd")));
    assert!(fits(
        &lines("  satisfied in 1 ms"),
        &lines("  satisfied in 0.8 s")
    ));
    assert!(!fits(&lines("a\n…\nd"), &lines("a\nb\nc")));
    assert!(!fits(&lines("a"), &lines("a\nb")));
    assert!(!fits(
        &lines("  satisfied in 1 ms"),
        &lines("  violated in 1 ms")
    ));
}
