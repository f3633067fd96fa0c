//! What scenarios do again and again, each with the usual values filled in.

use std::collections::BTreeMap;
use std::time::Duration;

use fleet_core::deps::Edge;
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::message::MessageKind;
use fleet_core::project::RepositoryFacts;
use fleet_core::run::{Ending, Run, RunMove};
use fleet_core::schedule::Caps;
use fleet_core::task::{Task, TaskMove, TaskSpec, TaskState};
use fleet_store::ops::{
    AddDependency, AddTasks, AdvanceRun, Author, Claim, ClaimOnly, Claimed, DeleteTask, EndRun,
    EnsureProject, ExpireLeases, FailureSettings, GetRun, GetTask, MoveTask, NewTask, PrepareRun, Prepared,
    ProjectCheckout, RemoveDependency, RenewLease, RunDetail, SendMessage, TaskDetail,
};

use super::Rig;

/// Where runs of the rig are.
pub(crate) const HERE: &str = "here:/home/.fleet";

/// Who adds the tasks of the rig.
pub(crate) const PERSON: Author = Author::Person { spawn_depth: 2 };

/// How long claims of the rig hold.
pub(crate) const LEASE: Duration = Duration::from_mins(1);

/// A repository at a place.
pub(crate) fn checkout(place: &str, dir: &str, name: &str) -> ProjectCheckout {
    ProjectCheckout { place: place.to_owned(), common_dir: dir.to_owned(), name: name.to_owned() }
}

impl Rig {
    pub(crate) async fn project(&self, dir: &str) -> ProjectId {
        let (id, now) = (self.id(), self.now());
        let checkout = checkout(HERE, dir, dir);
        self.ok(EnsureProject { id, checkout, seen: RepositoryFacts::default(), now }).await.id
    }

    /// A task of the usual project, not yet added.
    pub(crate) async fn draft(&self, title: &str) -> NewTask {
        let project = self.project("/repo/.git").await;
        self.draft_in(project, title)
    }

    pub(crate) fn draft_in(&self, project: ProjectId, title: &str) -> NewTask {
        let spec = TaskSpec::new(title.parse().unwrap());
        NewTask { id: self.id(), project, spec, after: Vec::new(), state: TaskState::Queued }
    }

    pub(crate) async fn drafts(&self, count: usize) -> Vec<NewTask> {
        let project = self.project("/repo/.git").await;
        (0..count).map(|n| self.draft_in(project, &format!("task {n}"))).collect()
    }

    pub(crate) fn adding(&self, tasks: Vec<NewTask>) -> AddTasks {
        AddTasks { tasks, author: PERSON, now: self.now() }
    }

    pub(crate) async fn add(&self, tasks: Vec<NewTask>) -> Vec<TaskId> {
        self.ok(self.adding(tasks)).await.into_iter().map(|task| task.id).collect()
    }

    pub(crate) async fn add_one(&self, task: NewTask) -> TaskId {
        self.add(vec![task]).await[0]
    }

    /// Adds a plain task.
    pub(crate) async fn task(&self, title: &str) -> TaskId {
        let draft = self.draft(title).await;
        self.add_one(draft).await
    }

    /// Adds plain tasks, the oldest first.
    pub(crate) async fn tasks(&self, count: usize) -> Vec<TaskId> {
        let drafts = self.drafts(count).await;
        self.add(drafts).await
    }

    /// Adds a task that waits for others.
    pub(crate) async fn task_after(&self, title: &str, after: &[TaskId]) -> TaskId {
        let draft = self.draft(title).await;
        self.add_one(NewTask { after: after.to_vec(), ..draft }).await
    }

    pub(crate) async fn get(&self, id: TaskId) -> TaskDetail {
        self.ok(GetTask { id }).await
    }

    pub(crate) async fn state(&self, id: TaskId) -> TaskState {
        self.get(id).await.task.state()
    }

