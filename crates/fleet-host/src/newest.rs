//! Whether files change in a folder, without following each of them.

use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

/// The newest change of a file or folder in there, as far as `most` entries tell; those of git are not looked at. What
/// cannot be read counts as unchanged.
pub fn newest_change(root: &Path, most: usize) -> Option<SystemTime> {
    let mut newest = changed_at(root);
    let (mut folders, mut left) = (VecDeque::from([root.to_owned()]), most);
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if left == 0 {
                return newest;
            }
            left -= 1;
            newest = newest.max(changed_at(&entry.path()));
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) && entry.file_name() != ".git" {
                folders.push_back(entry.path());
            }
        }
    }
    newest
}

fn changed_at(path: &Path) -> Option<SystemTime> {
    fs::symlink_metadata(path).ok()?.modified().ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_that_changed_is_seen_however_deep_it_is() {
        let dir = tempfile::tempdir().unwrap();
        for folder in ["a/b/c", ".git/objects"] {
            fs::create_dir_all(dir.path().join(folder)).unwrap();
        }
        let [deep, git] = ["a/b/c/file", ".git/objects/file"].map(|file| dir.path().join(file));
        for file in [&deep, &git] {
            fs::write(file, "").unwrap();
        }
        let before = newest_change(dir.path(), 100);
        let later = before.unwrap() + Duration::from_mins(1);
        let touch = |file: &Path| fs::File::options().write(true).open(file).unwrap().set_modified(later);
        touch(&git).unwrap();
        assert_eq!(newest_change(dir.path(), 100), before, "git has its own business");
        touch(&deep).unwrap();
        assert_eq!(newest_change(dir.path(), 100), Some(later));
        assert!(newest_change(dir.path(), 2) < Some(later), "no more is looked at");
        assert_eq!(newest_change(&dir.path().join("none"), 100), None);
    }
}
