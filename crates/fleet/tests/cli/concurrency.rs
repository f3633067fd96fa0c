//! Many processes at once on one store.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use super::support::{World, json_lines};

/// Starts a process without waiting for it.
fn start(world: &World, arguments: &[&str]) -> Child {
    let mut command = world.fleet.command(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for all, and returns exit code, standard output and standard error of each.
fn ends(children: Vec<Child>) -> Vec<(i32, String, String)> {
    let ended = children.into_iter().map(|child| child.wait_with_output().unwrap());
    let text = |bytes| String::from_utf8(bytes).unwrap();
    ended.map(|one| (one.status.code().unwrap_or(-1), text(one.stdout), text(one.stderr))).collect()
}

/// The first of them makes the store; all must find it whole.
fn many_add_at_once(world: &World) {
    const MANY: usize = 60;
    let titles: Vec<String> = (0..MANY).map(|number| format!("Task {number}")).collect();
    let children = titles.iter().map(|title| start(world, &["task", "add", "-q", title])).collect();
    let mut ids = BTreeSet::new();
    for (code, stdout, stderr) in ends(children) {
        assert_eq!((code, stderr.as_str()), (0, ""), "{stdout}");
        ids.insert(stdout.trim_end().to_owned());
    }
    assert_eq!(ids.len(), MANY, "every task has an id of its own");
    let list = world.fleet.json(&["task", "list", "-n", "1000"]);
    assert_eq!(list["tasks"].as_array().unwrap().len(), MANY);
    assert_eq!(list["projects"].as_object().unwrap().len(), 1, "they agree on the project");
    is_whole(world, MANY + 1);
}

/// Gapless events, and a doctor who finds no contradiction.
fn is_whole(world: &World, expected: usize) {
    let events = json_lines(&world.fleet.ok(&["events", "--since", "0", "-n", "9999", "--json"]));
    for (at, event) in events.iter().enumerate() {
        assert_eq!(event["seq"], at + 1, "without gaps");
    }
    assert_eq!(events.len(), expected);
    assert_eq!(world.fleet.json(&["doctor"])["healthy"], true);
}

/// Each move fits the state or is refused; the record has exactly those that fitted.
fn many_move_one_task(world: &World) {
    let id = world.add("First");
    let verb = |number: usize| if number.is_multiple_of(2) { "hold" } else { "release" };
    let children = (0..30).map(|number| start(world, &["task", verb(number), &id])).collect();
    let ended = ends(children);
    for (code, _, stderr) in &ended {
        assert!(matches!(code, 0 | 4), "exit code {code}: {stderr}");
    }
    let moved = ended.iter().filter(|(code, ..)| *code == 0).count();
    assert!(moved > 0, "somebody was first");
    let state = &world.fleet.json(&["task", "show", &id])["state"];
    let expected = if moved.is_multiple_of(2) { "queued" } else { "held" };
    assert_eq!(state, expected, "{moved} moves, one after the other");
    is_whole(world, moved + 2);
}

#[test]
fn heavy_many_add_at_once_on_sqlite() {
    many_add_at_once(&World::sqlite());
}

#[test]
fn heavy_many_add_at_once_on_postgresql() {
    many_add_at_once(&World::postgres());
}

#[test]
fn heavy_many_move_one_task_on_sqlite() {
    many_move_one_task(&World::sqlite());
}

#[test]
fn heavy_many_move_one_task_on_postgresql() {
    many_move_one_task(&World::postgres());
}
