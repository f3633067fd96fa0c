//! The names of places.
//!
//! Owns the file `place` of a home: every place that the home has been at, each with its own name. A runner that
//! took the runs of another place for its own would find none of their processes, and end them: so machines that share
//! a home over the network, clones of a machine and copies of a home all have different names.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use fleet_core::place::HomeLocation;
use fleet_host::lock::Exclusive;
use fleet_host::{machine, plain};
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::home::{make_private, write_private};

/// Longer than writing a small file takes.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// More places than any home is at.
const MAX_PLACES: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    name: String,
    #[serde(flatten)]
    at: HomeLocation,
}

/// The name of the place that the home in this folder is at now.
pub(crate) fn name(root: &Path) -> io::Result<String> {
    make_private(root)?;
    name_at(root, &here(root)?)
}

fn name_at(root: &Path, here: &HomeLocation) -> io::Result<String> {
    let known = read(root)?.into_iter().find(|place| place.at == *here);
    let name = known.map_or_else(|| write(root, here), |place| Ok(place.name))?;
    Ok(format!("{name}-{}", here.machine))
}

fn here(root: &Path) -> io::Result<HomeLocation> {
    let folder = fs::metadata(root)?.ino();
    Ok(HomeLocation {
        machine: machine::id(),
        cards: machine::network_cards(),
        host: machine::name(),
        folder,
    })
}

fn read(root: &Path) -> io::Result<Vec<Place>> {
    Ok(serde_json::from_str(&text(root)?).unwrap_or_default())
}

fn text(root: &Path) -> io::Result<String> {
    match plain::read_text(&root.join("place")) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        text => text,
    }
}

/// A name for a new place: the one that an earlier version gave the home and wrote without anything else, or any.
fn new_name(root: &Path) -> io::Result<String> {
    let text = text(root)?;
    let earlier = text.trim();
    if earlier.len() == 16 && earlier.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(earlier.to_owned());
    }
    let entropy = clock::entropy().map_err(|problem| io::Error::other(problem.to_string()))?;
    Ok(format!("{entropy:016x}"))
}

/// Notes where the home is now, under the name of the same place if there is one. One at a time: two that draw a name
/// have to agree on it.
fn write(root: &Path, here: &HomeLocation) -> io::Result<String> {
    let lock = Exclusive::acquire(&root.join("place.lock"), WRITE_TIMEOUT)?;
    let _lock =
        lock.ok_or_else(|| io::Error::new(ErrorKind::TimedOut, "place.lock is held by another process"))?;
    let mut places = read(root)?;
    let name = match places.iter().position(|place| place.at.is_same_place(here)) {
        Some(known) => places.remove(known).name,
        None => new_name(root)?,
    };
    places.insert(0, Place { name: name.clone(), at: here.clone() });
    places.truncate(MAX_PLACES);
    write_private(&root.join("place"), &serde_json::to_vec(&places)?)?;
    Ok(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(root: &Path) -> Vec<String> {
        let places: Vec<Place> = serde_json::from_slice(&fs::read(root.join("place")).unwrap()).unwrap();
        places.into_iter().map(|place| place.name).collect()
    }

    #[test]
    fn a_place_is_named_once_by_whoever_comes_first() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("fleet");
        let places = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| name(&root).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(places.iter().all(|place| *place == places[0]), "{places:?}");
        assert_eq!(name(&root).unwrap(), places[0]);
        assert_eq!(names(&root).len(), 1);
        assert_eq!(fs::metadata(&root).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn nobody_waits_for_a_pipe_in_the_place_of_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("place");
        let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::RWXU);
        rustix::fs::mknodat(rustix::fs::CWD, &file, kind, mode, 0).unwrap();
        assert!(name(dir.path()).is_err());
    }

    #[test]
    fn a_copy_is_another_place_and_a_home_that_was_moved_is_the_same() {
        let dir = tempfile::tempdir().unwrap();
        let [home, moved, copy] = ["home", "moved", "copy"].map(|name| dir.path().join(name));
        let first = name(&home).unwrap();
        fs::rename(&home, &moved).unwrap();
        assert_eq!(name(&moved).unwrap(), first);
        fs::create_dir(&copy).unwrap();
        fs::copy(moved.join("place"), copy.join("place")).unwrap();
        let second = name(&copy).unwrap();
        assert_ne!(second, first);
        assert_eq!((name(&copy).unwrap(), name(&moved).unwrap()), (second, first));
    }

    /// Both run from the same image, with the number of the machine, the home and even its inodes in it.
    #[test]
    fn clones_of_a_machine_are_different_places() {
        let dir = tempfile::tempdir().unwrap();
        let at = |card: &str| HomeLocation { cards: [card.to_owned()].into(), ..here(dir.path()).unwrap() };
        let original = name_at(dir.path(), &at("52:54:00:00:00:01")).unwrap();
        let clone = name_at(dir.path(), &at("52:54:00:00:00:02")).unwrap();
        assert_ne!(original, clone);
        let dock = HomeLocation {
            cards: ["52:54:00:00:00:01".to_owned(), "00:11:22:33:44:55".to_owned()].into(),
            ..at("")
        };
        assert_eq!(name_at(dir.path(), &dock).unwrap(), original);
        assert_eq!(name_at(dir.path(), &at("00:11:22:33:44:55")).unwrap(), original);
    }

    #[test]
    fn the_name_that_an_earlier_version_gave_stays() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("place"), "0123456789abcdef\n").unwrap();
        let place = name(dir.path()).unwrap();
        assert!(place.starts_with("0123456789abcdef-"), "{place}");
        assert_eq!(name(dir.path()).unwrap(), place);
        assert_eq!(names(dir.path()), ["0123456789abcdef"], "and is noted with where that was");
    }
}
