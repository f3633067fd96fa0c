//! Repositories that are not of the usual kind.

use super::*;

#[test]
fn sha256_works() {
    let world = World::with_format("sha256");
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    world.take(&tip).unwrap();
    assert!(world.owns(&tip));
    git(&world.work(), &["repack", "-q", "-a", "-d", "-l"]);
    let packed = commit(&world.work(), "more");
    git(&world.work(), &["repack", "-q", "-a", "-d", "-l"]);
    world.take(&packed).unwrap();
    assert!(world.owns(&packed));
}

#[test]
fn packed_work_is_taken() {
    let world = World::new();
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    git(&world.work(), &["tag", "--annotate", "--message=v1", "v1"]);
    // With all that is borrowed.
    git(&world.work(), &["repack", "-q", "-a", "-d"]);
    git(&world.work(), &["prune-packed"]);
    let tag = oid(&world.work(), "v1");
    world.take_beyond(&[tip.clone(), tag.clone()], std::slice::from_ref(&world.base)).unwrap();
    assert!(world.owns(&tip) && world.owns(&tag) && !world.owns(&world.base));
}

#[test]
fn work_on_a_shallow_clone_is_taken() {
    let folder = tempfile::tempdir().unwrap();
    let (full, user) = (folder.path().join("full"), folder.path().join("user"));
    init(&full, &[]);
    write(&full, "a", "1");
    commit(&full, "one");
    write(&full, "a", "2");
    commit(&full, "two");
    let source = format!("file://{}", full.display());
    git(folder.path(), &["clone", "--quiet", "--depth=1", &source, user.to_str().unwrap()]);
    let world = World::around(folder, "sha1");
    write(&world.work(), "b", "b");
    let tip = commit(&world.work(), "work");
    world.take(&tip).unwrap();
    assert!(world.owns(&tip));
    // Also where the cut itself is taken.
    world.take_beyond(std::slice::from_ref(&tip), &[]).unwrap();
    assert!(world.owns(&world.base));
}

/// The user has a clone without the content of files, and fetches that only when it is needed.
fn partial() -> World {
    let folder = tempfile::tempdir().unwrap();
    let (full, user) = (folder.path().join("full"), folder.path().join("user"));
    init(&full, &[]);
    git(&full, &["config", "uploadpack.allowFilter", "true"]);
    for (path, content) in [("a", "a"), ("folder/b", "b"), ("folder/c", "old")] {
        write(&full, path, content);
    }
    commit(&full, "one");
    write(&full, "folder/c", "new");
    commit(&full, "two");
    let source = format!("file://{}", full.display());
    let clone = ["clone", "--quiet", "--filter=blob:none", "--no-checkout", &source, user.to_str().unwrap()];
    git(folder.path(), &clone);
    // The server is gone: whoever tries to fetch fails.
    fs::remove_dir_all(&full).unwrap();
    let root = fs::canonicalize(folder.path()).unwrap();
    let base = oid(&user, "HEAD");
    let world = World { root, base, _folder: folder };
    init(&world.vault(), &["--bare"]);
    init(&world.work(), &[]);
    lend(&world.vault(), &[&user.join(".git")]);
    lend(&world.git_dir(), &[&world.vault(), &user.join(".git")]);
    world
}

/// A commit on the base with one more file, made without reading any other.
fn add_file(world: &World, tree: &str, path: &str) -> Oid {
    let blob = git_with(&world.work(), &["hash-object", "-w", "--stdin"], path.as_bytes());
    git(&world.work(), &["read-tree", tree]);
    git(&world.work(), &["update-index", "--add", "--cacheinfo", &format!("100644,{blob},{path}")]);
    let tree = git(&world.work(), &["write-tree", "--missing-ok"]);
    let base = world.base.as_str();
    Oid::parse(&git(&world.work(), &["commit-tree", "-p", base, "-m", "work", &tree])).unwrap()
}

#[test]
fn what_a_partial_clone_lacks_does_not_matter() {
    let world = partial();
    let tip = add_file(&world, world.base.as_str(), "folder/new");
    world.take(&tip).unwrap();
    assert!(world.owns(&tip) && world.owns(&oid(&world.work(), &format!("{tip}:folder/new"))));
    // With a file as it was in an older commit, which nobody has.
    let older = add_file(&world, &format!("{}~1", world.base), "folder/other");
    world.take(&older).unwrap();
    assert!(world.owns(&older));
}

#[test]
fn what_the_agent_lacks_is_no_promise_of_a_partial_clone() {
    let world = partial();
    let tip = add_file(&world, world.base.as_str(), "folder/new");
    let blob = oid(&world.work(), &format!("{tip}:folder/new"));
    let file = world.git_dir().join("objects").join(&blob.as_str()[..2]).join(&blob.as_str()[2..]);
    fs::remove_file(file).unwrap();
    world.refused(&tip);
}

#[test]
fn a_known_commit_that_is_missing_is_our_fault() {
    let world = World::new();
    let tip = commit(&world.work(), "work");
    let missing = Oid::parse(&"1".repeat(40)).unwrap();
    let result = world.take_beyond(&[tip], &[missing]);
    assert!(matches!(result, Err(TakeError::Git(_))), "{result:?}");
}

#[test]
fn only_what_is_new_is_taken_from_many_objects() {
    let world = World::new();
    for number in 0..500 {
        write(&world.work(), &format!("many/{number}"), format!("{number}"));
    }
    let tip = commit(&world.work(), "many");
    world.take(&tip).unwrap();
    assert_eq!(git(&world.vault(), &["rev-list", "--count", tip.as_str()]), "2");
    let counted = git(&world.vault(), &["count-objects", "-v"]);
    assert!(counted.contains("in-pack: 503"), "{counted}");
}
