//! The command line without traps: several models, folders, patterns and standard input; repairs;
//! colours; what is left out of what people see and what is not.

mod several;
mod texts;

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
