//! What has landed, and commits that are kept when their branch goes.

use std::collections::BTreeSet;

use crate::sandbox::{Sandbox, git};
use crate::support::{oid, project, text, write};
use fleet_host::git::{
    KeepCommits, branches, delete_branch, differing_files, has_work, keep_commit, landings, list_snapshots,
    not_landed, open_vault, trees,
};

#[test]
fn what_a_landing_contains_has_landed() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let dir = repo.join(".git");
    for (branch, file) in [("merged", "a"), ("open", "b")] {
        git(&repo, &["switch", "--quiet", "--create", branch, "main"]);
        write(&repo, file, branch);
        git(&repo, &["add", "--all"]);
        git(&repo, &["commit", "--quiet", "--message", branch]);
    }
    git(&repo, &["switch", "--quiet", "main"]);
    git(&repo, &["merge", "--quiet", "--no-ff", "--no-edit", "merged"]);
    git(&repo, &["branch", "same", "main"]);
    let all = branches(&dir).unwrap();
    let names: Vec<&str> = all.iter().map(|branch| branch.name.as_str()).collect();
    assert_eq!(names, ["main", "merged", "open", "same"]);
    let here: Vec<bool> = all.iter().map(|branch| branch.checked_out.is_some()).collect();
    assert_eq!(here, [true, false, false, false]);
    let landings = landings(&dir).unwrap();
    assert_eq!(landings.len(), 1, "HEAD and main are one: {landings:?}");
    let commits: BTreeSet<_> = all.iter().map(|branch| branch.commit.clone()).collect();
    assert_eq!(not_landed(&dir, &commits, &landings).unwrap(), BTreeSet::from([oid(&repo, "open")]));
    assert_eq!(not_landed(&dir, &commits, &[]).unwrap(), commits);
    assert_eq!(not_landed(&dir, &BTreeSet::new(), &landings).unwrap(), BTreeSet::new());
    let known = trees(&dir, &commits).unwrap();
    assert!(all.iter().all(|branch| known[&branch.commit] == branch.tree), "{known:?}");
    assert_eq!(differing_files(&dir, &oid(&repo, "main"), &oid(&repo, "open")).unwrap(), 2);
    assert_eq!(differing_files(&dir, &oid(&repo, "main"), &oid(&repo, "same")).unwrap(), 0);
}

#[test]
fn work_has_landed_under_whatever_name() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let dir = repo.join(".git");
    let commit = |file: &str, text: &str| {
        write(&repo, file, text);
        git(&repo, &["add", "--all"]);
        git(&repo, &["commit", "--quiet", "--message", text]);
    };
    git(&repo, &["switch", "--quiet", "--create", "work", "main"]);
    commit("a", "one\n");
    commit("a", "two\n");
    let (work, squash) = (oid(&repo, "work"), ["merge", "--quiet", "--squash", "work"]);
    assert!(!has_work(&dir, &oid(&repo, "main"), &work).unwrap());
    let ways: [(&str, &[&str]); 3] = [
        ("squash", &squash),
        ("pick", &["cherry-pick", "main..work"]),
        ("merge", &["merge", "--quiet", "--no-edit", "work"]),
    ];
    for (way, land) in ways {
        git(&repo, &["switch", "--quiet", "--create", way, "main"]);
        commit("other", way);
        assert!(!has_work(&dir, &oid(&repo, way), &work).unwrap(), "{way}: not yet");
        git(&repo, land);
        git(&repo, &["commit", "--quiet", "--allow-empty", "--message", "landed"]);
        assert!(has_work(&dir, &oid(&repo, way), &work).unwrap(), "{way}");
        commit("a", "changed since\n");
        assert!(has_work(&dir, &oid(&repo, way), &work).unwrap(), "{way}, and the same lines changed since");
    }
    git(&repo, &["switch", "--quiet", "--create", "half", "main"]);
    commit("other", "half");
    git(&repo, &["cherry-pick", "work~1"]);
    assert!(!has_work(&dir, &oid(&repo, "half"), &work).unwrap(), "only a part of it");
    git(&repo, &["switch", "--quiet", "--create", "joined", "main"]);
    commit("other", "joined");
    git(&repo, &["merge", "--quiet", "--no-commit", "--no-ff", "work"]);
    commit("extra", "only in the merge\n");
    let joined = oid(&repo, "joined");
    git(&repo, &["switch", "--quiet", "--create", "all-but-the-merge", "main"]);
    git(&repo, &["merge", "--quiet", "--no-edit", "work"]);
    git(&repo, &["cherry-pick", "joined~1"]);
    assert!(!has_work(&dir, &oid(&repo, "HEAD"), &joined).unwrap(), "the merge has work of its own");
    git(&repo, &["switch", "--quiet", "--orphan", "alone"]);
    commit("b", "alone");
    assert!(!has_work(&dir, &oid(&repo, "alone"), &work).unwrap(), "nothing in common");
}

#[test]
fn whoever_only_looks_writes_nothing_into_the_repository() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let dir = repo.join(".git");
    let changed = || std::fs::metadata(&dir).unwrap().modified().unwrap();
    let before = changed();
    let main = BTreeSet::from([oid(&repo, "main")]);
    assert_eq!(trees(&dir, &main).unwrap().len(), 1);
    assert!(not_landed(&dir, &main, &landings(&dir).unwrap()).unwrap().is_empty());
    assert_eq!(changed(), before, "a killed one would have left its file there");
}

#[test]
fn a_repository_without_commits_has_no_landings() {
    let sandbox = Sandbox::new();
    let repo = sandbox.folder("fresh");
    git(&repo, &["init", "--quiet"]);
    assert_eq!(landings(&repo.join(".git")).unwrap(), []);
    assert_eq!(branches(&repo.join(".git")).unwrap(), []);
}

#[test]
fn a_kept_commit_outlives_its_branch() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let dir = repo.join(".git");
    git(&repo, &["switch", "--quiet", "--create", "work"]);
    write(&repo, "a", "x");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "--message=work"]);
    git(&repo, &["switch", "--quiet", "main"]);
    let tip = oid(&repo, "work");
    let vault = sandbox.path("home/vault");
    open_vault(&dir, &vault).unwrap();
    let commits = [(tip.clone(), "a test".to_owned())];
    let keep = KeepCommits { repo: &dir, vault: &vault, run: "r1", commits: &commits, at_seconds: 7 };
    let name = keep_commit(&keep).unwrap();
    assert_eq!(keep_commit(&keep).unwrap(), name, "once is enough");
    assert!(delete_branch(&dir, "work", &tip).unwrap());
    git(&repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repo, &["gc", "--quiet", "--prune=now"]);
    let [kept] = &list_snapshots(&vault, Some("r1")).unwrap()[..] else { panic!("one snapshot") };
    assert_eq!((kept.head.as_ref(), kept.why.as_str(), kept.has_more), (Some(&tip), "a test", false));
    assert_eq!(kept.tree, trees(&vault, &BTreeSet::from([tip.clone()])).unwrap()[&tip]);
    assert_eq!(text(&vault, &["show", &format!("{name}:a")]), "x");
    let work_tree = text(&repo, &["status", "--porcelain"]);
    assert_eq!(work_tree, "", "the checkout was not touched");
}
