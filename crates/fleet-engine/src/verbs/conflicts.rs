//! Finds tasks that get in each other's way: by the files that they claim, by those that they have changed, and by what
//! git says when their branches are merged. Also branches that no longer go with where they should land.

mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleet_api::verbs::conflicts::{Answer, Conflict, ConflictSide, CrowdedFile, Request, Unseen};
use fleet_core::conflict::{self, Clash, Pair, Party};
use fleet_host::git::{self, LandingTarget, ListedPaths, MergeCheck, Oid};

use self::work::{ConflictParty, OpenWork};
use super::prelude::*;
use super::project_git::ProjectGit;

/// How many merges git tries in one answer: some seconds in a large repository.
const MAX_MERGES: usize = 100;
/// How many files are listed for each conflict, and of the crowded ones.
const NAMED: usize = 50;
/// How many dependencies are read: enough to know which of the compared tasks depend on each other.
const MAX_EDGES: i64 = 10_000;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let common_dir = engine.common_dir()?;
    // Work that is not committed yet is in the vault alone.
    let ProjectGit { repo, vault } = ProjectGit::at(engine, &common_dir);
    let about: BTreeSet<TaskId> = engine.task_ids(&request.tasks).await?.into_iter().collect();
    let open = work::look(engine, (&repo, &vault), &about).await?;
    check_project(&open, &about)?;
    let roots = open.pieces.iter().map(|piece| piece.party.id).collect();
    let graph = engine.call(ops::DependencyTree { roots, with_done: true, limit: MAX_EDGES }).await?;
    let found = blocking(move || compare(&vault, open, &graph.edges, &about)).await?;
    found.map_err(problems::git)
}

/// Refuses named tasks that have nothing to compare.
fn check_project(open: &OpenWork, about: &BTreeSet<TaskId>) -> Outcome<()> {
    let known: BTreeSet<TaskId> = open.pieces.iter().map(|piece| piece.party.id).collect();
    let unseen: BTreeSet<TaskId> = open.unseen.iter().map(|unseen| unseen.task).collect();
    match about.iter().find(|id| !known.contains(id) && !unseen.contains(id)) {
        None => Ok(()),
        Some(id) => Err(Problem::new(
            Code::NothingMatched,
            format!("task {id} has nothing to conflict: no file scope, and no unlanded branch"),
        )
        .hint("a task of another repository needs `--project DIR`")),
    }
}

fn compare(
    repo: &Path,
    open: OpenWork,
    edges: &[fleet_core::deps::Edge],
    about: &BTreeSet<TaskId>,
) -> Result<Answer, git::GitError> {
    let OpenWork { pieces, landing, unseen, more } = open;
    let parties: Vec<Party> = pieces.iter().map(|piece| piece.party.clone()).collect();
    let pairs = conflict::pairs(&parties, edges, about);
    let mut merges = Merges { repo, left: MAX_MERGES };
    let mut conflicts = Vec::new();
    for piece in pieces.iter().filter(|piece| about.is_empty() || about.contains(&piece.party.id)) {
        conflicts.extend(landing_conflict(&mut merges, piece, landing.as_ref())?);
    }
    let (mut clashes, mut stacked, mut unchecked) = (BTreeMap::new(), BTreeSet::new(), 0);
    for at in conflict::merge_order(&pairs) {
        let (a, b) = pairs[at].of;
        match merges.tried(pieces[a].head.as_ref(), pieces[b].head.as_ref())? {
            Tried::Conflict(files) => drop(clashes.insert(at, files)),
            Tried::Clean if is_stacked(repo, &pieces[a], &pieces[b])? => drop(stacked.insert(at)),
            Tried::Clean => {}
            Tried::TooMany => unchecked += 1,
        }
    }
    for (at, pair) in pairs.iter().enumerate().filter(|(at, _)| !stacked.contains(at)) {
        let (a, b) = pair.of;
        conflicts.extend(conflict_of((&pieces[a], &pieces[b]), pair, clashes.remove(&at)));
    }
    conflicts.sort_by_key(|conflict| conflict.kind);
    let mut files = conflict::crowded(&parties);
    files.truncate(NAMED);
    let files = files.into_iter().map(|(path, tasks)| CrowdedFile { path, tasks }).collect();
    Ok(Answer { conflicts, files, looked_at: pieces.len(), unchecked, unseen, more })
}

