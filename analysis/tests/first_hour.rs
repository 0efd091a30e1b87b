//! Problems that users met in their first hour with real models: false errors, and mistakes that
//! were not reported.

use std::collections::BTreeMap;
use zonelens_analysis::{Diagnostic, Model, Severity};
use zonelens_syntax::SourceFile;
use zonelens_syntax::ast::FileKind;

fn model_of(text: &str) -> (SourceFile, Model) {
    let kind = match text.trim_start().starts_with('<') {
        true => FileKind::Xml,
        false => FileKind::Xta,
    };
    let file = SourceFile::parse(text, kind);
    let model = Model::new(&file, &BTreeMap::new());
    (file, model)
}

fn found(text: &str) -> Vec<Diagnostic> {
    model_of(text).1.diagnostics().to_vec()
}

fn codes(text: &str) -> Vec<&'static str> {
    found(text).iter().map(|d| d.code).collect()
}

#[track_caller]
fn one(text: &str, code: &str) -> Diagnostic {
    let all = found(text);
    let list: Vec<&Diagnostic> = all.iter().filter(|d| d.code == code).collect();
    assert_eq!(list.len(), 1, "{code} in {all:#?}");
    list[0].clone()
}

/// The text that a diagnostic points at.
fn at<'a>(text: &'a str, d: &Diagnostic) -> &'a str {
    &text[d.span.range()]
}

#[test]
fn families_and_arrays_over_empty_ranges_are_there_and_empty() {
    let text = "const int N = 4, BAD = 0; int n; int g(int[0,9] v) { return v; }
typedef int[0, N - BAD - 1] good; typedef int[N - BAD, N - 1] bad;
bool broken[bad]; chan c[bad];
process Good(const good i) { state A, B; init A;
  trans A -> B { guard forall (k : bad) !broken[k]; assign n = n + 1; },
        A -> B { select k : bad; sync c[k]?; assign n = g(77); },
        B -> A { guard n == sum (k : bad) g(k + 77); }; }
process Bad(const bad i) { bad me = i; state A; init A; trans A -> A { sync c[i]!; assign broken[me] = true; }; }
system Good, Bad;
//@ query A[] forall (k : bad) Bad(k).A
//@ query E<> exists (k : bad) Bad(k).me == k
";
    let (file, model) = model_of(text);
    let errors = model
        .diagnostics()
        .iter()
        .filter(|d| d.severity == Severity::Error);
    assert_eq!(errors.count(), 0, "{:#?}", model.diagnostics());
    let network = model.network().unwrap();
    assert_eq!(network.families[1].len, 0);
    assert_eq!(network.processes.len(), 4);
    // The edge whose select has no values does not exist; the others do.
    assert_eq!(network.processes[0].edges.len(), 2);
    assert!(network.unsupported.is_empty(), "{:?}", network.unsupported);
    for q in file.queries() {
        model.resolve_query(&network, q.query, q.base).unwrap();
    }
}

#[test]
fn an_empty_range_is_an_error_only_where_a_value_is_needed() {
    let global = "int[2,1] e;\nprocess P() { state A; init A; } system P;";
    assert_eq!(at(global, &one(global, "type/empty-range")), "e");
    let local = |system: &str| {
        format!(
            "process P(const int[0,1] i) {{ int[2,1] e; state A; init A; }}\nprocess Q() {{ state A; init A; }}\nsystem {system};"
        )
    };
    let listed = local("P, Q");
    assert_eq!(at(&listed, &one(&listed, "type/empty-range")), "e");
    assert!(!codes(&local("Q")).contains(&"type/empty-range"));
    // Known only after instantiation: no panic, but an error at the variable.
    let given = "process P(const int n) { int[1,n] e; state A; init A; }\np = P(0); system p;";
    let (_, model) = model_of(given);
    let errors = model.network().unwrap_err();
    assert_eq!(
        (errors[0].code, at(given, &errors[0])),
        ("type/empty-range", "e")
    );
    let in_function = "process P(const int n) { int f() { int[1,n] e; return 1; }\n state A; init A; trans A -> A { guard f() == 1; }; }\np = P(0); system p;";
    let network = model_of(in_function).1.network().unwrap();
    assert!(
        network.unsupported.iter().any(|u| u.fatal),
        "never a silent edge"
    );
}

