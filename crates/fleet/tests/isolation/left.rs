//! Work that an agent leaves beside its branch, and branches that are not its own.

use std::fs;

use super::stage::Stage;

/// What people read about the snapshots of a run.
fn snapshots(stage: &Stage, branch: &str) -> String {
    stage.fleet.ok(&["undo", "--list", branch])
}

#[test]
fn branches_and_stashes_of_a_run_that_never_got_ready_are_kept() {
    let stage = Stage::new();
    let config = stage.fleet.home().join("config.toml");
    let text = fs::read_to_string(&config).unwrap();
    stage.script(
        "git checkout -qb side; echo side > side.txt; git add .; git commit -qm side; git checkout -q -
         echo stashed > a.txt; git stash -q; exit 1",
    );
    let setup = format!("[workspaces]\nsetup = ['{}']\n", stage.path("agent.sh").display());
    fs::write(&config, format!("{setup}{text}")).unwrap();
    stage.fleet.ok(&["task", "add", "Task", "--agent", "script", "--branch", "feature", "--retries", "0"]);
    stage.fleet.command(&["run", "--until-idle"]).output().unwrap();
    assert_eq!(stage.state("feature"), "failed");
    let listed = snapshots(&stage, "feature");
    assert!(listed.contains("branch side") && listed.contains("stash"), "{listed}");
    stage.check_repositories();
}

#[test]
fn an_agent_that_leaves_its_branch_has_done_what_is_on_it() {
    let stage = Stage::new();
    stage.run("feature", "echo y > y.txt; git add .; git commit -qm y; git checkout -q --detach HEAD~1");
    assert_eq!(stage.state("feature"), "succeeded");
    assert_eq!(stage.content("feature", "y.txt"), "y");
    assert_eq!(stage.fleet.json(&["show", "feature"])["result"]["commit_count"], 1);
    assert!(!stage.remarks("feature").contains("left"), "{}", stage.remarks("feature"));
}

#[test]
fn a_branch_that_was_left_and_cannot_be_published_is_kept() {
    let stage = Stage::new();
    let take_name = format!("git -C {} branch feature", stage.repo.path().display());
    stage.run(
        "feature",
        &format!("{take_name}; echo y > y.txt; git add .; git commit -qm y; git checkout -q --detach HEAD~1"),
    );
    assert!(stage.remarks("feature").contains("fleet undo"), "{}", stage.remarks("feature"));
    stage.fleet.ok(&["undo", "feature", "--branch", "back"]);
    assert_eq!(stage.content("back", "y.txt"), "y");
}

#[test]
fn stashes_do_not_hide_the_work_from_undo() {
    let stage = Stage::new();
    stage.run("feature", "echo stashed > a.txt; git stash -q; echo work > work.txt");
    assert!(snapshots(&stage, "feature").contains("stash"));
    stage.fleet.ok(&["undo", "feature", "--branch", "back"]);
    assert_eq!(stage.content("back", "work.txt"), "work");
}

#[test]
fn a_branch_that_a_person_made_meanwhile_stays() {
    let stage = Stage::new();
    stage.run("mine", &format!("git -C {} branch mine", stage.repo.path().display()));
    stage.repo.git(&["rev-parse", "--verify", "refs/heads/mine"]);
}

#[test]
fn inside_a_workspace_names_and_repositories_are_those_of_the_run() {
    let stage = Stage::new();
    let add = "$FLEET_BIN task add Child --agent script --retries 0 --branch";
    stage.run(
        "parent",
        &format!(
            "[ ! -e one.txt ] || exit 0
             for name in one two three; do echo $name > $name.txt; git add .; git commit -qm $name; done
             git tag second HEAD~1
             {add} head --base HEAD~1; {add} branch --base parent~2; {add} tag --base second
             ! {add} log --base 'HEAD@{{1}}'; ! {add} none --base no-such-branch
             git init -q inner; rm inner/.git/config; mkfifo inner/.git/config; cd inner
             timeout 20 {add} inner --base HEAD; cd ..; rm -rf inner"
        ),
    );
    assert_eq!(stage.state("parent"), "succeeded", "{}", stage.fleet.ok(&["show", "parent"]));
    for (branch, has, has_not) in
        [("head", "two", "three"), ("branch", "one", "two"), ("tag", "two", "three"), ("inner", "three", "-")]
    {
        let base = stage.fleet.json(&["show", branch])["base"].as_str().unwrap().to_owned();
        assert_eq!(stage.content(&base, &format!("{has}.txt")), has, "{branch}");
        assert_eq!(stage.content(&base, &format!("{has_not}.txt")), "", "{branch}");
    }
}
