//! What is typed into an agent's terminal: one thread writes, because a terminal whose agent does not read blocks.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// At most this many writes wait. What people type waits in their connection before that; a prompt is not typed.
const MAX_WAITING: usize = 64;
/// People wait when this many writes do.
const ROOM: usize = 32;
/// The writer needs little: what it writes is on the heap.
const STACK_BYTES: usize = 64 * 1024;

pub(crate) struct TerminalInput {
    writes: SyncSender<Vec<u8>>,
    waiting: Arc<AtomicUsize>,
}

impl TerminalInput {
    pub(crate) fn new(mut terminal: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (writes, queue) = sync_channel::<Vec<u8>>(MAX_WAITING);
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&waiting);
        thread::Builder::new().name("keys".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            // An agent that is gone is heard of in other ways.
            while let Ok(bytes) = queue.recv()
                && terminal.write_all(&bytes).is_ok()
            {
                left.fetch_sub(1, Ordering::Relaxed);
            }
        })?;
        Ok(Self { writes, waiting })
    }

    /// Whether more keys of people should be written.
    pub(crate) fn has_room(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) < ROOM
    }

    /// `false` if it was lost.
    pub(crate) fn write(&self, bytes: Vec<u8>) -> bool {
        if bytes.is_empty() {
            return true;
        }
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let is_written = self.writes.try_send(bytes).is_ok();
        if !is_written {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
        is_written
    }
}
