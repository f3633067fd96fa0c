//! Beginning: the conversation that fits, and a new one if the agent cannot go on with that.

use std::ffi::OsString;
use std::time::Duration;

use fleet_agents::{Adapter, Brief, LaunchPlan, RecordFiles};
use fleet_core::outcome::AgentExit;
use fleet_core::problem::Outcome;
use fleet_core::run::{Reason, RunMove};
use fleet_host::process::{self, ProcessTree};
use fleet_store::ops;
use tokio::time::timeout;

use super::connect::{AgentProcess, Hooks};
use super::record::RecordReader;
use super::{AgentEnd, Supervisor};
use crate::agent_env::secret_values;
use crate::keeper::agent::{LaunchGroup, NotStarted};
use crate::keeper::journal::{self, Journal, Stored};
use crate::keeper::mailbox::Mailbox;
use crate::keeper::prepare::PreparedRun;
use crate::keeper::talk::{Talk, TalkContext};
use crate::keeper::{Keeper, blocking, internal};
use crate::terminal::Secrets;
use crate::{clock, fault};

/// A store that is out of reach is not waited for longer than this when the agent was started.
const START_TIMEOUT: Duration = Duration::from_secs(5);

fn not_set_up(why: String) -> NotStarted {
    (Reason::SetupFailed, why)
}

/// One process of the agent.
struct Attempt<'a> {
    adapter: &'a dyn Adapter,
    talk: Talk,
    /// What became of the one before it in this run, if that could not go on with its conversation.
    after: Option<&'a AgentEnd>,
}

