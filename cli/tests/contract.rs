//! What scripts rely on, as it was first promised: names and types of JSON fields, and exit
//! statuses. Both may only be added to; what stands here does not change.

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Two processes; the second query of the model is violated, the third broken.
const MODEL: &str = "\
const int N = 2;
typedef scalar[N] pid;
int[0, N] n;
bool b;
chan go[pid];
process P(const pid i) {
    clock x;
    state s, t { x <= 5 };
    init s;
    trans s -> t { select k : int[0, 1]; guard n < N && k == 1; sync go[i]!; assign x = 0, n = n + 1, b = true; };
}
process Q() { state u; init u; trans u -> u { select j : pid; sync go[j]?; }; }
system P, Q;
";

/// More states than a short limit allows.
const SLOW: &str = "process P(const int[0, 9] i) { clock x; int[0, 9] c; state a; init a; trans a -> a { guard x > i; assign x = 0, c = (c + 1) % 9; }; }\nsystem P;\n//@ query A[] true\n";

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
            .join(format!("contract-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a folder");
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).expect("written");
    }

    fn run(&self, args: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_zonelens"))
            .args(args)
            .current_dir(&self.0)
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs")
    }

    fn status(&self, args: &[&str]) -> i32 {
        self.run(args).status.code().expect("an exit status")
    }

    fn objects(&self, args: &[&str]) -> Vec<Value> {
        let output = self.run(args);
        let text = String::from_utf8(output.stdout).expect("UTF-8");
        let lines = text.lines();
        lines
            .map(|l| serde_json::from_str(l).expect("one object per line and nothing else"))
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The fields of a value with their types: `trace.steps[].delay` is a `string`. Keys of maps that
/// hold names of the model are `*`.
fn fields(value: &Value, path: &str, maps: &[&str], out: &mut BTreeMap<String, &'static str>) {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !path.is_empty() {
        // A field that is null at one place and something at another is known by the latter.
        let known = out.entry(path.to_owned()).or_insert(kind);
        if *known == "null" {
            *known = kind;
        }
    }
    match value {
        Value::Array(list) => {
            for one in list {
                fields(one, &format!("{path}[]"), maps, out);
            }
        }
        Value::Object(object) => {
            for (name, one) in object {
                let name = if maps.contains(&path) { "*" } else { name };
                let dot = if path.is_empty() { "" } else { "." };
                fields(one, &format!("{path}{dot}{name}"), maps, out);
            }
        }
        _ => {}
    }
}

/// Every field that was promised is there, with the type that was promised.
fn assert_holds(objects: &[Value], maps: &[&str], promised: &str) {
    let mut found = BTreeMap::new();
    for object in objects {
        fields(object, "", maps, &mut found);
    }
    for line in promised.lines() {
        let (name, kind) = line.trim().split_once(": ").expect("name: type");
        assert_eq!(found.get(name), Some(&kind), "{name} in {found:#?}");
    }
}

/// The fields that a schema in `docs/schema` describes, written as [`fields`] writes them.
fn described(schema: &Value, file: &str, path: &str, out: &mut BTreeSet<String>) {
    if let Some(target) = schema["$ref"].as_str() {
        let (other, pointer) = target.split_once('#').expect("a place in a file");
        let other = if other.is_empty() { file } else { other };
        let root = schema_file(other);
        let found = root.pointer(pointer).expect("a definition");
        described(found, other, path, out);
    }
    for one in schema["anyOf"].as_array().into_iter().flatten() {
        described(one, file, path, out);
    }
    let join = |name: &str| match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    };
    for (name, value) in schema["properties"].as_object().into_iter().flatten() {
        out.insert(join(name));
        described(value, file, &join(name), out);
    }
    if schema["additionalProperties"].is_object() {
        out.insert(join("*"));
    } else if schema["type"] == "object" {
        assert_eq!(schema["additionalProperties"], false, "{file}: {path}");
    }
    if schema["items"].is_object() {
        out.insert(format!("{path}[]"));
        described(&schema["items"], file, &format!("{path}[]"), out);
    }
}

fn schema_file(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/schema");
    let text = std::fs::read_to_string(path.join(name)).expect("a schema");
    serde_json::from_str(&text).expect("JSON")
}

