//! Projects: git repositories, known by their root commit. Each place has its own checkout.
//!
//! Owns which project a repository belongs to. On one place a path is enough: two clones of one repository are two
//! projects, and a repository that was recreated is still the same one. Elsewhere the root commit decides, never the
//! path.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::ProjectId;
use crate::time::Millis;

/// A repository that tasks are about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// The git common dir at the place that is meant: absolute, links resolved.
    pub common_dir: String,
    /// A name for people; need not be unique.
    pub name: String,
    /// The first commit of its history, if it is known.
    pub root: Option<String>,
    /// When it was first seen.
    pub created_at: Millis,
}

/// What git says about the repository at hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryFacts {
    /// The first commit of its history, if it has one.
    pub root: Option<String>,
    /// Root commits of other projects that it has, too.
    pub contains: BTreeSet<String>,
}

impl RepositoryFacts {
    fn has(&self, root: &str) -> bool {
        self.root.as_deref() == Some(root) || self.contains.contains(root)
    }
}

/// A project that a repository may belong to, because of its path or its name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "what the store knows about it, fact by fact")]
pub struct LikelyProject {
    pub id: ProjectId,
    pub root: Option<String>,
    /// Whether the repository is its checkout at this place.
    pub is_checkout: bool,
    /// Whether it has any checkout at this place.
    pub is_here: bool,
    /// Whether it has one at another place.
    pub is_elsewhere: bool,
    /// Whether it was seen at the same path, wherever that was.
    pub same_path: bool,
}

/// Which project a repository belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectMatch {
    Known(ProjectId),
    /// To this one, as before, which has another root commit from now on.
    Rerooted(ProjectId),
    /// To this one, which had no checkout at this place.
    Joined(ProjectId),
    New,
}

impl ProjectMatch {
    pub const fn project(self) -> Option<ProjectId> {
        match self {
            Self::Known(id) | Self::Rerooted(id) | Self::Joined(id) => Some(id),
            Self::New => None,
        }
    }
}

#[must_use]
pub fn match_project(likely: &[LikelyProject], seen: &RepositoryFacts) -> ProjectMatch {
    let current = likely.iter().find(|project| project.is_checkout);
    if let Some(current) = current {
        match &current.root {
            Some(root) if seen.has(root) => return ProjectMatch::Known(current.id),
            None if seen.root.is_none() => return ProjectMatch::Known(current.id),
            // Others have the old one: this is another repository now.
            Some(_) if current.is_elsewhere => {}
            None | Some(_) => return ProjectMatch::Rerooted(current.id),
        }
    }
    let mut others: Vec<&LikelyProject> =
        likely.iter().filter(|project| !project.is_here && may_join(project, seen)).collect();
    others.sort_by_key(|project| (!project.same_path, project.id));
    others.first().map_or(ProjectMatch::New, |project| ProjectMatch::Joined(project.id))
}

/// A project without a root commit is known only by its path, and only as long as no other project has it.
fn may_join(project: &LikelyProject, seen: &RepositoryFacts) -> bool {
    match &project.root {
        Some(root) => seen.has(root),
        None => project.same_path && !project.is_elsewhere,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::IdMaker;

    fn likely(id: ProjectId, root: Option<&str>) -> LikelyProject {
        let root = root.map(str::to_owned);
        LikelyProject { id, root, is_checkout: false, is_here: false, is_elsewhere: true, same_path: false }
    }

    fn seen(root: &str) -> RepositoryFacts {
        RepositoryFacts { root: Some(root.to_owned()), contains: BTreeSet::new() }
    }

    fn ids() -> (ProjectId, ProjectId) {
        let mut maker = IdMaker::default();
        (maker.next(Millis(0), 0), maker.next(Millis(0), 1))
    }

    #[test]
    fn the_root_commit_decides_between_places_and_never_the_path() {
        let (one, two) = ids();
        let there = |root, same_path| LikelyProject { same_path, ..likely(one, root) };
        assert_eq!(match_project(&[there(Some("r"), true)], &seen("r")), ProjectMatch::Joined(one));
        assert_eq!(
            match_project(&[there(Some("r"), false)], &seen("r")),
            ProjectMatch::Joined(one),
            "another path"
        );
        assert_eq!(
            match_project(&[there(Some("r"), true)], &seen("other")),
            ProjectMatch::New,
            "the same path"
        );
        assert_eq!(
            match_project(&[there(None, true)], &seen("r")),
            ProjectMatch::New,
            "nobody knows what that is"
        );
        assert_eq!(match_project(&[], &seen("r")), ProjectMatch::New);
        let older = RepositoryFacts { contains: BTreeSet::from(["r".to_owned()]), ..seen("merged") };
        assert_eq!(
            match_project(&[there(Some("r"), true)], &older),
            ProjectMatch::Joined(one),
            "it has that commit"
        );
        let both = [likely(one, Some("r")), LikelyProject { same_path: true, ..likely(two, Some("r")) }];
        assert_eq!(
            match_project(&both, &seen("r")),
            ProjectMatch::Joined(two),
            "the path is the better sign"
        );
    }

    #[test]
    fn two_clones_at_one_place_are_two_projects() {
        let (one, _) = ids();
        let here = LikelyProject { is_here: true, is_elsewhere: false, ..likely(one, Some("r")) };
        assert_eq!(match_project(&[here], &seen("r")), ProjectMatch::New);
    }

    #[test]
    fn at_its_own_place_a_path_is_enough_unless_others_have_the_project_too() {
        let (one, two) = ids();
        let own = |root, is_elsewhere| LikelyProject {
            is_checkout: true,
            is_here: true,
            is_elsewhere,
            same_path: true,
            ..likely(one, root)
        };
        assert_eq!(match_project(&[own(Some("r"), false)], &seen("r")), ProjectMatch::Known(one));
        assert_eq!(
            match_project(&[own(Some("r"), false)], &seen("new")),
            ProjectMatch::Rerooted(one),
            "made anew"
        );
        assert_eq!(
            match_project(&[own(None, true)], &seen("r")),
            ProjectMatch::Rerooted(one),
            "its first commit"
        );
        assert_eq!(match_project(&[own(None, false)], &RepositoryFacts::default()), ProjectMatch::Known(one));
        let all = [own(Some("r"), true), likely(two, Some("new"))];
        assert_eq!(
            match_project(&all, &seen("new")),
            ProjectMatch::Joined(two),
            "another repository lies there now"
        );
        assert_eq!(match_project(&all[..1], &seen("new")), ProjectMatch::New);
    }

    #[test]
    fn a_project_of_an_older_version_is_found_by_its_path() {
        let (one, _) = ids();
        let old = LikelyProject { same_path: true, is_elsewhere: false, ..likely(one, None) };
        assert_eq!(match_project(std::slice::from_ref(&old), &seen("r")), ProjectMatch::Joined(one));
        assert_eq!(
            match_project(&[LikelyProject { same_path: false, ..old }], &seen("r")),
            ProjectMatch::New
        );
    }
}