#[test]
fn entries_of_arrays_without_entries_are_never_looked_up() {
    // A place without cells must not reach the engine, whether its size is known now or after
    // instantiation.
    let now = "int n; clock x[int[1,0]];\nprocess P() { state A, B; init A; trans A -> B { guard n == 1 && x[n] > 2; }; }\nsystem P;";
    let later = "int n;\nprocess P(const int k) { clock x[int[1,k]]; state A, B; init A; trans A -> B { guard n == 1 && x[n] > 2; }; }\np = P(0); system p;";
    for text in [now, later] {
        let network = model_of(text).1.network().unwrap();
        let list: Vec<_> = network
            .unsupported
            .iter()
            .map(|u| (u.code, u.fatal))
            .collect();
        assert_eq!(list, [("type/empty-range", true)]);
    }
}

#[test]
fn clocks_in_functions_leave_the_rest_of_the_model_alive() {
    let text = |guard: &str| {
        format!(
            "clock x; bool late(int n) {{ bool b = x - n > 1; if (x > 5 && n > 0) return true; return x == 2 || b; }}\nbool again() {{ return late(3); }}\nprocess P() {{ state A, B; init A; trans A -> B {{ guard {guard}; }}; }}\nsystem P;\n//@ query E<> P.B\n//@ query E<> again()\n"
        )
    };
    let unused = text("x > 3");
    let list = found(&unused);
    let infos: Vec<&Diagnostic> = list
        .iter()
        .filter(|d| d.code == "unsupported/clock-in-function")
        .collect();
    let places: Vec<&str> = infos.iter().map(|d| at(&unused, d)).collect();
    assert_eq!(places, ["x - n > 1", "x > 5", "x == 2"]);
    assert!(
        list.iter().all(|d| d.severity != Severity::Error),
        "{list:#?}"
    );
    assert!(infos.iter().all(|d| d.severity == Severity::Info));
    let (file, model) = model_of(&unused);
    let network = model.network().unwrap();
    assert!(network.unsupported.is_empty());
    let resolved: Vec<_> = file
        .queries()
        .iter()
        .map(|q| model.resolve_query(&network, q.query, q.base))
        .collect();
    assert!(resolved[0].is_ok());
    let error = resolved[1].as_ref().unwrap_err();
    assert_eq!(error[0].code, "unsupported/clock-in-function");
    let used = model_of(&text("again()")).1.network().unwrap();
    let codes: Vec<_> = used.unsupported.iter().map(|u| (u.code, u.fatal)).collect();
    assert_eq!(codes, [("unsupported/clock-in-function", true)]);
}

#[test]
fn carried_meta_values_are_reported_but_scratch_values_are_not() {
    let text = |labels: &str| {
        format!(
            "meta int[0,9] m; meta int t[3]; int n; chan c;\nvoid fill() {{ int i; for (i = 0; i < 3; i++) t[i] = i; }}\nint total() {{ return t[0] + t[1]; }}\nprocess P() {{ state A, B; init A; trans A -> B {{ {labels} }}; }}\nsystem P;\n"
        )
    };
    let carried = |labels: &str| codes(&text(labels)).contains(&"lint/meta-carried");
    for labels in [
        "assign m = 2; }, B -> A { guard m == 2;",
        "assign n = m, m = 1;",
        "assign fill(); }, B -> A { assign n = total();",
        "sync c!; }, A -> B { sync c?; assign n = m, m = 0;",
    ] {
        assert!(carried(labels), "{labels}");
    }
    for labels in [
        "assign m = 2, n = m;",
        // It is never written, so it is a constant.
        "guard m == 0; assign n = m;",
        "assign fill(), n = total();",
        "sync c!; assign m = 3; }, A -> B { sync c?; assign n = m;",
        // A counter that is never read otherwise.
        "assign m++, m = m + 1, t[0] += t[0];",
    ] {
        assert!(!carried(labels), "{labels}");
    }
    let whole = text("assign n = m, m = 1;");
    let d = one(&whole, "lint/meta-carried");
    assert_eq!((at(&whole, &d), d.severity), ("m", Severity::Warning));
}

