//! The end of a run, as its keeper sees it.

use std::sync::Arc;

use fleet_core::outcome::{AgentExit, Checks, Declared, Evidence, calls_for_checks};
use fleet_core::problem::Outcome;
use fleet_core::report::Report;
use fleet_core::run::{Ending, RunMove, RunReport};
use fleet_host::git::{GitError, WorkspaceError};
use fleet_store::{StoreError, ops};

use super::checks::ChecksOutcome;
use super::prepare::PreparedRun;
use super::supervise::AgentEnd;
use super::{Keeper, LeftBehind, RETRY_DELAY, blocking, journal};
use crate::closing::{self, AgentProgress, EndOfRun, RunEvidence, Saved, ShownWork, commit_message};
use crate::{clock, fault};

impl Keeper<'_> {
    /// Looks at what the agent left, decides, records, and gives the workspace back.
    pub(super) async fn finish(&self, prepared: PreparedRun, mut seen: AgentEnd) -> Outcome<LeftBehind> {
        let run = self.run.id;
        let exited = !matches!(seen.exit, AgentExit::NotStarted(_));
        let mut untold = UnstoredEnd { last: seen.last.take(), exited };
        if !exited {
            self.end_processes().await;
        }
        let (workspace, base) = (Arc::clone(&prepared.workspace), prepared.base.clone());
        let look = self.bounded(blocking(move || closing::show_nothing(&workspace, &base)));
        let (refused, nothing) = if seen.stopped.is_none() && prepared.workspace.is_quick_to_check() {
            // If there is nothing, everything is recorded at once, with the end.
            let nothing = look.await?;
            (nothing.is_none() && self.tell_exit(&mut untold).await, nothing)
        } else {
            let (refused, nothing) = tokio::join!(self.tell_exit(&mut untold), look);
            (refused, nothing?)
        };
        if refused || self.is_lost() {
            return self.leave(prepared).await;
        }
        let shown = match nothing {
            Some(nothing) => Ok(nothing),
            None => self.bounded(self.show(&prepared)).await?,
        };
        fault::point(self.engine, "keeper-committed").await;
        let mut saved = closing::saved_in(&shown);
        let is_empty = shown.as_ref().is_ok_and(|shown| shown.is_empty);
        let reset = seen.heard.limited_until;
        let evidence = Evidence { unmerged: self.not_merged(&prepared).await?, ..self.evidence(seen).await };
        let mut case = RunEvidence::new(evidence, shown);
        if calls_for_checks(&case.evidence) {
            // They may take long, and people want to know what the agent said.
            let refused = untold.is_any() && self.tell_exit(&mut untold).await;
            let checked =
                if refused { ChecksOutcome::default() } else { self.check(&prepared, &self.checks()).await };
            fault::point(self.engine, "keeper-checked").await;
            if refused || self.is_lost() {
                return self.leave(prepared).await;
            }
            case.evidence.checks.run = checked.receipts;
            case.evidence.stopped = checked.stopped.or(case.evidence.stopped);
            saved = self
                .bounded(self.save_rest(&prepared))
                .await?
                .map(|rest| saved.map_or(Saved::All, |saved| saved.and(rest)));
        }
        let (ending, result) = case.judge();
        let end = EndOfRun { run, attempt: self.run.attempt, ending, result: Some(result), reset };
        let is_ours = self.record(end, untold).await?;
        if is_empty && is_ours {
            self.bounded(self.settle_empty_branch(&prepared)).await?;
        }
        self.give_back(prepared, saved).await
    }

    /// A branch without any work is only in the way; a retry makes it again. But where the work of others was merged
    /// for it, nothing else has that, and people are pointed to it.
    async fn settle_empty_branch(&self, prepared: &PreparedRun) -> Outcome<()> {
        let (workspace, base, prior) =
            (Arc::clone(&prepared.workspace), prepared.base.clone(), self.prior_work.clone());
        // Neither is worth more than a try.
        blocking(move || drop(closing::settle_empty_branch(&workspace, &base, prior.as_ref()))).await
    }

    /// Tells the store what the agent said last and that it has ended, before anything is done to the branch: a machine
    /// that has just woken up learns only now that another keeper has the run. Whether it was.
    ///
    /// A run whose agent never started goes to its end directly, and a store out of reach is asked again at the end.
    async fn tell_exit(&self, untold: &mut UnstoredEnd) -> bool {
        let UnstoredEnd { last, .. } = std::mem::take(untold);
        let (run, attempt, now) = (self.run.id, self.run.attempt, self.engine.now());
        let exit = ops::AdvanceRun { run, attempt, event: RunMove::Exit, now };
        let last = async {
            // A refusal is a lost run, which the exit finds out as well.
            if let Some(last) = last {
                let _ = journal::store(self.store.clone(), last).await;
            }
        };
        let ((), refused) = tokio::join!(last, self.store.call(exit));
        matches!(refused, Err(StoreError::LeaseLost { .. } | StoreError::RunNotFound(_)))
    }

    /// Ends without recording anything, because another keeper has the run by now. So may be its branch: only a
    /// snapshot is safe.
    async fn leave(&self, prepared: PreparedRun) -> Outcome<LeftBehind> {
        let (workspace, run, now) = (Arc::clone(&prepared.workspace), self.run.id, self.engine.now());
        let save = blocking(move || closing::save_all(&workspace, run, "the run was lost", now));
        let saved = self.bounded(save).await?;
        self.give_back(prepared, Saved::attempted(saved)).await
    }

    /// What the checks left in the workspace is not the agent's work, and is kept all the same.
    async fn save_rest(&self, prepared: &PreparedRun) -> Outcome<Option<Saved>> {
        let (workspace, run, now) = (Arc::clone(&prepared.workspace), self.run.id, self.engine.now());
        let saved = blocking(move || closing::save_rest(&workspace, run, "after the checks", now)).await?;
        Ok(Saved::attempted(saved))
    }

    async fn not_merged(&self, prepared: &PreparedRun) -> Outcome<Vec<String>> {
        let Some(stage) = self.stage.clone().filter(|_| !prepared.unmerged.is_empty()) else {
            return Ok(Vec::new());
        };
        let (area, workspace) = (self.area(), Arc::clone(&prepared.workspace));
        blocking(move || stage.not_merged(&area, workspace.head().ok().as_ref())).await
    }

    /// Commits what was left and looks at what there is.
    async fn show(&self, prepared: &PreparedRun) -> Outcome<Result<ShownWork, GitError>> {
        let (workspace, base, run) = (Arc::clone(&prepared.workspace), prepared.base.clone(), self.run.id);
        let is_stopped = self.orders.borrow().is_some();
        let progress = if is_stopped { AgentProgress::Stopped } else { AgentProgress::Ended };
        let message = commit_message(&self.task, &self.run.agent, progress);
        blocking(move || closing::show(&workspace, run, &base, &message)).await
    }

    /// Nothing was started: the end is known already.
    pub(super) async fn finish_unready(&self, ending: Ending) -> Outcome<LeftBehind> {
        self.end_processes().await;
        let ending = self.ordered_ending().unwrap_or(ending);
        let (run, attempt) = (self.run.id, self.run.attempt);
        // The next attempt gets another one.
        let fitness = if matches!(ending, Ending::Failed(..)) { Saved::Unfit } else { Saved::All };
        self.record(EndOfRun { run, attempt, ending, result: None, reset: None }, UnstoredEnd::default())
            .await?;
        let (area, run, now, home) = (self.area(), self.run.id, self.engine.now(), self.home.clone());
        let tidied = blocking(move || -> Result<LeftBehind, WorkspaceError> {
            let Some(workspace) = area.adopt(&run.to_string())? else { return Ok(LeftBehind::Nothing) };
            let saved = closing::save_all(&workspace, run, "it was not ready", now);
            match Saved::attempted(saved) {
                Some(saved) => saved.and(fitness).release(workspace, &home).map(|()| LeftBehind::Nothing),
                None => Ok(LeftBehind::Workspace),
            }
        });
        // What cannot be cleaned up now is found by the next check.
        Ok(self.bounded(tidied).await?.unwrap_or(LeftBehind::Workspace))
    }

    /// Tells the store how the run ended. False: another process has decided.
    async fn record(&self, end: EndOfRun, mut untold: UnstoredEnd) -> Outcome<bool> {
        // On a full disk the store, which may be elsewhere, still learns of it.
        let noted = end.note(&self.folder);
        fault::point(self.engine, "keeper-noted").await;
        let is_ours = self.close(&end, &untold).await? || {
            if untold.is_any() {
                self.tell_exit(&mut untold).await;
            }
            end.record(&self.store, &self.after).await?.is_some()
        };
        if noted.is_err() {
            // For a later clean-up: this says that the work is ours.
            let _ = end.note(&self.folder);
        }
        fault::point(self.engine, "keeper-recorded").await;
        Ok(is_ours)
    }

    /// Records everything that is not recorded yet at once. If that fails, records it step by step, as far as possible.
    async fn close(&self, end: &EndOfRun, untold: &UnstoredEnd) -> Outcome<bool> {
        if !untold.is_any() {
            return Ok(false);
        }
        let (last, exited) = (untold.last.clone(), untold.exited);
        let close = ops::CloseRun { last, exited, end: end.as_op(&self.after, clock::entropy()?) };
        Ok(self.store.call(close).await.is_ok())
    }

    async fn evidence(&self, seen: AgentEnd) -> Evidence {
        let told = self.told().await;
        Evidence {
            exit: seen.exit,
            report: seen.heard.final_text.as_deref().and_then(Report::find),
            words: seen.heard.final_text,
            declared: told.declared,
            question: told.question.or(seen.heard.question),
            failure: seen.heard.failure.map(|failure| (failure.reason, failure.text)),
            commits: 0,
            files: 0,
            read_only: self.task.spec.read_only,
            may_be_empty: self.task.spec.may_be_empty,
            is_interactive: self.run.mode.is_interactive(),
            returns: self.returns(),
            unmerged: Vec::new(),
            checks: Checks { due: self.checks().len(), run: Vec::new() },
            stopped: seen.stopped,
        }
    }

    /// The workspace is free for the next run if its work is safe; otherwise it is left to a later clean-up.
    async fn give_back(&self, prepared: PreparedRun, saved: Option<Saved>) -> Outcome<LeftBehind> {
        let Some(workspace) = Arc::into_inner(prepared.workspace) else { return Ok(LeftBehind::Workspace) };
        let saved = saved.or_else(|| closing::is_gone(&workspace).then_some(Saved::All));
        let (Some(saved), home) = (saved, self.home.clone()) else { return Ok(LeftBehind::Workspace) };
        let released = self.bounded(blocking(move || saved.release(workspace, &home))).await?;
        Ok(if released.is_ok() { LeftBehind::Nothing } else { LeftBehind::Workspace })
    }

    /// What the agent said through the door. Only the store has it, and the end has to be told to the same store: so one
    /// that is out of reach is waited for, unless the run was lost meanwhile.
    async fn told(&self) -> ToldThroughDoor {
        loop {
            match self.store.call(ops::GetRun { run: self.run.id }).await {
                Ok(ops::RunDetail { report, question, .. }) => {
                    let question = question.map(|asked| asked.text.as_str().to_owned());
                    return ToldThroughDoor { declared: report.and_then(declared), question };
                }
                Err(error) if error.is_temporary() && !self.is_lost() => {
                    tokio::time::sleep(RETRY_DELAY).await;
                }
                Err(_) => return ToldThroughDoor::default(),
            }
        }
    }
}

/// What an agent said with `fleet done`, `fleet fail` and `fleet ask`.
#[derive(Default)]
struct ToldThroughDoor {
    declared: Option<Declared>,
    /// What people have not answered.
    question: Option<String>,
}

/// What the store does not know yet of an agent that is gone.
#[derive(Default)]
struct UnstoredEnd {
    last: Option<ops::AppendRunEvents>,
    exited: bool,
}

impl UnstoredEnd {
    fn is_any(&self) -> bool {
        self.last.is_some() || self.exited
    }
}

/// What an agent said about its end through `fleet done` or `fleet fail`.
pub(crate) fn declared(report: RunReport) -> Option<Declared> {
    match report {
        RunReport::Done(report) => Report::find(&report.to_string()).map(Declared::Done),
        RunReport::Fail(summary) => Some(Declared::Fail { summary }),
        RunReport::Note(_) | RunReport::Progress { .. } => None,
    }
}
