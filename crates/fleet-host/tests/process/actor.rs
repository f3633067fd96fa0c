//! This executable again, as another process with a part to play, so that it is always built and never an old one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::{Deserialize, Serialize};

/// What an actor is told, as JSON on its command line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) enum Part {
    /// Takes a lock, says so, and sits still.
    Lock { path: PathBuf, ready: PathBuf },
    /// Borrows ports, says which, and sits still.
    Ports { dir: PathBuf, ready: PathBuf },
    /// Writes to a log until it is killed.
    Write { path: PathBuf, cap: u64 },
    /// Reads a flood.
    Flood { folder: PathBuf },
    /// Shows floods on a screen.
    Screen { folder: PathBuf },
    /// Writes to a recording until it is killed.
    Record { path: PathBuf },
    /// Keeps a run.
    #[cfg(target_os = "linux")]
    Keep(crate::tree::Orders),
    /// Has children of many kinds.
    #[cfg(target_os = "linux")]
    Reap { folder: PathBuf },
}

/// Not a test: the beginning of every actor. Does nothing where there is no part.
#[test]
fn enter() {
    let Some(part) = std::env::args().find(|argument| argument.starts_with('{')) else { return };
    match serde_json::from_str(&part).unwrap() {
        Part::Lock { path, ready } => crate::lock::play(&path, &ready),
        Part::Ports { dir, ready } => crate::ports::play(&dir, &ready),
        Part::Write { path, cap } => crate::log::play(&path, cap),
        Part::Flood { folder } => crate::flood::play(&folder),
        Part::Record { path } => crate::recording::play(&path),
        Part::Screen { folder } => crate::screen::play(&folder),
        #[cfg(target_os = "linux")]
        Part::Keep(orders) => crate::tree::keep(&orders),
        #[cfg(target_os = "linux")]
        Part::Reap { folder } => crate::reap::play(&folder),
    }
    std::process::exit(0);
}

/// A process with a part, which ends with the test.
pub(crate) struct Actor(pub(crate) Child);

impl Actor {
    pub(crate) fn start(part: &Part) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "actor::enter", "--nocapture"]).arg(serde_json::to_string(part).unwrap());
        Self(command.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap())
    }

    /// Ends it without a chance to do anything about it.
    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits for its end, which must be a good one.
    pub(crate) fn succeed(mut self) {
        assert!(self.0.wait().unwrap().success());
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Writes a file that is complete as soon as it is there.
pub(crate) fn announce(path: &Path, text: &str) {
    let draft = path.with_extension("draft");
    fs::write(&draft, text).unwrap();
    fs::rename(&draft, path).unwrap();
}

/// Sits still for longer than any test takes.
pub(crate) fn sit_still() {
    std::thread::sleep(2 * crate::BOUND);
}
