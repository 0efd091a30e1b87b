//! A client that believes nothing: every message must be well-formed, expected and in order.

use crate::server::protocol;
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// Generous: the machine may be busy with other tests.
const PATIENCE: Duration = Duration::from_secs(90);

pub(super) struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    inbox: Receiver<Value>,
    /// Notifications not read yet.
    pub unread: VecDeque<Value>,
    answers: HashMap<u64, Value>,
    pending: HashMap<u64, String>,
    next: u64,
    progress: HashMap<String, &'static str>,
    versions: HashMap<String, i64>,
    opened: HashSet<String>,
    pub refreshes: usize,
    /// What the server said it can do.
    pub capabilities: Value,
    /// What the server registered.
    pub registered: Vec<Value>,
    /// Documents the server asked to show.
    pub shown: Vec<String>,
    /// The answer to `workspace/configuration`.
    pub settings: Value,
    /// How often the server asked to fetch diagnostics again.
    pub pulled_again: usize,
    leaving: bool,
}

impl Client {
    /// Starts the server with a worker of the test's choice and greets it.
    pub(super) fn start(worker: Option<&Path>, options: Value) -> Client {
        Client::start_with(worker, options, json!({}))
    }

    /// Starts the server with its results in `cache`.
    pub(super) fn start_in(cache: &Path) -> Client {
        Client::spawn_in(None, cache).greet(Value::Null, json!({}))
    }

    /// Starts the server with a worker of the test's choice and its results in `cache`.
    pub(super) fn start_with_cache(worker: &Path, cache: &Path) -> Client {
        Client::spawn_in(Some(worker), cache).greet(Value::Null, json!({}))
    }

    pub(super) fn start_with(worker: Option<&Path>, options: Value, general: Value) -> Client {
        Client::spawn(worker).greet(options, general)
    }

    fn greet(self, options: Value, general: Value) -> Client {
        let mut options = options;
        if !options.is_object() {
            options = json!({});
        }
        options["statusNotifications"] = json!(true);
        self.initialize(json!({
            "processId": null, "rootUri": null,
            "initializationOptions": options,
            "capabilities": {
                "general": general,
                "window": {"workDoneProgress": true},
                "workspace": {"codeLens": {"refreshSupport": true}, "inlayHint": {"refreshSupport": true}},
            },
        }))
    }

    /// Greets the server with parameters of the test's choice.
    pub(super) fn initialize(mut self, params: Value) -> Client {
        let answer = self.request("initialize", params);
        assert!(answer["result"]["capabilities"].is_object(), "{answer}");
        self.capabilities = answer["result"]["capabilities"].clone();
        self.notify("initialized", json!({}));
        self
    }

    /// Starts the server and sends nothing.
    pub(super) fn spawn(worker: Option<&Path>) -> Client {
        Client::spawn_in(worker, &fresh_directory())
    }

    fn spawn_in(worker: Option<&Path>, cache: &Path) -> Client {
        Client::spawn_logging(worker, cache, None)
    }

    /// Starts the server with more arguments and sends nothing.
    pub(super) fn spawn_with(arguments: &[&str]) -> Client {
        Client::spawn_command(None, &fresh_directory(), None, arguments)
    }

    /// Starts the server with a log and sends nothing.
    pub(super) fn spawn_logging(worker: Option<&Path>, cache: &Path, log: Option<&Path>) -> Client {
        Client::spawn_command(worker, cache, log, &[])
    }

