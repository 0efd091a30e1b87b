//! The command line without traps: several models, folders, patterns and standard input; repairs; colours; what is left
//! out of what people see and what is not.

use serde_json::Value;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const MODEL: &str = "\
const int N = 2;
const bool fast = false;
int[0, 9] n;
bool done;
process P() { state s, t; init s; trans s -> t { assign n = N, done = true; }; }
system P;
";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("cmdline-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("read")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonelens"));
        command.args(args).current_dir(&self.0).stdin(Stdio::null());
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("the binary runs"))
    }

    fn pipe(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary runs");
        // One that refuses its arguments does not read.
        let _ = child
            .stdin
            .take()
            .expect("its input")
            .write_all(input.as_bytes());
        Ran::of(child.wait_with_output().expect("its output"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran {
            status: output.status.code().expect("an exit status"),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }

    fn objects(&self) -> Vec<Value> {
        let lines = self.out.lines();
        lines
            .map(|l| serde_json::from_str(l).expect("an object"))
            .collect()
    }

    /// Model and query of each object.
    fn asked(&self) -> Vec<(String, String)> {
        let text = |v: &Value| v.as_str().unwrap_or_default().to_owned();
        let objects = self.objects();
        objects
            .iter()
            .map(|o| (text(&o["model"]), text(&o["query"])))
            .collect()
    }

    /// Refused with bad usage in one line that says all these.
    fn is_refused(&self, words: &[&str]) {
        assert_eq!(self.status, 2, "{}{}", self.out, self.err);
        assert_eq!(self.out, "");
        assert_eq!(self.err.lines().count(), 1, "{}", self.err);
        for word in words {
            assert!(self.err.contains(word), "{word}: {}", self.err);
        }
    }
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
    list.iter().map(own).collect()
}

#[test]
fn verify_asks_several_models_folders_and_patterns() {
    let folder = Folder::new("several");
    folder.write("a.xta", format!("{MODEL}//@ query E<> n == 2\n"));
    folder.write("deep/b.ta", format!("{MODEL}//@ query A[] n < 9\n"));
    folder.write("deep/b.q", "E<> P.t\n");
    folder.write("deep/er/none.xta", MODEL);
    folder.write("deep/pom.xml", "<project/>");
    let json = |args: &[&str]| {
        let mut all = vec!["verify", "--format", "json"];
        all.extend(args);
        folder.run(&all)
    };
    let own = pairs(&[
        ("a.xta", "E<> n == 2"),
        ("deep/b.ta", "A[] n < 9"),
        ("deep/b.ta", "E<> P.t"),
    ]);
    let ran = json(&["a.xta", "deep"]);
    assert_eq!((ran.status, ran.asked()), (0, own.clone()));
    // What has nothing to ask is told and passed over in a folder; a file that is no model is not even told.
    assert!(
        ran.err.contains("deep/er/none.xta has no query"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("pom"), "{}", ran.err);
    // Patterns are for shells; what they leave alone is expanded here.
    let ran = json(&["*.xta", "d*/*.ta"]);
    assert_eq!((ran.status, ran.asked()), (0, own));
    let ran = json(&["**/*.?ta", "-q", "E<> true", "-q", "A[] n < 9"]);
    let each = pairs(&[
        ("a.xta", "E<> true"),
        ("a.xta", "A[] n < 9"),
        ("deep/er/none.xta", "E<> true"),
        ("deep/er/none.xta", "A[] n < 9"),
    ]);
    assert_eq!((ran.status, ran.asked()), (0, each));
    json(&["*.nothing"]).is_refused(&["no file matches `*.nothing`"]);
    // A file whose name looks like a pattern is that file.
    folder.write("[a].xta", format!("{MODEL}//@ query E<> P.t\n"));
    let ran = json(&["[a].xta"]);
    assert_eq!(ran.asked(), pairs(&[("[a].xta", "E<> P.t")]));
    // A folder without models is nothing to verify; one that is named and has no query is bad usage, as ever.
    folder.write("empty/readme.txt", "");
    json(&["empty"]).is_refused(&["empty holds no model"]);
    json(&["deep/er/none.xta"]).is_refused(&["has no query"]);
    json(&["deep/pom.xml"]).is_refused(&["deep/pom.xml is not a model", "<nta>"]);
}

#[test]
fn verify_reads_standard_input() {
    let folder = Folder::new("stdin");
    let text = format!("{MODEL}//@ query E<> n == 2\n");
    let ran = folder.pipe(&["verify", "-", "--format", "json"], &text);
    assert_eq!(
        (ran.status, ran.asked()),
        (0, pairs(&[("-", "E<> n == 2")]))
    );
    folder.write("m.xta", &text);
    assert_eq!(folder.run(&["convert", "m.xta", "m.xml"]).status, 0);
    let xml = folder.read("m.xml");
    let ran = folder.pipe(&["verify", "-", "m.xta", "--format", "json"], &xml);
    let both = pairs(&[("-", "E<> n == 2"), ("m.xta", "E<> n == 2")]);
    assert_eq!((ran.status, ran.asked()), (0, both));
    let ran = folder.pipe(&["check", "-", "--format", "json"], &xml);
    assert_eq!(ran.status, 0);
    let found = ran.objects();
    assert!(found.iter().all(|d| d["severity"] != "error"), "{found:?}");
    folder
        .pipe(&["verify", "-", "-"], &xml)
        .is_refused(&["only once"]);
}

#[test]
fn names_tell_models_from_queries() {
    let folder = Folder::new("roles");
    folder.write("m.xta", format!("{MODEL}//@ query E<> n == 2\n"));
    folder.write("other.xml", "<nta></nta>");
    folder.write("ask.q", "A[] n < 9\n");
    folder.write("ask.txt", "A[] n < 8\n");
    let json = |args: &[&str]| {
        let mut all = vec!["verify", "--format", "json"];
        all.extend(args);
        folder.run(&all)
    };
    let of = |query| pairs(&[("m.xta", query)]);
    assert_eq!(json(&["m.xta", "ask.q"]).asked(), of("A[] n < 9"));
    assert_eq!(json(&["ask.q", "m.xta"]).asked(), of("A[] n < 9"));
    assert_eq!(json(&["m.xta", "ask.txt"]).asked(), of("A[] n < 8"));
    json(&["ask.q"]).is_refused(&["ask.q is a query file", "zonelens verify MODEL ask.q"]);
    for list in [["m.xta", "m.xta", "ask.q"], ["m.xta", "ask.txt", "m.xta"]] {
        json(&list).is_refused(&["one model only", "there are 2"]);
    }
    // By its name the second one is a model, not queries.
    let ran = json(&["m.xta", "other.xml", "-q", "A[] true"]);
    assert_eq!(ran.status, 2);
    let models: Vec<String> = ran.asked().into_iter().map(|(model, _)| model).collect();
    assert_eq!(models, ["m.xta", "other.xml"]);
}

#[test]
fn the_worst_of_all_models_is_the_status() {
    let folder = Folder::new("status");
    folder.write("pass.xta", format!("{MODEL}//@ query E<> n == 2\n"));
    folder.write("fail.xta", format!("{MODEL}//@ query A[] n == 0\n"));
    folder.write(
        "broken.xta",
        format!("{}//@ query A[] true\n", MODEL.replace("n = N", "m = N")),
    );
    let slow = "process P(const int[0, 9] i) { clock x; int[0, 9] c; state a; init a; trans a -> a { guard x > i; assign x = 0, c = (c + 1) % 9; }; }\nsystem P;\n//@ query A[] true\n";
    folder.write("slow.xta", slow);
    let status = |names: &[&str]| {
        let mut args = vec!["verify", "--symmetry", "off", "--states", "20"];
        args.extend(names);
        folder.run(&args).status
    };
    assert_eq!(status(&["pass.xta", "pass.xta"]), 0);
    assert_eq!(status(&["pass.xta", "slow.xta"]), 3);
    assert_eq!(status(&["slow.xta", "fail.xta", "pass.xta"]), 1);
    assert_eq!(status(&["fail.xta", "broken.xta", "slow.xta"]), 2);
    // One that cannot be read does not keep the others from running.
    let ran = folder.run(&["verify", "missing.xta", "pass.xta"]);
    assert_eq!(ran.status, 2);
    assert!(
        ran.err.contains("missing.xta cannot be read"),
        "{}",
        ran.err
    );
    assert!(
        ran.out.contains("1 query: ") && ran.out.contains("1 passed"),
        "{}",
        ran.out
    );
    let ran = folder.run(&["verify", "pass.xta", "fail.xta"]);
    assert!(
        ran.out
            .contains("2 queries in 2 models: 1 passed, 1 failed"),
        "{}",
        ran.out
    );
}

#[test]
fn junit_has_a_suite_per_model() {
    let folder = Folder::new("junit");
    folder.write("a.xta", format!("{MODEL}//@ query E<> n == 2\n"));
    folder.write(
        "b.xta",
        format!("{MODEL}//@ query A[] n == 0\n//@ query A[] n < 9\n"),
    );
    let ran = folder.run(&["verify", "--format", "junit", "a.xta", "b.xta"]);
    assert_eq!(ran.status, 1);
    assert_eq!(ran.out.matches("<testsuite ").count(), 2);
    let whole = "<testsuites name=\"zonelens\" tests=\"3\" failures=\"1\" errors=\"0\" ";
    assert!(ran.out.contains(whole), "{}", ran.out);
    let second = "<testsuite name=\"b.xta\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" ";
    assert!(ran.out.contains(second), "{}", ran.out);
    // The run of a failure has numbers, as before.
    assert!(ran.out.contains("done: 0 → 1"), "{}", ran.out);
}

#[test]
fn people_see_booleans_and_no_witness_they_did_not_ask_for() {
    let folder = Folder::new("people");
    folder.write("m.xta", MODEL);
    let text = |args: &[&str]| {
        let mut all = vec!["verify", "m.xta"];
        all.extend(args);
        folder.run(&all).out
    };
    let change = "done: false → true";
    let folded = text(&["-q", "E<> P.t"]);
    assert!(
        folded.contains("witness, 1 step (--witness shows it)"),
        "{folded}"
    );
    assert!(!folded.contains(change), "{folded}");
    for shown in [
        text(&["-q", "E<> P.t", "--witness"]),
        text(&["-q", "E<> P.t", "--trace", "shortest"]),
        text(&["-q", "A[] P.s"]),
    ] {
        assert!(shown.contains(change), "{shown}");
    }
    // One that should not be there is what somebody has to look at.
    folder.write(
        "unwanted.xta",
        format!("{MODEL}//@ query E<> P.t\n//@ expect violated\n"),
    );
    assert!(folder.run(&["verify", "unwanted.xta"]).out.contains(change));
    let constants = text(&["-q", "E<> P.t", "--const", "fast=true", "--const", "N=3"]);
    assert!(
        constants.contains("with constants: N = 3, fast = true"),
        "{constants}"
    );
    let walked = folder.run(&["simulate", "m.xta"]).out;
    assert!(walked.contains(change), "{walked}");
}

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
        .is_refused(&["XML models are drawn"]);
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

/// Safe: the unused select, the invariant's part that never binds, the comparison. Not safe: the misspelt name.
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
    // What may not be written is told, with its diagnostics.
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
        .is_refused(&["must stand alone"]);
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
        !human.contains("Warning:") && human.contains("not shown)"),
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
    assert!(ran.out.contains("m.xta:2:100009 ]"), "{}", ran.out);
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
    let place = out.find("m.xta:3:70 ]").expect("the place");
    let related = out.find("│ Related:\n").expect("the heading");
    let there = out
        .find("m.xta:1:9: `pid` is declared here")
        .expect("the place");
    assert!(place < related && related < there, "{out}");
    assert!(
        out.contains(" 1 │ typedef scalar[3] pid;\n   │         ^^^^^^^^^\n"),
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
    assert_eq!(codes, ["sym/loop-order", "type/loop"]);
    folder
        .run(&["explain", "nothing-like-it"])
        .is_refused(&["nothing-like-it"]);
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = folder.run(&["completions", shell]);
        assert_eq!(script.status, 0);
        // A code that no description names. The scripts of the other shells know no values of arguments.
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
