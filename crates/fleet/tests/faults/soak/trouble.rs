//! Somebody who adds work, cancels some of it, and kills and freezes whoever works on it.

use std::thread;
use std::time::{Duration, Instant};

use super::world::World;
use crate::graphs::Dice;
use crate::processes::{self, Found};
use crate::stage::Running;

/// So many tasks are open at a time, so that there always is something to disturb.
const OPEN: usize = 12;

pub(super) struct Trouble<'a> {
    world: &'a World,
    dice: Dice,
    runners: Vec<Running>,
    /// Those that go on later.
    frozen: Vec<(Instant, i32)>,
    killed: usize,
    cancelled: usize,
}

impl<'a> Trouble<'a> {
    pub(super) fn new(world: &'a World, seed: u64) -> Self {
        let runners = (0..world.homes.len()).map(|home| world.runner(home)).collect();
        Self { world, dice: Dice(seed), runners, frozen: Vec::new(), killed: 0, cancelled: 0 }
    }

    /// Makes trouble for so long.
    pub(super) fn rage(&mut self, span: Duration) {
        let until = Instant::now() + span;
        while Instant::now() < until {
            self.world.fill(OPEN);
            let home = self.dice.roll(self.runners.len());
            match self.dice.roll(10) {
                0 | 1 => self.kill_runner(home),
                2..=4 => self.strike(home, " keeper ", Self::kill),
                5 => self.strike(home, "agent.sh", Self::kill),
                6 => self.strike(home, " keeper ", Self::freeze),
                7 => self.cancel(home),
                8 => self.tidy(home),
                _ => {}
            }
            self.thaw(Instant::now());
            // Random moments are what this is about.
            thread::sleep(Duration::from_millis(self.dice.roll(500).try_into().unwrap()));
        }
    }

    /// Lets all of it come to its end. Returns what was done.
    #[track_caller]
    pub(super) fn end(mut self) -> String {
        self.thaw(Instant::now() + Duration::from_hours(1));
        self.world.settle(std::mem::take(&mut self.runners));
        format!("killed {}, cancelled {}", self.killed, self.cancelled)
    }

    fn kill_runner(&mut self, home: usize) {
        self.runners[home].kill();
        self.killed += 1;
        self.runners[home] = self.world.runner(home);
    }

    /// Does it to one of the processes of a home whose command has these words.
    fn strike(&mut self, home: usize, words: &str, strike: impl Fn(&mut Self, i32)) {
        let mut found = processes::of_home(self.world.homes[home].home());
        found.retain(|Found { command, .. }| command.contains(words));
        if !found.is_empty() {
            let at = self.dice.roll(found.len());
            strike(self, found[at].pid);
        }
    }

    fn kill(&mut self, pid: i32) {
        processes::kill(pid);
        self.killed += 1;
    }

    /// Longer than a lease, so that another one takes over.
    fn freeze(&mut self, pid: i32) {
        processes::send(pid, rustix::process::Signal::STOP);
        self.frozen.push((Instant::now() + Duration::from_secs(7), pid));
    }

    /// A number may be somebody else's by now, who is not frozen and takes no notice.
    fn thaw(&mut self, now: Instant) {
        for (_, pid) in self.frozen.extract_if(.., |(until, _)| *until <= now) {
            processes::send(pid, rustix::process::Signal::CONT);
        }
    }

    /// One of those at work, which may be over by now.
    fn cancel(&mut self, home: usize) {
        let home = &self.world.homes[home];
        let listed = home.json(&["task", "list", "--status", "running"]);
        let tasks = listed["tasks"].as_array().unwrap();
        if let Some(task) = tasks.first().and_then(|task| task["id"].as_str()) {
            self.cancelled += usize::from(home.run(&["task", "cancel", task]).code == 0);
        }
    }

    fn tidy(&self, home: usize) {
        self.world.homes[home].run(&["gc", "--yes"]);
    }
}
