//! Publishing where something is unusual: the kind of the repository, what others left, what others hold.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::crash::child;
use crate::publish::{World, files, kept};
use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{oid, project, text};
use crate::vault::Vault;
use fleet_host::git::{Compression, NotPublished, Oid, Publish, Published, publish, sweep_keeps};
use fleet_testkit::wait_until;

const ONE_HOUR: Duration = Duration::from_hours(1);
const PATIENCE: Duration = Duration::from_mins(1);

#[test]
fn other_kinds_of_repositories_work_too() {
    for init in [["--object-format=sha256"], ["--ref-format=reftable"], ["--shared=group"]] {
        let world = World::with(&init);
        let one = world.vault.commit(&world.base, &[("a", "one")]);
        let two = world.vault.commit(&one, &[("a", "two")]);
        assert_eq!(world.publish(&one, None), Published::Done, "{init:?}");
        assert_eq!(world.publish(&two, Some(&one)), Published::Done, "{init:?}");
        assert_eq!(world.at("work"), Some(two.clone()), "{init:?}");
        let here = kept(NotPublished::CheckedOut { place: world.repo.clone() });
        git(&world.repo, &["switch", "--quiet", "work"]);
        let three = world.vault.commit(&two, &[("a", "three")]);
        assert_eq!(world.publish(&three, Some(&two)), here, "{init:?}");
        world.check();
    }
}

#[test]
fn the_branch_of_a_bare_repositorys_head_is_checked_out_nowhere() {
    let sandbox = Sandbox::new();
    let repo = sandbox.bare("bare.git");
    let vault = Vault::of(&sandbox, &repo);
    let base = oid(&repo, "main");
    let commit = &vault.commit(&base, &[("a", "one")]);
    let known = std::slice::from_ref(&base);
    let wanted = Publish {
        repo: &repo,
        vault: &vault.dir,
        branch: "main",
        commit,
        expected: Some(&base),
        known,
        compression: Compression::Quick,
    };
    assert_eq!(publish(&wanted).unwrap(), Published::Done);
    assert_eq!(oid(&repo, "main"), *commit);
}

#[test]
fn an_object_that_is_there_by_chance_is_copied_all_the_same() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    git(&world.repo, &["branch", "-D", "--quiet", "work"]);
    // The objects are still there, and a branch that starts over does not rely on them.
    assert_eq!(world.publish(&one, None), Published::Done);
    assert_eq!(files(&world.git_dir().join("objects/pack"), ".pack").len(), 2, "never the same name twice");
    world.check();
}

#[test]
fn what_a_killed_process_left_is_swept_and_nothing_else() {
    let world = World::new();
    let packs = world.git_dir().join("objects/pack");
    fs::create_dir_all(&packs).unwrap();
    let dead = "codefleet publish {\"pid\":999999999,\"start\":1,\"boot\":\"another\"}\n";
    let me = serde_json::to_string(&fleet_host::process::Identity::current()).unwrap();
    let alive = format!("codefleet publish {me}\n");
    let write = |name: &str, content: &str| fs::write(packs.join(name), content).unwrap();
    write("pack-1.keep", dead);
    write("pack-1.pack", "half of it");
    write("pack-2.keep", dead);
    write("pack-2.pack", "all of it");
    write("pack-2.idx", "all of it");
    write("pack-3.keep", &alive);
    write("pack-4.keep", "mine, says the user\n");
    write("pack-5.keep", "");
    write("pack-6.fleet-part", "");
    write("pack-3.fleet-part", "");
    let scratch = ["fleet-ref-999999999-0", "fleet-list-999999999-1"].map(|name| world.git_dir().join(name));
    for file in &scratch {
        fs::write(file, "").unwrap();
    }
    assert_eq!(sweep_keeps(&world.git_dir(), ONE_HOUR).unwrap(), 0, "too young");
    assert_eq!(sweep_keeps(&world.git_dir(), Duration::ZERO).unwrap(), 5);
    assert!(scratch.iter().all(|file| !file.exists()));
    let mut left: Vec<_> =
        files(&packs, "").into_iter().map(|path| path.file_name().unwrap().to_owned()).collect();
    left.sort();
    assert_eq!(
        left,
        ["pack-2.idx", "pack-2.pack", "pack-3.fleet-part", "pack-3.keep", "pack-4.keep", "pack-5.keep"]
    );
}

