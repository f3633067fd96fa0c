//! A user who keeps a tidy repository while agents work on it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

use crate::repo::try_git_at;

/// Commits, amends, rebases, deletes branches, prunes and repacks, over and over, until this is dropped.
#[derive(Debug)]
pub struct Housekeeping {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<usize>>,
}

impl Housekeeping {
    /// Begins in this repository.
    pub fn begin(repo: &Path) -> Self {
        let (stop, repo) = (Arc::new(AtomicBool::new(false)), repo.to_owned());
        let flag = Arc::clone(&stop);
        let thread = thread::spawn(move || keep_house(&repo, &flag));
        Self { stop, thread: Some(thread) }
    }

    /// Ends the round that has begun. Returns how many there were.
    pub fn end(mut self) -> usize {
        self.join()
    }

    fn join(&mut self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().map_or(0, |thread| thread.join().expect("the user does not panic"))
    }
}

impl Drop for Housekeeping {
    fn drop(&mut self) {
        self.join();
    }
}

fn keep_house(repo: &Path, stop: &AtomicBool) -> usize {
    // Two commands may be in each other's way, which is the user's affair.
    let git = |args: &[&str]| try_git_at(repo, args).is_some();
    let mut rounds = 0;
    while !stop.load(Ordering::Relaxed) {
        let name = format!("user-{rounds}");
        git(&["branch", &name]);
        git(&["commit", "-q", "--allow-empty", "-m", &name]);
        git(&["commit", "-q", "--amend", "--allow-empty", "-m", "amended"]);
        git(&["rebase", "-q", "--force-rebase", "HEAD~1"]);
        git(&["branch", "-D", &name]);
        git(&["reflog", "expire", "--expire=now", "--all"]);
        git(&["gc", "-q", "--prune=now"]);
        git(&["repack", "-adq"]);
        rounds += 1;
    }
    rounds
}
