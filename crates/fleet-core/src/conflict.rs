//! Which tasks conflict.
//!
//! Owns which pairs of tasks claim or change the same files, and which of them are worth trying to merge. Must never
//! decide that two can be merged: only git can, outside of this module.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::deps::{self, Edge};
use crate::id::TaskId;
use crate::scope::FileScope;
use crate::transition::{UnknownName, named};

named! {
    /// How two tasks conflict, worst first.
    pub enum Clash: "clash" {
        /// Git cannot merge their branches.
        Merge = "merge",
        /// Both have changed the same files, and git can merge them.
        Files = "files",
        /// They claim the same files, or one has changed what the other claims.
        Scope = "scope",
    }
}

/// A task that may conflict with another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Party {
    pub id: TaskId,
    pub scope: FileScope,
    /// The files that it has changed, sorted or not.
    pub files: Vec<String>,
    pub has_more_files: bool,
}

/// Two tasks that may conflict.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Indices of the two parties.
    pub of: (usize, usize),
    /// Files that both changed.
    pub files: Vec<String>,
    /// Overlapping patterns of both.
    pub scopes: Vec<(String, String)>,
    /// Files that one has changed and the other claims.
    pub claimed: Vec<String>,
    /// Whether git should be asked to merge them.
    pub worth_merging: bool,
}

/// At most this many overlapping patterns are named for a pair.
const MAX_NAMED: usize = 8;

/// The pairs that could conflict, with at least one of `about`; all pairs if that is empty.
///
/// One that waits for the other may claim the same files: it comes later. What both have changed counts all the same,
/// because a task does not always start from the work of those that it waits for.
pub fn pairs(parties: &[Party], edges: &[Edge], about: &BTreeSet<TaskId>) -> Vec<Pair> {
    let behind = deps::closure(edges);
    let waits = |a: &Party, b: &Party| behind.get(&a.id).is_some_and(|behind| behind.contains(&b.id));
    let places: Vec<Places<'_>> = parties.iter().map(Places::of).collect();
    let mut found = Vec::new();
    for (at, a) in parties.iter().enumerate() {
        for (other, b) in parties.iter().enumerate().skip(at + 1) {
            if !about.is_empty() && !about.contains(&a.id) && !about.contains(&b.id) {
                continue;
            }
            let files = places[at].shared(&places[other]);
            let worth_merging = !files.is_empty() || places[at].may_clash(&places[other]);
            let (mut scopes, mut claimed) = (Vec::new(), Vec::new());
            if !waits(a, b) && !waits(b, a) {
                scopes = overlaps(&a.scope, &b.scope);
                claimed = changed_in_scope(a, b, &files);
            }
            if worth_merging || !scopes.is_empty() || !claimed.is_empty() {
                found.push(Pair { of: (at, other), files, scopes, claimed, worth_merging });
            }
        }
    }
    found
}

/// The files and folders that a party has changed.
struct Places<'p> {
    files: BTreeSet<&'p str>,
    /// All folders above its files.
    above: BTreeSet<&'p str>,
    folders: BTreeSet<&'p str>,
    is_cut: bool,
}

impl<'p> Places<'p> {
    fn of(party: &'p Party) -> Self {
        let files: BTreeSet<&str> = party.files.iter().map(String::as_str).collect();
        let above =
            files.iter().flat_map(|file| file.match_indices('/').map(|(at, _)| &file[..at])).collect();
        let folders =
            files.iter().filter_map(|file| file.rsplit_once('/')).map(|(folder, _)| folder).collect();
        Self { files, above, folders, is_cut: party.has_more_files }
    }

    fn shared(&self, other: &Self) -> Vec<String> {
        self.files.intersection(&other.files).map(|file| (*file).to_owned()).collect()
    }

    /// Without a common file, two may still clash where one renamed a folder that the other added to, or put a file
    /// where the other has a folder.
    fn may_clash(&self, other: &Self) -> bool {
        let has_work = !self.files.is_empty() && !other.files.is_empty();
        has_work
            && (self.is_cut
                || other.is_cut
                || !self.folders.is_disjoint(&other.folders)
                || !self.files.is_disjoint(&other.above)
                || !self.above.is_disjoint(&other.files))
    }
}

fn overlaps(a: &FileScope, b: &FileScope) -> Vec<(String, String)> {
    if !a.overlaps(b) {
        return Vec::new();
    }
    let alone = |pattern: &str| FileScope::parse([pattern]).unwrap_or_default();
    let theirs: Vec<(&str, FileScope)> = b.patterns().map(|pattern| (pattern, alone(pattern))).collect();
    let mut found = Vec::new();
    for mine in a.patterns() {
        let scope = alone(mine);
        let hits = theirs.iter().filter(|(_, theirs)| scope.overlaps(theirs));
        found.extend(hits.map(|(theirs, _)| (mine.to_owned(), (*theirs).to_owned())));
    }
    found.truncate(MAX_NAMED);
    found
}

/// Files that one has changed, that the other only claims.
fn changed_in_scope(a: &Party, b: &Party, shared: &[String]) -> Vec<String> {
    let of = |files: &[String], scope: &FileScope| -> Vec<String> {
        if scope.is_empty() {
            return Vec::new();
        }
        files.iter().filter(|file| !shared.contains(file) && scope.matches(file)).cloned().collect()
    };
    let mut found: BTreeSet<String> = of(&a.files, &b.scope).into_iter().collect();
    found.extend(of(&b.files, &a.scope));
    found.into_iter().collect()
}

