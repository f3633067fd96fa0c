//! Lets the commands of a repository run, and takes that back.

use fleet_core::problem::{Code, Outcome, Problem};
use serde::Serialize;

use super::workflow_run;
use crate::Engine;
use crate::caller::is_inside_a_run;
use crate::trust::{Consent, ProjectCommands, Trust};
use crate::views::Moment;

/// What the project of the directory wants to run.
#[derive(Debug, Clone, Serialize)]
pub struct Status {
    /// The project, and the settings of its file that hold commands.
    #[serde(flatten)]
    pub asked: ProjectCommands,
    /// Whether they may run. True when there are none.
    pub trusted: bool,
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

/// Consent to some commands of a project.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// The project: its git common dir.
    pub project: String,
    /// Which commands, as a number.
    pub hash: String,
    /// When it was given.
    pub at: Moment,
}

/// What the project of the directory wants to run, and whether it may.
pub fn status(engine: &Engine) -> Outcome<Status> {
    judged(engine, ProjectCommands::of(engine.config()?, engine.common_dir()?))
}

/// What a workflow wants to run, by its name or its file, and whether it may. One that did not come with the repository
/// is the user's own.
pub fn status_of_workflow(engine: &Engine, workflow: &str) -> Outcome<Status> {
    let asked = workflow_run::commands_of(engine, workflow)?;
    let nothing = || Ok(ProjectCommands { project: engine.common_dir()?, commands: Vec::new() });
    judged(engine, asked.map_or_else(nothing, Ok)?)
}

fn judged(engine: &Engine, asked: ProjectCommands) -> Outcome<Status> {
    let trusted = asked.is_trusted(engine.home())?;
    Ok(Status { asked, trusted })
}

/// Agrees to what was shown: to exactly that, whatever the file says by now.
pub fn run(engine: &Engine, asked: ProjectCommands) -> Outcome<Response> {
    refuse_agents(engine)?;
    let changed = !asked.commands.is_empty() && Trust::new(engine.home()).grant(&asked, engine.now())?;
    Ok(Response { status: Status { asked, trusted: true }, changed })
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
    let entry = |Consent { project, hash, at }| Entry { project, hash, at: Moment(at) };
    let here = if engine.repository().is_ok() { Some(status(engine)?) } else { None };
    Ok(Listing { trusted: consents.map(entry).collect(), here })
}

/// Whoever follows what a repository says cannot vouch for it. This stops only those who ask: an agent that wants to
/// do harm has other ways than this command.
fn refuse_agents(engine: &Engine) -> Outcome<()> {
    if !is_inside_a_run(engine)? {
        return Ok(());
    }
    Err(Problem::new(Code::Untrusted, "an agent cannot agree to commands of a repository")
        .hint("a person does it, with `fleet trust` outside of a run"))
}
