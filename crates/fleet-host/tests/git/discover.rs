//! The shapes that repositories have in daily use.

use std::fs;

use crate::sandbox::{Sandbox, found, git, refused, try_git};
use fleet_host::git::DiscoverError;

#[test]
fn main_checkout_and_its_folders() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("shop");
    let repository = found(&main);
    assert_eq!(repository.common_dir, main.join(".git"));
    assert_eq!(repository.git_dir, main.join(".git"));
    assert_eq!(repository.work_tree.as_deref(), Some(main.as_path()));
    assert_eq!(repository.display_name(), "shop");
    assert_eq!(found(&sandbox.folder("shop/deep/er")), repository);
}

#[test]
fn checkout_without_a_commit() {
    let sandbox = Sandbox::new();
    let fresh = sandbox.folder("fresh");
    git(&fresh, &["init", "--quiet"]);
    assert_eq!(found(&fresh).common_dir, fresh.join(".git"));
}

#[test]
fn only_checkouts_that_the_repository_knows_are_registered() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("shop");
    let worktree = sandbox.worktree(&main, "linked");
    assert!(found(&main).is_registered() && found(&worktree).is_registered());
    git(&main, &["config", "worktree.useRelativePaths", "true"]);
    assert!(found(&sandbox.worktree(&main, "relative")).is_registered());
    // A git directory of one's own whose objects and settings are the project's, and one that is the project's itself.
    let own = sandbox.folder("own");
    fs::write(own.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(own.join("commondir"), main.join(".git").to_str().unwrap()).unwrap();
    fs::write(own.join("config.worktree"), "[filter \"x\"]\n\tclean = touch /tmp/never\n").unwrap();
    for (name, git_dir) in [("forged", own), ("borrowed", main.join(".git"))] {
        let folder = sandbox.folder(name);
        fs::write(folder.join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
        let repository = found(&folder);
        assert_eq!(repository.common_dir, main.join(".git"), "{name}");
        assert!(!repository.is_registered(), "{name}");
    }
    // One that says it is another's.
    let copy = sandbox.folder("copy");
    fs::copy(worktree.join(".git"), copy.join(".git")).unwrap();
    assert!(!found(&copy).is_registered());
}

#[test]
fn detached_head() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    git(&main, &["checkout", "--quiet", "--detach"]);
    assert_eq!(found(&main).common_dir, main.join(".git"));
}

#[test]
fn linked_worktrees_belong_to_one_project() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let first = sandbox.worktree(&main, "first");
    let repository = found(&first);
    assert_eq!(repository.common_dir, main.join(".git"));
    assert_eq!(repository.git_dir, main.join(".git/worktrees/first"));
    assert_eq!(repository.work_tree.as_deref(), Some(first.as_path()));
    assert_eq!(repository.display_name(), "main");

    let second = sandbox.worktree(&first, "second");
    assert_eq!(found(&second).common_dir, main.join(".git"));

    // A worktree inside of the checkout is where it is, not the checkout around it.
    let nested = sandbox.worktree(&main, "main/nested");
    assert_eq!(found(&nested).work_tree, Some(nested));
}

#[test]
fn moved_worktree() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let before = sandbox.worktree(&main, "before");
    let after = sandbox.path("after");
    git(&main, &["worktree", "move", before.to_str().unwrap(), after.to_str().unwrap()]);
    let repository = found(&after);
    assert_eq!(repository.common_dir, main.join(".git"));
    assert_eq!(repository.work_tree, Some(after));
}

#[test]
fn worktree_with_a_relative_pointer() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let linked = sandbox.worktree(&main, "linked");
    fs::write(linked.join(".git"), "gitdir: ../main/.git/worktrees/linked\n").unwrap();
    assert_eq!(found(&linked).common_dir, main.join(".git"));

    let arguments = ["worktree", "add", "--quiet", "--detach", "--relative-paths", "../native"];
    if try_git(&main, &arguments).status.success() {
        assert_eq!(found(&sandbox.path("native")).common_dir, main.join(".git"));
    }
}

