//! `check`, `fmt` and `convert` through the real binary: output, exit status, and the picture of
//! the README.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder of its own for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("zonelens-files-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).expect("read")
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_zonelens"))
            .args(args)
            .current_dir(&self.0)
            .env("NO_COLOR", "1")
            .output()
            .expect("the binary runs")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).expect("example")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn status(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

fn broken_fischer() -> String {
    example("fischer.xta").replace("id = i,", "id = i + 1,")
}

#[test]
fn check_reports_arithmetic_on_a_scalar_as_json() {
    let folder = Folder::new("json");
    folder.write("fischer.xta", broken_fischer());
    let output = folder.run(&["check", "--format", "json", "fischer.xta"]);
    assert_eq!(status(&output), 1);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let found: Vec<&Value> = lines.iter().filter(|l| l["severity"] == "error").collect();
    assert_eq!(found.len(), 1, "{lines:?}");
    let entry = found[0];
    assert_eq!(entry["code"], "sym/arithmetic");
    assert_eq!(entry["file"], "fischer.xta");
    assert_eq!(
        entry["start"],
        serde_json::json!({ "line": 20, "column": 42 })
    );
    assert_eq!(
        entry["end"],
        serde_json::json!({ "line": 20, "column": 47 })
    );
    assert_eq!(entry["related"][0]["start"]["line"], 9);
    let edit = &entry["fixes"][0]["edits"][0];
    assert_eq!(edit["text"], "");
    assert_eq!(edit["start"]["line"], 20);
}

#[test]
fn check_of_sound_files_is_silent_and_succeeds() {
    let folder = Folder::new("sound");
    for name in [
        "fischer.xta",
        "fischer-001.xta",
        "fischer-004.xta",
        "fischer-int.xta",
    ] {
        folder.write(name, example(name));
    }
    let output = folder.run(&["check", "--format", "json", "."]);
    assert_eq!(status(&output), 0, "{}", stdout(&output));
    assert!(!stdout(&output).contains("\"error\""));
}

#[test]
fn check_gives_positions_in_the_xml_file() {
    let folder = Folder::new("xml");
    folder.write("m.xta", "clock x;\nprocess P() { state A { x <= 5 }; init A; trans A -> A { guard x > 1 && y < 2; }; }\nsystem P;\n");
    assert_eq!(status(&folder.run(&["convert", "m.xta", "m.xml"])), 0);
    let output = folder.run(&["check", "--format", "json", "m.xml"]);
    let entry: Value = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .find(|e: &Value| e["severity"] == "error")
        .expect("an error");
    let text = folder.read("m.xml");
    let line = text
        .lines()
        .nth(entry["start"]["line"].as_u64().expect("line") as usize - 1)
        .expect("line");
    let column = entry["start"]["column"].as_u64().expect("column") as usize - 1;
    assert!(
        line.chars()
            .skip(column)
            .collect::<String>()
            .starts_with("y &lt; 2"),
        "{line}"
    );
}

#[test]
fn check_of_unreadable_and_broken_input() {
    let folder = Folder::new("bad");
    folder.write(
        "latin1.xta",
        b"// caf\xe9\nprocess P() { state A; init A; }\nsystem P;\n",
    );
    let output = folder.run(&["check", "--format", "json", "latin1.xta"]);
    assert_eq!(status(&output), 1);
    assert!(stdout(&output).contains("syntax/encoding"));
    assert_eq!(status(&folder.run(&["check", "missing.xta"])), 2);
    assert_eq!(status(&folder.run(&["check"])), 2);
    folder.write("empty.xta", "");
    assert!(stdout(&folder.run(&["check", "empty.xta"])).contains("there is no system line"));
}

/// Whatever is asked about a trace of UPPAAL, the answer is one sentence with what to do.
#[test]
fn traces_of_uppaal_are_refused_in_one_sentence() {
    let folder = Folder::new("xtr");
    folder.write("t.xtr", "0 0 .\n1 0 5 ;\n.\n");
    folder.write("m.xta", "process P() { state s; init s; } system P;\n");
    for args in [
        &["check", "t.xtr"][..],
        &["verify", "t.xtr"],
        &["verify", "m.xta", "t.xtr"],
        &["simulate", "t.xtr"],
        &["render", "t.xtr", "-o", "t.svg"],
        &["convert", "t.xtr", "t.xml"],
        &["fmt", "t.xtr"],
    ] {
        let output = folder.run(args);
        assert_eq!(status(&output), 2, "{args:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("`.xtr` traces are not read; verify the query"),
            "{args:?}: {said}"
        );
        assert_eq!(said.trim_end().lines().count(), 1, "{args:?}: {said}");
        assert_eq!(stdout(&output), "", "{args:?}");
    }
    assert_eq!(folder.read("t.xtr"), "0 0 .\n1 0 5 ;\n.\n");
}

#[test]
fn check_of_query_files_uses_the_model_beside_them() {
    let folder = Folder::new("queries");
    folder.write("m.xta", "process P() { state A; init A; }\nsystem P;\n");
    folder.write("m.q", "A[] P.A\nA[] P.B\n");
    let output = folder.run(&["check", "--format", "json", "m.q"]);
    let lines: Vec<Value> = stdout(&output)
        .lines()
        .map(|l| serde_json::from_str(l).expect("JSON"))
        .collect();
    let errors: Vec<&Value> = lines.iter().filter(|l| l["severity"] == "error").collect();
    assert_eq!(errors.len(), 1, "{lines:?}");
    assert_eq!(errors[0]["start"]["line"], 2);
    assert!(
        errors[0]["code"]
            .as_str()
            .is_some_and(|c| c.starts_with("query/"))
    );
}

#[test]
fn check_of_query_files_tells_errors_of_syntax() {
    let folder = Folder::new("query-syntax");
    folder.write("alone.q", "A[] P.A &&\n/* never closed\n");
    folder.write("m.xta", "process P() { state A; init A; }\nsystem P;\n");
    folder.write("m.q", "A[] P.A &&\n/* never closed\n");
    for name in ["alone.q", "m.q"] {
        let output = folder.run(&["check", name]);
        assert_eq!(status(&output), 1, "{name}");
        let text = stdout(&output);
        assert!(text.contains("[query/syntax]"), "{text}");
        assert!(text.contains("[syntax/unclosed-comment]"), "{text}");
    }
}

#[test]
fn check_tells_lines_that_say_nothing() {
    let folder = Folder::new("pragmas");
    let model = "//@ expect satisfied\nprocess P() { state A; init A; }\nsystem P;\n\
                 //@ query A[] P.A\n//@ expect satisfied\n//@ expect violated\n\
                 //@ query A[] P.A\n//@ expect satisfid\n//@ qeury A[] P.A\n";
    folder.write("m.xta", model);
    folder.write("m.q", "/* EXPECT:T */\nA[] P.A\n//@ expect satisfied\n");
    let lines = |name: &str| -> Vec<u64> {
        let output = folder.run(&["check", "--format", "json", name]);
        assert_eq!(status(&output), 0);
        let found = stdout(&output);
        let found = found
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).expect("JSON"));
        found
            .filter(|d| d["code"] == "lint/pragma")
            .filter_map(|d| d["start"]["line"].as_u64())
            .collect()
    };
    assert_eq!(lines("m.xta"), [1, 6, 8, 9]);
    assert_eq!(lines("m.q"), [3]);
    // One line of each kind for a query, in either order.
    let every = "process P() { state A; init A; }\nsystem P;\n//@ query A[] P.A\n//@ every s\n\
                 //@ expect satisfied\n//@ every s\n//@ query A[] P.A\n//@ expect satisfied\n\
                 //@ every s\n//@ every\n";
    folder.write("m.xta", every);
    assert_eq!(lines("m.xta"), [6, 10]);
}