    fn spawn_command(
        worker: Option<&Path>,
        cache: &Path,
        log: Option<&Path>,
        arguments: &[&str],
    ) -> Client {
        let mut command = Command::new(env!("CARGO_BIN_EXE_zonelens"));
        command.arg("lsp").args(arguments);
        if let Some(log) = log {
            command.arg("--log-file").arg(log);
        }
        if let Some(worker) = worker {
            command.arg("--worker").arg(worker);
        }
        command.env("ZONELENS_CACHE_DIR", cache);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .expect("the server starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("output");
        let (sender, inbox) = channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Some(message) = read_message(&mut stdout) {
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Client {
            child,
            stdin,
            inbox,
            unread: VecDeque::new(),
            answers: HashMap::new(),
            pending: HashMap::new(),
            next: 1,
            progress: HashMap::new(),
            versions: HashMap::new(),
            opened: HashSet::new(),
            refreshes: 0,
            capabilities: Value::Null,
            registered: Vec::new(),
            shown: Vec::new(),
            settings: Value::Null,
            pulled_again: 0,
            leaving: false,
        }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Writes bytes as they are.
    pub(super) fn send_raw(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("input is open");
        stdin.write_all(bytes).expect("the server reads");
        stdin.flush().expect("the server reads");
    }

    fn send(&mut self, message: &Value) {
        let body = message.to_string();
        let framed = format!("Content-Length: {}\r\n\r\n{body}", body.len());
        self.send_raw(framed.as_bytes());
    }

    pub(super) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and gives its id, for [`Client::answer`].
    pub(super) fn post(&mut self, method: &str, params: Value) -> u64 {
        let id = self.next;
        self.next += 1;
        self.pending.insert(id, method.to_owned());
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, id: u64) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return answer;
            }
            assert!(self.receive(deadline), "no answer to request {id}");
        }
    }

