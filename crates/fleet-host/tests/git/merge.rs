//! Merging without a checkout, compared with what the real `git merge` does.

use std::path::Path;

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{content, everything, hook_ran, names, oid, project, text, write};
use fleet_host::git::{
    GitError, ListedPaths, Merge, MergeCheck, Oid, merge_commits, merge_tree, touched_files, with_markers,
};

/// A branch of `main` with one commit of these files.
fn branch(repo: &Path, name: &str, files: &[(&str, &str)]) -> Oid {
    git(repo, &["-c", "core.hooksPath=/dev/null", "switch", "--quiet", "--create", name, "main"]);
    for (path, content) in files {
        write(repo, path, content);
    }
    git(repo, &["add", "--all"]);
    git(repo, &["-c", "core.hooksPath=/dev/null", "commit", "--quiet", "--message", name]);
    git(repo, &["-c", "core.hooksPath=/dev/null", "switch", "--quiet", "main"]);
    oid(repo, name)
}

fn paths(listed: &[&str]) -> ListedPaths {
    let listed: Vec<String> = listed.iter().map(|path| (*path).to_owned()).collect();
    ListedPaths { total: listed.len() as u64, listed }
}

#[test]
fn two_branches_go_together_or_say_where_they_do_not() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    let dir = repo.join(".git");
    let one = branch(&repo, "one", &[("a b\n.txt", "one\n"), ("README.md", "# one\n")]);
    let two = branch(&repo, "two", &[("späße.txt", "two\n"), ("README.md", "# two\n")]);
    let three = branch(&repo, "three", &[("src/three.rs", "three\n")]);
    let before = everything(&repo);
    let _ = std::fs::remove_file(dir.join("hook-ran"));

    assert_eq!(
        merge_tree(&dir, &one, &two).unwrap(),
        MergeCheck::Conflicted { files: paths(&["README.md"]) }
    );
    let MergeCheck::Clean { tree } = merge_tree(&dir, &one, &three).unwrap() else {
        panic!("they are apart")
    };
    assert_eq!(names(&repo, &tree), [".gitignore", "README.md", "a b\n.txt", "src/main.rs", "src/three.rs"]);
    let main = oid(&repo, "main");
    assert_eq!(touched_files(&dir, &main, &one).unwrap(), paths(&["README.md", "a b\n.txt"]));
    assert_eq!(touched_files(&dir, &one, &main).unwrap(), paths(&[]));

    assert!(!hook_ran(&repo));
    assert_eq!(everything(&repo), before);
    assert_eq!(text(&repo, &["status", "--porcelain"]), "");
}

#[test]
fn commits_are_joined_in_order_and_nobody_sees_it() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    let dir = repo.join(".git");
    let one = branch(&repo, "one", &[("one", "1\n")]);
    let two = branch(&repo, "two", &[("two", "2\n")]);
    let three = branch(&repo, "three", &[("three", "3\n")]);
    let refs = text(&repo, &["for-each-ref"]);
    let all = [one.clone(), two.clone(), three.clone()];
    let Merge::Merged { commit } = merge_commits(&dir, &all, "join three").unwrap() else {
        panic!("they go together")
    };
    for (file, value) in [("one", "1\n"), ("two", "2\n"), ("three", "3\n")] {
        assert_eq!(content(&repo, &commit, file), value);
    }
    assert_eq!(
        text(&repo, &["log", "--format=%s", "--first-parent", "-3", commit.as_str()]),
        "join three\njoin three\none"
    );
    assert_eq!(oid(&repo, &format!("{commit}^2")), three);
    assert_eq!(text(&repo, &["for-each-ref"]), refs, "no name was given");
    git(&repo, &["-c", "core.hooksPath=/dev/null", "merge", "--quiet", "--no-edit", "one", "two", "three"]);
    assert_eq!(oid(&repo, "HEAD^{tree}"), oid(&repo, &format!("{commit}^{{tree}}")), "as git itself does it");
}

