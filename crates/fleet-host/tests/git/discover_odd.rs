//! What is broken, hostile or rare.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use crate::sandbox::{Sandbox, found, git, refused};
use fleet_host::git::{DiscoverError, discover};

#[test]
fn symbolic_links_lead_to_the_same_project() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.folder("main/src");
    symlink(&main, sandbox.path("link")).unwrap();
    symlink(main.join("src"), sandbox.path("deep")).unwrap();
    let repository = found(&main);
    assert_eq!(found(&sandbox.path("link")), repository);
    assert_eq!(found(&sandbox.path("link/src")), repository);
    assert_eq!(found(&sandbox.path("deep")), repository);

    let other = sandbox.folder("other");
    symlink(main.join(".git"), other.join(".git")).unwrap();
    assert_eq!(found(&other).common_dir, main.join(".git"));
}

#[test]
fn head_that_is_a_symbolic_link() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let head = main.join(".git/HEAD");
    fs::remove_file(&head).unwrap();
    symlink("refs/heads/unborn", &head).unwrap();
    assert_eq!(found(&main).common_dir, main.join(".git"));

    fs::remove_file(&head).unwrap();
    symlink("elsewhere", &head).unwrap();
    assert!(matches!(refused(&main), DiscoverError::NotARepository { .. }));
}

#[test]
fn invalid_git_directories_are_passed_over() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let repository = found(&main);
    sandbox.folder("main/empty/.git");
    assert_eq!(found(&main.join("empty")), repository);

    let half = sandbox.folder("main/half/.git");
    fs::write(half.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::create_dir(half.join("objects")).unwrap();
    assert_eq!(found(&main.join("half")), repository);
    fs::create_dir(half.join("refs")).unwrap();
    assert_eq!(found(&main.join("half")).common_dir, half);
    for head in ["", "ref: heads/main\n", "0123456789abcdef\n", "ref:"] {
        fs::write(half.join("HEAD"), head).unwrap();
        assert_eq!(found(&main.join("half")), repository, "{head:?}");
    }

    let dangling = sandbox.folder("main/dangling");
    symlink("nowhere", dangling.join(".git")).unwrap();
    assert_eq!(found(&dangling), repository);
}

#[test]
fn git_file_that_points_nowhere_is_named() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let place = sandbox.folder("main/broken/deep");
    let git_file = main.join("broken/.git");
    for target in [main.join("gone"), main.join(".git/HEAD"), main.join("broken")] {
        fs::write(&git_file, format!("gitdir: {}\n", target.display())).unwrap();
        let DiscoverError::BrokenGitFile { file, target: named } = refused(&place) else {
            panic!("another error")
        };
        assert_eq!((file, named), (git_file.clone(), target));
    }
}

#[test]
fn worktree_whose_repository_was_deleted() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let linked = sandbox.worktree(&main, "linked");
    fs::remove_dir_all(&main).unwrap();
    let DiscoverError::BrokenGitFile { file, .. } = refused(&linked) else { panic!("another error") };
    assert_eq!(file, linked.join(".git"));
}

#[test]
fn git_file_that_says_nothing_is_named() {
    let sandbox = Sandbox::new();
    sandbox.repository("main");
    let place = sandbox.folder("main/invalid");
    let huge = format!("gitdir: {}", "x".repeat(1 << 20));
    for content in ["", "gitdir: \n", "gitdir:/a\n", "hello\n", &huge] {
        fs::write(place.join(".git"), content).unwrap();
        let DiscoverError::InvalidGitFile { file } = refused(&place) else { panic!("another error") };
        assert_eq!(file, place.join(".git"));
    }
}

#[test]
fn common_dir_file_that_points_nowhere_is_named() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let linked = sandbox.worktree(&main, "linked");
    let common_dir = main.join(".git/worktrees/linked/commondir");
    fs::write(&common_dir, "gone/too\n").unwrap();
    let DiscoverError::BrokenGitFile { file, .. } = refused(&linked) else { panic!("another error") };
    assert_eq!(file, common_dir);
    fs::write(&common_dir, "").unwrap();
    let DiscoverError::InvalidGitFile { file } = refused(&linked) else { panic!("another error") };
    assert_eq!(file, common_dir);
}

#[test]
fn odd_ends_of_lines_and_names_with_spaces() {
    let sandbox = Sandbox::new();
    let store = sandbox.repository("a store ").join(".git");
    let checkout = sandbox.folder("checkout");
    fs::write(checkout.join(".git"), "gitdir: ../a store /.git\r\n\n").unwrap();
    assert_eq!(found(&checkout).common_dir, store);
}

#[test]
fn checkout_declared_bare() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let linked = sandbox.worktree(&main, "linked");
    git(&main, &["config", "core.bare", "true"]);
    assert_eq!(found(&main).work_tree, None);
    assert_eq!(found(&linked).work_tree, Some(linked));
    fs::remove_file(main.join(".git/config")).unwrap();
    assert_eq!(found(&main).work_tree, Some(main));
}

#[test]
fn starts_that_are_no_directories() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    fs::write(main.join("file"), "").unwrap();
    for missing in ["gone", "file/below"] {
        let error = discover(&main.join(missing)).unwrap_err();
        assert!(matches!(error, DiscoverError::NoSuchDirectory { .. }), "{error:?}");
    }
    let error = discover(&main.join("file")).unwrap_err();
    assert!(matches!(error, DiscoverError::NotADirectory { .. }), "{error:?}");
    let error = discover(Path::new("")).unwrap_err();
    assert!(matches!(error, DiscoverError::NoSuchDirectory { .. }), "{error:?}");
}

#[test]
fn repository_that_may_not_be_read_is_an_error_and_not_the_one_around_it() {
    let sandbox = Sandbox::new();
    sandbox.repository("main");
    let inner = sandbox.repository("main/inner");
    let git_dir = inner.join(".git");
    fs::set_permissions(&git_dir, fs::Permissions::from_mode(0o000)).unwrap();
    let readable_all_the_same = fs::read_dir(&git_dir).is_ok();
    let outcome = discover(&inner);
    fs::set_permissions(&git_dir, fs::Permissions::from_mode(0o755)).unwrap();
    // The superuser reads everything, and then there is nothing to see here.
    if !readable_all_the_same {
        assert!(matches!(outcome, Err(DiscoverError::Io { .. })), "{outcome:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_unicode() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let sandbox = Sandbox::new();
    let main = sandbox.repository(OsStr::from_bytes(b"caf\xe9"));
    git(&main, &["worktree", "add", "--quiet", "--detach", "../linked"]);
    let repository = found(&sandbox.path("linked"));
    assert_eq!(repository.common_dir, main.join(".git"));
    assert_eq!(repository.display_name(), "caf\u{fffd}");
}

#[cfg(target_os = "linux")]
#[test]
fn the_search_ends_at_a_mount_point() {
    let DiscoverError::NotARepository { searched_to, .. } = refused(Path::new("/proc/self/fd")) else {
        panic!("another error")
    };
    assert_eq!(searched_to, Path::new("/proc"));
}