/// Merges, as long as there are not too many.
struct Merges<'r> {
    repo: &'r Path,
    left: usize,
}

enum Tried {
    Clean,
    Conflict(ListedPaths),
    TooMany,
}

impl Merges<'_> {
    fn tried(&mut self, ours: Option<&Oid>, theirs: Option<&Oid>) -> Result<Tried, git::GitError> {
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return Ok(Tried::Clean) };
        let Some(left) = self.left.checked_sub(1) else { return Ok(Tried::TooMany) };
        self.left = left;
        Ok(match git::merge_tree(self.repo, ours, theirs)? {
            MergeCheck::Clean { .. } => Tried::Clean,
            MergeCheck::Conflicted { files } => Tried::Conflict(files),
        })
    }
}

/// Whether the work of one was made on top of that of the other.
fn is_stacked(repo: &Path, a: &ConflictParty, b: &ConflictParty) -> Result<bool, git::GitError> {
    let (Some(a), Some(b)) = (&a.head, &b.head) else { return Ok(false) };
    Ok(git::is_ancestor(repo, a, b)? || git::is_ancestor(repo, b, a)?)
}

/// Whether work goes with where it should land.
fn landing_conflict(
    merges: &mut Merges<'_>,
    piece: &ConflictParty,
    landing: Option<&LandingTarget>,
) -> Result<Option<Conflict>, git::GitError> {
    let Some(landing) = landing else { return Ok(None) };
    let Tried::Conflict(files) = merges.tried(Some(&landing.commit), piece.head.as_ref())? else {
        return Ok(None);
    };
    let task = piece.party.id;
    // In the agent's own checkout `HEAD` is another one.
    let commit: String = landing.commit.as_str().chars().take(12).collect();
    Ok(Some(Conflict {
        kind: Clash::Merge,
        tasks: vec![piece.side.clone()],
        with: Some(landing.name.clone()),
        file_count: files.total,
        files: named(files.listed),
        scopes: Vec::new(),
        advice: format!("`fleet prompt {task} \"Merge {commit} and resolve the conflicts\"`"),
    }))
}

fn conflict_of(
    (a, b): (&ConflictParty, &ConflictParty),
    pair: &Pair,
    unmergeable: Option<ListedPaths>,
) -> Option<Conflict> {
    let kind = conflict::clash(pair, unmergeable.is_some())?;
    let plain = |files: &[String]| ListedPaths { listed: files.to_vec(), total: files.len() as u64 };
    let files = match (kind, unmergeable) {
        (Clash::Merge, Some(files)) => files,
        (Clash::Merge | Clash::Files, _) => plain(&pair.files),
        (Clash::Scope, _) => plain(&pair.claimed),
    };
    let advice = match kind {
        Clash::Merge => "land one, then `fleet prompt` the other to merge it; or keep only one".to_owned(),
        Clash::Files => "git merges them; look at these files after the second has landed".to_owned(),
        Clash::Scope => in_order(a, b),
    };
    Some(Conflict {
        kind,
        tasks: vec![a.side.clone(), b.side.clone()],
        with: None,
        file_count: files.total,
        files: named(files.listed),
        scopes: pair.scopes.clone(),
        advice,
    })
}

/// What to do about two tasks that claim the same files.
fn in_order(a: &ConflictParty, b: &ConflictParty) -> String {
    let (first, second) = (a.party.id, b.party.id);
    let (begun, other) = match (&a.head, &b.head) {
        (None, None) => {
            return format!(
                "they never run together; `fleet task dep add {second} {first}` decides which comes first"
            );
        }
        (Some(_), Some(_)) => return "look at these files after the second has landed".to_owned(),
        (Some(_), None) => (a, second),
        (None, Some(_)) => (b, first),
    };
    let branch = begun.side.branch.as_deref().unwrap_or("its branch");
    let begun = begun.party.id;
    format!(
        "`fleet task dep add {other} {begun}` starts it after that, from its work; or land {branch} first"
    )
}

fn named(mut files: Vec<String>) -> Vec<String> {
    files.truncate(NAMED);
    files
}
