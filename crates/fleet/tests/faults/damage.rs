//! Somebody lays hands on the workspace or the notes of a run while its agent is running.

use std::fs;
use std::path::PathBuf;
use std::thread;

use fleet_testkit::wait_until;

use super::processes::kill;
use super::stage::{BOUND, FILES, Stage, branch_of};

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

/// The agent's own repository.
fn agent_repo(stage: &Stage) -> PathBuf {
    stage.worktree().join(".git")
}

/// What we know about the one workspace, in the vault.
fn admin_dir(stage: &Stage) -> PathBuf {
    let mut known = stage.fleet.vault().admin_dirs();
    assert_eq!(known.len(), 1, "{known:?}");
    known.remove(0)
}

#[test]
fn the_repository_of_the_agent_is_deleted() {
    with_damage(|stage, _| fs::remove_dir_all(agent_repo(stage)).unwrap(), on_the_branch);
}

#[test]
fn a_file_is_in_the_place_of_the_agents_repository() {
    let replace = |stage: &Stage, _: &str| {
        fs::remove_dir_all(agent_repo(stage)).unwrap();
        fs::write(agent_repo(stage), "gitdir: /nowhere\n").unwrap();
    };
    with_damage(replace, on_the_branch);
}

#[test]
fn the_vault_forgets_the_workspace() {
    with_damage(|stage, _| fs::remove_dir_all(admin_dir(stage)).unwrap(), on_the_branch);
}

#[test]
fn a_lock_of_an_index_is_left() {
    let lock = |stage: &Stage, _: &str| {
        for dir in [agent_repo(stage), admin_dir(stage)] {
            fs::write(dir.join("index.lock"), "").unwrap();
        }
    };
    with_damage(lock, on_the_branch);
}

#[test]
fn the_index_of_the_agent_is_destroyed() {
    with_damage(|stage, _| fs::write(agent_repo(stage).join("index"), "rubbish").unwrap(), on_the_branch);
}

#[test]
fn our_own_index_is_destroyed() {
    with_damage(|stage, _| fs::write(admin_dir(stage).join("index"), "rubbish").unwrap(), on_the_branch);
}

/// A person who deletes a branch does not get it back by the run that made it, and loses nothing either.
#[test]
fn the_branch_is_dropped() {
    thread::scope(|scope| {
        for is_killed in [false, true] {
            scope.spawn(move || drop_branch(is_killed));
        }
    });
}

fn drop_branch(is_killed: bool) {
    let stage = Stage::new();
    let task = stage.add(&format!("write early x\ncommit Early\n{}", stage.steps()));
    let runner = stage.run(None);
    stage.wait_for("written");
    let (run, name) = (stage.live_run(), branch_of(&task));
    let (keeper, agent) = (stage.keeper_pid(&run), stage.agent_pid(&run));
    let exists = || !stage.repo.git(&["for-each-ref", &name]).is_empty();
    wait_until(BOUND, "the branch", exists);
    stage.repo.git(&["-c", "core.hooksPath=/dev/null", "update-ref", "-d", &name]);
    if is_killed {
        kill(keeper);
        kill(agent);
    }
    stage.give("go");
    stage.wait_status(&task, "done");
    stage.assert_tidy([runner]);
    stage.assert_once(&task);
    stage.assert_in_snapshots();
    // The next attempt makes a branch of its own, which has nothing of what the person did not want.
    assert_eq!(exists(), is_killed);
    stage.fleet.ok(&["undo", &run, "--branch", "back"]);
    for (path, text) in FILES {
        assert_eq!(stage.content("back", path).as_deref(), Some(text), "{path}");
    }
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
