//! What an earlier version left: workspaces that are linked worktrees, and snapshots in the user's repository.

use std::fs;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, git};
use crate::support::{
    area, commit_all, content, everything, names, oid, opened, project, request, text, write,
};
use fleet_host::git::{
    Area, CommitAndSnapshot, CommitLeftovers, Oid, Published, SlotState, TakeSnapshot, commit_and_snapshot,
    list_snapshots, open_vault,
};

/// A workspace of a run that is dead, as the earlier version left it.
fn linked(area: &Area, repo: &Path) -> PathBuf {
    let path = area.dir.join("w1");
    fs::create_dir_all(&area.dir).unwrap();
    let quiet = ["-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "-b", "work"];
    git(repo, &[&quiet[..], &[path.to_str().unwrap()]].concat());
    let git_dir = area.repo.join("worktrees/w1");
    let claim = format!(
        "{{\"owner\":\"r1\",\"branch\":\"work\",\"phase\":\"open\",\"git_dir\":{:?},\"private\":[\".env\"]}}",
        git_dir.to_str().unwrap()
    );
    fs::write(path.with_extension("json"), claim).unwrap();
    path
}

#[test]
fn a_live_worktree_ends_on_its_branch() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let path = linked(&area, &repo);
    write(&path, "own", "of the agent");
    let own = commit_all(&path, "of the agent");
    write(&path, "left", "over");
    write(&path, ".env", "hush");
    let files = everything(&path);
    assert!(area.look("r1").unwrap().is_some(), "it can be looked at while it works");

    let adopted = area.adopt("r1").unwrap().unwrap();
    assert_eq!((adopted.branch(), adopted.private()), ("work", [".env".to_owned()].as_slice()));
    assert_eq!((adopted.published(), everything(&path)), (Some(own.clone()), files));
    let collected = adopted.collect().unwrap();
    assert_eq!((&collected.head, collected.branch, collected.unread), (&own, Some(own.clone()), None));
    let head = ended(&adopted, &oid(&repo, "main"));
    assert_eq!(adopted.publish(&head, fleet_host::git::Compression::Quick).unwrap(), Published::Done);
    assert_eq!((oid(&repo, "work"), oid(&repo, "work~1")), (head.clone(), own));
    assert_eq!(content(&repo, &head, "left"), "over");
    assert!(!names(&repo, &head).contains(&".env".to_owned()));
    assert_eq!(list_snapshots(&area.vault, Some("r1")).unwrap().len(), 1);
    adopted.release().unwrap();
    assert_eq!(text(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
    assert!(!area.repo.join("worktrees/w1").exists());
    assert!(area.slots().unwrap().is_empty(), "such a folder is not used again");
    let next = opened(&area, "r2", "next");
    assert!(!next.recycled());
    text(&repo, &["fsck", "--strict"]);
}

fn ended(workspace: &fleet_host::git::Workspace, base: &Oid) -> Oid {
    let checkout = workspace.checkout().unwrap();
    let exclude = workspace.private();
    let commit = CommitLeftovers { checkout: &checkout, message: "leftovers", exclude };
    let snapshot = TakeSnapshot { exclude, ..request(&checkout) };
    let (leftovers, _) = commit_and_snapshot(&CommitAndSnapshot { commit, snapshot, base }).unwrap();
    leftovers.head.unwrap()
}

/// As often as it takes: whoever is killed in the middle of it is followed by another.
#[test]
fn it_can_be_taken_over_twice() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let path = linked(&area, &repo);
    write(&path, "left", "over");
    let note = path.with_extension("json");
    let old = fs::read(&note).unwrap();
    drop(area.adopt("r1").unwrap().unwrap());
    // Once with the note of before, as if that had not been written yet.
    fs::write(&note, old).unwrap();
    drop(area.adopt("r1").unwrap().unwrap());
    let adopted = area.adopt("r1").unwrap().unwrap();
    let head = ended(&adopted, &oid(&repo, "main"));
    assert_eq!(adopted.publish(&head, fleet_host::git::Compression::Quick).unwrap(), Published::Done);
    assert_eq!(content(&repo, &oid(&repo, "work"), "left"), "over");
}

/// What only its git directory has: what is staged, and the repositories of submodules.
#[test]
fn its_git_directory_stays_until_everything_is_saved() {
    for is_set_aside in [true, false] {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        let area = area(&sandbox, &repo);
        let path = linked(&area, &repo);
        let git_dir = area.repo.join("worktrees/w1");
        write(&git_dir, "modules/inner/HEAD", "ref: refs/heads/main\n");
        write(&git_dir, "rebase-merge/head-name", "refs/heads/work\n");
        write(&path, "staged", "x");
        git(&path, &["add", "staged"]);
        let index = fs::read(git_dir.join("index")).unwrap();
        let victim = sandbox.path("victim");
        fs::write(&victim, "the user's own").unwrap();
        std::os::unix::fs::symlink(&victim, git_dir.join("HEAD.lock")).unwrap();

        let adopted = area.adopt("r1").unwrap().unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "the user's own");
        assert_eq!(fs::read(git_dir.join("index")).unwrap(), index);
        assert!(git_dir.join("modules/inner/HEAD").exists());
        let head = ended(&adopted, &oid(&repo, "main"));
        let published = adopted.publish(&head, fleet_host::git::Compression::Quick).unwrap();
        assert_eq!(published, Published::Done, "the branch is free");
        let folder = sandbox.path("aside");
        if is_set_aside {
            adopted.set_aside(&folder).unwrap();
            let along = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path());
            let along: Vec<_> = along.filter(|place| place.join("modules/inner/HEAD").exists()).collect();
            assert_eq!(along.len(), 1);
            assert_eq!(fs::read(along[0].join("index")).unwrap(), index);
        } else {
            adopted.release().unwrap();
        }
        assert!(!git_dir.exists() && !path.exists());
    }
}

