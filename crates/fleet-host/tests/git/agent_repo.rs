//! The repository of an agent works as a clone would.

use std::fs;
use std::path::{Path, PathBuf};

use crate::crash::child;
use crate::sandbox::{Sandbox, git, prepared, try_git};
use crate::support::{
    Run, area, area_of, commit_all, commit_left, everything, fresh, is_clean, names, oid, opened, project,
    text, write,
};
use crate::workspace_kinds::live_through;
use fleet_host::git::{Merge, OpenRequest, Published, StartAt, merge_commits};

/// A repository with a remote, a tag and another branch.
fn with_remote(repo: &Path) -> PathBuf {
    let remote = repo.with_file_name("remote.git");
    let (place, quiet) = (remote.to_str().unwrap(), ["-c", "core.hooksPath=/dev/null"]);
    git(repo, &["init", "--quiet", "--bare", "--initial-branch=main", place]);
    git(repo, &[&quiet[..], &["remote", "add", "origin", place]].concat());
    git(repo, &[&quiet[..], &["push", "--quiet", "--set-upstream", "origin", "main"]].concat());
    git(repo, &[&quiet[..], &["remote", "set-head", "origin", "--auto"]].concat());
    git(repo, &[&quiet[..], &["tag", "--annotate", "--message=one", "v1"]].concat());
    git(repo, &[&quiet[..], &["branch", "feature/a"]].concat());
    remote
}

#[test]
fn it_has_branches_tags_and_remotes() {
    let run = Run::of_project(|repo| drop(with_remote(repo)));
    let work = run.path();
    let refs = |folder: &Path| text(folder, &["for-each-ref", "--format=%(objectname) %(refname) %(symref)"]);
    let without = |all: String, name: &str| -> Vec<String> {
        all.lines().filter(|line| !line.contains(name)).map(str::to_owned).collect()
    };
    assert_eq!(without(refs(work), "refs/heads/work"), without(refs(&run.repo), "refs/fleet/held"));
    write(work, "new", "x");
    run.commit("new");
    assert_eq!(text(work, &["log", "--format=%s", "origin/main..HEAD"]), "new");
    assert_eq!(text(work, &["log", "-1", "--format=%s", "origin/main"]), "files");
    assert_eq!(text(work, &["diff", "--name-only", "main...HEAD"]), "new");
    assert_eq!(text(work, &["describe"]).split('-').next(), Some("v1"));
    assert_eq!(text(work, &["rev-parse", "--abbrev-ref", "main@{upstream}"]), "origin/main");
    text(work, &["fsck", "--strict"]);
}

#[test]
fn it_fetches_and_pushes_and_the_users_repository_does_not_notice() {
    let run = Run::of_project(|repo| drop(with_remote(repo)));
    let (work, remote) = (run.path(), run.repo.with_file_name("remote.git"));
    let other = run.sandbox.path("other");
    git(&run.sandbox.path(""), &["clone", "--quiet", remote.to_str().unwrap(), other.to_str().unwrap()]);
    write(&other, "theirs", "x");
    let theirs = commit_all(&other, "theirs");
    git(&other, &["push", "--quiet"]);
    let before = text(&run.repo, &["for-each-ref"]);
    git(work, &["fetch", "--quiet", "origin"]);
    assert_eq!(oid(work, "origin/main"), theirs);
    git(work, &["rebase", "--quiet", "origin/main"]);
    write(work, "ours", "x");
    let ours = run.commit("ours");
    git(work, &["push", "--quiet", "origin", "HEAD:refs/heads/pushed"]);
    assert_eq!(oid(&remote, "pushed"), ours);
    assert_eq!(text(&run.repo, &["for-each-ref"]), before);
    let collected = run.collected();
    assert_eq!((collected.unread, &collected.head), (None, &ours));
    assert!(collected.others.is_empty(), "what was fetched is not its work: {:?}", collected.others);
    assert_eq!(run.published(), ours);
    text(&run.repo, &["fsck", "--strict"]);
}

#[test]
fn branches_stashes_rebases_and_worktrees_of_its_own() {
    let run = Run::new();
    let work = run.path();
    write(work, "one", "1");
    run.commit("one");
    git(work, &["checkout", "--quiet", "-b", "side", "main"]);
    write(work, "two", "2");
    let side = run.commit("two");
    git(work, &["checkout", "--quiet", "work"]);
    git(work, &["rebase", "--quiet", "side"]);
    write(work, "one", "stashed");
    git(work, &["stash", "--quiet"]);
    assert!(is_clean(work));
    git(work, &["stash", "apply", "--quiet"]);
    git(work, &["checkout", "--quiet", "one"]);
    let linked = run.sandbox.path("linked");
    git(work, &["worktree", "add", "--quiet", "-b", "linked", linked.to_str().unwrap()]);
    write(&linked, "three", "3");
    let three = commit_all(&linked, "three");
    let collected = run.collected();
    let whats: Vec<&str> = collected.others.iter().map(|other| other.what.as_str()).collect();
    assert_eq!(whats, ["stash", "branch linked", "branch side"]);
    assert_eq!((&collected.others[1].commit, &collected.others[2].commit), (&three, &side));
    let vault = run.vault();
    assert_eq!(text(vault, &["show", &format!("{}:one", collected.others[0].commit)]), "stashed");
    let done = run.published();
    assert_eq!(text(&run.repo, &["log", "--format=%s", &format!("main..{done}")]), "one\ntwo");
    assert_eq!(text(&run.repo, &["stash", "list"]), "");
    assert_eq!(text(&run.repo, &["branch", "--list", "side", "linked"]), "");
}

