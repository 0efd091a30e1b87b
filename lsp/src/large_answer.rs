//! Answers that would cost more to hand over than to compute.
//!
//! The protocol crate makes a tree of values of every answer before it writes it. For an outline of
//! twelve thousand entries that takes longer than all the rest. A large answer is therefore written
//! as JSON by its handler and kept here; the handler answers with an error that names it, and the
//! output puts the answer in the place of that error.

use serde::Deserialize;
use std::collections::HashMap;
use std::io::Write;
use std::sync::{Mutex, PoisonError};
use tower_lsp_server::jsonrpc::{Error, ErrorCode};

/// The code of errors that stand for answers. The client never sees it.
const CODE: i64 = -32_990;
/// How every answer begins that names a large one.
const MARK: &[u8] = br#"{"jsonrpc":"2.0","error":{"code":-32990,"#;
/// A longer body names no answer.
const MAX_BODY: usize = 1 << 12;
const HEADER: &[u8] = b"Content-Length: ";
const HEADER_END: &[u8] = b"\r\n\r\n";

/// Answers that were written and not sent yet.
#[derive(Default)]
pub(crate) struct LargeAnswers(Mutex<Kept>);

#[derive(Default)]
struct Kept {
    last: u64,
    answers: HashMap<u64, Vec<u8>>,
}

#[derive(Deserialize)]
struct Named {
    error: Number,
    id: serde_json::Value,
}

#[derive(Deserialize)]
struct Number {
    message: String,
}

impl LargeAnswers {
    /// Keeps an answer, which is JSON. The error stands for it: a handler must end with it at once,
    /// so that nothing is kept for a request that was cancelled.
    pub(crate) fn keep(&self, answer: Vec<u8>) -> Error {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let number = kept.last;
        kept.answers.insert(number, answer);
        Error {
            code: ErrorCode::ServerError(CODE),
            message: number.to_string().into(),
            data: None,
        }
    }

    /// The answer that a message stands for, and to which request.
    fn take(&self, body: &[u8]) -> Option<(Vec<u8>, String)> {
        if !body.starts_with(MARK) {
            return None;
        }
        let named: Named = serde_json::from_slice(body).ok()?;
        let number = named.error.message.parse().ok()?;
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some((kept.answers.remove(&number)?, named.id.to_string()))
    }
}

/// Writes messages, with large answers in their places.
pub(crate) struct Output<'a, W> {
    out: W,
    answers: &'a LargeAnswers,
    /// The beginning of a message that is not known yet.
    held: Vec<u8>,
    /// Bytes of the present message that only pass through.
    passing: usize,
}

impl<'a, W: Write> Output<'a, W> {
    /// Writes to `out`.
    pub(crate) fn new(out: W, answers: &'a LargeAnswers) -> Output<'a, W> {
        Output {
            out,
            answers,
            held: Vec::new(),
            passing: 0,
        }
    }

    /// Writes a part of the stream of messages.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        let mut rest = bytes;
        if !held.is_empty() {
            held.extend_from_slice(bytes);
            rest = &held;
        }
        while !rest.is_empty() {
            let count = match self.passing {
                0 => match self.message(rest)? {
                    Some(count) => count,
                    None => {
                        self.held = rest.to_vec();
                        break;
                    }
                },
                passing => {
                    let count = passing.min(rest.len());
                    self.out.write_all(&rest[..count])?;
                    self.passing -= count;
                    count
                }
            };
            rest = &rest[count..];
        }
        self.out.flush()
    }

    /// Writes the message that `held` begins with, as far as it is there; gives how much of it is
    /// dealt with, `None` if too little is there to know.
    fn message(&mut self, held: &[u8]) -> std::io::Result<Option<usize>> {
        let Some(end) = held.windows(HEADER_END.len()).position(|w| w == HEADER_END) else {
            return Ok(None);
        };
        let body = end + HEADER_END.len();
        let length = held[..end].strip_prefix(HEADER);
        let length = length.and_then(|n| std::str::from_utf8(n).ok()?.parse::<usize>().ok());
        match length {
            Some(length) if length <= MAX_BODY && held.len() < body + length => Ok(None),
            Some(length) if length <= MAX_BODY => {
                match self.answers.take(&held[body..body + length]) {
                    Some((answer, id)) => {
                        let start = r#"{"jsonrpc":"2.0","result":"#;
                        let end = format!(",\"id\":{id}}}");
                        let length = start.len() + answer.len() + end.len();
                        write!(self.out, "Content-Length: {length}\r\n\r\n{start}")?;
                        self.out.write_all(&answer)?;
                        self.out.write_all(end.as_bytes())?;
                    }
                    None => self.out.write_all(&held[..body + length])?,
                }
                Ok(Some(body + length))
            }
            length => {
                self.out.write_all(&held[..body])?;
                self.passing = length.unwrap_or(0);
                Ok(Some(body))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn an_answer_takes_the_place_of_what_names_it() {
        let long = format!("{{\"x\":\"{}\"}}", "y".repeat(2 * MAX_BODY));
        for step in [1, 7, 100, usize::MAX] {
            let answers = LargeAnswers::default();
            let error = answers.keep(b"[1,2,3]".to_vec());
            let response = tower_lsp_server::jsonrpc::Response::from_error(7.into(), error);
            let named = serde_json::to_string(&response).expect("JSON");
            assert!(named.as_bytes().starts_with(MARK), "{named}");
            let other = r#"{"jsonrpc":"2.0","error":{"code":-32990,"message":"99"},"id":1}"#;
            let all = [framed("{}"), framed(&named), framed(&long), framed(other)].concat();
            let mut written = Vec::new();
            let mut output = Output::new(&mut written, &answers);
            for part in all.as_bytes().chunks(step.min(all.len())) {
                output.write(part).expect("memory");
            }
            let answer = r#"{"jsonrpc":"2.0","result":[1,2,3],"id":7}"#;
            let wanted = [framed("{}"), framed(answer), framed(&long), framed(other)].concat();
            assert_eq!(String::from_utf8(written).expect("text"), wanted);
        }
    }
}
