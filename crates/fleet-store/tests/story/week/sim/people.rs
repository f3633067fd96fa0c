//! People: they add tasks, answer late, cancel, hold, and take up again what failed.

use fleet_core::policy::RetryPolicy;
use fleet_core::task::{TaskMove, TaskState};
use fleet_store::ops::NewTask;

use super::{Happening, TaskStory, Week};
use crate::week::plan::{RETRIES, TaskPlan};

impl Week<'_> {
    pub(super) async fn add(&mut self) {
        let plans = self.batches.pop_front().expect("as many batches as times");
        let mut drafts: Vec<NewTask> = Vec::new();
        for plan in &plans {
            let draft = self.draft(plan, &drafts);
            drafts.push(draft);
        }
        for (id, plan) in self.rig.add(drafts).await.into_iter().zip(plans) {
            let number = self.tasks.len();
            if let Some(span) = plan.cancelled_after {
                self.after(span, Happening::Cancel(number));
            }
            if let Some((span, _)) = plan.held {
                self.after(span, Happening::Hold(number));
            }
            self.positions.insert(id, number);
            let state = TaskState::Queued;
            self.tasks.push(TaskStory {
                id,
                plan,
                state,
                played: 0,
                runs: 0,
                releases: 0,
                was_retried: false,
            });
        }
    }

    /// A task may wait for others of its own batch.
    fn draft(&self, plan: &TaskPlan, before: &[NewTask]) -> NewTask {
        let mut draft = self.rig.draft_in(self.projects[plan.project], "part of the week");
        draft.spec.agent = plan.agent.map(|agent| agent.parse().unwrap());
        draft.spec.priority = plan.priority.try_into().unwrap();
        draft.spec.retry = RetryPolicy { retries: RETRIES, backoff_seconds: 60, ..RetryPolicy::default() };
        let id = |on: &usize| {
            self.tasks.get(*on).map_or_else(|| before[*on - self.tasks.len()].id, |story| story.id)
        };
        draft.after = plan.after.iter().map(id).collect();
        draft
    }

    pub(super) async fn answer(&mut self, task: usize) {
        if self.tasks[task].state != TaskState::Waiting {
            return;
        }
        let saying = self.rig.saying(self.tasks[task].id, "yes");
        self.tasks[task].state = self.rig.ok(saying).await.task.state();
        assert_eq!(self.tasks[task].state, TaskState::Queued, "an answer brings a task back");
    }

    pub(super) async fn cancel(&mut self, task: usize) {
        if matches!(self.tasks[task].state, TaskState::Done | TaskState::Cancelled) {
            return;
        }
        self.tasks[task].state = self.rig.moved(self.tasks[task].id, TaskMove::Cancel).await.state();
        let run = self.live.iter().find(|(_, live)| live.task == task).map(|(id, _)| *id);
        if let Some(live) = run.and_then(|run| self.live.remove(&run)) {
            self.gone.insert(live.run.id, live.run);
        }
    }

    pub(super) async fn hold(&mut self, task: usize) {
        let story = &self.tasks[task];
        let (TaskState::Queued, Some((_, span))) = (story.state, story.plan.held) else { return };
        self.tasks[task].state = self.rig.moved(story.id, TaskMove::Hold).await.state();
        self.after(span, Happening::Release(task));
    }

    pub(super) async fn release(&mut self, task: usize) {
        if self.tasks[task].state == TaskState::Held {
            self.tasks[task].state = self.rig.moved(self.tasks[task].id, TaskMove::Release).await.state();
        }
    }

    pub(super) fn retry_if_failed(&mut self, task: usize) {
        let story = &self.tasks[task];
        if story.state == TaskState::Failed && story.plan.is_retried {
            assert!(!story.was_retried, "it succeeds then: {:?}", story.plan);
            let span = self.chance.minutes(24 * 60);
            self.after(span, Happening::Retry(task));
        }
    }

    pub(super) async fn retry(&mut self, task: usize) {
        if self.tasks[task].state == TaskState::Failed {
            self.tasks[task].was_retried = true;
            self.tasks[task].state = self.rig.moved(self.tasks[task].id, TaskMove::Retry).await.state();
        }
    }
}
