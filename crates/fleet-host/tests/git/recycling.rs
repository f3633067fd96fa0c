//! Warm workspaces in which an agent left something for the next run.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, git};
use crate::support::{area, commit_all, everything, fresh, oid, opened, project, text, write};
use fleet_host::git::{Area, KeepFiles, OpenRequest, StartAt, Workspace, head_commit};

/// A program that leaves a mark, and the mark.
fn program(sandbox: &Sandbox) -> (PathBuf, PathBuf) {
    let (program, mark) = (sandbox.path("program"), sandbox.path("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program, mark)
}

/// A repository that runs a program whenever git asks it for its state.
fn trap(place: &Path, program: &Path) -> String {
    fs::create_dir_all(place).unwrap();
    git(place, &["init", "--quiet", "--initial-branch=main"]);
    write(place, "file", "1");
    git(place, &["add", "--all"]);
    git(place, &["commit", "--quiet", "--message=inner"]);
    git(place, &["config", "core.fsmonitor", program.to_str().unwrap()]);
    git(place, &["config", "core.hooksPath", "/nowhere"]);
    text(place, &["rev-parse", "HEAD"])
}

fn keeping(sandbox: &Sandbox, repo: &Path) -> Area {
    Area { keep: KeepFiles::Ignored, ..area(sandbox, repo) }
}

/// A workspace that keeps ignored files, in which an agent left a repository that runs a program.
struct Trapped {
    sandbox: Sandbox,
    repo: PathBuf,
    area: Area,
    program: PathBuf,
    mark: PathBuf,
    run: Workspace,
    /// The commit of that repository, which is `target/inner`.
    commit: String,
}

impl Trapped {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        let (area, (program, mark)) = (keeping(&sandbox, &repo), program(&sandbox));
        let run = opened(&area, "r1", "one");
        let commit = trap(&run.path().join("target/inner"), &program);
        Self { sandbox, repo, area, program, mark, run, commit }
    }
}

/// The next run mostly starts there too, and need not wait for a checkout.
#[test]
fn a_workspace_is_given_back_at_the_commit_where_it_began() {
    let sandbox = Sandbox::new();
    let repo = project(&sandbox, "main");
    let run = opened(&area(&sandbox, &repo), "r1", "one");
    let (path, checkout) = (run.path().to_owned(), run.checkout().unwrap());
    write(&path, "new", "x");
    commit_all(&path, "work");
    run.collect().unwrap();
    run.release().unwrap();
    assert_eq!(head_commit(&checkout.git_dir).unwrap(), oid(&repo, "main"));
    assert!(!path.join("new").exists());
}

/// The agent commits a link to a repository that is ignored.
#[test]
fn a_tracked_repository_is_not_kept_because_it_is_ignored() {
    let Trapped { sandbox: _sandbox, area, program, mark, run, commit, .. } = Trapped::new();
    let path = run.path().to_owned();
    trap(&path.join("target/other"), &program);
    git(&path, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},target/inner")]);
    git(&path, &["commit", "--quiet", "--message=link"]);
    run.collect().unwrap();
    let _ = fs::remove_file(&mark);
    run.release().unwrap();
    assert!(!mark.exists(), "a program of the agent's ran when the workspace was given back");
    assert!(!path.join("target/inner/.git").exists(), "tracked, so it is moved aside");
    assert!(path.join("target/other/.git").exists(), "ignored, so it stays");
    drop(opened(&area, "r2", "two"));
    assert!(!mark.exists(), "a program of the agent's ran when the workspace was opened");
}

/// The next run starts at a commit that has a link where an ignored repository was left.
#[test]
fn a_repository_that_becomes_tracked_is_never_opened() {
    let Trapped { sandbox: _sandbox, area, repo, mark, run, commit, .. } = Trapped::new();
    let path = run.path().to_owned();
    run.release().unwrap();
    assert!(path.join("target/inner/.git").exists());
    let quiet = ["-c", "core.hooksPath=/dev/null"];
    git(&repo, &["update-index", "--add", "--cacheinfo", &format!("160000,{commit},target/inner")]);
    git(&repo, &[&quiet[..], &["commit", "--quiet", "--message=link"]].concat());
    let _ = fs::remove_file(&mark);
    let next = opened(&area, "r2", "two");
    assert!(!mark.exists(), "a program of the agent's ran");
    assert!(!next.recycled() && !next.path().join("target/inner/.git").exists());
}

/// Ignored itself, or in a folder that is.
#[test]
fn ignored_repositories_that_wait_are_not_opened() {
    let waits =
        ["target/inner/.git/HEAD", "target/a/.git/commondir", "new/a.log/.git/HEAD", "src/a.log/.git/HEAD"];
    for waits in waits {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        let area = keeping(&sandbox, &repo);
        let run = opened(&area, "r1", "one");
        let pipe = run.path().join(waits);
        trap(pipe.ancestors().nth(2).unwrap(), Path::new("/nowhere"));
        let _ = fs::remove_file(&pipe);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let begin = Instant::now();
        run.release().unwrap();
        assert!(opened(&area, "r2", "two").recycled(), "{waits}");
        assert!(begin.elapsed() < Duration::from_secs(30), "{waits}");
    }
}

/// The files of the next commit have to be fetched, which fails for a while.
#[test]
fn partial_clones_keep_their_warm_workspaces() {
    let sandbox = Sandbox::new();
    let source = project(&sandbox, "source");
    git(&source, &["config", "uploadpack.allowFilter", "true"]);
    git(&source, &["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let (url, place) = (format!("file://{}", source.display()), sandbox.path("partial"));
    git(&sandbox.path(""), &["clone", "--quiet", "--filter=blob:none", &url, place.to_str().unwrap()]);
    let area = area(&sandbox, &place);
    let warm = [opened(&area, "r1", "one"), opened(&area, "r2", "two")];
    for workspace in warm {
        workspace.release().unwrap();
    }
    write(&source, "src/next.rs", "the next version\n");
    fs::remove_file(source.join("src/main.rs")).unwrap();
    commit_all(&source, "next");
    git(&place, &["fetch", "--quiet"]);
    let start = StartAt::New(oid(&place, "origin/main"));
    let open = OpenRequest { start, ..fresh(&area, "r3", "three") };
    let away = sandbox.path("away");
    fs::rename(&source, &away).unwrap();
    assert!(area.open(&open).is_err());
    assert_eq!(area.slots().unwrap().len(), 2, "it is not their fault");
    fs::rename(&away, &source).unwrap();
    let workspace = area.open(&open).unwrap();
    assert!(workspace.recycled());
    assert_eq!(everything(workspace.path()), everything(&source));
}

/// Some agents can go on with a conversation only in the folder where it began.
#[test]
fn the_folder_that_is_preferred_is_taken_if_it_is_free() {
    let sandbox = Sandbox::new();
    let area = area(&sandbox, &project(&sandbox, "project"));
    let [first, second] = [opened(&area, "r1", "one"), opened(&area, "r2", "two")];
    let places = [first.path().to_owned(), second.path().to_owned()];
    first.release().unwrap();
    second.release().unwrap();
    let preferring = |owner: &str, branch: &str| {
        let open = OpenRequest { preferred: Some(places[1].clone()), ..fresh(&area, owner, branch) };
        area.open(&open).unwrap()
    };
    let third = preferring("r3", "three");
    assert_eq!(third.path(), places[1]);
    assert_eq!(preferring("r4", "four").path(), places[0], "it is taken");
}

/// Git knows one bit of the mode of a file, and none of that of a folder.
#[test]
fn modes_that_an_agent_set_are_not_passed_on() {
    const SET: [(&str, u32); 6] = [
        ("", 0o2777),
        ("src", 0o555),
        ("src", 0o1777),
        ("README.md", 0o666),
        ("README.md", 0o400),
        ("src/main.rs", 0o4644),
    ];
    let sandbox = Sandbox::new();
    let area = area(&sandbox, &project(&sandbox, "project"));
    let mode = |workspace: &Workspace, name: &str| {
        fs::symlink_metadata(workspace.path().join(name)).unwrap().permissions().mode() & 0o7777
    };
    let usual = opened(&area, "r0", "usual");
    for (number, (name, set)) in SET.into_iter().enumerate() {
        for is_touched in [true, false] {
            let what = format!("{name} {set:o} {is_touched}");
            let [owner, next] = [format!("r{number}{is_touched}"), format!("n{number}{is_touched}")];
            let workspace = opened(&area, &owner, &owner);
            fs::set_permissions(workspace.path().join(name), fs::Permissions::from_mode(set)).unwrap();
            if is_touched {
                write(workspace.path(), "new", "x");
                workspace.release().unwrap();
            } else {
                let seen = workspace.untouched(&oid(&area.repo, "main")).unwrap();
                workspace.release_untouched(&seen).unwrap();
            }
            let workspace = opened(&area, &next, &next);
            assert!(workspace.recycled(), "{what}");
            assert_eq!(mode(&workspace, name), mode(&usual, name), "{what}");
            workspace.release().unwrap();
        }
    }
}

/// Whoever has the other name could change the file while the next run works with it.
#[test]
fn a_file_with_a_second_name_is_not_passed_on() {
    let sandbox = Sandbox::new();
    let area = area(&sandbox, &project(&sandbox, "project"));
    let workspace = opened(&area, "r1", "one");
    let other = sandbox.path("other-name");
    fs::hard_link(workspace.path().join("README.md"), &other).unwrap();
    workspace.release().unwrap();
    let next = opened(&area, "r2", "two");
    fs::write(&other, "changed from outside").unwrap();
    assert_eq!(fs::read_to_string(next.path().join("README.md")).unwrap(), "# project\n");
}
