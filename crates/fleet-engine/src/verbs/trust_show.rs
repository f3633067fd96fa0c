use std::collections::BTreeSet;

use fleet_api::verbs::trust_show::{Answer, Request};
use fleet_host::git::{self, Checkout, Repository};

use super::prelude::*;
use super::workflow_run;
use crate::trust::{ConsentStore, ProjectFile, ProjectWishes, TEMPLATES, below};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    judged(engine, &wishes(engine, request.workflow.as_deref())?)
}

/// What the project of the directory wants, or one of its workflows. A workflow that did not come with the repository is the
/// user's own, and wants nothing.
pub(super) fn wishes(engine: &Engine, workflow: Option<&str>) -> Outcome<ProjectWishes> {
    let project = || engine.common_dir();
    let Some(workflow) = workflow else {
        return Ok(ProjectWishes::of(engine.config()?, project()?).with_files(files(engine)?));
    };
    match workflow_run::commands_of(engine, workflow)? {
        Some(asked) => Ok(asked),
        None => Ok(ProjectWishes::of_files(project()?, Vec::new())),
    }
}

/// Whether the user approved them.
pub(super) fn judged(engine: &Engine, asked: &ProjectWishes) -> Outcome<Answer> {
    let untrusted = ConsentStore::new(engine.home().root()).uncovered(asked)?.keys_and_paths();
    Ok(Answer { asked: asked.view(), trusted: untrusted.is_empty(), untrusted })
}

/// Templates, and the tracked files that agents act on, as they are in the work tree. What is not tracked gets into no
/// workspace, unless the user has it copied.
fn files(engine: &Engine) -> Outcome<Vec<ProjectFile>> {
    let Some(checkout) = checkout(engine)? else { return Ok(Vec::new()) };
    let root = &checkout.work_tree;
    let failed = problems::at(root);
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
