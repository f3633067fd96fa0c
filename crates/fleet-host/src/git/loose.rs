//! Making a ref without running git: a branch, a ref that holds a commit, a snapshot.
//!
//! Owns the one change that most runs make. Done as git does it for refs that are files (`gitrepository-layout(5)`):
//! the process that has made `NAME.lock` may change the ref. Uncommon cases (a table of refs, another process's lock, a
//! repository that several users share) are left to git: `None` always means "ask git", and then nothing was changed.
//! Refs are removed by git alone: a process that is killed while it holds `packed-refs.lock` would leave it to the
//! user. Must never touch a ref that is neither a branch, nor a commit that we hold (`refs/fleet/held/`), nor a
//! snapshot.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::files::{self, PackedName};
use super::gitdir::is_absence;
use super::oid::Oid;
use crate::plain;

/// The folders above a branch may vanish when the last other branch in them is removed.
const ATTEMPTS: usize = 3;

const SNAPSHOTS: &str = "refs/fleet/snapshots/";

/// Prefix of the names of drafts.
const DRAFT: &str = "fleet-ref-";

/// A living process holds its lock for less than this.
const LONGEST_LOCK: Duration = Duration::from_millis(100);

/// Makes a ref, by its full name, at a commit that is in the repository.
///
/// The lock has its content before it has its name. So a lock that a killed process left says what it was for, and the
/// next process that wants the same finishes it.
pub(super) fn create(git_dir: &Path, name: &str, at: &Oid) -> Option<()> {
    let common_dir = ours_alone(git_dir, name)?;
    let path = common_dir.join(name);
    let draft = RefDraft::new(&common_dir, &format!("{at}\n"), name.starts_with(SNAPSHOTS)).ok()?;
    let lock = RefLock::on_new(&path, &draft).or_else(|| RefLock::left(&path, at))?;
    let is_free = matches!(fs::symlink_metadata(&path), Err(error) if is_absence(&error))
        && files::packed_name(&common_dir, name)? == PackedName::Free;
    if !is_free {
        return None;
    }
    lock.put(&path).ok()
}

/// The commit that the lock of a ref was made for, if there is a lock that says so.
pub(super) fn locked_for(git_dir: &Path, name: &str) -> Option<(PathBuf, Oid)> {
    let lock = lock_of(&files::plain_refs(git_dir)?.join(name));
    let text = plain::read_text(&lock).ok()?;
    Some((lock, Oid::parse(text.strip_suffix('\n')?).ok()?))
}

/// The common directory of a repository that keeps refs as files and that no other user writes to.
fn ours_alone(git_dir: &Path, name: &str) -> Option<PathBuf> {
    if !files::is_shared(name) {
        return None;
    }
    let common_dir = files::plain_refs(git_dir)?;
    let settings = plain::read(&common_dir.join("config")).ok()?.to_ascii_lowercase();
    let is_shared = settings.windows(SHARED.len()).any(|word| word == SHARED);
    (!is_shared).then_some(common_dir)
}

/// With this setting, new files have other permissions.
const SHARED: &[u8] = b"sharedrepository";

fn lock_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    PathBuf::from(name)
}

/// The future content of a ref, in a file that is not yet a lock. Removed when dropped.
struct RefDraft {
    path: PathBuf,
}

/// Removes what killed processes left in the folder of drafts, if it is older than `age`. Earlier versions left lists
/// there, too. Returns how many.
pub(super) fn sweep_drafts(common_dir: &Path, age: Duration) -> io::Result<usize> {
    let is_ours = |name: &str| [DRAFT, "fleet-list-"].iter().any(|start| name.starts_with(start));
    let is_old = |found: &fs::Metadata| {
        let age_now = found.modified().ok().and_then(|at| at.elapsed().ok());
        found.is_file() && age_now.is_some_and(|passed| passed >= age)
    };
    let mut swept = 0;
    for entry in fs::read_dir(common_dir)? {
        let entry = entry?;
        if is_ours(&entry.file_name().to_string_lossy()) && is_old(&entry.metadata()?) {
            fs::remove_file(entry.path())?;
            swept += 1;
        }
    }
    Ok(swept)
}

impl RefDraft {
    /// A snapshot is the last copy of something: after a loss of power its ref must not be empty.
    fn new(common_dir: &Path, content: &str, is_durable: bool) -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = common_dir.join(format!("{DRAFT}{}-{number}", std::process::id()));
        let draft = Self { path };
        let mut file = File::create(&draft.path)?;
        file.write_all(content.as_bytes())?;
        if is_durable {
            file.sync_all()?;
        }
        Ok(draft)
    }
}

impl Drop for RefDraft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The right to change a ref. Given back when it is dropped.
struct RefLock {
    path: PathBuf,
    is_held: bool,
}

impl RefLock {
    /// For a ref whose folders may be missing.
    fn on_new(path: &Path, draft: &RefDraft) -> Option<Self> {
        let lock = lock_of(path);
        for _ in 0..ATTEMPTS {
            match fs::hard_link(&draft.path, &lock) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    fs::create_dir_all(path.parent()?).ok()?;
                }
                made => return made.ok().map(|()| Self { path: lock, is_held: true }),
            }
        }
        None
    }

    /// Also takes over the lock of a process that was killed before it could do what we want. A living one is done in
    /// no time.
    fn left(path: &Path, at: &Oid) -> Option<Self> {
        let lock = lock_of(path);
        let is_for_it = || plain::read_text(&lock).is_ok_and(|text| text == format!("{at}\n"));
        if !is_for_it() {
            return None;
        }
        thread::sleep(LONGEST_LOCK);
        is_for_it().then_some(Self { path: lock, is_held: true })
    }

    /// Replaces the ref with what was written.
    fn put(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.is_held = false;
        Ok(())
    }
}

impl Drop for RefLock {
    fn drop(&mut self) {
        if self.is_held {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::files::Tip;

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
    fn a_branch_is_made_where_its_name_is_free() {
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
        assert!(locks(repo).is_empty());
    }

    #[test]
    fn what_is_not_plain_is_left_to_git() {
        let dir = repository();
        let repo = dir.path();
        create(repo, "refs/heads/one", &oid(ONE)).unwrap();
        fs::write(repo.join("refs/heads/two.lock"), format!("{TWO}\n")).unwrap();
        assert_eq!(create(repo, "refs/heads/two", &oid(ONE)), None, "somebody has the lock");
        assert!(repo.join("refs/heads/two.lock").exists(), "it is not ours");
        assert_eq!(locked_for(repo, "refs/heads/two"), Some((repo.join("refs/heads/two.lock"), oid(TWO))));
        assert_eq!(create(repo, "refs/heads/two", &oid(TWO)), Some(()), "what was left is finished");
        assert!(locks(repo).is_empty());
        fs::write(repo.join("config"), "[core]\n\tsharedRepository = group\n").unwrap();
        assert_eq!(create(repo, "refs/heads/three", &oid(ONE)), None);
        fs::write(repo.join("config"), "[core]\n").unwrap();
        fs::create_dir(repo.join("reftable")).unwrap();
        assert_eq!(create(repo, "refs/heads/three", &oid(ONE)), None);
    }
}