#[test]
fn sarif_has_the_required_shape() {
    let folder = Folder::new("sarif");
    folder.write("my model.xta", broken_fischer());
    let output = folder.run(&["check", "--format", "sarif", "my model.xta"]);
    let log: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    assert_eq!(run["tool"]["driver"]["name"], "zonelens");
    let result = run["results"]
        .as_array()
        .expect("results")
        .iter()
        .find(|r| r["level"] == "error")
        .expect("an error");
    assert_eq!(result["ruleId"], "sym/arithmetic");
    let place = &result["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"]["uri"], "my%20model.xta");
    assert_eq!(place["region"]["startLine"], 20);
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    let rule = rules.iter().find(|r| r["id"] == "sym/arithmetic");
    let rule = rule.expect("the rule of the result");
    assert_eq!(rule["name"], "SymArithmetic");
    let text = |v: &Value| v.as_str().unwrap_or("").to_owned();
    assert!(text(&rule["shortDescription"]["text"]).ends_with('.'));
    let page = text(&rule["help"]["markdown"]);
    assert!(
        page.starts_with("# sym/arithmetic") && page.contains("```"),
        "{page}"
    );
    let plain = text(&rule["help"]["text"]);
    assert!(
        plain.starts_with("sym/arithmetic") && !plain.contains("```"),
        "{plain}"
    );
    assert_eq!(rule["defaultConfiguration"]["level"], "error");
}

