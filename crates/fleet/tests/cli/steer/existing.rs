//! Branches that exist and are named for new work: it goes on there, and they stay the user's.

use std::fs;

use fleet_testkit::repo::Repo;
use fleet_testkit::vault::assert_only_branches;
use fleet_testkit::wait_until;

use super::super::support::error;
use super::{SOON, Yard, signal};

impl Yard {
    /// A branch of the user's with a commit of its own.
    fn user_branch(&self, name: &str) -> String {
        self.repo.git(&["branch", name]);
        self.user_commits(name, "user")
    }

    /// Commits to a branch that is checked out nowhere, as a person with another clone would.
    fn user_commits(&self, branch: &str, subject: &str) -> String {
        let tip = self.tip(branch).unwrap();
        let commit = self.repo.git(&["commit-tree", "-m", subject, "-p", &tip, &format!("{tip}^{{tree}}")]);
        self.repo.git(&["update-ref", &format!("refs/heads/{branch}"), &commit, &tip]);
        commit
    }

    fn launch(&self, branch: &str, script: &str) -> fleet_testkit::fleet::Output {
        let prompt = format!("{branch}\n\n```demo\n{script}\n```");
        self.fleet.run(&["create", branch, "--detach", "--agent", "demo", "-p", &prompt])
    }

    fn subjects(&self, branch: &str) -> String {
        self.repo.git(&["log", "--format=%s", branch]).replace('\n', ", ")
    }

    /// Gives the repository a remote with a branch of one commit.
    fn remote(&self, name: &str, branch: &str) -> Repo {
        let other = Repo::init();
        other.git(&["switch", "--quiet", "-c", branch]);
        other.commit(&format!("theirs of {name}"));
        self.repo.git(&["remote", "add", name, other.path().to_str().unwrap()]);
        self.repo.git(&["fetch", "--quiet", name]);
        other
    }
}

#[test]
fn work_goes_on_top_of_the_branch() {
    let yard = Yard::new();
    let tip = yard.user_branch("feature");
    let said = yard.launch("feature", "write a x");
    let note = format!("taking existing branch feature at {} (1 commit ahead of main)\n", &tip[..7]);
    assert!(said.code == 0 && said.stderr.contains(&note), "{said:?}");
    assert_eq!(yard.task("feature")["existing_branch"], true);
    yard.finish_all();
    assert_eq!(yard.subjects("feature"), "feature, user, first");
    let shown = yard.fleet.json(&["show", "feature"]);
    assert_eq!((&shown["base"], &shown["result"]["commit_count"]), (&tip.into(), &1.into()), "{shown}");
    let new = yard.launch("fresh", "write a x");
    assert!(new.stderr.contains("new branch fresh from "), "{new:?}");
    assert_eq!(yard.task("fresh")["existing_branch"], false);
}

#[test]
fn queued_tasks_and_batches_take_branches_too() {
    let yard = Yard::new();
    yard.user_branch("one");
    yard.user_branch("two");
    let later = yard.add("one", "write a x");
    let args = ["task", "add", "again", "--agent", "demo", "--branch", "two"];
    assert_eq!(yard.fleet.json(&args)["existing_branch"], true);
    yard.fleet.ok(&["task", "cancel", "two"]);
    let both = yard.fleet.json(&["multi", "-d", "-a", "demo", "two:Do it", "three:Do it"]);
    assert_eq!(both["existing_branches"].as_array().unwrap().len(), 1, "{both}");
    assert_eq!(both["existing_branches"][0]["branch"], "two");
    let tip = yard.user_commits("one", "meanwhile");
    yard.finish_all();
    assert_eq!(yard.subjects("one"), "one, meanwhile, user, first", "it starts where the branch is by then");
    assert_eq!(yard.fleet.json(&["show", &later])["base"], tip);
    assert!(yard.subjects("two").ends_with(", user, first") && yard.has_branch("three"));
}