/// In which order pairs are merged, when not all can be: those with the most files in common first.
pub fn merge_order(pairs: &[Pair]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..pairs.len()).filter(|at| pairs[*at].worth_merging).collect();
    order.sort_by_key(|at| (std::cmp::Reverse(pairs[*at].files.len()), *at));
    order
}

/// The kind of conflict of a pair after git's answer, if there is one; `None` if there is no conflict.
pub fn clash(pair: &Pair, cannot_merge: bool) -> Option<Clash> {
    if cannot_merge {
        Some(Clash::Merge)
    } else if !pair.files.is_empty() {
        Some(Clash::Files)
    } else if pair.scopes.is_empty() && pair.claimed.is_empty() {
        None
    } else {
        Some(Clash::Scope)
    }
}

/// How often each file is changed by more than one party: what to split or to order first.
pub fn crowded(parties: &[Party]) -> Vec<(String, Vec<TaskId>)> {
    let mut by_file: BTreeMap<&str, Vec<TaskId>> = BTreeMap::new();
    for party in parties {
        for file in &party.files {
            by_file.entry(file).or_default().push(party.id);
        }
    }
    let mut crowded: Vec<(String, Vec<TaskId>)> = by_file
        .into_iter()
        .filter(|(_, tasks)| tasks.len() > 1)
        .map(|(file, tasks)| (file.to_owned(), tasks))
        .collect();
    crowded.sort_by_key(|(file, tasks)| (std::cmp::Reverse(tasks.len()), file.clone()));
    crowded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::IdMaker;
    use crate::time::Millis;

    fn parties(of: &[(&[&str], &[&str])]) -> Vec<Party> {
        let mut maker = IdMaker::default();
        of.iter()
            .map(|(scope, files)| Party {
                id: maker.next(Millis(1_800_000_000_000), 5),
                scope: FileScope::parse(*scope).unwrap(),
                files: files.iter().map(|file| (*file).to_owned()).collect(),
                has_more_files: false,
            })
            .collect()
    }

    fn all(parties: &[Party]) -> Vec<Pair> {
        pairs(parties, &[], &BTreeSet::new())
    }

    #[test]
    fn claims_and_changes_meet() {
        let some = parties(&[
            (&["src/api/**", "docs"], &["src/api/a.rs"]),
            (&["src/**"], &["src/b.rs", "src/api/a.rs"]),
            (&[], &["README.md"]),
        ]);
        let found = all(&some);
        let [pair] = &found[..] else { panic!("{found:?}") };
        assert_eq!(pair.of, (0, 1));
        assert_eq!(pair.files, ["src/api/a.rs"]);
        assert_eq!(pair.scopes, [("src/api/**".to_owned(), "src/**".to_owned())]);
        assert!(pair.claimed.is_empty(), "what both have changed is not told twice");
        assert!(pair.worth_merging);
        assert_eq!((clash(pair, true), clash(pair, false)), (Some(Clash::Merge), Some(Clash::Files)));
        assert_eq!(crowded(&some), [("src/api/a.rs".to_owned(), vec![some[0].id, some[1].id])]);
    }

    #[test]
    fn whoever_waits_may_claim_the_same() {
        let some = parties(&[(&["src/**"], &[]), (&["src/**"], &["src/a.rs"])]);
        let found = all(&some);
        assert_eq!(found[0].claimed, ["src/a.rs"]);
        assert_eq!(clash(&found[0], false), Some(Clash::Scope));
        let edge = Edge { task: some[1].id, on: some[0].id };
        assert!(pairs(&some, &[edge], &BTreeSet::new()).is_empty());
        let changed = parties(&[(&["src/**"], &["src/a.rs"]), (&["src/**"], &["src/a.rs"])]);
        let edge = Edge { task: changed[1].id, on: changed[0].id };
        let found = pairs(&changed, &[edge], &BTreeSet::new());
        assert_eq!((found[0].files.len(), found[0].scopes.len()), (1, 0));
    }

    #[test]
    fn folders_that_were_moved_or_became_files_are_tried() {
        for (a, b, tried) in [
            (&["old/a", "new/a"][..], &["old/b"][..], true),
            (&["tool"], &["tool/main.rs"], true),
            (&["a/b"], &["a/b/c/d"], true),
            (&["a"], &["b"], false),
            (&["x/a"], &["y/a"], false),
            (&["x/a"], &[], false),
        ] {
            let found = all(&parties(&[(&[], a), (&[], b)]));
            assert_eq!(found.len(), usize::from(tried), "{a:?} {b:?}");
            assert!(found.iter().all(|pair| clash(pair, false).is_none()), "only git can tell");
        }
    }

    #[test]
    fn only_what_was_asked_about_is_told_and_the_worst_is_merged_first() {
        let some = parties(&[(&[], &["a/1", "a/2"]), (&[], &["a/1", "a/3"]), (&[], &["a/1", "a/2", "a/3"])]);
        let found = all(&some);
        assert_eq!(merge_order(&found), [1, 2, 0], "two files in common, two, one");
        let about = BTreeSet::from([some[1].id]);
        let found: Vec<_> = pairs(&some, &[], &about).iter().map(|pair| pair.of).collect();
        assert_eq!(found, [(0, 1), (1, 2)]);
    }
}
