//! Acting for keepers that are gone, each run in its own process.
//!
//! Owns which repairs are under way and when one that failed is tried again. What made a keeper hang may make its
//! repair hang as well: so a runner never waits for a repair, and one that hangs ends itself (`stuck`). Must never let
//! runs that failed before keep new ones waiting: of those, one is repaired at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::backoff::Backoff;
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::plain;
use fleet_host::process::{self, Detached, Exit, Identity};
use serde::{Deserialize, Serialize};

use super::Reconciler;
use crate::environment::Environment;
use crate::home::{Home, write_passing};
use crate::stuck::{STUCK_EXIT_CODE, StuckGuard};
use crate::{BoxFuture, Engine, clock, problems};

/// New ones at a time: they are mostly quick, and wait for disks.
const MAX_NEW_REPAIRS: usize = 4;
const FIRST_PAUSE: Duration = Duration::from_secs(5);
const LONGEST_PAUSE: Duration = Duration::from_mins(30);
/// What is repaired within a few attempts is not worth a line in the log.
const LOG_AFTER: Duration = Duration::from_mins(1);
/// Saving a large tree takes minutes. What takes longer is left where it is, and the run ends without it.
const REPAIR_TIMEOUT: Duration = Duration::from_mins(20);

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repaired {
    Done(RunId, String),
    /// It will be tried again.
    Trouble(String),
}

/// What a process that repairs has to say.
#[derive(Debug, Default, Serialize, Deserialize)]
struct RepairAnswer {
    what: Option<String>,
}

pub struct Repairs<'e> {
    engine: &'e Engine,
    home: Home,
    under_way: Vec<(Identity, RunId)>,
    /// Runs whose last repair failed.
    failed: BTreeMap<RunId, Backoff>,
}

impl<'e> Repairs<'e> {
    pub fn new(engine: &'e Engine) -> Self {
        let home = engine.home().clone();
        Self { engine, home, under_way: Vec::new(), failed: BTreeMap::new() }
    }

    /// Starts to repair what is due, which is all that there is. What could not be started is returned, with a sentence
    /// each.
    pub fn begin_all(&mut self, due: &[RunId]) -> Vec<String> {
        self.failed.retain(|run, _| due.contains(run) || self.under_way.iter().any(|(_, one)| one == run));
        due.iter().filter_map(|run| self.begin(*run)).collect()
    }

    /// Starts to repair a run, if now is the time. A sentence if that is not possible.
    pub fn begin(&mut self, run: RunId) -> Option<String> {
        if !self.may_begin(run, clock::uptime()) {
            return None;
        }
        match self.spawn(run) {
            Ok(process) => {
                self.under_way.push((process, run));
                None
            }
            Err(problem) => {
                self.has_failed(run);
                Some(format!("run {run}: {problem}"))
            }
        }
    }

    fn may_begin(&self, run: RunId, now: Duration) -> bool {
        if self.under_way.iter().any(|(_, one)| *one == run) {
            return false;
        }
        let (again, new): (Vec<RunId>, Vec<RunId>) =
            self.under_way.iter().map(|(_, one)| *one).partition(|one| self.failed.contains_key(one));
        match self.failed.get(&run) {
            Some(backoff) => again.is_empty() && backoff.is_due(now),
            None => new.len() < MAX_NEW_REPAIRS,
        }
    }

    pub fn is_any_under_way(&self) -> bool {
        !self.under_way.is_empty()
    }

    pub fn is_failing(&self, run: RunId) -> bool {
        self.failed.contains_key(&run)
    }

    pub async fn ended(&mut self, ended: &[(i32, Exit)], reconciler: &Reconciler<'_>) -> Vec<Repaired> {
        let exit_of = |process: &Identity| ended.iter().find(|(pid, _)| *pid == process.pid);
        let over: Vec<(RunId, Exit)> =
            self.under_way.iter().filter_map(|(process, run)| Some((*run, exit_of(process)?.1))).collect();
        self.under_way.retain(|(_, run)| !over.iter().any(|(one, _)| one == run));
        let mut all = Vec::new();
        for (run, exit) in over {
            all.extend(self.conclude(run, exit, reconciler).await);
        }
        all
    }

    async fn conclude(&mut self, run: RunId, exit: Exit, reconciler: &Reconciler<'_>) -> Option<Repaired> {
        if exit == Exit::Code(0) {
            return self.conclude_ended(run);
        }
        let pause = self.has_failed(run).as_secs();
        let why = if exit == Exit::Code(STUCK_EXIT_CODE) {
            let ended = reconciler.give_up(run).await;
            let more = ended.err().map(|problem| format!(" ({problem})")).unwrap_or_default();
            format!("what it left could not be saved within {} minutes{more}", REPAIR_TIMEOUT.as_secs() / 60)
        } else {
            let log = self.home.run(run).keeper_log();
            format!("it could not be repaired: {} says why", log.display())
        };
        Some(Repaired::Trouble(format!("run {run}: {why}; retrying in {pause} s")))
    }

