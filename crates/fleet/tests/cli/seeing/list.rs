//! `fleet list`

use fleet_core::id::{BatchId, IdMaker};
use fleet_core::time::Millis;
use fleet_testkit::repo::Repo;

use super::super::pipes::on_terminal;
use super::super::support::{can_make_terminals, error, has, shell};
use super::{Live, add, only_run, run_all, world};

#[test]
fn an_agent_at_work_is_listed_with_what_it_uses() {
    let world = world();
    let live = Live::start(&world, "feature", "fork session 60s\nusage 1000 500 0.25\nsay Reading the code");
    let list = world.fleet.json(&["list"]);
    let run = only_run(&list);
    assert_eq!(
        (&run["branch"], &run["state"], &run["agent"]),
        (&"feature".into(), &"running".into(), &"demo".into())
    );
    assert_eq!((&run["title"], &run["attempt"]), (&"The task of feature".into(), &1.into()));
    assert!(run["load"]["processes"].as_u64().unwrap() >= 2, "the agent and what it started: {run}");
    assert!(run["load"]["memory_bytes"].as_u64().unwrap() > 100_000, "{run}");
    assert!(run["load"]["idle_seconds"].as_u64().unwrap() < 60, "{run}");
    fleet_testkit::wait_until(super::BOUND, "what it used is known", || {
        only_run(&world.fleet.json(&["list"]))["micro_usd"] == 250_000
    });
    let shown = world.fleet.ok(&["list"]);
    for part in [
        "BRANCH",
        "feature",
        "The task of feature",
        "demo",
        "running",
        "1.5k",
        "$0.25",
        "MB",
        "Reading the code",
    ] {
        assert!(shown.contains(part), "{part} in\n{shown}");
    }
    live.end();
    let output = world.fleet.run(&["list"]);
    assert_eq!((output.code, output.stdout.as_str()), (0, ""));
    assert!(output.stderr.contains("no agent is running"), "{}", output.stderr);
    let all = world.fleet.json(&["list", "--all"]);
    let run = only_run(&all);
    assert_eq!(
        (&run["state"], &run["load"], &run["workspace"]),
        (&"succeeded".into(), &().into(), &().into())
    );
}

#[test]
fn those_that_ended_come_newest_first_and_only_so_many() {
    let world = world();
    for branch in ["one", "two", "three"] {
        add(&world, branch, "write a.txt x", &["--retries", "0"]);
        run_all(&world);
    }
    add(&world, "broken", "write a.txt x\nerror agent_error it broke\nexit 1", &["--retries", "0"]);
    run_all(&world);
    let all = world.fleet.json(&["list", "--all"]);
    let branches: Vec<&str> =
        all["runs"].as_array().unwrap().iter().map(|run| run["branch"].as_str().unwrap()).collect();
    assert_eq!(branches, ["broken", "three", "two", "one"]);
    assert_eq!(all["more"], false);
    let some = world.fleet.run(&["list", "--all", "-n", "2"]);
    assert!(some.stdout.contains("three") && !some.stdout.contains("two"), "{}", some.stdout);
    assert!(some.stdout.contains("agent_error: it broke"), "{}", some.stdout);
    assert!(some.stderr.contains("there are more"), "{}", some.stderr);
}

#[test]
fn what_never_started_is_listed_with_its_branch() {
    let world = world();
    let first = add(&world, "first", "write a.txt x", &[]);
    let refused = add(&world, "refused", "write a.txt x", &["--after", &first, "--base", "nowhere"]);
    add(&world, "dropped", "write a.txt x", &[]);
    world.fleet.ok(&["task", "cancel", "dropped"]);
    run_all(&world);
    let all = world.fleet.json(&["list", "--all"]);
    assert_eq!(all["unstarted"][0]["branch"], "dropped", "{all}");
    let failed = all["runs"].as_array().unwrap().iter().find(|run| run["task"] == refused.as_str()).unwrap();
    assert_eq!((&failed["reason"], &failed["task_branch"]), (&"workspace_refused".into(), &"refused".into()));
    let shown = world.fleet.ok(&["list", "--all"]);
    for (branch, state) in [("first", "succeeded"), ("refused", "failed"), ("dropped", "cancelled")] {
        let rows = shown.lines().filter(|line| line.contains(&format!(" {branch} "))).collect::<Vec<_>>();
        assert!(rows.len() == 1 && rows[0].contains(state), "{branch}: {shown}");
    }
    assert!(!world.fleet.run(&["list"]).stdout.contains("dropped"));
}

