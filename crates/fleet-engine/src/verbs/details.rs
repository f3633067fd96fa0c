//! What is known of tasks and their newest runs on this machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use fleet_api::views::{Details, Followed, RunFiles, RunView};
use fleet_core::id::ProjectId;
use fleet_core::outcome::{AgentExit, RunResult};

use super::prelude::*;
use crate::home::{Home, RunFolder};
use crate::keeper::checkout;

pub(super) async fn fill(engine: &Engine, mut tasks: Vec<Followed>) -> Outcome<Vec<Followed>> {
    let projects = engine.projects().await?;
    let known = DetailLookup {
        engine,
        repos: projects.iter().map(|project| (project.id, checkout(project))).collect(),
        exit_codes: exit_codes(engine, &tasks).await?,
        home: engine.home().clone(),
    };
    for seen in &mut tasks {
        seen.details = Some(known.of(seen).await?);
    }
    Ok(tasks)
}

struct DetailLookup<'e> {
    engine: &'e Engine,
    repos: BTreeMap<ProjectId, PathBuf>,
    exit_codes: BTreeMap<RunId, i32>,
    home: Home,
}

impl DetailLookup<'_> {
    async fn of(&self, seen: &Followed) -> Outcome<Details> {
        let (task, run, config) = (&seen.task, seen.run.as_ref(), self.engine.config()?);
        // That of a run that was just taken is about to be made.
        let is_there = |run: &&RunView| run.state.is_live() || self.home.run(run.id).dir().exists();
        let folder = run.filter(is_there).map(|run| self.home.run(run.id));
        let agent = run.map(|run| run.agent.clone()).or_else(|| task.agent.clone());
        let agent = agent.unwrap_or_else(|| config.agent().to_owned());
        let most_time = task.mode.time_limit(task.limits.seconds, config.limits().time);
        Ok(Details {
            repo: self.repos.get(&task.project).cloned(),
            model: task.model.clone().or_else(|| config.agent_settings(&agent).model),
            agent,
            most_seconds: most_time.map(|time| time.as_secs()),
            parent: match task.parent {
                Some(run) => self.task_of(run).await,
                None => None,
            },
            kept_at: run.filter(|run| run.state.is_live()).map(|run| self.kept_at(run)).transpose()?,
            exit_code: run.and_then(|run| self.exit_codes.get(&run.id)).copied(),
            opened: run.map(|run| self.home.opened(run.id)).filter(|folder| folder.exists()),
            printed_at: folder.as_ref().and_then(printed_at),
            files: folder.as_ref().map(files),
        })
    }

    async fn task_of(&self, run: RunId) -> Option<TaskId> {
        self.engine.call(ops::GetRun { run }).await.ok().map(|detail| detail.run.task)
    }

    fn kept_at(&self, run: &RunView) -> Outcome<Moment> {
        let lease = i64::try_from(self.engine.config()?.runner().lease.as_millis()).unwrap_or(i64::MAX);
        // Another machine may have another clock, or another setting.
        Ok(Moment(Millis(run.lease_until.0.0.saturating_sub(lease).min(self.engine.now().0))))
    }
}

fn files(folder: &RunFolder) -> RunFiles {
    RunFiles {
        folder: folder.dir().to_owned(),
        prompt: folder.prompt(),
        result: folder.result(),
        stdout: folder.stdout(),
        stderr: folder.stderr(),
        ending: folder.ending(),
    }
}

fn printed_at(folder: &RunFolder) -> Option<Moment> {
    let written = |file: &Path| file.metadata().ok().filter(|found| found.len() > 0)?.modified().ok();
    let newest = [folder.stdout(), folder.stderr()].iter().filter_map(|file| written(file)).max()?;
    let since = newest.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok().map(|millis| Moment(Millis(millis)))
}

/// The exit statuses of the agents that were started and have ended, as a shell shows them.
async fn exit_codes(engine: &Engine, tasks: &[Followed]) -> Outcome<BTreeMap<RunId, i32>> {
    let ended = tasks.iter().filter_map(|task| task.run.as_ref()).filter(|run| run.ended_at.is_some());
    let ended: Vec<ops::GetRun> = ended.map(|run| ops::GetRun { run: run.id }).collect();
    let details = engine.call(ops::All(ended)).await?;
    let code = |detail: ops::RunDetail| {
        let result: RunResult = serde_json::from_str(&detail.result?).ok()?;
        Some((detail.run.id, exit_code(&result.exit)?))
    };
    Ok(details.into_iter().filter_map(code).collect())
}

const fn exit_code(exit: &AgentExit) -> Option<i32> {
    match exit {
        AgentExit::Code(code) => Some(*code),
        AgentExit::Signal(signal) => Some(128 + *signal),
        AgentExit::NotStarted(_) => None,
    }
}
