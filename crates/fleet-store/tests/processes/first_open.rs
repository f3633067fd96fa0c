//! Many processes open a store that does not exist yet, and are killed while they do.

use std::thread;
use std::time::{Duration, Instant};

use crate::block_on;
use crate::crew::Crew;
use crate::evidence::Evidence;
use crate::place::{Place, schema};
use crate::verdict::Verdict;
use crate::worker::{Dice, Role};

const ROUNDS: usize = 40;
const OPENERS: usize = 8;
const BOUND: Duration = Duration::from_mins(1);

#[test]
fn heavy_killed_while_the_store_is_made_sqlite() {
    killed_while_making(Place::sqlite);
}

#[test]
fn heavy_killed_while_the_store_is_made_postgres() {
    let server = Place::postgres();
    let mut number = 0;
    // A name space is as good as a database, and made in a tenth of the time.
    killed_while_making(|| {
        number += 1;
        block_on(server.namespace(number))
    });
}

fn killed_while_making(mut fresh: impl FnMut() -> Place) {
    let mut dice = Dice::new();
    let whole = fresh();
    // How long it takes when nobody is killed.
    let begun = Instant::now();
    let mut crew = start(&whole);
    crew.wait_for(BOUND, "everybody has opened the store", |_| true);
    crew.assert_no_complaints();
    let longest = usize::try_from(begun.elapsed().as_micros()).unwrap();
    let expected = block_on(schema(&whole));
    let mut opened = 0;
    for _ in 0..ROUNDS {
        let place = fresh();
        let mut crew = start(&place);
        thread::sleep(Duration::from_micros(u64::try_from(dice.below(longest)).unwrap()));
        for member in &mut crew.members {
            member.kill();
            member.assert_no_complaint();
        }
        opened += Evidence::gather(place.folder()).opened;
        works(&place);
        assert_eq!(block_on(schema(&place)), expected);
    }
    println!("{opened} of {} had opened it when they were killed", ROUNDS * OPENERS);
}

fn start(place: &Place) -> Crew<'_> {
    let mut crew = Crew::at(place);
    for _ in 0..OPENERS {
        crew.start(Role::Open);
    }
    crew
}

/// The next one opens it and uses it.
fn works(place: &Place) {
    let mut crew = Crew::at(place);
    for role in [Role::Add(1), Role::Once] {
        crew.start(role);
        crew.wait_for(BOUND, "it has ended", |_| true);
    }
    crew.assert_no_complaints();
    block_on(async { Verdict::of(&place.open().await).await }).assert_all_done();
}
