//! Somebody lays hands on the workspace or the notes of a run while its agent is at work.

use std::fs;
use std::path::PathBuf;
use std::thread;

use super::processes::kill;
use super::stage::{FILES, Stage, branch_of};

/// Does the damage and lets the run end: by itself, and in the place of a keeper that was killed.
fn with_damage(damage: fn(&Stage, &str), check: fn(&Stage, &str)) {
    thread::scope(|scope| {
        for is_killed in [false, true] {
            scope.spawn(move || {
                let stage = Stage::new();
                let task = stage.add(&stage.steps());
                let runner = stage.run(None);
                stage.wait_for("written");
                let run = stage.live_run();
                let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
                damage(&stage, &task);
                if is_killed {
                    kill(keeper);
                    kill(agent);
                }
                stage.give("go");
                stage.wait_status(&task, "done");
                stage.assert_tidy([runner]);
                stage.assert_once(&task);
                check(&stage, &task);
            });
        }
    });
}

/// Everything that was written is on the branch, which grew out of the commit that it started from.
fn on_the_branch(stage: &Stage, task: &str) {
    let branch = branch_of(task);
    for (path, text) in FILES {
        assert_eq!(stage.content(&branch, path).as_deref(), Some(text), "{path}");
    }
    assert_eq!(stage.repo.git(&["merge-base", &branch, "main"]), stage.head, "the history goes on");
}

/// The git directory of the one worktree.
fn git_dir(stage: &Stage) -> PathBuf {
    let text = fs::read_to_string(stage.worktree().join(".git")).unwrap();
    PathBuf::from(text.trim().strip_prefix("gitdir: ").unwrap())
}

#[test]
fn the_git_file_of_the_worktree_is_deleted() {
    with_damage(|stage, _| fs::remove_file(stage.worktree().join(".git")).unwrap(), on_the_branch);
}

#[test]
fn the_repository_forgets_the_worktree() {
    with_damage(|stage, _| fs::remove_dir_all(git_dir(stage)).unwrap(), on_the_branch);
}

#[test]
fn a_lock_of_the_index_is_left() {
    with_damage(|stage, _| fs::write(git_dir(stage).join("index.lock"), "").unwrap(), on_the_branch);
}

#[test]
fn the_index_is_destroyed() {
    with_damage(|stage, _| fs::write(git_dir(stage).join("index"), "rubbish").unwrap(), on_the_branch);
}

#[test]
fn the_branch_is_dropped() {
    let drop = |stage: &Stage, task: &str| {
        let name = branch_of(task);
        stage.repo.git(&["-c", "core.hooksPath=/dev/null", "update-ref", "-d", &name]);
    };
    with_damage(drop, on_the_branch);
}

#[test]
fn the_folder_of_the_run_is_deleted() {
    let delete = |stage: &Stage, _: &str| {
        // Its keeper may be writing in it.
        let aside = stage.sign("aside");
        fs::rename(stage.run_folder(&stage.live_run()), &aside).unwrap();
        fs::remove_dir_all(aside).unwrap();
    };
    with_damage(delete, on_the_branch);
}

/// What is gone with the folder nobody can bring back; the next attempt starts with a new one.
#[test]
fn the_worktree_is_removed_by_hand() {
    let remove = |stage: &Stage, _: &str| {
        // The next attempt writes again.
        for sign in ["wrote-0", "wrote-1"] {
            fs::remove_file(stage.sign(sign)).unwrap();
        }
        fs::remove_dir_all(stage.worktree()).unwrap();
    };
    with_damage(remove, on_the_branch);
}