#[test]
fn fmt_checks_and_writes() {
    let folder = Folder::new("fmt");
    folder.write(
        "a.xta",
        "int   a;\nprocess P(){state A;init A;}\nsystem P;\n",
    );
    assert_eq!(status(&folder.run(&["fmt", "--check", "a.xta"])), 1);
    assert_eq!(status(&folder.run(&["fmt", "a.xta"])), 0);
    assert_eq!(status(&folder.run(&["fmt", "--check", "a.xta"])), 0);
    assert!(folder.read("a.xta").starts_with("int a;\n"));
    assert_eq!(status(&folder.run(&["fmt", "missing.xta"])), 2);
}

#[test]
fn convert_there_and_back() {
    let folder = Folder::new("convert");
    folder.write("a.xta", example("fischer.xta"));
    assert_eq!(status(&folder.run(&["convert", "a.xta", "b.xml"])), 0);
    assert_eq!(status(&folder.run(&["convert", "b.xml", "c.xta"])), 0);
    assert_eq!(status(&folder.run(&["convert", "c.xta", "d.xml"])), 0);
    assert_eq!(folder.read("b.xml"), folder.read("d.xml"));
    let output = folder.run(&[
        "verify",
        "--format",
        "json",
        "c.xta",
        "-q",
        "E<> exists (i : pid) Fischer(i).cs",
    ]);
    assert!(
        stdout(&output).contains("\"satisfied\""),
        "{}",
        stdout(&output)
    );
    for name in ["e.txt", "e", "e.q"] {
        assert_eq!(status(&folder.run(&["convert", "a.xta", name])), 2);
        assert!(!folder.0.join(name).exists(), "{name} tells no notation");
    }
    folder.write("broken.xta", "int a = ;\nsystem P;\n");
    let refused = folder.run(&["convert", "broken.xta", "e.xml"]);
    assert_eq!(status(&refused), 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("broken.xta:1:"));
}

