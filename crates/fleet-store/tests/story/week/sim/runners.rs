//! Runners and keepers: they claim, renew, end, die and come back.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::run::{Ending, Reason, Run, RunMove};
use fleet_core::schedule::Caps;
use fleet_core::task::{AgentName, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{Claim, Claimed, EndRun, FailureSettings, RenewLease};

use super::{Happening, LiveRun, Week};
use crate::harness::Rig;
use crate::week::plan::{AGENTS, Act};

const LEASE: Duration = Duration::from_mins(20);
const RENEWAL: Duration = Duration::from_mins(9);
/// A runner that hears nothing looks this often.
const POLL_INTERVAL: Duration = Duration::from_mins(10);
const DEFAULT_AGENT: &str = "claude";

pub(super) struct Runner {
    name: &'static str,
    pub(super) place: &'static str,
    slots: usize,
    pub(super) is_up: bool,
}

impl Runner {
    pub(super) fn all() -> Vec<Self> {
        let runner = |name, place| Self { name, place, slots: 4, is_up: true };
        vec![runner("one", "here:/a"), runner("two", "here:/a"), runner("three", "there:/b")]
    }
}

/// Whose limits an agent uses.
fn accounts() -> BTreeMap<AgentName, String> {
    AGENTS.iter().map(|agent| (agent.parse().unwrap(), format!("{agent}:work"))).collect()
}

fn settings() -> FailureSettings {
    let default_agent = Some(DEFAULT_AGENT.parse().unwrap());
    FailureSettings { default_agent, accounts: accounts(), ..FailureSettings::default() }
}

impl Week<'_> {
    fn rig(&self) -> &Rig {
        self.rig
    }

    /// A runner claims what it has slots for.
    pub(super) async fn look(&mut self, runner: usize) {
        self.after(POLL_INTERVAL, Happening::Look(runner));
        self.claim(runner).await;
    }

    async fn claim(&mut self, number: usize) {
        let runner = &self.runners[number];
        let used = self.live.values().filter(|live| live.runner == number).count();
        let free = runner.slots.saturating_sub(used);
        if !runner.is_up || free == 0 {
            return;
        }
        let claim = Claim {
            runner: runner.name.to_owned(),
            place: runner.place.to_owned(),
            default_agent: DEFAULT_AGENT.parse().unwrap(),
            accounts: accounts(),
            caps: self.caps.clone(),
            lease: LEASE,
            ..self.rig().claiming(free)
        };
        let claimed = self.rig().ok(claim).await;
        assert!(claimed.len() <= free);
        for one in claimed {
            self.begin(number, one).await;
        }
    }

    async fn begin(&mut self, runner: usize, Claimed { task, run, .. }: Claimed) {
        let number = self.positions[&task.id];
        assert!(self.live.values().all(|live| live.task != number), "{} runs twice at once", task.id);
        let story = &self.tasks[number];
        let waits_for = story.plan.after.iter().map(|on| self.tasks[*on].state);
        assert!(waits_for.into_iter().all(|state| state == TaskState::Done), "{} starts too early", task.id);
        let account = run.account().to_owned();
        let until = self.paused.get(&account).copied();
        assert!(until.is_none_or(|until| until <= self.rig().now()), "{account} is paused");
        let act = match story.plan.acts.get(story.played) {
            Some(act) => *act,
            None if story.was_retried => Act::Succeed,
            None => panic!("{} has more runs than acts: {:?}", task.id, story.plan),
        };
        let story = &mut self.tasks[number];
        (story.state, story.runs, story.played) = (TaskState::Running, story.runs + 1, story.played + 1);
        let start = self.rig().advancing(&run, RunMove::Start);
        self.rig().ok(start).await;
        self.after(RENEWAL, Happening::Renew(run.id));
        let span = self.chance.minutes(90);
        self.after(span, Happening::Act(run.id));
        self.live.insert(run.id, LiveRun { task: number, runner, run, act, is_silent: false });
        self.check_caps(number);
    }

    /// What was just started fits into the caps; what was at work before they were lowered goes on.
    fn check_caps(&self, started: usize) {
        let alike = |same: &dyn Fn(&LiveRun) -> bool| {
            u32::try_from(self.live.values().filter(|live| same(live)).count()).unwrap()
        };
        let project = self.tasks[started].plan.project;
        let agent = self.tasks[started].plan.agent.unwrap_or(DEFAULT_AGENT);
        let agent_of = |live: &LiveRun| self.tasks[live.task].plan.agent.unwrap_or(DEFAULT_AGENT);
        let counts = [
            (self.caps.total, alike(&|_| true)),
            (self.caps.per_project, alike(&|live| self.tasks[live.task].plan.project == project)),
            (self.caps.per_agent.get(agent).copied(), alike(&|live| agent_of(live) == agent)),
        ];
        for (cap, count) in counts {
            assert!(cap.is_none_or(|cap| count <= cap), "{count} run, and {cap:?} may");
        }
    }

    pub(super) async fn renew(&mut self, id: RunId) {
        let (run, is_live) = match (self.live.get(&id), self.gone.get(&id)) {
            (Some(live), _) if live.is_silent => return,
            (Some(live), _) => (&live.run, true),
            (None, Some(run)) => (run, false),
            (None, None) => return,
        };
        let renew = RenewLease { lease: LEASE, ..self.rig().renewing(run) };
        match self.rig().store.call(renew).await {
            Ok(_) if is_live => self.after(RENEWAL, Happening::Renew(id)),
            Err(StoreError::LeaseLost { .. }) if !is_live => {}
            other => panic!("live: {is_live}, but {other:?}"),
        }
    }

    fn ending(&self, run: &Run, ending: Ending) -> EndRun {
        EndRun { after: settings(), ..self.rig().ending(run, ending) }
    }

    /// The run does what its task's script says.
    pub(super) async fn act(&mut self, id: RunId) {
        if let Some(run) = self.gone.get(&id) {
            let late = self.rig().store.call(self.ending(run, Ending::Succeeded)).await;
            assert!(matches!(late, Err(StoreError::LeaseLost { .. })), "{late:?}");
            self.gone.remove(&id);
            return;
        }
        let Some(live) = self.live.get_mut(&id) else { return };
        let act = live.act;
        if matches!(act, Act::Die | Act::Stall) {
            live.is_silent = true;
            if act == Act::Stall {
                self.after(LEASE * 3, Happening::Act(id));
            }
            return;
        }
        let LiveRun { task, runner, run, .. } = self.live.remove(&id).unwrap();
        let exit = self.rig().advancing(&run, RunMove::Exit);
        self.rig().ok(exit).await;
        let jitter = self.chance.number() % 10_000;
        let end = EndRun { jitter, ..self.scripted_end(&run, act) };
        self.tasks[task].state = self.rig().ok(end).await.state();
        self.follow_up(task, act);
        self.claim(runner).await;
    }

    fn scripted_end(&mut self, run: &Run, act: Act) -> EndRun {
        match act {
            Act::Succeed => self.ending(run, Ending::Succeeded),
            Act::Ask(_) => self.ending(run, Ending::Asked),
            Act::RateLimited(span) => {
                let until = self.rig().now().plus(span);
                let paused = self.paused.entry(run.account().to_owned()).or_insert(until);
                *paused = until.max(*paused);
                let mut end = self.ending(run, Ending::Failed(Reason::RateLimited, "slow down".to_owned()));
                end.after.reset = Some(until);
                end
            }
            Act::Fail(reason) => self.ending(run, Ending::Failed(reason, "failed".to_owned())),
            Act::Die | Act::Stall => unreachable!("it says nothing"),
        }
    }

    /// What people do about the end of a run.
    fn follow_up(&mut self, task: usize, act: Act) {
        if let Act::Ask(span) = act {
            assert_eq!(self.tasks[task].state, TaskState::Waiting);
            self.after(span, Happening::Answer(task));
        }
        self.retry_if_failed(task);
    }

    pub(super) async fn expire(&mut self) {
        self.after(POLL_INTERVAL, Happening::Expire);
        if self.runners.iter().all(|runner| !runner.is_up) {
            return;
        }
        let mut expiring = self.rig().expiring();
        expiring.after = settings();
        for (task, run) in self.rig().ok(expiring).await {
            let live = self.live.remove(&run).expect("only what is live expires");
            assert!(live.is_silent, "{run} was renewed in time");
            let number = self.positions[&task.id];
            self.tasks[number].state = task.state();
            if live.act == Act::Stall {
                self.gone.insert(run, live.run);
            }
            self.retry_if_failed(number);
        }
    }

    /// A runner ends: killed, then its keepers go on, or asked to, then it gives its tasks back.
    pub(super) async fn stop(&mut self, runner: usize) {
        self.runners[runner].is_up = false;
        let span = self.chance.minutes(30);
        self.after(span, Happening::Start(runner));
        if self.chance.percent(50) {
            return;
        }
        let its = |live: &LiveRun| live.runner == runner && !live.is_silent;
        let runs: Vec<_> = self.live.iter().filter(|(_, live)| its(live)).map(|(id, _)| *id).collect();
        for id in runs {
            let LiveRun { task, run, .. } = self.live.remove(&id).unwrap();
            let end = self.ending(&run, Ending::Released("the runner stops".to_owned()));
            let story = &mut self.tasks[task];
            story.state = self.rig.ok(end).await.state();
            // The script goes on where it was.
            (story.played, story.releases) = (story.played - 1, story.releases + 1);
            assert_eq!(story.state, TaskState::Queued);
            self.gone.insert(id, run);
        }
    }

    /// Somebody changes the configuration.
    pub(super) fn edit(&mut self) {
        let cap = |chance: &mut super::Chance, from: usize, to: usize| {
            chance.percent(50).then(|| u32::try_from(from + chance.below(to - from)).unwrap())
        };
        let total = cap(&mut self.chance, 5, 12);
        let per_project = cap(&mut self.chance, 2, 6);
        let per_agent =
            AGENTS.iter().filter_map(|agent| Some(((*agent).to_owned(), cap(&mut self.chance, 2, 6)?)));
        let per_agent = per_agent.collect();
        self.caps = Caps { total, per_project, per_agent };
        for runner in &mut self.runners {
            runner.slots = 2 + self.chance.below(4);
        }
    }
}
