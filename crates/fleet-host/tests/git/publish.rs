//! Branches that are published into the user's repository.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::sandbox::{Sandbox, git, try_git};
use crate::support::{hook_ran, oid, project, text};
use crate::vault::Vault;
use fleet_host::git::{Compression, NotPublished, Oid, Publish, Published, publish};

/// Publishes a commit that came after a base that both the repository and the vault have.
pub(crate) fn publish_after(
    base: &Oid,
    (repo, vault): (&Path, &Path),
    branch: &str,
    (commit, expected): (&Oid, Option<&Oid>),
) -> Published {
    let known: Vec<Oid> = [base].into_iter().chain(expected).cloned().collect();
    let compression = Compression::Quick;
    publish(&Publish { repo, vault, branch, commit, expected, known: &known, compression }).unwrap()
}

/// A user's repository and our vault beside it.
pub(crate) struct World {
    pub(crate) sandbox: Sandbox,
    pub(crate) repo: PathBuf,
    pub(crate) vault: Vault,
    pub(crate) base: Oid,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::with(&[])
    }

    pub(crate) fn with(init: &[&str]) -> Self {
        let sandbox = Sandbox::new();
        let repo = if init.is_empty() {
            project(&sandbox, "main")
        } else {
            let repo = sandbox.folder("main");
            git(&repo, &[&["init", "--quiet", "--initial-branch=main"], init].concat());
            git(&repo, &["commit", "--quiet", "--allow-empty", "--message=start"]);
            repo
        };
        Self::around(sandbox, repo)
    }

    pub(crate) fn around(sandbox: Sandbox, repo: PathBuf) -> Self {
        let vault = Vault::of(&sandbox, &repo.join(".git"));
        let base = oid(&repo, "HEAD");
        Self { sandbox, repo, vault, base }
    }

    pub(crate) fn git_dir(&self) -> PathBuf {
        self.repo.join(".git")
    }

    /// Publishes to the branch `work`.
    pub(crate) fn publish(&self, commit: &Oid, expected: Option<&Oid>) -> Published {
        self.publish_as("work", commit, expected)
    }

    pub(crate) fn publish_as(&self, branch: &str, commit: &Oid, expected: Option<&Oid>) -> Published {
        publish_after(&self.base, (&self.git_dir(), &self.vault.dir), branch, (commit, expected))
    }

    /// The user's repository must be whole, without anything borrowed and without anything of ours left in it.
    #[track_caller]
    pub(crate) fn check(&self) {
        check(&self.repo);
        assert_eq!(files(&self.vault.dir, "fleet-publish"), Vec::<PathBuf>::new());
    }

    #[track_caller]
    pub(crate) fn at(&self, branch: &str) -> Option<Oid> {
        let answer =
            try_git(&self.repo, &["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")]);
        Oid::parse(String::from_utf8_lossy(&answer.stdout).trim()).ok()
    }
}

/// What is in a folder and has this in its name.
pub(crate) fn files(folder: &Path, part: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().contains(part)).collect()
}

#[track_caller]
pub(crate) fn check(repo: &Path) {
    text(repo, &["fsck", "--strict", "--full", "--no-dangling"]);
    let packs = repo.join(".git/objects/pack");
    for left in [".keep", ".fleet-part", "tmp_"] {
        assert_eq!(files(&packs, left), Vec::<PathBuf>::new());
    }
    assert!(!repo.join(".git/objects/info/alternates").exists());
}

pub(crate) fn kept(why: NotPublished) -> Published {
    Published::Kept(why)
}

#[test]
fn a_new_branch_comes_with_all_its_objects() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one"), ("src/b", "two")]);
    let two = world.vault.commit(&one, &[("a", "changed")]);
    assert_eq!(world.publish(&two, None), Published::Done);
    assert!(!hook_ran(&world.repo));
    assert_eq!(world.at("work"), Some(two.clone()));
    world.check();
    // The user's own checkout is as it was, and their repository does not need the vault.
    assert_eq!(text(&world.repo, &["status", "--porcelain"]), "");
    fs::remove_dir_all(&world.vault.dir).unwrap();
    git(&world.repo, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(text(&world.repo, &["show", "work:src/b"]), "two");
    world.check();
    let pack = &files(&world.git_dir().join("objects/pack"), ".pack")[0];
    assert_eq!(fs::metadata(pack).unwrap().mode() & 0o222, 0, "git keeps packs read-only");
}