/// Every field that was written is in the schema, and what the schema requires was promised to be
/// everywhere. `cargo xtask reports` validates more outputs, with a validator.
fn assert_described(objects: &[Value], maps: &[&str], command: &str, everywhere: &[&str]) {
    let file = format!("{command}.schema.json");
    let schema = schema_file(&file);
    let mut known = BTreeSet::new();
    described(&schema, &file, "", &mut known);
    let mut found = BTreeMap::new();
    for object in objects {
        fields(object, "", maps, &mut found);
    }
    for name in found.keys().filter(|name| !name.is_empty()) {
        assert!(known.contains(name), "{name} is not in {file}");
    }
    let required = schema["required"].as_array().expect("a list");
    let required: BTreeSet<&str> = required.iter().filter_map(Value::as_str).collect();
    assert_eq!(required, everywhere.iter().copied().collect(), "{file}");
}

/// Every object has every field, whatever came out.
fn assert_everywhere(objects: &[Value], names: &[&str]) {
    for object in objects {
        for name in names {
            assert!(object.get(name).is_some(), "{name} in {object}");
        }
    }
}

/// The fields of every object that `verify` writes.
const OF_VERIFY: [&str; 13] = [
    "model",
    "query",
    "line",
    "verdict",
    "reason",
    "expected",
    "value",
    "symmetrised",
    "statistics",
    "symmetry",
    "reductions",
    "trace",
    "certificate",
];

#[test]
fn fields_of_verify() {
    let folder = Folder::new("verify");
    folder.write(
        "m.xta",
        &format!("{MODEL}//@ query E<> n == 2\n//@ expect satisfied\n//@ query A[] n < 2\n//@ query A[] nobody\n//@ query sup: n\n//@ query E[] exists (i : pid) P(i).s\n"),
    );
    let objects = folder.objects(&["verify", "--format", "json", "m.xta"]);
    assert_eq!(objects.len(), 5);
    assert_everywhere(&objects, &OF_VERIFY);
    let maps = [
        "trace.steps[].transition.edges[].select",
        "trace.steps[].state.locations",
        "trace.steps[].state.variables",
        "trace.steps[].state.clocks",
    ];
    assert_described(&objects, &maps, "verify", &OF_VERIFY);
    assert_holds(
        &objects,
        &maps,
        "query: string
         line: number
         verdict: string
         reason: string
         expected: string
         value: object
         value.lower: number
         value.upper: number
         value.lower_strict: boolean
         value.upper_strict: boolean
         symmetrised: boolean
         statistics.stored: number
         statistics.explored: number
         statistics.transitions: number
         statistics.seconds: number
         statistics.peak_memory_bytes: number
         symmetry.scalarsets: array
         symmetry.scalarsets[].name: string
         symmetry.scalarsets[].size: number
         symmetry.scalarsets[].detected: boolean
         symmetry.canonical: boolean
         symmetry.excluded: array
         reductions: array
         reductions[]: string
         trace: object
         trace.kind: string
         trace.cycle_start: null
         trace.steps: array
         trace.steps[].delay: string
         trace.steps[].transition: object
         trace.steps[].transition.channel: string
         trace.steps[].transition.edges: array
         trace.steps[].transition.edges[].process: string
         trace.steps[].transition.edges[].from: string
         trace.steps[].transition.edges[].to: string
         trace.steps[].transition.edges[].select.*: number
         trace.steps[].transition.edges[].line: number
         trace.steps[].transition.edges[].column: number
         trace.steps[].state.locations.*: string
         trace.steps[].state.variables.*: number
         trace.steps[].state.clocks.*: string",
    );
    let verdicts: Vec<&str> = objects
        .iter()
        .filter_map(|o| o["verdict"].as_str())
        .collect();
    assert_eq!(
        verdicts,
        ["satisfied", "violated", "error", "satisfied", "satisfied"]
    );
    // Booleans are numbers here, whatever people are shown, and the witness of `E<>` is there.
    let steps = objects[0]["trace"]["steps"].as_array().expect("a witness");
    assert!(steps[0]["transition"].is_null());
    assert_eq!(steps[2]["state"]["variables"]["b"], 1);
    // Added later: the path as it was given.
    assert!(objects.iter().all(|o| o["model"] == "m.xta"));
}

