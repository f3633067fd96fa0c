//! Repositories inside of a work tree: clones and new repositories that an agent made there, and submodules.
//!
//! Git would record no more than the id of their current commit, which nobody else has. So the files of those that
//! are not tracked are captured like all others, and what is only inside of a tracked one (changed files, commits
//! that no remote has) is kept beside the tree.

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::{BufWriter, Write as _};
use std::os::unix::ffi::OsStrExt as _;

use super::add::{self, Target};
use super::index::Scratch;
use super::list::{Limits, Listed, readable};
use super::{Purpose, Skipped, SkippedWhy, Skips};
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::refs;

/// How deep repositories may be inside of each other; deeper ones are reported as skipped.
const DEPTH: usize = 8;

/// The name under which commits are kept in the tree of a nested repository.
const BUNDLE: &str = ".fleet-commits.bundle";

/// A repository inside of the work tree.
#[derive(Debug)]
pub(super) struct Nested {
    /// Its path from the root of the outermost work tree; empty for a repository that took the place of `.git`.
    path: Vec<u8>,
    checkout: Checkout,
    /// Whether its files are part of the tree already.
    flattened: bool,
}

/// Adds the files of repositories that are not tracked to the list of paths, and finds all that are inside.
pub(super) fn flatten(
    checkout: &Checkout,
    limits: Limits<'_>,
    listed: &mut Listed,
    paths: &Scratch,
) -> Result<Vec<Nested>, GitError> {
    let mut walk = Walk { root: checkout, limits, found: Vec::new() };
    let file = OpenOptions::new().append(true).open(paths.path()).map_err(GitError::io(paths.path()))?;
    let mut out = BufWriter::new(file);
    for path in std::mem::take(&mut listed.embedded) {
        walk.files(path, DEPTH, listed, &mut out)?;
    }
    for path in &listed.flagged {
        listed.paths += 1;
        out.write_all(path).and_then(|()| out.write_all(&[0])).map_err(GitError::io(paths.path()))?;
    }
    out.flush().map_err(GitError::io(paths.path()))?;
    for path in std::mem::take(&mut listed.links) {
        if let Some(inner) = inside(checkout, &path) {
            walk.found.push(Nested { path, checkout: inner, flattened: false });
        }
    }
    if let Ok(other) = Checkout::at(&checkout.work_tree)
        && other.common_dir != checkout.common_dir
    {
        walk.found.push(Nested { path: Vec::new(), checkout: other, flattened: true });
    }
    Ok(walk.found)
}

/// The repository at `path` of a work tree, if there is one of its own.
fn inside(outer: &Checkout, path: &[u8]) -> Option<Checkout> {
    Checkout::at(&outer.work_tree.join(OsStr::from_bytes(path))).ok()
}

struct Walk<'a> {
    root: &'a Checkout,
    limits: Limits<'a>,
    found: Vec<Nested>,
}

impl Walk<'_> {
    /// Writes the files of the repository at `path`, and of those inside of it, that it does not ignore.
    fn files(
        &mut self,
        path: Vec<u8>,
        depth: usize,
        listed: &mut Listed,
        out: &mut dyn std::io::Write,
    ) -> Result<(), GitError> {
        let inner = match inside(self.root, &path) {
            Some(inner) if depth > 0 => inner,
            _ => {
                listed.skips.add(Skipped { path, why: SkippedWhy::BrokenRepository });
                return Ok(());
            }
        };
        let mut deeper = Vec::new();
        let asked = list_files(&inner, &mut |name| {
            let mut full = path.clone();
            full.push(b'/');
            full.extend_from_slice(name);
            self.take(full, listed, out, &mut deeper)
        });
        match asked {
            Ok(()) => {}
            Err(GitError::Failed { .. }) => {
                listed.skips.add(Skipped { path: path.clone(), why: SkippedWhy::BrokenRepository });
            }
            Err(error) => return Err(error),
        }
        self.found.push(Nested { path, checkout: inner, flattened: true });
        deeper.dedup();
        deeper.into_iter().try_for_each(|path| self.files(path, depth - 1, listed, out))
    }

    fn take(
        &self,
        mut full: Vec<u8>,
        listed: &mut Listed,
        out: &mut dyn std::io::Write,
        deeper: &mut Vec<Vec<u8>>,
    ) -> Result<(), GitError> {
        if self.limits.exclude.contains(full.as_slice()) {
            return Ok(());
        }
        if full.ends_with(b"/") {
            full.pop();
            deeper.push(full);
            return Ok(());
        }
        let place = self.root.work_tree.join(OsStr::from_bytes(&full));
        match readable(&place, self.limits.max_file) {
            Ok(_) if place.is_dir() && !place.is_symlink() => {
                // A link of the inner repository; not checked out, it has nothing to keep.
                if inside(self.root, &full).is_some() {
                    deeper.push(full);
                }
                Ok(())
            }
            Ok(bytes) => {
                listed.bytes += bytes;
                listed.paths += 1;
                full.push(0);
                out.write_all(&full).map_err(GitError::Write)
            }
            Err(SkippedWhy::Vanished) => Ok(()),
            Err(why) => {
                listed.skips.add(Skipped { path: full, why });
                Ok(())
            }
        }
    }
}

