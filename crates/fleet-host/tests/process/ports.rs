//! Ports that are lent.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::ops::RangeInclusive;
use std::path::Path;
use std::thread;

use fleet_host::ports::{PortBlock, lease};
use fleet_testkit::wait_until;

use crate::BOUND;
use crate::actor::{Actor, Part, announce, sit_still};

/// Below those that the system gives to clients. Each test has its own.
const RANGE: RangeInclusive<u16> = 21_000..=21_399;

pub(crate) fn play(dir: &Path, ready: &Path) {
    let block = lease(dir, 21_400..=21_799, 10).unwrap().unwrap();
    announce(ready, &block.first.to_string());
    sit_still();
}

fn lent(dir: &Path, range: RangeInclusive<u16>, count: u16) -> PortBlock {
    lease(dir, range, count).unwrap().expect("a block")
}

/// Waits until this block is lent. What was closed stays open for a moment in whatever other threads start.
fn wait_for_block(dir: &Path, range: &RangeInclusive<u16>, count: u16, first: u16) {
    wait_until(BOUND, "the block is lent again", || {
        lease(dir, range.clone(), count).unwrap().is_some_and(|block| block.first == first)
    });
}

#[test]
fn nobody_gets_what_another_has() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("ports");
    let blocks: Vec<PortBlock> = thread::scope(|scope| {
        let leases: Vec<_> = (0..8_u16)
            .map(|index| {
                scope.spawn({
                    let dir = &dir;
                    move || lent(dir, RANGE, 5 + index)
                })
            })
            .collect();
        leases.into_iter().map(|lease| lease.join().unwrap()).collect()
    });
    let ports: Vec<u16> = blocks.iter().flat_map(PortBlock::ports).collect();
    assert_eq!(ports.len(), ports.iter().collect::<HashSet<_>>().len(), "{blocks:?}");
    assert!(ports.iter().all(|port| RANGE.contains(port)));
}

#[test]
fn given_back_and_lent_again() {
    let folder = tempfile::tempdir().unwrap();
    let range = 21_800..=21_899;
    let first = lent(folder.path(), range.clone(), 10);
    let second = lent(folder.path(), range.clone(), 10);
    assert_ne!(first.first, second.first);
    let port = first.first;
    drop(first);
    wait_for_block(folder.path(), &range, 10, port);
    drop(second);
    let many: Vec<PortBlock> = (0..40).map(|_| lent(folder.path(), range.clone(), 1)).collect();
    drop(many);
    wait_until(BOUND, "most files of blocks that nobody has are removed", || {
        lent(folder.path(), range.clone(), 10);
        fs::read_dir(folder.path()).unwrap().count() < 20
    });
}

#[test]
fn nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let mut blocks = Vec::new();
    while let Some(block) = lease(folder.path(), 21_900..=21_949, 10).unwrap() {
        blocks.push(block);
        assert!(blocks.len() <= 5);
    }
    assert!(lease(folder.path(), 21_900..=21_904, 10).unwrap().is_none(), "the range is too small");
    assert!(lease(folder.path(), 21_900..=21_949, 0).unwrap().is_none(), "nothing is no block");
}

#[test]
fn ports_on_which_somebody_listens_are_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let range = 21_950..=21_999;
    let first = lent(folder.path(), range.clone(), 5).first;
    for address in ["127.0.0.1", "0.0.0.0", "[::]"] {
        wait_for_block(folder.path(), &range, 5, first);
        let mut listener = None;
        wait_until(BOUND, "somebody listens", || {
            let bound = TcpListener::bind(format!("{address}:{}", first + 3));
            // A machine without IPv6 has nothing to listen on.
            let is_impossible = bound.as_ref().is_err_and(|error| error.kind() != ErrorKind::AddrInUse);
            listener = bound.ok();
            listener.is_some() || (is_impossible && address == "[::]")
        });
        if listener.is_some() {
            assert_ne!(lent(folder.path(), range.clone(), 5).first, first, "{address}");
        }
    }
    wait_for_block(folder.path(), &range, 5, first);
}

#[test]
fn whoever_is_killed_has_no_ports() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, ready) = (folder.path().join("ports"), folder.path().join("ready"));
    let mut borrower = Actor::start(&Part::Ports { dir: dir.clone(), ready: ready.clone() });
    wait_until(BOUND, "ports are lent", || ready.exists());
    let port: u16 = fs::read_to_string(&ready).unwrap().parse().unwrap();
    let range = port..=port + 9;
    assert!(lease(&dir, range.clone(), 10).unwrap().is_none());
    borrower.kill();
    wait_for_block(&dir, &range, 10, port);
}
