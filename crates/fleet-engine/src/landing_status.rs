//! Which branches of agents have landed, and where.
//!
//! Owns what counts as landed, for all callers. All answers come from a fixed number of git processes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleet_core::tidy::Landed;
use fleet_host::git::{self, Branch, GitError, LandingTarget, Oid};

/// Branches, and the places where work lands.
#[derive(Debug)]
pub(crate) struct LandingStatus {
    /// Those that were asked about and are there, by name.
    pub(crate) branches: BTreeMap<String, Branch>,
    /// The current commit of the main checkout first, then the main branches that are somewhere else.
    pub(crate) landings: Vec<LandingTarget>,
    missing: BTreeSet<Oid>,
}

impl LandingStatus {
    /// Looks at these branches of a repository. Blocks.
    pub(crate) fn look(repo: &Path, names: &BTreeSet<String>) -> Result<Self, GitError> {
        let all = git::branches(repo)?.into_iter().filter(|branch| names.contains(&branch.name));
        let branches: BTreeMap<String, Branch> = all.map(|branch| (branch.name.clone(), branch)).collect();
        let mut landings = git::landings(repo)?;
        // A branch of an agent that happens to be current, or to be called `main`, is not a branch to land on.
        landings.retain(|landing| landing.name == "HEAD" || !names.contains(&landing.name));
        let tips = branches.values().map(|branch| branch.commit.clone()).collect();
        let missing = git::not_landed(repo, &tips, &landings)?;
        Ok(Self { branches, landings, missing })
    }

    pub(crate) fn is_merged(&self, branch: &Branch) -> bool {
        !self.missing.contains(&branch.commit)
    }

    pub(crate) fn landed(&self, branch: &Branch) -> Option<Landed> {
        let first = self.landings.first()?;
        if self.is_merged(branch) {
            // Which of them it was is known only if there is one.
            let name =
                if self.landings.len() == 1 { first.name.clone() } else { "the main branch".to_owned() };
            return Some(Landed::Merged(name));
        }
        let same = self.landings.iter().find(|landing| landing.tree == branch.tree);
        same.map(|landing| Landed::SameContent(landing.name.clone()))
    }
}
