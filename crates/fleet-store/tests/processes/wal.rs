//! SQLite: readers and writers leave each other alone, whoever is killed.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use fleet_testkit::wait_until;

use crate::block_on;
use crate::crew::Crew;
use crate::evidence::{Evidence, count};
use crate::place::Place;
use crate::verdict::Verdict;
use crate::worker::{Role, Signal};

const WRITERS: usize = 20;
const READERS: usize = 5;
const TIME: Duration = Duration::from_secs(6);
const MIB: u64 = 1 << 20;

/// Far above the sixteen megabytes from which on those who write wait for those who read.
const LARGEST_LOG: u64 = 64 * MIB;

const BOUND: Duration = Duration::from_mins(1);

#[test]
fn heavy_the_log_stays_small_under_readers_and_writers_sqlite() {
    let place = Place::sqlite();
    let mut crew = Crew::at(&place);
    for role in [vec![Role::Churn; WRITERS], vec![Role::Read; READERS]].concat() {
        crew.start(role);
    }
    let (log, begun) = (place.folder().join("fleet.db-wal"), Instant::now());
    let mut largest = 0;
    while begun.elapsed() < TIME {
        let size = fs::metadata(&log).map_or(0, |file| file.len());
        assert!(size < LARGEST_LOG, "the log has {} MiB", size / MIB);
        largest = largest.max(size);
        thread::sleep(Duration::from_millis(10));
    }
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all have ended", |_| true);
    crew.assert_no_complaints();
    let (verdict, evidence) = block_on(async {
        let verdict = Verdict::of(&place.open().await).await;
        (verdict, Evidence::gather(place.folder()))
    });
    verdict.assert_agrees_with(&evidence);
    println!("{}; the log grew to {} KiB", verdict.summary(&evidence), largest / 1024);
}

#[test]
fn heavy_a_killed_reader_blocks_nobody_sqlite() {
    let place = Place::sqlite();
    let mut crew = Crew::at(&place);
    let writers: Vec<String> = (0..3).map(|_| crew.start(Role::Churn).name.clone()).collect();
    let lines = |name: &String| count(place.folder(), name);
    for _ in 0..20 {
        let reader = crew.start(Role::Read);
        wait_until(BOUND, "the reader reads", || lines(&reader.name) > 2);
        assert!(reader.kill());
        crew.members.pop();
        let before: Vec<usize> = writers.iter().map(lines).collect();
        wait_until(BOUND, "every writer goes on", || {
            writers.iter().zip(&before).all(|(writer, before)| lines(writer) > *before)
        });
    }
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all have ended", |_| true);
    crew.assert_no_complaints();
    let evidence = Evidence::gather(place.folder());
    let verdict = block_on(async { Verdict::of(&place.open().await).await });
    verdict.assert_agrees_with(&evidence);
    println!("{}", verdict.summary(&evidence));
}
