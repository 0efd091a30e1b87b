//! Repairs, formatting, excerpts, refusals, colours, help.

use crate::cmdline::{Folder, MODEL, Ran};
use serde_json::Value;

#[test]
fn fmt_takes_folders_and_standard_input() {
    let folder = Folder::new("fmt");
    let ugly = "int   a;\nprocess P(){state A;init A;}\nsystem P;\n";
    let ran = folder.pipe(&["fmt", "-"], ugly);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert!(ran.out.starts_with("int a;\n"), "{}", ran.out);
    let again = folder.pipe(&["fmt", "-"], &ran.out);
    assert_eq!(again.out, ran.out);
    let told = folder.pipe(&["fmt", "--check", "-"], ugly);
    assert_eq!(
        (told.status, told.out.as_str()),
        (1, "standard input is not formatted\n")
    );
    assert_eq!(folder.pipe(&["fmt", "--check", "-"], &ran.out).status, 0);
    let queries = folder.pipe(&["fmt", "-", "--stdin", "q"], "A[]   P.A\n");
    assert_eq!(queries.out, "A[] P.A\n");
    folder
        .pipe(&["fmt", "-"], "<nta></nta>")
        .is_refused(&["XML models cannot be formatted"]);
    folder.write("in/deep/a.xta", ugly);
    folder.write("in/q.q", "A[]   P.A\n");
    folder.write("in/drawn.xml", "<nta></nta>");
    folder.write("in/notes.txt", "int   a;");
    assert_eq!(folder.run(&["fmt", "--check", "in"]).status, 1);
    let ran = folder.run(&["fmt", "in"]);
    assert_eq!((ran.status, ran.err.as_str()), (0, ""));
    assert_eq!(folder.read("in/deep/a.xta"), again.out);
    assert_eq!(folder.read("in/q.q"), "A[] P.A\n");
    assert_eq!(folder.read("in/notes.txt"), "int   a;");
    assert_eq!(folder.run(&["fmt", "--check", "in", "in/*.q"]).status, 0);
}

/// Safe: the unused select, the invariant's part that never binds, the comparison. Not safe: the
/// misspelt name.
const REPAIRABLE: &str = "\
int n;
clock x;
process P() {
    state A { x <= 5 && x <= 7 }, B;
    init A;
    trans A -> B { select i : int[0, 1]; guard n = 1; assign n = 2; };
}
system P;
";

#[test]
fn check_fix_makes_safe_repairs_only() {
    let folder = Folder::new("fix");
    folder.write("m.xta", REPAIRABLE.replace("assign n", "assign m"));
    let found = folder
        .run(&["check", "--format", "json", "m.xta"])
        .objects();
    let safe = |d: &&Value| {
        d["fixes"]
            .as_array()
            .is_some_and(|f| f.iter().any(|f| f["safe"] == true))
    };
    assert_eq!(found.iter().filter(safe).count(), 3, "{found:?}");
    let ran = folder.run(&["check", "--fix", "m.xta"]);
    assert_eq!(ran.status, 1, "{}", ran.out);
    assert!(ran.out.contains("[name/unknown]"), "{}", ran.out);
    assert!(
        ran.out
            .ends_with("1 file checked: 1 error, 0 warnings; 3 problems fixed\n"),
        "{}",
        ran.out
    );
    let text = folder.read("m.xta");
    for part in ["state A { x <= 5 }", "guard n == 1;", "assign m = 2;"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(!text.contains("select"), "{text}");
    let again = folder.run(&["check", "--fix", "m.xta"]);
    assert_eq!((again.status, folder.read("m.xta")), (1, text));
    // A file that may not be written is reported, with its diagnostics.
    folder.write("locked.xta", REPAIRABLE);
    let locked = folder.0.join("locked.xta");
    let mut rights = locked.metadata().expect("metadata").permissions();
    rights.set_readonly(true);
    std::fs::set_permissions(&locked, rights).expect("rights");
    let ran = folder.run(&["check", "--fix", "locked.xta"]);
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("locked.xta is read-only"), "{}", ran.err);
    assert!(
        ran.out.contains("[type/side-effect]") && ran.out.ends_with("; 0 problems fixed\n"),
        "{}",
        ran.out
    );
    assert_eq!(folder.read("locked.xta"), REPAIRABLE);
    // Nothing to repair: the file is not touched.
    folder.write("fine.xta", MODEL);
    let before = std::fs::metadata(folder.0.join("fine.xta")).and_then(|m| m.modified());
    assert_eq!(folder.run(&["check", "--fix", "fine.xta"]).status, 0);
    let after = std::fs::metadata(folder.0.join("fine.xta")).and_then(|m| m.modified());
    assert_eq!(before.expect("a time"), after.expect("a time"));
}

