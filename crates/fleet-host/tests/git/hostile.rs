//! Work trees whose agent wants git to wait, to run something or to look elsewhere.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sandbox::{Sandbox, git};
use crate::support::{Run, content, names, oid, request, text, write};
use fleet_host::git::{SkippedWhy, Snapshot, TakeSnapshot, unnamed_snapshot};

fn pipe(place: &Path) {
    let _ = fs::remove_file(place);
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(place).status().unwrap().success());
}

/// A snapshot that must not wait for anything.
#[track_caller]
fn quickly(run: &Run) -> Snapshot {
    let begin = Instant::now();
    let snapshot = run.taken();
    assert!(begin.elapsed() < Duration::from_secs(30), "it took {:?}", begin.elapsed());
    snapshot
}

fn init(place: &Path) {
    fs::create_dir_all(place).unwrap();
    git(place, &["init", "--quiet", "--initial-branch=main"]);
}

#[test]
fn repositories_are_found_whatever_their_names_and_what_is_said_about_them() {
    let run = Run::new();
    let work = run.path();
    // An exclusion in a file of patterns would yield to these.
    write(work, ".gitignore", "!*\n!/a*b/\ntarget/\n");
    let odd =
        ["a*b", "[x]", "back\\slash", "!not", "#comment", " space ", "new\nline", ":(top)", "-x", "späße"];
    for name in odd {
        init(&work.join(name));
        write(work, &format!("{name}/inside"), name);
        write(work, &format!("{name} not"), name);
    }
    write(work, "aXb/file", "no repository");
    write(work, "x", "no repository");
    init(&work.join("target/ignored"));
    write(work, "target/ignored/file", "x");
    let snapshot = quickly(&run);
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    for name in odd {
        assert_eq!(content(run.vault(), &snapshot.tree, &format!("{name}/inside")), name);
        assert_eq!(content(run.vault(), &snapshot.tree, &format!("{name} not")), name);
    }
    let found = names(run.vault(), &snapshot.tree);
    assert!(["aXb/file", "x"].iter().all(|name| found.iter().any(|there| there == name)), "{found:?}");
    assert!(!found.iter().any(|name| name.starts_with("target/")), "{found:?}");
}

#[test]
fn a_repository_in_a_folder_with_tracked_files() {
    let run = Run::new();
    let work = run.path();
    init(&work.join("src"));
    write(work, "src/new.rs", "new");
    write(work, "src/main.rs", "changed");
    let snapshot = quickly(&run);
    assert_eq!(content(run.vault(), &snapshot.tree, "src/main.rs"), "changed");
    assert_eq!(content(run.vault(), &snapshot.tree, "src/new.rs"), "new");
    fs::remove_file(work.join("src/main.rs")).unwrap();
    assert!(!names(run.vault(), &quickly(&run).tree).contains(&"src/main.rs".to_owned()));
}

#[test]
fn too_many_repositories_for_a_command_line() {
    let run = Run::new();
    let work = run.path();
    for number in 0..1_500 {
        // Broken ones cost no process each.
        write(work, &format!("many/{number:0100}/.git"), "gitdir: nowhere\n");
    }
    write(work, "many/file", "x");
    write(work, "beside", "y");
    let snapshot = quickly(&run);
    assert_eq!(content(run.vault(), &snapshot.tree, "many/file"), "x");
    assert_eq!(content(run.vault(), &snapshot.tree, "beside"), "y");
    assert_eq!(snapshot.skips.total, 1_500);
}

