//! The simulator through `executeCommand` alone.

use crate::server::client::{Client, fresh_directory};
use crate::server::workers;
use serde_json::{Value, json};

const URI: &str = "file:///tmp/zonelens-test/simulation.xta";
/// `early` fits a run that waits for less than 2 in `a` only, `late` one that waits for 2 or more:
/// after a wait the other one is possible with other delays.
const MODEL: &str = "\
chan go; clock y;
int n;
process P() {
    clock x;
    state a { x <= 5 }, b, done;
    init a;
    trans a -> b { guard x >= 1; assign n = n + 1, y = 0; },
          b -> done { guard x >= 4 && y <= 1; },
          b -> a { sync go?; assign x = 0; };
}
process Q() { state q; init q; trans q -> q { guard n > 100; sync go!; }; }
system P, Q;
//@ query E<> P.done
";

fn started(options: Value) -> (Client, Value) {
    let mut client = Client::start(None, options);
    client.open(URI, MODEL);
    let state = client.command("zonelens.simulation.start", json!({"uri": URI}));
    (client, state)
}

fn command(client: &mut Client, name: &str, argument: Value) -> Value {
    client.command(&format!("zonelens.simulation.{name}"), argument)
}

fn refused(client: &mut Client, name: &str, argument: Value) -> String {
    let params = json!({"command": format!("zonelens.simulation.{name}"), "arguments": [argument]});
    let answer = client.request("workspace/executeCommand", params);
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"]
        .as_str()
        .expect("text")
        .to_owned()
}

/// The state with its zone.
fn with_zone(client: &mut Client) -> Value {
    client.poll("the zone", |client| {
        let state = command(client, "state", json!({}));
        (!state["zone"].is_null()).then_some(state)
    })
}

fn message(state: &Value) -> &str {
    state["message"].as_str().unwrap_or("")
}

