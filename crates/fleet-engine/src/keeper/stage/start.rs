//! Where the branch of a stage starts: at what the stages that it needs have made, merged in order.

use fleet_core::run::{Ending, Reason};
use fleet_core::workflow::{CommitSource, OnConflict, Part, sources};
use fleet_host::git::{self, Area, GitError, ListedPaths, Merge, Oid};

use super::{StageRun, head};
use crate::keeper::prior_work::{Joined, PriorHead, Unmerged, conflict, failed, merge};
use crate::problems::chain;

impl StageRun {
    /// The commit that the branch starts at, made where several have to be joined. Fails with how the run ends.
    pub(in crate::keeper) fn join(&self, area: &Area) -> Result<Joined, Ending> {
        let heads = self.heads(area).map_err(|error| failed(&error))?;
        self.check_here(area, &heads)?;
        let joined = merge(area, &heads, &self.message(&heads)).map_err(|error| failed(&error))?;
        let joined = joined.ok_or_else(|| unknown("what it starts from"))?;
        match joined.unmerged.first() {
            Some(first) if self.stage.on_conflict != OnConflict::Resolve => Err(conflict(&heads, first)),
            _ => Ok(joined),
        }
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
                Merge::Merged { .. } => ListedPaths::default(),
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

    /// The files with committed conflict markers. Files that had markers before do not count: they may be about
    /// conflicts.
    fn marked(&self, area: &Area, tip: &Oid, heads: &[PriorHead]) -> Result<ListedPaths, GitError> {
        let conflicts =
            merge(area, heads, &self.message(heads))?.map(|joined| joined.unmerged).unwrap_or_default();
        let files: Vec<String> = conflicts.into_iter().flat_map(|unmerged| unmerged.files.listed).collect();
        let mut listed = git::with_markers(&area.vault, tip, &files)?;
        for head in heads {
            let before = git::with_markers(&area.vault, &head.commit, &listed)?;
            listed.retain(|file| !before.contains(file));
        }
        Ok(ListedPaths { total: listed.len() as u64, listed })
    }

    /// What has to be merged and is not in `tip` yet, in words.
    pub(crate) fn not_merged(&self, area: &Area, tip: Option<&Oid>) -> Vec<String> {
        let looked = tip.map_or(Ok(Vec::new()), |tip| self.unmerged(area, tip));
        match looked {
            Ok(unmerged) => unmerged.iter().map(Unmerged::described).collect(),
            Err(error) => vec![format!("the branch could not be read: {}", chain(&error))],
        }
    }

    /// Whether another branch keeps the commit: the base of the workflow, or what a stage before made.
    pub(crate) fn is_known(&self, area: &Area, commit: &Oid) -> bool {
        let is_it = |head: &PriorHead| head.commit == *commit;
        self.heads(area).is_ok_and(|heads| heads.iter().any(is_it))
    }

    fn heads(&self, area: &Area) -> Result<Vec<PriorHead>, GitError> {
        let upstream = &self.around.upstream;
        let parts: Vec<&Part> = upstream.iter().map(|upstream| &upstream.part).collect();
        let mut heads: Vec<PriorHead> = Vec::new();
        for source in sources(&self.around.spec, self.around.part.stage, &parts) {
            let left = match source {
                CommitSource::Base => None,
                CommitSource::Part(at) => {
                    let part = &upstream[at];
                    let branch = part.run.as_ref().and_then(|run| run.branch.clone());
                    head(area, part)?.map(|commit| PriorHead { name: part.name.clone(), branch, commit })
                }
            };
            let head = match left {
                Some(head) => head,
                None => PriorHead {
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

    /// That this repository has the work of the stages before: they may have run on another machine.
    fn check_here(&self, area: &Area, heads: &[PriorHead]) -> Result<(), Ending> {
        for head in heads {
            if git::has_commit(&area.vault, &head.commit).map_err(|error| failed(&error))? {
                continue;
            }
            let whose = self.around.upstream.iter().find(|part| part.name == head.name);
            if let Some(run) = whose.and_then(|part| part.run.as_ref()) {
                return Err(self.own.missing(&format!("the work of {}", head.name), run));
            }
        }
        Ok(())
    }

    fn base(&self, area: &Area) -> Result<Oid, GitError> {
        let base = self.around.workflow.base.as_str();
        Oid::parse(base).or_else(|_| git::resolve_commit(&area.repo, base))
    }

    fn message(&self, heads: &[PriorHead]) -> String {
        let names: Vec<&str> = heads.iter().map(|head| head.name.as_str()).collect();
        format!(
            "Merge {}\n\nWhere {} of {} starts.\n",
            names.join(", "),
            self.around.name,
            self.around.workflow.name
        )
    }
}

fn unknown(what: &str) -> Ending {
    Ending::Failed(Reason::WorkspaceFailed, format!("{what} is not known"))
}
