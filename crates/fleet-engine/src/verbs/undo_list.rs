use std::cmp::Reverse;
use std::collections::BTreeMap;

use fleet_api::verbs::undo_list::{Answer, Request, UndoSnapshot};
use fleet_host::git::{self, StoredSnapshot};

use super::prelude::*;
use super::project_git::ProjectGit;
use super::undo::{KnownRun, is_on, known_of, meant};

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let mut chosen: Vec<StoredSnapshot>;
    let project;
    let mut known: BTreeMap<String, KnownRun> = BTreeMap::new();
    if let Some(id) = &request.id {
        let meant = meant(engine, id).await?;
        project = meant.git;
        chosen = project.snapshots().await?;
        known.extend(meant.runs.into_iter().map(|run| (run.run.clone(), run)));
        chosen.retain(|snapshot| known.contains_key(&snapshot.run));
    } else {
        project = ProjectGit::open(engine, &engine.common_dir()?).await?;
        let all = project.snapshots().await?;
        let last: BTreeMap<String, StoredSnapshot> =
            all.into_iter().map(|snapshot| (snapshot.run.clone(), snapshot)).collect();
        chosen = last.into_values().collect();
    }
    chosen.sort_by_key(|snapshot| Reverse((snapshot.at_seconds, snapshot.number)));
    let more = chosen.len() > request.limit;
    chosen.truncate(request.limit);
    for snapshot in &chosen {
        if !known.contains_key(&snapshot.run) {
            known.insert(snapshot.run.clone(), known_of(engine, &snapshot.run).await?);
        }
    }
    let shown =
        blocking(move || chosen.into_iter().map(|snapshot| view(&project, snapshot, &known)).collect());
    Ok(Answer { snapshots: shown.await?, more })
}

/// What is asked of git here is for people to see: an answer that does not come is left out.
fn view(project: &ProjectGit, snapshot: StoredSnapshot, known: &BTreeMap<String, KnownRun>) -> UndoSnapshot {
    let run = known.get(&snapshot.run);
    let base = run.and_then(|run| run.base.clone()).or_else(|| snapshot.head.clone());
    let branch = run.and_then(|run| run.branch.clone());
    let on_branch = branch.as_ref().is_some_and(|branch| is_on(project, branch, &snapshot).unwrap_or(false));
    UndoSnapshot {
        task: run.and_then(|run| run.task),
        title: run.and_then(|run| run.title.clone()),
        branch,
        number: snapshot.number,
        why: snapshot.why,
        at: Moment(Millis(snapshot.at_seconds.saturating_mul(1_000))),
        commit: snapshot.commit.to_string(),
        files: base.and_then(|base| git::differing_files(&project.vault, &base, &snapshot.commit).ok()),
        on_branch,
        run: snapshot.run,
    }
}