#[test]
fn a_walk_is_chosen_step_by_step() {
    let (mut client, state) = started(json!({"inlayHints": false}));
    assert_eq!(state["step"], 0);
    assert_eq!(state["stale"], false);
    assert_eq!(state["version"], 1);
    assert_eq!(state["model"], URI);
    let first = &state["possible"][0];
    assert_eq!(first["window"], "[1, 5]");
    let edge = &first["transition"]["edges"][0];
    assert_eq!((&edge["from"], &edge["to"]), (&json!("a"), &json!("b")));
    assert_eq!(
        (&edge["edge"], &edge["range"]["start"]["line"]),
        (&json!(0), &json!(6))
    );
    assert_eq!(state["wait"]["window"], "[0, 5]");

    // Time, as a fraction; too much of it is refused with the reason, and nothing changes.
    let state = command(&mut client, "delay", json!({"delay": "3/2"}));
    assert_eq!(
        (&state["waited"], &state["state"]["clocks"]["P.x"]),
        (&json!("3/2"), &json!("3/2"))
    );
    let state = command(&mut client, "delay", json!({"delay": 4}));
    assert_eq!(state["waited"], "3/2");
    assert!(message(&state).contains("[0, 7/2]"), "{state}");
    let state = command(&mut client, "back", json!({}));
    assert_eq!(state["waited"], "0");
    assert_eq!(state["message"], Value::Null);

    // As early as possible: then `done` is possible with other delays only.
    let revision = state["revision"].clone();
    let state = command(
        &mut client,
        "take",
        json!({"number": 0, "revision": revision}),
    );
    assert_eq!((&state["step"], &state["time"]), (&json!(1), &json!("1")));
    assert_eq!(state["state"]["variables"]["n"], 1);
    assert_eq!(state["previous"]["variables"]["n"], 0);
    let late = command(
        &mut client,
        "take",
        json!({"number": 0, "revision": revision}),
    );
    assert!(message(&late).contains("changed since"), "{late}");
    let state = with_zone(&mut client);
    assert_eq!(state["zone"]["kind"], "zone", "{state}");
    assert_eq!(state["possible"], json!([]));
    let other = &state["otherDelays"][0];
    assert_eq!(other["transition"]["edges"][0]["to"], "done", "{state}");
    assert_eq!(other["reason"]["range"]["start"]["line"], 7);
    let blocked = state["blocked"].as_array().expect("a list");
    let kinds: Vec<&str> = blocked
        .iter()
        .filter_map(|b| b["reason"]["kind"].as_str())
        .collect();
    assert!(
        kinds.contains(&"guard") || kinds.contains(&"no-partner"),
        "{state}"
    );

    // The worker's delays, replayed: the first step waits longer now.
    let state = command(&mut client, "take", json!({"number": other["number"]}));
    assert_eq!(state["step"], 2, "{state}");
    assert_eq!(state["state"]["locations"]["P"], "done");
    assert!(message(&state).contains("step 1"), "{state}");
    let delay = state["walk"][0]["delay"].as_str().expect("text");
    assert_ne!(delay, "1");

    // The walk is the open trace: hints, chart, values, export.
    let everything =
        json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let params = json!({"textDocument": {"uri": URI}, "range": everything});
    let hints = client.result("textDocument/inlayHint", params);
    assert!(hints.to_string().contains('②'), "{hints}");
    let chart = client.result("zonelens/chart", json!({}));
    assert_eq!(chart["steps"].as_array().map(Vec::len), Some(3));
    assert_eq!(chart["step"], 2);
    let value = client.command("zonelens.trace.evaluate", json!({"expression": "P.done"}));
    assert_eq!(value["value"], "true");
    let exported = client.command("zonelens.trace.export", json!({}));
    assert_eq!(exported["json"]["steps"].as_array().map(Vec::len), Some(3));
    let status = client.result("zonelens/serverStatus", json!({}));
    assert_eq!(status["trace"]["simulation"], true);

    // Back and forward, by both families of commands.
    assert_eq!(command(&mut client, "back", json!({}))["step"], 1);
    let state = command(&mut client, "back", json!({}));
    assert_eq!((&state["step"], &state["length"]), (&json!(0), &json!(2)));
    let state = command(&mut client, "back", json!({}));
    assert!(message(&state).contains("initial"), "{state}");
    assert_eq!(command(&mut client, "forward", json!({}))["step"], 1);
    assert_eq!(command(&mut client, "goto", json!({"step": 2}))["step"], 2);
    assert_eq!(
        client.command("zonelens.trace.previous", json!({}))["step"],
        1
    );
    let state = command(&mut client, "state", json!({}));
    assert_eq!((&state["step"], &state["length"]), (&json!(1), &json!(2)));
    let state = command(&mut client, "restart", json!({}));
    assert_eq!(state["length"], 0);

    // At random, by seed.
    let walk = |client: &mut Client| {
        command(client, "restart", json!({}));
        command(client, "random", json!({"steps": 50, "seed": 7}))
    };
    let one = walk(&mut client);
    assert!(one["length"].as_u64() >= Some(1), "{one}");
    assert!(!message(&one).is_empty(), "{one}");
    assert_eq!(walk(&mut client)["walk"], one["walk"]);
    command(&mut client, "restart", json!({}));
    let state = command(
        &mut client,
        "random",
        json!({"steps": 9, "until": "P.b && n == 1"}),
    );
    assert_eq!(state["state"]["locations"]["P"], "b");
    assert!(message(&state).contains("condition"), "{state}");
    command(&mut client, "restart", json!({}));
    let state = command(&mut client, "random", json!({"steps": 9, "time": "1/2"}));
    assert_eq!(state["time"], "1/2");

    assert_eq!(command(&mut client, "stop", json!({})), Value::Null);
    assert_eq!(
        refused(&mut client, "back", json!({})),
        "no simulation is open"
    );
    client.poll("the end of the worker", |c| {
        c.children().is_empty().then_some(())
    });
    client.finish();
}

#[test]
fn the_zone_arrives_by_itself_for_clients_that_ask_for_it() {
    let (mut client, state) = started(Value::Null);
    assert_eq!(state["zone"], Value::Null);
    let told = client.wait("the zone", |m| m["method"] == "zonelens/simulationChanged");
    assert_eq!(told["params"]["revision"], state["revision"]);
    assert_eq!(told["params"]["uri"], URI);
    assert_eq!(
        told["params"]["zone"]["pieces"][0]["text"],
        "P.x == y && y <= 5"
    );
    client.finish();
}