#[test]
fn a_commit_that_the_vault_lacks_is_an_error_and_leaves_nothing() {
    let world = World::new();
    let missing = Oid::parse(&"1".repeat(40)).unwrap();
    let known = std::slice::from_ref(&world.base);
    let (repo, vault) = (&world.git_dir(), &world.vault.dir);
    let wanted = Publish {
        repo,
        vault,
        branch: "work",
        commit: &missing,
        expected: None,
        known,
        compression: Compression::Quick,
    };
    assert!(publish(&wanted).is_err());
    assert_eq!(world.at("work"), None);
    assert_eq!(files(&world.git_dir().join("objects/pack"), ""), Vec::<PathBuf>::new());
    world.check();
}

/// A clone of the project without some of its objects, which nobody can get any more.
fn cloned(options: &[&str]) -> World {
    let sandbox = Sandbox::new();
    let source = project(&sandbox, "source");
    git(&source, &["config", "uploadpack.allowFilter", "true"]);
    let url = format!("file://{}", source.display());
    git(&sandbox.path(""), &[&["clone", "--quiet"], options, &[&url, "main"]].concat());
    fs::remove_dir_all(source).unwrap();
    let repo = sandbox.path("main");
    World::around(sandbox, repo)
}

#[test]
fn clones_without_history_or_without_files_work_offline() {
    for option in ["--depth=1", "--filter=blob:none", "--filter=tree:0"] {
        let world = cloned(&[option]);
        let one = world.vault.commit(&world.base, &[("a", "one")]);
        let two = world.vault.commit(&one, &[("src/main.rs", "two")]);
        assert_eq!(world.publish(&one, None), Published::Done, "{option}");
        assert_eq!(world.publish(&two, Some(&one)), Published::Done, "{option}");
        git(&world.repo, &["gc", "--quiet", "--prune=now"]);
        assert_eq!(text(&world.repo, &["show", "work:src/main.rs"]), "two", "{option}");
        world.check();
    }
}

#[test]
fn what_is_missing_in_a_partial_clone_is_not_fetched() {
    let world = cloned(&["--filter=blob:none", "--no-checkout"]);
    let missing = text(&world.repo, &["rev-list", "--objects", "--missing=print", "HEAD"]);
    assert!(missing.contains("\n?"), "files of the base are not there: {missing}");
    let one = world.vault.commit(&world.base, &[("README.md", "one")]);
    // Known by nothing at all: even the oldest commit is packed, as far as it is there.
    let wanted = Publish {
        repo: &world.git_dir(),
        vault: &world.vault.dir,
        branch: "work",
        commit: &one,
        expected: None,
        known: &[],
        compression: Compression::Quick,
    };
    assert_eq!(publish(&wanted).unwrap(), Published::Done);
    world.check();
}

#[test]
fn a_lock_that_is_held_for_a_while_is_waited_for() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let two = world.vault.commit(&one, &[("a", "two")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    let lock = world.git_dir().join("refs/heads/work.lock");
    fs::write(&lock, "").unwrap();
    thread::scope(|scope| {
        let publishing = scope.spawn(|| world.publish(&two, Some(&one)));
        // The objects are there, so the lock is what it waits for.
        let packs = world.git_dir().join("objects/pack");
        wait_until(PATIENCE, "the pack", || files(&packs, ".idx").len() == 2);
        assert_eq!(files(&packs, ".keep").len(), 1);
        git(&world.repo, &["gc", "--quiet", "--prune=now"]);
        assert!(!publishing.is_finished());
        fs::remove_file(&lock).unwrap();
        assert_eq!(publishing.join().unwrap(), Published::Done);
    });
    assert_eq!(world.at("work"), Some(two));
    world.check();
}

#[test]
fn a_lock_that_stays_leaves_the_branch_alone_and_the_objects_to_git() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let lock = world.git_dir().join("refs/heads/work.lock");
    fs::write(&lock, "").unwrap();
    assert_eq!(world.publish(&one, None), kept(NotPublished::Locked { lock: lock.clone() }));
    assert!(lock.exists(), "it is theirs");
    world.check();
    git(&world.repo, &["gc", "--quiet", "--prune=now"]);
    assert!(!try_git(&world.repo, &["cat-file", "-e", one.as_str()]).status.success());
    fs::remove_file(&lock).unwrap();
    assert_eq!(world.publish(&one, None), Published::Done, "as soon as it is gone");
}

