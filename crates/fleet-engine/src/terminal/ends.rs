//! Signals that end a program which has changed the terminal of a person, so that it is put back first.

use std::io;

use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct EndSignals {
    terminate: Signal,
    hang_up: Signal,
    interrupt: Signal,
    quit: Signal,
}

impl EndSignals {
    pub(super) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
            quit: signal(SignalKind::quit())?,
        })
    }

    pub(super) async fn any(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = self.quit.recv() => {}
        }
    }
}