#[test]
fn a_submodule_whose_repository_waits() {
    let run = Run::new();
    let module = run.sandbox.repository("module");
    write(&module, "lib", "1");
    git(&module, &["add", "lib"]);
    git(&module, &["commit", "--quiet", "--message=lib"]);
    let work = run.path();
    Sandbox::submodule(work, &module);
    let link = text(work, &["rev-parse", "work:libs/module"]);
    fs::remove_file(work.join("libs/module/.git")).unwrap();
    pipe(&work.join("libs/module/.git/HEAD"));
    let snapshot = quickly(&run);
    assert_eq!(text(run.vault(), &["rev-parse", &format!("{}:libs/module", snapshot.tree)]), link);
    assert_eq!(snapshot.skips.named[0].why, SkippedWhy::BrokenRepository);
    assert_eq!(snapshot.skips.named[0].path, b"libs/module");
    assert!(unnamed_snapshot(&request(&run.checkout())).is_ok());
}

/// What a real repository says about itself, without its work being lost.
#[test]
fn nothing_that_a_nested_repository_says_is_run() {
    let run = Run::new();
    let (work, mark) = (run.path(), run.sandbox.path("ran"));
    let program = run.sandbox.path("program");
    write(&run.sandbox.path(""), "program", format!("#!/bin/sh\ntouch '{}'\ncat\n", mark.display()));
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let program = program.to_str().unwrap();
    for inner in ["embedded", "linked"] {
        let place = work.join(inner);
        init(&place);
        write(&place, "file", "1");
        write(&place, ".gitattributes", "* filter=x\n");
        git(&place, &["add", "--all"]);
        git(&place, &["commit", "--quiet", "--message=inner"]);
        git(&place, &["config", "filter.x.clean", program]);
        git(&place, &["config", "core.fsmonitor", program]);
        git(&place, &["config", "core.hooksPath", run.sandbox.path("").to_str().unwrap()]);
        write(&place, "file", "2");
    }
    let link = format!("160000,{},linked", text(&work.join("linked"), &["rev-parse", "HEAD"]));
    git(work, &["update-index", "--add", "--cacheinfo", &link]);
    git(work, &["commit", "--quiet", "--message=link"]);
    let _ = fs::remove_file(&mark);
    let snapshot = quickly(&run);
    assert!(!mark.exists(), "a program of the agent's ran");
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    assert_eq!(content(run.vault(), &snapshot.tree, "embedded/file"), "2");
    let beside = oid(run.vault(), &format!("{}^2^{{tree}}", snapshot.commit));
    assert_eq!(content(run.vault(), &beside, "linked/file"), "2");
    let bundles =
        names(run.vault(), &beside).into_iter().filter(|name| name.ends_with(".fleet-commits.bundle"));
    assert_eq!(bundles.count(), 2);
}

type Spoil<'a> = &'a dyn Fn(&Path);