#[test]
fn submodule_is_a_project_of_its_own() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    let module = Sandbox::submodule(&main, &sandbox.repository("module"));
    let repository = found(&module);
    assert_eq!(repository.common_dir, main.join(".git/modules/libs/module"));
    assert_eq!(repository.work_tree, Some(module));
    assert_eq!(repository.display_name(), "module");

    let linked = sandbox.worktree(&main, "linked");
    assert_eq!(found(&linked).common_dir, main.join(".git"));
    // Not checked out there yet: an empty folder of the project around it.
    assert_eq!(found(&linked.join("libs/module")).common_dir, main.join(".git"));
    git(&linked, &["-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init"]);
    let common_dir = found(&linked.join("libs/module")).common_dir;
    assert_eq!(common_dir, main.join(".git/worktrees/linked/modules/libs/module"));
}

#[test]
fn bare_repository_and_its_worktree() {
    let sandbox = Sandbox::new();
    let bare = sandbox.bare("shop.git");
    let repository = found(&bare);
    assert_eq!(repository.common_dir, bare);
    assert_eq!(repository.work_tree, None);
    assert_eq!(repository.display_name(), "shop");
    assert_eq!(found(&bare.join("objects")), repository);

    let linked = sandbox.worktree(&bare, "linked");
    let repository = found(&linked);
    assert_eq!(repository.common_dir, bare);
    assert_eq!(repository.work_tree, Some(linked));
    assert_eq!(repository.display_name(), "shop");
}

#[test]
fn folder_that_holds_a_bare_repository_and_its_worktrees() {
    let sandbox = Sandbox::new();
    let holder = sandbox.folder("shop");
    let bare = sandbox.bare("shop/.bare");
    fs::write(holder.join(".git"), "gitdir: ./.bare\n").unwrap();
    let repository = found(&holder);
    assert_eq!(repository.common_dir, bare);
    assert_eq!(repository.work_tree, None);
    assert_eq!(repository.display_name(), "shop");

    let linked = sandbox.worktree(&holder, "shop/linked");
    assert_eq!(found(&linked).work_tree.as_deref(), Some(linked.as_path()));

    // Moves `core.bare` out of the shared file.
    git(&linked, &["sparse-checkout", "set", "src"]);
    assert!(bare.join("config.worktree").exists());
    assert_eq!(found(&holder).work_tree, None);
    assert_eq!(found(&linked).work_tree, Some(linked));
}

#[test]
fn git_directory_kept_elsewhere() {
    let sandbox = Sandbox::new();
    let checkout = sandbox.folder("checkout");
    let store = sandbox.path("store.git");
    let option = format!("--separate-git-dir={}", store.display());
    git(&checkout, &["init", "--quiet", &option]);
    let repository = found(&checkout);
    assert_eq!(repository.common_dir, store);
    assert_eq!(repository.work_tree, Some(checkout));
    assert_eq!(repository.display_name(), "store");
}

#[test]
fn inside_of_a_git_directory() {
    let sandbox = Sandbox::new();
    let main = sandbox.repository("main");
    sandbox.worktree(&main, "linked");
    for place in [".git", ".git/objects", ".git/refs/heads", ".git/worktrees"] {
        let repository = found(&main.join(place));
        assert_eq!(repository.common_dir, main.join(".git"));
        assert_eq!(repository.work_tree, None);
    }
    let repository = found(&main.join(".git/worktrees/linked"));
    assert_eq!(repository.common_dir, main.join(".git"));
    assert_eq!(repository.git_dir, main.join(".git/worktrees/linked"));
}

#[test]
fn other_formats_of_objects_and_refs() {
    for option in ["--object-format=sha256", "--ref-format=reftable"] {
        let sandbox = Sandbox::new();
        let main = sandbox.folder("main");
        if !try_git(&main, &["init", "--quiet", option]).status.success() {
            continue;
        }
        git(&main, &["commit", "--quiet", "--allow-empty", "--message=start"]);
        git(&main, &["checkout", "--quiet", "--detach"]);
        assert_eq!(found(&main).common_dir, main.join(".git"), "{option}");
        let linked = sandbox.worktree(&main, "linked");
        assert_eq!(found(&linked).common_dir, main.join(".git"), "{option}");
    }
}

#[test]
fn no_repository() {
    let sandbox = Sandbox::new();
    let place = sandbox.folder("a/b");
    let DiscoverError::NotARepository { start, .. } = refused(&place) else { panic!("another error") };
    assert_eq!(start, place);
}
