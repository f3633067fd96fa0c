//! Where a task starts that waited for others.

use fleet_api::TaskFields;
use fleet_api::verbs::{task_edit, task_retry, task_show};
use fleet_core::outcome::RunResult;
use fleet_core::run::{Reason, Run};
use fleet_engine::home::Home;

use crate::rig::Rig;

impl Rig {
    /// One that only looks.
    async fn add_look(&self, after: &[&str]) -> String {
        self.add_with("true", after, TaskFields { read_only: true, ..TaskFields::default() }).await
    }

    async fn shown(&self, task: &str) -> task_show::Answer {
        let request = task_show::Request { id: task.to_owned(), events: 0 };
        fleet_api::call(&self.engine, None, &request).await.unwrap()
    }

    fn result(&self, run: &Run) -> RunResult {
        serde_json::from_slice(&std::fs::read(self.folder(run).result()).unwrap()).unwrap()
    }

    fn head(&self) -> String {
        self.repo.git(&["rev-parse", "HEAD"])
    }

    /// Removes everything that keeps commits without a branch.
    async fn forget_all(&self) {
        let project = self.engine.project().await.unwrap();
        std::fs::remove_dir_all(Home::new(self.home()).vault(&project.common_dir)).unwrap();
        for name in self.repo.git(&["for-each-ref", "--format=%(refname)", "refs/fleet"]).lines() {
            self.repo.git(&["update-ref", "-d", name]);
        }
        self.repo.git(&["reflog", "expire", "--expire=now", "--all"]);
        self.repo.git(&["gc", "--quiet", "--prune=now"]);
    }

    async fn retry(&self, task: &str) {
        let request: task_retry::Request =
            serde_json::from_value(serde_json::json!({ "ids": [task] })).unwrap();
        fleet_api::call(&self.engine, None, &request).await.unwrap();
    }
}

fn base(run: &Run) -> &str {
    run.base.as_deref().unwrap()
}

fn branch(run: &Run) -> &str {
    run.branch.as_deref().unwrap()
}

#[tokio::test]
async fn a_task_starts_from_the_work_of_the_one_before_it() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    let two = rig.add("test -f a && echo two >> a", &[&one]).await;
    assert_eq!(rig.shown(&two).await.starts_from, [format!("fleet/{one}")], "before either has started");
    let (one, two) = (rig.done().await, rig.done().await);
    assert_eq!(base(&two), rig.tip(&one));
    assert_eq!(rig.repo.git(&["show", &format!("{}:a", rig.tip(&two))]), "one\ntwo");
    assert_eq!((rig.result(&two).commit_count, rig.result(&two).files), (1, 1), "only its own work counts");
    assert_eq!(rig.shown(two.task.as_str()).await.starts_from, [branch(&one)]);
}

#[tokio::test]
async fn the_work_of_several_is_merged_oldest_first_and_what_changed_nothing_is_left_out() {
    let rig = Rig::new("1m");
    let (one, look) = (rig.add("echo one > a", &[]).await, rig.add_look(&[]).await);
    let two = rig.add("echo two > b", &[]).await;
    let three = rig.add("test -f a && test -f b && echo c > c", &[&two, &look, &one]).await;
    let (one, look, two, three_run) =
        (rig.done().await, rig.done().await, rig.done().await, rig.done().await);
    let parents = rig.repo.git(&["log", "-1", "--format=%P", base(&three_run)]);
    assert_eq!(parents, format!("{} {}", rig.tip(&one), rig.tip(&two)));
    assert_eq!(rig.files(&rig.tip(&three_run)), ["README.md", "a", "b", "c"]);
    assert_eq!((rig.result(&three_run).commit_count, rig.result(&three_run).files), (1, 1));
    assert_eq!(rig.shown(&three).await.starts_from, [branch(&one), branch(&two)]);
    assert_ne!(base(&look), base(&three_run));
}

