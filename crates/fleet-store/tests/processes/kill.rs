//! Processes that are killed at any moment, again and again.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::block_on;
use crate::crew::Crew;
use crate::evidence::{Evidence, last_seen};
use crate::place::Place;
use crate::verdict::Verdict;
use crate::worker::{Dice, Role, Signal};

/// So many live at any time.
const ALIVE: usize = 12;

/// So short that those of the killed end while others are being killed.
const LEASE: Duration = Duration::from_millis(300);

/// The next one is killed after at most so many milliseconds.
const LONGEST_PAUSE: usize = 25;

/// Far more than it takes, for machines that do other things, too.
const BOUND: Duration = Duration::from_mins(3);

#[test]
fn heavy_kill_nine_sqlite() {
    kill_nine(&Place::sqlite(), 1_500);
}

#[test]
fn heavy_kill_nine_postgres() {
    kill_nine(&Place::postgres(), 1_000);
}

fn kill_nine(place: &Place, kills: usize) {
    let mut crew = Crew::at(place);
    crew.lease = LEASE;
    let begun = Instant::now();
    rampage(&mut crew, place.folder(), kills);
    println!("{kills} kills in {:?}", begun.elapsed());
    aftermath(&mut crew);
    block_on(judge(place));
}

/// Keeps a dozen alive, and kills one after the other.
fn rampage(crew: &mut Crew<'_>, folder: &Path, kills: usize) {
    let (mut dice, begun) = (Dice::new(), Instant::now());
    let (mut killed, mut seen) = (0, 0);
    while killed < kills {
        assert!(begun.elapsed() < BOUND, "only {killed} were killed");
        crew.dismiss_ended();
        while crew.members.len() < ALIVE {
            crew.start(role(&mut dice, seen));
        }
        thread::sleep(Duration::from_millis(u64::try_from(dice.below(LONGEST_PAUSE)).unwrap()));
        let mut victim = crew.members.swap_remove(dice.below(ALIVE));
        killed += usize::from(victim.kill());
        victim.assert_no_complaint();
        if matches!(victim.role, Role::Tail(_)) {
            seen = last_seen(folder, &victim.name).unwrap_or(seen);
        }
    }
}

/// Those who follow events go on where an earlier one was killed.
fn role(dice: &mut Dice, seen: i64) -> Role {
    match dice.below(ALIVE) {
        0..=2 => Role::Add(2 + dice.below(6)),
        3 => Role::Expire,
        4 => Role::Tail(seen),
        5 => Role::Open,
        _ => Role::Work,
    }
}

/// Nobody is killed any more: what is left gets done.
fn aftermath(crew: &mut Crew<'_>) {
    crew.wait_for(BOUND, "the last adders have ended", |role| matches!(role, Role::Add(_)));
    crew.lease = Duration::from_mins(1);
    crew.signal(Signal::AllAdded);
    for role in [Role::Work, Role::Work, Role::Work, Role::Expire, Role::Tail(0)] {
        crew.start(role);
    }
    crew.wait_for(BOUND, "nothing is left to be done", |role| *role == Role::Work);
    crew.signal(Signal::Stop);
    crew.wait_for(BOUND, "all others have ended", |_| true);
    crew.assert_no_complaints();
}

async fn judge(place: &Place) {
    let store = place.open().await;
    let verdict = Verdict::of(&store).await;
    let evidence = Evidence::gather(place.folder());
    verdict.assert_agrees_with(&evidence);
    verdict.assert_all_done();
    assert!(evidence.expired > 0, "nobody was killed with a task in its hands");
    println!("{}", verdict.summary(&evidence));
}