impl AgentEnd {
    /// Whether the agent ended by itself before anything came from its model, and its provider is not to blame: then
    /// the conversation that it was to go on with is what it failed at.
    fn failed_to_resume(&self) -> bool {
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
    /// Starts the agent, follows it, and ends all that it started. An agent that does not have its conversation any
    /// more begins a new one at once: that is not the task's fault.
    pub(in crate::keeper) async fn supervise(&self, prepared: &PreparedRun, group: LaunchGroup) -> AgentEnd {
        let Some(adapter) = self.agents.find(&self.run.agent) else {
            let why = format!("there is no agent called `{}` here", self.run.agent);
            return AgentEnd::not_started(Reason::AgentMissing, why);
        };
        let here =
            TalkContext { run: &self.run, workspace: prepared.workspace.path(), resumes: adapter.resumes() };
        let talk = match Talk::choose(&here, &prepared.before, self.task.history.failures) {
            Ok(talk) => talk,
            Err(problem) => return AgentEnd::not_started(Reason::SetupFailed, problem.to_string()),
        };
        let is_resumed = talk.is_resumed();
        let first = self.attempt(Attempt { adapter, talk, after: None }, prepared, group).await;
        if !is_resumed || !first.failed_to_resume() || self.orders.borrow().is_some() {
            return first;
        }
        match self.again(&first).await {
            Ok((talk, group)) => {
                self.attempt(Attempt { adapter, talk, after: Some(&first) }, prepared, group).await
            }
            Err(_) => first,
        }
    }

    /// What a second process needs. The store gets the rest of the first one's output before anything that follows it.
    async fn again(&self, first: &AgentEnd) -> Outcome<(Talk, LaunchGroup)> {
        if let Some(last) = first.last.clone() {
            journal::store(self.store.clone(), last).await.map_err(internal)?;
        }
        Ok((Talk::new()?, self.launch_group().await.map_err(internal)?))
    }

    async fn attempt(&self, attempt: Attempt<'_>, prepared: &PreparedRun, group: LaunchGroup) -> AgentEnd {
        match self.begin(attempt, prepared, group).await {
            Ok(supervisor) => supervisor.supervise().await,
            Err((reason, why)) => AgentEnd::not_started(reason, why),
        }
    }

    async fn begin<'k>(
        &'k self,
        Attempt { adapter, talk, after }: Attempt<'k>,
        prepared: &PreparedRun,
        group: LaunchGroup,
    ) -> Result<Supervisor<'k>, NotStarted> {
        let mut mailbox = Mailbox::new(self);
        let briefing = self.bounded(self.briefing(prepared, talk, &mut mailbox)).await.map_err(not_set_up)?;
        let brief = briefing.brief();
        let plan = self.launch_plan(adapter, &brief)?;
        if briefing.talk.is_told_by(&plan) {
            briefing.talk.note(&self.folder);
        }
        let environment = self.environment(prepared, Some(&plan));
        let secrets = Secrets::new(secret_values(&environment).chain(self.secrets()).collect());
        let record = self.record_reader(adapter, &brief, environment, secrets.clone()).await?;
        self.wait_while_frozen().await;
        let (started, tree) = self.start(&plan, &brief, prepared, group)?;
        let journal = self.journal(adapter, &brief, prepared, after);
        let hooks = Hooks { calls: self.hooks.listen(), first_prompt: self.first_prompt(adapter, &brief) };
        let process =
            AgentProcess { adapter, ask: plan.ask, started, hooks, tree: tree.clone(), mailbox, record };
        let mut supervisor = match self.supervisor(process, journal, prepared, &secrets) {
            Ok(supervisor) => supervisor,
            Err(why) => {
                self.end_unsupervised(tree).await;
                return Err(not_set_up(why));
            }
        };
        fault::point(self.engine, "keeper-launched").await;
        if after.is_none() {
            self.tell_start().await;
        }
        supervisor.mailbox.started();
        Ok(supervisor)
    }

    /// How the agent is started.
    fn launch_plan(&self, adapter: &dyn Adapter, brief: &Brief<'_>) -> Result<LaunchPlan, NotStarted> {
        if !self.run.mode.is_interactive() {
            return Ok(adapter.plan(brief));
        }
        adapter.terminal(brief).ok_or_else(|| {
            not_set_up(format!("{} has no interface in a terminal: run it headless", self.run.agent))
        })
    }

    async fn record_reader(
        &self,
        adapter: &dyn Adapter,
        brief: &Brief<'_>,
        environment: Vec<(OsString, OsString)>,
        secrets: Secrets,
    ) -> Result<RecordReader, NotStarted> {
        let resumed = brief.conversation.resumed().and_then(|session| self.record_of(adapter, session));
        let reader = blocking(move || RecordReader::new(resumed.as_ref(), environment, secrets));
        reader.await.map_err(|problem| not_set_up(problem.to_string()))
    }

    /// What the agent says, and what there is to say about how it begins.
    fn journal(
        &self,
        adapter: &dyn Adapter,
        brief: &Brief<'_>,
        prepared: &PreparedRun,
        after: Option<&AgentEnd>,
    ) -> Journal {
        let is_interactive = self.run.mode.is_interactive();
        let stored = after.map_or_else(Stored::default, |first| first.stored);
        let decoder = if is_interactive { adapter.terminal_decoder(brief) } else { adapter.decoder(brief) };
        let mut journal = Journal::new(self.run.id, self.run.attempt, decoder, stored).priced(self.pricing());
        if !is_interactive {
            // In a terminal a person allows or forbids it.
            journal = journal.within(self.boundary(&adapter.about(), prepared));
        }
        let warning = match (after, &prepared.door) {
            (Some(first), _) => {
                format!("it could not continue its conversation ({}) and starts a new one", first.end())
            }
            (None, Err(why)) => {
                format!("its agent cannot call `fleet`: the door of the run could not be opened: {why}")
            }
            (None, Ok(_)) => return journal,
        };
        journal.warn(warning, clock::now());
        journal
    }

    /// What is typed first. An agent that is opened for a person, or knows all, begins with nothing.
    fn first_prompt(&self, adapter: &dyn Adapter, brief: &Brief<'_>) -> Option<String> {
        let has_prompt = self.run.mode.is_interactive() && !brief.prompt.trim().is_empty();
        has_prompt.then(|| adapter.terminal_prompt(brief).into_owned())
    }

    /// Ends an agent that nothing supervises.
    async fn end_unsupervised(&self, tree: ProcessTree) {
        let patience = self.stop_sequence().kill_patience;
        let _ = blocking(move || tree.kill_now(patience, &mut || drop(process::reap()))).await;
    }

    /// Where the agent writes down a conversation, in a terminal or without one.
    pub(super) fn record_of(&self, adapter: &dyn Adapter, session: &str) -> Option<RecordFiles> {
        if self.run.mode.is_interactive() {
            adapter.terminal_record(session)
        } else {
            adapter.record(session)
        }
    }

    async fn tell_start(&self) {
        let (run, attempt, now) = (self.run.id, self.run.attempt, self.engine.now());
        let moved = self.call(ops::AdvanceRun { run, attempt, event: RunMove::Start, now });
        // A refusal means that the run is lost, which the lease tells as well; a store that is out of reach is no
        // reason to stop an agent that has just begun.
        let _ = timeout(START_TIMEOUT, moved).await;
    }
}