#[test]
fn only_what_is_new_is_copied_and_nothing_for_the_base_itself() {
    let world = World::new();
    let packs = world.git_dir().join("objects/pack");
    assert_eq!(world.publish_as("same", &world.base, None), Published::Done);
    let older = oid(&world.repo, "HEAD~1");
    assert_eq!(world.publish_as("older", &older, None), Published::Done);
    assert_eq!(files(&packs, ""), Vec::<PathBuf>::new());
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    let index = files(&packs, ".idx").remove(0);
    let listed = text(&world.repo, &["verify-pack", "-v", index.to_str().unwrap()]);
    let objects = listed
        .lines()
        .filter(|line| line.contains("commit") || line.contains("tree") || line.contains("blob"));
    assert_eq!(objects.count(), 3, "a commit, a tree and a file: {listed}");
    world.check();
}

#[test]
fn publishing_again_changes_nothing_and_more_work_moves_the_branch_on() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    assert_eq!(world.publish(&one, None), Published::Done);
    assert_eq!(world.publish(&one, Some(&one)), Published::Done);
    let two = world.vault.commit(&one, &[("a", "two")]);
    assert_eq!(world.publish(&two, Some(&one)), Published::Done);
    assert_eq!(world.at("work"), Some(two.clone()));
    // A run that started over does not contain what it published before.
    let other = world.vault.commit(&world.base, &[("a", "anew")]);
    assert_eq!(world.publish(&other, Some(&two)), Published::Done);
    assert_eq!(world.at("work"), Some(other));
    let log = text(&world.repo, &["reflog", "show", "--format=%gs", "work"]);
    assert!(log.starts_with("codefleet: publish"), "{log}");
    world.check();
}

