//! Where the branch of a stage starts: at what the stages that it needs have made, merged in order.

use fleet_core::run::{Ending, Reason};
use fleet_core::text::escaped;
use fleet_core::workflow::{OnConflict, Part, Source, sources};
use fleet_host::git::{self, Area, GitError, Merge, Oid, Paths};

use super::{StageRun, head};
use crate::problems::chain;

/// At most this many files of a conflict are named.
const NAMED: usize = 20;

/// What an earlier part left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) branch: Option<String>,
    pub(super) commit: Oid,
}

/// Something that the agent of the stage still has to merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::keeper) struct Unmerged {
    /// What is not there at all. If it is nobody's, all of it is there, but in these files as git left it.
    head: Option<Head>,
    /// Where it conflicts.
    files: Paths,
}

/// What there is to start from.
#[derive(Debug)]
pub(in crate::keeper) struct Joined {
    pub(in crate::keeper) commit: Oid,
    pub(in crate::keeper) of: Vec<Oid>,
    pub(in crate::keeper) unmerged: Vec<Unmerged>,
}

impl StageRun {
    /// The commit that the branch starts at, made where several have to be joined. Fails with how the run ends.
    pub(in crate::keeper) fn join(&self, area: &Area) -> Result<Joined, Ending> {
        let heads = self.heads(area).map_err(|error| failed(&error))?;
        let joined = self.merge(area, &heads).map_err(|error| failed(&error))?;
        let joined = joined.ok_or_else(|| unknown("what it starts from"))?;
        match joined.unmerged.first() {
            Some(first) if self.stage.on_conflict != OnConflict::Resolve => Err(conflict(&heads, first)),
            _ => Ok(joined),
        }
    }

    /// Joins them in order, as far as they go together. Nothing, if there are none.
    fn merge(&self, area: &Area, heads: &[Head]) -> Result<Option<Joined>, GitError> {
        let Some((first, others)) = heads.split_first() else { return Ok(None) };
        let message = self.message(heads);
        let of = heads.iter().map(|head| head.commit.clone()).collect();
        let mut joined = Joined { commit: first.commit.clone(), of, unmerged: Vec::new() };
        for next in others {
            let both = [joined.commit.clone(), next.commit.clone()];
            match git::merge_commits(&area.vault, &both, &message)? {
                Merge::Merged { commit } => joined.commit = commit,
                Merge::Conflict { files, .. } => {
                    joined.unmerged.push(Unmerged { head: Some(next.clone()), files });
                }
            }
        }
        Ok(Some(joined))
    }

    /// What has to be merged and is not in `tip` yet.
    pub(in crate::keeper) fn unmerged(&self, area: &Area, tip: &Oid) -> Result<Vec<Unmerged>, GitError> {
        if self.stage.on_conflict != OnConflict::Resolve {
            return Ok(Vec::new());
        }
        let heads = self.heads(area)?;
        let mut unmerged = Vec::new();
        for head in &heads {
            let files = match git::merge_commits(&area.vault, &[tip.clone(), head.commit.clone()], "")? {
                Merge::Merged { commit } if commit == *tip => continue,
                Merge::Merged { .. } => Paths::default(),
                Merge::Conflict { files, .. } => files,
            };
            unmerged.push(Unmerged { head: Some(head.clone()), files });
        }
        let files = self.marked(area, tip, &heads)?;
        if files.total > 0 {
            unmerged.push(Unmerged { head: None, files });
        }
        Ok(unmerged)
    }

    /// The files in which somebody committed a conflict instead of an answer to it. Those that looked like that before are
    /// none: they may be about conflicts.
    fn marked(&self, area: &Area, tip: &Oid, heads: &[Head]) -> Result<Paths, GitError> {
        let conflicts = self.merge(area, heads)?.map(|joined| joined.unmerged).unwrap_or_default();
        let files: Vec<String> = conflicts.into_iter().flat_map(|unmerged| unmerged.files.listed).collect();
        let mut listed = git::with_markers(&area.vault, tip, &files)?;
        for head in heads {
            let before = git::with_markers(&area.vault, &head.commit, &listed)?;
            listed.retain(|file| !before.contains(file));
        }
        Ok(Paths { total: listed.len() as u64, listed })
    }

