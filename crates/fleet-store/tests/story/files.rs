//! The files of an SQLite store: private, and refused when they are not what they should be.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use fleet_store::ops::{Audit, ExportTasks};
use fleet_store::{Store, StoreError, StoreUrl};

use crate::harness::{Engine, Place, Rig, place};

/// The size of a page of the file, as SQLite makes it.
const PAGE: usize = 4_096;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode()
        & 0o7777
}

#[tokio::test]
async fn only_the_owner_may_read_any_file() {
    let rig = Rig::open(Engine::Sqlite).await;
    rig.task("secret").await;
    let _watch = rig.store.watch().await.unwrap();
    let file = rig.place().file();
    assert_eq!(mode(file.parent().unwrap()), 0o700);
    let mut names: Vec<String> = Vec::new();
    for entry in fs::read_dir(file.parent().unwrap()).unwrap() {
        let entry = entry.unwrap();
        assert_eq!(mode(&entry.path()), 0o600, "{}", entry.path().display());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort_unstable();
    let beside = ["", "-shm", "-wal", ".lock", ".wake", ".wanted"];
    assert_eq!(names, beside.map(|end| format!("fleet.db{end}")));
    rig.everything_fits().await;
}

#[tokio::test]
async fn a_folder_that_exists_keeps_its_permissions() {
    let place = Place::make(Engine::Sqlite);
    let file = place.file();
    let folder = file.parent().unwrap();
    fs::create_dir(folder).unwrap();
    fs::set_permissions(folder, Permissions::from_mode(0o750)).unwrap();
    drop(Store::open(&place.url()).await.unwrap());
    assert_eq!((mode(folder), mode(&file)), (0o750, 0o600));
}

/// Opens the file and looks at all of it, wherever the damage may be.
async fn read_all(url: &StoreUrl) -> Result<Vec<String>, StoreError> {
    let store = Store::open(url).await?;
    store.call(Audit).await?;
    store.call(ExportTasks { project: None, after: None, limit: 10_000 }).await?;
    store.check().await
}

async fn must_be_corrupt(url: &StoreUrl, what: &str) {
    match read_all(url).await {
        Err(StoreError::Corrupt { at, .. }) => assert_eq!(at, url.to_string()),
        other => panic!("{what}: {other:?}"),
    }
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let short = "not a database\n".to_owned();
    for text in [short.clone(), short.repeat(1_000), "xy".to_owned()] {
        let place = Place::make(Engine::Sqlite);
        place.occupy(text.as_bytes());
        must_be_corrupt(&place.url(), "a text file").await;
        assert_eq!(fs::read_to_string(place.file()).unwrap(), text);
    }
}

/// A store of some size, all of it in the one file.
async fn whole_in_one_file() -> (Rig, Vec<u8>) {
    let rig = Rig::open(Engine::Sqlite).await;
    rig.tasks(300).await;
    place::sqlite(&rig.place().file()).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let bytes = fs::read(rig.place().file()).unwrap();
    assert!(bytes.len() > 100_000);
    (rig, bytes)
}

#[tokio::test]
async fn a_file_that_was_cut_is_told_as_such() {
    let (rig, whole) = whole_in_one_file().await;
    let length = whole.len();
    for left in [600, PAGE, 5_000, length / 2, length - PAGE] {
        let place = Place::make(Engine::Sqlite);
        place.occupy(&whole[..left]);
        must_be_corrupt(&place.url(), &format!("cut to {left} of {length} bytes")).await;
    }
    rig.everything_fits().await;
}

#[tokio::test]
async fn no_damaged_page_goes_unnoticed() {
    let (rig, whole) = whole_in_one_file().await;
    let mut told = 0;
    for page in 0..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0xa5);
        let place = Place::make(Engine::Sqlite);
        place.occupy(&bytes);
        match read_all(&place.url()).await {
            Err(StoreError::Corrupt { .. }) => told += 1,
            // Of an index that nothing has read.
            Ok(findings) => assert!(!findings.is_empty(), "page {page} is damaged and nobody noticed"),
            Err(error) => panic!("page {page}: {error}"),
        }
    }
    assert!(told > 0);
    rig.everything_fits().await;
}

#[tokio::test]
async fn a_folder_where_the_file_should_be_cannot_be_written() {
    let place = Place::make(Engine::Sqlite);
    fs::create_dir_all(place.file()).unwrap();
    let Err(error) = Store::open(&place.url()).await else { panic!("a folder was opened") };
    assert!(matches!(error, StoreError::Unwritable { .. }), "{error}");
}