#[test]
fn a_branch_that_only_a_remote_has_is_made_from_there() {
    let yard = Yard::new();
    yard.remote("origin", "feature");
    let said = yard.launch("feature", "write a x");
    assert!(said.stderr.contains("taking existing branch feature from origin/feature at "), "{said:?}");
    let queued = yard.add("feature-2", "say nothing");
    yard.fleet.ok(&["task", "edit", &queued, "--branch", "quiet"]);
    yard.finish_all();
    assert_eq!(yard.subjects("feature"), "feature, theirs of origin, first");
    assert_only_branches(&yard.repo);
    assert!(!yard.repo.git(&["config", "--list"]).contains("branch."), "the configuration is the user's");
}

#[test]
fn an_empty_run_makes_no_branch_of_a_remote_one() {
    let yard = Yard::new();
    yard.remote("origin", "feature");
    yard.add("feature", "say nothing");
    yard.finish_all();
    assert!(!yard.has_branch("feature"));
}

#[test]
fn which_remote_is_meant_has_to_be_clear() {
    let yard = Yard::new();
    yard.remote("origin", "feature");
    yard.remote("fork", "feature");
    let args = ["create", "feature", "-d", "--agent", "demo", "-p", "x"];
    let (code, message, hints) = error(&yard.fleet.fail(2, &[&args[..], &["--json"]].concat()));
    assert_eq!(code, "invalid-value", "{message}");
    assert!(message.contains("fork/feature and origin/feature"), "{message}");
    assert!(hints.contains("git branch feature fork/feature"), "{hints}");
    yard.repo.git(&["config", "checkout.defaultRemote", "fork"]);
    assert_eq!(yard.fleet.json(&args)["existing_branches"][0]["remote"], "fork/feature");
    let typed = ["create", "origin/feature", "-d", "--agent", "demo", "-p", "x", "--json"];
    let (_, message, hints) = error(&yard.fleet.fail(2, &typed));
    assert!(message.contains("the branch feature of the remote origin"), "{message}");
    assert!(hints.contains("name it feature"), "{hints}");
}

#[test]
fn a_branch_in_a_work_tree_and_the_main_branch_are_refused() {
    let yard = Yard::new();
    yard.user_branch("feature");
    let linked = yard.sign("linked").display().to_string();
    yard.repo.git(&["worktree", "add", "--quiet", &linked, "feature"]);
    let refused = |branch: &str| {
        let output = yard.fleet.fail(4, &["create", branch, "-d", "--agent", "demo", "-p", "x", "--json"]);
        let (code, message, hints) = error(&output);
        assert_eq!(code, "branch-taken", "{message}");
        assert!(hints.contains(&format!("`--base {branch}`")), "{hints}");
        message
    };
    assert!(refused("feature").contains("linked"));
    assert!(refused("main").contains("checked out at"));
    yard.repo.git(&["switch", "--quiet", "-c", "elsewhere"]);
    assert!(refused("main").contains("is the main branch"));
    yard.fleet.ok(&["create", "main", "--force", "-d", "--agent", "demo", "-p", "x"]);
    yard.repo.git(&["worktree", "remove", &linked]);
    yard.fleet.ok(&["create", "feature", "-d", "--agent", "demo", "-p", "x"]);
    let (_, message, hints) =
        error(&yard.fleet.fail(4, &["create", "feature", "-d", "--agent", "demo", "-p", "x", "--json"]));
    assert!(message.contains("belongs to task t") && hints.contains("fleet kill feature"), "{message}");
}

#[test]
fn a_start_beside_the_branch_is_a_contradiction() {
    let yard = Yard::new();
    yard.user_branch("feature");
    for args in [
        &["create", "feature", "-d", "--agent", "demo", "-p", "x", "--base", "main", "--json"][..],
        &["task", "add", "x", "--branch", "feature", "--base", "main", "--json"],
    ] {
        let (_, message, _) = error(&yard.fleet.fail(2, args));
        assert!(message.contains("the branch feature exists"), "{message}");
    }
    let args = ["fanout", "1", "feature", "-d", "--agent", "demo", "-p", "x"];
    yard.repo.git(&["branch", "feature-A"]);
    assert!(yard.fleet.fail(4, &args).stderr.contains("feature-A is taken: it exists already"));
}

