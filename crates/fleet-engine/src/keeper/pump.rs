//! Copies the agent's pipes to the disk, and on to the decoder.
//!
//! One thread for each pipe: a read blocks, and what was read is on disk before it is decoded. The channel is short, so
//! an agent that floods is slowed down by its own pipe instead of filling memory.

use std::io::{ErrorKind, Read, Write};
use std::sync::Arc;
use std::thread;

use fleet_agents::Stream;
use fleet_core::redact::Redactor;
use fleet_host::log::CappedLog;
use fleet_host::process::TerminalReader;
use tokio::sync::mpsc;

use crate::terminal::Hub;

/// A read takes at most this many bytes.
const CHUNK_BYTES: usize = 16 * 1024;
/// At most this many pieces wait: half a megabyte for both pipes together.
const WAITING: usize = 32;
/// A reader needs little: its buffer is on the heap.
const STACK_BYTES: usize = 128 * 1024;
/// The emulator of a terminal runs in its reader.
const TERMINAL_STACK_BYTES: usize = 256 * 1024;

/// Something that the agent printed, without its secrets.
pub(super) enum AgentOutput {
    /// Bytes, in the order of the stream.
    Bytes(Stream, Vec<u8>),
    /// All holders of the pipe have closed it.
    End,
}

/// A pipe and where its bytes go.
pub(super) struct PumpSource<R> {
    pub(super) stream: Stream,
    pub(super) pipe: R,
    pub(super) log: CappedLog,
    pub(super) redactor: Redactor,
}

/// The receiving end.
pub(super) struct Pump {
    tell: mpsc::Sender<AgentOutput>,
    pub(super) pieces: mpsc::Receiver<AgentOutput>,
}

impl Pump {
    pub(super) fn new() -> Self {
        let (tell, pieces) = mpsc::channel(WAITING);
        Self { tell, pieces }
    }

    pub(super) fn add<R: Read + Send + 'static>(&self, source: PumpSource<R>) -> std::io::Result<()> {
        let tell = self.tell.clone();
        let name = if source.stream == Stream::Out { "stdout" } else { "stderr" };
        thread::Builder::new()
            .name(name.to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || read(source, &tell))?;
        Ok(())
    }
}

impl Pump {
    /// Shows what comes from a terminal, and tells when it was closed.
    pub(super) fn add_terminal(&self, mut reader: TerminalReader, hub: Arc<Hub>) -> std::io::Result<()> {
        let tell = self.tell.clone();
        thread::Builder::new().name("terminal".to_owned()).stack_size(TERMINAL_STACK_BYTES).spawn(
            move || {
                let mut buffer = vec![0; CHUNK_BYTES];
                loop {
                    match reader.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(count) => hub.output(&buffer[..count]),
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        Err(_) => break,
                    }
                }
                // A terminal is both streams of its agent.
                for _ in [Stream::Out, Stream::Err] {
                    let _ = tell.blocking_send(AgentOutput::End);
                }
            },
        )?;
        Ok(())
    }
}

fn read<R: Read>(source: PumpSource<R>, tell: &mpsc::Sender<AgentOutput>) {
    let PumpSource { stream, mut pipe, mut log, mut redactor } = source;
    let mut buffer = vec![0; CHUNK_BYTES];
    loop {
        let clean = match pipe.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => redactor.push(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(_) => break,
        };
        pass_on(stream, clean, &mut log, tell);
    }
    pass_on(stream, redactor.end(), &mut log, tell);
    let _ = tell.blocking_send(AgentOutput::End);
}

/// A full disk must not stop the agent, nor lose its output for the decoder: the log goes on when there is room again,
/// and the keeper's end still reaches the store.
fn pass_on(stream: Stream, bytes: Vec<u8>, log: &mut CappedLog, tell: &mpsc::Sender<AgentOutput>) {
    if bytes.is_empty() {
        return;
    }
    let _ = log.write_all(&bytes);
    // There is no listener once the keeper has given up on the rest of the output.
    let _ = tell.blocking_send(AgentOutput::Bytes(stream, bytes));
}
