//! The week itself: an agenda of what happens when, and the state that the store must agree with.

mod people;
mod runners;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use fleet_core::id::{ProjectId, RunId, TaskId};
use fleet_core::run::Run;
use fleet_core::schedule::Caps;
use fleet_core::task::TaskState;
use fleet_core::time::Millis;
use fleet_store::ops::LiveRuns;

use super::chance::Chance;
use super::plan::{self, Act, PROJECTS, TaskPlan};
use crate::harness::{Rig, START};
use runners::Runner;

const WEEK: Duration = Duration::from_hours(7 * 24);
/// What is not over by then never will be.
const HORIZON: Duration = Duration::from_hours(21 * 24);
/// Tasks come until two days before the end.
const ARRIVALS: Duration = Duration::from_hours(5 * 24);

/// Something that happens at a certain time. Numbers are positions of tasks and of runners.
#[derive(Debug, Clone, Copy)]
enum Happening {
    Add,
    Look(usize),
    Expire,
    Renew(RunId),
    Act(RunId),
    Answer(usize),
    Cancel(usize),
    Hold(usize),
    Release(usize),
    Retry(usize),
    Stop(usize),
    Start(usize),
    Edit,
}

struct TaskStory {
    id: TaskId,
    plan: TaskPlan,
    state: TaskState,
    /// How many of its acts were played.
    played: usize,
    runs: usize,
    /// Runs that were stopped through no fault of the task.
    releases: usize,
    was_retried: bool,
}

struct LiveRun {
    task: usize,
    runner: usize,
    run: Run,
    act: Act,
    /// Its keeper writes nothing any more.
    is_silent: bool,
}

pub(in super::super) struct Week<'a> {
    rig: &'a Rig,
    chance: Chance,
    batches: VecDeque<Vec<TaskPlan>>,
    projects: Vec<ProjectId>,
    tasks: Vec<TaskStory>,
    positions: BTreeMap<TaskId, usize>,
    live: BTreeMap<RunId, LiveRun>,
    /// Runs that somebody else ended: their keepers may not know it yet.
    gone: BTreeMap<RunId, Run>,
    runners: Vec<Runner>,
    caps: Caps,
    /// Until when an account gets no work.
    paused: BTreeMap<String, Millis>,
    agenda: BTreeMap<(Millis, u64), Happening>,
    scheduled: u64,
}

impl<'a> Week<'a> {
    pub(in super::super) async fn new(rig: &'a Rig, seed: u64) -> Self {
        let mut chance = Chance::new(seed);
        let batches: VecDeque<_> = plan::plan(&mut chance).into();
        let mut projects = Vec::new();
        for number in 0..PROJECTS {
            projects.push(rig.project(&format!("/repo{number}/.git")).await);
        }
        let mut week = Self {
            rig,
            chance,
            projects,
            tasks: Vec::new(),
            positions: BTreeMap::new(),
            live: BTreeMap::new(),
            gone: BTreeMap::new(),
            runners: Runner::all(),
            caps: Caps::default(),
            paused: BTreeMap::new(),
            agenda: BTreeMap::new(),
            scheduled: 0,
            batches,
        };
        week.first_agenda();
        week
    }

    fn first_agenda(&mut self) {
        let span = ARRIVALS / u32::try_from(self.batches.len()).unwrap();
        for number in 0..u32::try_from(self.batches.len()).unwrap() {
            self.after(span * number, Happening::Add);
        }
        for runner in 0..self.runners.len() {
            self.after(Duration::ZERO, Happening::Look(runner));
            // Twice a day, each at other times.
            for half_day in 0..14_u32 {
                let shift = self.chance.minutes(11 * 60);
                self.after(Duration::from_hours(12) * half_day + shift, Happening::Stop(runner));
            }
        }
        for number in 0..42_u32 {
            self.after(Duration::from_hours(4) * number, Happening::Edit);
        }
        self.after(Duration::ZERO, Happening::Expire);
    }

    fn after(&mut self, span: Duration, what: Happening) {
        self.scheduled += 1;
        self.agenda.insert((self.rig.now().plus(span), self.scheduled), what);
    }

