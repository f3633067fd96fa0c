//! `HEAD`, refs and logs.

use std::os::unix::fs::symlink;

use super::*;
use crate::git::capture::ScratchFile;
use crate::git::files::Head;
use crate::git::foreign::Unreadable;

#[test]
fn head_and_refs_are_those_that_git_shows() {
    let world = World::new();
    let work = world.work();
    let tip = commit(&work, "work");
    git(&work, &["tag", "packed"]);
    git(&work, &["branch", "moved", world.base.as_str()]);
    git(&work, &["pack-refs", "--all"]);
    git(&work, &["branch", "--force", "moved", tip.as_str()]);
    git(&work, &["branch", "a/b/c", tip.as_str()]);
    git(&work, &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"]);
    let foreign = world.foreign();
    assert_eq!(foreign.dir(), world.git_dir());
    let (head, refs) = (foreign.head().unwrap(), foreign.refs().unwrap());
    assert_eq!(head, Head::Branch("refs/heads/main".to_owned()));
    assert_eq!(foreign.commit(&refs, &head), Some(tip));
    let shown = git(&work, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    let ours: Vec<_> = refs.named.iter().map(|(name, oid)| format!("{name} {oid}")).collect();
    assert_eq!(ours.join("\n"), shown);
    assert!(refs.bad.is_empty(), "{:?}", refs.bad);
}

#[test]
fn a_head_that_is_nothing_of_the_kind_neither_blocks_nor_leads_out() {
    let world = World::new();
    let head = world.git_dir().join("HEAD");
    let foreign = world.foreign();
    let expect_bad = |what: &str| {
        let error = foreign.head().expect_err(what);
        assert_eq!(error.path, head, "{what}");
        let _ = fs::remove_file(&head);
        let _ = fs::remove_dir(&head);
    };
    fs::remove_file(&head).unwrap();
    expect_bad("nothing");
    pipe(&head);
    expect_bad("a pipe");
    symlink("/dev/zero", &head).unwrap();
    expect_bad("a device");
    symlink("refs/heads/main", &head).unwrap();
    expect_bad("a link");
    fs::create_dir(&head).unwrap();
    expect_bad("a folder");
    fs::File::create(&head).unwrap().set_len(10 << 30).unwrap();
    expect_bad("ten gigabytes");
    for content in
        ["", "nonsense", "ref: main\n", "ref: refs/../../x\n", "ref: refs/heads/a b\n", "ref: /etc/passwd"]
    {
        fs::write(&head, content).unwrap();
        expect_bad(content);
    }
    fs::write(&head, format!("{}\n", "0".repeat(40))).unwrap();
    expect_bad("zeros");
    fs::write(&head, b"ref: refs/heads/\xff\n").unwrap();
    expect_bad("not text");
    fs::write(&head, "ref: refs/bisect/x\n").unwrap();
    assert_eq!(foreign.head().unwrap(), Head::Branch("refs/bisect/x".to_owned()));
    fs::write(&head, format!("{}\n", world.base)).unwrap();
    assert_eq!(foreign.head().unwrap(), Head::Detached(world.base));
}

#[test]
fn bad_refs_are_listed_and_hide_no_others() {
    let world = World::new();
    let (heads, base) = (world.git_dir().join("refs/heads"), &world.base);
    for name in ["good", "zz"] {
        fs::write(heads.join(name), format!("{base}\n")).unwrap();
    }
    pipe(&heads.join("pipe"));
    symlink("/dev/zero", heads.join("zero")).unwrap();
    symlink("good", heads.join("link")).unwrap();
    symlink("/", heads.join("folder")).unwrap();
    fs::File::create(heads.join("large")).unwrap().set_len(5 << 30).unwrap();
    fs::write(heads.join("garbage"), "garbage").unwrap();
    fs::write(heads.join("a b"), format!("{base}\n")).unwrap();
    // Locks that a killed git left are everyday.
    fs::write(heads.join("main.lock"), "").unwrap();
    let deep = "d/".repeat(100);
    fs::create_dir_all(heads.join(&deep)).unwrap();
    fs::write(heads.join(&deep).join("deep"), format!("{base}\n")).unwrap();
    let packed = format!(
        "# pack-refs with: peeled fully-peeled sorted \n{base} refs/heads/garbage\n{base} refs/heads/packed\n\
         ^{base}\nnonsense\n{base} refs/heads/../evil\n{base} HEAD\nxyz refs/heads/id\n"
    );
    fs::write(world.git_dir().join("packed-refs"), packed).unwrap();

    let refs = world.foreign().refs().unwrap();
    let named: Vec<_> = refs.named.keys().map(String::as_str).collect();
    assert_eq!(named, ["refs/heads/good", "refs/heads/main", "refs/heads/packed", "refs/heads/zz"]);
    let (too_deep, rest): (Vec<_>, Vec<_>) = refs.bad.iter().partition(|name| name.contains("d/d/d"));
    assert_eq!(too_deep.len(), 1);
    let expected = ["a b", "folder", "garbage", "large", "link", "pipe", "zero"]
        .map(|name| format!("refs/heads/{name}"));
    let packed = ["nonsense", "refs/heads/../evil", "HEAD", "refs/heads/id"].map(str::to_owned);
    assert_eq!(rest, expected.iter().chain(&packed).collect::<Vec<_>>());
}

#[test]
fn packed_refs_that_cannot_be_read_are_listed_as_bad() {
    let world = World::new();
    let packed = world.git_dir().join("packed-refs");
    let bad = |what: &str| {
        let refs = world.foreign().refs().unwrap();
        assert_eq!((refs.named.len(), refs.bad), (1, vec!["packed-refs".to_owned()]), "{what}");
        fs::remove_file(&packed).unwrap();
    };
    symlink("/dev/zero", &packed).unwrap();
    bad("a device");
    pipe(&packed);
    bad("a pipe");
    fs::File::create(&packed).unwrap().set_len(10 << 30).unwrap();
    bad("ten gigabytes");
    fs::write(&packed, "x\n".repeat(1_100_000)).unwrap();
    let refs = world.foreign().refs().unwrap();
    assert_eq!(refs.named.len(), 1);
    assert_eq!(refs.bad.last().map(String::as_str), Some("packed-refs"), "too many lines");
}

#[test]
fn linked_folders_and_tables_of_refs_are_not_read() {
    let world = World::new();
    let (refs, aside) = (world.git_dir().join("refs"), world.root.join("aside"));
    fs::rename(&refs, &aside).unwrap();
    assert!(world.foreign().refs().is_err());
    symlink(&aside, &refs).unwrap();
    assert!(world.foreign().refs().is_err());
    fs::remove_file(&refs).unwrap();
    fs::rename(&aside, &refs).unwrap();
    fs::write(world.git_dir().join("HEAD"), "ref: refs/heads/.invalid\n").unwrap();
    assert!(world.foreign().head().unwrap_err().why.contains("reftable"));
    fs::create_dir(world.git_dir().join("reftable")).unwrap();
    assert!(world.foreign().refs().unwrap_err().why.contains("reftable"));
}

#[test]
fn the_git_directory_itself_must_be_a_folder() {
    let world = World::new();
    let (dot_git, aside) = (world.git_dir(), world.root.join("aside"));
    fs::rename(&dot_git, &aside).unwrap();
    assert!(ForeignGitDir::of(&world.work()).is_err());
    symlink(&aside, &dot_git).unwrap();
    assert!(ForeignGitDir::of(&world.work()).is_err());
    fs::remove_file(&dot_git).unwrap();
    fs::write(&dot_git, format!("gitdir: {}\n", aside.display())).unwrap();
    assert!(ForeignGitDir::of(&world.work()).is_err());
    fs::remove_file(&dot_git).unwrap();
    pipe(&dot_git);
    assert!(ForeignGitDir::of(&world.work()).is_err());
    fs::remove_file(&dot_git).unwrap();
    fs::rename(&aside, &dot_git).unwrap();
    fs::write(dot_git.join("commondir"), "/\n").unwrap();
    assert!(ForeignGitDir::of(&world.work()).is_err(), "it leads out");
}

#[test]
fn what_was_opened_stays_what_is_read() {
    let world = World::new();
    let foreign = world.foreign();
    fs::rename(world.git_dir(), world.root.join("aside")).unwrap();
    symlink("/", world.git_dir()).unwrap();
    assert_eq!(foreign.refs().unwrap().named.len(), 1);
}

#[test]
fn logs_name_what_no_ref_names() {
    let world = World::new();
    let work = world.work();
    let lost = commit(&work, "lost");
    git(&work, &["reset", "--quiet", "--hard", "HEAD~1"]);
    let mut stashes = Vec::new();
    for number in 0..3 {
        write(&work, "README.md", format!("{number}"));
        git(&work, &["stash", "push", "--quiet"]);
        stashes.insert(0, oid(&work, "refs/stash"));
    }
    let foreign = world.foreign();
    assert_eq!(foreign.stashes().unwrap(), stashes);
    assert_eq!(foreign.visited().unwrap(), [world.base.clone(), lost.clone()]);

    let log = world.git_dir().join("logs/HEAD");
    let mut file = fs::OpenOptions::new().append(true).open(&log).unwrap();
    for number in 0..20_000 {
        writeln!(file, "{:040x} {:040x} A <a> 1 +0000\tx", number + 1, number + 2).unwrap();
    }
    file.write_all(b"garbage\n\xff \xff\n").unwrap();
    let visited = foreign.visited().unwrap();
    assert_eq!(visited[0].as_str(), format!("{:040x}", 20_001));
    assert!(visited.len() < 1100, "{}", visited.len());
    fs::remove_file(&log).unwrap();
    assert_eq!(foreign.visited().unwrap(), []);
    pipe(&log);
    assert!(foreign.visited().is_err());
}

#[test]
fn the_index_is_copied_with_its_time() {
    let world = World::new();
    let index = world.git_dir().join("index");
    let copy = ScratchFile::new(&world.vault(), "index");
    let foreign = world.foreign();
    foreign.copy_index(&copy).unwrap().unwrap();
    assert_eq!(fs::read(&index).unwrap(), fs::read(copy.path()).unwrap());
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(modified(&index), modified(copy.path()));
    fs::remove_file(&index).unwrap();
    assert_eq!(foreign.copy_index(&copy).unwrap(), None);
    symlink("/dev/zero", &index).unwrap();
    assert!(foreign.copy_index(&copy).is_err());
    fs::remove_file(&index).unwrap();
    fs::File::create(&index).unwrap().set_len(10 << 30).unwrap();
    assert!(foreign.copy_index(&copy).is_err());
}

#[test]
fn repositories_inside_are_found_and_nothing_outside_is() {
    let world = World::new();
    let (work, inner) = (world.work(), world.work().join("libs/inner"));
    init(&inner, &[]);
    let tip = commit(&inner, "inner");
    let head_of = |folder: &Path| {
        let foreign = ForeignGitDir::nested(&work, folder)?;
        let (head, refs) = (foreign.head()?, foreign.refs()?);
        Ok::<_, Unreadable>(foreign.commit(&refs, &head))
    };
    assert_eq!(head_of(Path::new("libs/inner")), Ok(Some(tip.clone())));
    assert_eq!(head_of(&inner), Ok(Some(tip.clone())));
    assert!(head_of(Path::new("libs")).is_err() && head_of(Path::new("../user")).is_err());
    assert!(head_of(Path::new("/")).is_err() && head_of(&world.user()).is_err());

    // As of a submodule, and of a linked worktree.
    let modules = world.git_dir().join("modules/inner");
    fs::create_dir_all(modules.parent().unwrap()).unwrap();
    fs::rename(inner.join(".git"), &modules).unwrap();
    fs::write(inner.join(".git"), "gitdir: ../../.git/modules/inner\n").unwrap();
    assert_eq!(head_of(&inner), Ok(Some(tip)));
    git(&work, &["worktree", "add", "--quiet", "-b", "side", "linked"]);
    let side = commit(&work.join("linked"), "side");
    assert_eq!(head_of(Path::new("linked")), Ok(Some(side)));

    for target in [world.user().join(".git"), world.root.clone(), PathBuf::from("../../../user/.git")] {
        fs::write(inner.join(".git"), format!("gitdir: {}\n", target.display())).unwrap();
        assert!(head_of(&inner).is_err(), "{}", target.display());
    }
    symlink(world.user().join(".git"), world.git_dir().join("modules/out")).unwrap();
    fs::write(inner.join(".git"), "gitdir: ../../.git/modules/out\n").unwrap();
    assert!(head_of(&inner).is_err(), "a link that leads out");
    symlink(world.user(), work.join("linked-folder")).unwrap();
    assert!(head_of(Path::new("linked-folder")).is_err());
}
