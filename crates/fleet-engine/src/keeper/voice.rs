//! Speaking to an agent on its standard input.
//!
//! One thread writes, because a pipe that nobody reads blocks. What waits is bounded: an agent that asks and asks and
//! never reads the answers is not spoken to any more.

use std::io::{PipeWriter, Write as _};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

/// So many things may wait to be read.
const WAITING: usize = 256;
/// The writer needs little: what it writes is on the heap.
const STACK: usize = 64 * 1024;

/// The open end of a conversation. The agent sees the end of its input when this is dropped and all is written.
pub(super) struct Voice {
    tell: Option<SyncSender<Vec<u8>>>,
}

impl Voice {
    /// For an agent that may not be listening at all.
    pub(super) fn new(pipe: Option<PipeWriter>) -> std::io::Result<Self> {
        let Some(mut pipe) = pipe else { return Ok(Self { tell: None }) };
        let (tell, words) = sync_channel::<Vec<u8>>(WAITING);
        thread::Builder::new().name("stdin".to_owned()).stack_size(STACK).spawn(move || {
            // An agent that has closed its input, or is gone, is heard of in other ways.
            while let Ok(bytes) = words.recv()
                && pipe.write_all(&bytes).and_then(|()| pipe.flush()).is_ok()
            {}
        })?;
        Ok(Self { tell: Some(tell) })
    }

    /// Whether it can still be spoken to.
    pub(super) const fn is_open(&self) -> bool {
        self.tell.is_some()
    }

    /// Says something.
    pub(super) fn say(&mut self, bytes: Vec<u8>) {
        if bytes.is_empty() {
            return;
        }
        if self.tell.as_ref().is_some_and(|tell| tell.try_send(bytes).is_err()) {
            self.close();
        }
    }

    /// There is nothing more to say.
    pub(super) fn close(&mut self) {
        self.tell = None;
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, pipe};

    use super::*;

    #[test]
    fn what_is_said_arrives_in_order_and_ends() {
        let (mut reader, writer) = pipe().unwrap();
        let mut voice = Voice::new(Some(writer)).unwrap();
        voice.say(b"one ".to_vec());
        voice.say(Vec::new());
        voice.say(b"two".to_vec());
        assert!(voice.is_open());
        voice.close();
        let mut heard = String::new();
        reader.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "one two");
    }

    #[test]
    fn who_never_listens_is_not_spoken_to_any_more() {
        let (reader, writer) = pipe().unwrap();
        let mut voice = Voice::new(Some(writer)).unwrap();
        for _ in 0..=WAITING + 20 {
            voice.say(vec![b'x'; 70_000]);
        }
        assert!(!voice.is_open());
        drop(reader);
        assert!(!Voice::new(None).unwrap().is_open());
    }
}