/// The other process of the test below.
pub(crate) fn in_another_process(repo: &str, vault: &str, commit: &str, base: &str) {
    let (commit, base) = (Oid::parse(commit).unwrap(), Oid::parse(base).unwrap());
    let (repo, vault) = (Path::new(repo), Path::new(vault));
    let wanted = Publish {
        repo,
        vault,
        branch: "work",
        commit: &commit,
        expected: None,
        known: &[base],
        compression: Compression::Quick,
    };
    assert_eq!(publish(&wanted).unwrap(), Published::Done);
}

#[test]
fn a_new_branch_takes_one_git() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let trace = world.sandbox.path("trace");
    let paths = [&world.git_dir(), &world.vault.dir].map(|path| path.to_str().unwrap().to_owned());
    child("publish", &[&paths[0], &paths[1], one.as_str(), world.base.as_str()])
        .env("GIT_TRACE", trace.to_str().unwrap())
        .run();
    let commands = fs::read_to_string(&trace).unwrap();
    assert_eq!(commands.lines().count(), 1, "{commands}");
    assert!(commands.contains("git pack-objects"), "{commands}");
}

#[test]
fn git_gets_none_of_our_secrets() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let (bin, seen) = (world.sandbox.folder("bin"), world.sandbox.path("seen"));
    let path = std::env::var("PATH").unwrap();
    let script = format!("#!/bin/sh\nenv >> '{}'\nPATH='{path}' exec git \"$@\"\n", seen.display());
    fs::write(bin.join("git"), script).unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    let paths = [&world.git_dir(), &world.vault.dir].map(|path| path.to_str().unwrap().to_owned());
    child("publish", &[&paths[0], &paths[1], one.as_str(), world.base.as_str()])
        .env("PATH", &format!("{}:{path}", bin.display()))
        .env("FLEET_STORE", "postgres://me:xyzzy@host/db")
        .env("MY_CLOUD_TOKEN", "xyzzy")
        .env("EMAIL", "ada@example.com")
        .run();
    let seen = fs::read_to_string(&seen).unwrap();
    assert!(seen.contains("EMAIL=ada@example.com") && !seen.contains("xyzzy"), "{seen}");
}

#[test]
fn a_killed_process_is_followed_by_one_that_finishes() {
    let world = World::new();
    let packs = world.git_dir().join("objects/pack");
    for round in 0..20 {
        let one = world.vault.commit(&world.base, &[("a", &round.to_string())]);
        let paths = [&world.git_dir(), &world.vault.dir].map(|path| path.to_str().unwrap().to_owned());
        let mut killed = child("publish", &[&paths[0], &paths[1], one.as_str(), world.base.as_str()]).spawn();
        // Somewhere between its first file and its end.
        wait_until(PATIENCE, "the process at work", || {
            !files(&packs, ".keep").is_empty() || killed.try_wait().unwrap().is_some()
        });
        thread::sleep(Duration::from_micros(round * 500));
        let _ = killed.kill();
        killed.wait().unwrap();
        // Killed while it had the lock, as a user's git can be: theirs to remove.
        let _ = fs::remove_file(world.git_dir().join("refs/heads/work.lock"));
        assert_eq!(world.publish(&one, None), Published::Done);
        sweep_keeps(&world.git_dir(), Duration::ZERO).unwrap();
        crate::publish::check(&world.repo);
        git(&world.repo, &["branch", "--quiet", "-D", "work"]);
    }
}
