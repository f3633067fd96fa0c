//! Objects that are not what they seem.

use super::*;

#[test]
fn what_only_the_alternates_of_the_agent_have_is_not_taken() {
    let world = World::new();
    let secret = world.root.join("secret");
    init(&secret, &[]);
    write(&secret, "password", "hunter2\n");
    let tip = commit(&secret, "secret");
    lend(&world.git_dir(), &[&secret.join(".git"), &world.user().join(".git")]);
    git(&world.work(), &["update-ref", "refs/heads/main", tip.as_str()]);
    assert_eq!(world.foreign().refs().unwrap().named["refs/heads/main"], tip);
    world.refused(&tip);

    // Nor by way of a commit of the agent's own.
    let tree = oid(&secret, "HEAD^{tree}");
    let commit = git(&world.work(), &["commit-tree", "-m", "mine", tree.as_str()]);
    world.refused(&Oid::parse(&commit).unwrap());
}

#[test]
fn a_link_in_the_objects_leads_nowhere() {
    let world = World::new();
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    let (outside, objects) = (world.root.join("outside"), world.git_dir().join("objects"));
    let first = objects.join(&tip.as_str()[..2]);
    fs::rename(&first, &outside).unwrap();
    std::os::unix::fs::symlink(&outside, &first).unwrap();
    world.refused(&tip);
    fs::remove_file(&first).unwrap();
    fs::create_dir(&first).unwrap();
    let name = &tip.as_str()[2..];
    std::os::unix::fs::symlink(outside.join(name), first.join(name)).unwrap();
    world.refused(&tip);
    fs::remove_file(first.join(name)).unwrap();
    pipe(&first.join(name));
    world.refused(&tip);
    // Other objects may be in the same folder: all of it comes back.
    fs::remove_dir_all(&first).unwrap();
    fs::rename(&outside, &first).unwrap();
    world.take(&tip).unwrap();
}

#[test]
fn a_linked_folder_of_objects_is_not_read_at_all() {
    let world = World::new();
    let objects = world.git_dir().join("objects");
    fs::rename(&objects, world.root.join("elsewhere")).unwrap();
    std::os::unix::fs::symlink(world.root.join("elsewhere"), &objects).unwrap();
    assert!(world.foreign().stage(&world.vault()).is_err());
}

/// The file of a loose object.
fn loose(world: &World, object: &Oid) -> PathBuf {
    world.git_dir().join("objects").join(&object.as_str()[..2]).join(&object.as_str()[2..])
}

/// Puts the content of one object in the place of another.
fn forge(world: &World, object: &Oid, content: &Oid) {
    let (to, from) = (loose(world, object), loose(world, content));
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let _ = fs::remove_file(&to);
    fs::copy(from, to).unwrap();
}

#[test]
fn content_that_does_not_match_its_name_is_refused() {
    for part in ["HEAD", "HEAD^{tree}", "HEAD:new", "HEAD~1"] {
        let world = World::new();
        write(&world.work(), "new", "old\n");
        commit(&world.work(), "before");
        write(&world.work(), "new", "new\n");
        let tip = commit(&world.work(), "work");
        let object = oid(&world.work(), part);
        git(&world.work(), &["checkout", "--quiet", "--detach", world.base.as_str()]);
        write(&world.work(), "new", "other\n");
        commit(&world.work(), "another");
        let kind = part.replace("HEAD~1", "HEAD");
        forge(&world, &object, &oid(&world.work(), &kind));
        assert!(!world.refused(&tip).is_empty(), "{part}");
    }
}

#[test]
fn a_known_commit_cannot_be_forged() {
    // The forged copy claims that the base contains the tip, so that nothing would have to be taken.
    let world = World::new();
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    let liar = commit(&world.work(), "liar");
    forge(&world, &world.base, &liar);
    world.take(&tip).unwrap();
    assert!(world.owns(&tip), "a loose object of ours comes first");
}

#[test]
fn a_pack_that_forges_a_known_commit_is_refused() {
    let world = World::new();
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    // The tip is in the user's repository, where nothing keeps it: it has to be taken all the same.
    git(&world.user(), &["fetch", "--quiet", world.work().to_str().unwrap(), tip.as_str()]);
    // An honest pack with a commit that has the tip as its parent, listed under the name of the base.
    let liar = commit(&world.work(), "liar");
    let pack = git_with(
        &world.work(),
        &["pack-objects", "-q", ".git/objects/pack/pack"],
        format!("{liar}\n").as_bytes(),
    );
    let index = world.git_dir().join(format!("objects/pack/pack-{pack}.idx"));
    let content = rename_only_object(&fs::read(&index).unwrap(), &world.base);
    fs::remove_file(&index).unwrap();
    fs::write(&index, content).unwrap();
    let why = world.refused(&tip);
    assert!(why.contains("was not among the objects"), "{why}");
}

/// The index of a pack with one object, under another name.
fn rename_only_object(index: &[u8], name: &Oid) -> Vec<u8> {
    let bytes: Vec<u8> =
        (0..40).step_by(2).map(|at| u8::from_str_radix(&name.as_str()[at..at + 2], 16).unwrap()).collect();
    let mut content = index[..8].to_vec();
    for first in 0..=255_u8 {
        content.extend(u32::from(first >= bytes[0]).to_be_bytes());
    }
    content.extend(&bytes);
    content.extend(&index[8 + 1024 + 20..]);
    content
}