    pub(crate) fn moving(&self, id: TaskId, event: TaskMove) -> MoveTask {
        MoveTask { id, event, remark: None, now: self.now() }
    }

    pub(crate) async fn moved(&self, id: TaskId, event: TaskMove) -> Task {
        self.ok(self.moving(id, event)).await
    }

    /// Something more for the agent of a task, by ada.
    pub(crate) fn saying(&self, task: TaskId, text: &str) -> SendMessage {
        let (kind, text, from) = (MessageKind::Prompt, text.parse().unwrap(), "ada".to_owned());
        SendMessage { task, kind, text, from, expires_at: None, now: self.now() }
    }

    pub(crate) fn deleting(&self, id: TaskId) -> DeleteTask {
        DeleteTask { id, now: self.now() }
    }

    pub(crate) fn depending(&self, task: TaskId, on: TaskId) -> AddDependency {
        AddDependency { edge: Edge { task, on }, now: self.now() }
    }

    pub(crate) fn undepending(&self, task: TaskId, on: TaskId) -> RemoveDependency {
        RemoveDependency { edge: Edge { task, on }, now: self.now() }
    }

    pub(crate) fn claiming(&self, slots: usize) -> Claim {
        Claim {
            runner: "runner".to_owned(),
            place: HERE.to_owned(),
            runs: (0..slots).map(|_| self.id()).collect(),
            only: ClaimOnly::Any,
            default_agent: "claude".parse().unwrap(),
            able: None,
            projects: None,
            accounts: BTreeMap::new(),
            caps: Caps::default(),
            budget: None,
            lease: LEASE,
            now: self.now(),
        }
    }

    pub(crate) async fn claim(&self, slots: usize) -> Vec<Claimed> {
        self.ok(self.claiming(slots)).await
    }

    /// Claims the head of the queue, which must be this task.
    pub(crate) async fn start(&self, id: TaskId) -> Run {
        let claimed = self.claim(1).await.pop().expect("a ready task");
        assert_eq!(claimed.task.id, id, "another task is first");
        claimed.run
    }

    pub(crate) fn advancing(&self, run: &Run, event: RunMove) -> AdvanceRun {
        AdvanceRun { run: run.id, attempt: run.attempt, event, now: self.now() }
    }

    pub(crate) fn preparing(&self, run: &Run, prepared: Prepared) -> PrepareRun {
        PrepareRun { run: run.id, attempt: run.attempt, prepared, now: self.now() }
    }

    pub(crate) fn renewing(&self, run: &Run) -> RenewLease {
        RenewLease { run: run.id, attempt: run.attempt, lease: LEASE, now: self.now() }
    }

    pub(crate) async fn detail(&self, run: &Run) -> RunDetail {
        self.ok(GetRun { run: run.id }).await
    }

    /// Lets the agent of a run start and exit.
    pub(crate) async fn work(&self, run: &Run) {
        self.ok(self.advancing(run, RunMove::Start)).await;
        self.ok(self.advancing(run, RunMove::Exit)).await;
    }

    pub(crate) fn ending(&self, run: &Run, ending: Ending) -> EndRun {
        EndRun {
            run: run.id,
            attempt: run.attempt,
            ending,
            result: None,
            after: FailureSettings::default(),
            jitter: 0,
            now: self.now(),
        }
    }

    pub(crate) async fn end(&self, run: &Run, ending: Ending) -> Task {
        self.ok(self.ending(run, ending)).await
    }

    pub(crate) async fn succeed(&self, run: &Run) -> Task {
        self.work(run).await;
        self.end(run, Ending::Succeeded).await
    }

    /// Does the head of the queue, which must be this task.
    pub(crate) async fn finish(&self, id: TaskId) {
        let run = self.start(id).await;
        self.succeed(&run).await;
    }

    pub(crate) fn expiring(&self) -> ExpireLeases {
        ExpireLeases {
            elsewhere: None,
            limit: 1_000,
            after: FailureSettings::default(),
            jitter: 0,
            now: self.now(),
        }
    }
}
