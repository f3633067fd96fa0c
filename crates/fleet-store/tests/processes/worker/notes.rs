//! What a worker leaves for the test, and its randomness.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where a worker's notes are.
pub(crate) fn path(folder: &Path, name: &str) -> PathBuf {
    folder.join(name).with_extension("notes")
}

/// Lines in a file of the worker's own. A line that was written survives the end of the process, however that
/// comes.
pub(super) struct Notes {
    file: File,
}

impl Notes {
    pub(super) fn begin(folder: &Path, name: &str) -> Self {
        Self { file: OpenOptions::new().create(true).append(true).open(path(folder, name)).unwrap() }
    }

    /// One line, in one write.
    pub(super) fn write(&mut self, line: fmt::Arguments<'_>) {
        self.write_all(&format!("{line}\n"));
    }

    /// Several whole lines, in one write.
    pub(super) fn write_all(&mut self, lines: &str) {
        self.file.write_all(lines.as_bytes()).unwrap();
    }
}

/// Random numbers, seeded by the operating system.
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    pub(crate) fn new() -> Self {
        Self { state: RandomState::new().hash_one(std::process::id()) }
    }

    /// The next number: SplitMix64.
    pub(crate) fn roll(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From zero to below `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.roll() % u64::try_from(bound.max(1)).unwrap()).unwrap()
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
