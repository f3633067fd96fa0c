//! What this run's agent is told, and on what terms it works.

use fleet_core::event::Fact;
use fleet_core::policy;
use fleet_core::prompt;
use fleet_core::run::Run;
use fleet_host::git::Checkout;
use fleet_host::machine;
use fleet_store::ops;

use super::briefing::{Briefing, Talk};
use super::prepare::Prepared;
use super::prompt::{Earlier, Prompt};
use super::templates::Templates;
use super::{Keeper, checkout};

/// More notes of one attempt are not passed on.
const MOST_NOTES: i64 = 20;
/// Notes of so many attempts are passed on.
const MOST_ATTEMPTS: usize = 3;

impl Keeper<'_> {
    /// What the adapter is told. Fails with a sentence about what could not be read.
    pub(super) async fn briefing(&self, prepared: &Prepared) -> Result<Briefing<'_>, String> {
        let before = self.attempts_before().await;
        let talk = self.talk(&before).await?;
        talk.note(&self.folder);
        let earlier = self.left_by(&before).await;
        let templates = Templates::load(self.home.root(), &checkout(&self.project))?;
        let prompts = self.prompts(0).await;
        let texts: Vec<String> = prompts.iter().map(|prompt| prompt.text.to_string()).collect();
        let prompt = Prompt {
            task: &self.task,
            base: prepared.base.as_str(),
            branch: prepared.workspace.branch(),
            workspace: &prepared.workspace.path().to_string_lossy(),
            attempt: self.run.fence,
            continues: prepared.continues,
            earlier: &earlier,
            prompts: &texts,
        };
        let prompt = match &talk {
            Talk::New(_) => prompt.text(&templates),
            Talk::Resumed { .. } => prompt.resumed(&templates),
        };
        Ok(Briefing {
            prompt,
            prompt_file: self.folder.prompt(),
            workspace: prepared.workspace.path().to_owned(),
            git_dirs: prepared.workspace.checkout().map(|checkout| git_dirs(&checkout)).unwrap_or_default(),
            scratch: self.folder.scratch(),
            talk,
            is_root: machine::is_root(),
            terms: &self.terms,
            told: prompts.iter().map(|prompt| prompt.seq).collect(),
        })
    }

    /// The attempts before this one, newest first. A store that does not answer is no reason not to begin.
    async fn attempts_before(&self) -> Vec<Run> {
        if self.run.fence <= 1 {
            return Vec::new();
        }
        let filter = ops::RunFilter { task: Some(self.task.id), ..Default::default() };
        let runs = self.call(ops::ListRuns { filter, limit: MOST_NOTES }).await.unwrap_or_default();
        runs.into_iter().map(|row| row.run).filter(|run| run.id != self.run.id).collect()
    }

    /// Goes on with the conversation of an earlier attempt where that makes sense. One that was held on another machine
    /// is not here.
    async fn talk(&self, before: &[Run]) -> Result<Talk, String> {
        let new = || Talk::new().map_err(|problem| problem.message);
        let Ok(agent) = self.run.agent.parse() else { return new() };
        if before.is_empty() {
            return new();
        }
        let last = self.call(ops::LastConversation { task: self.task.id, agent }).await.ok().flatten();
        let Some(last) = last else { return new() };
        let is_here = before.iter().any(|run| run.id == last.run && run.place == self.run.place);
        let goes_on = last.reason.is_none_or(|reason| {
            policy::Conversation::after(reason, self.task.history.failures) == policy::Conversation::Resume
        });
        if !is_here || !goes_on {
            return new();
        }
        Ok(Talk::Resumed { session: last.session, meter: last.meter.unwrap_or_default() })
    }

    /// What the attempts before this one left behind.
    async fn left_by(&self, before: &[Run]) -> Earlier {
        let end = before.first().and_then(|run| run.detail.clone());
        let mut notes = Vec::new();
        for run in before.iter().take(MOST_ATTEMPTS).rev() {
            let wanted = ops::RunEventsOf { run: run.id, kinds: &["run.note"], limit: MOST_NOTES };
            for event in self.call(wanted).await.unwrap_or_default() {
                if let Fact::RunNote { text } = event.fact {
                    notes.push(text);
                }
            }
        }
        Earlier { end, notes }
    }

    /// What people said to the agent of this task that it does not have yet.
    pub(super) async fn prompts(&self, after: i64) -> Vec<prompt::Prompt> {
        // Looking is cheaper than taking, and mostly there is nothing.
        let known = ops::TaskPrompts { task: self.task.id, limit: MOST_NOTES };
        let known = self.call(known).await.unwrap_or_default();
        if !known.iter().any(|prompt| prompt.sent_at.is_none() && prompt.seq > after) {
            return Vec::new();
        }
        let take = ops::TakePrompts { run: self.run.id, fence: self.run.fence, after };
        self.call(take).await.unwrap_or_default()
    }

    /// The agent has these. Otherwise the next run tells them again, which is better than never.
    pub(super) async fn has_heard(&self, told: &[i64]) {
        for seq in told.iter().copied() {
            let (run, fence, now) = (self.run.id, self.run.fence, self.engine.now());
            let _ = self.call(ops::PromptSent { run, fence, seq, now }).await;
        }
    }
}

/// What git writes to for a commit in a linked worktree. Not the configuration and the hooks of the user's repository,
/// which sit beside it: those run with the user's rights.
fn git_dirs(checkout: &Checkout) -> Vec<std::path::PathBuf> {
    let common = ["objects", "refs", "logs"].map(|name| checkout.common_dir.join(name));
    [checkout.git_dir.clone()].into_iter().chain(common).collect()
}
