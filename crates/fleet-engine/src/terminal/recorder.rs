//! Records a terminal in a thread of its own.
//!
//! Owns what waits to be written. Must never let anybody wait for a disk: what finds no room is left out, and the recording
//! goes on with the whole screen as it is then.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{io, mem, thread};

use fleet_core::redact::Redactor;
use fleet_host::TerminalSize;
use fleet_host::recording::Recording;
use tokio::sync::oneshot;

/// More output than this does not wait for the disk.
const MAX_WAITING: usize = 1 << 20;
/// Output that waits for more is written after this, so that those who play the recording see it.
const FLUSH_DELAY: Duration = Duration::from_millis(150);
/// A terminal as it is at its start, so that a picture does not depend on what is missing before it.
const RESET: &[u8] = b"\x1bc";
/// What is written is on the heap.
const STACK_BYTES: usize = 128 * 1024;

/// Where a recording goes.
trait Sink: Send + 'static {
    fn output(&mut self, at: Duration, output: &[u8]) -> io::Result<()>;
    fn resize(&mut self, at: Duration, size: TerminalSize) -> io::Result<()>;
    fn flush(&mut self) -> io::Result<()>;
    /// Whether there is output that waits for more.
    fn is_pending(&self) -> bool;
}

impl Sink for Recording {
    fn output(&mut self, at: Duration, output: &[u8]) -> io::Result<()> {
        Self::output(self, at, output)
    }

    fn resize(&mut self, at: Duration, size: TerminalSize) -> io::Result<()> {
        Self::resize(self, at, size)
    }

    fn flush(&mut self) -> io::Result<()> {
        Self::flush(self)
    }

    fn is_pending(&self) -> bool {
        Self::is_pending(self)
    }
}

/// What a terminal did, and when: since the recording began.
enum Piece {
    Output(Duration, Vec<u8>),
    Resize(Duration, TerminalSize),
    /// Something before it is missing: everything that the terminal shows.
    Repaint(Duration, TerminalSize, Vec<u8>),
}

#[derive(Default)]
struct Queue {
    pieces: Vec<Piece>,
    bytes: usize,
    /// Whether something found no room.
    has_gap: bool,
    is_closed: bool,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The side of those who have something to record. The recording ends when it is dropped.
pub(crate) struct Recorder {
    shared: Arc<Shared>,
    written: Option<oneshot::Receiver<()>>,
}

impl Recorder {
    /// Masks secrets before anything is written.
    pub(crate) fn start(recording: Recording, redactor: Redactor) -> io::Result<Self> {
        Self::with(recording, redactor)
    }

    fn with(sink: impl Sink, redactor: Redactor) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let (tell, written) = oneshot::channel();
        let writer = Writer { shared: Arc::clone(&shared), sink, redactor, newest: Duration::ZERO };
        thread::Builder::new().name("recorder".to_owned()).stack_size(STACK_BYTES).spawn(move || {
            writer.run();
            let _ = tell.send(());
        })?;
        Ok(Self { shared, written: Some(written) })
    }

    /// Takes output. `repaint` gives the size of the terminal and everything that it shows with this output.
    pub(super) fn output(
        &self,
        at: Duration,
        output: &[u8],
        repaint: impl FnOnce() -> (TerminalSize, Vec<u8>),
    ) {
        let mut queue = self.shared.queue();
        if queue.bytes + output.len() > MAX_WAITING {
            queue.has_gap = true;
            return;
        }
        if mem::take(&mut queue.has_gap) {
            let (size, screen) = repaint();
            queue.push(Piece::Repaint(at, size, screen));
        } else {
            queue.push(Piece::Output(at, output.to_vec()));
        }
        self.shared.changed.notify_one();
    }

    pub(super) fn resize(&self, at: Duration, size: TerminalSize) {
        // After a gap the next output tells the size, too.
        let mut queue = self.shared.queue();
        if !queue.has_gap {
            queue.push(Piece::Resize(at, size));
            self.shared.changed.notify_one();
        }
    }

    /// Ends the recording, and waits until everything is written, but no longer than this.
    pub(super) async fn finish(mut self, longest: Duration) {
        let written = self.written.take();
        drop(self);
        if let Some(written) = written {
            let _ = tokio::time::timeout(longest, written).await;
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.shared.queue().is_closed = true;
        self.shared.changed.notify_one();
    }
}

impl Queue {
    fn push(&mut self, piece: Piece) {
        self.bytes += match &piece {
            Piece::Output(_, bytes) | Piece::Repaint(_, _, bytes) => bytes.len(),
            Piece::Resize(..) => 0,
        } + size_of::<Piece>();
        self.pieces.push(piece);
    }
}

struct Writer<S> {
    shared: Arc<Shared>,
    sink: S,
    redactor: Redactor,
    /// The time of the newest piece.
    newest: Duration,
}

impl<S: Sink> Writer<S> {
    /// A full disk must not stop the agent.
    fn run(mut self) {
        while let Some(pieces) = self.next() {
            if pieces.is_empty() {
                let _ = self.sink.flush();
            }
            for piece in pieces {
                let _ = self.write(piece);
            }
        }
        let _ = self.rest().and_then(|()| self.sink.flush());
    }