#[test]
fn fields_of_an_excluded_set_and_of_constants() {
    let folder = Folder::new("excluded");
    let model = MODEL.replace("assign x = 0,", "assign x = 0, last = i,").replace(
        "bool b;",
        "bool b;\nint a[pid];\npid last;\nvoid f() { int c = 0; for (p : pid) { a[p] = c; c = c + 1; } }",
    );
    let model = model.replace("last = i,", "last = i, f(),");
    folder.write("m.xta", &format!("{model}//@ query A[] n <= N\n"));
    let objects = folder.objects(&["verify", "--format", "json", "m.xta", "--const", "N=2"]);
    assert_holds(
        &objects,
        &["constants"],
        "symmetry.excluded[].name: string
         symmetry.excluded[].rule: string
         symmetry.excluded[].line: number
         symmetry.excluded[].column: number
         constants.*: number",
    );
}

#[test]
fn fields_of_a_certificate() {
    let folder = Folder::new("certificate");
    folder.write(
        "m.xta",
        &format!("{MODEL}//@ query A[] n <= N\n//@ query sup: n\n"),
    );
    let objects = folder.objects(&["verify", "--format", "json", "--certify", "m.xta"]);
    assert_holds(
        &objects,
        &[],
        "certificate: object
         certificate.kind: string
         certificate.states: number
         certificate.zones: number
         certificate.bytes: number
         certificate.checked: boolean
         certificate.seconds: number
         uncertified: string",
    );
    assert_described(&objects, &[], "verify", &OF_VERIFY);
    assert_eq!(objects[0]["certificate"]["checked"], true);
    assert!(objects[1]["certificate"].is_null());
}

#[test]
fn fields_of_an_answer_for_every_size() {
    let folder = Folder::new("every");
    let process = "process P(const pid i) { state a, b; init a; \
                   trans a -> b { guard !set; assign set = true, id = i; }; }\nsystem P;\n";
    let text = format!(
        "const int N = 3;\ntypedef scalar[N] pid;\npid id; bool set;\n{process}\
         //@ query A[] forall (i : pid) forall (j : pid) (P(i).b && P(j).b imply i == j)\n\
         //@ every pid\n//@ expect satisfied\n\
         //@ query A[] forall (i : pid) P(i).a\n//@ every pid\n//@ expect violated\n\
         //@ query A[] not deadlock\n//@ every pid\n"
    );
    folder.write("m.xta", &text);
    let objects = folder.objects(&["verify", "--format", "json", "--certify", "m.xta"]);
    assert_holds(
        &objects,
        &[],
        "every: object
         every.set: string
         every.proved: boolean
         every.views: number
         every.count: number
         every.direct[]: number
         every.violated_at: number
         uncertified: string",
    );
    let of = |k: usize| (&objects[k]["verdict"], &objects[k]["every"]);
    let (verdict, every) = of(0);
    assert_eq!(
        (verdict, &every["proved"]),
        (&"satisfied".into(), &true.into())
    );
    let (verdict, every) = of(1);
    assert_eq!(
        (verdict, &every["violated_at"]),
        (&"violated".into(), &1.into())
    );
    assert!(objects[1]["trace"].is_object());
    let (verdict, every) = of(2);
    assert_eq!(
        (verdict, &every["proved"]),
        (&"unknown".into(), &false.into())
    );
    let reason = objects[2]["reason"].as_str().expect("a reason");
    assert!(
        reason.starts_with("every: ") && reason.contains("every/query"),
        "{reason}"
    );
    // What is refused has a place.
    let wrong = text.replace("bool set;", "bool set; int[0,N] n;");
    folder.write("w.xta", &wrong);
    let objects = folder.objects(&["verify", "--format", "json", "w.xta"]);
    let reason = objects[0]["reason"].as_str().expect("a reason");
    assert!(reason.contains("every/size, w.xta:3:"), "{reason}");
}