#[test]
fn a_walk_starts_from_a_step_of_a_trace_and_one_closes_the_other() {
    let mut client = Client::start(None, Value::Null);
    client.open(URI, MODEL);
    let query = json!({"uri": URI, "query": "E<> P.done", "step": 1});
    assert!(refused(&mut client, "start", query.clone()).contains("verify it first"));
    client.command("zonelens.verifyAll", json!({"uri": URI}));
    client.wait_states(URI, &["satisfied"]);
    client.command(
        "zonelens.trace.open",
        json!({"uri": URI, "query": "E<> P.done"}),
    );
    let state = command(&mut client, "start", query);
    assert_eq!((&state["step"], &state["length"]), (&json!(1), &json!(2)));
    assert_eq!(
        command(&mut client, "forward", json!({}))["state"]["locations"]["P"],
        "done"
    );
    client.wait("the trace is the walk", |m| {
        m["method"] == "zonelens/traceChanged" && m["params"]["simulation"] == true
    });
    let step = client.command(
        "zonelens.trace.open",
        json!({"uri": URI, "query": "E<> P.done"}),
    );
    assert_eq!(step["step"], 0);
    assert_eq!(
        refused(&mut client, "state", json!({})),
        "no simulation is open"
    );
    assert!(
        refused(
            &mut client,
            "start",
            json!({"uri": URI, "line": 0, "step": 77})
        )
        .contains("no step 77")
    );
    client.command("zonelens.simulation.start", json!({"uri": URI}));
    client.command("zonelens.trace.close", json!({}));
    assert_eq!(
        refused(&mut client, "state", json!({})),
        "no simulation is open"
    );
    client.finish();
}

#[test]
fn a_saved_walk_is_opened_and_replayed() {
    let (mut client, _) = started(json!({"inlayHints": false}));
    command(&mut client, "take", json!({"number": 0, "delay": 4}));
    let before = command(&mut client, "take", json!({"number": 0}));
    assert_eq!(before["state"]["locations"]["P"], "done", "{before}");
    let saved = client.command("zonelens.trace.export", json!({}))["json"].clone();
    command(&mut client, "stop", json!({}));

    let open = json!({"uri": URI, "walk": saved});
    let state = command(&mut client, "start", open.clone());
    assert_eq!((&state["step"], &state["length"]), (&json!(2), &json!(2)));
    assert_eq!(state["state"], before["state"]);
    assert_eq!(state["message"], Value::Null);
    let again = client.command("zonelens.trace.export", json!({}))["json"].clone();
    assert_eq!(again, saved, "what is saved again is the same");

    // In a model that does not follow: as far as it goes, and why not further.
    client.replace(URI, 2, &MODEL.replace("x >= 4", "x >= 9"));
    let state = command(&mut client, "start", open.clone());
    assert_eq!((&state["step"], &state["length"]), (&json!(1), &json!(1)));
    let said = message(&state);
    assert!(
        said.contains("saved walk ends before step 2") && said.contains("line 8"),
        "{said}"
    );
    // A file that claims a state that the model does not reach.
    client.replace(URI, 3, MODEL);
    let mut forged = open.clone();
    forged["walk"]["steps"][1]["state"]["variables"]["n"] = json!(7);
    let state = command(&mut client, "start", forged);
    assert_eq!(state["step"], 0);
    assert!(message(&state).contains("n would be 1"), "{state}");
    for walk in [json!(3), json!({}), json!({"steps": []}), json!([[]])] {
        let said = refused(&mut client, "start", json!({"uri": URI, "walk": walk}));
        assert!(said.contains("saved walk"), "{said}");
    }
    let none = json!({"kind": "path", "cycle_start": null, "steps": []});
    let said = refused(&mut client, "start", json!({"uri": URI, "walk": none}));
    assert!(said.contains("no state"), "{said}");
    client.finish();
}

#[test]
fn the_simulator_goes_on_when_its_worker_is_killed() {
    let (mut client, _) = started(Value::Null);
    with_zone(&mut client);
    let children = client.children();
    assert_eq!(children.len(), 1, "{children:?}");
    let killed = std::process::Command::new("kill")
        .args(["-9", &children[0].to_string()])
        .status();
    assert!(killed.expect("kill runs").success());
    let state = command(&mut client, "take", json!({"number": 0}));
    assert_eq!(state["step"], 1);
    let state = with_zone(&mut client);
    assert_eq!(state["zone"]["kind"], "none", "{state}");
    assert_eq!(state["otherDelays"], json!([]));
    assert_eq!(command(&mut client, "back", json!({}))["step"], 0);
    // Another worker, on request.
    command(&mut client, "restart", json!({}));
    assert_eq!(with_zone(&mut client)["zone"]["kind"], "zone");
    client.finish();
}

