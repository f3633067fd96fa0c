//! Repacks the objects of the vault without unreachable ones.
//!
//! Not by `git gc`: that drops every object which a borrowed repository has as well, and with it what the user may prune
//! the next moment. `git prune` and `git prune-packed` do the same.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Vault, remove};
use crate::git::capture::ScratchFile;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::oid::Oid;
use crate::git::pack_index::PackIndex;
use crate::git::stamp::Stamp;

/// For reading a whole vault and what it borrows.
const REPACK_TIMEOUT: Duration = Duration::from_hours(2);

/// Packs what the vault itself has of what its refs and workspaces reach, and removes the files of objects that were
/// last written before `before`, in the seconds of the file system. What is younger may be waiting for its ref.
pub(super) fn repack(vault: &Vault, before: i64) -> Result<(), GitError> {
    let files = ObjectFiles::of(vault)?;
    let needed = needed(vault, &files.objects()?)?;
    let packed = pack(vault, &needed)?;
    files.remove_old(before, packed.as_deref())
}

/// All objects that the vault itself has.
pub(super) fn own_objects(vault: &Vault) -> Result<BTreeSet<Oid>, GitError> {
    ObjectFiles::of(vault)?.objects()
}

struct ObjectFiles {
    loose: Vec<(Oid, PathBuf)>,
    /// The indexes of packs.
    packs: Vec<PathBuf>,
    /// Neither a pack nor its index.
    unfinished: Vec<PathBuf>,
}

impl ObjectFiles {
    fn of(vault: &Vault) -> Result<Self, GitError> {
        let objects = vault.dir.join("objects");
        let (mut found, mut folders) =
            (Self { loose: Vec::new(), packs: Vec::new(), unfinished: Vec::new() }, list(&objects)?);
        folders.retain(|folder| name(folder).len() == 2 || name(folder) == "pack");
        for folder in folders {
            for file in list(&folder)? {
                match Oid::parse(&format!("{}{}", name(&folder), name(&file))) {
                    Ok(oid) => found.loose.push((oid, file)),
                    Err(_) if name(&file).starts_with("tmp_") => found.unfinished.push(file),
                    Err(_) if file.extension().is_some_and(|end| end == "idx") => found.packs.push(file),
                    Err(_) => {}
                }
            }
        }
        Ok(found)
    }

    fn objects(&self) -> Result<BTreeSet<Oid>, GitError> {
        let mut all: BTreeSet<Oid> = self.loose.iter().map(|(oid, _)| oid.clone()).collect();
        for pack in &self.packs {
            all.extend(PackIndex::read(pack)?.objects());
        }
        Ok(all)
    }

    /// The time is checked once more: a process that needs an existing object gives its file a new time.
    fn remove_old(self, before: i64, except: Option<&str>) -> Result<(), GitError> {
        let is_old = |file: &Path| Stamp::of(file).is_some_and(|stamp| stamp.seconds() < before);
        let loose = self.loose.iter().map(|(_, file)| file);
        loose.chain(&self.unfinished).filter(|file| is_old(file)).try_for_each(|file| remove(file))?;
        for index in &self.packs {
            let data = index.with_extension("pack");
            let is_new = except.is_some_and(|new| name(index) == format!("{new}.idx"));
            if !is_new && !data.with_extension("keep").exists() && is_old(&data) {
                // Without its index the pack is invisible; readers have it open.
                remove(index)?;
                for end in ["rev", "bitmap", "mtimes", "pack"] {
                    remove(&data.with_extension(end))?;
                }
            }
        }
        Ok(())
    }
}

/// Those of the objects that a ref, a workspace or its index leads to.
fn needed(vault: &Vault, own: &BTreeSet<Oid>) -> Result<Vec<Oid>, GitError> {
    let mut git = Git::about(&vault.dir).args([
        "rev-list",
        "--objects",
        "--no-object-names",
        "--all",
        "--reflog",
        "--indexed-objects",
    ]);
    if vault.is_partial() {
        git = git.arg("--missing=allow-any");
    }
    let (mut found, mut open) = (Vec::new(), Vec::new());
    git.patience(REPACK_TIMEOUT).feed(&mut |piece| {
        open.extend_from_slice(piece);
        let Some(end) = open.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let lines = open[..end].split(|byte| *byte == b'\n');
        let oids = lines.filter_map(|line| Oid::parse(std::str::from_utf8(line).ok()?).ok());
        found.extend(oids.filter(|oid| own.contains(oid)));
        open.drain(..=end);
        Ok(())
    })?;
    Ok(found)
}

