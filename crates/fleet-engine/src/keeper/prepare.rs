//! Makes the place where the agent works: a worktree on its own branch, prepared as the user asked.

use std::path::PathBuf;
use std::sync::Arc;

use fleet_core::run::{Ending, Reason};
use fleet_host::git::{self, Oid, Open, StartAt, Workspace, WorkspaceError};
use fleet_host::{copy, ports};
use fleet_store::ops;

use super::{Keeper, blocking, checkout, setup};
use crate::trust;

/// Where an agent works.
pub(super) struct Prepared {
    pub(super) workspace: Arc<Workspace>,
    /// The commit that the whole task started from, however many attempts there were.
    pub(super) base: Oid,
    /// Whether an earlier attempt left work on the branch.
    pub(super) continues: bool,
    pub(super) ports: Option<ports::PortBlock>,
}

/// The branch of a task that names none.
fn branch_of(task: &fleet_core::task::Task) -> String {
    task.spec.branch.as_ref().map_or_else(|| format!("fleet/{}", task.id), ToString::to_string)
}

/// A run that goes back to the queue through no fault of its task.
fn released(error: impl std::fmt::Display) -> Ending {
    Ending::Released(error.to_string())
}

fn failed(reason: Reason) -> impl Fn(&dyn std::fmt::Display) -> Ending {
    move |error| Ending::Failed(reason, error.to_string())
}

impl Keeper<'_> {
    /// Makes everything, or says how the run ends instead.
    pub(super) async fn prepare(&self) -> Result<Prepared, Ending> {
        let is_bare = self
            .task
            .spec
            .meta
            .iter()
            .any(|(key, value)| key.as_str() == "setup" && value.as_str() == "skip");
        if !is_bare {
            self.check_trust()?;
        }
        let branch = branch_of(&self.task);
        let (start, base) = self.start_at(&branch).await?;
        let continues = matches!(start, StartAt::Continue);
        let open = Open { owner: self.run.id.to_string(), branch: branch.clone(), start };
        let area = self.area();
        let opened = blocking(move || area.open(&open)).await.map_err(released)?;
        let mut workspace = opened.map_err(|error| match &error {
            WorkspaceError::BranchInUse { .. } | WorkspaceError::NoSuchBranch { .. } => {
                failed(Reason::BranchTaken)(&error)
            }
            _ => Ending::Failed(Reason::WorkspaceFailed, chain(&error)),
        })?;
        let path = workspace.path().display().to_string();
        let known = ops::Prepared {
            branch: Some(branch),
            base: Some(base.to_string()),
            workspace: Some(path),
            model: self.model(),
            ..Default::default()
        };
        self.know(known).await?;
        if !is_bare {
            workspace = self.copy_files(workspace).await?;
        }
        let ports = if is_bare { None } else { self.lease_ports().await? };
        let prepared = Prepared { workspace: Arc::new(workspace), base, continues, ports };
        if !is_bare {
            setup::run(self, &prepared).await?;
        }
        Ok(prepared)
    }

    /// Commands of the repository's own run only if the user agreed to them.
    fn check_trust(&self) -> Result<(), Ending> {
        let asked = trust::untrusted(self.home.root(), &self.config, &self.project.common_dir);
        if asked.map_err(|problem| failed(Reason::SetupFailed)(&problem.message))?.is_none() {
            return Ok(());
        }
        let why = "the repository has set-up commands of its own: look at them with `fleet trust`";
        Err(Ending::Failed(Reason::Untrusted, why.to_owned()))
    }

    /// A retry goes on where the earlier attempt stopped. A branch of that name that no attempt made is somebody's.
    async fn start_at(&self, branch: &str) -> Result<(StartAt, Oid), Ending> {
        let repo = PathBuf::from(&self.project.common_dir);
        let earlier = self.earlier_base(branch).await?;
        let (name, rev) = (branch.to_owned(), self.task.spec.base.as_ref().map(ToString::to_string));
        let look = move || -> Result<Result<(StartAt, Oid), String>, git::GitError> {
            let exists = git::branch_commit(&repo, &name)?.is_some();
            if let (Some(base), true) = (earlier, exists) {
                return Ok(Ok((StartAt::Continue, base)));
            }
            if let Some(why) = git::branch_conflict(&repo, &name)? {
                return Ok(Err(why));
            }
            let base = match rev {
                Some(rev) => git::resolve_commit(&repo, &rev)?,
                None => git::head_commit(&repo)?,
            };
            Ok(Ok((StartAt::New(base.clone()), base)))
        };
        let looked = blocking(look).await.map_err(released)?;
        looked
            .map_err(|error| Ending::Failed(Reason::WorkspaceFailed, chain(&error)))?
            .map_err(|why| Ending::Failed(Reason::BranchTaken, why))
    }

    /// Where an earlier attempt at this task began, if it worked on this branch.
    async fn earlier_base(&self, branch: &str) -> Result<Option<Oid>, Ending> {
        let filter = ops::RunFilter { task: Some(self.task.id), ..Default::default() };
        let runs = self.call(ops::ListRuns { filter, limit: MOST_ATTEMPTS }).await.map_err(released)?;
        let mut earlier =
            runs.iter().filter(|row| row.run.id != self.run.id && row.run.branch.as_deref() == Some(branch));
        Ok(earlier.find_map(|row| Oid::parse(row.run.base.as_deref()?).ok()))
    }

    async fn know(&self, prepared: ops::Prepared) -> Result<(), Ending> {
        let (run, fence, now) = (self.run.id, self.run.fence, self.engine.now());
        self.call(ops::PrepareRun { run, fence, prepared, now }).await.map_err(released)
    }

    /// Noted before they are copied: whoever takes over must not commit them.
    async fn copy_files(&self, mut workspace: Workspace) -> Result<Workspace, Ending> {
        let patterns = self.config.workspaces().copy.clone();
        if patterns.is_empty() {
            return Ok(workspace);
        }
        let root = checkout(&self.project);
        let copy = move || -> Result<Workspace, String> {
            let files = copy::find_files(&root, &patterns).map_err(|error| chain(&error))?;
            workspace.note_private(&files).map_err(|error| chain(&error))?;
            let into = workspace.checkout().map_err(|error| chain(&error))?;
            copy::copy_files(&root, &into, &files).map_err(|error| chain(&error))?;
            Ok(workspace)
        };
        blocking(copy).await.map_err(released)?.map_err(|why| Ending::Failed(Reason::SetupFailed, why))
    }

    /// An agent without ports of its own can still do nearly everything.
    async fn lease_ports(&self) -> Result<Option<ports::PortBlock>, Ending> {
        let (dir, wish) = (self.home.ports(), self.config.ports().clone());
        let leased = blocking(move || {
            crate::home::make_private(&dir)?;
            ports::lease(&dir, wish.range, wish.block)
        });
        Ok(leased.await.map_err(released)?.unwrap_or_default())
    }
}

/// More attempts at one task than anybody makes.
const MOST_ATTEMPTS: i64 = 100;

/// An error with all its causes.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
