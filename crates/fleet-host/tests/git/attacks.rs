//! An agent that turns its own repository against us: nothing runs, blocks, hides or leaks.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{git, try_git};
use crate::support::{Run, commit_all, content, everything, is_clean, oid, opened, text, write};
use fleet_host::git::Oid;

/// Much longer than anything here takes, much shorter than for ever.
const PATIENCE: Duration = Duration::from_secs(30);

fn pipe(place: &Path) {
    remove(place);
    assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
}

fn remove(place: &Path) {
    if place.is_dir() && !place.is_symlink() {
        fs::remove_dir_all(place).unwrap();
    } else {
        let _ = fs::remove_file(place);
    }
}

fn huge(place: &Path) {
    remove(place);
    fs::File::create(place).unwrap().set_len(10 << 30).unwrap();
}

fn link(target: &Path, place: &Path) {
    remove(place);
    symlink(target, place).unwrap();
}

/// A program that leaves a mark.
fn program(run: &Run) -> (String, PathBuf) {
    let (program, mark) = (run.sandbox.path("program"), run.sandbox.path("ran"));
    fs::write(&program, format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    (program.to_str().unwrap().to_owned(), mark)
}

/// Ends the run as a keeper does, gives the workspace back and opens it for the next run, all of it in good time.
#[track_caller]
fn survive(run: Run, what: &str) -> Survivor {
    let begin = Instant::now();
    assert!(run.workspace.untouched(&oid(&run.repo, "main")).is_none(), "{what}: something was done");
    let _ = run.workspace.publish_commits();
    let ended = run.ended();
    let snapshot = ended.snapshot.expect(what);
    assert_eq!(content(run.vault(), &snapshot.tree, "work"), "of the agent", "{what}");
    let area = run.area().clone();
    // As after the death of the keeper, too.
    drop(run.workspace);
    let adopted = area.adopt("r1").unwrap().unwrap();
    let again = adopted.collect().unwrap();
    assert_eq!(again.unread, ended.collected.unread, "{what}");
    adopted.release().unwrap();
    let next = opened(&area, "next", "next");
    assert_eq!(everything(next.path()), everything(&run.repo), "{what}");
    assert!(is_clean(next.path()), "{what}");
    next.release().unwrap();
    assert!(begin.elapsed() < PATIENCE, "{what} took {:?}", begin.elapsed());
    text(&run.repo, &["fsck", "--strict"]);
    text(&area.vault, &["fsck", "--strict"]);
    Survivor { unread: ended.collected.unread, vault: area.vault, repo: run.repo, _sandbox: run.sandbox }
}

struct Survivor {
    unread: Option<String>,
    vault: PathBuf,
    repo: PathBuf,
    _sandbox: crate::sandbox::Sandbox,
}

type Attack<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn what_is_no_repository_neither_blocks_nor_leads_out() {
    let attacks: [Attack<'_>; 13] = [
        ("a pipe", &|dot_git| pipe(dot_git)),
        ("zeros", &|dot_git| link(Path::new("/dev/zero"), dot_git)),
        ("a file", &|dot_git| {
            remove(dot_git);
            fs::write(dot_git, "gitdir: /etc\n").unwrap();
        }),
        ("nothing", &|dot_git| remove(dot_git)),
        ("a huge HEAD", &|dot_git| huge(&dot_git.join("HEAD"))),
        ("a HEAD that waits", &|dot_git| pipe(&dot_git.join("HEAD"))),
        ("a HEAD of zeros", &|dot_git| link(Path::new("/dev/zero"), &dot_git.join("HEAD"))),
        ("huge packed refs", &|dot_git| huge(&dot_git.join("packed-refs"))),
        ("packed refs that wait", &|dot_git| pipe(&dot_git.join("packed-refs"))),
        ("a branch that waits", &|dot_git| pipe(&dot_git.join("refs/heads/work"))),
        ("objects that wait", &|dot_git| pipe(&dot_git.join("objects"))),
        ("refs elsewhere", &|dot_git| link(Path::new("/"), &dot_git.join("refs"))),
        ("a table of refs", &|dot_git| fs::create_dir(dot_git.join("reftable")).unwrap()),
    ];
    for (what, attack) in attacks {
        let run = Run::new();
        write(run.path(), "own", "x");
        run.commit("own");
        write(run.path(), "work", "of the agent");
        attack(&run.dot_git());
        let survivor = survive(run, what);
        assert!(survivor.unread.is_some(), "{what} is told, so that the workspace is kept");
    }
}

#[test]
fn what_only_slows_a_repository_down_loses_nothing() {
    let attacks: [Attack<'_>; 6] = [
        ("a log that waits", &|dot_git| pipe(&dot_git.join("logs/HEAD"))),
        ("a huge log", &|dot_git| huge(&dot_git.join("logs/HEAD"))),
        ("a config that waits", &|dot_git| pipe(&dot_git.join("config"))),
        ("alternates that wait", &|dot_git| pipe(&dot_git.join("objects/info/alternates"))),
        ("patterns that wait", &|dot_git| pipe(&dot_git.join("info/exclude"))),
        ("another ref that waits", &|dot_git| pipe(&dot_git.join("refs/heads/other"))),
    ];
    for (what, attack) in attacks {
        let run = Run::new();
        write(run.path(), "own", "x");
        let own = run.commit("own");
        write(run.path(), "work", "of the agent");
        attack(&run.dot_git());
        assert_eq!(run.collected().head, own, "{what}");
        survive(run, what);
    }
}

#[test]
fn an_index_that_waits_or_is_huge_is_told() {
    let attacks: [Attack<'_>; 3] = [
        ("waits", &|dot_git| pipe(&dot_git.join("index"))),
        ("huge", &|dot_git| huge(&dot_git.join("index"))),
        ("zeros", &|dot_git| link(Path::new("/dev/zero"), &dot_git.join("index"))),
    ];
    for (what, attack) in attacks {
        let run = Run::new();
        write(run.path(), "own", "x");
        run.commit("own");
        write(run.path(), "work", "of the agent");
        attack(&run.dot_git());
        assert!(survive(run, what).unread.is_some(), "{what}");
    }
}

/// The index of the agent says that nothing was changed; ours knows better, and so does the next run.
#[test]
fn a_forged_index_hides_nothing() {
    let run = Run::new();
    let work = run.path();
    let stat = |path: &Path| {
        let found = fs::metadata(path).unwrap();
        (found.accessed().unwrap(), found.modified().unwrap())
    };
    let script = work.join("src/main.rs");
    let (accessed, modified) = stat(&script);
    // The same size and times, and git is told not to look.
    let length = fs::read(&script).unwrap().len();
    fs::write(&script, vec![b'!'; length]).unwrap();
    let times = fs::FileTimes::new().set_accessed(accessed).set_modified(modified);
    fs::File::options().write(true).open(&script).unwrap().set_times(times).unwrap();
    git(work, &["update-index", "--assume-unchanged", "src/main.rs", "README.md"]);
    git(work, &["update-index", "--skip-worktree", ".gitignore"]);
    git(work, &["config", "core.trustctime", "false"]);
    git(work, &["config", "core.checkStat", "minimal"]);
    write(work, "README.md", "tampered");
    write(work, ".gitignore", "nothing");
    write(work, "work", "of the agent");
    git(work, &["update-index", "--add", "--info-only", "work"]);
    let snapshot = run.taken();
    assert_eq!(content(run.vault(), &snapshot.tree, "src/main.rs"), "!".repeat(length));
    assert_eq!(content(run.vault(), &snapshot.tree, "README.md"), "tampered");
    assert_eq!(content(run.vault(), &snapshot.tree, ".gitignore"), "nothing");
    survive(run, "a forged index");
}

/// A sparse checkout leaves files out; it cannot leave changes out.
#[test]
fn a_sparse_checkout_hides_nothing() {
    let run = Run::new();
    let work = run.path();
    git(work, &["sparse-checkout", "set", "--no-cone", "/README.md"]);
    assert!(!work.join("src").exists());
    write(work, "src/main.rs", "changed");
    write(work, "work", "of the agent");
    let snapshot = run.taken();
    assert_eq!(content(run.vault(), &snapshot.tree, "src/main.rs"), "changed");
    assert_eq!(content(run.vault(), &snapshot.tree, ".gitignore"), "target/\n*.log\n.env\n");
    survive(run, "a sparse checkout");
}

#[test]
fn nothing_that_its_configuration_names_is_run() {
    let run = Run::new();
    let work = run.path();
    let (program, mark) = program(&run);
    write(work, ".gitattributes", "* filter=x diff=x merge=x\n");
    write(work, "own", "x");
    run.commit("own");
    for name in [
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.textconv",
        "diff.x.command",
        "merge.x.driver",
        "core.fsmonitor",
        "core.sshCommand",
        "core.editor",
        "credential.helper",
        "gpg.program",
        "uploadpack.packObjectsHook",
    ] {
        git(work, &["config", name, &program]);
    }
    git(work, &["config", "core.hooksPath", run.sandbox.path("").to_str().unwrap()]);
    git(work, &["config", "remote.evil.url", &format!("ext::{program}")]);
    git(work, &["config", "remote.evil.promisor", "true"]);
    git(work, &["config", "protocol.ext.allow", "always"]);
    for hook in ["post-checkout", "reference-transaction", "post-index-change", "pre-commit"] {
        write(work, &format!(".git/hooks/{hook}"), format!("#!/bin/sh\n{program}\n"));
        fs::set_permissions(work.join(".git/hooks").join(hook), fs::Permissions::from_mode(0o755)).unwrap();
    }
    write(work, "work", "of the agent");
    write(work, "own", "changed");
    remove(&mark);
    survive(run, "a configuration");
    assert!(!mark.exists(), "something ran");
}

/// A submodule has its repository in the agent's own.
#[test]
fn nothing_that_a_submodule_configures_is_run() {
    let run = Run::new();
    let work = run.path();
    let (program, mark) = program(&run);
    let module = run.sandbox.repository("module");
    write(&module, "lib", "1");
    write(&module, ".gitattributes", "* filter=x\n");
    commit_all(&module, "lib");
    crate::sandbox::Sandbox::submodule(work, &module);
    let inner = work.join(".git/modules/libs/module");
    for name in ["filter.x.clean", "filter.x.smudge", "core.fsmonitor"] {
        git(&inner, &["config", name, &program]);
    }
    git(work, &["config", "submodule.recurse", "true"]);
    write(&inner, "hooks/post-checkout", format!("#!/bin/sh\n{program}\n"));
    fs::set_permissions(inner.join("hooks/post-checkout"), fs::Permissions::from_mode(0o755)).unwrap();
    write(work, "libs/module/lib", "2");
    write(work, "work", "of the agent");
    remove(&mark);
    survive(run, "a submodule");
    assert!(!mark.exists(), "something ran");
}

/// A repository that the agent may not read, and its commit.
fn secret(run: &Run) -> (PathBuf, Oid) {
    let secret = run.sandbox.repository("secret");
    write(&secret, "password", "hush");
    let hidden = commit_all(&secret, "secret");
    (secret, hidden)
}

#[track_caller]
fn is_not_taken(survivor: &Survivor, hidden: &Oid) {
    assert!(survivor.unread.is_some());
    assert!(!try_git(&survivor.vault, &["cat-file", "-e", hidden.as_str()]).status.success());
}

/// Objects of another repository of the user's, to which the agent's points.
#[test]
fn alternates_bring_no_secrets() {
    let run = Run::new();
    let (work, (secret, hidden)) = (run.path(), secret(&run));
    let alternates = run.dot_git().join("objects/info/alternates");
    let before = fs::read_to_string(&alternates).unwrap();
    fs::write(&alternates, format!("{before}{}\n", secret.join(".git/objects").display())).unwrap();
    git(work, &["update-ref", "refs/heads/work", hidden.as_str()]);
    git(work, &["update-ref", "refs/heads/other", hidden.as_str()]);
    git(work, &["read-tree", hidden.as_str()]);
    write(work, "work", "of the agent");
    let survivor = survive(run, "alternates");
    assert!(survivor.unread.is_some());
    for folder in [&survivor.vault, &survivor.repo] {
        assert!(!try_git(folder, &["cat-file", "-e", hidden.as_str()]).status.success());
        assert!(!try_git(folder, &["cat-file", "-e", &format!("{hidden}:password")]).status.success());
    }
}

/// Refs that lead out of the repository, to files that look like refs.
#[test]
fn refs_bring_no_secrets() {
    let run = Run::new();
    let (work, (secret, hidden)) = (run.path(), secret(&run));
    let dot_git = run.dot_git();
    link(&secret.join(".git/refs/heads/main"), &dot_git.join("refs/heads/linked"));
    write(&dot_git, "refs/heads/symbolic", "ref: ../../../../secret/.git/refs/heads/main\n");
    write(&dot_git, "HEAD", "ref: ../../../../secret/.git/refs/heads/main\n");
    write(work, "work", "of the agent");
    is_not_taken(&survive(run, "refs"), &hidden);
}

/// Links to files of the user's in place of objects.
#[test]
fn objects_bring_no_secrets() {
    let run = Run::new();
    let (work, (secret, hidden)) = (run.path(), secret(&run));
    let objects = run.dot_git().join("objects");
    for folder in fs::read_dir(secret.join(".git/objects")).unwrap().map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap();
        if name.len() == 2 && !objects.join(name).exists() {
            symlink(&folder, objects.join(name)).unwrap();
        }
    }
    write(work, ".git/refs/heads/work", format!("{hidden}\n"));
    write(work, "work", "of the agent");
    is_not_taken(&survive(run, "linked objects"), &hidden);
}

/// A repository that says that it is elsewhere.
#[test]
fn a_common_dir_or_work_tree_elsewhere_does_not_count() {
    let run = Run::new();
    let (work, other) = (run.path(), run.sandbox.repository("other"));
    write(&other, "precious", "x");
    commit_all(&other, "precious");
    let before = everything(&other);
    write(work, "own", "x");
    run.commit("own");
    git(work, &["config", "core.worktree", other.to_str().unwrap()]);
    write(&run.dot_git(), "commondir", format!("{}\n", other.join(".git").display()));
    write(work, "work", "of the agent");
    let _survivor = survive(run, "another common dir");
    assert_eq!(everything(&other), before);
}
