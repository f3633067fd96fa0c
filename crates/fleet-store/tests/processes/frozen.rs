//! A keeper that freezes past its lease and comes back.

use std::fs;
use std::time::Duration;

use fleet_testkit::wait_until;

use crate::block_on;
use crate::crew::Crew;
use crate::evidence::Evidence;
use crate::place::Place;
use crate::verdict::Verdict;
use crate::worker::{Role, Signal, notes};

const BOUND: Duration = Duration::from_mins(1);

#[test]
fn heavy_a_frozen_keeper_has_lost_its_task_sqlite() {
    freeze(&Place::sqlite());
}

#[test]
fn heavy_a_frozen_keeper_has_lost_its_task_postgres() {
    freeze(&Place::postgres());
}

fn freeze(place: &Place) {
    let mut crew = Crew::at(place);
    crew.start(Role::Add(1));
    crew.wait_for(BOUND, "the task is added", |_| true);
    crew.lease = Duration::from_millis(300);
    let keeper = crew.start(Role::Hold);
    let notes = notes::path(place.folder(), &keeper.name);
    wait_until(BOUND, "the keeper holds the task", || noted(&notes).contains("holding"));
    keeper.freeze();
    crew.lease = BOUND;
    crew.signal(Signal::AllAdded);
    crew.start(Role::Expire);
    crew.start(Role::Work);
    crew.wait_for(BOUND, "another has done the task", |role| *role == Role::Work);
    let before = block_on(async { Verdict::of(&place.open().await).await });
    crew.signal(Signal::Thaw);
    crew.members.iter_mut().find(|member| member.role == Role::Hold).unwrap().thaw();
    crew.wait_for(BOUND, "the keeper has ended", |role| *role == Role::Hold);
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all have ended", |_| true);
    crew.assert_no_complaints();
    let answers: Vec<String> =
        noted(&notes).lines().filter(|line| line.starts_with("answer")).map(str::to_owned).collect();
    assert_eq!(answers, ["answer renew lost", "answer exit lost", "answer end lost"]);
    let after = block_on(async { Verdict::of(&place.open().await).await });
    assert_eq!(after.events, before.events, "a late write left something behind");
    after.assert_agrees_with(&Evidence::gather(place.folder()));
    after.assert_all_done();
}

fn noted(path: &std::path::Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}