#[test]
fn workers_that_cannot_run_or_answer_nonsense_leave_the_run() {
    let missing = fresh_directory().join("missing");
    let scripts = [
        (missing, "could not be started"),
        (workers::script("exit 3"), "ended without an answer"),
        (
            workers::script("while read -r q; do echo nonsense; done"),
            "not an answer",
        ),
        (workers::answering("satisfied"), "another question"),
    ];
    for (worker, reason) in scripts {
        let mut client = Client::start(Some(&worker), Value::Null);
        client.open(URI, MODEL);
        command(&mut client, "start", json!({"uri": URI}));
        let state = with_zone(&mut client);
        assert_eq!(state["zone"]["kind"], "none", "{state}");
        let said = state["zone"]["reason"].as_str().expect("text");
        assert!(said.contains(reason), "{said}");
        let state = command(&mut client, "take", json!({"number": 0}));
        assert_eq!(state["step"], 1);
        client.finish();
    }
    // One that says nothing holds up nothing, and leaves with the client.
    let mut client = Client::start(Some(&workers::hanging()), Value::Null);
    client.open(URI, MODEL);
    command(&mut client, "start", json!({"uri": URI}));
    for _ in 0..20 {
        assert_eq!(
            command(&mut client, "take", json!({"number": 0}))["step"],
            1
        );
        assert_eq!(command(&mut client, "back", json!({}))["zone"], Value::Null);
    }
    let left = client.children();
    assert_eq!(left.len(), 1);
    client.finish();
    let gone = |pid: &u32| !std::path::Path::new(&format!("/proc/{pid}/exe")).exists();
    assert!(left.iter().all(gone), "{left:?}");
}

#[test]
fn stopped_clocks_have_no_zone_and_a_run() {
    let mut client = Client::start(None, Value::Null);
    let model = "process P() { clock x; state a { x' == 0 }, b; init a; trans a -> b { guard x <= 3; }; } system P;\n";
    client.open(URI, model);
    let state = command(&mut client, "start", json!({"uri": URI}));
    assert_eq!(state["possible"].as_array().map(Vec::len), Some(1));
    let state = with_zone(&mut client);
    assert_eq!(state["zone"]["kind"], "none", "{state}");
    assert_eq!(
        command(&mut client, "take", json!({"number": 0}))["step"],
        1
    );
    client.finish();
}

#[test]
fn edits_keep_the_walk_as_far_as_it_is_possible() {
    let (mut client, _) = started(Value::Null);
    command(&mut client, "take", json!({"number": 0, "delay": 4}));
    let before = command(&mut client, "take", json!({"number": 0}));
    assert_eq!(
        (&before["step"], &before["time"]),
        (&json!(2), &json!("4")),
        "{before}"
    );

    // A comment above: the same walk, in other lines, and no message.
    client.replace(URI, 2, &format!("// above\n{MODEL}"));
    let state = command(&mut client, "state", json!({}));
    assert_eq!(
        (&state["step"], &state["version"], &state["stale"]),
        (&json!(2), &json!(2), &json!(false))
    );
    assert_eq!(state["message"], Value::Null);
    assert_eq!(state["walk"][1]["delay"], before["walk"][1]["delay"]);
    assert_eq!(
        state["walk"][1]["transition"]["edges"][0]["range"]["start"]["line"],
        8
    );

    // Errors: it stays and says so; commands change nothing.
    client.replace(URI, 3, &MODEL.replace("state a", "state a, a"));
    let state = command(&mut client, "back", json!({}));
    assert_eq!((&state["step"], &state["stale"]), (&json!(2), &json!(true)));
    assert!(message(&state).contains("errors"), "{state}");
    assert_eq!(
        state["walk"][1]["transition"]["edges"][0]["range"],
        Value::Null
    );

    // Another meaning that allows the walk, told to clients that listen.
    client.unread.clear();
    client.replace(URI, 4, &MODEL.replace("x >= 4", "x >= 3"));
    let told = client.wait("the walk in the new text", |m| {
        m["method"] == "zonelens/simulationChanged" && m["params"]["version"] == 4
    });
    assert_eq!(told["params"]["step"], 2);
    let state = command(&mut client, "state", json!({}));
    assert_eq!(
        (&state["step"], &state["stale"]),
        (&json!(2), &json!(false))
    );
    assert!(message(&state).contains("still possible"), "{state}");

    // One that does not: it ends there, and the reason has its place.
    client.replace(URI, 5, &MODEL.replace("x >= 4", "x >= 9"));
    let state = command(&mut client, "state", json!({}));
    assert_eq!(
        (&state["step"], &state["length"]),
        (&json!(1), &json!(1)),
        "{state}"
    );
    let said = message(&state);
    assert!(
        said.contains("before step 2") && said.contains("line 8"),
        "{said}"
    );
    assert_eq!(with_zone(&mut client)["zone"]["kind"], "zone");

    // Without the process, nothing of it is left.
    client.replace(URI, 6, "process R() { state r; init r; } system R;\n");
    let state = command(&mut client, "state", json!({}));
    assert_eq!((&state["step"], &state["length"]), (&json!(0), &json!(0)));
    assert!(message(&state).contains("no process P"), "{state}");

    client.notify(
        "textDocument/didClose",
        json!({"textDocument": {"uri": URI}}),
    );
    client.wait("the end", |m| {
        m["method"] == "zonelens/traceChanged" && m["params"]["open"] == false
    });
    assert_eq!(
        refused(&mut client, "state", json!({})),
        "no simulation is open"
    );
    client.finish();
}

