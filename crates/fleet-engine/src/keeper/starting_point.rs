//! Where the branch of a run begins: at what earlier attempts left, at an existing branch, at the work of others, or at a
//! commit of the user.

use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::TaskSpec;
use fleet_host::git::{self, Area, GitError, Oid, StartAt};

use super::branch::EarlierBranch;
use super::prepare::{reason, released};
use super::prior_work::{Joined, PriorWork, Unmerged};
use super::{Keeper, blocking, checkout};
use crate::problems::chain;

pub(super) struct StartingPoint {
    pub(super) start: StartAt,
    pub(super) base: Oid,
    /// What the start was made of, if several had to be joined.
    pub(super) borrowed: Vec<Oid>,
    pub(super) passed_on: Option<String>,
    pub(super) unmerged: Vec<Unmerged>,
    /// Whether an earlier attempt left work on the branch.
    pub(super) continues: bool,
}

impl StartingPoint {
    fn of(start: StartAt, base: Oid) -> Self {
        let (borrowed, unmerged) = (Vec::new(), Vec::new());
        Self { start, base, borrowed, passed_on: None, unmerged, continues: false }
    }
}

fn broken(error: &GitError) -> Ending {
    Ending::Failed(reason(error.needs_a_person()), chain(error))
}

impl Keeper<'_> {
    /// A retry goes on where the earlier attempt stopped. A branch of that name that no attempt made and that the author
    /// did not mean is the user's.
    pub(super) async fn start_at(&self, branch: &str, before: &[Run]) -> Result<StartingPoint, Ending> {
        let (area, directory) = (self.area(), checkout(&self.project));
        let earlier = self.earlier_attempts_on(branch, before).await?;
        let TaskSpec { base, existing_branch, .. } = &self.task.spec;
        // Where a person has said where to begin, that counts.
        let prior = self.prior_work.clone().filter(|_| base.is_none());
        let (name, rev) = (branch.to_owned(), base.as_ref().map(ToString::to_string));
        let find = if *existing_branch { on_existing } else { on_own };
        let look = move || -> Result<StartingPoint, Ending> {
            git::check_safe(&directory).map_err(|error| broken(&error))?;
            git::open_vault(&area.repo, &area.vault).map_err(|error| broken(&error))?;
            let tip = git::branch_commit(&area.repo, &name).map_err(|error| broken(&error))?;
            find(&Sought { area, name, tip, rev, prior }, earlier)
        };
        blocking(look).await.map_err(released)?
    }
}

/// What decides where a run begins.
struct Sought {
    area: Area,
    /// The branch.
    name: String,
    /// Where the branch is, if it is there.
    tip: Option<Oid>,
    /// Where the author wants to begin.
    rev: Option<String>,
    prior: Option<PriorWork>,
}

/// On a branch that existed before the task. One that only a remote had has a start, and is made there.
fn on_existing(sought: &Sought, earlier: Option<EarlierBranch>) -> Result<StartingPoint, Ending> {
    let Sought { area, name, tip, rev, .. } = sought;
    match (tip, rev) {
        (Some(tip), _) => {
            let (base, continues) = EarlierBranch::began_on_existing(earlier, tip);
            Ok(StartingPoint { continues, ..StartingPoint::of(StartAt::Continue, base) })
        }
        (None, Some(rev)) => {
            let base = git::resolve_commit(&area.repo, rev).map_err(|error| broken(&error))?;
            Ok(StartingPoint::of(StartAt::New(base.clone()), base))
        }
        (None, None) => {
            let why = format!("the branch {name}, on which this task was to go on, is gone");
            Err(Ending::Failed(Reason::WorkspaceRefused, why))
        }
    }
}

/// On a branch that the task makes.
fn on_own(sought: &Sought, earlier: Option<EarlierBranch>) -> Result<StartingPoint, Ending> {
    let Sought { area, name, tip, rev, prior } = sought;
    if let Some(tip) = tip {
        let Some(earlier) = earlier.filter(|earlier| earlier.made(tip)) else {
            let why = format!("there is a branch {name} already, and this task did not make it");
            return Err(Ending::Failed(Reason::BranchTaken, why));
        };
        let unmerged = prior.as_ref().map_or(Ok(Vec::new()), |prior| prior.unmerged(area, tip));
        let unmerged = unmerged.map_err(|error| broken(&error))?;
        let passed_on = prior.as_ref().and_then(|prior| prior.passed_on(area, &earlier.base));
        let found = StartingPoint::of(StartAt::Continue, earlier.base);
        return Ok(StartingPoint { passed_on, unmerged, continues: true, ..found });
    }
    let alone = |commit| Joined { commit, of: Vec::new(), unmerged: Vec::new() };
    let joined = match (rev, prior) {
        (Some(rev), _) => Some(alone(git::resolve_commit(&area.repo, rev).map_err(|error| broken(&error))?)),
        (None, Some(prior)) => prior.join(area)?,
        (None, None) => None,
    };
    let Joined { commit: base, of: borrowed, unmerged } = match joined {
        Some(joined) => joined,
        None => alone(git::head_commit(&area.repo).map_err(|error| broken(&error))?),
    };
    let passed_on = prior.as_ref().and_then(|prior| prior.passed_on(area, &base));
    let found = StartingPoint::of(StartAt::New(base.clone()), base);
    Ok(StartingPoint { borrowed, passed_on, unmerged, ..found })
}
