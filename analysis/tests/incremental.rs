//! An edit re-checks only what it touches, and the result equals that of a fresh analysis.

use std::collections::BTreeMap;
use std::fmt::Write;
use zonelens_analysis::{Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;
use zonelens_syntax::span::{Span, TextEdit};

fn generated(templates: usize) -> String {
    let mut out = String::from(
        "const int N = 4;\ntypedef scalar[N] pid;\npid owner;\nbool busy;\nint total;\nbool f[pid];\nchan go[pid];\n",
    );
    for k in 0..templates {
        let _ = writeln!(
            out,
            "int[0,9] v{k};\nint count{k}() {{\n  int c = 0;\n  for (i : pid)\n    if (f[i]) c++;\n  return c;\n}}\nprocess T{k}(const pid id) {{\n  clock x;\n  int n;\n  void step() {{\n    n = n + v{k};\n    if (n > 5) n = 0;\n  }}\n  state A {{ x <= 5 }}, B, C;\n  init A;\n  trans\n    A -> B {{ guard x >= 2 && !busy; assign x = 0, busy = true, owner = id; }},\n    B -> C {{ guard count{k}() < 3 && owner == id; sync go[id]!; assign step(); }},\n    B -> C {{ select j : pid; guard j != id; sync go[j]?; assign v{k} = 1; }},\n    C -> A {{ assign busy = false, f[id] = !f[id]; }};\n}}"
        );
    }
    let names: Vec<String> = (0..templates).map(|k| format!("T{k}")).collect();
    let _ = writeln!(out, "system {};", names.join(", "));
    out
}

fn edit(file: &SourceFile, from: &str, to: &str) -> SourceFile {
    let at = file.text.find(from).unwrap() as u32;
    file.reparse(&TextEdit {
        span: Span::new(at, at + from.len() as u32),
        text: to.into(),
    })
}

#[test]
fn updates_equal_fresh_analyses() {
    let none = BTreeMap::new();
    let mut file = SourceFile::parse(generated(5), FileKind::Xta);
    let mut model = Model::new(&file, &none);
    for (from, to) in [
        ("n > 5", "n > 6"),
        ("owner = id", "owner = idd"),
        ("owner = idd", "owner = id"),
        ("const int N = 4", "const int N = 5"),
        ("int[0,9] v2;", "int[0,9] w2;"),
        ("int[0,9] w2;", "int[0,9] v2;"),
        ("f[i]) c++", "f[i]) owner = i"),
        ("f[i]) owner = i", "f[i]) c++"),
        ("process T1", "process T1x"),
        ("bool busy;", "bool busy; // note"),
        ("system T0, ", "system "),
    ] {
        file = edit(&file, from, to);
        model = model.update(&file);
        let fresh = Model::new(&file, &none);
        assert_eq!(model.diagnostics(), fresh.diagnostics(), "{from} -> {to}");
        assert_eq!(model.network(), fresh.network(), "{from} -> {to}");
    }
}

/// `cargo xtask bench` measures how much faster a keystroke is than a cold start; this test checks
/// that it changes nothing else.
#[test]
fn a_keystroke_in_a_large_model() {
    let file = SourceFile::parse(generated(900), FileKind::Xta);
    let none = BTreeMap::new();
    let model = Model::new(&file, &none);
    let errors = model.diagnostics().iter();
    assert_eq!(errors.filter(|d| d.severity == Severity::Error).count(), 0);
    let edited = edit(&file, "n > 5", "n > 6");
    let fresh = Model::new(&edited, &none);
    assert_eq!(model.update(&edited).diagnostics(), fresh.diagnostics());
}