/// Writes a pack of these objects; its name, if there are any.
fn pack(vault: &Vault, objects: &[Oid]) -> Result<Option<String>, GitError> {
    let lines: String = objects.iter().flat_map(|oid| [oid.as_str(), "\n"]).collect();
    let (_file, input) = ScratchFile::new(&vault.dir, "objects").with(lines.as_bytes())?;
    let answer = Git::about(&vault.dir)
        .setting("pack.packSizeLimit=0")
        .args(["pack-objects", "--quiet", "--non-empty", "--delta-base-offset"])
        .arg(vault.dir.join("objects/pack/pack"))
        .stdin(input)
        .patience(REPACK_TIMEOUT)
        .bytes()?;
    let hash = String::from_utf8_lossy(answer.trim_ascii()).into_owned();
    Ok((!hash.is_empty()).then(|| format!("pack-{hash}")))
}

fn list(folder: &Path) -> Result<Vec<PathBuf>, GitError> {
    let entries = fs::read_dir(folder).map_err(GitError::io(folder))?;
    Ok(entries.flatten().map(|entry| entry.path()).collect())
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use fleet_testkit::repo::Repo;

    use super::*;

    /// A vault with its own commit and one that nobody needs; the user has the objects of both, too.
    fn stage() -> (Repo, tempfile::TempDir, Vault, [String; 2]) {
        let (repo, home) = (Repo::init(), tempfile::tempdir().unwrap());
        let vault = Vault::of(&repo.path().join(".git"), &home.path().join("vault")).unwrap();
        repo.git(&["switch", "--quiet", "--create", "work"]);
        let commits = ["kept", "dropped"].map(|text| {
            repo.write(text, text);
            repo.commit(text)
        });
        repo.git(&["switch", "--quiet", "main"]);
        // As if an agent had made them: they are in the vault itself.
        let dir = vault.dir.display().to_string();
        for commit in &commits {
            let objects = format!("git rev-list --objects {commit} ^main | cut -d' ' -f1");
            let to = format!("git pack-objects --quiet {dir}/objects/pack/pack");
            let run = format!("alias.copy=!{objects} | {to}");
            repo.git(&["-c", &run, "copy"]);
        }
        repo.git(&["--git-dir", &dir, "update-ref", "refs/fleet/snapshots/r1/1", &commits[0]]);
        (repo, home, vault, commits)
    }

    fn prune(repo: &Repo) {
        repo.git(&["branch", "--quiet", "-D", "work"]);
        repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        repo.git(&["gc", "--quiet", "--prune=now"]);
    }

    #[test]
    fn what_is_needed_stays_although_the_user_has_it_too() {
        let (repo, _home, vault, [kept, dropped]) = stage();
        repack(&vault, i64::MAX).unwrap();
        prune(&repo);
        let dir = vault.dir.display().to_string();
        assert_eq!(repo.git(&["--git-dir", &dir, "show", &format!("{kept}:kept")]), "kept");
        repo.git(&["--git-dir", &dir, "fsck", "--connectivity-only"]);
        let all = ObjectFiles::of(&vault).unwrap();
        assert_eq!((all.packs.len(), all.loose.len()), (1, 0));
        assert!(!all.objects().unwrap().contains(&Oid::parse(&dropped).unwrap()));
        repack(&vault, i64::MAX).unwrap();
        repo.git(&["--git-dir", &dir, "fsck", "--connectivity-only"]);
    }

    #[test]
    fn what_is_young_stays() {
        let (repo, _home, vault, [_, dropped]) = stage();
        repack(&vault, 0).unwrap();
        prune(&repo);
        let dir = vault.dir.display().to_string();
        assert_eq!(repo.git(&["--git-dir", &dir, "show", &format!("{dropped}:dropped")]), "dropped");
    }
}
