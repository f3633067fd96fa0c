//! Agrees to what a repository wants, and takes that back.

use std::collections::BTreeSet;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::git::{self, Checkout, Repository};
use serde::Serialize;

use super::workflow_run;
use crate::caller::is_inside_a_run;
use crate::trust::{Consent, ProjectFile, ProjectWishes, TEMPLATES, Trust, below};
use crate::views::Moment;
use crate::{Engine, problems};

/// What the project of the directory wants.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The project, the settings of its file and the files that need consent.
    #[serde(flatten)]
    pub asked: ProjectWishes,
    /// Whether the user agreed to all of them. True when there are none.
    pub trusted: bool,
    /// The keys of the settings, and the paths of the files, that they did not agree to.
    pub untrusted: Vec<String>,
}

/// What came of it.
#[derive(Debug, Clone, Serialize)]
pub struct Response {
    /// How it is now.
    #[serde(flatten)]
    pub status: Status,
    /// Whether it was otherwise before.
    pub changed: bool,
}

/// What was taken back.
#[derive(Debug, Clone, Serialize)]
pub struct Revoked {
    /// The project: its git common dir.
    pub project: String,
    /// Whether there was anything.
    pub revoked: bool,
}

/// Everything that the user agreed to.
#[derive(Debug, Clone, Serialize)]
pub struct Listing {
    /// The oldest first.
    pub trusted: Vec<Entry>,
    /// The project of the directory, if it is in one.
    pub here: Option<Status>,
}

/// Consent to a setting or a file of a project.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The project: its git common dir.
    pub project: String,
    /// To what, as a number.
    pub hash: String,
    /// The key of the setting; null for files, and if an earlier version kept it.
    pub setting: Option<String>,
    /// The file, if it is one; null for settings.
    pub file: Option<String>,
    /// A SHA-256 of what is in the file; null for settings, and if an earlier version kept it.
    pub content: Option<String>,
    /// When it was given.
    pub at: Moment,
}

/// What the project of the directory wants, and whether the user agreed.
pub fn status(engine: &Engine) -> Outcome<Status> {
    judged(engine, ProjectWishes::of(engine.config()?, engine.common_dir()?).with_files(files(engine)?))
}

/// Templates, and the tracked files that agents act on, as they are in the work tree. What is not tracked gets into no
/// workspace, unless the user has it copied.
fn files(engine: &Engine) -> Outcome<Vec<ProjectFile>> {
    let Some(checkout) = checkout(engine)? else { return Ok(Vec::new()) };
    let root = &checkout.work_tree;
    let failed = |error: std::io::Error| problems::io(root, &error);
    let mut found = below(root, TEMPLATES).map_err(failed)?;
    let agents = engine.agents()?;
    let places = agents.all().flat_map(|adapter| adapter.about().settings_files.paths);
    let places: BTreeSet<String> = places.map(|&path| path.to_owned()).collect();
    let tracked = git::tracked_among(&checkout, &Vec::from_iter(places));
    let tracked = tracked.map_err(|error| Problem::new(Code::Io, problems::chain(&error)))?;
    // One that is tracked and gone is in no workspace that starts from here.
    for path in BTreeSet::from_iter(tracked).iter().filter(|path| root.join(path).symlink_metadata().is_ok())
    {
        found.push(ProjectFile::look(root, path).map_err(failed)?);
    }
    Ok(found)
}

/// The checkout that the directory is in, which may be a workspace; none in a bare repository.
fn checkout(engine: &Engine) -> Outcome<Option<Checkout>> {
    if let Some(workspace) = engine.surrounding() {
        return Ok(Some(workspace.checkout));
    }
    let Repository { common_dir, git_dir, work_tree } = engine.repository()?.clone();
    Ok(work_tree.map(|work_tree| Checkout { work_tree, git_dir, common_dir }))
}

/// What a workflow wants to run, by its name or its file, and whether it may. One that did not come with the repository
/// is the user's own.
pub fn status_of_workflow(engine: &Engine, workflow: &str) -> Outcome<Status> {
    let asked = workflow_run::commands_of(engine, workflow)?;
    let nothing = || Ok(ProjectWishes::of_files(engine.common_dir()?, Vec::new()));
    judged(engine, asked.map_or_else(nothing, Ok)?)
}

fn judged(engine: &Engine, asked: ProjectWishes) -> Outcome<Status> {
    let untrusted = Trust::new(engine.home()).uncovered(&asked)?.keys_and_paths();
    Ok(Status { asked, trusted: untrusted.is_empty(), untrusted })
}

/// Agrees to what was shown: to exactly that, whatever the file says by now.
pub fn run(engine: &Engine, asked: ProjectWishes) -> Outcome<Response> {
    refuse_agents(engine)?;
    let changed = !asked.is_empty() && Trust::new(engine.home()).grant(&asked, engine.now())?;
    Ok(Response { status: judged(engine, asked)?, changed })
}

/// Takes back all that was agreed to for the project of the directory, whatever its file says.
pub fn revoke(engine: &Engine) -> Outcome<Revoked> {
    let project = engine.common_dir()?;
    let revoked = Trust::new(engine.home()).revoke(&project)?;
    Ok(Revoked { project, revoked })
}

/// Everything that was agreed to, everywhere.
pub fn list(engine: &Engine) -> Outcome<Listing> {
    let consents = Trust::new(engine.home()).list()?.into_iter();
    let entry = |Consent { project, hash, setting, file, content, at }| {
        let at = Moment(at);
        Entry { project, hash, setting, file, content, at }
    };
    let here = if engine.repository().is_ok() { Some(status(engine)?) } else { None };
    Ok(Listing { trusted: consents.map(entry).collect(), here })
}

/// Whoever follows what a repository says cannot vouch for it. This stops only those who ask: an agent that wants to
/// do harm has other ways than this command.
fn refuse_agents(engine: &Engine) -> Outcome<()> {
    if !is_inside_a_run(engine)? {
        return Ok(());
    }
    Err(Problem::new(Code::Untrusted, "an agent cannot agree to what a repository wants")
        .hint("a person does it, with `fleet trust` outside of a run"))
}
