//! What this run's agent is told, and on what terms it works.

use fleet_core::event::Fact;
use fleet_core::policy;
use fleet_core::problem::Problem;
use fleet_core::prompt;
use fleet_core::run::{Reason, Run, RunState, is_session};
use fleet_host::git::Checkout;
use fleet_host::machine;
use fleet_store::ops;
use tokio::task::JoinHandle;

use super::briefing::{Briefing, Talk};
use super::prepare::Prepared;
use super::prompt::{Earlier, Prompt};
use super::templates::Templates;
use super::{AGAIN, Keeper, checkout};
use crate::clock;

/// More notes of one attempt are not passed on.
const MOST_NOTES: i64 = 20;
/// Notes of so many attempts are passed on.
const MOST_ATTEMPTS: usize = 3;
/// So many of the newest prompts are looked at: twice as many as may wait.
const MOST_PROMPTS: i64 = 40;

impl Keeper<'_> {
    /// What the adapter is told. Fails with a sentence about what could not be read.
    pub(super) async fn briefing(&self, prepared: &Prepared) -> Result<Briefing<'_>, String> {
        let before = self.attempts_before().await;
        let talk = self.talk(&before).await?;
        talk.note(&self.folder);
        let earlier = self.left_by(&before).await;
        let templates = Templates::load(self.home.root(), &checkout(&self.project))?;
        let prompts = self.prompts(&talk, &before).await?;
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
            told: prompts.iter().filter(|prompt| prompt.sent_at.is_none()).map(|prompt| prompt.seq).collect(),
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
        let goes_on = last.reason.is_none_or(|reason| keeps(reason, self.task.history.failures));
        let is_over = is_closed(&last, before, &self.run.agent);
        // Looked at here, too: whoever stored it may have been an older codefleet.
        if !is_here || !goes_on || is_over || !is_session(&last.session) {
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

    /// What people said to the agent of this task that it does not know in this conversation, oldest first. Without it
    /// there is no sense in beginning: it may be all that this run is for.
    async fn prompts(&self, talk: &Talk, before: &[Run]) -> Result<Vec<prompt::Prompt>, String> {
        let unknown = |problem: Problem| format!("what people said to it: {}", problem.message);
        let known = ops::TaskPrompts { task: self.task.id, limit: MOST_PROMPTS };
        let known = self.call(known).await.map_err(unknown)?;
        // Looking is cheaper than taking, and mostly there is nothing.
        let is_news = known.iter().any(|prompt| prompt.sent_at.is_none());
        let mut prompts: Vec<_> =
            known.into_iter().filter(|sent| is_told_again(sent, talk, before)).collect();
        if is_news {
            let take = ops::TakePrompts { run: self.run.id, fence: self.run.fence, after: 0 };
            prompts.extend(self.call(take).await.map_err(unknown)?);
            prompts.sort_unstable_by_key(|prompt| prompt.seq);
        }
        Ok(prompts)
    }

    /// Tells the store that the agent has these, beside everything else. What the store does not learn of, the next run
    /// tells again, which is better than never.
    pub(super) fn tell(&self, told: Vec<i64>) -> JoinHandle<()> {
        let (store, run, fence) = (self.store.clone(), self.run.id, self.run.fence);
        tokio::spawn(async move {
            for seq in told {
                let sent = ops::PromptSent { run, fence, seq, now: clock::now() };
                while let Err(error) = store.call(sent).await
                    && error.is_temporary()
                {
                    tokio::time::sleep(AGAIN).await;
                }
            }
        })
    }
}

/// Whether a conversation is kept after this failure.
fn keeps(reason: Reason, failures: u32) -> bool {
    policy::Conversation::after(reason, failures) == policy::Conversation::Resume
}

/// Whether this agent has tried to go on with a conversation since, and failed before it said that it does: then the
/// conversation is what is in the way, for instance because the agent does not have it any more.
fn is_closed(last: &ops::Conversation, before: &[Run], agent: &str) -> bool {
    let since = before.iter().take_while(|run| run.id != last.run);
    let mut tried = since.filter(|run| run.agent == agent && run.started_at.is_some());
    tried.any(|run| run.reason.is_some_and(|reason| !keeps(reason, u32::MAX)))
}

/// Whether something that an agent was told is told once more. A new conversation has none of it; one that goes on may
/// not have what was said since the last good end: the run may have failed before its agent read it.
fn is_told_again(prompt: &prompt::Prompt, talk: &Talk, before: &[Run]) -> bool {
    let mut unfinished = before.iter().take_while(|run| run.state != RunState::Succeeded);
    prompt.sent_at.is_some()
        && match talk {
            Talk::New(_) => true,
            Talk::Resumed { .. } => unfinished.any(|run| Some(run.id) == prompt.taken_by),
        }
}

/// What git writes to for a commit in a linked worktree. Not the configuration and the hooks of the user's repository,
/// which sit beside it: those run with the user's rights. A worktree that has settings of its own keeps them in the very
/// directory, so that there an agent in a sandbox cannot commit, and we do it at the end.
fn git_dirs(checkout: &Checkout) -> Vec<std::path::PathBuf> {
    if checkout.has_own_settings() {
        return Vec::new();
    }
    let common = ["objects", "refs", "logs"].map(|name| checkout.common_dir.join(name));
    [checkout.git_dir.clone()].into_iter().chain(common).collect()
}

#[cfg(test)]
mod tests;
