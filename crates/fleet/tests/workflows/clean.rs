//! Removing workflows that are over: no work is lost.

use super::bench::{Bench, branch, named, stage};

fn two(bench: &Bench) -> serde_json::Value {
    bench.succeed(
        &(stage("a", "", "write a.txt x") + &stage("look", "needs = ['a']\nread_only = true", "say fine")),
    )
}

#[test]
fn what_has_not_landed_stays_and_what_has_goes() {
    let bench = Bench::new();
    let workflow = two(&bench);
    let (id, work) = (workflow["id"].as_str().unwrap(), branch(&workflow, "a"));
    let dry = bench.fleet.json(&["workflow", "clean", id]);
    assert_eq!((&dry["dry_run"], dry["deleted"].as_array().unwrap().len()), (&true.into(), 0), "{dry}");
    let kept = bench.fleet.json(&["workflow", "clean", id, "--yes"]);
    assert_eq!(
        (&kept["dry_run"], &kept["kept"][0]["branch"]),
        (&false.into(), &work.as_str().into()),
        "{kept}"
    );
    assert_eq!(bench.read(&work, "a.txt"), "x");
    assert_eq!(bench.show(id)["state"], "succeeded", "it is needed to find the branch again");
    bench.repo.git(&["merge", "--quiet", &work]);
    let gone = bench.fleet.json(&["workflow", "clean", "--all-finished", "--yes"]);
    assert_eq!(gone["deleted"], serde_json::json!([id]), "{gone}");
    assert_eq!(bench.repo.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]), "main");
    assert_eq!(bench.fleet.fail(3, &["workflow", "show", id]).stdout, "");
    let task = named(&workflow, "a")["task"].as_str().unwrap();
    assert_eq!(bench.fleet.run(&["task", "show", task]).code, 3);
}

#[test]
fn discarded_branches_can_be_brought_back() {
    let bench = Bench::new();
    let workflow = two(&bench);
    let (id, work) = (workflow["id"].as_str().unwrap(), branch(&workflow, "a"));
    let gone = bench.fleet.json(&["workflow", "clean", id, "--discard", "--yes"]);
    assert_eq!(gone["deleted"], serde_json::json!([id]), "{gone}");
    let run = named(&workflow, "a")["run"].as_str().unwrap();
    bench.fleet.ok(&["undo", run]);
    let branches = bench.repo.git(&["for-each-ref", "--format=%(refname:short)", "refs/heads"]);
    let back = branches.lines().find(|name| *name != "main").unwrap_or_else(|| panic!("{work}: {branches}"));
    assert_eq!(bench.read(back, "a.txt"), "x");
}

#[test]
fn one_at_work_and_its_tasks_are_not_removed() {
    let bench = Bench::quiet();
    let id = bench.start(&stage("a", "", "hang"));
    let refused = bench.fleet.fail(4, &["workflow", "clean", &id, "--yes"]);
    assert!(refused.stderr.contains(&format!("fleet workflow cancel {id}")), "{refused:?}");
    let task = named(&bench.show(&id), "a")["task"].as_str().unwrap().to_owned();
    let refused = bench.fleet.fail(4, &["task", "delete", &task, "--yes"]);
    assert!(refused.stderr.contains(&id), "{refused:?}");
    assert_eq!(
        bench.fleet.ok(&["workflow", "clean", "--all-finished", "--yes"]),
        "no workflow has finished\n"
    );
}

#[test]
fn nothing_is_removed_of_a_workflow_that_others_wait_for() {
    let bench = Bench::new();
    let text = stage("a", "", "write a.txt x") + &stage("b", "", "write b.txt x\ncommit b\nexit 3");
    assert_eq!(bench.follow(&text).code, 8);
    let workflow = bench.newest();
    let (id, failed) = (workflow["id"].as_str().unwrap(), named(&workflow, "b")["task"].as_str().unwrap());
    bench.fleet.ok(&["task", "add", "later", "--hold", "--agent", "demo", "--after", failed]);
    let branches = || bench.repo.git(&["for-each-ref", "--format=%(refname)", "refs/heads"]);
    let before = branches();
    let refused = bench.fleet.fail(4, &["workflow", "clean", id, "--discard", "--yes"]);
    assert!(refused.stderr.contains("waits for it"), "{refused:?}");
    assert_eq!(branches(), before);
    let all = bench.fleet.json(&["workflow", "clean", "--all-finished", "--discard", "--yes"]);
    assert_eq!((all["deleted"].as_array().unwrap().len(), branches()), (0, before), "{all}");
}