#[tokio::test]
async fn one_that_changed_nothing_passes_on_what_it_started_from() {
    let rig = Rig::new("1m");
    let (one, two) = (rig.add("echo one > a", &[]).await, rig.add("echo two > b", &[]).await);
    let look = rig.add_look(&[&one]).await;
    let join = rig.add_look(&[&one, &two]).await;
    rig.add("test -f a && ! test -f b && echo x > x", &[&look]).await;
    rig.add("test -f a && test -f b && echo y > y", &[&join]).await;
    let (one, _, look, join) = (rig.done().await, rig.done().await, rig.done().await, rig.done().await);
    let (after_look, after_join) = (rig.done().await, rig.done().await);
    assert_eq!((base(&look), base(&after_look)), (rig.tip(&one).as_str(), rig.tip(&one).as_str()));
    assert_eq!(rig.repo.git(&["branch", "--list", branch(&look)]), "", "one that only looked has no branch");
    assert_eq!(rig.tip(&join), base(&join), "but nothing else has a merge");
    assert_eq!(base(&after_join), base(&join));
}

#[tokio::test]
async fn a_conflict_fails_at_once_names_branches_and_files_and_ends_with_another_base() {
    let rig = Rig::new("1m");
    let (one, two) = (rig.add("echo one > a", &[]).await, rig.add("echo two > a", &[]).await);
    let both = rig.add("test -f a && echo b > b", &[&one, &two]).await;
    let (first, second) = (rig.done().await, rig.done().await);
    let failed = rig.play().await.unwrap();
    assert_eq!((failed.reason, failed.attempt), (Some(Reason::MergeConflict), 1));
    let expected =
        format!("task {two} (branch `fleet/{two}`) conflicts with task {one} (branch `fleet/{one}`) in a");
    assert_eq!(failed.detail.as_deref(), Some(expected.as_str()));
    assert!(rig.play().await.is_none(), "it is not tried again");
    let edit = serde_json::json!({ "id": both, "base": branch(&second) });
    let edit: task_edit::Request = serde_json::from_value(edit).unwrap();
    fleet_api::call(&rig.engine, None, &edit).await.unwrap();
    rig.retry(&both).await;
    let run = rig.done().await;
    assert_eq!(base(&run), rig.tip(&second), "a base that somebody named counts more");
    assert!(rig.shown(&both).await.starts_from.is_empty());
    assert_ne!(base(&run), rig.tip(&first));
}

#[tokio::test]
async fn a_deleted_branch_is_replaced_by_the_last_commit_until_that_is_gone_too() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    rig.add("test -f a && echo b > b", &[&one]).await;
    let run = rig.done().await;
    let tip = rig.tip(&run);
    rig.repo.git(&["branch", "-D", branch(&run)]);
    rig.repo.git(&["-c", "gc.reflogExpire=now", "gc", "--quiet", "--prune=now"]);
    let second = rig.done().await;
    assert_eq!(base(&second), tip);
    let third = rig.add("true", &[&one]).await;
    rig.repo.git(&["branch", "-D", branch(&second)]);
    rig.forget_all().await;
    let failed = rig.play().await.unwrap();
    assert_eq!(failed.reason, Some(Reason::WorkspaceRefused));
    let detail = failed.detail.as_deref().unwrap();
    assert!(detail.starts_with(&format!("the work of task {one} is not in this repository")), "{detail}");
    assert!(detail.contains(&format!("`fleet task edit {third} --base REF`")), "{detail}");
}

#[tokio::test]
async fn what_landed_is_in_the_current_commit() {
    let rig = Rig::new("1m");
    let (one, two) = (rig.add("echo one > a", &[]).await, rig.add("echo two > b", &[]).await);
    rig.add("test -f a && test -f b && echo c > c", &[&one, &two]).await;
    let look = rig.add_look(&[&one, &two]).await;
    let (one, two) = (rig.done().await, rig.done().await);
    let identity = ["-c", "user.name=n", "-c", "user.email=e"];
    for run in [&one, &two] {
        rig.repo.git(&[&identity[..], &["merge", "-q", "--no-ff", "-m", "landed", branch(run)]].concat());
    }
    let run = rig.done().await;
    assert_eq!(base(&run), rig.head());
    let look_run = rig.done().await;
    assert_eq!(look_run.task.to_string(), look);
    assert_eq!(rig.repo.git(&["branch", "--list", branch(&look_run)]), "", "nothing was merged for it");
}

