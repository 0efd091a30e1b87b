//! Guards the server's input: only well-formed messages pass.
//!
//! The protocol crate ends the server at the first message it cannot read. Here such a message
//! becomes a request that is answered with the parse error the specification asks for, and reading
//! goes on at the next header.

use crate::leave::Leave;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream,
};
use tower_lsp_server::jsonrpc::{Request, Response};

/// The method that stands for a message that cannot be read.
pub(crate) const MALFORMED: &str = "zonelens/malformedMessage";

/// The method that stands for a request under `$/`.
pub(crate) const UNKNOWN: &str = "zonelens/unknownRequest";

const HEADER: &[u8] = b"content-length:";
/// After this notification nothing of the greeting follows.
const INITIALIZED: &[u8] = b"\"initialized\"";
const PIPE_BYTES: usize = 1 << 16;
/// Messages that are read before the ones in front of them are taken.
const MAX_AHEAD: usize = 4096;
const MAX_EXIT_BYTES: usize = 1000;
/// How methods start that a server need not know.
const OPTIONAL: &[u8] = b"\"$/";
/// A longer message is no request of that kind.
const MAX_OPTIONAL_BYTES: usize = 1 << 16;
/// A message longer than this is a mistake in its header.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// What the client says that the protocol crate has no place for.
#[derive(Default)]
pub(crate) struct ClientHints {
    document_content: AtomicBool,
    goodbye: AtomicBool,
}

impl ClientHints {
    /// Whether the client fetches texts by `workspace/textDocumentContent` once that is registered.
    pub(crate) fn document_content(&self) -> bool {
        self.document_content.load(Ordering::Relaxed)
    }

    /// The client asked to shut down: it may leave now.
    pub(crate) fn goodbye(&self) {
        self.goodbye.store(true, Ordering::Relaxed);
    }

    /// Whether the client left as it should.
    pub(crate) fn said_goodbye(&self) -> bool {
        self.goodbye.load(Ordering::Relaxed)
    }

    fn listen(&self, body: &[u8]) {
        let greets = serde_json::from_slice::<Request>(body)
            .ok()
            .filter(|r| r.method() == "initialize");
        let path = "/capabilities/workspace/textDocumentContent/dynamicRegistration";
        let can = greets.and_then(|r| r.params()?.pointer(path)?.as_bool());
        if can == Some(true) {
            self.document_content.store(true, Ordering::Relaxed);
        }
    }
}

/// Passes on the well-formed messages of `input`. Must be called inside a runtime.
pub(crate) fn guarded(
    input: impl AsyncRead + Unpin + Send + 'static,
    hints: Arc<ClientHints>,
    leave: Arc<Leave>,
) -> DuplexStream {
    let (mut inside, outside) = tokio::io::duplex(PIPE_BYTES);
    // Messages are read ahead: `exit` counts also while the ones before it wait for something slow.
    let (ahead, mut waiting) = tokio::sync::mpsc::channel::<Vec<u8>>(MAX_AHEAD);
    tokio::spawn(async move {
        let mut input = BufReader::with_capacity(PIPE_BYTES, input);
        let mut greeted = false;
        while let Some(message) = next(&mut input).await {
            let body = message.unwrap_or_else(|Malformed| malformed());
            let body = unknown_request(&body).unwrap_or(body);
            if !greeted {
                hints.listen(&body);
                greeted = body.windows(INITIALIZED.len()).any(|w| w == INITIALIZED);
            }
            if is_exit(&body) {
                leave.soon("asked to");
            }
            if ahead.send(body).await.is_err() {
                break;
            }
        }
    });
    tokio::spawn(async move {
        while let Some(body) = waiting.recv().await {
            let header = format!("Content-Length: {}\r\n\r\n", body.len());
            let sent = async {
                inside.write_all(header.as_bytes()).await?;
                inside.write_all(&body).await
            };
            if sent.await.is_err() {
                break;
            }
        }
    });
    outside
}

/// The notification that ends the server; it has no parameters, so it is short.
fn is_exit(body: &[u8]) -> bool {
    body.len() < MAX_EXIT_BYTES
        && serde_json::from_slice::<Request>(body).is_ok_and(|r| r.method() == "exit")
}

/// The protocol crate drops everything under `$/` that it does not know. A notification may be, but
/// who sends a request waits for its answer: it becomes a request that is answered with the error
/// the specification asks for.
fn unknown_request(body: &[u8]) -> Option<Vec<u8>> {
    if body.len() > MAX_OPTIONAL_BYTES || !body.windows(OPTIONAL.len()).any(|w| w == OPTIONAL) {
        return None;
    }
    let request: Request = serde_json::from_slice(body).ok()?;
    let id = request.id()?;
    request.method().starts_with("$/").then(|| {
        let body = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": UNKNOWN});
        body.to_string().into_bytes()
    })
}

struct Malformed;

