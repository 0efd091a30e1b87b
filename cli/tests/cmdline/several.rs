//! Several models, folders, patterns and standard input for `verify`, and what people see of the
//! results.

use crate::cmdline::{Folder, MODEL};

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
    // In a folder, a model without queries is reported and skipped; a file that is not a model is
    // skipped without a message.
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
    // A folder without models is nothing to verify; one that is named and has no query is bad
    // usage, as ever.
    folder.write("empty/readme.txt", "");
    json(&["empty"]).is_refused(&["empty contains no model"]);
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