#[test]
fn an_edit_takes_a_branch_and_gives_it_back() {
    let yard = Yard::new();
    yard.user_branch("feature");
    let task = yard.add("fresh", "write a x");
    let edit = |args: &[&str]| yard.fleet.json(&[&["task", "edit", &task], args].concat());
    assert_eq!(edit(&["--branch", "feature"])["existing_branch"], true);
    assert_eq!(edit(&["--branch", "other"])["existing_branch"], false);
    edit(&["--branch", "feature"]);
    let said = yard.fleet.fail(2, &["task", "edit", &task, "--base", "main"]);
    assert!(said.stderr.contains("goes on with the branch feature"), "{said:?}");
    yard.finish_all();
    assert_eq!(yard.subjects("feature"), "fresh, user, first");
}

#[test]
fn an_empty_run_leaves_the_branch() {
    let yard = Yard::new();
    let tip = yard.user_branch("feature");
    yard.add("feature", "say nothing to do");
    yard.finish_all();
    assert_eq!(yard.tip("feature"), Some(tip));
}

#[test]
fn what_the_user_commits_meanwhile_stays_and_a_retry_goes_on_there() {
    let mut yard = Yard::new();
    yard.user_branch("feature");
    let (go, once) = (yard.sign("go").display().to_string(), yard.sign("once").display().to_string());
    let (begun, first) =
        (yard.sign("feature").display().to_string(), yard.sign("first").display().to_string());
    let script = format!(
        "once {first} write a x\ntouch {begun}\nwait-for {go}\nonce {once} exit 1\nwrite b y\ncommit Second"
    );
    let task = yard.add("feature", &script);
    yard.start_runner();
    yard.at_work(&["feature"]);
    let theirs = yard.user_commits("feature", "meanwhile");
    fs::write(go, "").unwrap();
    wait_until(SOON, "the end of the first attempt", || yard.task(&task)["state"] == "failed");
    assert_eq!(yard.tip("feature"), Some(theirs.clone()));
    let shown = yard.fleet.json(&["show", &task]);
    assert_eq!(shown["result"]["unpublished"], true, "{shown}");
    yard.fleet.ok(&["task", "retry", &task]);
    wait_until(SOON, "the end of the retry", || yard.task(&task)["state"] == "done");
    assert_eq!(yard.subjects("feature"), "Second, meanwhile, user, first");
    let shown = yard.fleet.json(&["show", &task]);
    assert_eq!((&shown["base"], &shown["result"]["commit_count"]), (&theirs.into(), &1.into()), "{shown}");
    let undone = yard.fleet.json(&["undo", &task]);
    assert_eq!(undone["branch"], "feature", "it has the work: {undone}");
}

#[test]
fn a_retry_goes_on_with_what_the_attempt_before_left() {
    let yard = Yard::new();
    let tip = yard.user_branch("feature");
    let once = yard.sign("once").display().to_string();
    let task = yard.add("feature", &format!("write a x\ncommit First\nonce {once} exit 1\nwrite b y"));
    yard.finish_all();
    assert_eq!(yard.task(&task)["state"], "failed");
    assert_eq!(yard.subjects("feature"), "First, user, first");
    yard.fleet.ok(&["task", "retry", &task]);
    yard.finish_all();
    assert_eq!(yard.task(&task)["state"], "done");
    assert_eq!(yard.subjects("feature"), "feature, First, user, first");
    assert_eq!(yard.fleet.json(&["show", &task])["base"], tip);
    yard.repo.git(&["branch", "-D", "feature"]);
    yard.fleet.ok(&["prompt", &task, "Once more"]);
    yard.finish_all();
    assert_eq!(yard.task(&task)["reason"], "workspace_refused");
    assert!(!yard.has_branch("feature"), "what a person deleted does not come back");
}