#[test]
fn exit_statuses_of_certify() {
    let folder = Folder::new("certify");
    folder.write("m.xta", MODEL);
    let query = ["-q", "A[] n <= N"];
    let write = ["verify", "m.xta", "--certificate", "c", query[0], query[1]];
    assert_eq!(folder.status(&write), 0);
    assert_eq!(folder.status(&["certify", "m.xta", "c"]), 0);
    assert_eq!(
        folder.status(&["certify", "m.xta", "c", query[0], query[1]]),
        0
    );
    assert_eq!(
        folder.status(&["certify", "m.xta", "c", "-q", "A[] n < N"]),
        1
    );
    assert_eq!(
        folder.status(&["certify", "m.xta", "c", "--const", "N=3"]),
        1
    );
    assert_eq!(folder.status(&["certify", "m.xta", "m.xta"]), 1);
    assert_eq!(folder.status(&["certify", "m.xta", "none"]), 2);
    assert_eq!(folder.status(&["certify", "m.xta"]), 2);
    assert_eq!(
        folder.status(&["certify", "m.xta", "c", "-q", "A[] nobody"]),
        2
    );
    // One file holds one certificate.
    folder.write("two.q", "A[] n <= N\nA[] n >= 0\n");
    assert_eq!(
        folder.status(&["verify", "m.xta", "two.q", "--certificate", "c"]),
        2
    );
}

#[test]
fn fields_of_check() {
    let folder = Folder::new("check");
    folder.write("m.xta", &MODEL.replace("go[i]!", "go[i + 1]!"));
    let objects = folder.objects(&["check", "--format", "json", "m.xta"]);
    let everywhere = [
        "file", "code", "severity", "message", "start", "end", "related", "fixes",
    ];
    assert_everywhere(&objects, &everywhere);
    assert_described(&objects, &[], "check", &everywhere);
    assert_holds(
        &objects,
        &[],
        "file: string
         code: string
         severity: string
         message: string
         start.line: number
         start.column: number
         end.line: number
         end.column: number
         related: array
         related[].file: string
         related[].start.line: number
         related[].end.column: number
         related[].message: string
         fixes: array
         fixes[].title: string
         fixes[].edits: array
         fixes[].edits[].start.line: number
         fixes[].edits[].end.column: number
         fixes[].edits[].text: string
         fixes[].safe: boolean",
    );
}

#[test]
fn fields_of_simulate() {
    let folder = Folder::new("simulate");
    folder.write("m.xta", MODEL);
    let objects = folder.objects(&["simulate", "--format", "json", "--steps", "2", "m.xta"]);
    assert_eq!(objects.len(), 1);
    let everywhere = ["kind", "cycle_start", "steps", "ended", "reason"];
    assert_everywhere(&objects, &everywhere);
    let maps = [
        "steps[].transition.edges[].select",
        "steps[].state.locations",
        "steps[].state.variables",
        "steps[].state.clocks",
    ];
    assert_described(&objects, &maps, "simulate", &everywhere);
}

#[test]
fn fields_of_a_simulation() {
    let folder = Folder::new("simulation");
    folder.write("m.xta", MODEL);
    folder.write(
        "other.xta",
        "clock x, y; process P() { state a, b, c; init a; trans a -> b { assign x = 0; }, \
         b -> c { guard x == 0 && y == 2; }; } system P;",
    );
    let mut objects = Vec::new();
    for arguments in [
        vec!["--choose", "0", "m.xta"],
        vec!["--choose", "0", "other.xta"],
        vec!["m.xta"],
    ] {
        let all = [&["simulate", "-i", "--format", "json"], &arguments[..]].concat();
        objects.extend(folder.objects(&all));
    }
    assert_eq!(objects.len(), 3);
    let everywhere = [
        "step",
        "length",
        "unit",
        "time",
        "waited",
        "state",
        "walk",
        "possible",
        "groups",
        "otherDelays",
        "blocked",
        "leftOut",
        "wait",
        "choosing",
        "zone",
        "complete",
        "message",
    ];
    assert_everywhere(&objects, &everywhere);
    let maps = [
        "state.locations",
        "state.variables",
        "state.clocks",
        "walk[].transition.edges[].select",
        "possible[].transition.edges[].select",
        "blocked[].transition.edges[].select",
        "otherDelays[].transition.edges[].select",
    ];
    assert_described(&objects, &maps, "simulation", &everywhere);
}

