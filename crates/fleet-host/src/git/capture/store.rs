//! Many files into the repository at once.
//!
//! Git writes and syncs a file for every object that it adds, which takes most of the time when there are thousands.
//! `git fast-import` puts them all into one pack. It knows nothing of filters and attributes, so this is only a way to
//! have the bytes there before git asks for them, except for files that are stored without filters anyhow.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, BufWriter, PipeWriter, Read as _, Seek as _, SeekFrom, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::thread;

use rustix::fs::{Mode, OFlags, open};

use super::guard::IndexEntry;
use super::index::ScratchFile;
use super::paths::LARGE;
use crate::git::checkout::Checkout;
use crate::git::command::Git;
use crate::git::error::GitError;
use crate::git::oid::Oid;

/// Fewer files are not worth two more processes.
pub(super) const MANY_FILES: u64 = 256;

/// How much of a file is looked at in order to know whether it can be compressed.
const SAMPLE: u64 = 64 << 10;

/// Stores the small files among the paths in `list`, as far as they have no filter. Fails silently where only git's own
/// way would tell more.
pub(super) fn store_small(checkout: &Checkout, list: File) -> Result<(), GitError> {
    let stored = import(checkout, &[], |out| {
        each_unfiltered(checkout, list, &mut |path| {
            let place = checkout.work_tree.join(OsStr::from_bytes(path));
            match read_small(&place) {
                Some(content) => put(out, None, &content).map_err(GitError::Write),
                None => Ok(()),
            }
        })
    });
    match stored {
        Err(GitError::Failed { .. } | GitError::Write(_)) => Ok(()),
        stored => stored,
    }
}

/// Stores files and links as they are, whatever their size. The entries for an index, and the paths that cannot be read.
pub(super) fn store_raw(
    checkout: &Checkout,
    paths: Vec<Vec<u8>>,
) -> Result<(Vec<IndexEntry>, Vec<Vec<u8>>), GitError> {
    let marks = ScratchFile::new(&checkout.git_dir, "marks");
    marks.create()?;
    let mut option = OsString::from("--export-marks=");
    option.push(marks.path());
    let mut modes = Vec::with_capacity(paths.len());
    import(checkout, &[&option], |out| {
        for (number, path) in paths.iter().enumerate() {
            let place = checkout.work_tree.join(OsStr::from_bytes(path));
            modes.push(put_raw(out, number as u64 + 1, &place).map_err(GitError::Write)?);
        }
        Ok(())
    })?;
    let mut stored = read_marks(&marks)?;
    let (mut entries, mut failed) = (Vec::new(), Vec::new());
    for (number, (path, mode)) in paths.into_iter().zip(modes).enumerate() {
        match (mode, stored.remove(&(number as u64 + 1))) {
            (Some(mode), Some(object)) => entries.push(IndexEntry { mode: mode.to_owned(), object, path }),
            _ => failed.push(path),
        }
    }
    Ok((entries, failed))
}

/// Writes a file or the target of a link. Its mode for the index; `None` if it cannot be read.
fn put_raw(out: &mut impl Write, mark: u64, place: &Path) -> io::Result<Option<&'static str>> {
    if let Ok(target) = fs::read_link(place) {
        put(out, Some(mark), target.as_os_str().as_bytes())?;
        return Ok(Some("120000"));
    }
    let Some((file, metadata)) = open_file(place) else { return Ok(None) };
    let is_program = metadata.permissions().mode() & 0o100 != 0;
    let is_whole = put_file(out, mark, &file, metadata.len())?;
    Ok(is_whole.then_some(if is_program { "100755" } else { "100644" }))
}

/// Writes a file of this size. False if it turned out shorter: then what is stored is not what was there.
fn put_file(out: &mut impl Write, mark: u64, file: &File, size: u64) -> io::Result<bool> {
    write!(out, "blob\nmark :{mark}\ndata {size}\n")?;
    let copied = io::copy(&mut file.take(size), out)?;
    io::copy(&mut io::repeat(0).take(size - copied), out)?;
    out.write_all(b"\n")?;
    Ok(copied == size)
}

/// The objects by their marks.
fn read_marks(marks: &ScratchFile) -> Result<HashMap<u64, Oid>, GitError> {
    let mut text = String::new();
    marks.open()?.read_to_string(&mut text).map_err(GitError::io(marks.path()))?;
    let parse = |line: &str| {
        let (mark, object) = line.strip_prefix(':')?.split_once(' ')?;
        Some((mark.parse().ok()?, Oid::parse(object).ok()?))
    };
    Ok(text.lines().filter_map(parse).collect())
}

