//! How a run can be named.

use super::super::support::error;
use super::{add, run_all, world};

#[test]
fn a_run_is_found_by_its_id_its_task_and_its_branch() {
    let world = world();
    let task = add(&world, "feature/login", "write a.txt x", &[]);
    run_all(&world);
    let run = world.fleet.json(&["show", "feature/login"])["id"].as_str().unwrap().to_owned();
    for name in [run.as_str(), &run[..14], &run.to_uppercase(), task.as_str(), &task[..14]] {
        assert_eq!(world.fleet.json(&["show", name])["id"], run.as_str(), "{name}");
        assert!(world.fleet.ok(&["logs", name]).contains("write a.txt"), "{name}");
        assert!(world.fleet.ok(&["diff", name]).contains("+x"), "{name}");
    }
    for name in [task.as_str(), "feature/login", run.as_str()] {
        let listed = world.fleet.ok(&["task", "show", name]);
        assert!(listed.contains(&run), "{listed}");
    }
    let (code, _, _) = error(&world.fleet.fail(3, &["task", "show", "t0zzzz", "--json"]));
    assert_eq!(code, "task-not-found");
    let outside = world.fleet.cwd(world.fleet.user_home()).fail(3, &["list"]);
    assert!(outside.stderr.contains("`fleet list -A`"), "{outside:?}");
}

#[test]
fn a_name_that_fits_nothing_or_several_is_refused() {
    let world = world();
    for command in ["show", "logs", "diff"] {
        for name in ["nobody", "r0zz", "t0zz", "", "-", "a b", "\u{1b}[2J", "refs/heads/x"] {
            let (code, message, hints) = error(&world.fleet.fail(3, &[command, "--json", "--", name]));
            assert_eq!(code, "run-not-found", "{command} {name:?}");
            assert!(message.contains("no task, run or branch"), "{message}");
            assert!(hints.contains("fleet list --all -A"), "{hints}");
        }
    }
    let said = world.fleet.fail(3, &["show", "--", "\u{1b}[2J"]).stderr;
    assert!(!said.contains('\u{1b}'), "{said:?}");
    let first = add(&world, "one", "write a.txt x", &[]);
    let (code, message, hints) = error(&world.fleet.fail(3, &["logs", &first, "--json"]));
    assert_eq!(code, "run-not-found");
    assert!(message.contains("has not been started yet") && hints.contains("fleet why"), "{message} {hints}");
    add(&world, "two", "write a.txt x", &[]);
    run_all(&world);
    for command in ["show", "logs", "diff"] {
        let (code, message, _) = error(&world.fleet.fail(2, &[command, "r0", "--json"]));
        assert_eq!(code, "id-ambiguous", "{message}");
        let all = world.fleet.json(&["list", "--all"]);
        for run in all["runs"].as_array().unwrap() {
            assert!(message.contains(run["id"].as_str().unwrap()), "{message}");
        }
    }
}