/// Which repairs are safe, by a file with nothing else to repair: made without asking, or only
/// offered.
#[test]
fn what_is_safe() {
    let folder = Folder::new("safe");
    let process = "process P() { state A; init A; trans A -> A { guard n < 5 && WHAT; assign n = n + 1; }; }\n";
    let with = |declaration: &str, guard: &str, system: &str| {
        let process = process.replace("WHAT", guard);
        format!("int[0, 9] n;\n{declaration}{process}{system}")
    };
    let (f, run) = ("bool f() { return n > 2; }\n", "system P;\n");
    let by_copy = "process P(clock c) { state A; init A; trans A -> A { guard c > 1; assign c = 0; }; }\nclock z;\nQ = P(z);\nsystem Q;\n";
    let table = [
        ("Insert `&`", by_copy.to_owned(), true),
        ("Call it", with(f, "f", run), true),
        ("Compare with `==`", with("int m;\n", "m = 1", run), true),
        (
            "Remove this line",
            with("//@ allow lint/zeno\nint m;\n", "m == 1", run),
            true,
        ),
        (
            "Change to `count`",
            with("int count;\n", "coun == 1", run),
            false,
        ),
        (
            "Assign with `=`",
            with("", "true", run).replace("n = n + 1", "n == 3"),
            false,
        ),
        (
            "Use `<=`",
            with("clock x;\n", "x > 1", run).replace("state A;", "state A { x == 5 };"),
            false,
        ),
        (
            "Start in `A`",
            with("", "true", run).replace("init A;", ""),
            false,
        ),
        (
            "Run one process of each template",
            with("", "true", ""),
            false,
        ),
    ];
    for (title, text, safe) in table {
        folder.write("m.xta", &text);
        let found = folder
            .run(&["check", "--format", "json", "m.xta"])
            .objects();
        let fixes = found.iter().filter_map(|d| d["fixes"].as_array()).flatten();
        let offered: Vec<&Value> = fixes.filter(|f| f["title"] == title).collect();
        assert_eq!(offered.len(), 1, "{title}: {found:?}");
        assert_eq!(offered[0]["safe"], safe, "{title}");
        let status = folder.run(&["check", "--fix", "m.xta"]).status;
        assert_eq!(folder.read("m.xta") != text, safe, "{title}");
        assert!(!safe || status == 0, "{title}: {}", folder.read("m.xta"));
    }
}

#[test]
fn check_fix_of_standard_input_writes_the_text() {
    let folder = Folder::new("fix-stdin");
    let ran = folder.pipe(&["check", "--fix", "-"], REPAIRABLE);
    assert_eq!(ran.status, 0, "{}", ran.err);
    assert!(
        ran.out.starts_with("int n;\n") && ran.out.contains("guard n == 1;"),
        "{}",
        ran.out
    );
    assert!(ran.err.contains("3 problems fixed"), "{}", ran.err);
    let unchanged = folder.pipe(&["check", "--fix", "-"], MODEL);
    assert_eq!(unchanged.out, MODEL);
    folder.write("m.xta", MODEL);
    folder
        .pipe(&["check", "--fix", "-", "m.xta"], MODEL)
        .is_refused(&["must be the only argument"]);
}

#[test]
fn min_severity_hides_and_does_not_judge() {
    let folder = Folder::new("severity");
    folder.write("m.xta", REPAIRABLE);
    let all = folder
        .run(&["check", "--format", "json", "m.xta"])
        .objects();
    let ran = folder.run(&[
        "check",
        "--format",
        "json",
        "--min-severity",
        "error",
        "m.xta",
    ]);
    let shown = ran.objects();
    assert!(shown.len() < all.len() && !shown.is_empty());
    assert!(shown.iter().all(|d| d["severity"] == "error"));
    assert_eq!(ran.status, 1);
    let human = folder
        .run(&["check", "--min-severity", "error", "m.xta"])
        .out;
    assert!(
        !human.contains("warning[") && human.contains("not shown)"),
        "{human}"
    );
    assert_eq!(
        folder
            .run(&["check", "--min-severity", "loud", "m.xta"])
            .status,
        2
    );
}