    /// What waits; nothing if nothing has come for a moment and some output is not written; none at the end.
    fn next(&self) -> Option<Vec<Piece>> {
        let mut queue = self.shared.queue();
        loop {
            if !queue.pieces.is_empty() {
                queue.bytes = 0;
                return Some(mem::take(&mut queue.pieces));
            }
            if queue.is_closed {
                return None;
            }
            if !self.sink.is_pending() {
                queue = self.shared.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            }
            let waited = self.shared.changed.wait_timeout(queue, FLUSH_DELAY);
            let timed_out;
            (queue, timed_out) = waited.unwrap_or_else(PoisonError::into_inner);
            if timed_out.timed_out() && queue.pieces.is_empty() {
                return Some(Vec::new());
            }
        }
    }

    fn write(&mut self, piece: Piece) -> io::Result<()> {
        match piece {
            Piece::Output(at, bytes) => self.output(at, &bytes),
            Piece::Resize(at, size) => self.sink.resize(at, size),
            Piece::Repaint(at, size, screen) => {
                self.rest()?;
                self.sink.resize(at, size)?;
                self.output(at, RESET)?;
                self.output(at, &screen)
            }
        }
    }

    fn output(&mut self, at: Duration, bytes: &[u8]) -> io::Result<()> {
        self.newest = at;
        let clean = self.redactor.push(bytes);
        if clean.is_empty() { Ok(()) } else { self.sink.output(at, &clean) }
    }

    /// What looked like the beginning of a secret, and has no end.
    fn rest(&mut self) -> io::Result<()> {
        let rest = self.redactor.end();
        if rest.is_empty() { Ok(()) } else { self.sink.output(self.newest, &rest) }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A disk that writes only when the test says so.
    struct StalledDisk {
        may_write: Receiver<()>,
        wrote: Sender<String>,
    }

    impl Sink for StalledDisk {
        fn output(&mut self, _: Duration, output: &[u8]) -> io::Result<()> {
            self.may_write.recv().map_err(io::Error::other)?;
            self.wrote.send(String::from_utf8_lossy(output).into_owned()).map_err(io::Error::other)
        }

        fn resize(&mut self, _: Duration, size: TerminalSize) -> io::Result<()> {
            self.wrote.send(format!("{}x{}", size.columns(), size.rows())).map_err(io::Error::other)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }

        fn is_pending(&self) -> bool {
            false
        }
    }

    fn stalled(secret: &str) -> (Recorder, Sender<()>, Receiver<String>) {
        let ((go, may_write), (wrote, written)) = (channel(), channel());
        let redactor = Redactor::new([secret.as_bytes().to_vec()]);
        let recorder = Recorder::with(StalledDisk { may_write, wrote }, redactor).unwrap();
        (recorder, go, written)
    }

    #[tokio::test]
    async fn nobody_waits_for_a_disk_and_the_whole_screen_comes_after_a_gap() {
        let (recorder, go, written) = stalled("hunter2hunter2");
        let nothing = || unreachable!("nothing is missing yet");
        let at = Duration::from_secs(1);
        recorder.output(at, b"first", nothing);
        // Far more than may wait, while the disk stands still.
        let flood = vec![b'x'; MAX_WAITING / 4];
        for _ in 0..40 {
            recorder.output(at, &flood, || (TerminalSize::new(9, 9), Vec::new()));
        }
        recorder.resize(at, TerminalSize::new(30, 5));
        for _ in 0..40 {
            let _ = go.send(());
        }
        assert_eq!(written.recv().unwrap(), "first");
        // What waited comes as it was; then there is room.
        let is_gone = || recorder.shared.queue().bytes == 0;
        assert!((0..10_000).any(|_| is_gone() || {
            thread::sleep(Duration::from_millis(1));
            false
        }));
        recorder
            .output(at, b"lost with the gap", || (TerminalSize::new(30, 5), b"all: hunter2hunter2".to_vec()));
        recorder.output(at, b"!", || unreachable!("it was repainted"));
        recorder.finish(Duration::from_mins(1)).await;
        let rest: Vec<String> = written.try_iter().filter(|text| !text.starts_with('x')).collect();
        assert_eq!(rest, ["30x5", "\u{1b}c", "all: **************", "!"]);
    }

    #[tokio::test]
    async fn the_end_waits_no_longer_than_it_may() {
        let (recorder, go, _written) = stalled("");
        recorder.output(Duration::ZERO, b"never written", || unreachable!());
        recorder.finish(Duration::from_millis(50)).await;
        drop(go);
    }
}
