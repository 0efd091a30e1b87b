//! Lenses neither vanish nor jump nor lie while the text is broken.

use crate::server::client::{Client, fresh_directory};
use crate::server::workers;
use serde_json::{Value, json};

const XTA: &str = "\
typedef int[0, 2] id_t;
process P(const id_t i) { state s, t; init s; trans s -> t { }; }
system P;
//@ query A[] P(0).s
//@ query E<> P(1).t
";
const XML: &str = "\
<nta>
<declaration>int n; // é</declaration>
<template><name>P</name><location id=\"a\"><name>s</name></location><init ref=\"a\"/></template>
<system>system P;</system>
<queries>
<query><formula>A[] P.s &amp;&amp; n &lt; 3</formula><comment/></query>
<query><formula>E&lt;&gt; P.s</formula><comment/></query>
</queries></nta>
";

fn verified(name: &str, text: &str) -> (Client, String) {
    let uri = format!("file://{}", fresh_directory().join(name).display());
    let mut client = Client::start(Some(&workers::answering("satisfied")), json!({}));
    client.open(&uri, text);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["satisfied", "satisfied"]);
    (client, uri)
}

/// The text below each lens, up to the end of its line, and the title of the lens.
fn lenses(client: &mut Client, uri: &str, text: &str) -> Vec<(String, String)> {
    let over = |lens: &Value| {
        let start = &lens["range"]["start"];
        let line = text.lines().nth(start["line"].as_u64()? as usize)?;
        let column = start["character"].as_u64()? as usize;
        let title = lens["command"]["title"].as_str()?.to_owned();
        Some((line.chars().skip(column).collect(), title))
    };
    let list = client.all_lenses(uri);
    list.iter().map(|l| over(l).expect("a place")).collect()
}

#[test]
fn lenses_stay_where_they_are_and_say_stale() {
    let in_xta = [
        ("typedef", "/* typedef"),
        ("typedef", "\n\n/*\ntypedef"),
        ("process P(", "process P( { {{{ ("),
        ("system P;", "system P; \"open"),
        ("system P;", "system"),
        ("E<> P(1).t", "E<> P(1).t /* "),
        ("state s, t;", "state ;;"),
    ];
    let in_xml = [
        ("<system>", "<system"),
        ("</declaration>", ""),
        ("<queries>", "<queries"),
        ("int n;", "int n; <!-- \n"),
        ("<nta>", "<nta><nta>"),
        ("<init ref=\"a\"/>", "<init ref=\"a/>"),
    ];
    let all = in_xta.iter().map(|edit| ("m.xta", XTA, edit));
    for (name, text, (from, to)) in all.chain(in_xml.iter().map(|edit| ("m.xml", XML, edit))) {
        let (mut client, uri) = verified(name, text);
        let before = lenses(&mut client, &uri, text);
        let broken = text.replacen(from, to, 1);
        client.replace(&uri, 2, &broken);
        let places = |list: &[(String, String)]| -> Vec<String> {
            let queries = list.iter().filter(|(_, title)| title.contains("satisfied"));
            let place = |(over, _): &(String, String)| over.split(" /*").next().map(str::to_owned);
            queries.filter_map(place).collect()
        };
        let during = lenses(&mut client, &uri, &broken);
        assert_eq!(places(&before), places(&during), "{broken}: {during:?}");
        assert_eq!(before.len(), during.len(), "{broken}: {during:?}");
        // A query that is wrong itself concerns no other.
        let first = match from.starts_with("E<>") {
            true => "satisfied",
            false => "satisfied (stale)",
        };
        assert_eq!(
            client.states(&uri),
            [first, "satisfied (stale)"],
            "{broken}"
        );
        client.replace(&uri, 3, text);
        assert_eq!(lenses(&mut client, &uri, text), before);
        client.finish();
    }
}

#[test]
fn a_query_that_is_deleted_takes_its_lens_along_even_from_broken_text() {
    let (mut client, uri) = verified("m.xta", XTA);
    let broken = XTA.replace("state s, t;", "state ;;");
    client.replace(&uri, 2, &broken);
    assert_eq!(client.states(&uri).len(), 2);
    client.replace(&uri, 3, &broken.replace("//@ query E<> P(1).t\n", ""));
    assert_eq!(client.states(&uri), ["satisfied (stale)"]);
    client.finish();
}

#[test]
fn running_a_query_of_broken_text_does_not_cost_its_verdict() {
    let mut client = Client::start(None, Value::Null);
    let uri = format!("file://{}", fresh_directory().join("m.xta").display());
    client.open(&uri, XTA);
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["violated", "satisfied"]);
    client.replace(&uri, 2, &format!("/* {XTA}"));
    client.command("zonelens.verifyAll", json!({"uri": uri}));
    client.wait_states(&uri, &["error", "error"]);
    client.replace(&uri, 3, XTA);
    assert_eq!(client.states(&uri), ["violated", "satisfied"]);
    client.finish();
}

/// Each state of a run is shown on the lens of its query, in their order: waiting, running,
/// cancelled; and at the end what came out. Progress ends with the name of the limit.
#[test]
fn the_states_of_a_run_are_shown_in_their_order() {
    let uri = "file:///tmp/zonelens-test/states.xta";
    let (worker, go) = workers::waiting("memory: 1 GB is used up");
    let mut client = Client::start(Some(&worker), json!({"parallelRuns": 1}));
    client.open(uri, XTA);
    client.diagnostics(uri, 1);
    let (first, second) = ("A[] P(0).s", "E<> P(1).t");
    let query = |text: &str| json!({"uri": uri, "query": text});
    let mut seen: Vec<String> = Vec::new();
    // Follows the lens of the second query until it says this.
    let mut until = |client: &mut Client, wanted: &str| {
        client.poll(wanted, |client| {
            let title = client.titles(uri).pop().expect("a lens");
            if seen.last() != Some(&title) {
                seen.push(title.clone());
            }
            (title == wanted).then_some(())
        });
    };
    let counts = "◌ 41\u{202f}200 states, 38k/s · cancel";
    until(&mut client, "▶ verify");
    client.command("zonelens.verify", query(first));
    client.command("zonelens.verify", query(second));
    until(&mut client, "◌ waiting · cancel");
    client.command("zonelens.cancel", query(first));
    until(&mut client, "◌ running · cancel");
    until(&mut client, counts);
    client.command("zonelens.cancel", query(second));
    until(&mut client, "⊘ cancelled · verify");
    let status = client.command("zonelens.status", json!({"uri": uri}));
    assert_eq!(status[1]["state"], "never", "{status}");
    assert_eq!(status[1]["cancelled"], true, "{status}");
    client.unread.clear();
    client.command("zonelens.verify", query(second));
    until(&mut client, counts);
    std::fs::write(&go, "").expect("written");
    until(&mut client, "? memory limit · retry");
    assert_eq!(
        seen,
        [
            "▶ verify",
            "◌ waiting · cancel",
            "◌ running · cancel",
            counts,
            "⊘ cancelled · verify",
            "◌ running · cancel",
            counts,
            "? memory limit · retry",
        ]
    );
    let end = client.wait("the end of progress", |m| {
        m["params"]["value"]["kind"] == "end"
    });
    assert_eq!(end["params"]["value"]["message"], "unknown: memory limit");
    // Another meaning: what was cancelled is forgotten.
    client.command("zonelens.clearResults", json!({}));
    client.finish();
}
