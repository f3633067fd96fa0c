//! Makes the place where the agent works: a worktree on its own branch, prepared as the user asked.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use fleet_agents::{RepositorySettings, SettingsFiles, Trust};
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::Setup;
use fleet_host::git::{self, Area, Oid, OpenRequest, SlotState, StartAt, Workspace, WorkspaceError};
use fleet_host::{copy, ports};
use fleet_store::ops;

use super::branch::branch_of;
use super::prior_work::Unmerged;
use super::starting_point::StartingPoint;
use super::{Keeper, blocking, checkout, setup};
use crate::problems::chain;
use crate::trust::ProjectWishes;
use crate::{fault, trust};

pub(super) struct PreparedRun {
    pub(super) workspace: Arc<Workspace>,
    /// The commit that the whole task started from, however many attempts there were.
    pub(super) base: Oid,
    /// The attempts before this one, newest first.
    pub(super) before: Vec<Run>,
    /// Whether an earlier attempt left work on the branch.
    pub(super) continues: bool,
    /// Whose work it starts from, in a sentence, if it is not the user's.
    pub(super) passed_on: Option<String>,
    pub(super) ports: Option<ports::PortBlock>,
    /// What its agent has to merge first.
    pub(super) unmerged: Vec<Unmerged>,
    pub(super) repository_settings: RepositorySettings,
    /// Where the agent finds the door of the run; why there is none, otherwise.
    pub(super) door: Result<PathBuf, String>,
}

/// A workspace with what it has besides the files of its commit.
struct Equipped {
    workspace: Workspace,
    ports: Option<ports::PortBlock>,
    /// Files of the user's checkout, by their paths.
    copied: Vec<String>,
}

/// Why there is no workspace: whether another try could help decides what happens next.
pub(super) const fn reason(needs_a_person: bool) -> Reason {
    if needs_a_person { Reason::WorkspaceRefused } else { Reason::WorkspaceFailed }
}

/// A run that goes back to the queue through no fault of its task.
pub(super) fn released(error: impl std::fmt::Display) -> Ending {
    Ending::Released(error.to_string())
}

fn failed(reason: Reason) -> impl Fn(&dyn std::fmt::Display) -> Ending {
    move |error| Ending::Failed(reason, error.to_string())
}

/// An earlier attempt that is over gets this long to give its workspace back.
const RELEASE_TIMEOUT: Duration = Duration::from_secs(30);
const RELEASE_POLL: Duration = Duration::from_millis(100);

