//! Beginning: the conversation that fits, and a new one if the agent cannot go on with that.

use fleet_agents::Adapter;
use fleet_core::event::Fact;
use fleet_core::outcome::AgentExit;
use fleet_core::problem::Outcome;
use fleet_core::run::{Reason, RunMove};
use fleet_host::process;
use fleet_store::ops;
use tokio::time::timeout;

use super::record::RecordReader;
use super::{AgentProcess, Attendance, DRAIN, Seen};
use crate::agent_env::secret_values;
use crate::keeper::agent::Cradle;
use crate::keeper::journal::{self, Journal, Stored};
use crate::keeper::mailbox::Mailbox;
use crate::keeper::prepare::Prepared;
use crate::keeper::talk::{Here, Talk};
use crate::keeper::{Keeper, blocking, internal};
use crate::{clock, fault};

/// One process of the agent.
struct Attempt<'a> {
    adapter: &'a dyn Adapter,
    talk: Talk,
    /// What became of the one before it in this run, if that could not go on with its conversation.
    after: Option<&'a Seen>,
}

impl Seen {
    /// Whether the agent ended by itself before anything came from its model, and its provider is not to blame: then
    /// the conversation that it was to go on with is what it failed at.
    fn is_stillborn(&self) -> bool {
        let is_own = self.heard.failure.as_ref().is_none_or(|failure| failure.reason == Reason::AgentError);
        let has_failed = self.heard.failure.is_some() || !self.exit.is_success();
        let has_ended = self.stopped.is_none() && !matches!(self.exit, AgentExit::NotStarted(_));
        has_ended && has_failed && is_own && !self.heard.has_begun
    }

    /// Why it ended, in a sentence.
    fn end(&self) -> String {
        self.heard.failure.as_ref().map_or_else(|| self.exit.to_string(), |failure| failure.text.clone())
    }
}

impl Keeper<'_> {
    /// Starts the agent, follows it, and ends all that it started. An agent that does not have its conversation any more
    /// begins a new one at once, which is no fault of the task.
    pub(in crate::keeper) async fn attend(&self, prepared: &Prepared, cradle: Cradle) -> Seen {
        let Some(adapter) = self.agents.find(&self.run.agent) else {
            let why = format!("there is no agent called `{}` here", self.run.agent);
            return Seen::not_started(Reason::AgentMissing, why);
        };
        let here = Here { run: &self.run, workspace: prepared.workspace.path(), resumes: adapter.resumes() };
        let talk = match Talk::choose(&here, &prepared.before, self.task.history.failures) {
            Ok(talk) => talk,
            Err(problem) => return Seen::not_started(Reason::SetupFailed, problem.to_string()),
        };
        let is_resumed = talk.is_resumed();
        let first = self.attempt(Attempt { adapter, talk, after: None }, prepared, cradle).await;
        if !is_resumed || !first.is_stillborn() || self.orders.borrow().is_some() {
            return first;
        }
        match self.again(&first).await {
            Ok((talk, cradle)) => {
                self.attempt(Attempt { adapter, talk, after: Some(&first) }, prepared, cradle).await
            }
            Err(_) => first,
        }
    }

    /// What a second process needs. The store gets the rest of the first one's output before anything that follows it.
    async fn again(&self, first: &Seen) -> Outcome<(Talk, Cradle)> {
        if let Some(last) = first.last.clone() {
            journal::store(self.store.clone(), last).await.map_err(internal)?;
        }
        Ok((Talk::new()?, self.cradle().await.map_err(internal)?))
    }

    async fn attempt(&self, attempt: Attempt<'_>, prepared: &Prepared, cradle: Cradle) -> Seen {
        let Attempt { adapter, talk, after } = attempt;
        let mut mailbox = Mailbox::new(self);
        let briefing = match self.bounded(self.briefing(prepared, talk, &mut mailbox)).await {
            Ok(briefing) => briefing,
            Err(why) => return Seen::not_started(Reason::SetupFailed, why),
        };
        let brief = briefing.brief();
        let plan = adapter.plan(&brief);
        let environment = self.environment(prepared, Some(&plan));
        let secrets: Vec<_> = secret_values(&environment).chain(self.secrets()).collect();
        let resumed = brief.conversation.resumed().and_then(|session| adapter.record(session));
        let record = match blocking(move || RecordReader::new(resumed.as_ref(), environment)).await {
            Ok(record) => record,
            Err(problem) => return Seen::not_started(Reason::SetupFailed, problem.to_string()),
        };
        let (started, tree) = match self.start(&plan, &brief, prepared, cradle) {
            Ok(started) => started,
            Err((reason, why)) => return Seen::not_started(reason, why),
        };
        let stored = after.map_or_else(Stored::default, |first| first.stored);
        let mut journal = Journal::new(self.run.id, self.run.fence, adapter.decoder(&brief), stored)
            .priced(self.pricing())
            .within(self.boundary(&adapter.about(), prepared));
        if let (None, Err(why)) = (after, &prepared.door) {
            let text =
                format!("its agent cannot call `fleet`: the door of the run could not be opened: {why}");
            journal.note(Fact::RunWarned { text }, clock::now());
        }
        if let Some(first) = after {
            let text =
                format!("it could not go on with its conversation ({}) and begins a new one", first.end());
            journal.note(Fact::RunWarned { text }, clock::now());
        }
        let process = AgentProcess { adapter, started, tree: tree.clone(), mailbox };
        let mut attendance = match self.attendance(process, journal, prepared, &secrets) {
            Ok(attendance) => Attendance { ask: plan.ask, record, ..attendance },
            Err(why) => {
                let ladder = self.ladder();
                let _ = blocking(move || tree.kill_now(ladder.kill_patience, &mut || drop(process::reap())))
                    .await;
                return Seen::not_started(Reason::SetupFailed, why);
            }
        };
        fault::point(self.engine, "keeper-launched").await;
        if after.is_none() {
            self.tell_start().await;
        }
        attendance.mailbox.started();
        attendance.follow().await
    }

    async fn tell_start(&self) {
        let (run, fence, now) = (self.run.id, self.run.fence, self.engine.now());
        let moved = self.call(ops::AdvanceRun { run, fence, event: RunMove::Start, now });
        // A refusal means that the run is lost, which the lease tells as well; a store that is out of reach is no
        // reason to stop an agent that has just begun.
        let _ = timeout(DRAIN, moved).await;
    }
}
