//! The branch of a run in the user's repository, while its agent commits and after a crash.

use std::fs;

use crate::sandbox::git;
use crate::support::{Run, commit_all, oid, text, write};
use fleet_host::git::{NotPublished, Published};

#[test]
fn a_branch_appears_when_something_was_committed_and_moves_with_it() {
    let run = Run::new();
    let marks = run.workspace.marks();
    assert_eq!(run.workspace.publish_commits().unwrap(), None);
    assert_eq!(text(&run.repo, &["branch", "--list", "work"]), "");
    write(run.path(), "one", "1");
    assert_eq!(run.workspace.marks(), marks);
    let one = run.commit("one");
    assert_ne!(run.workspace.marks(), marks);
    assert_eq!(run.workspace.publish_commits().unwrap(), Some(Published::Done));
    assert_eq!((oid(&run.repo, "work"), run.workspace.published()), (one.clone(), Some(one)));
    git(run.path(), &["commit", "--quiet", "--amend", "--message=another"]);
    let two = oid(run.path(), "HEAD");
    assert_eq!(run.workspace.publish_commits().unwrap(), Some(Published::Done));
    assert_eq!(oid(&run.repo, "work"), two, "what it replaced was only ever ours");
}

#[test]
fn what_a_person_did_to_the_branch_is_left_alone() {
    let run = Run::new();
    let (work, repo) = (run.path(), &run.repo);
    let quiet = ["-c", "core.hooksPath=/dev/null"];
    write(work, "one", "1");
    run.commit("one");
    run.workspace.publish_commits().unwrap();
    let publish = || run.workspace.publish_commits().unwrap().unwrap();
    let commit = |name: &str| {
        write(work, name, "x");
        run.commit(name)
    };
    // Checked out.
    git(repo, &[&quiet[..], &["checkout", "--quiet", "work"]].concat());
    commit("two");
    let expected = NotPublished::CheckedOut { place: repo.clone() };
    assert_eq!(publish(), Published::Kept(expected));
    git(repo, &[&quiet[..], &["checkout", "--quiet", "main"]].concat());
    assert_eq!(publish(), Published::Done);
    // Moved on by a person: theirs stays, whatever the agent does.
    let linked = run.sandbox.path("of a person");
    git(repo, &[&quiet[..], &["worktree", "add", "--quiet", linked.to_str().unwrap(), "work"]].concat());
    write(&linked, "theirs", "x");
    let theirs = commit_all(&linked, "theirs");
    git(repo, &["worktree", "remove", "--force", linked.to_str().unwrap()]);
    commit("three");
    assert_eq!(publish(), Published::Kept(NotPublished::Moved { at: theirs.clone() }));
    assert_eq!(oid(repo, "work"), theirs);
    // Unless the agent has it, too.
    git(work, &["fetch", "--quiet", repo.to_str().unwrap(), "work"]);
    git(work, &["merge", "--quiet", "--no-edit", "FETCH_HEAD"]);
    assert_eq!(publish(), Published::Done);
    // Deleted.
    git(repo, &[&quiet[..], &["branch", "--quiet", "--delete", "--force", "work"]].concat());
    commit("four");
    assert_eq!(publish(), Published::Kept(NotPublished::Deleted));
    assert_eq!(text(repo, &["branch", "--list", "work"]), "");
    text(repo, &["fsck", "--strict"]);
}

/// Killed between the note of what is about to be done and the next one, whether it was done or not.
#[test]
fn whoever_takes_over_knows_what_was_ours() {
    for was_done in [true, false] {
        let run = Run::new();
        write(run.path(), "one", "1");
        let one = run.commit("one");
        run.workspace.publish_commits().unwrap();
        write(run.path(), "two", "2");
        let two = run.commit("two");
        run.workspace.publish_commits().unwrap();
        let (area, repo) = (run.area().clone(), run.repo.clone());
        let note = run.path().with_extension("json");
        let claim = fs::read_to_string(&note).unwrap();
        let (done, intended) =
            (format!("\"published\":\"{two}\""), format!("\"published\":\"{one}\",\"intended\":\"{two}\""));
        assert!(claim.contains(&done) && !claim.contains("intended"), "{claim}");
        drop(run.workspace);
        fs::write(&note, claim.replace(&done, &intended)).unwrap();
        if !was_done {
            git(&repo, &["update-ref", "refs/heads/work", one.as_str()]);
        }
        let adopted = area.adopt("r1").unwrap().unwrap();
        assert_eq!(adopted.published(), Some(if was_done { two.clone() } else { one }));
        write(adopted.path(), "three", "3");
        commit_all(adopted.path(), "three");
        assert_eq!(adopted.publish_commits().unwrap(), Some(Published::Done), "{was_done}");
        assert_eq!(oid(&repo, "work"), oid(adopted.path(), "HEAD"));
    }
}

#[test]
fn a_branch_that_a_person_deleted_stays_deleted_after_a_crash() {
    let mut run = Run::new();
    write(run.path(), "one", "1");
    run.commit("one");
    run.workspace.publish_commits().unwrap();
    // Any later note must know of it, too.
    run.workspace.note_private(&[".env".to_owned()]).unwrap();
    let (area, repo) = (run.area().clone(), run.repo.clone());
    drop(run.workspace);
    git(&repo, &["-c", "core.hooksPath=/dev/null", "branch", "--quiet", "--delete", "--force", "work"]);
    let adopted = area.adopt("r1").unwrap().unwrap();
    write(adopted.path(), "two", "2");
    commit_all(adopted.path(), "two");
    assert_eq!(adopted.publish_commits().unwrap(), Some(Published::Kept(NotPublished::Deleted)));
    assert_eq!(text(&repo, &["branch", "--list", "work"]), "");
}
