//! Workspaces with more in them than can be saved.

use std::fs::{self, File};
use std::thread;

use super::processes::kill;
use super::stage::{Stage, names};

/// Nothing is tried for ever: the work is on the branch, and what is too large is kept with its folder.
#[test]
fn what_is_too_large_is_kept_and_told() {
    thread::scope(|scope| {
        for is_keeper_killed in [false, true] {
            scope.spawn(move || {
                let stage = Stage::new();
                let task = stage.add(&stage.steps());
                let runner = stage.run(None);
                stage.wait_for("written");
                let (run, place) = (stage.live_run(), stage.worktree());
                stage.agent_pid(&run);
                let size = 300 << 30;
                File::create(place.join("image.raw")).unwrap().set_len(size).unwrap();
                if is_keeper_killed {
                    kill(stage.keeper_pid(&run));
                }
                stage.give("go");
                stage.assert_well(&task, runner);
                let kept = stage.home().join("worktrees/.kept");
                let folders = names(&kept);
                assert_eq!(folders.len(), 1, "{folders:?}");
                let image = kept.join(&folders[0]).join("image.raw");
                assert_eq!(fs::metadata(image).unwrap().len(), size);
                let result = fs::read_to_string(stage.run_folder(&run).join("result.json")).unwrap();
                assert!(result.contains("worktrees/.kept") && result.contains("image.raw"), "{result}");
            });
        }
    });
}
