//! Files in archives. The same files always make the same bytes: no clock, no user, no order of a folder.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Cursor, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tar::{Builder, EntryType, Header};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::release::Effort;

/// The time of every file, the same that npm gives: some tools refuse to believe in 1970.
const TIME: u64 = 499_162_500;

/// Something in an archive.
pub(crate) struct ArchiveEntry<'a> {
    pub(crate) path: String,
    pub(crate) content: EntryContent<'a>,
}

pub(crate) enum EntryContent<'a> {
    File(Cow<'a, [u8]>),
    Program(Cow<'a, [u8]>),
    /// A symbolic link to a file in the same folder.
    Link(&'static str),
}

impl<'a> ArchiveEntry<'a> {
    pub(crate) fn file(path: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { path: path.into(), content: EntryContent::File(bytes.into()) }
    }

    pub(crate) fn program(path: impl Into<String>, bytes: impl Into<Cow<'a, [u8]>>) -> Self {
        Self { path: path.into(), content: EntryContent::Program(bytes.into()) }
    }

    pub(crate) fn link(path: impl Into<String>, target: &'static str) -> Self {
        Self { path: path.into(), content: EntryContent::Link(target) }
    }

    /// The same, in this folder.
    pub(crate) fn inside(mut self, folder: &str) -> Self {
        self.path = format!("{folder}/{}", self.path);
        self
    }
}

impl EntryContent<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::File(bytes) | Self::Program(bytes) => bytes,
            Self::Link(_) => &[],
        }
    }

    fn mode(&self) -> u32 {
        match self {
            Self::File(_) => 0o644,
            Self::Program(_) => 0o755,
            Self::Link(_) => 0o777,
        }
    }
}

pub(crate) fn gz(bytes: &[u8], effort: Effort) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), effort.compression());
    encoder.write_all(bytes)?;
    encoder.finish()
}

/// With every folder before what is in it: dpkg makes none by itself.
pub(crate) fn tar_gz(entries: &[ArchiveEntry<'_>], effort: Effort) -> io::Result<Vec<u8>> {
    let mut tar = Builder::new(GzEncoder::new(Vec::new(), effort.compression()));
    for folder in folders(entries) {
        let mut header = header(EntryType::Directory, 0o755);
        tar.append_data(&mut header, folder, io::empty())?;
    }
    for ArchiveEntry { path, content } in entries {
        match content {
            EntryContent::Link(target) => {
                tar.append_link(&mut header(EntryType::Symlink, content.mode()), path, target)?;
            }
            EntryContent::File(bytes) | EntryContent::Program(bytes) => {
                let mut header = header(EntryType::Regular, content.mode());
                header.set_size(bytes.len() as u64);
                tar.append_data(&mut header, path, &**bytes)?;
            }
        }
    }
    tar.into_inner()?.finish()
}

fn folders(entries: &[ArchiveEntry<'_>]) -> BTreeSet<String> {
    let above = entries.iter().flat_map(|entry| Path::new(&entry.path).ancestors().skip(1));
    above
        .filter_map(Path::to_str)
        .filter(|folder| !folder.is_empty())
        .map(|folder| format!("{folder}/"))
        .collect()
}

fn header(kind: EntryType, mode: u32) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_mtime(TIME);
    header.set_uid(0);
    header.set_gid(0);
    header.set_size(0);
    header
}

/// Without links, which the readers of wheels do not know.
pub(crate) fn zip(entries: &[ArchiveEntry<'_>], effort: Effort) -> io::Result<Vec<u8>> {
    let level = i64::from(effort.compression().level());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for ArchiveEntry { path, content } in entries {
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(level))
            .last_modified_time(zip::DateTime::default())
            .unix_permissions(content.mode());
        zip.start_file(path, options)?;
        zip.write_all(content.bytes())?;
    }
    Ok(zip.finish()?.into_inner())
}

impl Effort {
    fn compression(self) -> Compression {
        match self {
            Self::Small => Compression::best(),
            Self::Fast => Compression::fast(),
        }
    }
}

/// The format of `ar`, for files with short names.
pub(crate) fn ar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        archive.extend(format!("{name:<16}{TIME:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 100_644).as_bytes());
        archive.extend_from_slice(bytes);
        if size % 2 == 1 {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_come_before_what_is_in_them() {
        let entries = [ArchiveEntry::file("a/b/c", b"1".as_slice()), ArchiveEntry::link("a/d", "b")];
        assert_eq!(folders(&entries).into_iter().collect::<Vec<_>>(), ["a/", "a/b/"]);
    }

    #[test]
    fn a_member_of_odd_length_is_filled_up() {
        let archive = ar(&[("debian-binary", b"2.0\n"), ("odd", b"x")]);
        let header = "debian-binary   499162500   0     0     100644  4         `\n";
        assert_eq!(String::from_utf8(archive[..68].to_vec()).unwrap(), format!("!<arch>\n{header}"));
        assert_eq!(archive.len() % 2, 0);
        assert!(archive.ends_with(b"`\nx\n"));
    }
}
