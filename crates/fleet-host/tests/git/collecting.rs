//! What an agent did in its repository, in ours and in the user's.

use std::fs;

use crate::sandbox::{Sandbox, git, prepared, try_git};
use crate::support::{
    Run, area_of, commit_all, content, continued, names, oid, opened, project, text, write,
};
use fleet_host::git::{KeepCommits, Oid, Published, keep_commit, keep_commits, list_snapshots};

fn has(folder: &std::path::Path, object: &Oid) -> bool {
    try_git(folder, &["cat-file", "-e", object.as_str()]).status.success()
}

#[test]
fn commits_branches_and_what_only_a_log_knows() {
    let run = Run::new();
    let work = run.path();
    write(work, "lost", "x");
    let lost = run.commit("thrown away");
    git(work, &["reset", "--quiet", "--hard", "main"]);
    write(work, "kept", "x");
    let kept = run.commit("kept");
    git(work, &["tag", "--annotate", "--message=x", "mine"]);
    git(work, &["update-ref", "refs/remotes/origin/fetched", "HEAD"]);
    for number in 0..3 {
        write(work, "kept", number.to_string());
        git(work, &["stash", "--quiet"]);
    }
    let collected = run.collected();
    assert_eq!((&collected.head, collected.branch.as_ref(), &collected.unread), (&kept, Some(&kept), &None));
    let whats: Vec<&str> = collected.others.iter().map(|other| other.what.as_str()).collect();
    assert_eq!(whats, ["stash", "stash", "stash", "refs/tags/mine"]);
    // Newest first, and the index of each with it.
    let stashed = |number: usize| content(run.vault(), &collected.others[number].commit, "kept");
    assert_eq!([stashed(0), stashed(1), stashed(2)], ["2", "1", "0"]);
    assert!(has(run.vault(), &lost), "it was on its way for a while");
    assert_eq!(run.workspace.head().unwrap(), kept);
    assert_eq!(run.collected(), collected, "twice is as good as once");
    text(run.vault(), &["fsck", "--strict"]);
}

#[test]
fn commits_of_a_detached_head_that_was_left() {
    let run = Run::new();
    let work = run.path();
    assert_eq!(run.collected().others, []);
    git(work, &["checkout", "--quiet", "--detach"]);
    write(work, "tried", "x");
    let tried = run.commit("tried");
    write(work, "tried", "y");
    let better = run.commit("better");
    git(work, &["checkout", "--quiet", "-"]);
    write(work, "kept", "x");
    run.commit("kept");
    // On a branch of its own, and merged: neither is left behind.
    git(work, &["checkout", "--quiet", "-b", "other"]);
    write(work, "other", "x");
    run.commit("other");
    git(work, &["checkout", "--quiet", "--detach", "work"]);
    write(work, "joined", "x");
    let joined = run.commit("joined");
    git(work, &["checkout", "--quiet", "work"]);
    git(work, &["merge", "--quiet", joined.as_str()]);
    let collected = run.collected();
    let others: Vec<(&str, &Oid)> =
        collected.others.iter().map(|other| (other.what.as_str(), &other.commit)).collect();
    let other = oid(work, "other");
    assert_eq!(others, [("branch other", &other), ("commit that no branch has", &better)]);
    assert_eq!(collected.unread, None);
    assert!(has(run.vault(), &tried));
    assert_eq!(run.collected(), collected, "twice is as good as once");
    // The agent throws away what it left.
    git(work, &["-c", "gc.reflogExpire=now", "reflog", "expire", "--expire=now", "--all"]);
    assert_eq!(run.collected().others.len(), 1);
}

#[test]
fn what_is_staged_alone() {
    let run = Run::new();
    let work = run.path();
    assert_eq!(run.collected().staged, None);
    write(work, "staged", "one");
    git(work, &["add", "staged"]);
    fs::remove_file(work.join("staged")).unwrap();
    let tree = run.collected().staged.unwrap();
    assert_eq!(content(run.vault(), &tree, "staged"), "one");
    // In the middle of a merge there is no such tree.
    git(work, &["reset", "--quiet", "--hard"]);
    write(work, "README.md", "ours");
    run.commit("ours");
    git(work, &["checkout", "--quiet", "-b", "other", "main"]);
    write(work, "README.md", "theirs");
    run.commit("theirs");
    assert!(!try_git(work, &["merge", "work"]).status.success());
    let collected = run.collected();
    assert_eq!((collected.staged, collected.unread), (None, None));
}