#[test]
fn fields_of_coverage() {
    let folder = Folder::new("coverage");
    folder.write("m.xta", &MODEL.replace("t { x", "lost, t { x"));
    folder.write("slow.xta", SLOW);
    let mut objects = folder.objects(&["coverage", "--format", "json", "m.xta"]);
    objects.extend(folder.objects(&[
        "coverage",
        "slow.xta",
        "--timeout",
        "1ms",
        "--format",
        "json",
    ]));
    assert_eq!(objects.len(), 2);
    let everywhere = ["model", "complete", "reason", "statistics", "never"];
    assert_everywhere(&objects, &everywhere);
    assert_described(&objects, &[], "coverage", &everywhere);
    assert_holds(
        &objects,
        &[],
        "model: string
         complete: boolean
         reason: string
         statistics.stored: number
         statistics.explored: number
         statistics.transitions: number
         statistics.seconds: number
         statistics.peak_memory_bytes: number
         never: array
         never[].kind: string
         never[].template: string
         never[].what: string
         never[].line: number
         never[].column: number
         never[].because: string",
    );
}

#[test]
fn exit_statuses() {
    let folder = Folder::new("statuses");
    folder.write("m.xta", MODEL);
    folder.write("broken.xta", &MODEL.replace("x = 0", "y = 0"));
    folder.write(
        "ugly.xta",
        "int   a;\nprocess P(){state A;init A;}\nsystem P;\n",
    );
    folder.write("other.xml", "<project/>");
    folder.write("slow.xta", SLOW);
    folder.write("queries.txt", "A[] n <= 2\n");
    let ask = |formula: &'static str| vec!["verify", "m.xta", "-q", formula];
    let table: Vec<(Vec<&str>, i32)> = vec![
        (vec!["--version"], 0),
        (vec!["--help"], 0),
        (vec![], 2),
        (vec!["nonsense"], 2),
        (vec!["check", "m.xta"], 0),
        (vec!["check", "broken.xta"], 1),
        (vec!["check", "other.xml"], 1),
        (vec!["check", "missing.xta"], 2),
        (vec!["check", "missing.xta", "broken.xta"], 2),
        (vec!["check"], 2),
        (vec!["check", "--format", "yaml", "m.xta"], 2),
        (ask("A[] n <= 2"), 0),
        (ask("A[] n < 2"), 1),
        (ask("A[] nobody"), 2),
        (ask(""), 2),
        (vec!["verify", "m.xta"], 2),
        (vec!["verify", "m.xta", "queries.txt"], 0),
        (vec!["verify", "missing.xta", "-q", "A[] true"], 2),
        (vec!["verify", "broken.xta", "-q", "A[] true"], 2),
        (
            vec!["verify", "m.xta", "--const", "M=3", "-q", "A[] true"],
            2,
        ),
        (vec!["verify", "slow.xta", "--states", "20"], 3),
        (
            vec![
                "verify",
                "slow.xta",
                "--states",
                "20",
                "-q",
                "A[] P(0).c == 9",
                "-q",
                "A[] true",
            ],
            1,
        ),
        (vec!["fmt", "--check", "ugly.xta"], 1),
        (vec!["fmt", "missing.xta"], 2),
        (vec!["fmt", "other.xml"], 2),
        (vec!["convert", "m.xta", "m.txt"], 2),
        (vec!["convert", "m.xta", "converted.xml"], 0),
        (vec!["simulate", "m.xta"], 0),
        (vec!["simulate", "broken.xta"], 2),
        (vec!["coverage", "m.xta"], 0),
        (vec!["coverage", "slow.xta", "--timeout", "1ms"], 3),
        (vec!["coverage", "broken.xta"], 2),
        (vec!["coverage", "missing.xta"], 2),
        (vec!["coverage"], 2),
        (vec!["render", "m.xta", "-o", "m.svg"], 0),
        (
            vec![
                "render",
                "m.xta",
                "--trace",
                "-q",
                "A[] n <= 2",
                "-o",
                "m.svg",
            ],
            1,
        ),
        (vec!["explain", "sym/loop-order"], 0),
        (vec!["explain", "no/such"], 2),
        (vec!["explain"], 0),
        (vec!["man"], 0),
        (vec!["completions", "bash"], 0),
        (vec!["completions", "tcsh"], 2),
    ];
    for (args, status) in table {
        assert_eq!(folder.status(&args), status, "{args:?}");
    }
}
