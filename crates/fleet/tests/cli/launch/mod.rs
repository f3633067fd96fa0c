//! Launching work by hand: real git, real runners, the demo agent.

mod create;
mod fanout;
mod leave;
mod multi;
mod no_workspace;
pub(super) mod readme;
mod refused;
mod resume;
mod terminal;
mod words;

use std::ops::Deref;
use std::time::Duration;

use serde_json::Value;

use super::support::World;

/// For slow machines; it comes within a second.
const SOON: Duration = Duration::from_mins(1);

/// A world in which runners may be started, and none is left behind.
struct Stage {
    world: World,
}

impl Stage {
    fn new() -> Self {
        Self::with(World::sqlite())
    }

    fn with(mut world: World) -> Self {
        world.fleet = world
            .fleet
            .env("FLEET_AUTOSTART", "true")
            .env("FLEET_AGENT", "demo")
            .env("FLEET_TASKS_RETRIES", "0");
        Self { world }
    }

    /// Without anybody who takes up work.
    fn quiet() -> Self {
        let mut stage = Self::new();
        stage.world.fleet = stage.fleet.env("FLEET_AUTOSTART", "false");
        stage
    }

    /// How a task stands now.
    #[track_caller]
    fn state(&self, id: &str) -> Value {
        self.fleet.json(&["task", "show", id])["state"].clone()
    }

    /// A file as a branch has it.
    #[track_caller]
    fn file(&self, branch: &str, path: &str) -> String {
        self.repo.git(&["show", &format!("{branch}:{path}")])
    }

    fn branches(&self) -> Vec<String> {
        let all = self.repo.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
        all.lines().map(ToOwned::to_owned).collect()
    }
}

impl Deref for Stage {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.fleet.run(&["stop", "--agents"]);
    }
}

/// A prompt whose agent does this.
fn prompt(title: &str, steps: &str) -> String {
    format!("{title}\n\n```demo\n{steps}\n```\n")
}

#[track_caller]
fn id(task: &Value) -> String {
    task["id"].as_str().unwrap_or_else(|| panic!("a task: {task}")).to_owned()
}
