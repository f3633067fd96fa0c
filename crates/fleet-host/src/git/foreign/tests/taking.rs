//! Honest work, taken.

use std::io::Read as _;

use super::*;

#[test]
fn commits_are_taken_with_all_they_reach_and_nothing_else() {
    let world = World::new();
    write(&world.work(), "src/new.rs", "one\n");
    let first = commit(&world.work(), "first");
    write(&world.work(), "src/new.rs", "two\n");
    let second = commit(&world.work(), "second");
    git(&world.work(), &["checkout", "--quiet", "--detach", world.base.as_str()]);
    let other = commit(&world.work(), "not asked for");

    world.take(&second).unwrap();
    for object in [&first, &second, &oid(&world.work(), &format!("{first}:src/new.rs"))] {
        assert!(world.owns(object));
    }
    assert!(!world.owns(&other) && !world.owns(&world.base));
    git(&world.vault(), &["update-ref", "refs/heads/taken", second.as_str()]);
    git(&world.vault(), &["fsck", "--strict", "--no-dangling"]);
    let left: Vec<_> =
        files(&world.vault()).into_iter().filter(|path| path.to_string_lossy().contains("fleet-")).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn taking_again_or_what_is_known_changes_nothing() {
    let world = World::new();
    let tip = commit(&world.work(), "work");
    world.take(&tip).unwrap();
    let before = files(&world.vault());
    world.take(&tip).unwrap();
    world.take(&world.base).unwrap();
    world.take_beyond(&[world.base.clone(), tip.clone()], &[tip]).unwrap();
    world.take_beyond(&[], &[]).unwrap();
    assert_eq!(files(&world.vault()), before);
}

#[test]
fn later_work_starts_at_what_was_taken_before() {
    let world = World::new();
    write(&world.work(), "a", "a");
    let first = commit(&world.work(), "first");
    world.take(&first).unwrap();
    write(&world.work(), "b", "b");
    let second = commit(&world.work(), "second");
    world.take_beyond(std::slice::from_ref(&second), &[first, world.base.clone()]).unwrap();
    git(&world.vault(), &["update-ref", "refs/heads/taken", second.as_str()]);
    git(&world.vault(), &["fsck", "--strict"]);
    // Nothing that is reachable depends on a repository of the agent's.
    fs::remove_dir_all(world.work()).unwrap();
    git(&world.vault(), &["rev-list", "--objects", second.as_str()]);
}

#[test]
fn refs_to_other_objects_than_commits_are_taken_too() {
    let world = World::new();
    let mine = Oid::parse(&git_with(&world.work(), &["hash-object", "-w", "--stdin"], b"mine\n")).unwrap();
    let known = oid(&world.work(), "HEAD:README.md");
    let tree = oid(&world.work(), "HEAD^{tree}");
    for tip in [&mine, &known, &tree] {
        world.take(tip).unwrap();
    }
    world.take_beyond(&[known, tree], &[]).unwrap();
    assert!(world.owns(&mine));
    world.refused(&Oid::parse(&"2".repeat(40)).unwrap());
    world.refused(&Oid::parse(&"2".repeat(64)).unwrap());
}

#[test]
fn a_vault_that_cannot_be_written_is_our_fault() {
    let world = World::new();
    let tip = commit(&world.work(), "work");
    let staged = world.foreign().stage(&world.vault()).unwrap();
    let known = [world.base.clone()];
    let wanted = Take { staged: Some(&staged), tips: std::slice::from_ref(&tip), known: &known };
    assert!(matches!(take(&world.root.join("nowhere"), &wanted), Err(TakeError::Git(_))));
    let pack = world.vault().join("objects/pack");
    fs::remove_dir_all(&pack).unwrap();
    fs::write(&pack, "").unwrap();
    assert!(matches!(take(&world.vault(), &wanted), Err(TakeError::Git(_))));
}

#[test]
fn staged_objects_are_files_of_objects_only_and_go_when_they_are_dropped() {
    let world = World::new();
    let objects = world.git_dir().join("objects");
    let tip = commit(&world.work(), "work");
    git(&world.work(), &["repack", "-q", "-a", "-d", "-l"]);
    let other = commit(&world.work(), "more");
    for odd in ["info/commit-graph", "pack/multi-pack-index", "pack/pack-x.keep", "ab/tmp_obj_x", "zz/secret"]
    {
        write(&objects, odd, "odd");
    }
    write(&objects, &format!("pack/pack-{}.idx", "1".repeat(40)), "an index without its pack");
    write(&objects, &format!("pack/pack-{}.pack", "2".repeat(40)), "a pack without its index");
    let staged = world.foreign().stage(&world.vault()).unwrap();
    let dir = staged.dir().to_owned();
    let mut ends: Vec<_> =
        files(&dir).iter().map(|file| file.strip_prefix(&dir).unwrap().to_owned()).collect();
    ends.retain(|file| *file != Path::new(&other.as_str()[..2]).join(&other.as_str()[2..]));
    let ends: Vec<_> = ends.iter().map(|file| file.extension().unwrap_or_default().to_owned()).collect();
    assert_eq!(ends, ["idx", "pack"]);
    world.take(&tip).unwrap();
    drop(staged);
    assert!(!dir.exists());
}

#[test]
fn several_can_be_taken_at_the_same_time() {
    let world = World::new();
    let tips: Vec<_> = (0..8)
        .map(|number| {
            write(&world.work(), "new", format!("{number}"));
            commit(&world.work(), "work")
        })
        .collect();
    std::thread::scope(|scope| {
        for tip in &tips {
            scope.spawn(|| world.take(tip).unwrap());
        }
    });
    assert!(tips.iter().all(|tip| world.owns(tip)));
    git(&world.vault(), &["fsck", "--strict", "--no-dangling"]);
}

#[test]
fn objects_are_copied_where_they_cannot_be_linked() {
    use std::os::unix::fs::MetadataExt as _;
    let world = World::new();
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else { return };
    let device = |path: &Path| fs::metadata(path).unwrap().dev();
    if device(elsewhere.path()) == device(&world.root) {
        return;
    }
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    pipe(&world.git_dir().join("objects").join(&tip.as_str()[..2]).join("0".repeat(38)));
    let staged = world.foreign().stage(elsewhere.path()).unwrap();
    assert_eq!(files(staged.dir()).len(), 3);
    let known = [world.base.clone()];
    take(&world.vault(), &Take { staged: Some(&staged), tips: std::slice::from_ref(&tip), known: &known })
        .unwrap();
    assert!(world.owns(&tip));
}

/// Figures: `cargo nextest run -p fleet-host --lib --run-ignored only --no-capture much_work`.
#[test]
#[ignore = "writes gigabytes"]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn much_work_is_taken_quickly() {
    use std::time::Instant;
    let world = World::new();
    let measured = |what: &str, tip: &Oid| {
        let start = Instant::now();
        let staged = world.foreign().stage(&world.vault()).unwrap();
        let (staging, known) = (start.elapsed(), [world.base.clone()]);
        take(&world.vault(), &Take { staged: Some(&staged), tips: std::slice::from_ref(tip), known: &known })
            .unwrap();
        let taking = start.elapsed().saturating_sub(staging);
        drop(staged);
        println!("{what}: staged in {staging:?}, taken in {taking:?}, all {:?}", start.elapsed());
    };
    write(&world.work(), "src/main.rs", "changed\n");
    measured("one commit", &commit(&world.work(), "small"));
    for number in 0..200_000 {
        write(&world.work(), &format!("many/{}/{number}", number % 500), format!("{number}\n"));
    }
    git(&world.work(), &["config", "core.fsync", "none"]);
    measured("200,000 files", &commit(&world.work(), "many"));
    fs::remove_dir_all(world.git_dir().join("objects")).unwrap();
    lend(&world.git_dir(), &[&world.vault(), &world.user().join(".git")]);
    git(&world.work(), &["checkout", "--quiet", "--detach", world.base.as_str()]);
    for number in 0..8 {
        let mut random = fs::File::open("/dev/urandom").unwrap().take(256 << 20);
        std::io::copy(
            &mut random,
            &mut fs::File::create(world.work().join(format!("random{number}"))).unwrap(),
        )
        .unwrap();
    }
    measured("2 GB", &commit(&world.work(), "random"));
}
