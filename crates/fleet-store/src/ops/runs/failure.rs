//! What a failed run means: for its task, for the account of its agent, and for the agents that could go on.

use std::collections::BTreeMap;

use fleet_core::policy::{
    EligibleAgent, FailedRun, FailureAction, FailureDecision, Policy, ProviderRefusal, ReleasedRun, successor,
};
use fleet_core::run::{Reason, Run, StopKind};
use fleet_core::task::{AgentName, Task, TaskMove};
use serde::{Deserialize, Serialize};

use super::end::EndRun;
use super::row::about_run;
use crate::ops::pauses;
use crate::ops::prelude::*;
use crate::ops::rows::{record, write_agent};

/// What decides about a failed run, beside the run and its task. The default is the usual policy, without an agent that
/// could take over.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailureSettings {
    pub policy: Policy,
    /// When the provider serves the account again, if it said so.
    pub reset: Option<Millis>,
    /// The agent of tasks that name none.
    pub default_agent: Option<AgentName>,
    /// The agents that may take over, in turn.
    pub fallback: Vec<AgentName>,
    /// The accounts of agents; one that is not among them goes by the agent's name.
    pub accounts: BTreeMap<AgentName, String>,
}

pub(super) struct Consequence {
    pub(super) event: TaskMove,
    pub(super) fact: Fact,
}

impl EndRun {
    /// Pauses, hands over, tries again or gives up; updates the task's history.
    pub(super) async fn failed(
        &self,
        tx: &mut dyn Tx,
        task: &mut Task,
        run: &Run,
        (reason, detail): (Reason, String),
    ) -> Result<Consequence, StoreError> {
        let policy = &self.after.policy;
        if policy.pauses(reason) {
            let (patience, reset) = (policy.patience(reason), self.after.reset);
            let trouble = ProviderRefusal { patience, reset, jitter: self.jitter, now: self.now };
            pauses::pause_after_refusal(tx, run, &trouble, &detail).await?;
        }
        let next = match policy.action(reason) {
            FailureAction::HandOver => self.next(tx, task, run).await?,
            _ => None,
        };
        let failure = FailedRun::new(reason, task, run.mode, self.jitter);
        let verdict = policy.after_failure(&failure, next);
        task.history.count(verdict.counter(reason));
        task.history.reason = Some(reason);
        task.history.remark = Some(detail.clone());
        let failures = task.history.failures;
        let not_before = match verdict {
            FailureDecision::GiveUp => return Ok(given_up(task, reason, detail)),
            FailureDecision::RetryAfter(wait) => Some(self.now.plus(wait)),
            // The pause of the account holds it back, and ends for all tasks at once when a person lifts it.
            FailureDecision::Pause => None,
            FailureDecision::HandOver(to) => {
                self.hand_over(tx, task, run, (to, reason)).await.map(|()| None)?
            }
        };
        task.history.retry_at = not_before;
        let fact = Fact::TaskRequeued { reason: Some(reason), detail, failures, not_before };
        Ok(Consequence { event: TaskMove::Requeue, fact })
    }

    /// The agent that takes over from the agent of a run, if any.
    async fn next(&self, tx: &mut dyn Tx, task: &Task, run: &Run) -> Result<Option<AgentName>, StoreError> {
        let Ok(failed) = run.agent.parse::<AgentName>() else { return Ok(None) };
        let paused = pauses::pause_ends(tx, self.now).await?;
        Ok(self.after.successor_for(task, (&failed, run.account()), &paused))
    }

    async fn hand_over(
        &self,
        tx: &mut dyn Tx,
        task: &mut Task,
        run: &Run,
        (to, reason): (AgentName, Reason),
    ) -> Result<(), StoreError> {
        let fact = Fact::TaskHandedOver { from: run.agent.clone(), to: to.to_string(), reason };
        self.after.give(task, to);
        write_agent(tx, task).await?;
        record(tx, self.now, about_run(run), &fact).await
    }
}

/// What the store says of a task that failed; its history is up to date.
fn given_up(task: &Task, reason: Reason, detail: String) -> Consequence {
    let fact = Fact::TaskFailed { reason, detail, failures: task.history.failures };
    Consequence { event: TaskMove::Fail, fact }
}

/// A run was stopped through no fault of its task: the task returns to the queue, or waits for a person.
pub(super) fn released(task: &mut Task, run: &Run, detail: String) -> Consequence {
    task.history.remark = Some(detail.clone());
    let released = ReleasedRun {
        mode: task.spec.mode,
        had_agent: run.started_at.is_some(),
        // Not the modes: a person who has changed their mind, and wants the first one back, waits, too.
        was_switched: run.stop.as_ref().is_some_and(|stop| stop.kind == StopKind::Switch),
    };
    if let Some(reason) = released.failure() {
        task.history.reason = Some(reason);
        return given_up(task, reason, detail);
    }
    let failures = task.history.failures;
    let fact = Fact::TaskRequeued { reason: None, detail, failures, not_before: None };
    Consequence { event: TaskMove::Requeue, fact }
}

impl FailureSettings {
    /// The agent that the author of a task wanted.
    fn own<'a>(&'a self, task: &'a Task) -> Option<&'a AgentName> {
        task.spec.agent.as_ref().or(self.default_agent.as_ref())
    }

    /// The agent that takes over a task from an agent with this account, if any.
    pub(in crate::ops) fn successor_for(
        &self,
        task: &Task,
        (failed, account): (&AgentName, &str),
        paused: &BTreeMap<String, Millis>,
    ) -> Option<AgentName> {
        let mut agents: Vec<&AgentName> = Vec::new();
        for agent in self.own(task).into_iter().chain(&self.fallback).chain([failed]) {
            if !agents.contains(&agent) {
                agents.push(agent);
            }
        }
        let helper = |agent: &&AgentName| {
            let account = if *agent == failed { account } else { self.account(agent) };
            EligibleAgent { agent: (*agent).clone(), paused_until: paused.get(account).copied() }
        };
        successor(&agents.iter().map(helper).collect::<Vec<_>>(), failed)
    }

    /// Gives a task to an agent. A task that returns to the agent of its author is no longer handed over.
    pub(in crate::ops) fn give(&self, task: &mut Task, to: AgentName) {
        task.history.handed_to = Some(to).filter(|to| Some(to) != self.own(task));
    }

    pub(in crate::ops) fn account<'a>(&'a self, agent: &'a AgentName) -> &'a str {
        self.accounts.get(agent).map_or(agent.as_str(), String::as_str)
    }
}
