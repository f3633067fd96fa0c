//! Where a stage starts.

use fleet_core::run::Reason;
use fleet_core::workflow::{ChangeRule, Copies, OnConflict, OnFailure, Stage, StageStart};

use crate::play::{Play, reviewer, stage};

const APPROVE: &str =
    r#"{"summary": "fine", "status": "completed_no_changes", "verdict": {"approve": true}}"#;

fn write(name: &str, file: &str) -> Stage {
    stage(name, &[], "", &format!("echo {name} > {file}"))
}

#[tokio::test]
async fn a_line_goes_on_from_what_the_stage_before_made_even_through_one_that_only_looked() {
    let review = Stage { start: StageStart::Inherit, ..reviewer("review", &[0], "", APPROVE) };
    let refine = stage("refine", &[1], "", "test -f a && echo more >> a");
    let play = Play::of(vec![write("write", "a"), review, refine]).await;
    assert_eq!(play.told(), ["write succeeded", "review succeeded", "refine succeeded"]);
    assert_eq!(play.base("review"), play.tip("write"));
    assert_eq!(play.base("refine"), play.tip("write"));
    assert_eq!(play.result("refine").commit_count, 1, "only its own work is its change");
    assert_eq!(play.rig.repo.git(&["show", &format!("{}:a", play.tip("refine"))]), "write\nmore");
    let branches = play.rig.repo.git(&["branch", "--list", play.branch("review")]);
    assert_eq!(branches, "", "one that only looked leaves no branch");
}

#[tokio::test]
async fn what_several_made_is_merged_and_kept_even_if_nobody_adds_to_it() {
    let join = Stage { changes: ChangeRule::None, ..stage("join", &[1, 0], "", "test -f a && test -f b") };
    let last = stage("last", &[2], "", "echo c > c");
    let play = Play::of(vec![write("one", "a"), write("two", "b"), join, last]).await;
    assert_eq!(play.told(), ["one succeeded", "two succeeded", "join succeeded", "last succeeded"]);
    let parents = play.rig.repo.git(&["log", "-1", "--format=%P", play.base("join")]);
    assert_eq!(parents, format!("{} {}", play.tip("two"), play.tip("one")), "in the order of the needs");
    assert_eq!(play.tip("join"), play.base("join"), "the branch keeps the merge");
    assert_eq!(play.base("last"), play.base("join"));
    assert_eq!((play.result("join").files, play.result("last").files), (0, 1));
    assert_eq!(play.files(&play.tip("last")), ["README.md", "a", "b", "c"]);
}

#[tokio::test]
async fn copies_that_failed_give_nothing_and_new_ones_start_at_the_base() {
    let script =
        "test \"$(cat README.md)\" = '# test' && test {number} = 2 && exit 3; echo {number} > f{number}";
    let copies =
        Stage { copies: Copies::Count(3), on_failure: OnFailure::Continue, ..stage("try", &[], "", script) };
    let join = stage("join", &[0], "", "test -f f1 && test -f f3 && ! test -f f2 && echo x > x");
    let apart = Stage { start: StageStart::New, ..stage("apart", &[0], "", "test -f f1 || echo y > y") };
    let play = Play::of(vec![copies, join, apart]).await;
    assert_eq!(play.run("try-2").reason, Some(Reason::AgentError));
    assert_eq!(play.run("join").reason, None, "{:?}", play.run("join").detail);
    assert_eq!(play.files(&play.tip("apart")), ["README.md", "y"]);
    let prompt = play.prompt("join");
    let (_, why) = prompt.split_once("- try-2: failed").unwrap().1.split_once('[').unwrap();
    let (mark, said) = why.split_once("]\n").unwrap();
    assert!(mark.starts_with("Why try-2 did not succeed. Written by another agent"), "{prompt}");
    assert!(said.starts_with("the agent ended with exit status 3\n[end "), "{prompt}");
}

#[tokio::test]
async fn a_conflict_fails_at_once_and_names_branches_and_files() {
    let join = stage("join", &[0, 1], "", "echo never");
    let play = Play::of(vec![write("one", "a"), write("two", "a"), join]).await;
    assert_eq!(
        play.told(),
        ["one succeeded", "two succeeded", "join merge_conflict"],
        "it is not tried again"
    );
    let expected = format!(
        "two (branch `{}`) conflicts with one (branch `{}`) in a",
        play.branch("two"),
        play.branch("one")
    );
    assert_eq!(play.run("join").detail.as_deref(), Some(expected.as_str()));
}

#[tokio::test]
async fn an_agent_is_told_what_to_merge_and_has_to_do_it() {
    let script = "grep -q 'attempt [2]' \"$1\" || { echo x > x; exit 0; }\n\
                  git merge -q \"$(grep -o 'git merge [0-9a-f]*' \"$1\" | tail -1 | cut -c11-)\"\n\
                  echo both > a; git add a; git -c user.name=n -c user.email=e commit -qm merged";
    let join = Stage { on_conflict: OnConflict::Resolve, ..stage("join", &[0, 1], "", script) };
    let play = Play::of(vec![write("one", "a"), write("two", "a"), join]).await;
    assert_eq!(
        play.told(),
        ["one succeeded", "two succeeded", "join agent_error", "join succeeded"],
        "{:?}",
        play.runs
    );
    let first = &play.runs[2].1;
    let asked = format!("- two (branch `{}`): `git merge {}` in a", play.branch("two"), play.tip("two"));
    let prompt = play.prompt_of(first);
    assert!(prompt.contains(&asked), "{prompt}");
    assert!(first.detail.as_ref().unwrap().starts_with("the agent did not merge everything"), "{first:?}");
    assert_eq!(play.base("join"), play.tip("one"), "it starts with what goes together");
    assert!(play.prompt("join").contains(&asked), "the next attempt is told again");
    assert_eq!(play.rig.repo.git(&["show", &format!("{}:a", play.tip("join"))]), "both");
    let is_in = ["merge-base", "--is-ancestor", &play.tip("two"), &play.tip("join")];
    play.rig.repo.git(&is_in);
}

#[tokio::test]
async fn a_conflict_that_was_committed_as_it_is_has_to_be_resolved_by_the_next_attempt() {
    let commit = "git -c user.name=n -c user.email=e commit -qam";
    let script = format!(
        "if grep -q 'attempt [2]' \"$1\"; then echo both > a; {commit} resolved\n\
         else git merge -q \"$(grep -o 'git merge [0-9a-f]*' \"$1\" | tail -1 | cut -c11-)\"; {commit} merged; fi"
    );
    let join = Stage { on_conflict: OnConflict::Resolve, ..stage("join", &[0, 1], "", &script) };
    // One that is about conflicts had such lines before.
    let about = "printf '<<<<<<< a\\n=======\\n>>>>>>> %s\\n' {number} > about";
    let one = stage("one", &[], "", &format!("echo one > a; {}", about.replace("{number}", "1")));
    let two = stage("two", &[], "", &format!("echo two > a; {}", about.replace("{number}", "2")));
    let play = Play::of(vec![one, two, join]).await;
    assert_eq!(
        play.told(),
        ["one succeeded", "two succeeded", "join agent_error", "join succeeded"],
        "{:?}",
        play.runs
    );
    let asked = "resolve what is left between conflict markers in a";
    let why = play.runs[2].1.detail.as_deref().unwrap();
    assert_eq!(why, format!("the agent did not merge everything: {asked}"));
    let prompt = play.prompt("join");
    assert!(prompt.contains(&format!("- {asked}\n")), "{prompt}");
    assert_eq!(play.rig.repo.git(&["show", &format!("{}:a", play.tip("join"))]), "both");
}
