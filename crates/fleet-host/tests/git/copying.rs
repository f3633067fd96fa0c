//! Copying files that git does not know into a worktree.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use crate::support::{Run, write};
use fleet_host::copy::{CopyError, NotCopied, copy_files, find_files};

fn patterns(list: &[&str]) -> Vec<String> {
    list.iter().map(|&text| text.to_owned()).collect()
}

#[test]
fn files_are_found_by_pattern_and_copied_privately() {
    let run = Run::new();
    let (repo, checkout) = (&run.repo, run.checkout());
    write(repo, ".env", "TOKEN=1");
    write(repo, "config/a.key", "a");
    write(repo, "config/b.key", "b");
    write(repo, "config/b.txt", "c");
    write(repo, "node_modules/x/.env", "not this");
    write(repo, "bin/login", "#!/bin/sh\n");
    fs::set_permissions(repo.join("bin/login"), fs::Permissions::from_mode(0o755)).unwrap();
    let found = find_files(repo, &patterns(&[".env", "config/*.key", "bin/login", ".git/config"])).unwrap();
    assert_eq!(found, [".env", "bin/login", "config/a.key", "config/b.key"]);
    // Something from an earlier run is replaced.
    write(&checkout.work_tree, ".env", "old");
    let copied = copy_files(repo, &checkout, &found).unwrap();
    assert_eq!((copied.copied, copied.skipped), (found, vec![]));
    let mode = |path: &str| fs::metadata(checkout.work_tree.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!(fs::read_to_string(checkout.work_tree.join(".env")).unwrap(), "TOKEN=1");
    assert_eq!((mode(".env"), mode("bin/login"), mode("config")), (0o600, 0o700, 0o700));
    assert_eq!(fs::read_dir(checkout.work_tree.join("config")).unwrap().count(), 2);
}

#[test]
fn nothing_leaves_the_checkout_or_the_worktree() {
    let run = Run::new();
    let (repo, checkout) = (&run.repo, run.checkout());
    let outside = run.sandbox.folder("outside");
    write(&outside, "secret", "not yours");
    write(repo, "real.env", "inside");
    symlink("real.env", repo.join("link.env")).unwrap();
    symlink(outside.join("secret"), repo.join("out.env")).unwrap();
    symlink(repo.join(".git/config"), repo.join("git.env")).unwrap();
    write(repo, "linked/x.env", "x");
    write(repo, "blocked/x.env", "x");
    write(repo, "README.md.env", "x");
    symlink(&outside, checkout.work_tree.join("linked")).unwrap();
    write(&checkout.work_tree, "blocked", "a file");
    symlink(outside.join("secret"), checkout.work_tree.join("README.md.env")).unwrap();
    let found = find_files(repo, &patterns(&["**/*.env"])).unwrap();
    let copied = copy_files(repo, &checkout, &found).unwrap();
    assert_eq!(copied.copied, ["link.env", "real.env"]);
    let why = |path: &str| copied.skipped.iter().find(|(skipped, _)| skipped == path).unwrap().1;
    assert_eq!(why("out.env"), NotCopied::LeadsOutside);
    assert_eq!(why("git.env"), NotCopied::LeadsOutside);
    assert_eq!(why("linked/x.env"), NotCopied::NoWay);
    assert_eq!(why("blocked/x.env"), NotCopied::NoWay);
    assert_eq!(why("README.md.env"), NotCopied::NotAFile);
    assert_eq!(fs::read_to_string(checkout.work_tree.join("link.env")).unwrap(), "inside");
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "not yours");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn tracked_files_and_wrong_paths_are_left_alone() {
    let run = Run::new();
    let (repo, checkout) = (&run.repo, run.checkout());
    write(repo, "README.md", "edited in the checkout");
    let copied = copy_files(repo, &checkout, &patterns(&["README.md", "gone"])).unwrap();
    assert_eq!(copied.copied, Vec::<String>::new());
    assert_eq!(copied.skipped[0], ("README.md".to_owned(), NotCopied::Tracked));
    assert_eq!(copied.skipped[1], ("gone".to_owned(), NotCopied::Vanished));
    assert_eq!(fs::read_to_string(checkout.work_tree.join("README.md")).unwrap(), "# project\n");
    for wrong in ["../main/README.md", "/etc/passwd"] {
        assert!(copy_files(repo, &checkout, &patterns(&[wrong])).is_err(), "{wrong}");
        assert!(matches!(find_files(repo, &patterns(&[wrong])), Err(CopyError::Pattern(_))), "{wrong}");
    }
    for number in 0..1100 {
        write(repo, &format!("many/{number}"), "");
    }
    assert!(matches!(find_files(repo, &patterns(&["many"])), Err(CopyError::TooMany)));
}