#[tokio::test]
async fn a_base_that_was_named_counts_more() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    let fields = TaskFields { base: Some("HEAD".to_owned()), ..TaskFields::default() };
    rig.add_with("! test -f a && echo b > b", &[&one], fields).await;
    rig.done().await;
    assert_eq!(base(&rig.done().await), rig.head());
}

#[tokio::test]
async fn a_retry_continues_where_the_first_attempt_started() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    let script = "grep -q 'attempt [2]' \"$1\" && echo more >> b || { echo b > b; exit 3; }";
    rig.add(script, &[&one]).await;
    let run = rig.done().await;
    let tip = rig.tip(&run);
    let first = rig.play().await.unwrap();
    assert_eq!((first.reason, base(&first)), (Some(Reason::AgentError), tip.as_str()));
    let moved = rig.repo.git(&["commit-tree", "-p", &tip, "-m", "moved", &format!("{tip}^{{tree}}")]);
    rig.repo.git(&["update-ref", &format!("refs/heads/{}", branch(&run)), &moved]);
    let second = rig.done().await;
    assert_eq!((second.attempt, base(&second)), (2, tip.as_str()));
    assert_eq!(rig.repo.git(&["show", &format!("{}:b", rig.tip(&second))]), "b\nmore");
}

#[tokio::test]
async fn a_retry_without_any_work_starts_from_what_is_there_then() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    rig.add("grep -q 'attempt [2]' \"$1\" || exit 3; echo b > b", &[&one]).await;
    let run = rig.done().await;
    let tip = rig.tip(&run);
    assert_eq!(base(&rig.play().await.unwrap()), tip);
    let moved = rig.repo.git(&["commit-tree", "-p", &tip, "-m", "moved", &format!("{tip}^{{tree}}")]);
    rig.repo.git(&["update-ref", &format!("refs/heads/{}", branch(&run)), &moved]);
    assert_eq!(base(&rig.done().await), moved);
}

#[tokio::test]
async fn work_of_another_place_counts_by_its_commit_and_is_asked_for_if_it_is_not_here() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    rig.add("test -f a && echo b > b", &[&one]).await;
    let run = rig.play_at("there").await.unwrap();
    let tip = rig.tip(&run);
    rig.repo.git(&["update-ref", &format!("refs/heads/{}", branch(&run)), "HEAD"]);
    let second = rig.done().await;
    assert_eq!(base(&second), tip, "a branch of that name here is another one");
    rig.repo.git(&["branch", "-D", branch(&run), branch(&second)]);
    let third = rig.add("true", &[&one]).await;
    rig.forget_all().await;
    let failed = rig.play().await.unwrap();
    let expected = format!(
        "the work of task {one} is not in this repository: it ran on test: fetch its branch `fleet/{one}` from there, \
         then `fleet task retry {third}`; `fleet task edit {third} --base REF` starts from another commit"
    );
    assert_eq!(
        (failed.reason, failed.detail.as_deref()),
        (Some(Reason::WorkspaceRefused), Some(expected.as_str()))
    );
    assert!(rig.play().await.is_none(), "only a person can change that");
}

#[tokio::test]
async fn what_a_task_elsewhere_started_from_is_asked_for_too() {
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    let look = rig.add_look(&[&one]).await;
    rig.add("true", &[&look]).await;
    let run = rig.done().await;
    rig.play_at("there").await.unwrap();
    rig.repo.git(&["branch", "-D", branch(&run)]);
    rig.forget_all().await;
    let failed = rig.play().await.unwrap();
    let detail = failed.detail.as_deref().unwrap();
    assert!(
        detail.starts_with(&format!("what task {look} started from is not in this repository")),
        "{detail}"
    );
    assert_eq!(failed.reason, Some(Reason::WorkspaceRefused));
    assert!(rig.play().await.is_none(), "only a person can change that");
}

