//! Which runners are up on this home.
//!
//! Each holds a lock on a file of its own, which says who it is. The kernel frees the lock when the process ends,
//! however it ends, so a file that is not locked is a runner that is gone.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use fleet_core::time::Millis;
use fleet_host::lock::Exclusive;
use fleet_host::machine;
use fleet_host::process::Identity;
use serde::{Deserialize, Serialize};

use crate::home::{Home, make_private};

/// A runner, as it describes itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runner {
    /// Its name, in the runs that it claims.
    pub name: String,
    /// Its process.
    pub process: Identity,
    /// How many agents it runs at a time.
    pub slots: u32,
    /// Whether it was started in the background.
    pub background: bool,
    /// When it came up.
    pub started_at: Millis,
    /// Which version it is.
    pub version: String,
}

/// A runner that is up, as long as this lives.
#[derive(Debug)]
pub struct Registered {
    /// What the others see.
    pub runner: Runner,
    path: PathBuf,
    lock: Exclusive,
}

impl Registered {
    /// Whether the others still see it. Somebody may have removed the file.
    pub fn is_seen(&self) -> bool {
        self.lock.is_at(&self.path)
    }
}

/// The file of the one runner in the background.
const BACKGROUND: &str = "background";

/// Comes up as a runner. A runner in the background is one of a kind: nothing is returned when there is one.
pub fn register(home: &Home, runner: Runner) -> io::Result<Option<Registered>> {
    make_private(&home.runners())?;
    let name = if runner.background { BACKGROUND } else { runner.name.as_str() };
    let path = home.runners().join(name);
    let Some(lock) = Exclusive::try_acquire(&path)? else { return Ok(None) };
    lock.write(&serde_json::to_vec(&runner)?)?;
    forget_the_dead(home);
    Ok(Some(Registered { runner, path, lock }))
}

/// Removes the files of runners that were killed, or they would be looked at for ever. Under their locks: a name is
/// never used twice, except that of the runner in the background, which takes its own file over.
fn forget_the_dead(home: &Home) {
    for entry in fs::read_dir(home.runners()).into_iter().flatten().flatten() {
        if entry.file_name() != BACKGROUND
            && matches!(Exclusive::is_held(&entry.path()), Ok(false))
            && let Ok(Some(_lock)) = Exclusive::try_acquire(&entry.path())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        // A file that stays is not locked, which is all that anybody looks at. One of the same name may be another's.
        if self.is_seen() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// The runners that are up.
pub fn up(home: &Home) -> io::Result<Vec<Runner>> {
    let entries = match fs::read_dir(home.runners()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut runners = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if !Exclusive::is_held(&path)? {
            continue;
        }
        // Written just after the lock was taken: one that is coming up shows itself a moment later.
        if let Ok(runner) = serde_json::from_slice::<Runner>(&fs::read(&path).unwrap_or_default()) {
            runners.push(runner);
        }
    }
    runners.sort_by_key(|runner| runner.started_at);
    Ok(runners)
}

/// A name that no other runner has.
pub fn new_name(entropy: u64) -> String {
    format!("{}-{:06x}", machine::name(), entropy & 0xff_ffff)
}
