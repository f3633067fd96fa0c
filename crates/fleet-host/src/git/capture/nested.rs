//! Repositories inside of a work tree: clones and new repositories that an agent made there, and submodules.
//!
//! Git would record only the id of their current commit, which no other repository has. So the files of those that are
//! not tracked are captured like all others, and what is only inside of a tracked one (changed files, commits that no
//! remote has) is kept beside the tree. So are commits of submodules whose files are gone. Git never sees these
//! repositories themselves (`mirror.rs`). One that cannot be read keeps its files, and is reported.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::PathBuf;

use super::add::{self, AddTarget};
use super::guard::{self, Guard, IndexEntry};
use super::index::ScratchFile;
use super::list::{CaptureLimits, Listed, readable};
use super::mirror::{Mirror, Opened};
use super::paths::{FileOrigin, PathList};
use super::walk::{Survey, joined, outermost};
use super::{CapturePurpose, Skipped, SkippedWhy, Skips};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::foreign::{ForeignError, ForeignGitDir};
use crate::git::oid::Oid;

/// How deep repositories may be inside of each other; deeper ones are reported as skipped.
const DEPTH: usize = 8;

/// How many repositories are read: each takes several processes. Of more, only the files are kept.
const MAX_NESTED: usize = 500;

/// The name under which commits are kept in the tree of a nested repository.
const BUNDLE: &str = ".fleet-commits.bundle";

/// The folder for those whose files are not in the work tree.
const WITHOUT_FILES: &str = ".fleet-git";

/// A repository inside the work tree.
#[derive(Debug)]
pub(super) struct Nested {
    /// Its path from the root of the outermost work tree.
    path: Vec<u8>,
    /// `None` if it cannot be read.
    opened: Option<Opened>,
    /// As git may see it, if that was needed by now.
    mirror: Option<Mirror>,
    /// Whether its files are part of the tree already.
    flattened: bool,
}

#[derive(Debug)]
pub(super) struct Repositories<'a> {
    root: &'a Checkout,
    limits: CaptureLimits<'a>,
    survey: &'a Survey,
    found: Vec<Nested>,
    skips: Skips,
}

impl<'a> Repositories<'a> {
    pub(super) fn of(root: &'a Checkout, limits: CaptureLimits<'a>, survey: &'a Survey) -> Self {
        Self { root, limits, survey, found: Vec::new(), skips: Skips::default() }
    }

    /// Adds the files of repositories that are not tracked to the list of paths, and opens those that are.
    pub(super) fn flatten(
        &mut self,
        listed: &mut Listed,
        links: &[IndexEntry],
        paths: &mut PathList,
    ) -> Result<(), GitError> {
        for path in std::mem::take(&mut listed.embedded) {
            self.files(path, DEPTH, paths)?;
        }
        for link in links {
            let opened = self.open(&link.path);
            self.found.push(Nested { path: link.path.clone(), opened, mirror: None, flattened: false });
        }
        listed.skips.append(std::mem::take(&mut self.skips));
        Ok(())
    }

    /// The links to repositories as they are now, where that is not as in the index.
    pub(super) fn moved(&self, links: &[IndexEntry]) -> Vec<IndexEntry> {
        let now = |link: &IndexEntry| {
            let nested = self.found.iter().find(|nested| nested.path == link.path)?;
            let head = nested.opened.as_ref()?.commit().filter(|head| *head != link.object)?;
            Some(IndexEntry { object: head, ..link.clone() })
        };
        links.iter().filter_map(now).collect()
    }

    fn open(&mut self, path: &[u8]) -> Option<Opened> {
        let opened = if self.found.len() < MAX_NESTED { Opened::at(self.root, path).ok() } else { None };
        if opened.as_ref().is_none_or(Opened::is_partly_read) {
            self.skip(path.to_vec(), SkippedWhy::BrokenRepository);
        }
        opened
    }

    fn skip(&mut self, path: Vec<u8>, why: SkippedWhy) {
        self.skips.add(Skipped { path, why });
    }

