//! What cannot run is refused before anything is created.

use super::super::support::{World, error};
use super::{Stage, prompt};

#[track_caller]
fn refused(stage: &Stage, code: i32, arguments: &[&str]) -> (String, String, String) {
    let (content, branches) = (stage.content(), stage.branches());
    let output = stage.fleet.fail(code, &[arguments, &["--json"]].concat());
    assert_eq!(output.stdout, "", "{arguments:?}");
    assert_eq!(stage.content(), content, "{arguments:?} changed something");
    assert_eq!(stage.branches(), branches, "{arguments:?} made a branch");
    error(&output)
}

#[test]
fn mistakes_create_nothing() {
    let stage = Stage::quiet();
    stage.add("First");
    for (code, arguments, said) in [
        (2, vec!["create", "a b", "-p", "x"], "it contains ' '"),
        (2, vec!["create", "x.lock", "-p", "x"], ".lock"),
        (2, vec!["create", "x", "-p", " \n "], "prompt: it is empty"),
        (2, vec!["create", "x"], "there is no prompt"),
        (2, vec!["create", "x", "-", "-p", "x"], "only once"),
        (2, vec!["create", "x", "-p", "x", "--agent", "nobody"], "no agent `nobody`"),
        (2, vec!["create", "x", "-p", "x", "--agent", "No Body"], "not an agent's name"),
        (2, vec!["create", "x", "-p", "x", "--base", "no-such"], "no commit \"no-such\""),
        (2, vec!["create", "x", "-p", "x", "--base", "a..b"], "cannot name a revision"),
        (2, vec!["create", "x", "-p", "x", "--limit", "money=1"], "not a limit"),
        (2, vec!["create", "x", "-p", "x", "--retries", "99"], "at most 20 retries"),
        (1, vec!["create", "x", "--prompt-file", "no-such-file"], "no-such-file"),
        (3, vec!["create", "x", "-p", "x", "-c", "agent=elsewhere"], "no agent `elsewhere` here"),
        (
            3,
            vec!["create", "x", "-p", "x", "--agent", "mine", "-c", "agents.mine.model=m"],
            "no agent `mine` here",
        ),
    ] {
        let (_, message, _) = refused(&stage, code, &arguments);
        assert!(message.contains(said), "{arguments:?}: {message}");
    }
}

#[test]
fn agents_are_told_all_at_once_and_mistyped_ones_are_guessed() {
    let stage = Stage::quiet();
    let (_, message, hints) = refused(&stage, 2, &["create", "x", "-p", "x", "--agent", "dmeo"]);
    assert_eq!(
        (message.as_str(), hints.contains("did you mean `demo`?")),
        ("agent: there is no agent `dmeo`", true)
    );
    let settings = ["-c", "agents.far.program=/no/far", "-c", "agents.off.program=/no/off"];
    let fan = [&["fanout", "3", "x", "-p", "x", "--agent", "far,demo,off"][..], &settings].concat();
    let (code, message, _) = refused(&stage, 3, &fan);
    assert_eq!(code, "agent-missing");
    assert_eq!(
        message,
        "no agent `far` here: /no/far is not a program; no agent `off` here: /no/off is not a program"
    );
}

#[test]
fn a_base_that_is_still_to_be_made_is_waited_for() {
    let stage = Stage::quiet();
    let first = stage.add("First");
    stage.fleet.ok(&["task", "add", "Second", "--base", "later", "--after", &first]);
    stage.fleet.ok(&["task", "add", "Third", "--branch", "soon"]);
    stage.fleet.ok(&["task", "add", "Fourth", "--base", "soon"]);
    let far = stage.fleet.run(&["task", "add", "Far", "--agent", "far", "-c", "agents.far.model=m"]);
    assert!(far.code == 0 && far.stderr.contains("no agent `far` here, so it waits"), "{far:?}");
}

#[test]
fn a_taken_branch_says_who_has_it() {
    let stage = Stage::quiet();
    stage.repo.git(&["branch", "old-A"]);
    let taken = |arguments: &[&str]| {
        let (code, message, hints) = refused(&stage, 4, arguments);
        assert_eq!(code, "branch-taken", "{message}");
        (message, hints)
    };
    let (message, hints) = taken(&["fanout", "2", "old", "-p", "x"]);
    assert!(message.contains("exists already"), "{message}");
    assert!(hints.contains("another name") && hints.contains("git branch -d old-A"), "{hints}");
    let (message, _) = taken(&["create", "old-A/new", "-p", "x"]);
    assert!(message.contains("files and folders"), "{message}");
    let other = stage.add("Other");
    for arguments in [
        &["create", "main", "-p", "x"][..],
        &["task", "add", "x", "--branch", "main"],
        &["task", "edit", &other, "--branch", "main"],
    ] {
        let (message, hints) = taken(arguments);
        assert!(message.contains("checked out at"), "{arguments:?}: {message}");
        assert!(
            hints.contains("`--base main`") && !hints.contains("git branch -d"),
            "{arguments:?}: {hints}"
        );
    }
    let mine = stage.fleet.json(&["create", "mine", "-d", "-p", "x"]);
    let (message, hints) = taken(&["create", "mine", "-p", "x"]);
    assert!(message.contains(mine["tasks"][0]["id"].as_str().unwrap()), "{message}");
    assert!(hints.contains("fleet kill mine"), "{hints}");
}

