//! Tasks that agents add: who added them, how deep they may be, and that no agent gets round it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use fleet_testkit::wait_until;
use serde_json::Value;

use super::support::{World, error};

/// For slow machines; it comes within seconds.
const SOON: Duration = Duration::from_mins(2);

/// An agent that adds tasks in every way that it can think of, and writes down what it was told.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
add() { "$@" "$FLEET_BIN" task add --json --agent mine child; }
told="$HOME/told/$FLEET_TASK"
mkdir -p "$told"
add env > "$told/honest" 2>&1
add env -u FLEET_DOOR > "$told/doorless" 2>&1
add env -u FLEET_RUN -u FLEET_DOOR > "$told/hiding" 2>&1
add env -u FLEET_RUN -u FLEET_DOOR FLEET_SPAWN_DEPTH=99 > "$told/greedy" 2>&1
add env FLEET_RUN=r0smmyvymnt4z7j > "$told/forging" 2>&1
add env -u FLEET_DOOR FLEET_RUN=r0smmyvymnt4z7j > "$told/lying" 2>&1
(add env -i HOME="$HOME" FLEET_HOME="$(cat "$HOME/home")" PATH="$PATH" > "$told/orphan.new" 2>&1
 mv "$told/orphan.new" "$told/orphan") &
until [ -e "$told/orphan" ]; do sleep 0.05; done
"#;

/// The same, but the agent forgets everything before it begins.
const FORGETFUL: &str = r#"#!/bin/sh
if [ -n "$FLEET_RUN" ]; then
  exec env -i BIN="$FLEET_BIN" HOME="$HOME" FLEET_HOME="$(cat "$HOME/home")" PATH="$PATH" "$0"
fi
mkdir -p "$HOME/told"
"$BIN" task add --json --agent mine child > "$HOME/told/forgetful" 2>&1
"#;

/// One that starts a workflow of two stages, each of which is for an agent like itself, in several ways.
const FOREMAN: &str = r#"#!/bin/sh
cat > /dev/null
start() { "$@" "$FLEET_BIN" workflow run ./flow.toml --detach --json; }
told="$HOME/told/$FLEET_TASK"
mkdir -p "$told"
cp "$HOME/flow.toml" .
start env > "$told/honest" 2>&1
start env -u FLEET_RUN -u FLEET_DOOR FLEET_SPAWN_DEPTH=99 > "$told/greedy" 2>&1
start env -u FLEET_DOOR FLEET_RUN=r0smmyvymnt4z7j > "$told/lying" 2>&1
echo x > x
"#;

/// One that commits, and lets others go on from there, wherever it is and whatever became of its repository.
const COMMITTER: &str = r#"#!/bin/sh
cat > /dev/null
told="$HOME/told/$FLEET_TASK"
mkdir -p "$told" deep
launch() { "$FLEET_BIN" create --detach --json --agent demo "$@"; }
echo x > x
git add x
git commit -qm x
git rev-parse HEAD > "$told/commit"
cd deep
launch below -p 'Go on' > "$told/below" 2>&1
launch named -p 'Go on' --base main > "$told/named" 2>&1
cd ../.git
launch inside -p 'Go on' > "$told/inside" 2>&1
cd ..
mv .git aside
launch broken -p 'Go on' > "$told/broken" 2>&1
mv aside .git
git init -q nested
(cd nested; "$FLEET_BIN" task add --json --agent demo child) > "$told/nested" 2>&1
rm -rf nested
"#;

const FLOW: &str = "task = 'Do it'\n[defaults]\nagent = 'mine'\n[stages.first]\nprompt = 'first'\n\
                    [stages.second]\nneeds = ['first']\nprompt = 'second'\n";

struct Stage {
    world: World,
}

impl Stage {
    fn new(agent: &str, spawn_depth: &str) -> Self {
        let world = World::sqlite();
        let program = world.fleet.user_home().join("agent");
        fs::write(&program, agent).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        // An agent that looks around finds it.
        fs::write(world.fleet.user_home().join("home"), world.fleet.home().to_str().unwrap()).unwrap();
        let set = |key: &str, value: &str| world.fleet.ok(&["config", "set", key, value]);
        set("agents.mine.program", program.to_str().unwrap());
        set("agents.mine.output", "lines");
        set("spawn_depth", spawn_depth);
        set("tasks.retries", "0");
        Self { world }
    }

    fn told(&self, task: &str, how: &str) -> String {
        read(&self.world.fleet.user_home().join("told").join(task).join(how))
    }