/// Converted models come with places that keep their distance, and `--plain` leaves all places out.
#[test]
fn convert_draws_and_forgets() {
    let folder = Folder::new("plain");
    folder.write("a.xta", example("train-gate.xta"));
    assert_eq!(status(&folder.run(&["convert", "a.xta", "b.xml"])), 0);
    assert!(folder.read("b.xml").contains("<label kind=\"guard\" x="));
    assert_eq!(status(&folder.run(&["convert", "b.xml", "c.xta"])), 0);
    assert!(folder.read("c.xta").contains("//@ xml"));
    for from in ["b.xml", "c.xta"] {
        let plain = folder.run(&["convert", "--plain", from, "d.xta"]);
        assert_eq!(status(&plain), 0);
        let text = folder.read("d.xta");
        assert!(!text.contains("//@ xml"), "{text}");
        assert!(text.contains("//@ query"), "queries stay: {text}");
        let verdicts = |file: &str| {
            let output = folder.run(&["verify", "--format", "json", file]);
            let verdict =
                |l: &str| serde_json::from_str::<Value>(l).expect("JSON")["verdict"].clone();
            stdout(&output).lines().map(verdict).collect::<Vec<_>>()
        };
        assert_eq!(verdicts("a.xta"), verdicts("d.xta"));
        assert!(!verdicts("d.xta").is_empty());
    }
    // The picture of the text is the picture of the XML file: both know the places.
    for (from, to) in [("b.xml", "b.svg"), ("c.xta", "c.svg"), ("d.xta", "d.svg")] {
        assert_eq!(status(&folder.run(&["render", from, "-o", to])), 0);
    }
    let picture = |name: &str| {
        let text = folder.read(name);
        text.split_once("</title>").expect("a title").1.to_owned()
    };
    assert_eq!(picture("b.svg"), picture("c.svg"));
    assert_ne!(picture("b.svg"), picture("d.svg"));
    let wrong = folder.run(&["convert", "--plain", "a.xta", "e.xml"]);
    assert_eq!(status(&wrong), 2);
    assert!(String::from_utf8_lossy(&wrong.stderr).contains(".xta"));
    // Where only such a line tells two locations apart, leaving it out would change the model.
    let twins = "<nta><template><name>P</name><location id=\"a\"><name>s</name></location>\
        <location id=\"b\"><name>s</name></location><init ref=\"b\"/></template><system>system P;</system></nta>";
    folder.write("twins.xml", twins);
    let refused = folder.run(&["convert", "--plain", "twins.xml", "f.xta"]);
    assert_eq!(status(&refused), 2);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("called `s`"));
    assert_eq!(status(&folder.run(&["convert", "twins.xml", "g.xta"])), 0);
}

/// The README's picture is what the program prints. `UPDATE_EXPECT=1` draws it again.
#[test]
fn the_picture_of_the_readme_is_current() {
    let folder = Folder::new("picture");
    folder.write("fischer.xta", broken_fischer());
    let output = folder.run(&["check", "fischer.xta"]);
    let drawn = terminal_svg("zonelens check fischer.xta", &stdout(&output));
    let path = root().join("docs/img/check.svg");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::create_dir_all(path.parent().expect("folder")).expect("docs/img");
        std::fs::write(&path, &drawn).expect("written");
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        kept == drawn,
        "docs/img/check.svg is stale: run with UPDATE_EXPECT=1\n{}",
        stdout(&output)
    );
}

/// Columns of the terminal in the picture, and the width of one: the font's, at its size of 13.5.
const COLUMNS: usize = 92;
const COLUMN: f64 = 8.13;

