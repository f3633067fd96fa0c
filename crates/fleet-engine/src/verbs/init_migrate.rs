//! Takes over the settings and tasks of other tools of this kind: `ai-fleet` in a project, and the other `fleet` in a home.
//!
//! Owns the order of things: what is ours is written first, then the other tool's file gets another name, so that a second
//! time finds nothing to do. Must never lose a file of another tool, and never start what it took over.

mod ai_fleet;
mod other_home;
#[cfg(test)]
mod tests;

use std::fs;
use std::path::Path;

use fleet_api::verbs::init::ProjectType;
use fleet_api::verbs::init_migrate::{Answer, Request, Step};

use self::ai_fleet::Found;
use super::init::{Preset, free_name, text};
use super::prelude::*;
use crate::agents;
use crate::atomic_file::link_at;
use crate::config::{self, ConfigFile, ConfigValue, ProjectLine};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    engine.position().check_reach()?;
    let mut steps = Vec::new();
    if let Ok(file) = engine.project_config() {
        steps.extend(project(engine, &file, request)?);
    }
    steps.extend(other_home::settings(engine, request)?);
    steps.extend(other_home::tasks(engine, request).await?);
    Ok(Answer { steps, dry_run: request.dry_run })
}

/// The project's own file, else the older one that was for all projects.
fn project(engine: &Engine, file: &ConfigFile, request: Request) -> Outcome<Option<Step>> {
    let tree = super::init::tree(engine)?;
    let user_home = engine.environment().user_home()?;
    let own = tree.join(".aifleet/config.toml");
    // One that came with the repository could lead to any file of the user, which would then be renamed.
    if let Some(link) = link_at(&own) {
        return Err(Problem::new(Code::ConfigInvalid, format!("{} is a link", link.display()))
            .hint("settings are taken over from a plain file only"));
    }
    for path in [own, user_home.join(".ai_fleet/config.toml")] {
        if let Some(found) = ai_fleet::read(&path)? {
            return take_over(engine, file, &path, found, request).map(Some);
        }
    }
    Ok(None)
}

fn take_over(
    engine: &Engine,
    file: &ConfigFile,
    path: &Path,
    found: Found,
    request: Request,
) -> Outcome<Step> {
    let mut step = Step {
        from: path.display().to_string(),
        to: None,
        backup: None,
        settings: Vec::new(),
        tasks: 0,
        remarks: found.remarks,
    };
    if config::text(file)?.is_some() {
        step.remarks = vec![format!(
            "left as it is, because {} exists already; `fleet config edit --in-project` edits that",
            file.path().display()
        )];
        return Ok(step);
    }
    let preset = usable(engine, file, found.preset, &mut step.remarks);
    let text = text(ProjectType::Generic, &preset);
    let is_set = |line: &&str| !line.is_empty() && !line.starts_with('#');
    step.settings = text.lines().filter(is_set).map(ToOwned::to_owned).collect();
    step.to = Some(file.path().display().to_string());
    if !request.dry_run {
        config::replace(file, None, &text)?;
        step.backup = Some(rename(path)?);
    }
    Ok(step)
}

/// What our configuration takes of it; what it does not is left out with a remark.
fn usable(engine: &Engine, file: &ConfigFile, found: Preset, remarks: &mut Vec<String>) -> Preset {
    let mut kept = |key: &'static str, items: Vec<String>| -> Vec<String> {
        let (good, bad): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| {
            let value = ConfigValue::List(vec![item.clone()]);
            config::check_text(file, &config::project_template(&[ProjectLine { key, value, is_set: true }]))
                .is_ok()
        });
        remarks.extend(bad.iter().map(|item| format!("`{key}` cannot have {item:?}, which was left out")));
        good
    };
    let (copy, setup) = (kept("workspaces.copy", found.copy), kept("workspaces.setup", found.setup));
    let is_known = |agent: &String| agents::check_known(engine, agent).is_ok();
    if let Some(agent) = found.agent.iter().find(|agent| !is_known(agent)) {
        remarks.push(format!("{agent:?} is not an agent that codefleet knows: `fleet agents` lists them"));
    }
    let agent = found.agent.filter(is_known);
    Preset { agent, copy, setup, suggested_checks: vec!["make test".to_owned()] }
}

/// Gives the other tool's file or folder a name under which nobody looks for it.
fn rename(path: &Path) -> Outcome<String> {
    let backup = free_name(path)?;
    fs::rename(path, &backup).map_err(problems::at(path))?;
    Ok(backup.display().to_string())
}