impl Keeper<'_> {
    /// Makes everything, or says how the run ends instead.
    pub(super) async fn prepare(&self) -> Result<PreparedRun, Ending> {
        self.check_trust()?;
        let branch = branch_of(&self.task);
        let before = self.attempts_before().await?;
        let (workspace, beginning) = self.planned_workspace(&branch, &before).await?;
        let StartingPoint { base, passed_on, unmerged, continues, .. } = beginning;
        fault::point(self.engine, "keeper-opened").await;
        let path = workspace.path().display().to_string();
        // Recorded before a commit can be made in it: a retry knows the branch for ours by that.
        let known = self.record_prepared(ops::Prepared { workspace: Some(path), ..Default::default() });
        let (known, equipped) = tokio::join!(known, self.equip(workspace));
        known?;
        let Equipped { workspace, ports, copied } = equipped?;
        let mut prepared = PreparedRun {
            workspace: Arc::new(workspace),
            base,
            before,
            continues,
            passed_on,
            ports,
            unmerged,
            repository_settings: RepositorySettings::Absent,
            door: Err("it was not opened".to_owned()),
        };
        if self.task.spec.setup == Setup::Full {
            setup::run(self, &prepared).await?;
        }
        let path = prepared.workspace.path().to_owned();
        prepared.repository_settings = self.repository_settings(path, copied).await?;
        Ok(prepared)
    }

    /// Records the plan and opens the workspace. In the first attempt neither waits for the other: the branch is in the user's
    /// repository only when there is a commit for it, and a retry after a crash knows it for ours by then. Later attempts
    /// look as late as possible, because the end of an earlier one may still set the branch.
    async fn planned_workspace(
        &self,
        branch: &str,
        before: &[Run],
    ) -> Result<(Workspace, StartingPoint), Ending> {
        let mut beginning = self.start_at(branch, before).await?;
        fault::point(self.engine, "keeper-looked").await;
        let planned = async {
            self.record_prepared(self.plan(branch, &beginning.base)?).await?;
            fault::point(self.engine, "keeper-planned").await;
            Ok(())
        };
        let mut opened = if before.is_empty() {
            let (planned, opened) = tokio::join!(planned, self.open(branch, &beginning, before));
            planned?;
            opened?
        } else {
            planned.await?;
            let has_waited = self.wait_for_release(before).await?;
            if has_waited { None } else { self.open(branch, &beginning, before).await? }
        };
        loop {
            if let Some(workspace) = opened {
                return Ok((workspace, beginning));
            }
            beginning = self.begin_again(branch, before, &beginning).await?;
            opened = self.open(branch, &beginning, before).await?;
        }
    }

    fn plan(&self, branch: &str, base: &Oid) -> Result<ops::Prepared, Ending> {
        Ok(ops::Prepared {
            branch: Some(branch.to_owned()),
            base: Some(base.to_string()),
            model: self.terms.model.clone(),
            keeper: Some(serde_json::to_string(&self.me).map_err(released)?),
            ..Default::default()
        })
    }

    /// Waits while a workspace of an attempt before is not given back: what is in it may not be on the branch yet. Whether
    /// there was one.
    async fn wait_for_release(&self, before: &[Run]) -> Result<bool, Ending> {
        let (mut left, mut has_waited) = (RELEASE_TIMEOUT, false);
        while let Some(place) = self.unreleased(before).await? {
            if self.orders.borrow().is_some() {
                return Ok(has_waited);
            }
            let Some(rest) = left.checked_sub(RELEASE_POLL) else {
                let why =
                    format!("the workspace of an earlier attempt is not given back: {}", place.display());
                return Err(Ending::Failed(Reason::WorkspaceFailed, why));
            };
            (left, has_waited) = (rest, true);
            tokio::time::sleep(RELEASE_POLL).await;
        }
        Ok(has_waited)
    }

    /// A workspace that one of these runs still has.
    async fn unreleased(&self, runs: &[Run]) -> Result<Option<PathBuf>, Ending> {
        if runs.is_empty() {
            return Ok(None);
        }
        let (area, owners): (_, Vec<String>) =
            (self.area(), runs.iter().map(|run| run.id.to_string()).collect());
        let slots = blocking(move || area.slots()).await.map_err(released)?;
        let has =
            |state: &SlotState| matches!(state, SlotState::Claimed { owner, .. } if owners.contains(owner));
        let slots = slots.map_err(|error| failed(Reason::WorkspaceFailed)(&error))?;
        Ok(slots.into_iter().find(|slot| has(&slot.state)).map(|slot| slot.path))
    }

    /// Looks once more where the branch begins, because that may have changed.
    async fn begin_again(
        &self,
        branch: &str,
        before: &[Run],
        first: &StartingPoint,
    ) -> Result<StartingPoint, Ending> {
        let again = self.start_at(branch, before).await?;
        if again.base != first.base {
            self.record_prepared(self.plan(branch, &again.base)?).await?;
        }
        Ok(again)
    }

    /// Opens the workspace. `None` if the branch has come or gone since: the end of the attempt before may set it late,
    /// or remove one without work.
    async fn open(
        &self,
        branch: &str,
        beginning: &StartingPoint,
        before: &[Run],
    ) -> Result<Option<Workspace>, Ending> {
        // Some agents can go on with a conversation only where it began.
        let here = before.iter().filter(|run| run.place == self.run.place);
        let preferred = here.filter_map(|run| run.workspace.as_ref()).map(PathBuf::from).next();
        let StartingPoint { start, borrowed, .. } = beginning;
        let open = OpenRequest {
            forward_only: self.task.spec.existing_branch,
            borrowed: borrowed.clone(),
            preferred,
            submodule_time: self.config.workspaces().submodule_time,
            ..OpenRequest::new(self.run.id.to_string(), branch, start.clone())
        };
        let (area, stop) = (self.area(), open.stop.clone());
        let opened = blocking(move || match area.open(&open) {
            Ok(workspace) => Ok(Some(workspace)),
            Err(_) if !open.stop.is_set() && has_changed(&area, &open) => Ok(None),
            Err(error) => Err(refusal(&area, &open, &error)),
        });
        let mut orders = self.orders.clone();
        let mut opened = pin!(opened);
        let opened = tokio::select! {
            opened = &mut opened => opened,
            // Not a borrow of the order, which would keep the next one out.
            Ok(()) = async { orders.wait_for(Option::is_some).await.map(drop) } => {
                stop.set();
                opened.await
            }
        };
        opened.map_err(released)?
    }

    /// What the task takes from the repository's own file and templates counts only if the user agreed to it.
    fn check_trust(&self) -> Result<(), Ending> {
        let asked = trust::untrusted(self.home.root(), &self.config, &self.project);
        let asked = asked.map_err(|problem| failed(Reason::SetupFailed)(&problem.to_string()))?;
        let asked = asked.map(|asked| asked.of_task(&self.task.spec));
        let Some(asked) = asked.filter(|asked| !asked.is_empty()) else { return Ok(()) };
        let why = format!("the repository requests {}: `fleet trust` shows it", asked.names());
        Err(Ending::Failed(Reason::Untrusted, why))
    }

    /// What becomes of the settings for its agent that are in the workspace, be they of the repository or of an agent
    /// that worked on the branch before. Looked at when set-up is through, and right before the agent starts.
    async fn repository_settings(
        &self,
        workspace: PathBuf,
        copied: Vec<String>,
    ) -> Result<RepositorySettings, Ending> {
        // A missing agent is reported when it is started.
        let Some(adapter) = self.agents.find(&self.run.agent) else { return Ok(RepositorySettings::Absent) };
        if self.terms.trust == Trust::Full {
            return Ok(RepositorySettings::Used);
        }
        let SettingsFiles { paths, can_be_left_out } = adapter.about().settings_files;
        let found = blocking(move || trust::below(&workspace, paths)).await.map_err(released)?;
        let mut found = found.map_err(|error| failed(Reason::WorkspaceFailed)(&error))?;
        // Copies of the user's own files.
        found.retain(|file| !copied.contains(&file.path));
        if found.is_empty() {
            return Ok(RepositorySettings::Absent);
        }
        let asked = ProjectWishes::of_files(&self.project.common_dir, found);
        let asked = trust::ConsentStore::new(self.home.root()).uncovered(&asked);
        let asked = asked.map_err(|problem| failed(Reason::SetupFailed)(&problem.to_string()))?;
        match (asked.is_empty(), can_be_left_out) {
            (true, _) => Ok(RepositorySettings::Used),
            (false, true) => Ok(RepositorySettings::LeftOut),
            (false, false) => Err(Ending::Failed(Reason::Untrusted, self.unwanted_settings(&asked))),
        }
    }

    fn unwanted_settings(&self, asked: &ProjectWishes) -> String {
        let agent = &self.run.agent;
        format!(
            "{agent} would use {} of its workspace, which you have not approved and it cannot ignore: read \
             that, then run `fleet trust` in a checkout that has it",
            asked.names()
        )
    }

    /// The attempts at this task before this one, newest first. The first attempt need not ask.
    async fn attempts_before(&self) -> Result<Vec<Run>, Ending> {
        if self.run.attempt <= 1 {
            return Ok(Vec::new());
        }
        let runs = self.call(ops::ListRuns::of_task(self.task.id)).await.map_err(released)?;
        Ok(runs.into_iter().map(|row| row.run).filter(|run| run.id != self.run.id).collect())
    }

    async fn record_prepared(&self, prepared: ops::Prepared) -> Result<(), Ending> {
        let (run, attempt, now) = (self.run.id, self.run.attempt, self.engine.now());
        let stop = self.call(ops::PrepareRun { run, attempt, prepared, now }).await.map_err(released)?;
        self.hold.pass_on(stop);
        Ok(())
    }

    /// What a workspace has besides the files of its commit.
    async fn equip(&self, workspace: Workspace) -> Result<Equipped, Ending> {
        let (workspace, copied) = self.copy_files(workspace).await?;
        Ok(Equipped { workspace, ports: self.lease_ports().await?, copied })
    }

    /// Noted before they are copied: a take-over must not commit them.
    async fn copy_files(&self, mut workspace: Workspace) -> Result<(Workspace, Vec<String>), Ending> {
        let patterns = self.config.workspaces().copy.clone();
        if patterns.is_empty() {
            return Ok((workspace, Vec::new()));
        }
        let root = checkout(&self.project);
        let copy = move || -> Result<_, String> {
            let files = copy::find_files(&root, &patterns).map_err(|error| chain(&error))?;
            workspace.note_private(&files).map_err(|error| chain(&error))?;
            let into = workspace.checkout().map_err(|error| chain(&error))?;
            let done = copy::copy_files(&root, &into, &files).map_err(|error| chain(&error))?;
            Ok((workspace, done.copied))
        };
        blocking(copy).await.map_err(released)?.map_err(|why| Ending::Failed(Reason::SetupFailed, why))
    }

    /// An agent without ports of its own can still do nearly everything.
    async fn lease_ports(&self) -> Result<Option<ports::PortBlock>, Ending> {
        let (dir, wish) = (self.home.ports(), self.config.ports().clone());
        let leased = blocking(move || {
            crate::home::make_private(&dir)?;
            ports::lease(&dir, wish.range(), wish.block)
        });
        Ok(leased.await.map_err(released)?.unwrap_or_default())
    }
}

/// Whether the branch was made or removed since the start was chosen.
fn has_changed(area: &Area, open: &OpenRequest) -> bool {
    let is_there = git::branch_commit(&area.repo, &open.branch).map(|tip| tip.is_some());
    is_there.is_ok_and(|is_there| is_there != matches!(open.start, StartAt::Continue))
}

/// Why there is no workspace. A name that cannot be had is something that only a person can change.
fn refusal(area: &Area, open: &OpenRequest, error: &WorkspaceError) -> Ending {
    if matches!(error, WorkspaceError::BranchInUse { .. } | WorkspaceError::NoSuchBranch { .. }) {
        return failed(Reason::BranchTaken)(error);
    }
    // Looked at only now, because it costs as much as there are branches.
    match git::branch_conflict(&area.repo, &open.branch) {
        Ok(Some(why)) if matches!(open.start, StartAt::New(_)) => Ending::Failed(Reason::BranchTaken, why),
        _ => Ending::Failed(reason(error.needs_a_person()), chain(error)),
    }
}