    /// The mirror of a repository; `None` if there is something wrong with it.
    fn mirror(&mut self, opened: Option<&Opened>, path: &[u8]) -> Result<Option<Mirror>, GitError> {
        let Some(opened) = opened else { return Ok(None) };
        match Mirror::of(opened, self.root, path) {
            Ok(mirror) => Ok(Some(mirror)),
            Err(ForeignError::Unreadable(_) | ForeignError::Git(GitError::Failed { .. })) => {
                self.skip(path.to_vec(), SkippedWhy::BrokenRepository);
                Ok(None)
            }
            Err(ForeignError::Git(error)) => Err(error),
        }
    }

    /// Adds the files of the repository at `path`, and of those inside of it, that it does not ignore.
    fn files(&mut self, path: Vec<u8>, depth: usize, paths: &mut PathList) -> Result<(), GitError> {
        if depth == 0 {
            self.skip(path, SkippedWhy::BrokenRepository);
            return Ok(());
        }
        let opened = self.open(&path);
        let mirror = self.mirror(opened.as_ref(), &path)?;
        let deeper = self.files_of(&path, mirror.as_ref(), paths)?;
        self.found.push(Nested { path, opened, mirror, flattened: true });
        deeper.into_iter().try_for_each(|path| self.files(path, depth - 1, paths))
    }

    /// Adds the files of one repository. The paths of those inside of it.
    fn files_of(
        &mut self,
        path: &[u8],
        mirror: Option<&Mirror>,
        paths: &mut PathList,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let survey = self.survey.within(path);
        let Some(mirror) = mirror else { return self.all_files(path, &survey, paths) };
        let guard = Guard::of(&mirror.checkout, &survey)?;
        let git = mirror.git().args(["ls-files", "-z", "-c"]);
        git.args(guard.others()).records(&mut |name| self.take(joined(path, name), paths))?;
        guard.list_plain(&mirror.checkout, &mut |name| self.take(joined(path, name), paths))?;
        for folder in &guard.closed {
            self.skip(joined(path, folder), SkippedWhy::Unreadable);
        }
        Ok(guard.repositories.iter().map(|inner| joined(path, inner)).collect())
    }

    /// The same for one that cannot be read, so that it is unknown what it ignores.
    fn all_files(
        &mut self,
        path: &[u8],
        survey: &Survey,
        paths: &mut PathList,
    ) -> Result<Vec<Vec<u8>>, GitError> {
        let inside = outermost(&survey.repositories);
        let inside: Vec<_> = inside.into_iter().map(|inner| joined(path, inner)).collect();
        guard::list_files(self.root, path, &inside, &mut |full| self.take(full.to_vec(), paths))?;
        for folder in &survey.closed {
            self.skip(joined(path, folder), SkippedWhy::Unreadable);
        }
        Ok(inside)
    }

    fn take(&mut self, full: Vec<u8>, paths: &mut PathList) -> Result<(), GitError> {
        if self.limits.exclude.contains(full.as_slice()) {
            return Ok(());
        }
        let place = self.root.work_tree.join(OsStr::from_bytes(&full));
        match readable(&place, self.limits.max_file).and_then(|bytes| paths.take_room(FileOrigin::New, bytes))
        {
            // A link to a repository, which is there as one of those inside or not at all.
            Ok(_) if place.is_dir() && !place.is_symlink() => Ok(()),
            Ok(bytes) => paths.push(&full, bytes),
            Err(SkippedWhy::Vanished) => Ok(()),
            Err(why) => {
                self.skip(full, why);
                Ok(())
            }
        }
    }

    /// A tree of what would be lost with the repositories; `None` if nothing would.
    pub(super) fn keep(&mut self, skips: &mut Skips) -> Result<Option<Oid>, GitError> {
        let modules = self.modules();
        if self.found.is_empty() && modules.is_empty() && self.skips.total == 0 {
            return Ok(None);
        }
        let index = ScratchFile::new(&self.root.git_dir, "nested");
        let target = AddTarget::new(self.root, &index, CapturePurpose::Keep);
        let mut paths = PathList::new(self.root, self.survey)?;
        let found = std::mem::take(&mut self.found);
        let mut all = Vec::new();
        for nested in found {
            all.push(self.look_into(nested, &mut paths)?);
        }
        let mut any = !paths.is_empty();
        let added = add::add(&target, &mut paths)?;
        for path in add::add_raw(&target, added.refused)?.into_iter().chain(added.impossible) {
            self.skip(path, SkippedWhy::Rejected);
        }
        all.append(&mut self.found);
        self.add_without_files(modules, &mut all)?;
        for nested in &all {
            any |= self.keep_commits(&target, nested)?;
        }
        skips.append(std::mem::take(&mut self.skips));
        if any { target.git().arg("write-tree").oid().map(Some) } else { Ok(None) }
    }

