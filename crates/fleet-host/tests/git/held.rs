//! Commits that are held in the user's repository.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{area_of, oid, opened, project, text};
use fleet_host::git::{Area, GitError, Holds, Oid, open_vault, tidy_vault};

/// The commits held for a vault of this name.
fn holds(sandbox: &Sandbox, repo: &Path, vault: &str) -> Holds {
    let vault = sandbox.path("home").join(vault);
    open_vault(repo, &vault).unwrap();
    Holds::of(repo, &vault).unwrap()
}

#[test]
fn each_vault_gives_up_only_what_it_holds_itself() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let base = oid(&repo, "main");
    let homes = ["one", "two"].map(|name| area_of(&repo.join(".git"), &sandbox.path(name)));
    let work = opened(&homes[0], "r1", "work");
    let idle = opened(&homes[1], "r2", "other");
    idle.release().unwrap();
    tidy_vault(&homes[1].repo, &homes[1].vault).unwrap();
    fs::remove_dir_all(homes[1].vault.join("worktrees")).unwrap();
    tidy_vault(&homes[1].repo, &homes[1].vault).unwrap();
    let all = |area: &Area| Holds::of(&area.repo, &area.vault).unwrap().all().unwrap();
    assert_eq!(all(&homes[1]), BTreeSet::new());
    assert_eq!(all(&homes[0]), BTreeSet::from([base.clone()]));
    git(&repo, &["commit", "--quiet", "--amend", "--message=another"]);
    git(&repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(&repo, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(oid(work.path(), "HEAD~0"), base);
    text(work.path(), &["fsck", "--strict"]);
}

#[test]
fn a_held_commit_outlives_its_branch_until_it_is_given_up() {
    for init in ["files", "reftable"] {
        let sandbox = Sandbox::new();
        let repo = sandbox.folder(init);
        git(&repo, &["init", "--quiet", "--initial-branch=main", &format!("--ref-format={init}")]);
        let dir = repo.join(".git");
        for message in ["one", "two"] {
            git(&repo, &["commit", "--quiet", "--allow-empty", "--message", message]);
        }
        let base = oid(&repo, "HEAD");
        let holds = holds(&sandbox, &dir, "vault");
        let all = BTreeSet::from([base.clone()]);
        assert_eq!(holds.all().unwrap(), BTreeSet::new());
        holds.add(&base).unwrap();
        holds.add(&base).unwrap();
        assert_eq!(holds.all().unwrap(), all);
        git(&repo, &["reset", "--quiet", "--hard", "HEAD~1"]);
        for _ in ["loose", "packed"] {
            git(&repo, &["reflog", "expire", "--expire=now", "--all"]);
            git(&repo, &["gc", "--quiet", "--prune=now"]);
            holds.add(&base).unwrap();
            assert_eq!(text(&repo, &["log", "-1", "--format=%s", base.as_str()]), "two");
            assert_eq!(holds.all().unwrap(), all);
        }
        holds.give_up(&all).unwrap();
        holds.give_up(&all).unwrap();
        assert_eq!(holds.all().unwrap(), BTreeSet::new());
        git(&repo, &["gc", "--quiet", "--prune=now"]);
        assert!(!try_git(&repo, &["cat-file", "-e", base.as_str()]).status.success());
        let error = holds.add(&base).unwrap_err();
        assert!(matches!(error, GitError::NoSuchCommit { .. }), "{error}");
        assert_eq!(holds.all().unwrap(), BTreeSet::new());
        assert_eq!(text(&repo, &["for-each-ref", "refs/fleet"]), "");
    }
}

#[test]
fn many_are_given_up_at_once_and_others_stay() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let holds = holds(&sandbox, &repo.join(".git"), "vault");
    let commits: Vec<Oid> = (0..6)
        .map(|number| {
            git(
                &repo,
                &["commit", "--quiet", "--allow-empty", "--no-verify", "--message", &number.to_string()],
            );
            oid(&repo, "HEAD")
        })
        .collect();
    for (number, commit) in commits.iter().enumerate() {
        holds.add(commit).unwrap();
        if number == 2 {
            git(&repo, &["pack-refs", "--all"]);
        }
    }
    // One that somebody moved is not what its name says.
    let refs = text(&repo, &["for-each-ref", "--format=%(refname)", "refs/fleet"]);
    let moved = refs.lines().find(|name| name.ends_with(commits[5].as_str())).unwrap().to_owned();
    git(&repo, &["update-ref", &moved, commits[0].as_str()]);
    assert_eq!(holds.all().unwrap(), commits[..5].iter().cloned().collect());
    let given = [&commits[0], &commits[1], &commits[4], &commits[5]].into_iter().cloned().collect();
    holds.give_up(&given).unwrap();
    assert_eq!(holds.all().unwrap(), commits[2..4].iter().cloned().collect());
    assert_eq!(oid(&repo, &moved), commits[0]);
}

#[test]
fn a_commit_in_a_pack_or_borrowed_from_elsewhere_is_found() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    git(&repo, &["gc", "--quiet"]);
    let base = oid(&repo, "HEAD");
    holds(&sandbox, &repo.join(".git"), "one").add(&base).unwrap();
    let root = sandbox.path("");
    git(&root, &["clone", "--quiet", "--shared", repo.to_str().unwrap(), "borrower"]);
    let borrower = sandbox.path("borrower/.git");
    let holds = holds(&sandbox, &borrower, "two");
    holds.add(&base).unwrap();
    assert_eq!(holds.all().unwrap(), BTreeSet::from([base]));
}

/// Two homes that are copies know the same repository, and one must not give up what the other needs.
#[test]
fn a_copy_of_a_home_holds_commits_of_its_own() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let (dir, commit) = (repo.join(".git"), oid(&repo, "main"));
    let [first, second, moved] = ["first", "second", "moved"].map(|name| sandbox.path(name).join("vault"));
    open_vault(&dir, &first).unwrap();
    let holds = Holds::of(&dir, &first).unwrap();
    holds.add(&commit).unwrap();
    let mut copy = std::process::Command::new("cp");
    let places = [sandbox.path("first"), sandbox.path("second")];
    assert!(copy.arg("-R").args(places).status().unwrap().success());
    open_vault(&dir, &second).unwrap();
    let others = Holds::of(&dir, &second).unwrap();
    assert!(others.all().unwrap().contains(&commit), "it is held for both");
    tidy_vault(&dir, &first).unwrap();
    assert!(holds.all().unwrap().is_empty() && others.all().unwrap().contains(&commit));
    // One that is moved goes on with what it held, and one that comes back has the id that it had.
    fs::create_dir(sandbox.path("moved")).unwrap();
    fs::rename(&second, &moved).unwrap();
    open_vault(&dir, &moved).unwrap();
    assert!(Holds::of(&dir, &moved).unwrap().all().unwrap().contains(&commit));
    fs::rename(&moved, &second).unwrap();
    open_vault(&dir, &second).unwrap();
    assert_eq!(format!("{:?}", Holds::of(&dir, &second).unwrap()), format!("{others:?}"));
}
