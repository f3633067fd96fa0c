//! The wake file: touched after every commit, watched by waiters.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use notify::{RecursiveMode, Watcher};
use tokio::sync::Notify;

use super::connection::{beside, open_private};
use crate::{StoreError, Watch};

/// Tells every waiting process that something changed.
pub(super) struct WakeFile {
    file: Option<File>,
}

impl WakeFile {
    pub(super) fn new(path: &Path) -> Self {
        // Without the file no process is woken, and the slow poll of the waiters covers for it.
        Self { file: open_private(&beside(path, ".wake")).ok() }
    }

    pub(super) fn ring(&self) {
        if let Some(file) = &self.file {
            let _ = file.write_at(b"!", 0);
        }
    }
}

pub(super) fn watch(path: &Path) -> Result<Watch, StoreError> {
    let file = beside(path, ".wake");
    drop(open_private(&file)?);
    let bell = Arc::new(Notify::new());
    let rung = Arc::clone(&bell);
    // Opening or closing the file means nothing. An error from the kernel (a full queue) may hide a change: check then,
    // too.
    let hear = move |event: notify::Result<notify::Event>| {
        if event.map_or(true, |event| !event.kind.is_access()) {
            rung.notify_one();
        }
    };
    let source = notify::recommended_watcher(hear).and_then(|mut watcher| {
        watcher.watch(&file, RecursiveMode::NonRecursive)?;
        Ok(watcher)
    });
    // A system that has no watcher to spare (Linux has 128 for each user) still lets us look once in a while.
    Ok(match source {
        Ok(watcher) => Watch::new(bell, std::sync::Mutex::new(watcher)),
        Err(_) => Watch::new(bell, ()),
    })
}
