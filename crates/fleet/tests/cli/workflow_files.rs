//! `fleet workflow check` and `init`.

use std::fs;
use std::os::unix::fs::symlink;

use super::support::{World, error};

/// Without agents of this machine.
fn world() -> World {
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("PATH", "/nowhere");
    world
}

#[test]
fn a_right_workflow_is_shown_as_a_picture() {
    let world = world();
    let stages: Vec<String> =
        (1..=9).map(|number| format!("[stages.long-name-{number}]\nprompt = 'x'\n")).collect();
    let join = "[stages.join]\nagent = 'demo'\nmodel = 'm'\nneeds = ['long-name-1', 'long-name-9']\nprompt = '{item}'\n\
                foreach = ['a', 'b']\nwhen = 'long-name-1.ok'\n";
    world
        .repo
        .write("wide.toml", format!("[params.x]\n[defaults]\nagent = 'demo'\n{}{join}", stages.concat()));
    let names = [
        "workflow",
        "check",
        "--agent",
        "demo",
        "plan-fanout-integrate",
        "./wide.toml",
        "write-review-refine",
    ];
    let shown = world.fleet.ok(&names);
    insta::assert_snapshot!(shown);
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_wrong_workflow_is_shown_as_a_compiler_would() {
    let world = world();
    world.repo.write(
        "flow.toml",
        "[stages.implement]\nagent = \"demo\"\nprompt = \"x\"\n\n[stages.review]\nagent = \"cluade\"\n\
         \tdependsOn = [\"implement\"]\nprompt = \"ü {nobody.diff}\"\n",
    );
    world.repo.write(
        "flow.yaml",
        "stages:\n  a: {prompt: \"wide 漢字 {b.diff}\"}\n  b: {agent: codex, prompt: x}\n",
    );
    let output = world.fleet.run(&["workflow", "check", "flow.toml", "flow.yaml", "bug-hnut"]);
    assert_eq!((output.code, output.stdout.as_str()), (2, ""));
    insta::assert_snapshot!(output.stderr);
    let output = world.fleet.run(&["workflow", "check", "flow.toml", "--json"]);
    let (code, message, _) = error(&output);
    assert_eq!(
        (output.code, code.as_str(), message.as_str()),
        (2, "workflow-invalid", "flow.toml has 3 problems")
    );
}

#[test]
fn init_writes_what_check_finds_and_never_over_a_file() {
    let world = world();
    let listed = world.fleet.ok(&["workflow", "init", "--list"]);
    insta::assert_snapshot!(listed);
    assert!(listed.lines().all(|line| line.chars().count() <= 100));
    world.fleet.ok(&["workflow", "init"]);
    let own = world.repo.path().join(".fleet/workflows/write-review-refine.toml");
    assert!(fs::read_to_string(&own).unwrap().starts_with("# One agent writes"));
    let checked = world.fleet.json(&["workflow", "check", "write-review-refine"]);
    assert_eq!(checked["workflows"][0]["kind"], "repository");
    fs::write(&own, "mine").unwrap();
    let refused = world.fleet.run(&["workflow", "init", "write-review-refine", "--json"]);
    assert_eq!((refused.code, error(&refused).0.as_str()), (2, "invalid-value"));
    assert_eq!(fs::read_to_string(&own).unwrap(), "mine");
    world.fleet.ok(&["workflow", "init", "--force"]);
    assert_ne!(fs::read_to_string(&own).unwrap(), "mine");
    for (arguments, file) in [
        (&["workflow", "init", "bug-hunt", "--format", "yaml"][..], ".fleet/workflows/bug-hunt.yaml"),
        (&["workflow", "init", "compete-judge", "race.json"], "race.json"),
    ] {
        world.fleet.ok(arguments);
        world.fleet.ok(&["workflow", "check", file]);
    }
    for wrong in [
        &["workflow", "init", "bug-hnut"][..],
        &["workflow", "init", "bug-hunt", "x.md"],
        &["workflow", "init", "bug-hunt", "x.toml", "--format", "json"],
    ] {
        assert_ne!(world.fleet.run(wrong).code, 0, "{wrong:?}");
    }
}

#[test]
fn init_does_not_follow_links_of_the_repository() {
    let world = world();
    let elsewhere = tempfile::tempdir().unwrap();
    symlink(elsewhere.path(), world.repo.path().join(".fleet")).unwrap();
    let refused = world.fleet.run(&["workflow", "init", "--json"]);
    assert!(error(&refused).1.contains("is a link"), "{}", refused.stderr);
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
    let target = elsewhere.path().join("target.toml");
    fs::write(&target, "keep").unwrap();
    symlink(&target, world.repo.path().join("link.toml")).unwrap();
    assert_eq!(world.fleet.run(&["workflow", "init", "bug-hunt", "link.toml"]).code, 2);
    world.fleet.ok(&["workflow", "init", "bug-hunt", "link.toml", "--force"]);
    assert_eq!(fs::read_to_string(&target).unwrap(), "keep");
}
