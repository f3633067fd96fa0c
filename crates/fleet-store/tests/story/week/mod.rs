//! A week of a fleet in virtual time: two places with three runners, five projects, three agents and five hundred tasks,
//! while keepers, runners and agents die, people answer late and change their minds, and the configuration changes.
//!
//! Every task must end as its script says, in exactly as many runs as it says. Nothing runs twice at once, no cap or slot is
//! exceeded, no paused account gets work, and nothing is left when the week is over.
//!
//! The seed decides everything. `FLEET_TEST_SEED=7` plays the week of seed 7 alone.

mod chance;
mod plan;
mod sim;

use std::time::{Duration, Instant};

use crate::harness::{Engine, Rig};
use sim::Week;

/// Weeks are played until this much time has passed, and at least one.
const TIME_BOX: Duration = Duration::from_secs(20);
const MOST_WEEKS: u64 = 50;

async fn play(engine: Engine, seed: u64) {
    println!("the week of seed {seed}");
    let rig = Rig::open(engine).await;
    Week::new(&rig, seed).await.play().await;
    rig.everything_fits().await;
}

#[expect(clippy::disallowed_methods, reason = "a person chooses a seed, and the clock how many there are")]
fn play_weeks(engine: Engine) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    if let Ok(seed) = std::env::var("FLEET_TEST_SEED") {
        return runtime.block_on(play(engine, seed.parse().expect("a number")));
    }
    let began = Instant::now();
    for seed in 1..=MOST_WEEKS {
        runtime.block_on(play(engine, seed));
        if began.elapsed() > TIME_BOX {
            return;
        }
    }
}

#[test]
fn sqlite() {
    play_weeks(Engine::Sqlite);
}

#[test]
fn postgres() {
    play_weeks(Engine::Postgres);
}