#[test]
fn foreign_and_binary_files_are_refused_in_one_line() {
    let folder = Folder::new("foreign");
    folder.write("picture.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    folder.write("binary.xta", b"int a;\0\0\0");
    folder.write("wide.xta", b"\xff\xfei\0n\0t\0");
    folder.write(
        "notes.md",
        "# Notes\n\nThe system of processes, (more or less).\n",
    );
    for command in ["check", "verify", "fmt", "simulate"] {
        folder
            .run(&[command, "picture.png"])
            .is_refused(&["picture.png is a binary file"]);
        folder
            .run(&[command, "binary.xta"])
            .is_refused(&["binary.xta is a binary file"]);
        folder
            .run(&[command, "wide.xta"])
            .is_refused(&["UTF-16", "save it as UTF-8"]);
        folder
            .run(&[command, "notes.md"])
            .is_refused(&["notes.md is neither a model"]);
    }
    // A model under another name is one.
    folder.write("model.txt", format!("{MODEL}//@ query A[] n < 9\n"));
    assert_eq!(folder.run(&["check", "model.txt"]).status, 0);
    assert_eq!(folder.run(&["verify", "model.txt"]).status, 0);
    folder.write("pom.xml", "<project>\n<a/>\n</project>");
    let ran = folder.run(&["check", "pom.xml"]);
    assert_eq!((ran.status, ran.out.lines().count()), (1, 2), "{}", ran.out);
    assert!(ran.out.starts_with("pom.xml:1:1: error: ") && ran.out.contains("[syntax/xml]"));
}

#[test]
fn long_lines_are_cut_and_places_are_right() {
    let folder = Folder::new("long");
    let wide = format!(
        "int {};\n",
        (0..20_000)
            .map(|k| format!("v{k}"))
            .collect::<Vec<_>>()
            .join(", ")
    );
    folder.write(
        "m.xta",
        format!("{wide}int z = {}nobody;\n{MODEL}", " ".repeat(100_000)),
    );
    let ran = folder.run(&["check", "m.xta"]);
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("--> m.xta:2:100009\n"), "{}", ran.out);
    assert!(
        ran.out.lines().all(|l| l.chars().count() < 300),
        "{}",
        ran.out
    );
    let long = "x".repeat(100_000);
    folder.write("name.xta", format!("int a = {long};\n{MODEL}"));
    let ran = folder.run(&["check", "name.xta"]);
    assert!(ran.out.lines().all(|l| l.chars().count() < 1_200));
    let ran = folder.run(&["verify", "name.xta", "-q", &format!("A[] {long} > 0")]);
    assert!(ran.out.len() < 5_000 && ran.err.len() < 5_000);
}

#[test]
fn related_places_have_a_heading() {
    let folder = Folder::new("related");
    folder.write("m.xta", "typedef scalar[3] pid;\npid id;\nprocess P(const pid i) { state A; init A; trans A -> A { assign id = i + 1; }; }\nsystem P;\n");
    let out = folder.run(&["check", "m.xta"]).out;
    let place = out.find("--> m.xta:3:70\n").expect("the place");
    let related = out
        .find("\nnote: `pid` is declared here\n --> m.xta:1:9\n")
        .expect("the heading");
    assert!(place < related, "{out}");
    assert!(
        out.contains("  |\n1 | typedef scalar[3] pid;\n  |         ^^^^^^^^^\n"),
        "{out}"
    );
    assert!(out.contains("  |\n  = help: Keep only"), "{out}");
}

/// Tabs, wide characters, all line ends, control characters, entities: the mark is below the name.
#[test]
fn excerpts_of_strange_text() {
    let folder = Folder::new("strange");
    let text = "int a = /* \u{1b}[31m */ nobody;\r\n\tint b = /* 日 \u{9b}31m\u{7} */ nobody;\rint c = nobody;\n";
    folder.write("m.xta", format!("{text}{MODEL}"));
    let out = folder.run(&["check", "m.xta"]).out;
    for place in ["m.xta:1:21\n", "m.xta:2:24\n", "m.xta:3:9\n"] {
        assert!(out.contains(place), "{place}: {out}");
    }
    assert!(
        !out.contains(|c: char| c.is_control() && c != '\n'),
        "{out:?}"
    );
    assert!(
        out.contains("1 | int a = /* ␛[31m */ nobody;\n  |                     ^^^^^^\n"),
        "{out}"
    );
    let wide =
        "2 |     int b = /* 日 \u{fffd}31m␇ */ nobody;\n  |                            ^^^^^^\n";
    assert!(out.contains(wide), "{out}");
    assert!(
        out.contains("3 | int c = nobody;\n  |         ^^^^^^\n"),
        "{out}"
    );
    if cfg!(unix) {
        folder.write("\u{1b}[31m.xta", format!("int a = nobody;\n{MODEL}"));
        let out = folder.run(&["check", "\u{1b}[31m.xta"]).out;
        assert!(out.contains("--> \u{fffd}[31m.xta:1:9\n"), "{out:?}");
    }
    let xml = "<nta><declaration>int a = 1 &lt; nobody;</declaration>\n<template><name>P</name><location id=\"a\"/><init ref=\"a\"/></template>\n<system>system P;</system></nta>";
    folder.write("m.xml", xml);
    let out = folder.run(&["check", "m.xml"]).out;
    let below = format!("\n  | {}^^^^^^\n", " ".repeat(33));
    assert!(
        out.contains("--> m.xml:1:34\n") && out.contains(&below),
        "{out}"
    );
}