/// An agent that commits, waits until its branch is there, does something to it as the user could, and goes on.
fn meddling(rig: &Rig, what: &str) -> String {
    let repo = rig.repo.path().display();
    format!(
        "echo one > a; git add a; git -c user.name=n -c user.email=e commit -q -m one
until git -C {repo} rev-parse -q --verify refs/heads/$FLEET_BRANCH > /dev/null; do sleep 0.1; done
git -C {repo} {what}
echo two >> a"
    )
}

#[tokio::test]
async fn work_that_could_not_be_published_is_passed_on_all_the_same() {
    let rig = Rig::new("1m");
    let elsewhere = tempfile::tempdir().unwrap();
    let checked_out = format!("worktree add -q {} $FLEET_BRANCH", elsewhere.path().join("x").display());
    for what in [checked_out.as_str(), "update-ref refs/heads/$FLEET_BRANCH HEAD"] {
        let one = rig.add(&meddling(&rig, what), &[]).await;
        rig.add("test \"$(cat a)\" = \"$(printf 'one\\ntwo')\" && echo b > b", &[&one]).await;
        let (first, second) = (rig.done().await, rig.done().await);
        let result = rig.result(&first);
        assert!(result.unpublished && !result.branch_taken, "{what}: {:?}", result.remarks);
        assert_eq!(base(&second), result.commits[0], "{what}");
        assert_ne!(rig.tip(&first), result.commits[0], "{what}: the branch is the user's to move");
        // Once the branch has the work, it counts again.
        let tip = rig.repo.git(&[
            "commit-tree",
            "-p",
            base(&second),
            "-m",
            "own",
            &format!("{}^{{tree}}", base(&second)),
        ]);
        rig.repo.git(&["update-ref", &format!("refs/heads/{}", branch(&first)), &tip]);
        rig.add("test -f a && echo c > c", &[&one]).await;
        assert_eq!(base(&rig.done().await), tip, "{what}");
    }
}

#[tokio::test]
async fn what_landed_under_another_name_is_in_the_current_commit() {
    let rig = Rig::new("1m");
    let (one, two) = (rig.add("echo 1 > a", &[]).await, rig.add("echo two > b", &[]).await);
    let after = rig.add("test -f a && ! test -f b && echo c > c", &[&one]).await;
    rig.add("test -f a && test -f b && test -f other && echo d > d", &[&one, &two]).await;
    let (first, second) = (rig.done().await, rig.done().await);
    rig.repo.write("other", "other");
    rig.repo.commit("other");
    rig.repo.git(&["merge", "-q", "--squash", branch(&first)]);
    rig.repo.commit("squashed");
    rig.repo.write("a", "changed since");
    rig.repo.commit("changed");
    let run = rig.done().await;
    assert_eq!((run.task.to_string(), base(&run)), (after, rig.head().as_str()));
    let both = rig.done().await;
    let parents = rig.repo.git(&["log", "-1", "--format=%P", base(&both)]);
    assert_eq!(parents, format!("{} {}", rig.head(), rig.tip(&second)));
}

#[tokio::test]
async fn an_agent_is_told_whose_work_it_starts_from() {
    const TOLD: &str = "Your branch starts from the work of ";
    let rig = Rig::new("1m");
    let one = rig.add("echo one > a", &[]).await;
    let script = "grep -q 'attempt [2]' \"$1\" && echo more >> b || { echo b > b; exit 3; }";
    let two = rig.add(script, &[&one]).await;
    rig.add_look(&[&two]).await;
    rig.add("echo c > c", &[&one]).await;
    let prompt = |run: &Run| std::fs::read_to_string(rig.folder(run).prompt()).unwrap();
    let first = rig.done().await;
    assert!(!prompt(&first).contains(TOLD), "it starts from the user's commit");
    let told = format!("{TOLD}“Work” (branch `fleet/{one}`).\n");
    for _ in 0..2 {
        let run = rig.play().await.unwrap();
        assert!(run.task.to_string() == two && prompt(&run).contains(&told), "{}", prompt(&run));
    }
    assert!(prompt(&rig.done().await).contains(&format!("{TOLD}“Work” (branch `fleet/{two}`).")));
    rig.repo.git(&["merge", "-q", "--ff-only", branch(&first)]);
    assert!(!prompt(&rig.done().await).contains(TOLD), "that has landed");
}
