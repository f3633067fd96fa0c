use std::fs;
use std::os::unix::fs::symlink;

use fleet_core::problem::Code;
use fleet_testkit::repo::Repo;

use super::{World, shown, task};
use crate::workflow_file::{WorkflowOrigin, find, load};

const FLOW: &str = "[stages.a]\nprompt = 'x'\n";

#[test]
fn a_name_is_looked_for_in_the_repository_then_at_home_then_among_the_shipped() {
    let (world, repo) = (World::new(), Repo::init());
    let engine = world.engine.at(repo.path().to_owned()).unwrap();
    assert_eq!(find(&engine, "bug-hunt").unwrap().kind, WorkflowOrigin::Shipped);
    fs::create_dir(world.dir.path().join("workflows")).unwrap();
    fs::write(world.dir.path().join("workflows/bug-hunt.yml"), "stages: {}").unwrap();
    let found = find(&engine, "bug-hunt").unwrap();
    assert_eq!((found.kind, found.text.as_str()), (WorkflowOrigin::User, "stages: {}"));
    let own = repo.path().join(".fleet/workflows");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("bug-hunt.json"), "{}").unwrap();
    assert_eq!(find(&engine, "bug-hunt").unwrap().kind, WorkflowOrigin::Repository);
    fs::write(own.join("bug-hunt.toml"), FLOW).unwrap();
    assert_eq!(find(&engine, "bug-hunt").unwrap_err().code, Code::WorkflowInvalid, "nobody knows which");
    let by_path = own.join("bug-hunt.toml");
    assert_eq!(find(&engine, by_path.to_str().unwrap()).unwrap().kind, WorkflowOrigin::Path);
    let problem = find(&engine, "bug-hnut").unwrap_err();
    assert_eq!(
        (problem.code, problem.hints[0].as_str()),
        (Code::WorkflowNotFound, "did you mean `bug-hunt`?")
    );
}

#[test]
fn what_is_no_text_of_a_workflow_is_refused() {
    let world = World::new();
    let file = |name: &str, bytes: &[u8]| {
        let path = world.dir.path().join(name);
        fs::write(&path, bytes).unwrap();
        let problem = find(&world.engine, path.to_str().unwrap()).unwrap_err();
        assert_eq!(problem.code, Code::WorkflowInvalid);
        problem.to_string().rsplit_once(": ").unwrap().1.to_owned()
    };
    assert_eq!(file("a.toml", b"a\n\xff\xfe\0"), "it is not UTF-8 text, from line 2 on");
    assert_eq!(file("a.yaml", &vec![b'#'; 1024 * 1024 + 1]), "it is larger than 1 MiB");
    assert_eq!(file("a.md", b"x"), "unknown file type");
    fs::create_dir(world.dir.path().join("b.toml")).unwrap();
    let folder = find(&world.engine, world.dir.path().join("b.toml").to_str().unwrap()).unwrap_err();
    assert!(folder.message.ends_with("it is not a file"));
    assert_eq!(find(&world.engine, "./none.toml").unwrap_err().code, Code::WorkflowNotFound);
}

#[test]
fn prompts_in_files_stay_below_the_folder() {
    let world = World::new();
    let dir = world.dir.path().join("flows");
    fs::create_dir_all(dir.join("prompts")).unwrap();
    fs::write(dir.join("prompts/a.md"), "Do {task_prompt}\r\nwell\r\n").unwrap();
    fs::write(world.dir.path().join("secret"), "s").unwrap();
    symlink(world.dir.path().join("secret"), dir.join("link.md")).unwrap();
    let read = |prompt: &str| {
        let path = dir.join("flow.toml");
        fs::write(&path, format!("[stages.a]\nprompt_file = {prompt:?}\n")).unwrap();
        let source = find(&world.engine, path.to_str().unwrap()).unwrap();
        load(&world.engine, &source, &task()).unwrap().map_err(|found| shown(&found))
    };
    assert_eq!(read("prompts/a.md").unwrap().spec.stages[0].prompt, "Do {task_prompt}\nwell\n");
    for wrong in ["../secret", "link.md", world.dir.path().join("secret").to_str().unwrap()] {
        let why = read(wrong).unwrap_err();
        assert!(why.contains("it is not below the folder of the workflow"), "{why}");
    }
    assert!(read("none.md").unwrap_err().contains("cannot be read"));
}