#[test]
fn numbers_out_of_range_are_reported_at_their_place() {
    let text = |query: &str| {
        format!(
            "const int N = 3; int list[N]; int n;\nint f(int[0,2] i) {{ return i; }}\nprocess P(const int[0,N-1] i) {{ int own[2]; int g(int[0,1] v) {{ return v; }}\n state A; init A; }}\nsystem P;\n//@ query {query}\n"
        )
    };
    for (query, place) in [
        ("E<> P(3).A", "3"),
        ("E<> P(N).A", "N"),
        ("A[] list[N] == 0", "N"),
        ("A[] list[-1] == 0", "-1"),
        ("A[] f(N + 1) == 0", "N + 1"),
        ("A[] P(0).own[N - 1] == 0", "N - 1"),
        ("A[] P(0).g(2) == 2", "2"),
        ("sup: list[7]", "7"),
    ] {
        let text = text(query);
        let d = one(&text, "query/range");
        assert_eq!(
            (at(&text, &d), d.severity),
            (place, Severity::Error),
            "{query}"
        );
    }
    for query in [
        "E<> P(N - 1).A",
        "A[] N > 3 imply P(3).A",
        "A[] N <= 3 || list[3] == 0",
        "A[] (N > 3 ? list[3] : list[0]) == 0",
        "A[] forall (i : int[0, N]) i < N imply list[i] == 0",
        "A[] forall (i : int[N, 2]) P(7).A",
    ] {
        let found = codes(&text(query));
        assert!(
            !found.iter().any(|c| c.starts_with("query/")),
            "{query}: {found:?}"
        );
    }
    let argument = "int n; int f(int[0,3] i) { return i; }\nprocess P(const int[0,3] i) { state A; init A; trans A -> A { assign n = f(7); }; }\np = P(4); system p;";
    assert_eq!(at(argument, &one(argument, "system/argument")), "4");
    let d = one(argument, "lint/argument");
    assert_eq!((at(argument, &d), d.severity), ("7", Severity::Warning));
}

#[test]
fn unusable_xml_names_and_labels_are_reported() {
    let text = "<nta><declaration>chan go;</declaration><template><name>T</name><location id=\"id0\"><name>wait\nhere</name></location><location id=\"id1\"><name>B</name><label kind=\"comments\">fine</label></location><init ref=\"id0\"/><transition><source ref=\"id0\"/><target ref=\"id1\"/><label kind=\"guard\">true</label><label kind=\"synchronization\">go!</label></transition></template><system>P = T(); system P;</system></nta>";
    let d = one(text, "name/identifier");
    assert_eq!(at(text, &d), "wait\nhere");
    assert_eq!(d.fixes[0].edits[0].text, "wait_here");
    let d = one(text, "lint/label-kind");
    assert_eq!(
        (at(text, &d), d.severity),
        ("synchronization", Severity::Warning)
    );
    assert!(
        d.message.contains("write `synchronisation`"),
        "{}",
        d.message
    );
    let right = text
        .replace("wait\nhere", "wait_here")
        .replace("zation", "sation");
    let list = codes(&right);
    assert!(
        !list.contains(&"name/identifier") && !list.contains(&"lint/label-kind"),
        "{list:?}"
    );
    // Unnamed locations get generated names.
    let unnamed = right
        .replace("<name>wait_here</name>", "")
        .replace("id0", "id-0");
    assert!(!codes(&unnamed).contains(&"name/identifier"));
    // Labels that a location cannot have are reported as well.
    let guarded = right.replace("kind=\"comments\"", "kind='guard'");
    assert_eq!(at(&guarded, &one(&guarded, "lint/label-kind")), "guard");
}

#[test]
fn a_process_without_locations_is_reported_on_the_system_line() {
    let text = "process E() { }\nprocess P() { state A; init A; }\nsystem P, E;";
    let d = one(text, "lint/no-locations");
    assert_eq!(d.span.start as usize, text.rfind('E').unwrap());
    assert_eq!(
        model_of(text).1.network().unwrap_err()[0].code,
        "system/initial"
    );
    assert!(!codes(&text.replace(", E", "")).contains(&"lint/no-locations"));
    // A location list with syntax errors is a different case.
    let broken = text.replace("process E() { }", "process E() { state A B; init A; }");
    assert!(!codes(&broken).contains(&"lint/no-locations"));
}

