//! The refs of the user's repository, as every agent gets a copy of them.
//!
//! Owns reading them all, and a cache of that by the looks of the folders that they are in: git replaces the file of a
//! ref by renaming, which changes its folder. A copy may be a moment old; what a run starts from never comes from here.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Vault;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::files;
use crate::git::gitdir::is_absence;
use crate::git::oid::Oid;
use crate::git::stamp::Stamp;

/// What is copied.
const KINDS: [&str; 3] = ["refs/heads", "refs/remotes", "refs/tags"];
/// The coarsest clock of a file system that is in use, in seconds.
const TICK: i64 = 2;
/// Folders of refs are not deeper than names are long.
const MAX_DEPTH: usize = 200;

/// Refs as an agent gets them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::git) struct AgentRefs {
    /// The refs that name an object.
    pub(in crate::git) named: BTreeMap<String, Oid>,
    /// The symbolic refs.
    pub(in crate::git) symbolic: BTreeMap<String, String>,
}

impl AgentRefs {
    /// The refs of the user's repository now.
    pub(in crate::git) fn now(vault: &Vault) -> Result<Self, GitError> {
        let Some(common_dir) = files::plain_refs(&vault.repo) else { return ask_git(&vault.repo) };
        let (loose, looks) = walk(&common_dir)?;
        let cache = vault.dir.join("given").join(format!("{:016x}.json", looks.hash));
        if let Some(known) = fs::read(&cache).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()) {
            return Ok(known);
        }
        let Some(given) = read(&common_dir, &loose) else { return ask_git(&vault.repo) };
        remember(&given, &cache, looks.newest);
        Ok(given)
    }

    /// The file that holds all refs that name an object.
    pub(in crate::git) fn packed(&self) -> Vec<u8> {
        let mut text = b"# pack-refs with: sorted \n".to_vec();
        for (name, oid) in &self.named {
            text.extend_from_slice(format!("{oid} {name}\n").as_bytes());
        }
        text
    }
}

/// Changes when the refs change.
struct RefsStamp {
    hash: u64,
    newest: i64,
}

/// The names of all loose refs.
fn walk(common_dir: &Path) -> Result<(Vec<String>, RefsStamp), GitError> {
    let mut loose = Vec::new();
    let mut hasher = DefaultHasher::new();
    let packed = Stamp::of(&common_dir.join("packed-refs"));
    packed.hash(&mut hasher);
    let mut newest = packed.map_or(0, |stamp| stamp.seconds());
    let mut open: Vec<String> = KINDS.map(ToOwned::to_owned).to_vec();
    while let Some(name) = open.pop() {
        let path = common_dir.join(&name);
        let Some(stamp) = Stamp::of(&path) else { continue };
        (&name, stamp).hash(&mut hasher);
        newest = newest.max(stamp.seconds());
        list((&path, &name), &mut open, &mut loose).map_err(GitError::io(&path))?;
    }
    Ok((loose, RefsStamp { hash: hasher.finish(), newest }))
}

fn list((path, name): (&Path, &str), open: &mut Vec<String>, loose: &mut Vec<String>) -> io::Result<()> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(error) if is_absence(&error) => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let entry = entry?;
        let Ok(end) = entry.file_name().into_string() else { continue };
        let full = format!("{name}/{end}");
        match entry.file_type()? {
            kind if kind.is_dir() && full.matches('/').count() < MAX_DEPTH => open.push(full),
            kind if kind.is_file() && !is_lock(&full) => loose.push(full),
            _ => {}
        }
    }
    // The file system's own order is not always the same.
    open.sort_unstable();
    Ok(())
}

fn is_lock(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|end| end == "lock")
}

/// `None` if only git can read them.
fn read(common_dir: &Path, loose: &[String]) -> Option<AgentRefs> {
    let mut given = AgentRefs::default();
    for (name, oid) in files::all_packed(common_dir)? {
        if KINDS.iter().any(|kind| Path::new(&name).starts_with(kind)) {
            given.named.insert(name, oid);
        }
    }
    for name in loose {
        match files::value_at(&common_dir.join(name)) {
            Some(files::RefValue::Object(oid)) => drop(given.named.insert(name.clone(), oid)),
            Some(files::RefValue::Ref(target)) => {
                given.named.remove(name);
                given.symbolic.insert(name.clone(), target);
            }
            // Damaged, or gone meanwhile: an agent does without it.
            None => drop(given.named.remove(name)),
        }
    }
    Some(given)
}

/// Keeps the answer for the next run, if the folders are old enough for their times to tell the next change.
fn remember(given: &AgentRefs, cache: &Path, newest: i64) {
    let new = cache.with_extension(format!("{}.new", std::process::id()));
    let kept = (|| -> io::Result<()> {
        fs::write(&new, serde_json::to_vec(given)?)?;
        let now = Stamp::of(&new).map_or(0, |stamp| stamp.seconds());
        if newest + TICK >= now {
            return Err(io::Error::other("too young"));
        }
        forget_others(cache);
        fs::rename(&new, cache)
    })();
    if kept.is_err() {
        let _ = fs::remove_file(&new);
    }
}

fn forget_others(cache: &Path) {
    let Some(entries) = cache.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    let is_one = |path: &PathBuf| path.extension().is_some_and(|end| end == "json") && path != cache;
    for path in entries.flatten().map(|entry| entry.path()).filter(is_one) {
        let _ = fs::remove_file(path);
    }
}

fn ask_git(repo: &Path) -> Result<AgentRefs, GitError> {
    const FORMAT: &str = "--format=%(objectname) %(refname)%00%(symref)%00";
    let (mut given, mut last) = (AgentRefs::default(), None);
    Git::about(repo).args(["for-each-ref", FORMAT, "--"]).args(KINDS).records(&mut |record| {
        let text = String::from_utf8_lossy(record).into_owned();
        match last.take() {
            None => last = Some(text),
            Some(first) => given.take(&first, text),
        }
        Ok(())
    })?;
    Ok(given)
}

impl AgentRefs {
    fn take(&mut self, first: &str, target: String) {
        let Some((oid, name)) = first.trim().split_once(' ') else { return };
        if !target.is_empty() {
            self.symbolic.insert(name.to_owned(), target);
        } else if let Ok(oid) = Oid::parse(oid) {
            self.named.insert(name.to_owned(), oid);
        }
    }
}