#[test]
fn what_the_user_did_with_the_branch_stays() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let two = world.vault.commit(&one, &[("a", "two")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    // Somewhere else.
    git(&world.repo, &["commit", "--quiet", "--allow-empty", "--message=theirs", "--no-verify"]);
    let theirs = oid(&world.repo, "HEAD");
    git(&world.repo, &["branch", "--force", "work", "main"]);
    assert_eq!(world.publish(&two, Some(&one)), kept(NotPublished::Moved { at: theirs.clone() }));
    assert_eq!(world.at("work"), Some(theirs));
    // Gone.
    git(&world.repo, &["branch", "-D", "--quiet", "work"]);
    assert_eq!(world.publish(&two, Some(&one)), kept(NotPublished::Deleted));
    assert_eq!(world.at("work"), None);
    // Back to something that the work contains.
    git(&world.repo, &["branch", "work", world.base.as_str()]);
    git(&world.repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(&world.repo, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(world.publish(&two, Some(&one)), kept(NotPublished::Moved { at: world.base.clone() }));
    assert_eq!(world.at("work"), Some(world.base.clone()));
    // On to something that the work contains.
    assert_eq!(world.publish_as("other", &two, None), Published::Done);
    git(&world.repo, &["branch", "--force", "work", "other"]);
    let three = world.vault.commit(&two, &[("a", "three")]);
    assert_eq!(world.publish(&three, Some(&one)), Published::Done);
    assert_eq!(world.at("work"), Some(three));
    world.check();
}

#[test]
fn what_the_user_pruned_is_packed_again() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let two = world.vault.commit(&one, &[("a", "two")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    git(&world.repo, &["branch", "-D", "--quiet", "work"]);
    git(&world.repo, &["reflog", "expire", "--expire=now", "--all"]);
    git(&world.repo, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(world.publish_as("again", &two, None), Published::Done);
    world.check();
}

#[test]
fn a_branch_that_exists_is_not_taken_for_a_new_one() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let taken = |branch: &str| match world.publish_as(branch, &one, None) {
        Published::Kept(NotPublished::NameTaken { why }) => why,
        other => panic!("{branch}: {other:?}"),
    };
    git(&world.repo, &["branch", "feature/a"]);
    git(&world.repo, &["branch", "claude"]);
    git(&world.repo, &["symbolic-ref", "refs/heads/sly", "refs/heads/claude"]);
    for packed in [false, true] {
        if packed {
            git(&world.repo, &["pack-refs", "--all"]);
        }
        assert_eq!(taken("claude"), "it exists already");
        assert!(taken("feature").contains("feature/a"));
        assert!(taken("feature/a/b").contains("feature/a"));
        assert!(taken("claude/1").contains("claude"));
        assert!(taken("sly").contains("refs/heads/claude"));
    }
    assert_eq!(world.at("sly"), Some(world.base.clone()));
    assert_eq!(files(&world.git_dir().join("objects/pack"), ".pack"), Vec::<PathBuf>::new());
    assert_eq!(world.publish_as("feature/b", &one, None), Published::Done);
}

#[test]
fn a_branch_that_is_checked_out_is_not_moved() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("a", "one")]);
    let two = world.vault.commit(&one, &[("a", "two")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    let here = kept(NotPublished::CheckedOut { place: world.repo.clone() });
    git(&world.repo, &["switch", "--quiet", "work"]);
    assert_eq!(world.publish(&two, Some(&one)), here);
    assert_eq!(world.publish(&one, Some(&one)), Published::Done, "it is there already");
    git(&world.repo, &["switch", "--quiet", "main"]);
    // In a linked worktree, until that is gone.
    let linked = world.sandbox.path("linked tree");
    git(&world.repo, &["worktree", "add", "--quiet", linked.to_str().unwrap(), "work"]);
    let there = kept(NotPublished::CheckedOut { place: linked.clone() });
    assert_eq!(world.publish(&two, Some(&one)), there);
    fs::remove_dir_all(&linked).unwrap();
    assert_eq!(world.publish(&two, Some(&one)), Published::Done);
    // Not born yet.
    git(&world.repo, &["checkout", "--quiet", "--orphan", "unborn"]);
    assert_eq!(world.publish_as("unborn", &one, None), here);
    assert_eq!(world.at("unborn"), None);
}

#[test]
fn a_branch_that_a_rebase_or_bisection_returns_to_is_not_moved() {
    let world = World::new();
    let one = world.vault.commit(&world.base, &[("README.md", "one")]);
    let two = world.vault.commit(&one, &[("README.md", "two")]);
    assert_eq!(world.publish(&one, None), Published::Done);
    let here = kept(NotPublished::CheckedOut { place: world.repo.clone() });
    // A rebase that stops at a conflict.
    fs::write(world.repo.join("README.md"), "theirs").unwrap();
    git(&world.repo, &["commit", "--quiet", "--all", "--message=theirs"]);
    assert!(!try_git(&world.repo, &["rebase", "main", "work"]).status.success());
    assert!(!try_git(&world.repo, &["symbolic-ref", "--quiet", "HEAD"]).status.success());
    assert_eq!(world.publish(&two, Some(&one)), here);
    git(&world.repo, &["rebase", "--abort"]);
    // One of a branch that contains it, and takes it along.
    git(&world.repo, &["switch", "--quiet", "--create", "above", "work"]);
    git(&world.repo, &["commit", "--quiet", "--allow-empty", "--message=above"]);
    assert!(!try_git(&world.repo, &["rebase", "--update-refs", "main", "above"]).status.success());
    assert_eq!(world.publish(&two, Some(&one)), here);
    git(&world.repo, &["rebase", "--abort"]);
    git(&world.repo, &["switch", "--quiet", "work"]);
    git(&world.repo, &["bisect", "start", "work", "main~1"]);
    git(&world.repo, &["checkout", "--quiet", "--detach"]);
    assert_eq!(world.publish(&two, Some(&one)), here);
    git(&world.repo, &["bisect", "reset"]);
    git(&world.repo, &["switch", "--quiet", "main"]);
    assert_eq!(world.publish(&two, Some(&one)), Published::Done);
    world.check();
}

/// Whose branch it was decides whether what was there when the run began may be left out.
#[test]
fn a_branch_that_existed_before_only_grows() {
    use crate::support::{area, continued};
    use fleet_host::git::OpenRequest;
    for forward_only in [true, false] {
        let sandbox = Sandbox::new();
        let repo = project(&sandbox, "main");
        git(&repo, &["branch", "theirs"]);
        let area = area(&sandbox, &repo);
        let open = OpenRequest { forward_only, ..continued("run", "theirs") };
        let workspace = area.open(&open).unwrap();
        assert_eq!(workspace.has_existing_branch(), forward_only);
        let before = oid(&repo, "theirs");
        git(workspace.path(), &["commit", "--quiet", "--amend", "--allow-empty", "--message=rewritten"]);
        let rewritten = oid(workspace.path(), "HEAD");
        let expected = if forward_only { kept(NotPublished::Rewritten) } else { Published::Done };
        assert_eq!(workspace.publish_commits().unwrap(), Some(expected));
        let tip = if forward_only { before } else { rewritten };
        assert_eq!(oid(&repo, "theirs"), tip);
    }
}