#[test]
fn a_repository_that_cannot_be_read_keeps_its_files() {
    let run = Run::new();
    let work = run.path();
    let secret = run.sandbox.repository("secret");
    let spoiled: [(&str, Spoil<'_>); 7] = [
        ("fifo-head", &|git| pipe(&git.join("HEAD"))),
        ("fifo", &|git| {
            fs::remove_dir_all(git).unwrap();
            pipe(git);
        }),
        ("link", &|git| {
            fs::remove_dir_all(git).unwrap();
            std::os::unix::fs::symlink(secret.join(".git"), git).unwrap();
        }),
        ("pointer", &|git| {
            fs::remove_dir_all(git).unwrap();
            fs::write(git, format!("gitdir: {}\n", secret.join(".git").display())).unwrap();
        }),
        ("commondir", &|git| {
            fs::write(git.join("commondir"), secret.join(".git").as_os_str().as_encoded_bytes()).unwrap();
        }),
        ("no-objects", &|git| {
            fs::write(git.join("refs/heads/main"), "1111111111111111111111111111111111111111\n").unwrap();
        }),
        ("huge-head", &|git| {
            fs::File::create(git.join("HEAD")).unwrap().set_len(10 << 30).unwrap();
        }),
    ];
    for (name, spoil) in &spoiled {
        init(&work.join(name));
        write(work, &format!("{name}/file"), name);
        write(work, &format!("{name}/deep/file"), name);
        spoil(&work.join(name).join(".git"));
    }
    let snapshot = quickly(&run);
    for (name, _) in &spoiled {
        assert_eq!(content(run.vault(), &snapshot.tree, &format!("{name}/file")), *name);
        assert_eq!(content(run.vault(), &snapshot.tree, &format!("{name}/deep/file")), *name);
        let skipped = snapshot.skips.named.iter().find(|skipped| skipped.path == name.as_bytes());
        assert_eq!(skipped.map(|skipped| skipped.why), Some(SkippedWhy::BrokenRepository), "{name}");
    }
    assert!(snapshot.skips.is_a_loss());
    let found = names(run.vault(), &snapshot.tree);
    assert!(!found.iter().any(|name| name.contains(".git/")), "{found:?}");
}

#[test]
fn clones_that_are_shallow_or_of_the_other_kind() {
    let run = Run::new();
    let work = run.path();
    let other = run.sandbox.repository("other");
    for number in 0..3 {
        write(&other, "file", number.to_string());
        git(&other, &["add", "file"]);
        git(&other, &["commit", "--quiet", "--message=x"]);
    }
    let url = format!("file://{}", other.display());
    git(work, &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    git(work, &["init", "--quiet", "--object-format=sha256", "long"]);
    for inner in ["shallow", "long"] {
        let place = work.join(inner);
        write(&place, "own", inner);
        git(&place, &["add", "own"]);
        git(&place, &["commit", "--quiet", "--message=own"]);
    }
    let snapshot = quickly(&run);
    assert_eq!(snapshot.skips.total, 0, "{:?}", snapshot.skips);
    assert_eq!(content(run.vault(), &snapshot.tree, "shallow/file"), "2");
    let beside = oid(run.vault(), &format!("{}^2^{{tree}}", snapshot.commit));
    assert_eq!(names(run.vault(), &beside), ["long/.fleet-commits.bundle", "shallow/.fleet-commits.bundle"]);
    assert!(!quickly(&run).fresh);
}

#[test]
fn patterns_and_attributes_that_wait() {
    let run = Run::new();
    let work = run.path();
    for folder in ["pipes", "huge", "links", "tracked"] {
        write(work, &format!("{folder}/in/file"), folder);
        write(work, &format!("{folder}/new\nline"), folder);
        write(work, &format!("{folder}/gone"), "x");
    }
    git(work, &["add", "tracked"]);
    git(work, &["commit", "--quiet", "--message=tracked"]);
    write(work, "tracked/in/file", "changed");
    fs::remove_file(work.join("tracked/gone")).unwrap();
    write(work, "tracked/program", "#!/bin/sh");
    fs::set_permissions(work.join("tracked/program"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    std::os::unix::fs::symlink("in", work.join("tracked/link")).unwrap();
    for name in [".gitignore", ".gitattributes"] {
        pipe(&work.join("pipes").join(name));
        pipe(&work.join("tracked").join(name));
        fs::File::create(work.join("huge").join(name)).unwrap().set_len(10 << 30).unwrap();
        std::os::unix::fs::symlink("/dev/zero", work.join("links").join(name)).unwrap();
    }
    let max_file = Some(1 << 30);
    let begin = Instant::now();
    let snapshot = run.taken_with(|take| TakeSnapshot { max_file, ..take });
    assert!(begin.elapsed() < Duration::from_secs(30), "it took {:?}", begin.elapsed());
    for folder in ["pipes", "huge", "links"] {
        assert_eq!(content(run.vault(), &snapshot.tree, &format!("{folder}/in/file")), folder);
        assert_eq!(content(run.vault(), &snapshot.tree, &format!("{folder}/new\nline")), folder);
    }
    assert_eq!(content(run.vault(), &snapshot.tree, "tracked/in/file"), "changed");
    assert_eq!(content(run.vault(), &snapshot.tree, "tracked/link"), "in");
    assert!(!names(run.vault(), &snapshot.tree).contains(&"tracked/gone".to_owned()));
    let listed =
        text(run.vault(), &["ls-tree", "-r", snapshot.tree.as_str(), "tracked/program", "tracked/link"]);
    assert!(listed.contains("120000 blob") && listed.contains("100755 blob"), "{listed}");
    let whys: Vec<_> = snapshot.skips.named.iter().map(|skipped| skipped.why).collect();
    assert_eq!(whys.iter().filter(|why| **why == SkippedWhy::Special).count(), 4, "{whys:?}");
    assert_eq!(whys.len(), 6, "{whys:?}");
}

#[test]
fn patterns_of_the_root_that_wait() {
    let run = Run::new();
    let work = run.path();
    write(work, "target/build", "ignored no more");
    write(work, "src/main.rs", "changed");
    pipe(&work.join(".gitignore"));
    pipe(&work.join(".gitattributes"));
    let snapshot = quickly(&run);
    assert_eq!(names(run.vault(), &snapshot.tree), ["README.md", "src/main.rs", "target/build"]);
    assert_eq!(content(run.vault(), &snapshot.tree, "src/main.rs"), "changed");
}

/// Root may list every folder, unless its path is too long for the system.
#[test]
fn folders_that_cannot_be_listed_are_told() {
    let run = Run::new();
    let work = run.path();
    for top in ["deep", "target"] {
        let mut folder = fs::File::open(work).unwrap();
        for name in std::iter::once(top.to_owned()).chain((0..30).map(|_| "x".repeat(200))) {
            rustix::fs::mkdirat(&folder, &name, rustix::fs::Mode::RWXU).unwrap();
            let flags = rustix::fs::OFlags::RDONLY;
            folder = rustix::fs::openat(&folder, &name, flags, rustix::fs::Mode::empty()).unwrap().into();
        }
    }
    write(work, "deep/file", "x");
    write(work, "closed/file", "y");
    let mode =
        |mode| fs::set_permissions(work.join("closed"), std::os::unix::fs::PermissionsExt::from_mode(mode));
    mode(0o000).unwrap();
    let is_closed = fs::read_dir(work.join("closed")).is_err();
    let snapshot = quickly(&run);
    mode(0o755).unwrap();
    assert_eq!(content(run.vault(), &snapshot.tree, "deep/file"), "x");
    let skipped: Vec<_> =
        snapshot.skips.named.iter().map(|skipped| (skipped.path.len(), skipped.why)).collect();
    let closed = is_closed.then_some((6, SkippedWhy::Unreadable));
    let deep = skipped.iter().copied().find(|(length, _)| *length > 3_000);
    assert_eq!(deep.map(|(_, why)| why), Some(SkippedWhy::Unreadable));
    assert_eq!(skipped.iter().copied().find(|(length, _)| *length < 3_000), closed);
    assert_eq!(skipped.len(), 1 + usize::from(is_closed), "what is ignored is not told");
    assert!(snapshot.skips.is_a_loss());
}

/// A file that is far too large to be stored, with next to nothing on the disk.
fn sparse(place: &Path) {
    fs::File::create(place).unwrap().set_len(300 << 30).unwrap();
}

#[test]
fn files_that_are_too_large_are_left_out_and_told() {
    let run = Run::new();
    let work = run.path();
    sparse(&work.join("image.raw"));
    sparse(&work.join("src/main.rs"));
    write(work, "README.md", "changed");
    write(work, "work.txt", "new");
    let snapshot = quickly(&run);
    let found = names(run.vault(), &snapshot.tree);
    assert_eq!(found, [".gitignore", "README.md", "src/main.rs", "work.txt"]);
    assert_eq!(content(run.vault(), &snapshot.tree, "README.md"), "changed");
    let mut skipped: Vec<_> = snapshot.skips.named.iter().map(|skipped| skipped.path.clone()).collect();
    skipped.sort();
    assert_eq!(skipped, [b"image.raw".to_vec(), b"src/main.rs".to_vec()]);
    assert!(snapshot.skips.is_a_loss());
}