#[test]
fn a_branch_with_work_that_failed_can_be_gone_on_with() {
    let stage = Stage::new();
    let fail = prompt("Fail", "write half.txt done\nexit 3");
    stage.fleet.fail(8, &["fanout", "1", "bad", "-p", &fail]);
    let (_, _, hints) = refused(&stage, 4, &["fanout", "1", "bad", "-p", "x"]);
    assert!(hints.contains("fleet resume t"), "{hints}");
    stage.fleet.ok(&["create", "bad-A", "-p", &prompt("Go on", "write rest.txt done")]);
    assert_eq!(
        (stage.file("bad-A", "half.txt"), stage.file("bad-A", "rest.txt")),
        ("done".into(), "done".into())
    );
}

#[test]
fn a_repository_without_a_commit_has_nothing_to_start_from() {
    let stage = Stage::quiet();
    let empty = tempfile::tempdir().unwrap();
    let git = super::super::support::shell(&stage.fleet.cwd(empty.path()), "git init -q -b main .");
    assert_eq!(git.code, 0, "{git:?}");
    let output = stage.fleet.cwd(empty.path()).fail(2, &["create", "x", "-p", "x"]);
    assert!(output.stderr.contains("no commit yet"), "{output:?}");
    let output = stage.fleet.cwd(empty.path()).fail(2, &["task", "add", "x"]);
    assert!(output.stderr.contains("no commit yet"), "{output:?}");
    let outside = stage.fleet.cwd(stage.fleet.user_home()).fail(3, &["create", "x", "-p", "x"]);
    assert!(outside.stderr.contains("not-a-repository"), "{outside:?}");
}

#[test]
fn commands_that_nobody_agreed_to_are_told_at_once() {
    let stage = Stage::new();
    stage.repo.write(".fleet/config.toml", "workspaces.setup = ['true']\n");
    let (code, _, hints) = {
        let output = stage.fleet.fail(4, &["create", "x", "-p", "x", "--json"]);
        error(&output)
    };
    assert_eq!(code, "untrusted");
    assert!(hints.contains("fleet trust") && hints.contains("--quick"), "{hints}");
    stage.fleet.ok(&["create", "x", "--quick", "-p", &prompt("Write", "write a.txt x")]);
}

/// Where neither commands nor their runner have a variable for the agent, and the project wants another one.
fn stage_with_wishes() -> Stage {
    let mut world = World::sqlite();
    world.fleet = world.fleet.env("FLEET_AUTOSTART", "true");
    let own = "agent = 'demo'\n[agents.mine]\nprogram = 'cat'\noutput = 'lines'\n";
    std::fs::write(world.fleet.home().join("config.toml"), own).unwrap();
    world.repo.write(".fleet/config.toml", "agent = 'mine'\nlimits.time = '9h'\n");
    Stage { world }
}

#[test]
fn what_you_say_yourself_needs_no_consent() {
    let stage = stage_with_wishes();
    let prompt = prompt("Write", "write a.txt x");
    let (code, message, hints) = error(&stage.fleet.fail(4, &["create", "x", "-p", &prompt, "--json"]));
    assert_eq!(code, "untrusted");
    assert!(message.contains("`agent`, `limits.time`") && !hints.contains("--quick"), "{message} {hints}");
    // The first one starts the runner, so it has no flags and variables that the runner could take over.
    stage.fleet.ok(&["create", "named", "--agent", "demo", "--limit", "time=1h", "-p", &prompt]);
    stage.fleet.ok(&["create", "flag", "-c", "agent=demo", "-c", "limits.time=9h", "-p", &prompt]);
    stage.fleet.env("FLEET_AGENT", "demo").ok(&["create", "variable", "--limit", "time=1h", "-p", &prompt]);
}

#[test]
fn the_agent_of_the_project_does_what_names_none_if_you_agree() {
    let stage = stage_with_wishes();
    let agent = |arguments: &[&str]| {
        stage.fleet.json(&[&["task", "add", "--hold"], arguments].concat())["agent"].clone()
    };
    assert_eq!((agent(&["One"]), agent(&["Two", "--agent", "demo"])), ("mine".into(), "demo".into()));
    let fleet = stage.fleet.env("FLEET_AUTOSTART", "false");
    let task = fleet.ok(&["task", "add", "-q", "Three"]).trim_end().to_owned();
    fleet.ok(&["run", "--until-idle"]);
    assert_eq!(stage.fleet.json(&["why", &task])["reason"], "untrusted");
}