#[test]
fn costs_are_recognised_and_queries_without_them_stay() {
    let text = "clock x; int n;\nvoid pay() { cost += 2; n = 1; }\nprocess P() { state A { x <= 5 && cost' == 3 }, B { cost' == n * 2 }; init A; trans A -> B { guard x >= 2; assign cost += 4, pay(); }; }\nsystem P;\n//@ query E<> P.B\n//@ query E<> P.B && cost <= 9\n//@ query inf: cost\n";
    let list = found(text);
    let bad: Vec<_> = list
        .iter()
        .filter(|d| d.severity < Severity::Info)
        .collect();
    assert!(bad.is_empty(), "{bad:#?}");
    let places: Vec<&str> = list
        .iter()
        .filter(|d| d.code == "unsupported/cost")
        .map(|d| at(text, d))
        .collect();
    assert_eq!(places, ["cost"; 6]);
    let (file, model) = model_of(text);
    let network = model.network().unwrap();
    assert!(network.unsupported.is_empty(), "{:?}", network.unsupported);
    // The rest of the invariant and of the update is still there.
    assert!(network.processes[0].locations[0].invariant.is_some());
    assert!(network.processes[0].locations[1].invariant.is_none());
    assert_eq!(network.processes[0].edges[0].updates.len(), 1);
    let answers: Vec<_> = file
        .queries()
        .iter()
        .map(|q| model.resolve_query(&network, q.query, q.base))
        .collect();
    assert!(answers[0].is_ok());
    for a in &answers[1..] {
        assert_eq!(a.as_ref().unwrap_err()[0].code, "unsupported/cost");
    }
    // A model that reads the cost is not answered.
    let read = text.replace("guard x >= 2;", "guard x >= 2 && cost < 7;");
    let network = model_of(&read).1.network().unwrap();
    let codes_of: Vec<_> = network.unsupported.iter().map(|u| u.code).collect();
    assert_eq!(codes_of, ["unsupported/cost"]);
    // A declared variable of that name is an ordinary variable.
    let own = text
        .replace("int n;", "int n; int cost;")
        .replace("cost' ==", "x' ==")
        .replace("x' == 3", "x' == 1");
    assert!(!codes(&own).contains(&"unsupported/cost"));
}

#[test]
fn detected_sets_give_no_warning_and_families_of_one_no_hint() {
    let text = |size: u32, query: &str| {
        format!(
            "int id; int w[{size}];\nprocess P(const int[0,{}] i) {{ state A, B; init A; trans A -> B {{ guard id == 7; assign id = i, w[i] = 1; }}; }}\nsystem P;\n//@ query {query}\n",
            size - 1
        )
    };
    assert!(
        !codes(&text(1, "E<> P(0).B"))
            .iter()
            .any(|c| c.starts_with("sym/"))
    );
    let d = one(&text(5, "E<> P(4).B"), "sym/query");
    assert_eq!(d.severity, Severity::Hint);
    // Up to three named elements are tried under all renamings, and the run reports it
    // (`symmetrised`).
    assert!(d.message.contains("under every renaming"), "{}", d.message);
    let d = one(&text(5, "A<> P(4).B"), "sym/query");
    assert!(
        d.message
            .contains("4 of its 5 elements are interchangeable"),
        "{}",
        d.message
    );
    let d = one(
        &text(
            5,
            "A[] forall (i : int[0,4]) forall (j : int[0,4]) i < j imply P(i).A",
        ),
        "sym/query",
    );
    assert!(d.message.contains("none of its elements"), "{}", d.message);
    for text in [text(5, "E<> P(4).B"), text(5, "sup: id")] {
        let yellow = found(&text)
            .into_iter()
            .filter(|d| d.severity <= Severity::Warning && !d.code.starts_with("lint/"));
        assert_eq!(yellow.map(|d| d.code).collect::<Vec<_>>(), [""; 0]);
    }
    // Naming an element that the model itself tells apart costs nothing.
    let single = text(5, "E<> P(0).B").replace("guard id == 7;", "guard i != 0;");
    assert!(
        !codes(&single).contains(&"sym/query"),
        "{:?}",
        found(&single)
    );
}

#[test]
fn an_error_at_an_initialiser_replaces_the_hint() {
    let declared = "typedef scalar[3] S; S x = 1;\nprocess P(const S i) { state A; init A; trans A -> A { assign x = i; }; }\nsystem P;";
    let list = codes(declared);
    assert!(
        list.contains(&"type/initialiser") && !list.contains(&"sym/initial"),
        "{list:?}"
    );
    let without = declared.replace(" = 1", "");
    assert!(codes(&without).contains(&"sym/initial"));
    // The hint for another variable remains.
    let second = declared.replace("S x = 1;", "S x = 1; S y;");
    assert!(codes(&second).contains(&"sym/initial"));
    let thesis = |init: &str| {
        format!(
            "scalarset pid[3]; int id := {init};\nprocess P(scalarset me) {{ state A; init A; trans A -> A {{ guard id == me; assign id := me; }}; }}\nProcs := P(pid);\nsystem Procs;"
        )
    };
    let list = codes(&thesis("1"));
    assert!(
        !(list.contains(&"sym/initial") && list.contains(&"sym/literal")),
        "{list:?}"
    );
    assert!(!codes(&thesis("-1")).contains(&"sym/initial"));
}

