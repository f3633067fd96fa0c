//! Commits that only a log of a ref names.

use std::collections::BTreeSet;

use super::Unreadable;
use super::folder::Folder;
use super::refs::object;
use crate::git::oid::Oid;

/// How much of the end of a log is read.
const END: u64 = 1 << 20;
/// How many lines count. Git itself forgets them after 90 days.
const MAX_LINES: usize = 1000;
/// A file of one ref is a line.
const LINE_LIMIT: u64 = 4096;

/// What `refs/stash` and its log name, newest first.
pub(super) fn stashes(common: &Folder) -> Result<Vec<Oid>, Unreadable> {
    let mut found = Vec::new();
    if let Some(refs) = common.enter("refs")? {
        let content = refs.read("stash", LINE_LIMIT)?.unwrap_or_default();
        found.extend(String::from_utf8_lossy(&content).split_ascii_whitespace().next().and_then(object));
    }
    if let Some(logs) = common.enter("logs")?
        && let Some(refs) = logs.enter("refs")?
    {
        found.extend(lines(&refs, "stash")?.into_iter().filter_map(|step| step.new));
    }
    Ok(without_repeats(found))
}

/// What a merge or rebase that is under way put aside, to be brought back at its end.
pub(super) fn autostashes(own: &Folder) -> Result<Vec<Oid>, Unreadable> {
    let mut files = vec![own.read("MERGE_AUTOSTASH", LINE_LIMIT)?];
    for folder in ["rebase-merge", "rebase-apply"] {
        if let Some(state) = own.enter(folder)? {
            files.push(state.read("autostash", LINE_LIMIT)?);
        }
    }
    let named = |content: Vec<u8>| object(String::from_utf8_lossy(&content).split_ascii_whitespace().next()?);
    Ok(files.into_iter().flatten().filter_map(named).collect())
}

/// The commits that `HEAD` was at, newest first.
pub(super) fn visited(own: &Folder) -> Result<Vec<Oid>, Unreadable> {
    let Some(logs) = own.enter("logs")? else { return Ok(Vec::new()) };
    let moves = lines(&logs, "HEAD")?;
    Ok(without_repeats(moves.into_iter().flat_map(|step| [step.new, step.old]).flatten().collect()))
}

/// The commits of a detached `HEAD` that were left by checking something else out, newest first. Perhaps no branch has
/// them.
pub(super) fn left(own: &Folder) -> Result<Vec<Oid>, Unreadable> {
    let Some(logs) = own.enter("logs")? else { return Ok(Vec::new()) };
    let left = lines(&logs, "HEAD")?.into_iter().filter(|step| step.is_left);
    Ok(without_repeats(left.filter_map(|step| step.old).collect()))
}

/// From where to where a ref was moved; `None` where it did not exist.
struct Move {
    old: Option<Oid>,
    new: Option<Oid>,
    /// Whether `HEAD` was detached, and something else was checked out.
    is_left: bool,
}

/// The moves of a ref, newest first. Lines that cannot be read are left out.
fn lines(folder: &Folder, name: &str) -> Result<Vec<Move>, Unreadable> {
    let content = folder.read_end(name, END)?.unwrap_or_default();
    Ok(content.rsplit(|byte| *byte == b'\n').filter_map(parse).take(MAX_LINES).collect())
}

fn parse(line: &[u8]) -> Option<Move> {
    let mut words =
        line.split(|byte| *byte == b' ').map(|word| std::str::from_utf8(word).unwrap_or_default());
    let (old, new) = (words.next()?, words.next()?);
    // A detached `HEAD` is named by its commit there, one on a branch by that.
    let said = line.split(|byte| *byte == b'\t').nth(1).unwrap_or_default();
    let left =
        said.strip_prefix(b"checkout: moving from ").is_some_and(|from| from.starts_with(old.as_bytes()));
    Some(Move { old: object(old), new: object(new), is_left: left })
}

fn without_repeats(mut oids: Vec<Oid>) -> Vec<Oid> {
    let mut seen = BTreeSet::new();
    oids.retain(|oid| seen.insert(oid.clone()));
    oids
}