/// A terminal window with a command and its output.
fn terminal_svg(command: &str, text: &str) -> String {
    let escape = |s: &str| {
        s.replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
    };
    let mut lines = vec![(format!("$ {command}"), "prompt")];
    for line in text.trim_end().lines() {
        let class = class_of(line);
        for part in wrapped(line.trim_end()) {
            lines.push((part, class));
        }
    }
    let height = 40 + lines.len() * 19;
    // A browser joins blanks unless told not to, and only some understand each of the two ways to
    // tell it. The length keeps columns below each other in fonts of another width.
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"{height}\" viewBox=\"0 0 800 {height}\" role=\"img\">
<title>{}</title>
<style>
  text {{ font: 13.5px 'DejaVu Sans Mono', Menlo, Consolas, monospace; fill: #d8dee9; white-space: pre; }}
  .prompt {{ fill: #8fd19e; }}
  .error {{ fill: #ff8a80; }}
  .warning {{ fill: #ffd166; }}
  .info {{ fill: #82cfff; }}
  .hint {{ fill: #b0bac9; }}
  .help {{ fill: #a5e3d8; }}
</style>
<rect width=\"800\" height=\"{height}\" rx=\"8\" fill=\"#1e222a\"/>
",
        escape(command)
    );
    for (i, (line, class)) in lines.iter().enumerate() {
        if line.is_empty() {
            continue;
        }
        let y = 32 + i * 19;
        let length = line.chars().count() as f64 * COLUMN;
        let class = match *class {
            "" => String::new(),
            class => format!(" class=\"{class}\""),
        };
        out += &format!(
            "<text{class} x=\"18\" y=\"{y}\" textLength=\"{length:.1}\" xml:space=\"preserve\">{}</text>\n",
            escape(line)
        );
    }
    out + "</svg>\n"
}

/// The colour of a line: that of its severity for a heading, another for advice and related places.
fn class_of(line: &str) -> &'static str {
    match line.split(['[', ':']).next() {
        Some("error") => "error",
        Some("warning") => "warning",
        Some("info" | "note") => "info",
        Some("hint") => "hint",
        _ if line.contains("= help:") => "help",
        _ => "",
    }
}

/// A long line in several, broken between words; the further ones are set in.
fn wrapped(line: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for word in line.split_inclusive(' ') {
        let last = out.last_mut().expect("one");
        let wide = last.chars().count() + word.trim_end().chars().count();
        if wide > COLUMNS && !last.trim().is_empty() {
            *last = last.trim_end().to_owned();
            out.push(format!("  {word}"));
        } else {
            last.push_str(word);
        }
    }
    out
}

/// What the picture of the README must keep: words, blanks, severities.
#[test]
fn pictures_of_a_terminal_keep_words_and_blanks() {
    let long = "error[sym/x]: these words go on and on until the line is far too long for the window in the picture of it";
    let text =
        format!("{long}\n    |   indented  twice\nwarning[lint/y]: a & b\ninfo[lint/z]: c\n\n");
    let svg = terminal_svg("zonelens", &text);
    assert!(svg.contains(">    |   indented  twice</text>"), "{svg}");
    assert!(svg.contains("class=\"warning\"") && svg.contains("class=\"info\""));
    assert_eq!(svg.matches("class=\"error\"").count(), 2, "{svg}");
    let shown: Vec<&str> = svg
        .split("</text>")
        .filter_map(|t| t.rsplit_once('>').map(|(_, text)| text))
        .collect();
    assert!(shown.iter().all(|t| t.chars().count() <= COLUMNS + 2));
    let words = shown[1..3].join(" ");
    assert_eq!(words.split_whitespace().collect::<Vec<_>>().join(" "), long);
    let texts = svg.matches("<text").count();
    assert_eq!(svg.matches("xml:space=\"preserve\"").count(), texts);
    assert!(svg.contains("white-space: pre"));
}

#[test]
fn the_workspace_decides_how_bad_a_finding_is() {
    let folder = Folder::new("severity");
    let text = "chan lonely;\nint n;\nprocess P() { state A; init A; trans A -> A { select i : int[0,1]; sync lonely!; }; }\nsystem P;\n";
    std::fs::create_dir_all(folder.0.join("deep/er")).expect("folders");
    folder.write("deep/er/m.xta", text);
    let found = |folder: &Folder| {
        let output = folder.run(&["check", "--format", "json", "deep/er/m.xta"]);
        let list: Vec<(String, String)> = stdout(&output)
            .lines()
            .map(|l| serde_json::from_str::<Value>(l).expect("JSON"))
            .map(|d| {
                (
                    d["code"].as_str().unwrap().to_owned(),
                    d["severity"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        (status(&output), list)
    };
    let pair = |code: &str, level: &str| (code.to_owned(), level.to_owned());
    let usual = vec![
        pair("lint/channel-partner", "warning"),
        pair("lint/unused-select", "warning"),
    ];
    assert_eq!(found(&folder), (0, usual));
    folder.write(
        "zonelens.toml",
        "[severity]\n\"lint/channel-partner\" = \"error\"\n\"lint/unused-select\" = \"off\"\n",
    );
    assert_eq!(
        found(&folder),
        (1, vec![pair("lint/channel-partner", "error")])
    );
    // Nearer files win; a wrong one is bad usage and says why.
    folder.write(
        "deep/zonelens.toml",
        "[severity]\n\"lint/nope\" = \"off\"\n",
    );
    let output = folder.run(&["check", "deep/er/m.xta"]);
    assert_eq!(status(&output), 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no code `lint/nope`"));
}