#[test]
fn colours_follow_the_command_line_and_the_environment() {
    let folder = Folder::new("colour");
    folder.write(
        "m.xta",
        format!("{MODEL}//@ query E<> n == 2\nint q = nobody;\n"),
    );
    let colored = |args: &[&str], variable: Option<(&str, &str)>| {
        let mut command = folder.command(args);
        command.envs(variable);
        Ran::of(command.output().expect("the binary runs"))
            .out
            .contains('\u{1b}')
    };
    for command in ["check", "verify"] {
        assert!(!colored(&[command, "m.xta"], None), "a pipe");
        assert!(colored(&[command, "m.xta", "--color", "always"], None));
        assert!(colored(
            &["--color=always", command, "m.xta"],
            Some(("NO_COLOR", "1"))
        ));
        assert!(colored(&[command, "m.xta"], Some(("CLICOLOR_FORCE", "1"))));
        assert!(colored(&[command, "m.xta"], Some(("FORCE_COLOR", "1"))));
        assert!(!colored(
            &[command, "m.xta", "--color", "never"],
            Some(("FORCE_COLOR", "1"))
        ));
    }
}

#[test]
fn render_names_a_converter() {
    let folder = Folder::new("png");
    folder.write("m.xta", MODEL);
    for (name, converter) in [
        ("x.png", "rsvg-convert -o x.png x.svg"),
        ("x.JPG", "magick x.svg x.JPG"),
    ] {
        folder
            .run(&["render", "m.xta", "-o", name])
            .is_refused(&["pictures are SVG", converter]);
        assert!(!folder.0.join(name).exists());
    }
}

#[test]
fn explain_finds_parts_and_completes() {
    let folder = Folder::new("explain");
    let page = folder.run(&["explain", "loop-order"]);
    assert!(
        page.status == 0 && page.out.starts_with("# sym/loop-order\n"),
        "{}",
        page.out
    );
    let several = folder.run(&["explain", "loop"]);
    let codes: Vec<&str> = several
        .out
        .lines()
        .filter_map(|l| l.split(' ').next())
        .collect();
    let looping = [
        "every/loop",
        "lint/endless-loop",
        "sym/loop-order",
        "type/loop",
    ];
    assert_eq!(codes, looping);
    folder
        .run(&["explain", "nothing-like-it"])
        .is_refused(&["nothing-like-it"]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&["completions", shell]);
        assert_eq!(script.status, 0);
        // A code that no description names. The scripts of the other shells know no values of
        // arguments.
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert!(script.out.contains("sym/index-other"), "{shell}");
        }
    }
}

#[test]
fn every_command_has_a_manual_page_and_says_its_statuses() {
    let folder = Folder::new("man");
    assert_eq!(folder.run(&["man", "--all", "pages"]).status, 0);
    let commands = [
        "lsp",
        "check",
        "verify",
        "fmt",
        "convert",
        "simulate",
        "render",
        "explain",
        "completions",
        "man",
    ];
    for name in commands {
        let page = folder.read(&format!("pages/zonelens-{name}.1"));
        assert!(page.contains(&format!(".TH zonelens-{name} 1")), "{name}");
        assert_eq!(folder.run(&["man", name]).out, page);
    }
    let whole = folder.read("pages/zonelens.1");
    assert_eq!(folder.run(&["man"]).out, whole);
    assert!(whole.contains(".TH zonelens 1"));
    assert!(
        !folder.0.join("pages/zonelens-worker.1").exists(),
        "for the server only"
    );
    folder
        .run(&["man", "worker"])
        .is_refused(&["there is no command worker"]);
    for name in [
        "check", "verify", "fmt", "convert", "simulate", "render", "explain",
    ] {
        for text in [
            folder.run(&[name, "--help"]).out,
            folder.read(&format!("pages/zonelens-{name}.1")),
        ] {
            assert!(text.contains("Exit status"), "{name}: {text}");
        }
    }
    let help = folder.run(&["--help"]).out;
    assert!(
        help.contains("Exit status:") && help.contains("130  interrupted"),
        "{help}"
    );
}
