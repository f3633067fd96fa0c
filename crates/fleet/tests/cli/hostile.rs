//! Repositories and agents that mean no good, seen from the command line.

use std::fs;

use fleet_testkit::vault::snapshots;

use super::support::World;

/// One task of the demo agent, to its end.
fn run(world: &World, branch: &str, steps: &str) {
    let script = format!("```demo\n{steps}\n```");
    let arguments =
        ["task", "add", "Task", "--agent", "demo", "--retries", "0", "--branch", branch, "-d", &script];
    world.fleet.ok(&arguments);
    world.fleet.ok(&["run", "--until-idle"]);
}

fn remark(world: &World) -> String {
    let list = world.fleet.json(&["task", "list", "--all"]);
    list["tasks"][0]["remark"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn a_repository_that_git_refuses_to_stand_in_runs_nothing() {
    let mut world = World::sqlite();
    let marker = world.fleet.user_home().join("executed");
    fs::write(world.fleet.user_home().join(".gitconfig"), "[safe]\n\tbareRepository = explicit\n").unwrap();
    let inner = world.repo.path().join("inner");
    world.repo.git(&["clone", "--quiet", "--bare", ".", "inner"]);
    let smudge = format!("touch {}; cat", marker.display());
    let config = inner.join("config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, format!("{text}[filter \"evil\"]\n\tsmudge = \"{smudge}\"\n")).unwrap();
    fs::create_dir_all(inner.join("info")).unwrap();
    fs::write(inner.join("info/attributes"), "* filter=evil\n").unwrap();
    world.fleet = world.fleet.cwd(&inner);
    run(&world, "feature", "write a.txt x");
    assert!(!marker.exists(), "its configuration was used");
    assert!(remark(&world).contains("safe.bareRepository"), "{}", remark(&world));
}

#[test]
fn files_of_a_repository_inside_are_kept_whatever_its_index_says() {
    let world = World::sqlite();
    let steps = "mkdir inner/.git/objects\nmkdir inner/.git/refs\nwrite inner/.git/HEAD ref: refs/heads/main\n\
                 write inner/.git/index rubbish\nwrite inner/data.txt precious\nwrite a.txt x";
    run(&world, "feature", steps);
    assert_eq!(world.repo.git(&["show", "feature:a.txt"]).trim(), "x");
    let vault = world.fleet.vault();
    let kept = snapshots(world.fleet.home()).iter().any(|name| {
        let parents = vault.git(&["rev-parse", &format!("{name}^@")]);
        let all = parents.lines().chain([name.as_str()]);
        all.into_iter()
            .any(|commit| vault.git(&["ls-tree", "-r", "--name-only", commit]).contains("inner/data.txt"))
    });
    assert!(kept, "{:?}", world.fleet.json(&["show", "feature"]));
}

#[test]
fn what_no_snapshot_can_take_stays_on_disk() {
    let world = World::sqlite();
    // The agent's own branch says nothing: what it committed cannot be found.
    let steps = "write a.txt x\ncommit First\nwrite .git/refs/heads/feature rubbish\nwrite data.txt precious";
    run(&world, "feature", steps);
    let kept = world.fleet.home().join("worktrees/.kept");
    let is_there = |entry: fs::DirEntry| {
        let read = |path: &str| fs::read_to_string(entry.path().join(path)).unwrap_or_default();
        read("data.txt") == "precious\n" && read(".git/refs/heads/feature") == "rubbish\n"
    };
    let found = fs::read_dir(&kept).map(|entries| entries.flatten().any(is_there));
    assert!(found.unwrap_or(false), "{:?}", world.fleet.json(&["doctor"]));
    assert_eq!(world.repo.git(&["show", "feature:data.txt"]), "precious");
    let shown = world.fleet.ok(&["show", "feature"]);
    assert!(shown.contains("could not be read, so its folder is kept"), "{shown}");
}