#[test]
fn hostile_arguments_are_answered_with_a_sentence() {
    let (mut client, _) = started(Value::Null);
    for (name, argument) in [
        ("start", json!({})),
        ("start", json!({"uri": "file:///nowhere.xta"})),
        ("take", json!({})),
        ("take", json!({"number": -1})),
        ("take", json!({"number": "0"})),
        ("take", json!({"number": 0, "delay": "-1"})),
        ("take", json!({"number": 0, "delay": {"a": 1}})),
        ("delay", json!({})),
        ("delay", json!({"delay": "1/0"})),
        ("delay", json!({"delay": "99999999999999999999"})),
        ("delay", json!({"delay": 1e300})),
        ("delay", json!({"delay": "1/2000000000000"})),
        ("goto", json!({"step": -3})),
        ("goto", json!({})),
        ("random", json!({"steps": 0})),
        ("random", json!({"steps": 1_000_000_000})),
        ("random", json!({"until": "P.nothing"})),
        ("random", json!({"until": "A[] ("})),
        ("random", json!({"time": [1]})),
    ] {
        let said = refused(&mut client, name, argument.clone());
        assert!(!said.is_empty(), "{name} {argument}");
    }
    for (name, argument) in [
        ("take", json!({"number": u64::MAX})),
        ("take", json!({"number": 0, "delay": "9000000000000000000"})),
        ("delay", json!({"delay": "9000000000000000000"})),
        ("goto", json!({"step": u64::MAX})),
        ("take", json!({"number": 0, "revision": 77})),
    ] {
        let state = command(&mut client, name, argument.clone());
        assert_eq!(state["step"], 0, "{name} {argument}");
        assert!(!message(&state).is_empty(), "{name} {argument}");
    }
    // A model with errors, and none at all.
    client.open("file:///tmp/zonelens-test/bad.xta", "process P( {");
    let said = refused(
        &mut client,
        "start",
        json!({"uri": "file:///tmp/zonelens-test/bad.xta"}),
    );
    assert!(said.contains("errors"), "{said}");
    // The simulation before is still there.
    assert_eq!(command(&mut client, "state", json!({}))["step"], 0);
    client.finish();
}

#[test]
fn a_walk_has_an_end_and_keys_are_not_lost() {
    let uri = "file:///tmp/zonelens-test/endless.xta";
    let mut client = Client::start(None, Value::Null);
    client.open(uri, "int[0, 9] n; process P() { state s; init s; trans s -> s { assign n = (n + 1) % 10; }; } system P;\n");
    client.command("zonelens.simulation.start", json!({"uri": uri}));
    // Keys pressed faster than the server answers.
    let asked: Vec<u64> = (0..30)
        .map(|k| {
            let name = if k % 3 == 2 { "back" } else { "random" };
            let params =
                json!({"command": format!("zonelens.simulation.{name}"), "arguments": [{}]});
            client.post("workspace/executeCommand", params)
        })
        .collect();
    let steps = asked
        .into_iter()
        .map(|id| client.answer(id)["result"]["step"].as_u64());
    assert_eq!(steps.last(), Some(Some(10)));
    let state = client.poll("a full walk", |client| {
        let state = command(client, "random", json!({"steps": 10_000}));
        (state["step"] == 10_000).then_some(state)
    });
    assert_eq!(state["length"], 10_000);
    for (name, argument) in [("take", json!({"number": 0})), ("random", json!({}))] {
        let state = command(&mut client, name, argument);
        assert_eq!(state["length"], 10_000);
        assert!(
            message(&state).contains("at most 10000"),
            "{:?}",
            state["message"]
        );
    }
    assert_eq!(command(&mut client, "goto", json!({"step": 5}))["step"], 5);
    client.finish();
}
