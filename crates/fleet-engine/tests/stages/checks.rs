//! Commands that have to succeed over what an agent did.

use fleet_core::outcome::CheckExit;
use fleet_core::workflow::Stage;
use fleet_testkit::vault::{Vault, snapshots};

use crate::play::{Play, stage};

fn checked(script: &str, checks: &[&[&str]]) -> Stage {
    let argv = |argv: &&[&str]| argv.iter().map(|&arg| arg.to_owned()).collect();
    Stage { checks: checks.iter().map(argv).collect(), ..stage("write", &[], "", script) }
}

#[tokio::test]
async fn a_check_that_fails_is_told_to_the_next_attempt() {
    let script = "grep -q 'attempt [2]' \"$1\" && echo good > good; echo x >> x";
    let check = "echo $PWD; echo junk > junk; echo changed > README.md; test -f good || { echo 'no good' >&2; exit 4; }";
    let play = Play::of(vec![checked(script, &[&["sh", "-c", "echo first"], &["sh", "-c", check]])]).await;
    assert_eq!(play.told(), ["write checks_failed", "write succeeded"], "{:?}", play.runs);
    let why = play.runs[0].1.detail.clone().unwrap();
    assert!(why.contains("ended with exit status 4") && why.ends_with("no good"), "{why}");
    let prompt = play.prompt("write");
    assert!(
        prompt.contains("How the one before it ended: the check `sh -c echo $PWD")
            && prompt.contains("no good"),
        "{prompt}"
    );
    let result = play.result("write");
    assert_eq!(result.checks.len(), 2);
    assert_eq!(
        (&result.checks[0].exit, result.checks[0].output_tail.as_str()),
        (&CheckExit::Code(0), "first")
    );
    assert!(!result.checks[1].output_tail.contains("first"), "each has its own words");
    assert_eq!(
        play.files(&play.tip("write")),
        ["README.md", "good", "x"],
        "what checks leave is not the agent's work"
    );
    assert_eq!(play.rig.repo.git(&["show", &format!("{}:README.md", play.tip("write"))]), "# test");
    let (vault, snapshots) = (Vault::of(play.home()).unwrap(), snapshots(play.home()));
    let files = |name: &String| vault.git(&["ls-tree", "--name-only", name]);
    let kept = snapshots.iter().any(|name| files(name).lines().any(|file| file == "junk"));
    assert!(kept, "but it is kept: {snapshots:?}");
    let live = std::fs::read_dir(play.home().join("live")).unwrap().count();
    assert_eq!(live, 0, "the workspaces were given back");
}

#[tokio::test]
async fn a_check_that_takes_too_long_or_does_not_exist_fails() {
    let slow = Stage { retries: Some(0), ..checked("echo x > x", &[&["sleep", "600"], &["true"]]) };
    let play = Box::pin(Play::with(vec![slow], "1s")).await;
    assert_eq!(play.told(), ["write checks_failed"]);
    let result = play.result("write");
    assert_eq!(result.checks.len(), 1, "the first that fails is the last");
    assert!(matches!(result.checks[0].exit, CheckExit::TimedOut(_)), "{result:?}");
    let missing =
        Stage { retries: Some(0), ..checked("echo x > x", &[&["./no such program", "$(touch never)"]]) };
    let play = Play::of(vec![missing]).await;
    assert_eq!(play.result("write").checks[0].exit, CheckExit::Code(127));
    assert!(play.run("write").detail.as_ref().unwrap().contains("no such program"));
}

#[tokio::test]
async fn work_that_failed_is_not_checked() {
    let broken = Stage { retries: Some(0), ..checked("echo x > x; exit 1", &[&["touch", "/nowhere/x"]]) };
    let play = Play::of(vec![broken]).await;
    assert_eq!(play.told(), ["write agent_error"]);
    assert!(play.result("write").checks.is_empty());
    assert!(!play.folder(play.run("write")).checking().exists());
}