#[test]
fn batches_are_shown_apart() {
    let world = world();
    let mut ids = IdMaker::default();
    let mut batch = || ids.next::<BatchId>(Millis(1_800_000_000_000), 7).to_string();
    let (first, second) = (batch(), batch());
    let line = |title: &str, batch: &str| {
        let text = "```demo\nwrite a.txt x\n```";
        serde_json::json!({ "title": title, "agent": "demo", "batch": batch, "description": text })
            .to_string()
    };
    let lines = [line("a1", &first), line("b1", &second), line("a2", &first)].join("\n");
    world.fleet.stdin(lines).ok(&["task", "import", "-"]);
    add(&world, "alone", "write a.txt x", &[]);
    run_all(&world);
    let shown = world.fleet.ok(&["list", "--all", "--grouped"]);
    let groups: Vec<&str> = shown.split("\n\n").collect();
    assert_eq!(groups.len(), 3, "{shown}");
    assert!(groups[0].starts_with(&format!("batch {second}  1 succeeded")), "{shown}");
    assert!(groups[1].starts_with(&format!("batch {first}  2 succeeded")), "{shown}");
    assert!(groups[1].contains("a1") && groups[1].contains("a2"), "{shown}");
    assert!(groups[2].starts_with("without a batch") && groups[2].contains("alone"), "{shown}");
    let one = world.fleet.json(&["list", "--all", "--batch", &second]);
    assert_eq!(only_run(&one)["title"], "b1");
}

#[test]
fn somebody_in_the_wrong_repository_is_told() {
    let world = world();
    let live = Live::start(&world, "feature", "say hello");
    let other = Repo::init();
    let there = world.fleet.cwd(other.path());
    let output = there.run(&["list"]);
    assert!(output.stderr.contains("1 in another one: `fleet list -A`"), "{}", output.stderr);
    assert_eq!(only_run(&there.json(&["list", "-A"]))["branch"], "feature");
    assert!(there.ok(&["list", "-A"]).starts_with("PROJECT"));
    live.end();
}

#[test]
fn watching_needs_a_terminal() {
    let world = world();
    let output = world.fleet.fail(2, &["list", "--watch"]);
    assert!(output.stderr.contains("fleet events --follow --json"), "{}", output.stderr);
    let (code, ..) = error(&world.fleet.fail(2, &["list", "--watch", "--json"]));
    assert_eq!(code, "usage");
}

#[test]
fn a_terminal_gets_lines_that_fit_and_a_list_that_stays() {
    if !can_make_terminals() || !has("timeout") {
        return;
    }
    let world = world();
    let long = format!("feature/{}", "long-".repeat(20));
    let name = long.trim_end_matches('-');
    let live = Live::start(&world, &name.replace('/', "_"), "usage 123456 7890 12.5\nsay \\u{1b}[31mred");
    let shown = on_terminal(&world.fleet, "list --color never");
    for line in shown.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
    assert!(shown.contains("feature_long") && shown.contains("running"), "{shown}");
    let fleet = world
        .fleet
        .env("TERM", "xterm")
        .env("INNER", "stty cols 80 rows 24; timeout -s INT 3 \"$FLEET\" list --watch");
    let watched = shell(&fleet, "script -qec \"bash -c \\\"\\$INNER\\\"\" /dev/null");
    let frames = watched.stdout.matches("\u{1b}[H").count();
    assert!(frames >= 2, "{frames} frames: {watched:?}");
    assert!(watched.stdout.contains("running"), "{watched:?}");
    live.end();
}
