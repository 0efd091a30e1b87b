//! Workers of all kinds, as shell scripts.

use crate::server::client::fresh_directory;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const RESULT: &str = r#"{"type":"result","query":"q","line":1,"verdict":"VERDICT","reason":null,"expected":null,"value":null,"symmetrised":false,"statistics":{"stored":7,"explored":7,"transitions":9,"seconds":0.01,"peak_memory_bytes":1000},"symmetry":{"scalarsets":[],"canonical":true,"excluded":[]},"reductions":[],"trace":null}"#;
const PROGRESS: &str = r#"{"type":"progress","stored":41200,"explored":40000,"waiting":3,"states_per_second":38000,"memory_bytes":1000,"seconds":0.5}"#;

/// Writes a worker that reads its request and then does `body`.
pub(super) fn script(body: &str) -> PathBuf {
    let path = fresh_directory().join("worker.sh");
    let text = format!("#!/bin/sh\nread -r request\n{body}\n");
    std::fs::write(&path, text).expect("written");
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("executable");
    path
}

/// Answers at once.
pub(super) fn answering(verdict: &str) -> PathBuf {
    script(&format!("echo '{}'", RESULT.replace("VERDICT", verdict)))
}

/// Answers at once that there is no answer.
pub(super) fn unknown(reason: &str) -> PathBuf {
    let result = RESULT.replace("VERDICT", "unknown");
    let result = result.replace(r#""reason":null"#, &format!(r#""reason":"{reason}""#));
    script(&format!("echo '{result}'"))
}

/// Answers at once that the set `pid` was not reduced over, for a reason at `line` of the model.
pub(super) fn excluding(line: u32) -> PathBuf {
    let set = format!(
        r#""excluded":[{{"name":"pid","rule":"sym/loop-order","line":{line},"column":3}}]"#
    );
    let result = RESULT.replace("VERDICT", "satisfied");
    script(&format!(
        "echo '{}'",
        result.replace(r#""excluded":[]"#, &set)
    ))
}

/// Reports progress until its input closes.
pub(super) fn busy() -> PathBuf {
    script(&format!(
        "while :; do echo '{PROGRESS}'; sleep 0.05; done &\ncat >/dev/null\nkill $!"
    ))
}

/// Says nothing and ignores that its input closes.
pub(super) fn hanging() -> PathBuf {
    script("exec sleep 1000")
}

/// Counts how often it is started, in the file it gives, and then is busy.
pub(super) fn counting() -> (PathBuf, PathBuf) {
    let count = fresh_directory().join("count");
    let body = format!(
        "echo x >> '{}'\nwhile :; do echo '{PROGRESS}'; sleep 0.05; done &\ncat >/dev/null\nkill $!",
        count.display()
    );
    (script(&body), count)
}

/// Answers at once, and writes the request of each run as a line of the file it gives.
pub(super) fn recording(verdict: &str) -> (PathBuf, PathBuf) {
    let requests = fresh_directory().join("requests");
    let body = format!(
        "printf '%s\\n' \"$request\" >> '{}'\necho '{}'",
        requests.display(),
        RESULT.replace("VERDICT", verdict)
    );
    (script(&body), requests)
}

/// Reports progress until the file that it gives exists, then answers that a limit was reached.
pub(super) fn waiting(reason: &str) -> (PathBuf, PathBuf) {
    let go = fresh_directory().join("go");
    let result = RESULT.replace("VERDICT", "unknown");
    let result = result.replace(r#""reason":null"#, &format!(r#""reason":"{reason}""#));
    let body = format!(
        "sleep 0.3\nwhile [ ! -e '{}' ]; do echo '{PROGRESS}'; sleep 0.05; done\necho '{result}'",
        go.display()
    );
    (script(&body), go)
}
