//! Indexes of packs, version 2 of `gitformat-pack(5)`: which objects a pack has, found without a git.

use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use super::error::GitError;
use super::oid::Oid;

const SIGNATURE: [u8; 8] = [0xff, b't', b'O', b'c', 0, 0, 0, 2];
/// The signature, and for each first byte the number of names up to it.
const HEADER: u64 = 8 + 256 * 4;

/// Where an index is read from.
pub(super) trait ReadAt {
    /// Fills the buffer; `None` if the index ends before that.
    fn fill(&self, buffer: &mut [u8], at: u64) -> Option<()>;
}

impl ReadAt for Vec<u8> {
    fn fill(&self, buffer: &mut [u8], at: u64) -> Option<()> {
        let at = usize::try_from(at).ok()?;
        buffer.copy_from_slice(self.get(at..at.checked_add(buffer.len())?)?);
        Some(())
    }
}

impl ReadAt for File {
    fn fill(&self, buffer: &mut [u8], at: u64) -> Option<()> {
        self.read_exact_at(buffer, at).ok()
    }
}

#[derive(Debug, Default)]
pub(super) struct PackIndex<S = Vec<u8>> {
    source: S,
}

impl PackIndex {
    pub(super) fn read(file: &Path) -> Result<Self, GitError> {
        let content = fs::read(file).map_err(GitError::io(file))?;
        Self::of(content).ok_or_else(|| {
            let answer = "an index of another version".to_owned();
            GitError::Unexpected { command: "index-pack".to_owned(), answer }
        })
    }

    pub(super) fn objects(&self) -> impl Iterator<Item = Oid> {
        let count = self.up_to(255).unwrap_or_default();
        // What follows the names takes 8 bytes for each, and 40 or 64 at the end.
        let is_long = self.source.len() as u64 >= HEADER + count * 40 + 64;
        let mut name = vec![0; if is_long { 32 } else { 20 }];
        (0..count).filter_map(move |number| {
            self.name(number, &mut name)?;
            let digits = name.iter().flat_map(|byte| [byte >> 4, byte & 15]);
            let digits: Option<String> = digits.map(|digit| char::from_digit(digit.into(), 16)).collect();
            Oid::parse(&digits?).ok()
        })
    }
}

impl PackIndex<File> {
    /// Opens an index for a single lookup. `None` if it cannot be read or is of another version.
    pub(super) fn open(file: &Path) -> Option<Self> {
        Self::of(File::open(file).ok()?)
    }
}

impl<S: ReadAt> PackIndex<S> {
    fn of(source: S) -> Option<Self> {
        let mut signature = [0; SIGNATURE.len()];
        source.fill(&mut signature, 0)?;
        // The end of the header.
        source.fill(&mut [0], HEADER - 1)?;
        (signature == SIGNATURE).then_some(Self { source })
    }

    pub(super) fn has(&self, oid: &Oid) -> bool {
        self.find(&bytes(oid)).is_some()
    }

    /// The position of a name among all names.
    fn find(&self, wanted: &[u8]) -> Option<u64> {
        let first = u64::from(*wanted.first()?);
        let mut low = if first == 0 { 0 } else { self.up_to(first - 1)? };
        let mut high = self.up_to(first)?;
        let mut name = vec![0; wanted.len()];
        while low < high {
            let middle = low.midpoint(high);
            self.name(middle, &mut name)?;
            match name.as_slice().cmp(wanted) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// How many names start with this byte or a smaller one.
    fn up_to(&self, first: u64) -> Option<u64> {
        let mut count = [0; 4];
        self.source.fill(&mut count, SIGNATURE.len() as u64 + first * 4)?;
        Some(u32::from_be_bytes(count).into())
    }

    fn name(&self, number: u64, name: &mut [u8]) -> Option<()> {
        let at = HEADER + number * name.len() as u64;
        self.source.fill(name, at)
    }
}

fn bytes(oid: &Oid) -> Vec<u8> {
    let digit = |byte: u8| if byte.is_ascii_digit() { byte - b'0' } else { byte - b'a' + 10 };
    oid.as_str().as_bytes().chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use fleet_testkit::repo::Repo;

    use super::*;

    #[test]
    fn an_index_names_the_objects_of_its_pack() {
        let repo = Repo::init();
        for number in 0..30 {
            repo.write("file", number.to_string());
            repo.commit("more");
        }
        repo.git(&["gc", "--quiet"]);
        let all = repo.git(&["rev-list", "--objects", "--no-object-names", "--all"]);
        let mut all: Vec<Oid> = all.lines().map(|line| Oid::parse(line).unwrap()).collect();
        all.sort();
        let packs = fs::read_dir(repo.path().join(".git/objects/pack")).unwrap();
        let mut packs = packs.map(|entry| entry.unwrap().path());
        let file = packs.find(|path| path.extension().is_some_and(|end| end == "idx")).unwrap();
        let (read, opened) = (PackIndex::read(&file).unwrap(), PackIndex::open(&file).unwrap());
        assert_eq!(read.objects().collect::<Vec<_>>(), all);
        assert!(all.iter().all(|oid| read.has(oid) && opened.has(oid)));
        for other in ["0", "7", "f"].map(|digit| Oid::parse(&digit.repeat(40)).unwrap()) {
            assert!(!read.has(&other) && !opened.has(&other));
        }
        let cut = repo.path().join("cut");
        fs::write(&cut, &fs::read(&file).unwrap()[..1_000]).unwrap();
        assert!(PackIndex::read(&cut).is_err() && PackIndex::open(&cut).is_none());
    }
}
