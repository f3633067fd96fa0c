//! What the scenarios of workflows do again and again.

use std::collections::BTreeMap;

use fleet_core::id::{TaskId, WorkflowId};
use fleet_core::outcome::{AgentExit, ResultStatus, RunResult};
use fleet_core::policy::RetryPolicy;
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::workflow::{Part, PartState, Spec, Stage, Workflow};
use fleet_store::ops::{
    AddWorkflow, Author, CancelWorkflow, EndRun, GetWorkflow, PartDetail, RetryWorkflow, StoredWorkflow,
};

use crate::harness::Rig;

pub(super) const BASE: &str = "0123456789abcdef0123456789abcdef01234567";

/// A stage that is not tried again by itself.
pub(super) fn stage(name: &str, needs: &[usize]) -> Stage {
    let mut stage = Stage::new(name.parse().unwrap(), format!("do {name}: {{task_prompt}}"));
    stage.needs = needs.to_vec();
    stage.retries = Some(0);
    stage
}

pub(super) fn spec(stages: Vec<Stage>) -> Spec {
    Spec {
        name: "flow".to_owned(),
        task: "all of it".to_owned(),
        params: BTreeMap::new(),
        fail_fast: false,
        stages,
    }
}

pub(super) fn result() -> RunResult {
    RunResult {
        status: ResultStatus::Completed,
        reason: None,
        summary: "did it".to_owned(),
        files_changed: Vec::new(),
        files: 1,
        commits: vec!["c1".to_owned()],
        commit_count: 1,
        tests: Vec::new(),
        checks: Vec::new(),
        next_steps: Vec::new(),
        verdict: None,
        items: Vec::new(),
        exit: AgentExit::Code(0),
        claimed: None,
        remarks: Vec::new(),
        branch_taken: false,
        unpublished: false,
    }
}

impl Rig {
    pub(super) async fn workflow_adding(&self, spec: Spec) -> AddWorkflow {
        let project = self.project("/repo/.git").await;
        let (id, base, now) = (self.id(), BASE.parse().unwrap(), self.now());
        AddWorkflow {
            id,
            project,
            spec,
            source: None,
            base,
            priority: 4.try_into().unwrap(),
            author: Author::Person { spawn_depth: 1 },
            now,
        }
    }

    pub(super) async fn workflow(&self, spec: Spec) -> WorkflowId {
        let add = self.workflow_adding(spec).await;
        self.ok(add).await.id
    }

    pub(super) async fn workflow_detail(&self, id: WorkflowId) -> StoredWorkflow {
        self.ok(GetWorkflow { id, with_results: true }).await
    }

    /// The workflow in a line: its state, and where each part stands.
    pub(super) async fn shown(&self, id: WorkflowId) -> String {
        let detail = self.workflow_detail(id).await;
        let parts: Vec<&Part> = detail.parts.iter().map(|part| &part.part).collect();
        assert_eq!(detail.workflow.tally, Workflow::tally(parts.into_iter()), "the parts are counted");
        let shown = |part: &PartDetail| match part.part.skip {
            _ if part.part.replaced => format!("({} {})", part.name, part.part.state),
            Some(why) => format!("{} skipped: {why}", part.name),
            None => format!("{} {}", part.name, part.part.state),
        };
        let parts: Vec<String> = detail.parts.iter().map(shown).collect();
        format!("{}: {}", detail.workflow.state, parts.join(", "))
    }

    /// The task of a part, by its name; that which replaced the others.
    pub(super) async fn task_of(&self, id: WorkflowId, name: &str) -> TaskId {
        let detail = self.workflow_detail(id).await;
        let part = detail.parts.iter().find(|part| part.name == name && !part.part.replaced);
        part.and_then(|part| part.task.as_ref()).unwrap_or_else(|| panic!("{name} is no task")).id
    }

    /// Claims everything that is ready.
    pub(super) async fn claim_all(&self) -> BTreeMap<TaskId, Run> {
        let claimed = self.claim(1_000).await.into_iter();
        claimed.map(|claimed| (claimed.task.id, claimed.run)).collect()
    }

    pub(super) fn ending_as(&self, run: &Run, fate: PartState) -> EndRun {
        let ending = match fate {
            PartState::Failed => Ending::Failed(Reason::AgentError, "broke".to_owned()),
            PartState::Cancelled => Ending::Cancelled("not this one".to_owned()),
            _ => Ending::Succeeded,
        };
        let result = Some(serde_json::to_string(&result()).unwrap());
        EndRun { result, ..self.ending(run, ending) }
    }

    /// Claims the task of a part, which is ready.
    pub(super) async fn run_of(&self, id: WorkflowId, name: &str) -> Run {
        let task = self.task_of(id, name).await;
        let mut claimed = self.claim_all().await;
        claimed.remove(&task).unwrap_or_else(|| panic!("{name} is not ready"))
    }

    /// Ends the stages of these names, which are ready or run, one after the other.
    pub(super) async fn play(&self, id: WorkflowId, ends: &[(&str, PartState)]) {
        for (name, fate) in ends {
            self.play_with(id, name, (*fate, result())).await;
        }
    }

    pub(super) async fn play_with(&self, id: WorkflowId, name: &str, (fate, result): (PartState, RunResult)) {
        self.claim_all().await;
        let task = self.task_of(id, name).await;
        let run = self.get(task).await.runs.pop().unwrap_or_else(|| panic!("{name} was not started"));
        if fate == PartState::Done {
            self.work(&run).await;
        }
        let result = Some(serde_json::to_string(&result).unwrap());
        self.ok(EndRun { result, ..self.ending_as(&run, fate) }).await;
    }

    pub(super) fn cancelling(&self, id: WorkflowId) -> CancelWorkflow {
        CancelWorkflow { id, why: None, now: self.now() }
    }

    pub(super) fn retrying(&self, id: WorkflowId, from: Option<&str>) -> RetryWorkflow {
        RetryWorkflow { id, from: from.map(|name| name.parse().unwrap()), now: self.now() }
    }
}

/// Failures are final.
pub(super) fn no_retry() -> RetryPolicy {
    RetryPolicy { retries: 0, check_retries: 0, ..RetryPolicy::default() }
}
