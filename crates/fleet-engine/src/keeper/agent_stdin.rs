//! The standard input of an agent.
//!
//! One thread writes, because a pipe without a reader blocks. What waits is bounded: the input of an agent that never
//! reads is closed.

use std::io::{PipeWriter, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// At most this many writes wait.
const MAX_WAITING: usize = 256;
/// A message is not added to more than this: an agent that reads slowly must not lose its input for what people say.
const ROOM: usize = 16;
/// The writer needs little: what it writes is on the heap.
const STACK_BYTES: usize = 64 * 1024;

/// The agent sees the end of its input when this is dropped or closed and everything is written.
pub(super) struct AgentStdin {
    writes: Option<SyncSender<Vec<u8>>>,
    /// How many writes wait, or are under way.
    waiting: Arc<AtomicUsize>,
}

impl AgentStdin {
    pub(super) fn new(pipe: Option<PipeWriter>) -> std::io::Result<Self> {
        let waiting = Arc::new(AtomicUsize::new(0));
        let Some(mut pipe) = pipe else { return Ok(Self { writes: None, waiting }) };
        let (writes, queue) = sync_channel::<Vec<u8>>(MAX_WAITING);
        let left = Arc::clone(&waiting);
        thread::Builder::new().name("stdin".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            // An agent that has closed its input, or is gone, is heard of in other ways.
            while let Ok(bytes) = queue.recv()
                && pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_ok()
            {
                left.fetch_sub(1, Ordering::Relaxed);
            }
        })?;
        Ok(Self { writes: Some(writes), waiting })
    }

    /// Whether the agent has read enough of what was written before to be told more.
    pub(super) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < ROOM
    }

    pub(super) const fn is_open(&self) -> bool {
        self.writes.is_some()
    }

    pub(super) fn write(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() || self.writes.is_none() {
            return;
        }
        // Before it is sent: the writer may be quicker.
        self.waiting.fetch_add(1, Ordering::Relaxed);
        if self.writes.as_ref().is_some_and(|writes| writes.try_send(bytes).is_err()) {
            self.close();
        }
    }

    pub(super) fn close(&mut self) {
        self.writes = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, pipe};

    use super::*;

    #[test]
    fn what_is_written_arrives_in_order_and_ends() {
        let (mut reader, writer) = pipe().unwrap();
        let mut stdin = AgentStdin::new(Some(writer)).unwrap();
        stdin.write(b"one ".to_vec());
        stdin.write(Vec::new());
        stdin.write(b"two".to_vec());
        assert!(stdin.is_open());
        stdin.close();
        let mut heard = String::new();
        reader.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "one two");
    }

    #[test]
    fn the_input_of_an_agent_that_never_reads_is_closed() {
        let (reader, writer) = pipe().unwrap();
        let mut stdin = AgentStdin::new(Some(writer)).unwrap();
        for _ in 0..=MAX_WAITING + 20 {
            stdin.write(vec![b'x'; 70_000]);
        }
        assert!(!stdin.is_open());
        drop(reader);
        assert!(!AgentStdin::new(None).unwrap().is_open());
    }
}