#[test]
fn more_branches_than_are_taken_are_not_forgotten_silently() {
    let run = Run::new();
    write(run.path(), "one", "1");
    let one = run.commit("one");
    let input = run.sandbox.path("refs");
    let refs: Vec<_> = (0..1_001).map(|number| format!("create refs/heads/same/{number} {one}\n")).collect();
    fs::write(&input, refs.concat()).unwrap();
    let mut update = prepared(run.path(), &["update-ref", "--stdin"]);
    assert!(update.stdin(fs::File::open(&input).unwrap()).status().unwrap().success());
    let collected = run.collected();
    assert_eq!((collected.others.len(), collected.unread), (0, None), "all are where HEAD is");
    let commit = |number| {
        format!(
            "commit refs/heads/many/{number}\ncommitter a <a@b> {number} +0000\ndata 1\nx\nfrom {one}\n\n"
        )
    };
    fs::write(&input, (0..1_001).map(commit).collect::<String>()).unwrap();
    let mut import = prepared(run.path(), &["fast-import", "--quiet"]);
    assert!(import.stdin(fs::File::open(&input).unwrap()).status().unwrap().success());
    let collected = run.collected();
    assert_eq!(collected.others.len(), 1_000);
    assert!(collected.unread.unwrap().contains("more than 1000"));
}

fn packs(vault: &std::path::Path) -> usize {
    let packs = fs::read_dir(vault.join("objects/pack")).unwrap();
    packs.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|end| end == "idx")).count()
}

/// Each of them would cost several processes.
#[test]
fn many_branches_are_kept_at_once() {
    let run = Run::new();
    let one = oid(run.path(), "HEAD");
    let input = run.sandbox.path("refs");
    let commit = |number| {
        format!(
            "commit refs/heads/many/{number}\ncommitter a <a@b> {number} +0000\ndata 1\nx\nfrom {one}\nM 644 inline f\ndata 1\n{}\n\n",
            number % 10
        )
    };
    fs::write(&input, (0..300).map(commit).collect::<String>()).unwrap();
    let mut import = prepared(run.path(), &["fast-import", "--quiet"]);
    assert!(import.stdin(fs::File::open(&input).unwrap()).status().unwrap().success());
    git(run.path(), &["tag", "--annotate", "--message=x", "mine", "many/7"]);
    git(run.path(), &["branch", "--quiet", "--delete", "--force", "many/7"]);
    git(run.path(), &["tag", "odd", "many/8:f"]);
    let collected = run.collected();
    assert_eq!(collected.unread.as_deref(), Some("refs/tags/odd is not a commit"));
    let commits: Vec<_> =
        collected.others.iter().map(|other| (other.commit.clone(), other.what.clone())).collect();
    assert_eq!(commits.len(), 300);
    let (vault, repo) = (run.vault(), run.area().repo.as_path());
    let before = packs(vault);
    let keep = KeepCommits { repo, vault, run: "r1", commits: &commits, at_seconds: 7 };
    let names = keep_commits(&keep).unwrap();
    assert!(packs(vault) <= before + 2, "one with what they reach, one with the snapshots");
    let stored = list_snapshots(vault, Some("r1")).unwrap();
    assert_eq!(stored.iter().map(|one| one.ref_name.clone()).collect::<Vec<_>>(), names);
    for (one, (commit, why)) in stored.iter().zip(&commits) {
        assert_eq!((one.head.as_ref(), &one.why, one.has_more), (Some(commit), why, false));
    }
    let last = stored.last().unwrap();
    assert_eq!(last.tree, oid(vault, &format!("{}^{{tree}}", commits[299].0)));
    assert_eq!(oid(vault, &format!("{}^1", last.commit)), commits[299].0);
    assert_eq!(text(vault, &["for-each-ref", "refs/fleet/unnamed"]), "");
    // A lock that a killed process left is in nobody's way.
    fs::write(vault.join("refs/fleet/snapshots/r1/301.lock"), "").unwrap();
    assert_eq!(
        keep_commit(&KeepCommits { commits: &commits[..1], ..keep }).unwrap(),
        "refs/fleet/snapshots/r1/302"
    );
    text(vault, &["fsck", "--strict"]);
}

/// What was thrown away is kept once, not with every look.
#[test]
fn what_only_a_log_knows_is_taken_once() {
    use std::os::unix::fs::MetadataExt as _;
    let run = Run::new();
    write(run.path(), "lost", "x");
    let lost = run.commit("thrown away");
    git(run.path(), &["reset", "--quiet", "--hard", "main"]);
    let packs = || {
        let packs = fs::read_dir(run.vault().join("objects/pack")).unwrap();
        let mut packs: Vec<_> = packs.map(|entry| entry.unwrap().metadata().unwrap().ino()).collect();
        packs.sort_unstable();
        packs
    };
    run.collected();
    let before = packs();
    run.collected();
    assert_eq!(packs(), before);
    assert!(has(run.vault(), &lost));
}