#[test]
fn it_knows_who_commits_and_how_files_look() {
    let run = Run::of_project(|repo| {
        for (name, value) in
            [("user.name", "A Person"), ("user.email", "a@example.com"), ("core.abbrev", "9")]
        {
            git(repo, &["config", name, value]);
        }
        // The setting that a clone does not have, of a filter in the manner of LFS.
        git(repo, &["config", "filter.shout.clean", "tr A-Z a-z"]);
        git(repo, &["config", "filter.shout.smudge", "tr a-z A-Z"]);
        write(repo, ".gitattributes", "*.shout filter=shout\n");
        write(repo, "a.shout", "HELLO\n");
        write(repo, ".git/info/exclude", "*.private\n");
        commit_all(repo, "shout");
    });
    let work = run.path();
    assert_eq!(fs::read_to_string(work.join("a.shout")).unwrap(), "HELLO\n");
    assert!(is_clean(work), "the agent's git cleans as ours does");
    write(work, "b.shout", "WORLD\n");
    write(work, "x.private", "x");
    let committed = prepared(work, &["commit", "--quiet", "--all", "--allow-empty", "--message=x"])
        .env_remove("GIT_AUTHOR_NAME")
        .env_remove("GIT_AUTHOR_EMAIL")
        .output()
        .unwrap();
    assert!(committed.status.success());
    assert_eq!(text(work, &["log", "-1", "--format=%an <%ae>"]), "A Person <a@example.com>");
    let done = run.published();
    assert_eq!(text(&run.repo, &["show", "work:b.shout"]), "world");
    assert!(!names(&run.repo, &done).contains(&"x.private".to_owned()));
}

#[test]
fn hooks_of_the_user_are_not_there() {
    let run = Run::new();
    write(run.path(), "new", "x");
    git(run.path(), &["add", "new"]);
    git(run.path(), &["commit", "--quiet", "--message=x"]);
    assert!(!run.repo.join(".git/hook-ran").exists());
}

#[test]
fn settings_that_run_programs_do_not_get_there() {
    let mark = |sandbox: &Sandbox| sandbox.path("ran");
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let program = format!("touch '{}'; false", mark(&sandbox).display());
    for name in ["core.fsmonitor", "core.editor", "core.pager", "diff.external", "merge.x.driver"] {
        git(&repo, &["config", name, &program]);
    }
    let run = Run::of(sandbox, repo);
    git(run.path(), &["status"]);
    write(run.path(), "README.md", "x");
    git(run.path(), &["diff"]);
    run.published();
    run.workspace.release().unwrap();
    assert!(!mark(&run.sandbox).exists());
}

/// Two histories of five commits, cut after two.
#[test]
fn a_shallow_clone() {
    let sandbox = Sandbox::new();
    let source = project(&sandbox, "source");
    for number in 0..5 {
        write(&source, "count", number.to_string());
        commit_all(&source, "count");
    }
    let (url, place) = (format!("file://{}", source.display()), sandbox.path("shallow"));
    git(&sandbox.path(""), &["clone", "--quiet", "--depth=2", &url, place.to_str().unwrap()]);
    let area = area(&sandbox, &place);
    live_through(&area);
    let workspace = opened(&area, "r", "again");
    assert_eq!(text(workspace.path(), &["log", "--format=%s"]).lines().count(), 2);
}

#[test]
fn a_repository_that_borrows_objects_itself() {
    let sandbox = Sandbox::new();
    project(&sandbox, "source");
    for (name, relative) in [("absolute", false), ("relative", true)] {
        let root = sandbox.path("");
        git(&root, &["clone", "--quiet", "--shared", "source", name]);
        let repo = sandbox.path(name);
        if relative {
            write(&repo, ".git/objects/info/alternates", "../../../source/.git/objects\n");
        }
        live_through(&area(&sandbox, &repo));
    }
}

#[test]
fn a_repository_that_is_opened_from_a_linked_worktree() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    fs::remove_dir_all(repo.join(".git/hooks")).unwrap();
    let linked = sandbox.worktree(&repo, "linked");
    let found = fleet_host::git::discover(&linked).unwrap();
    live_through(&area_of(&found.common_dir, &sandbox.path("home")));
    assert_eq!(text(&repo, &["worktree", "list", "--porcelain"]).matches("worktree ").count(), 2);
}

#[test]
fn a_symbolic_branch_is_there_as_well() {
    let run = Run::of_project(|repo| git(repo, &["symbolic-ref", "refs/heads/alias", "refs/heads/main"]));
    assert_eq!(text(run.path(), &["symbolic-ref", "refs/heads/alias"]), "refs/heads/main");
    assert_eq!(oid(run.path(), "alias"), oid(&run.repo, "main"));
    let base = oid(&run.repo, "main");
    assert!(run.workspace.untouched(&base).is_some());
    assert!(run.collected().others.is_empty());
}

