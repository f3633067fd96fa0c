//! Making and removing a branch without a git.
//!
//! Owns the two changes that every short run makes: a branch at a commit that is there, and its removal when nothing
//! came of it. Done as git does it for refs that are files (`gitrepository-layout(5)`): whoever has made `NAME.lock` may
//! change the ref, and nobody packs refs while somebody has `packed-refs.lock`. Whatever is not as plain as it mostly is
//! (a table of refs, a lock of somebody else, a repository that several users share) is left to git: `None` always means
//! "ask git", and then nothing was changed. Must never touch a ref that is not a branch.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::files::{self, PackedName, Tip};
use super::gitdir::is_absence;
use super::oid::Oid;

/// The folders above a branch may be removed by somebody who removes the last other branch in them.
const ATTEMPTS: usize = 3;

/// Makes a branch, by its full name, at a commit that is in the repository.
pub(super) fn create(git_dir: &Path, name: &str, at: &Oid) -> Option<()> {
    let common_dir = ours_alone(git_dir, name)?;
    let path = common_dir.join(name);
    let lock = Lock::on_new(&path)?;
    let is_free = matches!(fs::symlink_metadata(&path), Err(error) if is_absence(&error))
        && files::packed_name(&common_dir, name)? == PackedName::Free;
    if !is_free {
        return None;
    }
    lock.file.as_ref()?.write_all(format!("{at}\n").as_bytes()).ok()?;
    lock.put(&path).ok()
}

/// Removes a branch, by its full name, that is at this commit.
pub(super) fn delete(git_dir: &Path, name: &str, expected: &Oid) -> Option<()> {
    let common_dir = ours_alone(git_dir, name)?;
    let path = common_dir.join(name);
    let _lock = Lock::on(&path)?;
    // Whoever packs refs now would bring it back.
    let _packing = Lock::on(&common_dir.join("packed-refs"))?;
    let is_plain = files::packed_name(&common_dir, name)? != PackedName::Taken
        && files::commit_of(&common_dir, name)? == Tip::At(expected.clone());
    if !is_plain {
        return None;
    }
    // First, as git does it: a log without its branch would be in the way of others.
    match fs::remove_file(common_dir.join("logs").join(name)) {
        Err(error) if !is_absence(&error) => return None,
        _ => {}
    }
    fs::remove_file(&path).ok()
}

/// The common directory of a repository that keeps refs as files and that no other user writes to.
fn ours_alone(git_dir: &Path, name: &str) -> Option<PathBuf> {
    name.strip_prefix("refs/heads/")?;
    let common_dir = files::plain_refs(git_dir)?;
    let settings = fs::read(common_dir.join("config")).ok()?.to_ascii_lowercase();
    let is_shared = settings.windows(SHARED.len()).any(|word| word == SHARED);
    (!is_shared).then_some(common_dir)
}

/// With this setting, files have other permissions than new ones usually have.
const SHARED: &[u8] = b"sharedrepository";

/// The right to change a ref. Given back when it is dropped.
struct Lock {
    path: PathBuf,
    file: Option<File>,
}

impl Lock {
    fn on(path: &Path) -> Option<Self> {
        Self::make(path).ok()
    }

    /// The same for a ref whose folders need not be there yet.
    fn on_new(path: &Path) -> Option<Self> {
        for _ in 0..ATTEMPTS {
            match Self::make(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(path.parent()?).ok()?;
                }
                made => return made.ok(),
            }
        }
        None
    }

    fn make(path: &Path) -> io::Result<Self> {
        let mut name = path.as_os_str().to_owned();
        name.push(".lock");
        let path = PathBuf::from(name);
        let file = OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Self { path, file: Some(file) })
    }

    /// Puts what was written in the place of the ref.
    fn put(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.file = None;
        Ok(())
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE: &str = "1111111111111111111111111111111111111111";
    const TWO: &str = "2222222222222222222222222222222222222222";

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("refs/heads")).unwrap();
        fs::write(dir.path().join("config"), "[core]\n").unwrap();
        fs::write(dir.path().join("packed-refs"), format!("{ONE} refs/heads/old\n{ONE} refs/heads/a/b\n"))
            .unwrap();
        dir
    }

    fn oid(text: &str) -> Oid {
        Oid::parse(text).unwrap()
    }

    fn locks(dir: &Path) -> Vec<PathBuf> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
        let inner = folders.iter().flat_map(|folder| locks(folder));
        inner
            .chain(files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "lock")))
            .collect()
    }

    #[test]
    fn a_branch_is_made_where_its_name_is_free_and_removed_where_it_is_known_to_be() {
        let dir = repository();
        let repo = dir.path();
        assert_eq!(create(repo, "refs/heads/fleet/t1", &oid(ONE)), Some(()));
        assert_eq!(files::commit_of(repo, "refs/heads/fleet/t1"), Some(Tip::At(oid(ONE))));
        for taken in ["refs/heads/fleet/t1", "refs/heads/fleet", "refs/heads/fleet/t1/x", "refs/heads/old"] {
            assert_eq!(create(repo, taken, &oid(TWO)), None, "{taken}");
        }
        for taken in ["refs/heads/old/x", "refs/heads/a", "refs/heads/a/b/c", "refs/tags/new"] {
            assert_eq!(create(repo, taken, &oid(TWO)), None, "{taken}");
        }
        assert_eq!(create(repo, "refs/heads/a/c", &oid(TWO)), Some(()), "beside another");

        assert_eq!(delete(repo, "refs/heads/fleet/t1", &oid(TWO)), None, "it is somewhere else");
        fs::create_dir_all(repo.join("logs/refs/heads/fleet")).unwrap();
        fs::write(repo.join("logs/refs/heads/fleet/t1"), "moved\n").unwrap();
        assert_eq!(delete(repo, "refs/heads/fleet/t1", &oid(ONE)), Some(()));
        assert_eq!(files::commit_of(repo, "refs/heads/fleet/t1"), Some(Tip::Nowhere));
        assert!(!repo.join("logs/refs/heads/fleet/t1").exists());
        assert_eq!(delete(repo, "refs/heads/old", &oid(ONE)), None, "a packed one is left to git");
        assert!(locks(repo).is_empty());
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        let dir = repository();
        let repo = dir.path();
        create(repo, "refs/heads/one", &oid(ONE)).unwrap();
        for lock in ["refs/heads/one.lock", "packed-refs.lock"] {
            fs::write(repo.join(lock), "").unwrap();
            assert_eq!(delete(repo, "refs/heads/one", &oid(ONE)), None, "somebody has {lock}");
            assert!(repo.join(lock).exists(), "it is not ours");
            fs::remove_file(repo.join(lock)).unwrap();
        }
        fs::write(repo.join("config"), "[core]\n\tsharedRepository = group\n").unwrap();
        assert_eq!(create(repo, "refs/heads/two", &oid(ONE)), None);
        fs::write(repo.join("config"), "[core]\n").unwrap();
        fs::create_dir(repo.join("reftable")).unwrap();
        assert_eq!(create(repo, "refs/heads/two", &oid(ONE)), None);
        assert_eq!(delete(repo, "refs/heads/one", &oid(ONE)), None);
    }
}