fn malformed() -> Vec<u8> {
    format!(r#"{{"jsonrpc":"2.0","id":null,"method":"{MALFORMED}"}}"#).into_bytes()
}

/// The next message; `None` at the end of the input.
async fn next(input: &mut (impl AsyncBufRead + Unpin)) -> Option<Result<Vec<u8>, Malformed>> {
    skip_to_header(input).await?;
    let mut length = Vec::new();
    input.read_until(b'\n', &mut length).await.ok()?;
    let length = std::str::from_utf8(&length)
        .ok()
        .and_then(|text| text.trim().parse::<usize>().ok())
        .filter(|length| *length <= MAX_MESSAGE_BYTES);
    let Some(length) = length else {
        return Some(Err(Malformed));
    };
    loop {
        let mut line = Vec::new();
        if input.read_until(b'\n', &mut line).await.ok()? == 0 {
            return None;
        }
        if line == b"\r\n" || line == b"\n" {
            break;
        }
    }
    let mut body = Vec::new();
    let read = input.take(length as u64).read_to_end(&mut body).await;
    if read.ok()? < length {
        return None;
    }
    if is_known(&body) {
        return Some(Ok(body));
    }
    let mended = without_halves(&body);
    Some(if is_known(&mended) {
        Ok(mended)
    } else {
        Err(Malformed)
    })
}

fn is_known(body: &[u8]) -> bool {
    serde_json::from_slice::<Request>(body).is_ok_and(|r| !r.method().is_empty())
        || serde_json::from_slice::<Response>(body).is_ok()
}

/// Replaces halves of surrogate pairs, which some editors allow in a text and escape in messages.
/// What stands for them counts as one unit of UTF-16 as they do: without the edit, or with it
/// elsewhere, both texts would differ for good.
fn without_halves(body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(&byte) = rest.first() {
        let length = match (byte, escaped(rest)) {
            (_, Some(0xd800..0xdc00)) => match rest.get(6..).and_then(escaped) {
                Some(0xdc00..0xe000) => 12,
                _ => 0,
            },
            (_, Some(0xdc00..0xe000)) => 0,
            (_, Some(_)) => 6,
            // What follows a backslash starts nothing itself.
            (b'\\', None) => 2,
            _ => 1,
        };
        let half = length == 0;
        let (taken, left) = rest.split_at(if half { 6 } else { length.min(rest.len()) });
        out.extend_from_slice(if half { br"\ufffd" } else { taken });
        rest = left;
    }
    out
}

/// The number of the escape `\uXXXX` that `bytes` start with.
fn escaped(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(br"\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

/// Reads up to and including the next header's name, whatever stands before it.
async fn skip_to_header(input: &mut (impl AsyncBufRead + Unpin)) -> Option<()> {
    let mut matched = 0;
    loop {
        let bytes = input.fill_buf().await.ok()?;
        if bytes.is_empty() {
            return None;
        }
        let mut used = 0;
        for byte in bytes {
            used += 1;
            let byte = byte.to_ascii_lowercase();
            matched = if byte == HEADER[matched] {
                matched + 1
            } else {
                usize::from(byte == HEADER[0])
            };
            if matched == HEADER.len() {
                break;
            }
        }
        input.consume(used);
        if matched == HEADER.len() {
            return Some(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn messages(bytes: &'static [u8]) -> Vec<Option<String>> {
        let mut input = BufReader::new(bytes);
        let mut out = Vec::new();
        while let Some(message) = next(&mut input).await {
            let text = message
                .ok()
                .map(|b| String::from_utf8_lossy(&b).into_owned());
            out.push(text);
        }
        out
    }

    #[tokio::test]
    async fn reading_goes_on_after_nonsense() {
        const PING: &str = r#"{"jsonrpc":"2.0","method":"ping"}"#;
        let stream =
            b"junk\r\n\r\nContent-Length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}\
            Content-Length: x\r\n\r\n\
            Content-Length: 2\r\n\r\n[]\
            Content-Length: 4\r\nContent-Type: a\r\n\r\n{\"a\": 1}\
            content-length: 33\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}";
        let found = messages(stream).await;
        let ping = Some(PING.to_owned());
        assert_eq!(found, [ping.clone(), None, None, None, ping]);
    }

    #[test]
    fn halves_of_surrogate_pairs_are_replaced_and_nothing_else() {
        let mended = |text: &str| String::from_utf8(without_halves(text.as_bytes()));
        for (from, to) in [
            (r"a \ud834\udd1e b", r"a \ud834\udd1e b"),
            (r"\ud834 \udd1e", r"\ufffd \ufffd"),
            (r"\ud834\ud834\udd1e", r"\ufffd\ud834\udd1e"),
            (r"\\ud834", r"\\ud834"),
            (r"\u00e9 é \", r"\u00e9 é \"),
        ] {
            assert_eq!(mended(from).as_deref(), Ok(to));
        }
    }
}
