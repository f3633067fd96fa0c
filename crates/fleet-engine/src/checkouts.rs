//! Which repositories are here, and whether a checkout still is the repository that its project is about.
//!
//! Owns what git is asked about that. The root commit counts, not the path: two machines may have different repositories
//! at one path.

use std::path::Path;
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::project::{LikelyProject, Project, RepositoryFacts};
use fleet_host::git::{self, Oid, Repository};
use fleet_store::ops::ProjectAt;
use tokio::time::timeout;

use crate::keeper::{blocking, checkout};
use crate::{Engine, allowed, problems, trust};

/// A repository on a disk that does not answer does not block work on others.
const GIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the repository at the path of a project has the root commit of that project.
pub(crate) async fn is_of(project: &Project) -> Outcome<bool> {
    if has_root_at_hand(project) {
        return Ok(true);
    }
    let project = project.clone();
    blocking(move || has_root(&project)).await?
}

/// Whether that can be told from a file or two: a thread for the question would take longer than the answer.
fn has_root_at_hand(project: &Project) -> bool {
    let root = project.root.as_deref().and_then(|root| Oid::parse(root).ok());
    root.is_some_and(|root| git::has_commit_at_hand(Path::new(&project.common_dir), &root))
}

/// The same, for callers that may block. That is unknown for a project without a root commit.
fn has_root(project: &Project) -> Outcome<bool> {
    let Some(root) = project.root.as_deref().and_then(|root| Oid::parse(root).ok()) else { return Ok(true) };
    git::has_commit(Path::new(&project.common_dir), &root).map_err(problems::git)
}

/// What git says about a repository, as far as it decides which of these projects it belongs to.
pub(crate) async fn repository_facts(common_dir: &str, likely: &[LikelyProject]) -> Outcome<RepositoryFacts> {
    let roots: Vec<Oid> =
        likely.iter().filter_map(|project| Oid::parse(project.root.as_deref()?).ok()).collect();
    let repo = Path::new(common_dir).to_owned();
    let look = move || -> Result<RepositoryFacts, git::GitError> {
        let root = git::root_commit(&repo)?.map(|root| root.to_string());
        let mut seen = RepositoryFacts { root, ..RepositoryFacts::default() };
        for root in roots {
            if git::has_commit(&repo, &root)? {
                seen.contains.insert(root.to_string());
            }
        }
        Ok(seen)
    };
    blocking(look).await?.map_err(problems::git)
}

/// Refuses a project whose tasks cannot be started here: its repository is gone or another one, agents may not work in it,
/// or it brings commands that only users of other places agreed to.
pub(crate) async fn check(engine: &Engine, at: &ProjectAt) -> Outcome<()> {
    if is_seen_from(engine, &at.project) && has_root_at_hand(&at.project) {
        return check_permission(engine, at);
    }
    let (own, asked) = (engine.reloaded(), at.clone());
    let checked = timeout(GIT_TIMEOUT, blocking(move || check_now(&own, &asked))).await;
    checked.map_err(|_| {
        let message = format!("{} cannot be read: the disk does not answer", at.project.common_dir);
        Problem::new(Code::NotHere, message).hint("check whether its disk is mounted")
    })??
}

fn check_now(engine: &Engine, at: &ProjectAt) -> Outcome<()> {
    let project = &at.project;
    let there = engine.at(checkout(project)).map_err(|_| gone(project))?;
    if there.common_dir()? != project.common_dir || !has_root(project)? {
        let message = format!("{} is no longer the repository {:?}", project.common_dir, project.name);
        return Err(Problem::new(Code::NotHere, message).hint(
            "`fleet task add` in it makes it a new project; clone the other one to work on its tasks",
        ));
    }
    check_permission(&there, at)
}

/// Whether the engine has found the repository of the project already, and its configuration.
fn is_seen_from(engine: &Engine, project: &Project) -> bool {
    let is_it = |repository: &Repository| {
        repository.common_dir == Path::new(&project.common_dir)
            && repository.work_tree.as_deref() == Some(checkout(project).as_path())
    };
    engine.repository().is_ok_and(is_it)
}

fn check_permission(there: &Engine, at: &ProjectAt) -> Outcome<()> {
    // A broken configuration is reported by the run that fails for it.
    match allowed::check(there) {
        Err(problem) if problem.code == Code::RepositoryRefused => Err(problem),
        // Where no other place could do it, a run that fails says what to do.
        _ if at.is_elsewhere => check_trust(there, &at.project),
        _ => Ok(()),
    }
}

/// A moved repository can only be moved back: at another path of the same place it is another project.
fn gone(project: &Project) -> Problem {
    let at = checkout(project);
    let message = format!("{} is no longer a git repository; it was {:?}", at.display(), project.name);
    Problem::new(Code::NotHere, message).hint(format!(
        "move it back to {}, or cancel the task (`fleet task cancel`) and add it where the repository is now",
        at.display()
    ))
}

fn check_trust(there: &Engine, project: &Project) -> Outcome<()> {
    let asked = trust::untrusted(there.home().root(), there.config()?, project)?;
    asked.map_or(Ok(()), |asked| Err(asked.refusal()))
}

/// Whether a problem only says that a project is not here: nothing that its tasks could be blamed for.
pub(crate) fn is_not_here(problem: &Problem) -> bool {
    matches!(problem.code, Code::NotARepository | Code::NotHere | Code::RepositoryRefused)
}
