use std::fs;
use std::os::unix::fs::symlink;

use super::World;

#[test]
fn every_problem_of_a_file_is_told_in_its_order() {
    let world = World::new().user(
        "stroe = 'x'\nagent = 'Claude'\ncolor = true\n\n[task]\npriority = 3\n\n[tasks]\npriority = 9\n\
         retries = 'many'\nlist_limit = []\n\n[agents.Claude]\nmodel = 'x'\n\n[agents.codex]\nmodle = 'x'\n\
         model = \"a\\u001b[2J\"\n\n[caps.total]\nx = 1\n\n[[banana]]\n\n[empty]\n",
    );
    insta::assert_snapshot!(world.problems(), @r"
    config-unknown-key: /x/user.toml:1: unknown key `stroe`
      hint: did you mean `store`?
      hint: `fleet config show` lists the keys
    config-invalid: /x/user.toml:2: `agent` must be the name of an agent, not `Claude`
      hint: a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit
    config-invalid: /x/user.toml:3: `color` must be one of `auto`, `always`, `never`, not `true`
    config-unknown-key: /x/user.toml:6: unknown key `task.priority`
      hint: did you mean `tasks.priority`?
      hint: `fleet config show` lists the keys
    config-invalid: /x/user.toml:9: `tasks.priority` must be a whole number from 1 to 5, not `9`
    config-invalid: /x/user.toml:10: `tasks.retries` must be a whole number from 0 to 20, not the string `many`
    config-invalid: /x/user.toml:11: `tasks.list_limit` must be a whole number from 1 to 10000, not a list
    config-invalid: /x/user.toml:14: `Claude` is not the name of an agent
      hint: a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit
    config-unknown-key: /x/user.toml:17: unknown key `agents.codex.modle`
      hint: did you mean `agents.codex.model`?
      hint: `fleet config show` lists the keys
    config-invalid: /x/user.toml:18: `agents.codex.model` must be the name of a model, not `a\u{1b}[2J`
    config-invalid: /x/user.toml:20: `caps.total` must be a whole number from 0 to 10000, not a section
    config-unknown-key: /x/user.toml:23: unknown key `banana`
      hint: `fleet config show` lists the keys
    config-unknown-key: /x/user.toml:25: unknown key `empty`
      hint: `fleet config show` lists the keys
    ");
}

#[test]
fn a_section_is_not_a_key() {
    let world = World::new().user("tasks = 3\nagents.claude = 'x'\n");
    insta::assert_snapshot!(world.problems(), @"
    config-unknown-key: /x/user.toml:1: `tasks` is a section, not a key
      hint: its keys are `tasks.priority`, `tasks.retries`, `tasks.check_retries`, `tasks.branch_prefix`, `tasks.list_limit`
      hint: `fleet config show` lists the keys
    config-unknown-key: /x/user.toml:2: `agents.claude` is a section, not a key
      hint: its keys are `agents.claude.model`, `agents.claude.models`, `agents.claude.aliases`, `agents.claude.effort`, `agents.claude.trust`, `agents.claude.cap`, `agents.claude.provider`, `agents.claude.account`, `agents.claude.fallback`, `agents.claude.program` and 21 more
      hint: `fleet config show` lists the keys
    ");
    let get = |name| world.shown(&World::new().load().unwrap().get(name).unwrap_err());
    insta::assert_snapshot!(get("tasks"), @"
    config-unknown-key: `tasks` is a section, not a key
      hint: its keys are `tasks.priority`, `tasks.retries`, `tasks.check_retries`, `tasks.branch_prefix`, `tasks.list_limit`
      hint: `fleet config show` lists the keys
    ");
    insta::assert_snapshot!(get("priority"), @"
    config-unknown-key: unknown key `priority`
      hint: did you mean `tasks.priority`?
      hint: `fleet config show` lists the keys
    ");
    insta::assert_snapshot!(get("agents.*.model"), @"
    config-invalid: `*` is not the name of an agent
      hint: a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit
    ");
    insta::assert_snapshot!(get("agents.claude.modle"), @"
    config-unknown-key: unknown key `agents.claude.modle`
      hint: did you mean `agents.claude.model`?
      hint: `fleet config show` lists the keys
    ");
}

#[test]
fn loading_tells_the_first_problem_and_how_many_there_are() {
    let world = World::new().user("tasks.priority = 0");
    insta::assert_snapshot!(world.shown(&world.load().unwrap_err()), @"config-invalid: /x/user.toml:1: `tasks.priority` must be a whole number from 1 to 5, not `0`");
    let world = world.project("x = 1").variables(&[("FLEET_COLOR", "red")]).flags(&["y=1"]);
    insta::assert_snapshot!(world.shown(&world.load().unwrap_err()), @"
    config-invalid: /x/user.toml:1: `tasks.priority` must be a whole number from 1 to 5, not `0`
      hint: `fleet config validate` lists all 4 problems
    ");
}

#[test]
fn a_project_cannot_decide_for_the_user() {
    let world = World::new().project(
        "store = 'postgres://evil:hunter2@host/db'\ncolor = 'never'\ncaps.total = 1\nagents.claude.cap = 9\n\
         agent = 'codex'\n",
    );
    insta::assert_snapshot!(world.problems(), @"
    config-invalid: /x/project.toml:1: `store` cannot be set by a project
      hint: `fleet config set store VALUE` sets it for yourself
    config-invalid: /x/project.toml:2: `color` cannot be set by a project
      hint: `fleet config set color VALUE` sets it for yourself
    config-invalid: /x/project.toml:3: `caps.total` cannot be set by a project
      hint: `fleet config set caps.total VALUE` sets it for yourself
    config-invalid: /x/project.toml:4: `agents.claude.cap` cannot be set by a project
      hint: `fleet config set agents.claude.cap VALUE` sets it for yourself
    ");
}

#[test]
fn variables_and_flags_are_named() {
    let world = World::new()
        .variables(&[("FLEET_STORE", "mysql://ada:hunter2@h/db"), ("FLEET_TASKS_RETRIES", "21")])
        .flags(&[
            "tasks.priority",
            "store=user:hunter2@host",
            "postgres://ada:hunter2@h",
            "tasks=1",
            "=",
            "agent=",
            "postgres://ada:hunter2@db.example.org/fleet?sslmode=require",
        ]);
    insta::assert_snapshot!(world.problems(), @r#"
    config-invalid: FLEET_STORE: `store` must be `sqlite`, `sqlite:PATH` or `postgres://…`, not `mysql://…`
    config-invalid: FLEET_TASKS_RETRIES: `tasks.retries` must be a whole number from 0 to 20, not `21`
    config-invalid: --config: `tasks.priority` is not KEY=VALUE
      hint: for example `--config tasks.priority=4`
    config-invalid: --config: `store` must be `sqlite`, `sqlite:PATH` or `postgres://…`, not `user…`
    config-invalid: --config: `postgres://ada:***@h` is not KEY=VALUE
      hint: for example `--config tasks.priority=4`
    config-unknown-key: --config: `tasks` is a section, not a key
      hint: its keys are `tasks.priority`, `tasks.retries`, `tasks.check_retries`, `tasks.branch_prefix`, `tasks.list_limit`
      hint: `fleet config show` lists the keys
    config-unknown-key: --config: unknown key `""`
      hint: `fleet config show` lists the keys
    config-invalid: --config: `agent` must be the name of an agent, not an empty text
      hint: a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit
    config-unknown-key: --config: unknown key `"postgres://ada:***@db".example."org/fleet?sslmode"`
      hint: `fleet config show` lists the keys
    "#);
    assert!(!world.problems().contains("hunter2"));
}

#[test]
fn a_file_that_is_not_toml_has_a_line_and_a_column() {
    let texts = [
        "agent = 'codex'\nstore = \n",
        "[tasks\n",
        "agent = 'a'\nagent = 'b'\n",
        "# ä\n'ä' x = 1\n",
        "agent = \"abc",
        "\u{feff}a b",
        "tasks.priority = 1\n[tasks]\n",
    ];
    let told: Vec<String> = texts.iter().map(|text| World::new().user(text).problems()).collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    config-invalid: /x/user.toml:2:9: not valid TOML: string values must be quoted, expected literal string
    config-invalid: /x/user.toml:1:7: not valid TOML: unclosed table, expected `]`
    config-invalid: /x/user.toml:2:1: not valid TOML: duplicate key
    config-invalid: /x/user.toml:2:5: not valid TOML: key with no value, expected `=`
    config-invalid: /x/user.toml:1:13: not valid TOML: invalid basic string, expected `"`
    config-invalid: /x/user.toml:1:3: not valid TOML: key with no value, expected `=`
    config-invalid: /x/user.toml:2:2: not valid TOML: duplicate key
    "#);
}

#[test]
fn a_file_that_cannot_be_read_is_told() {
    let world = World::new().user(b"agent = 'a'\nx = '\xff'\n");
    insta::assert_snapshot!(world.problems(), @"config-invalid: /x/user.toml:2: the file is not UTF-8 from here on");

    let world = World::new().user(vec![b'#'; 1024 * 1024 + 1]);
    insta::assert_snapshot!(world.problems(), @"config-invalid: /x/user.toml: it is larger than 1 MiB");

    let world = World::new();
    fs::create_dir(world.user_file().path()).unwrap();
    insta::assert_snapshot!(world.problems(), @"config-invalid: /x/user.toml: it is not a file");

    // What a repository can hold: a link that leads to something without an end, or in a circle.
    let world = World::new();
    symlink("/dev/zero", world.project_file().path()).unwrap();
    insta::assert_snapshot!(world.problems(), @"config-invalid: /x/project.toml: it is not a file");

    let world = World::new();
    symlink("project.toml", world.project_file().path()).unwrap();
    assert!(
        world.problems().starts_with("config-invalid: /x/project.toml: cannot be read: "),
        "{}",
        world.problems()
    );
}

#[test]
fn foreign_text_is_escaped_and_cut() {
    let long = "x".repeat(5000);
    let world = World::new().project(format!("\"\\u001b[2J\\u202e\" = 1\n{long} = 1\nagent = '{long}'\n"));
    insta::assert_snapshot!(world.problems(), @r#"
    config-unknown-key: /x/project.toml:1: unknown key `"\u001B[2J\u{202e}"`
      hint: `fleet config show` lists the keys
    config-unknown-key: /x/project.toml:2: unknown key `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`
      hint: `fleet config show` lists the keys
    config-invalid: /x/project.toml:3: `agent` must be the name of an agent, not `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…`
      hint: a name has up to 32 lower-case letters, digits, `-` and `_`, and begins with a letter or digit
    "#);
}