#[test]
fn what_has_everything_already_is_taken_as_it_is() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    let dir = repo.join(".git");
    let (main, one) = (oid(&repo, "main"), branch(&repo, "one", &[("one", "1\n")]));
    let merged = |commits: &[&Oid]| {
        let commits: Vec<Oid> = commits.iter().map(|commit| (*commit).clone()).collect();
        merge_commits(&dir, &commits, "join").unwrap()
    };
    for same in [&[&one][..], &[&main, &one], &[&one, &main], &[&one, &one, &main]] {
        assert_eq!(merged(same), Merge::Merged { commit: one.clone() });
    }
    assert!(matches!(merge_commits(&dir, &[], "join"), Err(GitError::Refused(_))));
}

#[test]
fn the_first_that_does_not_fit_is_named() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    let dir = repo.join(".git");
    let one = branch(&repo, "one", &[("README.md", "# one\n")]);
    let two = branch(&repo, "two", &[("two", "2\n")]);
    let three = branch(&repo, "three", &[("README.md", "# three\n"), ("two", "3\n")]);
    let answer = merge_commits(&dir, &[one, two, three.clone()], "join").unwrap();
    assert_eq!(answer, Merge::Conflict { with: three, files: paths(&["README.md", "two"]) });
}

#[test]
fn the_repository_says_how_its_files_are_merged() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    write(&repo, ".gitattributes", "CHANGELOG.md merge=union\n");
    write(&repo, "CHANGELOG.md", "start\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "--message=attributes"]);
    let one = branch(&repo, "one", &[("CHANGELOG.md", "start\none\n")]);
    let two = branch(&repo, "two", &[("CHANGELOG.md", "start\ntwo\n")]);
    // What is checked out does not matter, only what is merged.
    std::fs::remove_file(repo.join(".gitattributes")).unwrap();
    let MergeCheck::Clean { tree } = merge_tree(&repo.join(".git"), &one, &two).unwrap() else {
        panic!("both lines are kept")
    };
    assert_eq!(content(&repo, &tree, "CHANGELOG.md"), "start\none\ntwo\n");
}

#[test]
fn histories_that_share_nothing_are_merged_and_missing_commits_are_errors() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    let dir = repo.join(".git");
    git(&repo, &["switch", "--quiet", "--orphan", "other"]);
    write(&repo, "other", "x\n");
    git(&repo, &["add", "--all"]);
    git(&repo, &["commit", "--quiet", "--message=other"]);
    let (main, other) = (oid(&repo, "main"), oid(&repo, "other"));
    let Merge::Merged { commit } = merge_commits(&dir, &[main, other], "join").unwrap() else {
        panic!("they have no file in common")
    };
    assert_eq!(names(&repo, &commit), [".gitignore", "README.md", "other", "src/main.rs"]);
    let missing = Oid::parse(&"1".repeat(40)).unwrap();
    assert!(matches!(merge_tree(&dir, &commit, &missing), Err(GitError::Failed { .. })));
    assert!(try_git(&repo, &["fsck", "--strict"]).status.success());
}

#[test]
fn the_markers_of_a_conflict_are_found_in_the_files_that_are_asked_for() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "shop");
    let both = "<<<<<<< HEAD\none\n=======\ntwo\n>>>>>>> two\n";
    let files = [
        ("späße *.txt", both),
        ("other.txt", both),
        ("heading.rst", "Title\n=======\n"),
        ("half.txt", "<<<<<<< HEAD\n"),
    ];
    let left = branch(&repo, "left", &files);
    let asked = ["späße *.txt", "heading.rst", "half.txt", "missing.txt"].map(str::to_owned);
    git(&repo, &["config", "grep.patternType", "fixed"]);
    assert_eq!(with_markers(&repo.join(".git"), &left, &asked).unwrap(), ["späße *.txt"]);
    assert_eq!(with_markers(&repo.join(".git"), &oid(&repo, "main"), &asked).unwrap(), [""; 0]);
    assert_eq!(with_markers(&repo.join(".git"), &left, &[]).unwrap(), [""; 0], "nothing, and not everything");
}