    /// A repair that ended well may have left something: that is tried again, and told when it lasts.
    fn conclude_ended(&mut self, run: RunId) -> Option<Repaired> {
        let done = self.answer_of(run).map(|what| Repaired::Done(run, what));
        if !self.home.live_run(run).exists() {
            self.failed.remove(&run);
            return done;
        }
        let pause = self.has_failed(run);
        let trouble = || {
            let log = self.home.run(run).keeper_log();
            let pause = pause.as_secs();
            format!("run {run}: not repaired yet ({} may say why); retrying in {pause} s", log.display())
        };
        done.or_else(|| (pause >= LOG_AFTER).then(|| Repaired::Trouble(trouble())))
    }

    fn has_failed(&mut self, run: RunId) -> Duration {
        let backoff = self.failed.entry(run).or_insert(Backoff::new(FIRST_PAUSE, LONGEST_PAUSE));
        backoff.failed(clock::uptime())
    }

    fn answer_of(&self, run: RunId) -> Option<String> {
        let said: RepairAnswer =
            serde_json::from_slice(&plain::read(&self.home.run(run).repair()).ok()?).ok()?;
        said.what
    }

    fn spawn(&self, run: RunId) -> Outcome<Identity> {
        let folder = self.home.run(run);
        folder.make().map_err(problems::at(folder.dir()))?;
        let repairer = Detached {
            program: Environment::this_binary()?,
            args: vec!["repair".into(), run.to_string().into()],
            env: Some(self.engine.environment_for_children()),
            cwd: self.home.root().to_owned(),
            log: folder.keeper_log(),
        };
        process::spawn_detached(&repairer)
            .map_err(|error| Problem::new(Code::Io, format!("it cannot be repaired: {error}")))
    }
}

/// Repairs one run, in this process.
pub fn repair(engine: &Engine, run: RunId) -> BoxFuture<'_, Outcome<()>> {
    Box::pin(repair_here(engine, run))
}

async fn repair_here(engine: &Engine, run: RunId) -> Outcome<()> {
    engine.check_outside()?;
    let folder = engine.home().run(run);
    let _ = std::fs::remove_file(folder.repair());
    let guard = StuckGuard::of_this_process().map_err(problems::at(folder.dir()))?;
    guard.within(REPAIR_TIMEOUT);
    let what = Reconciler::new(engine)?.take_over(run).await?;
    let said = serde_json::to_vec(&RepairAnswer { what })
        .map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
    write_passing(&folder.repair(), &said).map_err(problems::at(&folder.repair()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EngineStart;

    fn engine(home: &std::path::Path) -> Engine {
        let place = |name| (name, home.as_os_str().to_owned());
        let environment =
            Environment::from_pairs([place("FLEET_HOME"), place("HOME")]).with_current_directory(home);
        Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap()
    }

    #[test]
    fn a_run_that_is_not_repaired_for_long_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path());
        let mut repairs = Repairs::new(&engine);
        let run = engine.new_id::<RunId>().unwrap();
        std::fs::create_dir_all(repairs.home.live()).unwrap();
        std::fs::write(repairs.home.live_run(run), "").unwrap();
        let told: Vec<_> = (0..5).map(|_| repairs.conclude_ended(run)).collect();
        assert_eq!(told[..4], [const { None }; 4], "it may be busy for a moment");
        let Some(Repaired::Trouble(text)) = &told[4] else { panic!("{told:?}") };
        assert!(text.contains(&run.to_string()) && text.contains("not repaired yet"), "{text}");
        std::fs::remove_file(repairs.home.live_run(run)).unwrap();
        assert_eq!(repairs.conclude_ended(run), None);
        assert!(!repairs.is_failing(run));
    }

    #[test]
    fn runs_that_failed_before_do_not_keep_new_ones_waiting() {
        let dir = tempfile::tempdir().unwrap();
        let engine = engine(dir.path());
        let mut repairs = Repairs::new(&engine);
        let run = || engine.new_id::<RunId>().unwrap();
        let (bad, worse) = (run(), run());
        for failing in [bad, worse] {
            assert!(repairs.may_begin(failing, Duration::ZERO));
            repairs.has_failed(failing);
        }
        let now = clock::uptime();
        assert!(!repairs.may_begin(bad, now), "it is too soon");
        let later = now + LONGEST_PAUSE;
        repairs.under_way.push((Identity::current(), bad));
        assert!(!repairs.may_begin(bad, later), "it is under way");
        assert!(!repairs.may_begin(worse, later), "one bad one at a time");
        for number in 0..MAX_NEW_REPAIRS {
            let new = run();
            assert!(repairs.may_begin(new, now), "{number}");
            repairs.under_way.push((Identity::current(), new));
        }
        assert!(!repairs.may_begin(run(), now), "enough for now");
    }
}
