//! Why a query has no verdict or no trace.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Why the verdict is `unknown` or `error`, or why a verdict has no trace. Each variant holds a
/// sentence for the user.
///
/// In JSON, in worker messages and in the cache it is one string: a keyword, `: ` and the sentence.
/// Scripts rely on the keywords.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum Reason {
    /// The time limit was reached.
    Timeout(String),
    /// The memory limit was reached.
    Memory(String),
    /// The limit on stored states, or on the steps of a run, was reached.
    States(String),
    /// The run was stopped from outside.
    Cancelled(String),
    /// The model or the query uses a feature that is not supported.
    Unsupported(String),
    /// The state that was found may be unreachable.
    Approximate(String),
    /// Evaluation fails in a run of the model, or the model has errors.
    ModelError(String),
    /// The query has errors.
    QueryError(String),
    /// There is no proof for every size of a set, and no size that refutes the claim was found.
    Every(String),
    /// An internal error of the checker.
    Internal(String),
    /// A string without a keyword that this version knows, unchanged.
    Other(String),
}

impl Reason {
    /// The keyword of the JSON contract, empty for [`Reason::Other`], and the sentence.
    fn parts(&self) -> (&'static str, &str) {
        match self {
            Reason::Timeout(sentence) => ("timeout", sentence),
            Reason::Memory(sentence) => ("memory", sentence),
            Reason::States(sentence) => ("states", sentence),
            Reason::Cancelled(sentence) => ("cancelled", sentence),
            Reason::Unsupported(sentence) => ("unsupported", sentence),
            Reason::Approximate(sentence) => ("approximate", sentence),
            Reason::ModelError(sentence) => ("model-error", sentence),
            Reason::QueryError(sentence) => ("query-error", sentence),
            Reason::Every(sentence) => ("every", sentence),
            Reason::Internal(sentence) => ("internal", sentence),
            Reason::Other(text) => ("", text),
        }
    }

    /// The sentence without the keyword.
    pub fn sentence(&self) -> &str {
        self.parts().1
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            ("", text) => f.write_str(text),
            (keyword, sentence) => write!(f, "{keyword}: {sentence}"),
        }
    }
}

impl From<String> for Reason {
    fn from(text: String) -> Reason {
        let Some((keyword, sentence)) = text.split_once(": ") else {
            return Reason::Other(text);
        };
        let make: fn(String) -> Reason = match keyword {
            "timeout" => Reason::Timeout,
            "memory" => Reason::Memory,
            "states" => Reason::States,
            "cancelled" => Reason::Cancelled,
            "unsupported" => Reason::Unsupported,
            "approximate" => Reason::Approximate,
            "model-error" => Reason::ModelError,
            "query-error" => Reason::QueryError,
            "every" => Reason::Every,
            "internal" => Reason::Internal,
            _ => return Reason::Other(text),
        };
        make(sentence.to_owned())
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> String {
        reason.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Caches and scripts rely on the strings of earlier versions.
    #[test]
    fn json_is_the_string_it_always_was() {
        let limit = "the time limit was reached before the search ended".to_owned();
        let olds = [
            (
                "timeout: the time limit was reached before the search ended",
                Reason::Timeout(limit),
            ),
            ("memory: over", Reason::Memory("over".into())),
            ("states: over", Reason::States("over".into())),
            ("cancelled: stopped", Reason::Cancelled("stopped".into())),
            (
                "unsupported: line 1, column 2: `x`",
                Reason::Unsupported("line 1, column 2: `x`".into()),
            ),
            (
                "approximate: a, so b",
                Reason::Approximate("a, so b".into()),
            ),
            ("model-error: m: n", Reason::ModelError("m: n".into())),
            ("query-error: q", Reason::QueryError("q".into())),
            ("every: e", Reason::Every("e".into())),
            ("internal: i", Reason::Internal("i".into())),
            ("later-word: l", Reason::Other("later-word: l".into())),
            ("memory", Reason::Other("memory".into())),
            ("", Reason::Other(String::new())),
        ];
        for (old, reason) in olds {
            let json = serde_json::to_string(&reason).expect("a string");
            assert_eq!(json, serde_json::to_string(old).expect("a string"));
            let back: Reason = serde_json::from_str(&json).expect("a reason");
            assert_eq!(back, reason);
            assert_eq!(reason.to_string(), old);
        }
    }
}
