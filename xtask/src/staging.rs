//! Directories that are whole or not there: made beside their place, and moved.

use std::path::Path;
use std::{fs, io};

/// Lets `make` fill a new directory and puts it in the place of an older one. What was broken off leaves nothing that
/// looks complete. Whoever does the same at the same time has the same, which `is_whole` tells.
pub(crate) fn replace(
    directory: &Path,
    is_whole: impl Fn(&Path) -> bool,
    make: impl FnOnce(&Path) -> Result<(), String>,
) -> Result<(), String> {
    let (parent, name) =
        directory.parent().zip(directory.file_name()).ok_or("it cannot be installed there")?;
    let staging = parent.join(format!("{}-{}", name.to_string_lossy(), std::process::id()));
    let outcome = make(&staging).and_then(|()| swap(&staging, directory, is_whole).map_err(in_words));
    let _ = fs::remove_dir_all(&staging);
    outcome
}

fn swap(staging: &Path, directory: &Path, is_whole: impl Fn(&Path) -> bool) -> io::Result<()> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    match fs::rename(staging, directory) {
        Err(_) if is_whole(directory) => Ok(()),
        other => other,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what `map_err` gives")]
pub(crate) fn in_words(error: io::Error) -> String {
    error.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_directory_replaces_an_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("agents");
        fs::create_dir(&place).unwrap();
        fs::write(place.join("old"), "").unwrap();
        let fill = |path: &Path| {
            fs::create_dir(path).map_err(in_words)?;
            fs::write(path.join("new"), "").map_err(in_words)
        };
        replace(&place, |_| false, fill).unwrap();
        assert!(place.join("new").exists() && !place.join("old").exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing beside it");
    }

    #[test]
    fn what_fails_leaves_the_old_one() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("agents");
        fs::create_dir(&place).unwrap();
        let fail = |path: &Path| {
            fs::create_dir(path).map_err(in_words)?;
            Err("broken off".to_owned())
        };
        assert_eq!(replace(&place, |_| false, fail), Err("broken off".to_owned()));
        assert!(place.exists());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing beside it");
        assert!(replace(&place, |_| false, |_| Ok(())).is_err(), "there is nothing to put there");
    }
}
