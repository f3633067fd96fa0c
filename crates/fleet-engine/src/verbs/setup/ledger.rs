//! What was made for our entries, so that exactly that can be taken back.
//!
//! Owns `$FLEET_HOME/setup.json`. What is not in it was there before: then only the entry itself is ours. Must never keep
//! anything that others wrote: settings hold keys.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Made;
use crate::atomic_file::AtomicFile;
use crate::verbs::prelude::*;

/// More files than we are registered in.
const MAX_FILES: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SetupNote {
    /// The outermost thing that was made.
    pub(super) made: Made,
    /// What was put in, to the byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    insertion: Option<Insertion>,
}

/// A piece of text that replaced blank space.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Insertion {
    blank: String,
    piece: String,
}

impl SetupNote {
    /// For an entry that existed before.
    pub(super) const ENTRY: Self = Self { made: Made::Entry, insertion: None };

    /// For a change from one text to another.
    pub(super) fn of(made: Made, before: &str, after: &str) -> Self {
        let head: usize =
            before.chars().zip(after.chars()).take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let (old, new) = (&before[head..], &after[head..]);
        let tail: usize = old
            .chars()
            .rev()
            .zip(new.chars().rev())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum();
        let (blank, piece) = (&old[..old.len() - tail], &new[..new.len() - tail]);
        let insertion =
            blank.trim().is_empty().then(|| Insertion { blank: blank.to_owned(), piece: piece.to_owned() });
        Self { made, insertion }
    }

    /// The text as it was, if what was put in is still there as it was.
    pub(super) fn undone(&self, text: &str) -> Option<String> {
        let Insertion { blank, piece } = self.insertion.as_ref()?;
        let is_there_once = !piece.is_empty() && text.matches(piece.as_str()).count() == 1;
        is_there_once.then(|| text.replacen(piece.as_str(), blank, 1))
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Notes {
    files: BTreeMap<String, SetupNote>,
}

pub(super) struct SetupLedger {
    path: PathBuf,
}

impl SetupLedger {
    pub(super) fn new(home: &Path) -> Self {
        Self { path: home.join("setup.json") }
    }

    pub(super) fn note(&self, file: &Path) -> SetupNote {
        self.read().files.remove(&key(file)).unwrap_or(SetupNote::ENTRY)
    }

    /// Keeps what was done to this file; an entry alone needs no note.
    pub(super) fn keep(&self, file: &Path, note: SetupNote) -> Outcome<()> {
        let mut notes = self.read();
        let is_news = if note == SetupNote::ENTRY {
            notes.files.remove(&key(file)).is_some()
        } else {
            notes.files.insert(key(file), note.clone()) != Some(note)
        };
        if !is_news || notes.files.len() > MAX_FILES {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(&notes)
            .map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        let written =
            AtomicFile::acquire(&self.path).and_then(|exclusive| exclusive.replace(&format!("{text}\n")));
        written.map_err(problems::at(&self.path))
    }

    /// Unreadable notes count as none: then less is removed, and nothing of other programs.
    fn read(&self) -> Notes {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }
}

fn key(file: &Path) -> String {
    file.to_string_lossy().into_owned()
}