    fn is_week_over(&self) -> bool {
        self.rig.now() > START.plus(WEEK)
    }

    pub(in super::super) async fn play(mut self) {
        while let Some(((at, _), what)) = self.agenda.pop_first() {
            self.rig.pass(at.since(self.rig.now()));
            self.happen(what).await;
            if self.is_week_over() && self.is_settled() {
                break;
            }
            assert!(self.rig.now() < START.plus(HORIZON), "never over:\n{}", self.open().join("\n"));
        }
        self.check_end().await;
    }

    async fn happen(&mut self, what: Happening) {
        match what {
            Happening::Add => self.add().await,
            Happening::Look(runner) => self.look(runner).await,
            Happening::Expire => self.expire().await,
            Happening::Renew(run) => self.renew(run).await,
            Happening::Act(run) => self.act(run).await,
            Happening::Answer(task) => self.answer(task).await,
            Happening::Cancel(task) => self.cancel(task).await,
            Happening::Hold(task) => self.hold(task).await,
            Happening::Release(task) => self.release(task).await,
            Happening::Retry(task) => self.retry(task).await,
            Happening::Stop(runner) => self.stop(runner).await,
            Happening::Start(runner) => self.runners[runner].is_up = true,
            Happening::Edit => self.edit(),
        }
    }

    /// How each task must end; those before it decide whether it ever starts.
    fn expected(&self) -> Vec<TaskState> {
        let mut ends: Vec<TaskState> = Vec::new();
        for story in &self.tasks {
            let can_start = story.plan.after.iter().all(|on| ends[*on] == TaskState::Done);
            ends.push(match story.state {
                TaskState::Cancelled => TaskState::Cancelled,
                _ if can_start => story.plan.end,
                _ => TaskState::Queued,
            });
        }
        ends
    }

    fn is_settled(&self) -> bool {
        let fits = |(story, end): (&TaskStory, TaskState)| story.state == end;
        self.batches.is_empty() && self.live.is_empty() && self.tasks.iter().zip(self.expected()).all(fits)
    }

    /// The tasks that are not as they should be.
    fn open(&self) -> Vec<String> {
        let stories = self.tasks.iter().zip(self.expected());
        let wrong = stories.filter(|(story, end)| story.state != *end);
        wrong
            .map(|(story, end)| format!("{} {} is not {end}: {:?}", story.id, story.state, story.plan))
            .collect()
    }

    async fn check_end(&self) {
        assert!(self.is_settled(), "the agenda is empty:\n{}", self.open().join("\n"));
        let stored: BTreeMap<TaskId, _> =
            self.rig.export(None).await.into_iter().map(|(task, _)| (task.id, task)).collect();
        for (story, end) in self.tasks.iter().zip(self.expected()) {
            let task = &stored[&story.id];
            assert_eq!(task.state(), end, "{:?}", story.plan);
            assert_eq!(usize::try_from(task.history.attempts).unwrap(), story.runs);
            if matches!(end, TaskState::Done | TaskState::Failed) {
                let scripted = story.plan.acts.len() + usize::from(story.was_retried);
                assert_eq!(story.runs, scripted + story.releases, "{:?}", story.plan);
            }
        }
        self.tell();
        for runner in &self.runners {
            let live = self.rig.ok(LiveRuns { place: runner.place.to_owned() }).await;
            assert!(live.is_empty(), "a slot is leaked: {live:?}");
        }
    }

    /// What the week was like, for whoever wonders whether it was worth playing.
    fn tell(&self) {
        let count = |state| self.tasks.iter().filter(|story| story.state == state).count();
        let runs: usize = self.tasks.iter().map(|story| story.runs).sum();
        let releases: usize = self.tasks.iter().map(|story| story.releases).sum();
        println!(
            "{} done, {} failed, {} cancelled, {} blocked; {runs} runs, of which {releases} were given back; {} events on the agenda",
            count(TaskState::Done),
            count(TaskState::Failed),
            count(TaskState::Cancelled),
            count(TaskState::Queued),
            self.scheduled,
        );
    }
}
