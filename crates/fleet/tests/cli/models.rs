//! Which model an agent is told to use: what is refused before anything is queued.

use super::support::{World, error};

/// A known agent whose provider is a vendor's, as far as the choice of models is concerned.
fn world() -> World {
    let world = World::sqlite();
    let config = "agent = 'demo'\n[agents.demo]\nprovider = 'openai'\naliases = ['fast=gpt-5-mini', 'odd=claude-x']\n\
         [agents.other]\ncap = 3\n";
    std::fs::create_dir_all(world.fleet.home()).unwrap();
    std::fs::write(world.fleet.home().join("config.toml"), config).unwrap();
    world
}

#[test]
fn another_vendors_model_is_refused_wherever_it_is_typed() {
    let world = world();
    let (fleet, held) =
        (&world.fleet, world.fleet.ok(&["task", "add", "-q", "--hold", "x", "--model", "gpt-5"]));
    let held = held.trim();
    let before = world.content();
    let line = "a: b\n{\"branch\":\"c\",\"prompt\":\"d\",\"model\":\"claude-x\"}\n";
    let (list, import) = (world.repo.path().join("list"), world.repo.path().join("import"));
    std::fs::write(&list, line).unwrap();
    std::fs::write(&import, "{\"title\":\"a\"}\n{\"title\":\"b\",\"model\":\"claude-x\"}\n").unwrap();
    let list = list.to_str().unwrap();
    for command in [
        &["task", "add", "x", "--model", "claude-x"][..],
        &["task", "edit", held, "--model", "claude-x"],
        &["create", "b", "-p", "x", "--model", "claude-x"],
        &["fanout", "2", "b", "-p", "x", "--model", "claude-x"],
        &["multi", "--file", list],
    ] {
        let (code, message, hints) = error(&fleet.fail(2, &[command, &["--json"]].concat()));
        assert_eq!((code.as_str(), command), ("model-refused", command));
        assert_eq!(message, "model: `claude-x` is a model of anthropic, and demo uses those of openai");
        assert!(hints.contains("agents.demo.models"), "{hints}");
    }
    let (code, message, hints) =
        error(&fleet.fail(2, &["task", "import", import.to_str().unwrap(), "--json"]));
    assert_eq!(code, "import-invalid");
    assert!(message.starts_with("line 2: model: `claude-x`") && hints.contains("agents.demo.models"));
    assert_eq!(world.content(), before);
}

#[test]
fn short_names_and_the_list_of_allowed_models_count() {
    let world = world();
    let fleet = &world.fleet;
    for model in ["fast", "odd", "gpt-5", "my-own"] {
        fleet.ok(&["task", "add", "--hold", "x", "--model", model]);
    }
    fleet.ok(&["config", "set", "agents.demo.models", "gpt-5*, claude-y"]);
    for model in ["fast", "gpt-5", "claude-y"] {
        fleet.ok(&["task", "add", "--hold", "x", "--model", model]);
    }
    for model in ["odd", "my-own", "o3"] {
        let (code, _, hints) = error(&fleet.fail(2, &["task", "add", "x", "--model", model, "--json"]));
        assert_eq!((code.as_str(), model), ("model-refused", model));
        assert!(hints.contains("it may use gpt-5*, claude-y"), "{hints}");
    }
}

#[test]
fn an_agent_that_is_changed_must_go_with_the_model() {
    let world = world();
    let task =
        world.fleet.ok(&["task", "add", "-q", "--hold", "x", "--agent", "other", "--model", "claude-x"]);
    let task = task.trim();
    let (code, _, hints) = error(&world.fleet.fail(2, &["task", "edit", task, "--agent", "demo", "--json"]));
    assert_eq!(code, "model-refused");
    assert!(hints.contains("--clear model"), "{hints}");
    world.fleet.ok(&["task", "edit", task, "--priority", "4"]);
    world.fleet.ok(&["task", "edit", task, "--agent", "demo", "--clear", "model"]);
}