#[test]
fn a_partial_clone() {
    partial_clone(&[]);
}

#[test]
fn a_partial_clone_that_is_sparse() {
    partial_clone(&["--sparse"]);
}

/// A merge that only the vault has, of branches whose files were not fetched yet.
#[test]
fn a_partial_clone_starts_from_a_commit_that_only_the_vault_has() {
    let sandbox = Sandbox::new();
    let source = project(&sandbox, "source");
    git(&source, &["config", "uploadpack.allowFilter", "true"]);
    git(&source, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let both = ["one", "two"].map(|name| {
        git(&source, &["-c", "core.hooksPath=/dev/null", "checkout", "--quiet", "-b", name, "main"]);
        write(&source, name, format!("{name}\n"));
        commit_all(&source, name)
    });
    let (url, place) = (format!("file://{}", source.display()), sandbox.path("partial"));
    let command = ["clone", "--quiet", "--filter=blob:none", "--no-checkout", "--branch=main"];
    git(&sandbox.path(""), &[&command[..], &[&url, place.to_str().unwrap()]].concat());
    let area = area(&sandbox, &place);
    fleet_host::git::open_vault(&area.repo, &area.vault).unwrap();
    let Merge::Merged { commit } = merge_commits(&area.vault, &both, "join").unwrap() else {
        panic!("they go together")
    };
    let open =
        OpenRequest { start: StartAt::New(commit), borrowed: both.to_vec(), ..fresh(&area, "r1", "work") };
    let workspace = area.open(&open).unwrap();
    for name in ["one", "two", "README.md"] {
        assert!(workspace.path().join(name).exists(), "{name}");
    }
    assert!(is_clean(workspace.path()));
}

fn partial_clone(options: &[&str]) {
    let sandbox = Sandbox::new();
    let source = project(&sandbox, "source");
    git(&source, &["config", "uploadpack.allowFilter", "true"]);
    git(&source, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    write(&source, "old", "an old version\n");
    commit_all(&source, "old");
    write(&source, "old", "a new version\n");
    commit_all(&source, "new");
    let (url, place) = (format!("file://{}", source.display()), sandbox.path("partial"));
    let command = ["clone", "--quiet", "--filter=blob:none"];
    git(&sandbox.path(""), &[&command, options, &[&url, place.to_str().unwrap()]].concat());
    assert_eq!(place.join("src").exists(), options.is_empty());
    let area = area(&sandbox, &place);
    for round in 0..2 {
        let workspace = opened(&area, "r", &format!("b{round}"));
        let path = workspace.path();
        assert_eq!(everything(path), everything(&source), "all files are there");
        assert!(is_clean(path));
        assert_eq!(text(path, &["show", "HEAD~1:old"]), "an old version", "fetched when it is needed");
        write(path, "new", "x");
        let own = commit_all(path, "of the agent");
        write(path, "left", "over");
        let collected = workspace.collect().unwrap();
        assert_eq!((collected.unread, collected.head), (None, own));
        let head = commit_left(&workspace.checkout().unwrap()).head.unwrap();
        assert_eq!(workspace.publish(&head, fleet_host::git::Compression::Quick).unwrap(), Published::Done);
        let branch = format!("b{round}");
        assert_eq!(text(&place, &["diff", "--name-only", "main", &branch]), "left\nnew");
        workspace.release().unwrap();
    }
    text(&place, &["fsck"]);
}

#[test]
fn submodules_work_as_in_a_clone() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    fs::remove_dir_all(repo.join(".git/hooks")).unwrap();
    let module = sandbox.repository("module");
    write(&module, "lib", "1");
    commit_all(&module, "lib");
    Sandbox::submodule(&repo, &module);
    child("agent-submodules", &[repo.to_str().unwrap(), sandbox.path("home").to_str().unwrap()])
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "protocol.file.allow")
        .env("GIT_CONFIG_VALUE_0", "always")
        .run();
}

/// The rest of the test above, where the transport is allowed.
pub(crate) fn with_submodules(repo: &str, home: &str) {
    let area = area_of(&Path::new(repo).join(".git"), Path::new(home));
    let workspace = opened(&area, "r1", "one");
    let (path, inner) = (workspace.path(), workspace.path().join("libs/module"));
    assert_eq!(text(path, &["submodule", "status"]).split_whitespace().nth(1), Some("libs/module"));
    assert!(is_clean(path));
    write(&inner, "lib", "2");
    let moved = commit_all(&inner, "in the module");
    git(&inner, &["push", "--quiet", "origin", "HEAD:refs/heads/pushed"]);
    commit_all(path, "module moved");
    assert_eq!(workspace.publish_commits().unwrap(), Some(Published::Done));
    assert_eq!(text(Path::new(repo), &["rev-parse", "one:libs/module"]), moved.as_str());
    assert!(!try_git(Path::new(repo), &["cat-file", "-e", moved.as_str()]).status.success());
    workspace.release().unwrap();
}
