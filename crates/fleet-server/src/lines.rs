//! The messages of the protocol on lines, one on each.
//!
//! Owns the framing of standard input and output. A line that is not a message gets an answer as well: a client that
//! waits for one must get one. Must never keep more than a bounded number of answers for a client that does not read
//! them.

use std::io;
use std::sync::Arc;

use fleet_core::text::shortened;
use rmcp::RoleServer;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, JsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, watch};

use crate::mcp::Closing;

/// A prompt may have a megabyte; with what surrounds it, and escapes, this is ample.
pub(crate) const LONGEST_MESSAGE: usize = 4 * 1024 * 1024;
/// How many answers may wait to be read before the next message is read.
const MAX_WAITING: usize = 256;

/// A client at the other end of two pipes.
pub(crate) struct LineTransport<I, O> {
    input: BufReader<I>,
    /// The received part of a line. Kept here, because receiving may be cancelled in the middle of one.
    line: Vec<u8>,
    /// A line that is too long is read to its end and forgotten.
    skips: bool,
    output: Arc<SharedOutput<O>>,
    closing: Closing,
}

struct SharedOutput<O> {
    pipe: Mutex<O>,
    waiting: watch::Sender<usize>,
}

/// An answer that waits to be read.
struct PendingAnswer<O>(Arc<SharedOutput<O>>);

impl<O> PendingAnswer<O> {
    fn new(output: &Arc<SharedOutput<O>>) -> Self {
        output.waiting.send_modify(|waiting| *waiting += 1);
        Self(Arc::clone(output))
    }
}

impl<O> Drop for PendingAnswer<O> {
    fn drop(&mut self) {
        self.0.waiting.send_modify(|waiting| *waiting -= 1);
    }
}

enum InputLine {
    Whole(Vec<u8>),
    TooLong,
}

impl<I: AsyncRead + Unpin, O> LineTransport<I, O> {
    /// `closing` is notified when the input ends: tools that wait for a client that is gone can stop.
    pub(crate) fn new(input: I, output: O, closing: Closing) -> Self {
        let output = SharedOutput { pipe: Mutex::new(output), waiting: watch::Sender::new(0) };
        Self {
            input: BufReader::new(input),
            line: Vec::new(),
            skips: false,
            output: Arc::new(output),
            closing,
        }
    }

    /// The next line; none when there are no more.
    async fn next(&mut self) -> Option<InputLine> {
        loop {
            let read = self.input.fill_buf().await.unwrap_or_default();
            if read.is_empty() {
                self.closing.close();
                let rest = std::mem::take(&mut self.line);
                return (!rest.is_empty()).then_some(InputLine::Whole(rest));
            }
            let end = read.iter().position(|byte| *byte == b'\n');
            let piece = &read[..end.unwrap_or(read.len())];
            if self.line.len() + piece.len() > LONGEST_MESSAGE {
                self.skips = true;
                self.line = Vec::new();
            } else if !self.skips {
                self.line.extend_from_slice(piece);
            }
            let used = piece.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                let line = std::mem::take(&mut self.line);
                let is_whole = !std::mem::take(&mut self.skips);
                return Some(if is_whole { InputLine::Whole(line) } else { InputLine::TooLong });
            }
        }
    }
}

impl<O> SharedOutput<O> {
    /// Until the client has read enough of its answers.
    async fn until_read(&self) {
        // The sender is in our own hands, so that this cannot fail.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting < MAX_WAITING).await;
    }
}

impl<I, O> Transport<RoleServer> for LineTransport<I, O>
where
    I: AsyncRead + Unpin + Send,
    O: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let turn = PendingAnswer::new(&self.output);
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let mut pipe = turn.0.pipe.lock().await;
            pipe.write_all(&line).await?;
            pipe.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            self.output.until_read().await;
            let refused = match self.next().await? {
                InputLine::Whole(line) if line.trim_ascii().is_empty() => continue,
                InputLine::Whole(line) => match read(&line) {
                    Ok(message) => return Some(message),
                    Err(refused) => *refused,
                },
                InputLine::TooLong => {
                    let most = LONGEST_MESSAGE / (1024 * 1024);
                    let why = format!("the message is longer than {most} MiB, and was not read");
                    JsonRpcError::new(None, ErrorData::new(ErrorCode::INVALID_REQUEST, why, None))
                }
            };
            // Beside the rest: receiving may be cancelled before an answer is fully written.
            tokio::spawn(self.send(JsonRpcMessage::Error(refused)));
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.output.pipe.lock().await.shutdown().await
    }
}

/// A message, or the error for anything else.
fn read(line: &[u8]) -> Result<RxJsonRpcMessage<RoleServer>, Box<JsonRpcError>> {
    let refused = |id, code, why: String| Box::new(JsonRpcError::new(id, ErrorData::new(code, why, None)));
    serde_json::from_slice(line).map_err(|error| match serde_json::from_slice::<Value>(line) {
        Err(error) => refused(None, ErrorCode::PARSE_ERROR, format!("this is not JSON: {error}")),
        Ok(value) => {
            let id = value.get("id").and_then(|id| serde_json::from_value(id.clone()).ok());
            let why = format!("this is not a message of the protocol: {error}");
            refused(id, ErrorCode::INVALID_REQUEST, shortened(&why, 500).into_owned())
        }
    })
}