#[test]
fn free_worktrees_go() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let path = linked(&area, &repo);
    fs::remove_file(path.with_extension("json")).unwrap();
    assert_eq!(area.slots().unwrap()[0].state, SlotState::Free);
    let workspace = opened(&area, "r2", "next");
    assert!(!workspace.recycled());
    assert!(workspace.path().join(".git").is_dir());
    assert_eq!(everything(workspace.path()), everything(&repo));
    assert_eq!(text(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 1);
}

/// A snapshot as the earlier version wrote it.
fn old_snapshot(repo: &Path, name: &str, file: &str) -> Oid {
    let base = oid(repo, "main");
    let message = format!("snapshot: old\n\nrun: r0\nat: 7\nhead: {base}\nstaged: none\nnested: none\n");
    write(repo, file, "only in the snapshot");
    git(repo, &["add", "--all"]);
    let tree = text(repo, &["write-tree"]);
    let commit = text(repo, &["commit-tree", &tree, "-p", base.as_str(), "-m", &message]);
    git(repo, &["update-ref", name, &commit]);
    git(repo, &["reset", "--quiet", "--hard"]);
    Oid::parse(&commit).unwrap()
}

#[test]
fn snapshots_move_into_the_vault() {
    for is_packed in [false, true] {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        let area = area(&sandbox, &repo);
        let one = old_snapshot(&repo, "refs/fleet/snapshots/r0/1", "a");
        let two = old_snapshot(&repo, "refs/fleet/snapshots/r0/2", "b");
        // One that is on a branch as well.
        git(&repo, &["update-ref", "refs/heads/restored", two.as_str()]);
        if is_packed {
            git(&repo, &["pack-refs", "--all"]);
        }
        open_vault(&area.repo, &area.vault).unwrap();
        assert_eq!(text(&repo, &["for-each-ref", "refs/fleet/snapshots"]), "", "{is_packed}");
        let moved = list_snapshots(&area.vault, None).unwrap();
        let found: Vec<_> = moved.iter().map(|snapshot| (snapshot.number, &snapshot.commit)).collect();
        assert_eq!(found, [(1, &one), (2, &two)], "{is_packed}");
        git(&repo, &["branch", "--quiet", "--delete", "--force", "restored"]);
        git(&repo, &["reflog", "expire", "--expire=now", "--all"]);
        git(&repo, &["gc", "--quiet", "--prune=now"]);
        assert_eq!(content(&area.vault, &one, "a"), "only in the snapshot");
        assert_eq!(content(&area.vault, &two, "b"), "only in the snapshot");
        text(&area.vault, &["fsck", "--strict"]);
        open_vault(&area.repo, &area.vault).unwrap();
    }
}

/// One whose objects are gone, and one with something that is refused today, must not be in the way of work.
#[test]
fn a_snapshot_that_is_broken_blocks_nothing() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let area = area(&sandbox, &repo);
    let good = old_snapshot(&repo, "refs/fleet/snapshots/r0/1", "a");
    write(&repo, ".git/refs/fleet/snapshots/r0/2", format!("{}\n", "1".repeat(40)));
    let bad = old_snapshot(&repo, "refs/fleet/snapshots/r0/3", "b");
    let tree = text(&repo, &["rev-parse", &format!("{bad}^{{tree}}")]);
    fs::remove_file(repo.join(".git/objects").join(&tree[..2]).join(&tree[2..])).unwrap();
    write(&repo, ".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=evil\n");
    let odd = old_snapshot(&repo, "refs/fleet/snapshots/r0/4", "c");
    let workspace = opened(&area, "r1", "work");
    assert_eq!(everything(workspace.path()), everything(&repo));
    let moved = list_snapshots(&area.vault, None).unwrap();
    let found: Vec<_> = moved.iter().map(|snapshot| &snapshot.commit).collect();
    assert_eq!(found, [&good, &odd]);
    let aside = area.vault.join("bad-refs/refs-fleet-snapshots-r0-3");
    assert_eq!(fs::read_to_string(aside).unwrap().trim_end(), bad.as_str());
    assert_eq!(text(&repo, &["for-each-ref", "refs/fleet/snapshots"]), "");
    git(&repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repo, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(content(&area.vault, &odd, "c"), "only in the snapshot");
}
