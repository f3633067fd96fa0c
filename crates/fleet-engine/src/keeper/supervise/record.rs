//! The agent's own record of its conversation, for agents whose output tells only at the end of a turn what was used: a
//! bound that holds only then does not hold.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use fleet_agents::RecordFiles;
use fleet_host::growing::{self, GrowingFile};
use tokio::task::{JoinHandle, spawn_blocking};

use crate::terminal::Secrets;

/// What a read gave: the files, to go on with, and the lines that are new.
pub(super) type NewLines = (Vec<GrowingFile>, Vec<Vec<u8>>);

#[derive(Default)]
pub(super) struct RecordReader {
    /// What the agent sees of the world, which says where its home is.
    environment: Vec<(OsString, OsString)>,
    files: Vec<GrowingFile>,
    secrets: Secrets,
}

impl RecordReader {
    /// Before the agent is started: what exists of a `resumed` conversation was counted by earlier runs.
    pub(super) fn new(
        resumed: Option<&RecordFiles>,
        environment: Vec<(OsString, OsString)>,
        secrets: Secrets,
    ) -> Self {
        let earlier = resumed.map(|record| find(record, &environment)).unwrap_or_default();
        let files = earlier.into_iter().map(GrowingFile::from_now).collect();
        Self { environment, files, secrets }
    }

    /// Reads what is new, if it is known which conversation it is. The result belongs to [`Self::take`].
    pub(super) fn read(&mut self, record: Option<RecordFiles>) -> JoinHandle<NewLines> {
        let (mut files, environment) = (std::mem::take(&mut self.files), self.environment.clone());
        let secrets = self.secrets.clone();
        spawn_blocking(move || {
            if let Some(record) = record.filter(|_| files.is_empty()) {
                files = find(&record, &environment).into_iter().map(GrowingFile::whole).collect();
            }
            let lines = files.iter_mut().flat_map(GrowingFile::new_lines);
            let lines = lines.map(|line| secrets.clean(&line)).collect();
            (files, lines)
        })
    }

    pub(super) fn take(&mut self, (files, lines): NewLines) -> Vec<Vec<u8>> {
        self.files = files;
        lines
    }
}

fn find(record: &RecordFiles, environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let folder = record.folder.iter().find_map(|folder| place(folder, environment));
    folder.map(|folder| growing::find(&folder, record.levels, &record.name_end)).unwrap_or_default()
}

fn place(folder: &str, environment: &[(OsString, OsString)]) -> Option<PathBuf> {
    let (variable, rest) = folder.split_once(':').unwrap_or(("HOME", folder));
    let is_named = |(name, value): &&(OsString, OsString)| name == OsStr::new(variable) && !value.is_empty();
    environment.iter().find(is_named).map(|(_, value)| Path::new(value).join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_in_the_home_that_the_agent_sees() {
        let environment = |pairs: &[(&str, &str)]| -> Vec<(OsString, OsString)> {
            pairs.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))).collect()
        };
        let both = environment(&[("HOME", "/home/u"), ("X_HOME", "/x")]);
        assert_eq!(place("X_HOME:sessions", &both), Some(PathBuf::from("/x/sessions")));
        assert_eq!(place(".x/sessions", &both), Some(PathBuf::from("/home/u/.x/sessions")));
        assert_eq!(place("X_HOME:sessions", &environment(&[("X_HOME", "")])), None);
    }

    #[tokio::test]
    async fn what_earlier_runs_wrote_is_not_read_again_and_secrets_are_masked() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".x/2026");
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            let before = std::fs::read_to_string(&path).unwrap_or_default();
            std::fs::write(path, before + text).unwrap();
        };
        let record = || RecordFiles { folder: &[".x"], levels: 1, name_end: "-s1.jsonl".to_owned() };
        let environment = vec![(OsString::from("HOME"), home.path().as_os_str().to_owned())];
        write("a-s1.jsonl", "old\n");
        let secrets = Secrets::new(vec![b"sk-12345678".to_vec()]);
        let mut resumed = RecordReader::new(Some(&record()), environment.clone(), secrets.clone());
        let mut new = RecordReader::new(None, environment, secrets);
        write("a-s1.jsonl", "new sk-12345678\n");
        let clean = &b"new ***********"[..];
        for (reader, lines) in [(&mut resumed, vec![clean]), (&mut new, vec![b"old", clean])] {
            let first = reader.read(Some(record())).await.unwrap();
            assert_eq!(reader.take(first), lines);
            let second = reader.read(Some(record())).await.unwrap();
            assert!(reader.take(second).is_empty());
        }
    }
}
