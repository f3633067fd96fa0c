//! Whether an object is in a repository, found without a git.
//!
//! Only what `gitformat-pack(5)` documents is read: the files of loose objects, and indexes of version 2. "No" means
//! that git has to be asked: the object may be borrowed, or in something newer.

use std::fs;
use std::path::Path;

use super::oid::Oid;
use super::pack_index::PackIndex;

/// Whether the object is certainly in the repository, not only in one that it borrows from.
pub(super) fn is_there(common_dir: &Path, object: &Oid) -> bool {
    let (folder, file) = object.as_str().split_at(2);
    let objects = common_dir.join("objects");
    objects.join(folder).join(file).is_file() || is_packed(&objects.join("pack"), object)
}

fn is_packed(folder: &Path, object: &Oid) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    entries.flatten().map(|entry| entry.path()).any(|path| {
        path.extension().is_some_and(|end| end == "idx")
            && PackIndex::open(&path).is_some_and(|index| index.has(object))
            && path.with_extension("pack").is_file()
    })
}