    /// What has to be merged and is not in `tip` yet, in words.
    pub(crate) fn not_merged(&self, area: &Area, tip: Option<&Oid>) -> Vec<String> {
        let looked = tip.map_or(Ok(Vec::new()), |tip| self.unmerged(area, tip));
        match looked {
            Ok(unmerged) => unmerged.iter().map(Unmerged::told).collect(),
            Err(error) => vec![format!("the branch could not be read: {}", chain(&error))],
        }
    }

    /// Whether a commit is one that somebody else's branch keeps: the base of the workflow, or what a stage before made.
    pub(crate) fn is_known(&self, area: &Area, commit: &Oid) -> bool {
        let is_it = |head: &Head| head.commit == *commit;
        self.heads(area).is_ok_and(|heads| heads.iter().any(is_it))
    }

    fn heads(&self, area: &Area) -> Result<Vec<Head>, GitError> {
        let upstream = &self.around.upstream;
        let parts: Vec<&Part> = upstream.iter().map(|upstream| &upstream.part).collect();
        let mut heads: Vec<Head> = Vec::new();
        for source in sources(&self.around.spec, self.around.part.stage, &parts) {
            let left = match source {
                Source::Base => None,
                Source::Part(at) => {
                    let part = &upstream[at];
                    let branch = part.run.as_ref().and_then(|run| run.branch.clone());
                    head(area, part)?.map(|commit| Head { name: part.name.clone(), branch, commit })
                }
            };
            let head = match left {
                Some(head) => head,
                None => Head {
                    name: "the base of the workflow".to_owned(),
                    branch: None,
                    commit: self.base(area)?,
                },
            };
            if !heads.iter().any(|known| known.commit == head.commit) {
                heads.push(head);
            }
        }
        Ok(heads)
    }

    fn base(&self, area: &Area) -> Result<Oid, GitError> {
        let base = self.around.workflow.base.as_str();
        Oid::parse(base).or_else(|_| git::resolve_commit(&area.repo, base))
    }

    fn message(&self, heads: &[Head]) -> String {
        let names: Vec<&str> = heads.iter().map(|head| head.name.as_str()).collect();
        format!(
            "Merge {}\n\nWhere {} of {} starts.\n",
            names.join(", "),
            self.around.name,
            self.around.workflow.name
        )
    }
}

fn failed(error: &GitError) -> Ending {
    Ending::Failed(Reason::WorkspaceFailed, chain(error))
}

fn unknown(what: &str) -> Ending {
    Ending::Failed(Reason::WorkspaceFailed, format!("{what} is not known"))
}

/// All before the first that contradicts go together.
fn conflict(heads: &[Head], first: &Unmerged) -> Ending {
    let merged = heads.iter().take_while(|head| first.head.as_ref() != Some(head)).map(Head::told);
    let merged: Vec<String> = merged.collect();
    let who = first.head.as_ref().map(Head::told).unwrap_or_default();
    let why = format!("{who} contradicts {}{}", merged.join(", "), first.places());
    Ending::Failed(Reason::MergeConflict, why)
}

impl Head {
    /// Its name, in words.
    pub(super) fn told(&self) -> String {
        match &self.branch {
            Some(branch) => format!("{} (branch `{}`)", self.name, escaped(branch)),
            None => format!("{} ({})", self.name, self.commit),
        }
    }
}

impl Unmerged {
    /// What is to be done, in a few words.
    pub(in crate::keeper) fn told(&self) -> String {
        match &self.head {
            Some(head) => format!("{}: `git merge {}`{}", head.told(), head.commit, self.places()),
            None => format!("resolve what is left between conflict markers{}", self.places()),
        }
    }

    /// Where it contradicts, in words that go on.
    fn places(&self) -> String {
        let names: Vec<_> = self.files.listed.iter().take(NAMED).map(|path| escaped(path)).collect();
        let more = self.files.total.saturating_sub(names.len() as u64);
        match (names.is_empty(), more) {
            (true, _) => String::new(),
            (false, 0) => format!(" in {}", names.join(", ")),
            (false, more) => format!(" in {} and {more} more", names.join(", ")),
        }
    }
}
