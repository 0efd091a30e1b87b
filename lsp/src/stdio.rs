//! Standard input and output on threads of their own.
//!
//! The runtime would serve them from the pool that parses and analyses: a pile of slow requests
//! would then hold up the next edit, and every answer behind them.

use crate::large_answer::{LargeAnswers, Output};
use crate::leave::Leave;
use std::io::Read;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::runtime::Handle;

const PIPE_BYTES: usize = 1 << 16;
/// How long the last messages may take to leave when nobody reads them.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(1);

/// What comes in; with its end the server ends. Must be called inside a runtime.
pub(crate) fn input(leave: Arc<Leave>) -> std::io::Result<DuplexStream> {
    let (mut inside, outside) = tokio::io::duplex(PIPE_BYTES);
    let runtime = Handle::current();
    let pump = move || {
        let mut stdin = std::io::stdin().lock();
        let mut bytes = vec![0; PIPE_BYTES];
        loop {
            match stdin.read(&mut bytes) {
                Ok(count) if count > 0 => {
                    if runtime.block_on(inside.write_all(&bytes[..count])).is_err() {
                        return;
                    }
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Ok(_) | Err(_) => {
                    leave.soon("input closed");
                    return;
                }
            }
        }
    };
    std::thread::Builder::new()
        .name("input".into())
        .spawn(pump)?;
    Ok(outside)
}

/// What goes out, and the end of it. Must be called inside a runtime.
pub(crate) fn output(answers: Arc<LargeAnswers>) -> std::io::Result<(DuplexStream, Flushed)> {
    let (mut inside, outside) = tokio::io::duplex(PIPE_BYTES);
    let runtime = Handle::current();
    let (done, flushed) = channel();
    let pump = move || {
        let mut bytes = vec![0; PIPE_BYTES];
        let mut stdout = Output::new(std::io::stdout().lock(), &answers);
        while let Ok(count) = runtime.block_on(inside.read(&mut bytes))
            && count > 0
            && stdout.write(&bytes[..count]).is_ok()
        {}
        let _ = done.send(());
    };
    std::thread::Builder::new()
        .name("output".into())
        .spawn(pump)?;
    Ok((outside, Flushed(flushed)))
}

/// Tells when everything went out.
pub(crate) struct Flushed(Receiver<()>);

impl Flushed {
    /// Waits until the last message has left, or for a moment if nobody reads it.
    pub(crate) fn wait(self) {
        let _ = self.0.recv_timeout(FLUSH_TIMEOUT);
    }
}