    /// The repositories of submodules in the agent's `.git`.
    fn modules(&mut self) -> Vec<(PathBuf, ForeignGitDir)> {
        ForeignGitDir::modules(&self.root.work_tree).unwrap_or_else(|_| {
            self.skip(b".git/modules".to_vec(), SkippedWhy::BrokenRepository);
            Vec::new()
        })
    }

    /// Adds those of them that no folder of the work tree belongs to any more, as after `git rm` of a submodule.
    fn add_without_files(
        &mut self,
        modules: Vec<(PathBuf, ForeignGitDir)>,
        all: &mut Vec<Nested>,
    ) -> Result<(), GitError> {
        let is_known = |foreign: &ForeignGitDir| {
            all.iter().filter_map(|nested| nested.opened.as_ref()).any(|opened| opened.dir() == foreign.dir())
        };
        let left: Vec<_> = modules.into_iter().filter(|(_, foreign)| !is_known(foreign)).collect();
        for (name, foreign) in left {
            let path = joined(WITHOUT_FILES.as_bytes(), name.as_os_str().as_bytes());
            let opened = Opened::of(foreign).ok();
            if opened.as_ref().is_none_or(Opened::is_partly_read) {
                self.skip(path.clone(), SkippedWhy::BrokenRepository);
            }
            let mirror = self.mirror(opened.as_ref(), &path)?;
            all.push(Nested { path, opened, mirror, flattened: true });
        }
        Ok(())
    }

    /// Adds the files of a tracked repository, if it has any that its current commit does not have.
    fn look_into(&mut self, mut nested: Nested, paths: &mut PathList) -> Result<Nested, GitError> {
        if nested.mirror.is_none() {
            nested.mirror = self.mirror(nested.opened.as_ref(), &nested.path)?;
        }
        if nested.flattened || !self.is_changed(&nested)? {
            return Ok(nested);
        }
        let deeper = self.files_of(&nested.path, nested.mirror.as_ref(), paths)?;
        deeper.into_iter().try_for_each(|path| self.files(path, DEPTH - 1, paths))?;
        Ok(nested)
    }

    /// Whether there is anything in a repository that its current commit does not have, as far as is known.
    fn is_changed(&self, nested: &Nested) -> Result<bool, GitError> {
        let Some(mirror) = &nested.mirror else { return Ok(true) };
        let survey = self.survey.within(&nested.path);
        if !survey.is_plain() {
            return Ok(true);
        }
        let answer = mirror.git().args(["ls-files", "-z", "-m", "-o", "--exclude-standard"]).answer();
        match answer {
            Ok(answer) => Ok(answer.code != Some(0) || !answer.stdout.is_empty()),
            Err(GitError::TooMuchOutput { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Puts the commits that no remote has into the tree, as a bundle: complete in itself, small when the repository is
    /// a clone, and without mixing another project's history into this one.
    fn keep_commits(&mut self, target: &AddTarget<'_>, nested: &Nested) -> Result<bool, GitError> {
        let Some(mirror) = &nested.mirror else { return Ok(false) };
        let bundle = ScratchFile::new(&self.root.git_dir, "bundle");
        match mirror.pack_commits(&bundle) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(GitError::Failed { .. }) => {
                self.skip(nested.path.clone(), SkippedWhy::BrokenRepository);
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        let hash = ["hash-object", "-w", "--no-filters", "--stdin"];
        let object = Git::within(self.root).args(hash).stdin(bundle.open()?).oid()?;
        let path = joined(&nested.path, BUNDLE.as_bytes());
        add::put(self.root, target.index, &[IndexEntry { mode: "100644".to_owned(), object, path }])?;
        Ok(true)
    }
}