    /// How many answers have come that nobody took yet.
    pub(super) fn answered(&self) -> usize {
        self.answers.len()
    }

    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        self.answer(id)
    }

    /// The result of a request that must succeed.
    pub(super) fn result(&mut self, method: &str, params: Value) -> Value {
        let answer = self.request(method, params);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    pub(super) fn command(&mut self, command: &str, argument: Value) -> Value {
        self.result(
            "workspace/executeCommand",
            json!({"command": command, "arguments": [argument]}),
        )
    }

    /// Waits for a notification that `wanted` accepts; those before it are read too.
    pub(super) fn wait(&mut self, what: &str, mut wanted: impl FnMut(&Value) -> bool) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            while let Some(message) = self.unread.pop_front() {
                if wanted(&message) {
                    return message;
                }
            }
            assert!(self.receive(deadline), "timeout while waiting for {what}");
        }
    }

    /// The diagnostics published for a version of a document.
    pub(super) fn diagnostics(&mut self, uri: &str, version: i64) -> Vec<Value> {
        let message = self.wait("diagnostics", |m| {
            m["method"] == "textDocument/publishDiagnostics"
                && m["params"]["uri"] == uri
                && m["params"]["version"] == version
        });
        message["params"]["diagnostics"]
            .as_array()
            .expect("a list")
            .clone()
    }

    /// Asks for something until it is as wanted.
    pub(super) fn poll<T>(
        &mut self,
        what: &str,
        mut ask: impl FnMut(&mut Client) -> Option<T>,
    ) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = ask(self) {
                return found;
            }
            assert!(
                Instant::now() < deadline,
                "timeout while waiting for {what}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    pub(super) fn open(&mut self, uri: &str, text: &str) {
        self.open_version(uri, 1, text);
    }

    pub(super) fn open_version(&mut self, uri: &str, version: i64, text: &str) {
        self.opened.insert(uri.to_owned());
        self.notify(
            "textDocument/didOpen",
            json!({"textDocument": {"uri": uri, "languageId": "xta", "version": version, "text": text}}),
        );
    }

    /// Replaces the whole text.
    pub(super) fn replace(&mut self, uri: &str, version: i64, text: &str) {
        self.notify(
            "textDocument/didChange",
            json!({"textDocument": {"uri": uri, "version": version}, "contentChanges": [{"text": text}]}),
        );
    }

    /// Lenses that do something.
    pub(super) fn lenses(&mut self, uri: &str) -> Vec<Value> {
        let mut all = self.all_lenses(uri);
        all.retain(|l| l["command"]["command"] != "");
        all
    }

    pub(super) fn all_lenses(&mut self, uri: &str) -> Vec<Value> {
        let result = self.result(
            "textDocument/codeLens",
            json!({"textDocument": {"uri": uri}}),
        );
        result.as_array().expect("a list").clone()
    }

    pub(super) fn titles(&mut self, uri: &str) -> Vec<String> {
        let lenses = self.lenses(uri);
        let title = |l: &Value| l["command"]["title"].as_str().unwrap_or("").to_owned();
        lenses.iter().map(title).collect()
    }

    /// States of the queries of a document: `satisfied`, `running`, `violated (stale)` …
    pub(super) fn states(&mut self, uri: &str) -> Vec<String> {
        let status = self.command("zonelens.status", json!({"uri": uri}));
        let state = |q: &Value| {
            let stale = if q["stale"] == true { " (stale)" } else { "" };
            format!("{}{stale}", q["state"].as_str().unwrap_or("?"))
        };
        status
            .as_array()
            .expect("a list")
            .iter()
            .map(state)
            .collect()
    }

    pub(super) fn wait_states(&mut self, uri: &str, wanted: &[&str]) {
        let mut last = Vec::new();
        self.poll(&format!("states {wanted:?}"), |client| {
            last = client.states(uri);
            (last == wanted).then_some(())
        });
    }

    /// Takes one message; false when the deadline passes first.
    fn receive(&mut self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        match self.inbox.recv_timeout(left) {
            Ok(message) => {
                self.take(message);
                true
            }
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => panic!("the server is gone"),
        }
    }

    fn take(&mut self, message: Value) {
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        match (message.get("id"), message["method"].as_str()) {
            (Some(id), Some(method)) => self.serve(id.clone(), method.to_owned(), &message),
            (Some(id), None) => {
                let Some(id) = id.as_u64() else {
                    // The answer to something that was no request at all.
                    assert!(message.get("error").is_some(), "{message}");
                    self.unread.push_back(message);
                    return;
                };
                let Some(method) = self.pending.remove(&id) else {
                    panic!("an answer nobody waits for: {message}");
                };
                let both = message.get("result").is_some() && message.get("error").is_some();
                assert!(!both, "{message}");
                match message.get("error") {
                    None => protocol::check_result(&method, &message["result"]),
                    Some(error) => {
                        assert!(
                            error["code"].is_i64() && error["message"].is_string(),
                            "{message}"
                        );
                    }
                }
                self.answers.insert(id, message);
            }
            (None, Some(method)) => {
                self.check_notification(method, &message);
                self.unread.push_back(message);
            }
            (None, None) => panic!("neither request nor answer: {message}"),
        }
    }

    fn serve(&mut self, id: Value, method: String, message: &Value) {
        protocol::check_request(&method, &message["params"]);
        match method.as_str() {
            "window/workDoneProgress/create" => {
                let token = message["params"]["token"].as_str().expect("a string token");
                let before = self.progress.insert(token.to_owned(), "created");
                assert_eq!(before, None, "token {token} is used twice");
            }
            "workspace/codeLens/refresh" => self.refreshes += 1,
            "workspace/inlayHint/refresh" => {}
            "client/registerCapability" => {
                let list = message["params"]["registrations"].as_array();
                self.registered
                    .extend(list.expect("a list").iter().cloned());
            }
            "window/showDocument" => {
                let uri = message["params"]["uri"].as_str().expect("a uri");
                self.shown.push(uri.to_owned());
                self.send(&json!({"jsonrpc": "2.0", "id": id, "result": {"success": true}}));
                return;
            }
            "workspace/configuration" => {
                let settings = self.settings.clone();
                self.send(&json!({"jsonrpc": "2.0", "id": id, "result": [settings]}));
                return;
            }
            "workspace/diagnostic/refresh" => self.pulled_again += 1,
            other => panic!("unexpected request {other}: {message}"),
        }
        if !self.leaving {
            self.send(&json!({"jsonrpc": "2.0", "id": id, "result": null}));
        }
    }

    fn check_notification(&mut self, method: &str, message: &Value) {
        let params = &message["params"];
        protocol::check_notification(method, params);
        match method {
            "textDocument/publishDiagnostics" => {
                let uri = params["uri"].as_str().expect("a uri").to_owned();
                if let Some(version) = params["version"].as_i64() {
                    // A document that is opened again starts over; what was said before may still
                    // arrive.
                    let starts_over = version == 1 && self.opened.remove(&uri);
                    let last = self.versions.insert(uri, version).unwrap_or(version);
                    assert!(
                        starts_over || last <= version,
                        "diagnostics of version {version} after {last}"
                    );
                } else {
                    self.versions.remove(&uri);
                }
            }
            "$/progress" => {
                let token = params["token"].as_str().expect("a string token").to_owned();
                let before = self.progress.get(&token).copied();
                let now = match params["value"]["kind"].as_str() {
                    Some("begin") => ("created", "begun"),
                    Some("report") => ("begun", "begun"),
                    Some("end") => ("begun", "ended"),
                    other => panic!("progress of kind {other:?}"),
                };
                assert_eq!(before, Some(now.0), "{message}");
                self.progress.insert(token, now.1);
            }
            "zonelens/status" => assert!(params["running"].is_u64(), "{message}"),
            "zonelens/traceChanged" => assert!(params["open"].is_boolean(), "{message}"),
            "zonelens/simulationChanged" => {
                assert!(params["revision"].is_u64(), "{message}");
            }
            "window/showMessage" => {}
            other => panic!("unexpected notification {other}: {message}"),
        }
    }

    /// Says goodbye; the server must leave with status 0 and nothing unanswered.
    pub(super) fn finish(mut self) {
        self.nothing_unread();
        let answer = self.request("shutdown", Value::Null);
        assert!(answer.get("error").is_none(), "{answer}");
        self.notify("exit", Value::Null);
        self.leaving = true;
        let status = self.status();
        while let Ok(message) = self.inbox.recv_timeout(Duration::from_millis(200)) {
            self.take(message);
        }
        assert_eq!(status, Some(0), "the server did not leave as it should");
        assert!(self.pending.is_empty(), "unanswered: {:?}", self.pending);
    }

    /// Notifications about a state may be skipped, because the next one replaces them. Answers and
    /// messages to the user must be read: a test that does not expect them has missed them.
    fn nothing_unread(&self) {
        assert!(self.answers.is_empty(), "unread: {:?}", self.answers);
        let replaced = [
            "textDocument/publishDiagnostics",
            "$/progress",
            "zonelens/status",
            "zonelens/traceChanged",
            "zonelens/simulationChanged",
        ];
        let passed = |m: &&Value| m["method"].as_str().is_some_and(|m| replaced.contains(&m));
        let unread: Vec<&Value> = self.unread.iter().filter(|m| !passed(m)).collect();
        assert!(unread.is_empty(), "unread: {unread:?}");
    }

    /// Says nothing more; gives the status the server leaves with.
    pub(super) fn hang_up(mut self) -> Option<i32> {
        self.stdin = None;
        self.status()
    }

    /// Says nothing more.
    pub(super) fn close_input(&mut self) {
        self.stdin = None;
    }

    /// The status the server leaves with by itself.
    pub(super) fn status(&mut self) -> Option<i32> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().expect("a status") {
                return status.code();
            }
            assert!(Instant::now() < deadline, "the server does not leave");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends the server the hard way.
    pub(super) fn kill(mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
    }

    /// Processes whose parent is the server.
    pub(super) fn children(&self) -> Vec<u32> {
        children_of(self.pid())
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Living processes whose parent is `parent`.
pub(super) fn children_of(parent: u32) -> Vec<u32> {
    let mut out = Vec::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|n| n.parse().ok()) else {
            continue;
        };
        let Ok(stat) = std::fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        // After the name in parentheses: state, parent.
        let mut fields = stat.rsplit(')').next().unwrap_or("").split_whitespace();
        let state = fields.next();
        if fields.next() == Some(&parent.to_string()) && state != Some("Z") {
            out.push(pid);
        }
    }
    out
}

/// An empty directory of this test's own.
pub(super) fn fresh_directory() -> PathBuf {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let path = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join(format!("server-{}-{number}", std::process::id()));
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

fn read_message(stdout: &mut impl BufRead) -> Option<Value> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stdout.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line
            .strip_suffix("\r\n")
            .expect("a header line ends with CR LF");
        if line.is_empty() {
            break;
        }
        let (name, value) = line
            .split_once(": ")
            .expect("nothing but messages on standard output");
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse::<usize>().ok();
        }
    }
    let mut body = vec![0; length.expect("a length")];
    stdout.read_exact(&mut body).ok()?;
    Some(serde_json::from_slice(&body).expect("JSON"))
}
