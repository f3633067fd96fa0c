//! The briefing of this run's agent: the prompt, the conversation, and the terms on which it works.

use std::path::PathBuf;

use fleet_agents::{Brief, RepositorySettings};
use fleet_core::event::{Fact, NOTE};
use fleet_core::outcome::RunResult;
use fleet_core::report::Report;
use fleet_core::run::{Run, RunState};
use fleet_core::workflow::Returns;
use fleet_host::machine;
use fleet_store::ops;

use super::mailbox::Mailbox;
use super::prepare::PreparedRun;
use super::prompt::{EarlierAttempts, PromptContext};
use super::stage::StageText;
use super::talk::Talk;
use super::templates::Templates;
use super::{Keeper, blocking, checkout};
use crate::agents::Terms;
use crate::clock;
use crate::problems::chain;

/// More notes of one attempt are not passed on.
const MAX_NOTES: i64 = 20;
/// The notes of this many attempts are passed on.
const MAX_EARLIER_ATTEMPTS: usize = 3;

/// All that a [`Brief`] borrows.
pub(super) struct Briefing<'t> {
    pub(super) prompt: String,
    pub(super) prompt_file: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) repository_settings: RepositorySettings,
    pub(super) git_dirs: Vec<PathBuf>,
    pub(super) scratch: PathBuf,
    pub(super) talk: Talk,
    pub(super) is_root: bool,
    pub(super) terms: &'t Terms,
    /// What is asked for beside the report.
    pub(super) returns: Returns,
}

impl Briefing<'_> {
    pub(super) fn brief(&self) -> Brief<'_> {
        Brief {
            prompt_file: &self.prompt_file,
            git_dirs: &self.git_dirs,
            scratch: &self.scratch,
            model: self.terms.model.as_deref(),
            effort: self.terms.effort.as_deref(),
            conversation: self.talk.conversation(),
            trust: self.terms.trust,
            repository_settings: self.repository_settings,
            is_root: self.is_root,
            system_prompt: self.terms.system_prompt.as_deref(),
            schema: self.terms.structured.then_some(Report::schema(self.returns)),
            mcp: &self.terms.mcp,
            extra_args: &self.terms.extra_args,
            ..Brief::plain(&self.prompt, &self.workspace)
        }
    }
}

impl Keeper<'_> {
    /// What the adapter gets. Fails with a sentence about what could not be read.
    pub(super) async fn briefing(
        &self,
        prepared: &PreparedRun,
        talk: Talk,
        mailbox: &mut Mailbox,
    ) -> Result<Briefing<'_>, String> {
        let before = &prepared.before;
        let earlier = self.left_by(before).await;
        let templates = Templates::load(self.home.root(), &checkout(&self.project))?;
        templates.check_trust(self.home.root(), &self.project.common_dir)?;
        let prompts = mailbox.open(&talk, before).await?;
        let stage = self.stage_text(prepared).await?;
        let prompt = PromptContext {
            task: &self.task,
            stage: stage.as_ref(),
            base: prepared.base.as_str(),
            branch: prepared.workspace.branch(),
            workspace: &prepared.workspace.path().to_string_lossy(),
            attempt: self.run.attempt,
            continues: prepared.continues,
            passed_on: prepared.passed_on.as_deref(),
            earlier: &earlier,
            prompts: &prompts,
        };
        let prompt = match &talk {
            _ if self.run.mode.is_interactive() => self.typed_first(&talk, &prompts),
            Talk::New(_) => prompt.text(&templates),
            Talk::Resumed { .. } => prompt.resumed(&templates),
        };
        Ok(Briefing {
            prompt,
            prompt_file: self.folder.prompt(),
            // As the agent itself sees it: some compare their working directory with this path.
            workspace: std::fs::canonicalize(prepared.workspace.path())
                .unwrap_or_else(|_| prepared.workspace.path().to_owned()),
            repository_settings: prepared.repository_settings,
            git_dirs: vec![prepared.workspace.path().join(".git")],
            scratch: self.folder.scratch(),
            talk,
            is_root: machine::is_root(),
            terms: &self.terms,
            returns: self.returns(),
        })
    }

    /// What is typed first into a terminal: the task, if the conversation does not have it, and what was said since. A person
    /// reads that, so it says nothing about how to report.
    fn typed_first(&self, talk: &Talk, prompts: &[String]) -> String {
        let spec = &self.task.spec;
        let first = (!talk.is_resumed() && !spec.is_opened_for_person()).then(|| spec.prompt());
        first.iter().chain(prompts).cloned().collect::<Vec<_>>().join("\n\n")
    }

    /// What it is about, if it is a stage of a workflow.
    async fn stage_text(&self, prepared: &PreparedRun) -> Result<Option<StageText>, String> {
        let Some(stage) = self.stage.clone() else { return Ok(None) };
        let entropy = || clock::entropy().map_err(|problem| problem.to_string());
        let mark = format!("{:016x}{:016x}", entropy()?, entropy()?);
        let (area, unmerged) = (self.area(), prepared.unmerged.clone());
        let words = self.task.spec.description.to_string();
        let text = blocking(move || stage.text(&area, (&words, &mark), &unmerged)).await;
        let text = text.map_err(|problem| problem.to_string())?;
        text.map(Some).map_err(|error| format!("what the stages before it left: {}", chain(&error)))
    }

    /// What the attempts before this one left behind.
    async fn left_by(&self, before: &[Run]) -> EarlierAttempts {
        let end = before.first().and_then(|run| run.detail.clone());
        let mut notes = Vec::new();
        for run in before.iter().take(MAX_EARLIER_ATTEMPTS).rev() {
            let wanted = ops::RunEventsOf { run: run.id, kinds: NOTE, limit: MAX_NOTES };
            for event in self.call(wanted).await.unwrap_or_default() {
                if let Fact::RunNote { text } = event.fact {
                    notes.push(text);
                }
            }
        }
        let reported = self.reported_by(before.first()).await;
        EarlierAttempts { end, reason: before.first().and_then(|run| run.reason), reported, notes }
    }

    /// What the agent of a run that went well said at its end. Of another, its end says what there is to say.
    async fn reported_by(&self, run: Option<&Run>) -> Option<String> {
        let run = run.filter(|run| run.state == RunState::Succeeded)?;
        let result = self.call(ops::GetRun { run: run.id }).await.ok()?.result?;
        serde_json::from_str::<RunResult>(&result).ok().map(|result| result.summary)
    }
}