    fn run_all(&self) {
        self.world.fleet.ok(&["start", "--slots", "8"]);
        wait_until(SOON, "all tasks are over", || {
            let all = self.world.fleet.json(&["task", "list", "--all"]);
            let tasks = all["tasks"].as_array().unwrap();
            tasks.iter().all(|task| matches!(task["state"].as_str(), Some("done" | "failed")))
        });
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.world.fleet.run(&["stop", "--agents"]);
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn task(told: &str) -> Value {
    serde_json::from_str(told).unwrap_or_else(|error| panic!("{error}: {told}"))
}

fn code(told: &str) -> String {
    let said = task(told);
    said["error"]["code"].as_str().unwrap_or_else(|| panic!("no error: {told}")).to_owned()
}

/// What finds nobody above where there are no subreapers.
const ORPHANS_ARE_KNOWN: bool = cfg!(target_os = "linux");

#[test]
fn what_agents_add_is_theirs_and_has_a_bound_that_they_cannot_move() {
    let stage = Stage::new(AGENT, "1");
    let fleet = &stage.world.fleet;
    let root = fleet.ok(&["task", "add", "-q", "--agent", "mine", "root"]).trim().to_owned();
    stage.run_all();
    let run = fleet.json(&["task", "show", &root])["runs"][0]["id"].clone();
    let mut children = Vec::new();
    for how in ["honest", "doorless", "hiding", "greedy", "forging", "lying", "orphan"] {
        if how == "orphan" && !ORPHANS_ARE_KNOWN {
            continue;
        }
        let child = task(&stage.told(&root, how));
        assert_eq!((&child["parent"], &child["depth"]), (&run, &Value::from(1)), "{how}: {child}");
        assert_eq!(child["spawn_depth"], 1, "{how}");
        children.push(child["id"].as_str().unwrap().to_owned());
    }
    for child in &children {
        for how in ["honest", "doorless", "hiding", "greedy", "forging", "lying"] {
            let told = stage.told(child, how);
            assert_eq!(code(&told), "spawn-refused", "{how}: {told}");
        }
    }
    let shown = fleet.ok(&["task", "show", &children[0]]);
    let line = format!("run {} (depth 1 of 1)", run.as_str().unwrap());
    assert!(shown.lines().any(|shown| shown.contains("added by") && shown.contains(&line)), "{shown}");
}

#[test]
fn an_agent_that_forgets_who_it_is_remains_an_agent() {
    let stage = Stage::new(FORGETFUL, "0");
    stage.world.fleet.ok(&["task", "add", "-q", "--agent", "mine", "root"]);
    stage.run_all();
    let told = stage.told("", "forgetful");
    assert_eq!(code(&told), "spawn-refused", "{told}");
}

#[test]
fn the_stages_of_a_workflow_that_an_agent_starts_are_as_deep_as_its_tasks() {
    let stage = Stage::new(FOREMAN, "1");
    let fleet = &stage.world.fleet;
    fs::write(fleet.user_home().join("flow.toml"), FLOW).unwrap();
    let root = fleet.ok(&["task", "add", "-q", "--agent", "mine", "root"]).trim().to_owned();
    stage.run_all();
    let run = fleet.json(&["task", "show", &root])["runs"][0]["id"].clone();
    for how in ["honest", "greedy", "lying"] {
        let started = task(&stage.told(&root, how));
        let shown = fleet.json(&["workflow", "show", started["id"].as_str().unwrap()]);
        assert_eq!(shown["state"], "succeeded", "{how}: {shown}");
        for name in ["first", "second"] {
            let one = shown["stages"].as_array().unwrap().iter().find(|one| one["name"] == name).unwrap();
            let id = one["task"].as_str().unwrap();
            let child = fleet.json(&["task", "show", id]);
            assert_eq!((&child["parent"], &child["depth"]), (&run, &Value::from(1)), "{how}: {child}");
            for how in ["honest", "greedy"] {
                let told = stage.told(id, how);
                assert_eq!(code(&told), "spawn-refused", "{name} {how}: {told}");
            }
        }
    }
    let all = fleet.json(&["workflow", "list", "--all"]);
    assert_eq!(
        all["workflows"].as_array().unwrap().len(),
        3,
        "nothing is left of those that were refused: {all}"
    );
}

#[test]
fn what_agents_launch_belongs_to_the_project_and_begins_where_they_are() {
    let stage = Stage::new(COMMITTER, "1");
    let fleet = &stage.world.fleet;
    let root = fleet.ok(&["task", "add", "-q", "--agent", "mine", "root"]).trim().to_owned();
    stage.run_all();
    let project = fleet.json(&["task", "show", &root])["project"].clone();
    let commit = stage.told(&root, "commit");
    let main = stage.world.repo.git(&["rev-parse", "main"]);
    for (how, base) in
        [("below", commit.trim()), ("named", &main), ("inside", commit.trim()), ("broken", commit.trim())]
    {
        let launched = task(&stage.told(&root, how));
        let child = &launched["tasks"][0];
        assert_eq!((&child["project"], child["base"].as_str()), (&project, Some(base)), "{how}: {launched}");
    }
    let other = task(&stage.told(&root, "nested"));
    assert_eq!(other["project"], project, "a repository that an agent made is no project: {other}");
}

#[test]
fn nobody_is_an_agent_by_saying_so() {
    let world = World::sqlite();
    for (name, value) in [("FLEET_RUN", "r0smmyvymnt4z7j"), ("FLEET_RUN", "me"), ("FLEET_DOOR", "/nowhere")] {
        let inside = world.fleet.env(name, value);
        for command in [&["task", "add", "x"][..], &["task", "list"], &["list"], &["note", "x"]] {
            let (code, ..) = error(&inside.fail(4, &[command, &["--json"]].concat()));
            assert_eq!(code, "door-closed", "{name}={value} {command:?}");
        }
    }
}

#[test]
fn a_repository_cannot_raise_the_bound() {
    let world = World::sqlite();
    world.repo.write(".fleet/config.toml", "spawn_depth = 9\n");
    let (code, message, _) = error(&world.fleet.fail(6, &["task", "add", "--json", "x"]));
    assert_eq!(code, "config-invalid");
    assert!(message.ends_with("`spawn_depth` cannot be set by a project"), "{message}");
}