/// The files of a repository that it tracks or does not ignore.
fn list_files(inner: &Checkout, each: &mut dyn FnMut(&[u8]) -> Result<(), GitError>) -> Result<(), GitError> {
    Git::within(inner).args(["ls-files", "-z", "-c", "-o", "--exclude-standard"]).records(each)
}

/// A tree of what would be lost with the nested repositories; `None` if nothing would.
pub(super) fn kept(
    checkout: &Checkout,
    limits: Limits<'_>,
    nested: &[Nested],
    skips: &mut Skips,
) -> Result<Option<Oid>, GitError> {
    if nested.is_empty() {
        return Ok(None);
    }
    let index = Scratch::new(&checkout.git_dir, "nested");
    let target = Target { checkout, index: &index, purpose: Purpose::Keep };
    let mut listed = Listed::default();
    let paths = Scratch::new(&checkout.git_dir, "paths");
    let mut out = BufWriter::new(paths.create()?);
    for repository in nested.iter().filter(|repository| !repository.flattened) {
        if is_changed(&repository.checkout)? {
            let mut walk = Walk { root: checkout, limits, found: Vec::new() };
            walk.files(repository.path.clone(), DEPTH, &mut listed, &mut out)?;
        }
    }
    out.flush().map_err(GitError::io(paths.path()))?;
    if listed.paths > 0 {
        add::add(&target, &paths, skips)?;
    }
    listed.skips.named.into_iter().for_each(|skipped| skips.add(skipped));
    let mut any = listed.paths > 0;
    for repository in nested.iter().filter(|other| other.checkout.common_dir != checkout.common_dir) {
        any |= keep_commits(&target, repository, skips)?;
    }
    if any { Git::within(checkout).index(index.path()).arg("write-tree").oid().map(Some) } else { Ok(None) }
}

/// Whether there is anything in a repository that its current commit does not have.
fn is_changed(inner: &Checkout) -> Result<bool, GitError> {
    let answer = Git::within(inner)
        .args(["status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none"])
        .answer();
    match answer {
        Ok(answer) => Ok(answer.code != Some(0) || !answer.stdout.is_empty()),
        Err(GitError::TooMuchOutput { .. }) => Ok(true),
        Err(error) => Err(error),
    }
}

/// Puts the commits that no remote has into the tree, as a bundle: complete in itself, small when the repository is
/// a clone, and without mixing another project's history into this one.
fn keep_commits(target: &Target<'_>, nested: &Nested, skips: &mut Skips) -> Result<bool, GitError> {
    let bundle = Scratch::new(&target.checkout.git_dir, "bundle");
    match pack_commits(&nested.checkout, &bundle) {
        Ok(true) => {}
        Ok(false) => return Ok(false),
        Err(GitError::Failed { .. }) => {
            skips.add(Skipped { path: nested.path.clone(), why: SkippedWhy::BrokenRepository });
            return Ok(false);
        }
        Err(error) => return Err(error),
    }
    let git = || Git::within(target.checkout).index(target.index.path());
    let hash = ["hash-object", "-w", "--no-filters", "--stdin"];
    let blob = git().args(hash).stdin(bundle.open()?).oid()?;
    let mut entry = format!("100644,{blob},").into_bytes();
    if !nested.path.is_empty() {
        entry.extend_from_slice(&nested.path);
        entry.push(b'/');
    }
    entry.extend_from_slice(BUNDLE.as_bytes());
    git().args(["update-index", "--add", "--cacheinfo"]).arg(OsStr::from_bytes(&entry)).run()?;
    Ok(true)
}

/// Writes the commits of all branches and of `HEAD` that no remote has. False if there are none.
fn pack_commits(inner: &Checkout, bundle: &Scratch) -> Result<bool, GitError> {
    let mut tips = vec!["--branches"];
    if refs::head(&inner.git_dir)?.is_some() {
        tips.push("HEAD");
    }
    tips.extend(["--not", "--remotes"]);
    let some = Git::within(inner).args(["rev-list", "--max-count=1"]).args(&tips).bytes()?;
    if some.is_empty() {
        return Ok(false);
    }
    // One thread: the same commits are then the same bytes, and make no new snapshot.
    let git = Git::within(inner).setting("pack.threads=1");
    git.args(["bundle", "create", "--quiet"]).arg(bundle.path()).args(&tips).run()?;
    Ok(true)
}
