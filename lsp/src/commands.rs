//! Commands the server runs, and their arguments.

use serde::Deserialize;
use serde_json::Value;

/// Runs one query: `{uri, query}` with the formula, or `{uri, line}` with its 0-based line.
pub const VERIFY: &str = "zonelens.verify";
/// Runs all queries of a document: `{uri}`.
pub const VERIFY_ALL: &str = "zonelens.verifyAll";
/// Stops runs: `{run}`, `{uri, query}`, `{uri}`, or all.
pub const CANCEL: &str = "zonelens.cancel";
/// Gives the states of a document's queries: `{uri}`.
pub const STATUS: &str = "zonelens.status";
/// Forgets all results.
pub const CLEAR: &str = "zonelens.clearResults";

/// All of them, for `executeCommandProvider`: Neovim runs a lens only if its command is listed.
pub const ALL: [&str; 5] = [VERIFY, VERIFY_ALL, CANCEL, STATUS, CLEAR];

/// The argument of every command; which fields count is said at the command.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub struct Argument {
    /// The document.
    pub uri: Option<String>,
    /// The formula.
    pub query: Option<String>,
    /// A 0-based line.
    pub line: Option<u32>,
    /// A run.
    pub run: Option<u64>,
}

impl Argument {
    /// Reads the first argument; none at all is as good as an empty one.
    pub fn read(arguments: &[Value]) -> Result<Argument, String> {
        match arguments.first() {
            None | Some(Value::Null) => Ok(Argument::default()),
            Some(value) => serde_json::from_value(value.clone())
                .map_err(|error| format!("the command's argument cannot be read: {error}")),
        }
    }
}
