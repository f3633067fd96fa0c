//! A run with its keeper, as another process.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use fleet_host::process::{
    Group, Identity, Launch, ProcessTree, Signal, StdinFrom, StopOutcome, StopSequence, StoppedTree,
    become_subreaper, launch, new_session, reap,
};
use fleet_testkit::wait_until;
use serde::{Deserialize, Serialize};

use crate::BOUND;
use crate::actor::{Actor, Part, announce};

/// For those who end when told, however long that takes.
pub(crate) const LADDER: StopSequence =
    StopSequence { ask: None, ask_grace: Duration::ZERO, term_grace: BOUND, kill_patience: BOUND };

/// For those who do not.
pub(crate) const SHORT_LADDER: StopSequence =
    StopSequence { term_grace: Duration::from_millis(200), ..LADDER };

/// What a keeper is told.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Orders {
    folder: PathBuf,
    script: String,
    tag: String,
    is_grouped: bool,
    is_patient: bool,
}

impl Orders {
    fn ladder(&self) -> &'static StopSequence {
        if self.is_patient { &LADDER } else { &SHORT_LADDER }
    }
}

/// A keeper, as short as one can be.
pub(crate) fn keep(orders: &Orders) {
    new_session().unwrap();
    assert!(become_subreaper());
    let group = if orders.is_grouped { Group::create(&orders.tag.replace('.', "-")) } else { None };
    let marker = ("FLEET_TEST_RUN".to_owned(), orders.tag.clone());
    let script = orders.folder.join("script.sh");
    // The pipes break with the keeper, and nobody is to end only because of that.
    fs::write(&script, format!("exec >/dev/null 2>&1\n{}", orders.script)).unwrap();
    let inside = group.as_ref().map(Group::enter);
    let started = launch(&Launch {
        program: "/bin/sh".into(),
        args: [script.into_os_string(), OsString::from(&orders.tag)].to_vec(),
        env: vec![
            ("PATH".into(), "/usr/bin:/bin".into()),
            (marker.0.clone().into(), marker.1.clone().into()),
        ],
        cwd: orders.folder.clone(),
        stdin: StdinFrom::Null,
    })
    .unwrap();
    drop(inside);
    let tree =
        ProcessTree { root: started.identity.clone(), marker, keeper: Some(Identity::current()), group };
    announce(&orders.folder.join("tree.json"), &serde_json::to_string(&tree).unwrap());
    let born = Instant::now();
    while born.elapsed() < BOUND && !orders.folder.join("stop").exists() {
        reap();
        std::thread::sleep(Duration::from_millis(2));
    }
    let stopped = tree.stop(orders.ladder(), &mut || drop(reap()));
    announce(&orders.folder.join("stopped.json"), &format!("{:?} {}", stopped.how, stopped.left.len()));
}

/// A run on stage. Whatever is left of it ends with the test.
pub(crate) struct Run {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) tag: String,
    pub(crate) keeper: Actor,
    pub(crate) tree: ProcessTree,
    orders: Orders,
}

impl Run {
    /// Starts a script whose processes end when told.
    pub(crate) fn start(script: &str, is_grouped: bool) -> Self {
        Self::start_any(script, is_grouped, true)
    }

    /// Starts a script whose processes have to be killed.
    pub(crate) fn start_stubborn(script: &str, is_grouped: bool) -> Self {
        Self::start_any(script, is_grouped, false)
    }

    fn start_any(script: &str, is_grouped: bool, is_patient: bool) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        // A number of seconds, so that `sleep` carries it too.
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let tag = format!("300.{:07}{number:04}", std::process::id());
        let (script, place) = (script.to_owned(), folder.path().to_owned());
        let orders = Orders { folder: place, script, tag: tag.clone(), is_grouped, is_patient };
        let keeper = Actor::start(&Part::Keep(orders.clone()));
        let place = folder.path().join("tree.json");
        wait_until(BOUND, "the agent is started", || place.exists());
        let tree: ProcessTree = serde_json::from_str(&fs::read_to_string(place).unwrap()).unwrap();
        Self { folder, tag, keeper, tree, orders }
    }

    /// Waits until so many processes of the script sleep.
    pub(crate) fn wait_for_sleepers(&self, count: usize) {
        let what = format!("{count} processes sleep, {:?}", tagged(&self.tag));
        wait_until(BOUND, &what, || {
            tagged(&self.tag).iter().filter(|(_, line)| line.starts_with("sleep")).count() >= count
        });
    }

    /// Lets the keeper stop the run.
    pub(crate) fn stop_by_keeper(&self) -> String {
        announce(&self.folder.path().join("stop"), "");
        let stopped = self.folder.path().join("stopped.json");
        wait_until(BOUND, "the keeper has stopped the run", || stopped.exists());
        fs::read_to_string(stopped).unwrap()
    }

    /// Kills the keeper, and stops the run in its place.
    pub(crate) fn stop_after_keeper(&mut self) -> StoppedTree {
        self.keeper.kill();
        self.tree.stop(self.orders.ladder(), &mut || {})
    }

    /// Nobody is there, nor comes back.
    #[track_caller]
    pub(crate) fn assert_gone(&self, case: &str) {
        for _ in 0..10 {
            let left = tagged(&self.tag);
            assert!(left.is_empty(), "{case}: {left:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(self.tree.members(), []);
        assert!(self.tree.group.as_ref().is_none_or(Group::remove), "{case}: the group is empty");
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.keeper.0.kill();
        for (identity, _) in tagged(&self.tag) {
            let _ = identity.signal(Signal::KILL);
            let _ = identity.wait_for_end(BOUND);
        }
        let _ = self.tree.group.as_ref().map(Group::remove);
    }
}

/// The processes with this tag among their arguments, but for the keeper.
fn tagged(tag: &str) -> Vec<(Identity, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let Some(identity) = Identity::of(pid) else { continue };
        let Ok(line) = fs::read(Path::new("/proc").join(pid.to_string()).join("cmdline")) else { continue };
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        // What a keeper was told is one long argument.
        if line.split(' ').any(|argument| argument == tag) && identity.is_alive() {
            found.push((identity, line));
        }
    }
    found
}

/// Whether control groups can be made here.
pub(crate) fn are_groups_made() -> bool {
    static ANSWER: OnceLock<bool> = OnceLock::new();
    *ANSWER.get_or_init(|| Run::start("exit 0", true).tree.group.is_some())
}

/// What a keeper that had to kill says.
pub(crate) fn said(how: StopOutcome) -> String {
    format!("{how:?} 0")
}