/// Runs `git fast-import` with what `feed` writes.
fn import(
    checkout: &Checkout,
    options: &[&OsStr],
    feed: impl FnOnce(&mut BufWriter<PipeWriter>) -> Result<(), GitError> + Send,
) -> Result<(), GitError> {
    let (reader, writer) = io::pipe().map_err(GitError::Start)?;
    let git = Git::within(checkout)
        .setting("fastimport.unpackLimit=1")
        .setting("pack.compression=1")
        .args(["fast-import", "--quiet", "--depth=0"])
        .args(options)
        .stdin(File::from(OwnedFd::from(reader)));
    thread::scope(|scope| {
        let feeder = scope.spawn(move || {
            let mut out = BufWriter::with_capacity(1 << 16, writer);
            feed(&mut out)?;
            out.flush().map_err(GitError::Write)
        });
        let ran = git.run();
        let written =
            feeder.join().unwrap_or_else(|_| Err(GitError::Write(io::Error::other("the feeder stopped"))));
        ran.and(written)
    })
}

/// Writes one object for `git fast-import`.
fn put(out: &mut impl Write, mark: Option<u64>, content: &[u8]) -> io::Result<()> {
    out.write_all(b"blob\n")?;
    if let Some(mark) = mark {
        writeln!(out, "mark :{mark}")?;
    }
    writeln!(out, "data {}", content.len())?;
    out.write_all(content)?;
    out.write_all(b"\n")
}

/// The content of a small file; `None` for everything else.
fn read_small(place: &Path) -> Option<Vec<u8>> {
    let (file, metadata) = open_file(place)?;
    let size = metadata.len();
    if size >= LARGE {
        return None;
    }
    let mut content = Vec::with_capacity(usize::try_from(size).ok()? + 1);
    file.take(LARGE).read_to_end(&mut content).ok()?;
    Some(content)
}

/// Opens a file without following a link and without waiting; `None` if it is no file.
fn open_file(place: &Path) -> Option<(File, Metadata)> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(open(place, flags, Mode::empty()).ok()?);
    let metadata = file.metadata().ok()?;
    metadata.is_file().then_some((file, metadata))
}

/// The paths of the list that no filter changes. What it would change is not to be stored as it is: it may be large, or
/// be encrypted by the filter.
fn each_unfiltered(
    checkout: &Checkout,
    list: File,
    each: &mut dyn FnMut(&[u8]) -> Result<(), GitError>,
) -> Result<(), GitError> {
    let (mut path, mut field) = (Vec::new(), 0);
    Git::within(checkout).args(["check-attr", "-z", "--stdin", "filter"]).stdin(list).records(&mut |record| {
        field += 1;
        match field {
            1 => record.clone_into(&mut path),
            3 => {
                field = 0;
                if matches!(record, b"unspecified" | b"unset") {
                    each(&path)?;
                }
            }
            _ => {}
        }
        Ok(())
    })
}

/// Whether the bytes in the middle of these files look as if they could be compressed; most files decide.
pub(super) fn can_be_compressed(checkout: &Checkout, paths: &[Vec<u8>]) -> bool {
    let dense = paths.iter().filter(|path| {
        let place = checkout.work_tree.join(OsStr::from_bytes(path));
        sample(&place).is_some_and(|sample| is_dense(&sample))
    });
    dense.count() * 2 <= paths.len()
}

fn sample(place: &Path) -> Option<Vec<u8>> {
    let (mut file, metadata) = open_file(place)?;
    let middle = metadata.len() / 2;
    file.seek(SeekFrom::Start(middle)).ok()?;
    let mut sample = Vec::new();
    file.take(SAMPLE).read_to_end(&mut sample).ok()?;
    Some(sample)
}

/// Whether two bytes of a sample are the same nearly as rarely as in noise: archives, pictures, models.
fn is_dense(sample: &[u8]) -> bool {
    let mut counts = [0_u64; 256];
    for byte in sample {
        counts[usize::from(*byte)] += 1;
    }
    let same: u64 = counts.iter().map(|count| count * count).sum();
    let all = (sample.len() as u64).pow(2);
    same.saturating_mul(128) < all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_dense_and_text_is_not() {
        // A linear congruence is noise enough.
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state.to_be_bytes()[0]
        };
        let noise: Vec<u8> = (0..SAMPLE).map(|_| next()).collect();
        assert!(is_dense(&noise));
        assert!(!is_dense(&noise.iter().map(|byte| byte % 64).collect::<Vec<_>>()));
        assert!(!is_dense(b"fn main() {}"));
        assert!(!is_dense(b""));
    }
}
