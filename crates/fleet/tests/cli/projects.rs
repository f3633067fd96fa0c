//! Which repository a command works on.

use std::os::unix::fs::symlink;
use std::path::Path;

use fleet_testkit::fleet::Fleet;
use fleet_testkit::repo::Repo;
use serde_json::Value;

use super::support::{World, error, fleet};

/// The titles that `task list` shows.
#[track_caller]
fn titles(fleet: &Fleet, options: &[&str]) -> Vec<String> {
    let mut arguments = vec!["task", "list"];
    arguments.extend(options);
    let list = fleet.json(&arguments);
    let tasks = list["tasks"].as_array().unwrap().iter();
    tasks.map(|task| task["title"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_repository_is_one_project_from_wherever_it_is_seen() {
    let world = World::sqlite();
    world.add("First");
    let elsewhere = tempfile::tempdir().unwrap();
    let path = |name: &str| elsewhere.path().join(name);
    world.repo.write("src/deep/file.rs", "");
    world.repo.git(&["worktree", "add", "--quiet", "-b", "side", path("tree").to_str().unwrap()]);
    symlink(world.repo.path(), path("link")).unwrap();
    symlink(world.repo.path().join("src"), path("inner")).unwrap();
    for place in
        [world.repo.path().join("src/deep"), path("tree"), path("link"), path("link/src"), path("inner")]
    {
        assert_eq!(titles(&world.fleet.cwd(&place), &[]), ["First"], "seen from {}", place.display());
        let outside = world.fleet.cwd(elsewhere.path());
        assert_eq!(titles(&outside, &["--project", place.to_str().unwrap()]), ["First"]);
    }
    let relative = world.fleet.cwd(elsewhere.path());
    assert_eq!(titles(&relative, &["--project", "tree"]), ["First"]);
    relative.ok(&["--project", "tree", "task", "add", "Second"]);
    assert_eq!(titles(&world.fleet, &[]), ["First", "Second"]);
    let list = world.fleet.json(&["task", "list", "-A"]);
    assert_eq!(list["projects"].as_object().unwrap().len(), 1);
}

/// A repository called `shop`, in a directory of its own.
fn shop(parent: &Path) -> std::path::PathBuf {
    let path = parent.join("shop");
    let template = Repo::init();
    template.git(&["clone", "--quiet", ".", path.to_str().unwrap()]);
    path
}

#[test]
fn two_repositories_of_one_name_are_two_projects() {
    let parents = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [left, right] = [shop(parents[0].path()), shop(parents[1].path())];
    let fleet = fleet();
    fleet.cwd(&left).ok(&["task", "add", "Left"]);
    fleet.cwd(&right).ok(&["task", "add", "Right"]);
    assert_eq!(titles(&fleet.cwd(&left), &[]), ["Left"]);
    assert_eq!(titles(&fleet.cwd(&right), &[]), ["Right"]);
    let all = fleet.json(&["task", "list", "-A"]);
    let names: Vec<&Value> = all["projects"].as_object().unwrap().values().collect();
    assert_eq!(names, ["shop", "shop"], "also outside of any repository");
    assert_eq!(titles(&fleet, &["-A"]), ["Left", "Right"]);
    let id = all["tasks"][1]["id"].as_str().unwrap();
    assert_eq!(fleet.cwd(&left).json(&["task", "show", id])["title"], "Right", "ids work everywhere");
    assert_eq!(fleet.cwd(&left).ok(&["task", "export"]).lines().count(), 1);
}

#[test]
fn a_place_without_a_repository_is_refused() {
    let (fleet, dir) = (fleet(), tempfile::tempdir().unwrap());
    let path = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    for (name, text) in [("garbage", "hello\n"), ("lost", "gitdir: /nowhere\n"), ("empty", "")] {
        std::fs::create_dir(path(name)).unwrap();
        std::fs::write(path(&format!("{name}/.git")), text).unwrap();
    }
    std::fs::write(path("file"), "").unwrap();
    for (name, part) in [
        ("nowhere", "there is no directory"),
        ("file", "file"),
        ("garbage", "does not say where the git directory is"),
        ("lost", "/nowhere"),
        ("empty", ".git"),
        (".", "is not in a git repository"),
    ] {
        let (code, message, hints) =
            error(&fleet.fail(3, &["--project", &path(name), "task", "add", "x", "--json"]));
        assert_eq!(code, "not-a-repository", "{message}");
        assert!(message.contains(part), "{message}");
        assert!(!hints.is_empty(), "{message}: what to do?");
    }
    fleet.cwd(dir.path()).fail(3, &["task", "list"]);
    assert!(!fleet.home().join("fleet.db").exists(), "no store is made for nothing");
}

#[test]
fn a_folder_cannot_disturb_the_terminal() {
    let (fleet, dir) = (fleet(), tempfile::tempdir().unwrap());
    let path = dir.path().join("e\u{1b}[31mv\u{7}il");
    Repo::init().git(&["clone", "--quiet", ".", path.to_str().unwrap()]);
    let here = fleet.cwd(&path);
    let id = here.ok(&["task", "add", "-q", "x"]);
    for arguments in [
        &["task", "show", id.trim_end()][..],
        &["task", "list", "-A"],
        &["events"],
        &["config", "set", "agent", "codex", "--in-project"],
        &["config", "get", "agent", "--show-origin"],
        &["config", "show", "--show-origin"],
        &["config", "unset", "agent", "--in-project"],
        &["doctor"],
        &["config", "set", "store", "sqlite", "--in-project"],
    ] {
        // Colours on, because escape sequences are taken out where there are none.
        let output = here.run(&[arguments, &["--color", "always"]].concat());
        let said = output.stdout + &output.stderr;
        assert!(!said.contains("[31mv") || said.contains("\\u{1b}[31mv\\u{7}il"), "{arguments:?}: {said:?}");
        // The folder's own sequence: an id that ends with an `e` may well be followed by one of ours.
        assert!(!said.contains("e\u{1b}[31mv") && !said.contains('\u{7}'), "{arguments:?}: {said:?}");
    }
    std::fs::write(path.join(".fleet/config.toml"), "x = 1").unwrap();
    let said = here.fail(6, &["config", "validate", "--color", "always"]).stderr;
    assert!(said.contains("e\\u{1b}[31mv\\u{7}il"), "{said:?}");
}