#[test]
fn a_shallow_fetch_is_named_as_the_reason() {
    let run = Run::new();
    let other = run.sandbox.repository("other");
    for name in ["a", "b"] {
        write(&other, name, "x");
        commit_all(&other, name);
    }
    let source = format!("file://{}", other.display());
    git(run.path(), &["fetch", "--quiet", "--depth=1", &source, "main"]);
    git(run.path(), &["reset", "--quiet", "--hard", "FETCH_HEAD"]);
    let why = run.collected().unread.unwrap();
    assert!(why.contains("shallow") && why.contains("--unshallow"), "{why}");
}

#[test]
fn a_retry_goes_on_with_the_branch() {
    let run = Run::new();
    write(run.path(), "one", "1");
    let first = run.published();
    let (area, repo) = (run.area().clone(), run.repo.clone());
    run.workspace.release().unwrap();
    let again = area.open(&continued("r2", "work")).unwrap();
    assert_eq!(oid(again.path(), "HEAD"), first);
    assert!(again.untouched(&first).is_some());
    write(again.path(), "two", "2");
    let second = commit_all(again.path(), "two");
    assert_eq!(again.publish_commits().unwrap(), Some(Published::Done));
    assert_eq!(oid(&repo, "work"), second);
    assert_eq!(names(&repo, &second), [".gitignore", "README.md", "one", "src/main.rs", "two"]);
}

/// The user may clean up as much as they like: what we borrow is held.
#[test]
fn the_user_prunes() {
    let run = Run::new();
    let base = oid(&run.repo, "main");
    let prune = || {
        git(&run.repo, &["reflog", "expire", "--expire=now", "--all"]);
        git(&run.repo, &["gc", "--quiet", "--prune=now"]);
    };
    write(run.path(), "one", "1");
    run.commit("one");
    git(&run.repo, &["checkout", "--quiet", "--orphan", "elsewhere"]);
    commit_all(&run.repo, "elsewhere");
    git(&run.repo, &["branch", "--quiet", "--delete", "--force", "main"]);
    prune();
    let snapshot = run.taken();
    assert_eq!(snapshot.head, Some(oid(run.path(), "HEAD")));
    run.workspace.publish_commits().unwrap();
    git(&run.repo, &["branch", "--quiet", "--delete", "--force", "work"]);
    prune();
    assert!(has(run.vault(), &base) && has(run.path(), &base));
    for folder in [run.vault(), run.path(), &run.repo] {
        text(folder, &["fsck", "--strict"]);
    }
}

#[test]
fn what_is_staged_is_found_in_a_home_with_an_odd_name() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let workspace = opened(&area_of(&repo.join(".git"), &sandbox.path("ho:me \"of\" x")), "r1", "work");
    write(workspace.path(), "new", "staged");
    git(workspace.path(), &["add", "new"]);
    write(workspace.path(), "new", "changed since");
    let staged = workspace.collect().unwrap().staged.expect("a tree");
    assert_eq!(content(&workspace.area().vault, &staged, "new"), "staged");
}

/// Few objects, and more paths than fit anywhere.
#[test]
fn a_commit_with_endlessly_many_paths_is_not_read() {
    let run = Run::new();
    let base = oid(&run.repo, "main");
    let blob = run.sandbox.path("blob");
    fs::write(&blob, "x").unwrap();
    let mut entry =
        format!("100644 blob {}", text(run.path(), &["hash-object", "-w", blob.to_str().unwrap()]));
    let input = run.sandbox.path("tree");
    for _ in 0..10 {
        let lines: Vec<_> = (0..10).map(|name| format!("{entry}\t{name}\n")).collect();
        fs::write(&input, lines.concat()).unwrap();
        let mktree =
            prepared(run.path(), &["mktree"]).stdin(fs::File::open(&input).unwrap()).output().unwrap();
        entry = format!("040000 tree {}", String::from_utf8(mktree.stdout).unwrap().trim_end());
    }
    let tree = entry.rsplit(' ').next().unwrap();
    let bomb = text(run.path(), &["commit-tree", tree, "-p", base.as_str(), "-m", "bomb"]);
    git(run.path(), &["update-ref", "refs/heads/work", &bomb]);
    write(run.path(), "beside", "x");
    let collected = run.collected();
    assert!(collected.unread.unwrap().contains("paths"));
    assert_eq!((collected.head, collected.branch), (base.clone(), Some(base.clone())));
    assert_eq!(run.workspace.head().unwrap(), base);
    let snapshot = run.taken();
    assert_eq!(content(run.vault(), &snapshot.tree, "beside"), "x", "the files are saved all the same");
}
