//! `fleet diff`

use fleet_testkit::wait_until;

use super::super::pipes::on_terminal;
use super::super::support::{can_make_terminals, error};
use super::{BOUND, Live, add, is_harmless, run_all, world};

#[test]
fn what_a_run_changed_can_be_applied() {
    let world = world();
    let script = "write src/a.txt hello\ncommit Add it\nwrite b.txt uncommitted\nappend README.md more";
    add(&world, "feature", script, &[]);
    run_all(&world);
    let patch = world.fleet.ok(&["diff", "feature"]);
    let file = world.fleet.user_home().join("feature.patch");
    std::fs::write(&file, &patch).unwrap();
    world.repo.git(&["apply", file.to_str().unwrap()]);
    world.repo.git(&["add", "--all"]);
    assert_eq!(world.repo.git(&["diff", "--cached", "feature"]), "", "the patch is the whole work");
    let stat = world.fleet.ok(&["diff", "feature", "--stat"]);
    assert!(stat.contains("src/a.txt") && stat.contains("3 files changed"), "{stat}");
    let summary = world.fleet.json(&["diff", "feature"]);
    assert_eq!(
        (&summary["of"], &summary["file_count"], &summary["commit_count"]),
        (&"branch".into(), &3.into(), &2.into())
    );
    let names: Vec<&str> =
        summary["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert_eq!(names, ["README.md", "b.txt", "src/a.txt"]);
    assert_eq!(
        (&summary["files"][0]["status"], &summary["files"][1]["status"]),
        (&"modified".into(), &"added".into())
    );
    assert_eq!(summary["commits"][1]["subject"], "Add it");
}

#[test]
fn while_the_agent_is_at_work_its_files_count_as_they_are() {
    let world = world();
    let live = Live::start(&world, "feature", "write a.txt committed\ncommit Add a\nwrite b.txt loose");
    let refs =
        || [world.repo.git(&["for-each-ref", "refs/fleet"]), world.fleet.vault().git(&["for-each-ref"])];
    let before = refs();
    let patch = world.fleet.ok(&["diff", "feature"]);
    assert!(patch.contains("+committed") && patch.contains("+loose"), "{patch}");
    let mut summary = world.fleet.json(&["diff", "feature"]);
    assert_eq!((&summary["of"], &summary["file_count"]), (&"workspace".into(), &2.into()));
    wait_until(BOUND, "the commit is known", || {
        summary = world.fleet.json(&["diff", "feature"]);
        summary["commit_count"] == 1
    });
    assert_eq!((&summary["of"], &summary["file_count"]), (&"workspace".into(), &2.into()));
    assert_eq!(refs(), before, "looking leaves nothing behind");
    live.end();
    assert_eq!(world.fleet.json(&["diff", "feature"])["of"], "branch");
}

#[test]
fn what_was_copied_into_the_workspace_is_not_shown() {
    let world = world();
    world.repo.write(".env", "SECRET=1\n");
    world.fleet.ok(&["config", "set", "workspaces.copy", ".env"]);
    let live = Live::start(&world, "feature", "append .env x\nwrite b.txt loose");
    let patch = world.fleet.ok(&["diff", "feature"]);
    assert!(patch.contains("+loose") && !patch.contains("SECRET"), "{patch}");
    live.end();
    let patch = world.fleet.ok(&["diff", "feature"]);
    assert!(patch.contains("+loose") && !patch.contains("SECRET"), "{patch}");
}

#[test]
fn no_changes_are_said_beside_the_answer() {
    let world = world();
    add(&world, "feature", "say Nothing to do", &["--read-only"]);
    run_all(&world);
    let output = world.fleet.run(&["diff", "feature"]);
    assert_eq!((output.code, output.stdout.as_str(), output.stderr.as_str()), (0, "", "no changes\n"));
    assert_eq!(world.fleet.json(&["diff", "feature"])["file_count"], 0);
}

#[test]
fn a_branch_that_is_gone_is_shown_from_its_snapshot() {
    let world = world();
    add(&world, "feature", "write a.txt first\ncommit One\nwrite b.txt second", &[]);
    run_all(&world);
    let patch = world.fleet.ok(&["diff", "feature"]);
    world.repo.git(&["branch", "-D", "feature"]);
    let output = world.fleet.run(&["diff", "feature"]);
    assert_eq!((output.code, &output.stdout), (0, &patch));
    assert!(output.stderr.contains("refs/fleet/snapshots/"), "{}", output.stderr);
    let summary = world.fleet.json(&["diff", "feature", "--snapshot=1"]);
    assert_eq!((&summary["of"], &summary["commit_count"]), (&"snapshot".into(), &2.into()));
    assert_eq!(world.fleet.ok(&["diff", "feature", "--snapshot"]), patch);
    let (code, message, _) = error(&world.fleet.fail(3, &["diff", "feature", "--snapshot=9", "--json"]));
    assert_eq!(code, "snapshot-not-found");
    assert!(message.contains("no snapshot 9, only 1"), "{message}");
    let name = summary["snapshot"].as_str().unwrap();
    world.fleet.vault().git(&["update-ref", "-d", name]);
    let (code, message, _) = error(&world.fleet.fail(3, &["diff", "feature", "--json"]));
    assert_eq!(code, "not-here");
    assert!(message.contains("is gone, and so are its snapshots"), "{message}");
}

#[test]
fn a_run_that_never_had_a_workspace_has_nothing_to_compare() {
    let world = world();
    let task = add(&world, "feature", "say hello", &["--retries", "0"]);
    world.repo.git(&["branch", "feature"]);
    run_all(&world);
    let (code, message, _) = error(&world.fleet.fail(3, &["diff", &task, "--json"]));
    assert_eq!(code, "not-here");
    assert!(message.contains("never had a workspace"), "{message}");
    let text = world.fleet.ok(&["show", &task]);
    assert!(text.contains("branch_taken") && text.contains("--branch NAME"), "{text}");
}

#[test]
fn names_of_files_are_harmless_in_a_pipe_too() {
    let world = world();
    add(&world, "feature", "write a\u{202e}txt.exe x", &[]);
    run_all(&world);
    let stat = world.fleet.ok(&["diff", "feature", "--stat"]);
    assert!(stat.contains("a\\u{202e}txt.exe") && stat.contains("1 file changed"), "{stat:?}");
    assert_eq!(world.fleet.json(&["diff", "feature"])["files"][0]["path"], "a\u{202e}txt.exe");
}

#[test]
fn on_a_terminal_files_have_no_say_over_it() {
    if !can_make_terminals() {
        return;
    }
    let world = world();
    add(&world, "feature", "write a.txt \u{1b}[8mhidden\u{1b}]0;title\u{7}", &[]);
    run_all(&world);
    let shown = on_terminal(&world.fleet, "diff feature");
    assert!(shown.contains("\u{1b}[32m+\\u{1b}[8mhidden\\u{1b}]0;title\\u{7}"), "{shown:?}");
    is_harmless(&on_terminal(&world.fleet, "diff feature --color never"));
    let file = world.fleet.user_home().join("patch");
    on_terminal(&world.fleet, &format!("diff feature > {}", file.display()));
    assert_eq!(
        std::fs::read_to_string(&file).unwrap(),
        world.fleet.ok(&["diff", "feature"]),
        "a file gets the bytes"
    );
}

#[test]
fn a_piped_patch_can_be_applied_even_if_it_is_no_text() {
    let world = world();
    add(&world, "feature", "write .gitattributes *.dat binary\nwrite z.dat bytes\nwrite a.txt text", &[]);
    run_all(&world);
    let patch = world.fleet.ok(&["diff", "feature"]);
    world.repo.write("p.patch", &patch);
    world.repo.git(&["apply", "p.patch"]);
    assert_eq!(std::fs::read_to_string(world.repo.path().join("z.dat")).unwrap(), "bytes\n");
}