#[test]
fn the_message_about_broadcast_receivers_is_true() {
    let text = "clock x; broadcast chan c;\nprocess S() { state A; init A; trans A -> A { sync c!; }; }\nprocess R() { state A, B; init A; trans A -> B { guard x >= 3; sync c?; }; }\nsystem S, R;\n//@ query A[] not deadlock\n";
    let d = one(text, "lint/broadcast-clock-guard");
    assert_eq!(d.severity, Severity::Info);
    assert!(
        d.message.contains("Every query is answered here"),
        "{}",
        d.message
    );
    let (file, model) = model_of(text);
    let network = model.network().unwrap();
    let query = file.queries()[0];
    assert!(
        model
            .resolve_query(&network, query.query, query.base)
            .is_ok()
    );
}

#[test]
fn unsupported_edges_are_never_dropped_silently() {
    // An edge whose guard cannot be evaluated must not be dropped: `E<> P.B` would be refuted.
    for labels in [
        "guard ext(1) == 1;",
        "assign n = ext(1);",
        "guard get().p == 0;",
    ] {
        let text = format!(
            "typedef struct {{ int p; }} R; R r; R get() {{ return r; }}\nimport \"lib.so\" {{ int ext(int a); }};\nint n;\nprocess P() {{ state A, B; init A; trans A -> B {{ {labels} }}; }}\nsystem P;\n"
        );
        let model = model_of(&text).1;
        let told = model
            .diagnostics()
            .iter()
            .any(|d| d.code.starts_with("unsupported/"));
        assert!(told, "{:#?}", model.diagnostics());
        let network = model.network().unwrap();
        let list = &network.unsupported;
        assert!(
            list.iter()
                .any(|u| u.fatal && u.code == "unsupported/expression"),
            "{labels}: {list:?}"
        );
    }
}

#[test]
fn channels_chosen_by_a_condition_leave_queries_unanswered() {
    let text = |sync: &str| {
        format!(
            "chan a, b; bool c;\nprocess P() {{ state A, B; init A; trans A -> B {{ sync {sync}; }}, A -> B {{ sync a?; }}; }}\nsystem P;\n"
        )
    };
    let chosen = text("(c ? a : b)!");
    assert_eq!(
        at(&chosen, &one(&chosen, "unsupported/channel-choice")),
        "(c ? a : b)"
    );
    let network = model_of(&chosen).1.network().unwrap();
    assert!(
        network
            .unsupported
            .iter()
            .any(|u| u.fatal && u.code == "unsupported/channel-choice")
    );
    assert!(
        model_of(&text("a!"))
            .1
            .network()
            .unwrap()
            .unsupported
            .is_empty()
    );
}

/// The original reproductions, if they are available.
#[test]
#[allow(clippy::print_stdout)]
fn the_reproductions_are_clean() {
    let corpus = std::env::var_os("ZONELENS_CORPUS").map(std::path::PathBuf::from);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let corpus = corpus.unwrap_or_else(|| root.join("../shared/corpus"));
    let folder = corpus.join("../repros");
    if !folder.exists() {
        println!("skipped: no reproductions next to the corpus (set ZONELENS_CORPUS)");
        return;
    }
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    for name in ["meta_mix.xta", "meta_never.xta", "range.xta", "cost.xta"] {
        let (_, model) = model_of(&read(name));
        let errors = model
            .diagnostics()
            .iter()
            .filter(|d| d.severity == Severity::Error);
        assert_eq!(errors.count(), 0, "{name}: {:#?}", model.diagnostics());
        assert!(model.network().is_ok(), "{name}");
    }
    assert!(codes(&read("meta_carry.xta")).contains(&"lint/meta-carried"));
    assert!(!codes(&read("meta_pass.xta")).contains(&"lint/meta-carried"));
    assert!(codes(&read("cost.xta")).contains(&"unsupported/cost"));
    assert!(codes(&read("loc.xml")).contains(&"name/identifier"));
    assert!(
        !codes(&read("fam0.xta"))
            .iter()
            .any(|c| c.starts_with("sym/"))
    );
    let asked = format!("{}\n//@ query A[] P(1).a\n", read("fam.xta"));
    assert!(codes(&asked).contains(&"query/range"));
}