#[test]
fn a_keeper_that_is_killed_leaves_the_branch() {
    let mut yard = Yard::new();
    let tip = yard.user_branch("feature");
    let task = yard.add_staying("feature", "say nothing");
    yard.start_runner();
    yard.at_work(&["feature"]);
    signal(yard.keeper(&task), "-KILL");
    wait_until(SOON, "the repair", || yard.task(&task)["state"] == "failed");
    wait_until(SOON, "the end of the repair", || yard.marks() == 0);
    assert_eq!(yard.tip("feature"), Some(tip));
}

#[test]
fn no_clean_up_deletes_it_but_by_its_name() {
    let mut yard = Yard::new();
    for name in ["killed", "kept", "landed"] {
        yard.user_branch(name);
    }
    let killed = yard.add_staying("killed", "write a x");
    yard.start_runner();
    yard.at_work(&["killed"]);
    let said = yard.fleet.run(&["kill", &killed, "--yes", "--delete-branch"]);
    assert!(format!("{said:?}").contains("was there before the task, so it stays"), "{said:?}");
    assert_eq!(yard.subjects("killed"), "wip: killed, user, first");
    yard.stop_runner();
    yard.add("kept", "write a x");
    yard.add("landed", "write b x");
    yard.finish_all();
    yard.repo.git(&["merge", "--quiet", "landed"]);
    let cleaned = yard.fleet.json(&["clean", "--all", "--yes"]);
    assert_eq!(cleaned["removed"].as_array().unwrap().len(), 3, "the folders: {cleaned}");
    assert!(["killed", "kept", "landed"].iter().all(|name| yard.has_branch(name)), "{cleaned}");
    assert_eq!(yard.names("runs").len(), 0);
    yard.fleet.ok(&["clean", "landed", "--yes"]);
    assert!(!yard.has_branch("landed"), "the user named it");
    yard.fleet.ok(&["clean", "kep*", "--all", "--yes"]);
    assert!(yard.has_branch("kept"), "that is no name");
}

#[test]
fn a_branch_that_an_earlier_task_made_is_cleaned_up_unless_a_person_went_on_with_it() {
    let yard = Yard::new();
    for name in ["ours", "mixed"] {
        yard.add(name, "write a x");
        yard.finish_all();
    }
    yard.user_commits("mixed", "user");
    for name in ["ours", "mixed"] {
        yard.add(name, "write b y");
    }
    yard.finish_all();
    yard.fleet.ok(&["clean", "--all", "--yes"]);
    assert_eq!((yard.has_branch("ours"), yard.has_branch("mixed")), (false, true));
}

#[test]
fn keep_leaves_it_and_kill_by_name_deletes_it() {
    let mut yard = Yard::new();
    yard.user_branch("mine");
    yard.fleet.ok(&["multi", "-d", "-a", "demo", "mine:Do it", "theirs:Do it", "best:Do it"]);
    yard.finish_all();
    yard.fleet.ok(&["keep", "best", "--yes"]);
    assert!(yard.has_branch("mine") && yard.has_branch("best") && !yard.has_branch("theirs"));
    yard.user_branch("gone");
    yard.add_staying("gone", "write a x");
    yard.start_runner();
    yard.at_work(&["gone"]);
    yard.fleet.ok(&["kill", "gone", "--yes", "--delete-branch"]);
    assert!(!yard.has_branch("gone"), "the user named it");
}

#[test]
fn a_name_like_an_id_is_a_name_and_reserved_ones_stay_reserved() {
    let yard = Yard::new();
    let other = yard.fleet.ok(&["task", "add", "-q", "other", "--agent", "demo"]).trim_end().to_owned();
    let reserved = format!("fleet/{other}");
    yard.repo.git(&["branch", &reserved]);
    let said = yard.fleet.fail(4, &["create", &reserved, "-d", "--agent", "demo", "-p", "x"]);
    assert!(said.stderr.contains("reserved for task"), "{said:?}");
    yard.repo.git(&["branch", "-D", &reserved]);
    let like = "t0abc";
    yard.user_branch(like);
    yard.launch(like, "write a x");
    yard.finish_all();
    assert_eq!(yard.subjects(like), "t0abc, user, first");
    assert_eq!(yard.task(like)["branch"], like);
}
