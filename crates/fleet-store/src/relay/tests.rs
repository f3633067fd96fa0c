//! Two sides in one process, on a store of their own.

use std::path::PathBuf;
use std::time::Duration;

use fleet_core::id::{IdMaker, RunId};
use fleet_core::time::Millis;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::UnixStream;
use tokio::time::Instant;

use super::{RelayClient, wire};
use crate::ops::{Audit, GetRun, ServerTime};
use crate::tx::{AnyOp, out_of};
use crate::{Store, StoreError, StoreUrl};

/// Longer than anything takes here that does not hang.
const BOUND: Duration = Duration::from_secs(20);

fn file(dir: &TempDir) -> PathBuf {
    dir.path().join("fleet.db")
}

async fn open(dir: &TempDir) -> Store {
    Store::open(&StoreUrl::Sqlite(file(dir))).await.unwrap()
}

fn no_run() -> RunId {
    IdMaker::default().next(Millis(1), 1)
}

async fn served(dir: &TempDir) -> RelayClient {
    let (ours, theirs) = UnixStream::pair().unwrap();
    tokio::spawn(super::serve(open(dir).await, theirs));
    RelayClient::new(ours, BOUND)
}

#[tokio::test]
async fn answers_and_refusals_come_back_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let client = served(&dir).await;
    let time = client.ask(&ServerTime).await.unwrap().unwrap();
    assert_eq!(out_of::<ServerTime>(time).unwrap(), None);
    let run = no_run();
    let refused = client.ask(&GetRun { run }).await.unwrap().map(drop);
    assert!(matches!(refused, Err(StoreError::RunNotFound(id)) if id == run.to_string()));
}

#[tokio::test]
async fn what_does_not_travel_is_left_to_the_caller_and_the_rest_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let client = served(&dir).await;
    assert!(client.ask(&Audit).await.is_none());
    assert!(client.ask(&ServerTime).await.is_some());
}

/// The file is opened here only when nobody else answers.
#[tokio::test]
async fn a_store_whose_relay_ends_goes_on_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let serving = tokio::spawn(open(&dir).await.serve(theirs));
    // Nothing can be opened there, so an answer can only come from the other side.
    let nowhere = StoreUrl::Sqlite(dir.path().join("fleet.db/nothing"));
    let store = Store::relayed(ours, &nowhere).unwrap();
    assert_eq!(store.call(ServerTime).await.unwrap(), None);
    serving.abort();
    assert!(serving.await.unwrap_err().is_cancelled());
    assert!(store.call(ServerTime).await.is_err(), "there is no relay any more, and no file");

    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    drop(theirs);
    let store = Store::relayed(ours, &StoreUrl::Sqlite(file(&dir))).unwrap();
    assert_eq!(store.call(Audit).await.unwrap(), Vec::<String>::new());
    assert_eq!(store.call(ServerTime).await.unwrap(), None);
}

/// The other side reads nothing, or reads and never answers.
#[tokio::test]
async fn a_frozen_relay_is_waited_for_once() {
    let (ours, theirs) = UnixStream::pair().unwrap();
    let client = RelayClient::new(ours, Duration::from_millis(50));
    let begun = Instant::now();
    assert!(client.ask(&ServerTime).await.is_none());
    assert!(begun.elapsed() >= Duration::from_millis(50));
    assert!(client.ask(&ServerTime).await.is_none());
    let mut heard = String::new();
    let mut theirs = theirs;
    theirs.read_to_string(&mut heard).await.unwrap();
    assert_eq!(heard, format!("{}1 server_time null\n", wire::greeting()), "asked once, then closed");
}

/// A caller with less patience than the relay's goes away: the next one does not wait all over again.
#[tokio::test]
async fn callers_that_went_away_do_not_hide_that_the_relay_is_silent() {
    let (ours, _theirs) = UnixStream::pair().unwrap();
    let client = RelayClient::new(ours, Duration::from_millis(200));
    let hasty = tokio::time::timeout(Duration::from_millis(50), client.ask(&ServerTime)).await;
    assert!(hasty.is_err(), "it went away");
    tokio::time::sleep(Duration::from_millis(200)).await;
    let begun = Instant::now();
    assert!(client.ask(&ServerTime).await.is_none());
    assert!(begun.elapsed() < Duration::from_millis(200), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn another_version_is_not_served() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    tokio::spawn(super::serve(open(&dir).await, theirs));
    ours.write_all(b"codefleet 0.0.0 schema 1\n1 server_time null\n").await.unwrap();
    let mut heard = String::new();
    // Either an end or a reset, by what was still unread.
    let _ = tokio::time::timeout(BOUND, ours.read_to_string(&mut heard)).await.unwrap();
    assert_eq!(heard, "");
}

#[tokio::test]
async fn a_request_that_nobody_knows_is_sent_to_the_store() {
    let dir = tempfile::tempdir().unwrap();
    let (mut ours, theirs) = UnixStream::pair().unwrap();
    tokio::spawn(super::serve(open(&dir).await, theirs));
    let requests = format!("{}1 drop_everything {{}}\n2 get_run {{}}\n", wire::greeting());
    ours.write_all(requests.as_bytes()).await.unwrap();
    let mut heard = vec![0; "1 direct \n2 direct \n".len()];
    tokio::time::timeout(BOUND, ours.read_exact(&mut heard)).await.unwrap().unwrap();
    let mut lines: Vec<_> = std::str::from_utf8(&heard).unwrap().lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["1 direct ", "2 direct "]);
}

/// A process that was frozen and goes on finds requests of callers that gave up long ago.
#[tokio::test]
async fn what_nobody_waits_for_any_more_is_not_run() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir).await;
    let (ours, theirs) = UnixStream::pair().unwrap();
    let client = RelayClient::new(ours, Duration::from_millis(20));
    assert!(client.ask(&ServerTime).await.is_none());
    drop(client);
    // Ends by itself: it does not wait for more either.
    tokio::time::timeout(BOUND, super::serve(store, theirs)).await.unwrap();
}

#[test]
fn every_operation_that_travels_is_known_by_its_own_name() {
    let op: Box<dyn AnyOp> = Box::new(GetRun { run: no_run() });
    let (entry, json) = super::table::encode(op.as_ref()).unwrap();
    let (again, op) = super::table::decode(entry.name, &json).unwrap();
    assert_eq!(again.name, "get_run");
    assert_eq!(super::table::encode(op.as_ref()).unwrap().1, json);
}
