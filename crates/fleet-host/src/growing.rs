//! Files that another program appends to: found by the ends of their names, read from where the last look ended.
//!
//! Must never wait for a writer, follow a link or read without a bound: an agent decides what is there.

use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use crate::lines::LineSplitter;

/// A longer line is left out: none that is read here is long.
const LONGEST_LINE: usize = 64 * 1024;
/// One read takes at most this much; the next one continues.
const MAX_BYTES: u64 = 32 * 1024 * 1024;
/// A search visits at most this many entries.
const MAX_ENTRIES: usize = 50_000;

/// The regular files whose names end so, exactly this many folders below `dir`.
pub fn find(dir: &Path, levels: usize, name_end: &str) -> Vec<PathBuf> {
    let mut folders = vec![dir.to_owned()];
    let mut left = MAX_ENTRIES;
    for level in 0..=levels {
        let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten().flatten());
        let entries: Vec<_> = entries.take(left).collect();
        left -= entries.len();
        let is_wanted = |entry: &fs::DirEntry| {
            let kind = entry.file_type();
            if level < levels {
                return kind.is_ok_and(|kind| kind.is_dir());
            }
            kind.is_ok_and(|kind| kind.is_file()) && entry.file_name().to_string_lossy().ends_with(name_end)
        };
        folders = entries.iter().filter(|entry| is_wanted(entry)).map(fs::DirEntry::path).collect();
    }
    folders
}

#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    lines: LineSplitter,
}

impl GrowingFile {
    /// Reads all of it.
    pub fn whole(path: PathBuf) -> Self {
        Self { path, lines: LineSplitter::new(LONGEST_LINE) }
    }

    /// Reads only what comes from now on.
    pub fn from_now(path: PathBuf) -> Self {
        let length = fs::symlink_metadata(&path).map_or(0, |metadata| metadata.len());
        Self { path, lines: LineSplitter::starting_at(LONGEST_LINE, length) }
    }

    /// The lines that ended since the last look. A file that cannot be read has none.
    pub fn new_lines(&mut self) -> Vec<Vec<u8>> {
        let mut found = Vec::new();
        let mut keep = |line: crate::lines::Line<'_>| {
            if !line.cut {
                found.push(line.bytes.to_vec());
            }
        };
        if let Ok(mut file) = opened(&self.path, self.lines.position()) {
            let mut chunk = vec![0; LONGEST_LINE];
            while let Ok(length @ 1..) = file.read(&mut chunk) {
                self.lines.push(&chunk[..length], &mut keep);
            }
        }
        found
    }
}

fn opened(path: &Path, position: u64) -> io::Result<io::Take<File>> {
    // Without waiting, in case it is a pipe.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let mut file = File::from(open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    file.seek(SeekFrom::Start(position))?;
    Ok(file.take(MAX_BYTES))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn append(path: &Path, text: &str) {
        fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)
            .unwrap()
            .write_all(text.as_bytes())
            .unwrap();
    }

    fn read(file: &mut GrowingFile) -> Vec<String> {
        file.new_lines().into_iter().map(|line| String::from_utf8(line).unwrap()).collect()
    }

    #[test]
    fn files_are_found_at_their_level_by_the_end_of_their_name() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("2026/11")).unwrap();
        for name in ["2026/11/a-1.jsonl", "2026/11/b-2.jsonl", "2026/c-1.jsonl"] {
            append(&dir.path().join(name), "x\n");
        }
        std::os::unix::fs::symlink(
            dir.path().join("2026/11/b-2.jsonl"),
            dir.path().join("2026/11/l-1.jsonl"),
        )
        .unwrap();
        assert_eq!(find(dir.path(), 2, "-1.jsonl"), [dir.path().join("2026/11/a-1.jsonl")]);
        assert!(find(dir.path(), 3, "-1.jsonl").is_empty());
        assert!(find(&dir.path().join("nowhere"), 1, "-1.jsonl").is_empty());
    }

    #[test]
    fn each_look_has_the_lines_that_ended_since() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        append(&path, "old\n");
        let (mut whole, mut rest) = (GrowingFile::whole(path.clone()), GrowingFile::from_now(path.clone()));
        append(&path, "one\ntw");
        assert_eq!(
            (read(&mut whole), read(&mut rest)),
            (vec!["old".into(), "one".into()], vec!["one".into()])
        );
        append(&path, &format!("o\n{}\nend\n", "y".repeat(LONGEST_LINE + 1)));
        assert_eq!((read(&mut whole), read(&mut rest).len()), (vec!["two".into(), "end".into()], 2));
        assert!(read(&mut whole).is_empty());
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
    fn nobody_waits_for_a_pipe() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        assert!(read(&mut GrowingFile::whole(path)).is_empty());
    }
}