#[test]
fn damaged_packs_and_indexes_are_refused() {
    let world = World::new();
    write(&world.work(), "new", "some new content\n".repeat(100));
    let tip = commit(&world.work(), "work");
    git(&world.work(), &["repack", "-q", "-a", "-d", "-l"]);
    git(&world.work(), &["prune-packed"]);
    for end in ["pack", "idx"] {
        let all = files(&world.git_dir().join("objects/pack"));
        let file = all.iter().find(|file| file.extension().is_some_and(|found| found == end)).unwrap();
        let content = fs::read(file).unwrap();
        let put = |content: &[u8]| {
            fs::remove_file(file).unwrap();
            fs::write(file, content).unwrap();
        };
        let half = content.len() / 2;
        let flipped: Vec<u8> = content.iter().map(|byte| byte ^ 0x55).collect();
        let start_flipped = [&content[..8], &flipped[8..half], &content[half..]].concat();
        let end_flipped = [&content[..half], &flipped[half..]].concat();
        for damaged in [&start_flipped[..], &end_flipped, &content[..half], &[], &[0; 4096], &[0xff; 4096]] {
            put(damaged);
            world.refused(&tip);
        }
        put(&content);
    }
    world.take(&tip).unwrap();
}

#[test]
fn an_object_of_ten_gigabytes_of_nothing_is_refused_at_once() {
    let world = World::new();
    write(&world.work(), "new", "new\n");
    let tip = commit(&world.work(), "work");
    for rev in ["HEAD:new", "HEAD^{tree}", "HEAD"] {
        let file = loose(&world, &oid(&world.work(), rev));
        let content = fs::read(&file).unwrap();
        fs::remove_file(&file).unwrap();
        fs::File::create(&file).unwrap().set_len(10 << 30).unwrap();
        world.refused(&tip);
        fs::write(&file, content).unwrap();
    }
    world.take(&tip).unwrap();
}

#[test]
fn a_thin_pack_is_refused_where_the_base_of_a_delta_is_missing() {
    let world = World::new();
    let text = (0..2000).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    write(&world.work(), "big", &text);
    let first = commit(&world.work(), "first");
    write(&world.work(), "big", text.replace("line 7\n", "line seven\n"));
    let tip = commit(&world.work(), "second");
    // Git completes such a pack and indexes that; an agent need not put the complete one in its place.
    let wanted = format!("{tip}\n^{first}\n");
    let arguments = ["pack-objects", "--revs", "--thin", "--stdout", "-q"];
    let thin = output(&world.work(), &arguments, wanted.as_bytes());
    let said = output(&world.work(), &["index-pack", "--stdin", "--fix-thin"], &thin);
    let said = String::from_utf8(said).unwrap();
    let name = said.trim().strip_prefix("pack\t").unwrap();
    let pack = world.git_dir().join(format!("objects/pack/pack-{name}.pack"));
    fs::remove_file(&pack).unwrap();
    fs::write(&pack, thin).unwrap();
    let gone =
        ["HEAD", "HEAD^{tree}", "HEAD:big", "HEAD~1:big"].map(|rev| loose(&world, &oid(&world.work(), rev)));
    for file in gone {
        fs::remove_file(file).unwrap();
    }
    world.refused(&tip);
}

#[test]
fn trees_that_would_write_where_they_must_not_are_refused() {
    for name in [".git", "..", ".", ".GIT", "git~1", "a/b"] {
        let world = World::new();
        let blob = git_with(&world.work(), &["hash-object", "-w", "--stdin"], b"evil\n");
        let tree = tree_of(&world, &[("100644", name, &Oid::parse(&blob).unwrap())]);
        let why = world.refused(&commit_of(&world, &tree));
        assert!(why.contains(tree.as_str()), "{name}: {why}");
    }
}

#[test]
fn a_gitmodules_file_that_runs_programs_is_refused() {
    let world = World::new();
    let evil = b"[submodule \"x\"]\n\tpath = x\n\turl = --upload-pack=touch /tmp/x\n";
    let blob = git_with(&world.work(), &["hash-object", "-w", "--stdin"], evil);
    let tree = tree_of(&world, &[("100644", ".gitmodules", &Oid::parse(&blob).unwrap())]);
    let why = world.refused(&commit_of(&world, &tree));
    assert!(why.contains("gitmodulesUrl"), "{why}");
}

#[test]
fn a_broken_commit_is_refused_and_an_old_fashioned_one_is_taken() {
    let world = World::new();
    let tree = oid(&world.work(), "HEAD^{tree}");
    let raw = |text: String| {
        let arguments = ["hash-object", "-t", "commit", "-w", "--literally", "--stdin"];
        Oid::parse(&git_with(&world.work(), &arguments, text.as_bytes())).unwrap()
    };
    let person = "A <a@example.com> 1700000000 +0000";
    world.refused(&raw(format!("tree {tree}\nauthor nobody\ncommitter {person}\n\nx\n")));
    world.refused(&raw(format!("tree {tree}\nparent {tree}\nauthor {person}\ncommitter {person}\n\nx\n")));
    let odd = "A <a@example.com> 1700000000 +051800";
    world.take(&raw(format!("tree {tree}\nauthor {odd}\ncommitter {odd}\n\nx\n"))).unwrap();
}

/// A tree of one level, with whatever names.
fn tree_of(world: &World, entries: &[(&str, &str, &Oid)]) -> Oid {
    let mut content = Vec::new();
    for (mode, name, object) in entries {
        content.extend(format!("{mode} {name}\0").bytes());
        content.extend(
            (0..40).step_by(2).map(|at| u8::from_str_radix(&object.as_str()[at..at + 2], 16).unwrap()),
        );
    }
    let arguments = ["hash-object", "-t", "tree", "-w", "--literally", "--stdin"];
    Oid::parse(&git_with(&world.work(), &arguments, &content)).unwrap()
}

fn commit_of(world: &World, tree: &Oid) -> Oid {
    let base = world.base.as_str();
    Oid::parse(&git(&world.work(), &["commit-tree", "-p", base, "-m", "evil", tree.as_str()])).unwrap()
}
