//! The settings of runs: what they become, and what is refused.

use std::time::Duration;

use crate::config::{AgentVariables, ConfigValue, Ports, RunLimits, Workspaces, set};

use super::{World, views};

const MINUTE: Duration = Duration::from_mins(1);

#[test]
fn defaults_come_as_what_they_are() {
    let config = World::new().load().unwrap();
    assert!(config.general().autostart);
    assert_eq!(config.runner().lease, Duration::from_secs(30));
    assert_eq!([1, 2, 12].map(|cores| config.runner().slots(cores)), [2, 2, 12]);
    let limits = RunLimits {
        time: Some(240 * MINUTE),
        idle: Some(20 * MINUTE),
        log: 64_000_000,
        stop_grace: Duration::from_secs(5),
        context_pressure: 90,
        context_restarts: 10,
        context_sizes: Vec::new(),
    };
    assert_eq!(*config.limits(), limits);
    let workspaces = Workspaces {
        pass_env: Vec::new(),
        pool: 4,
        keep_ignored: false,
        copy: Vec::new(),
        setup: Vec::new(),
        checks: Vec::new(),
        setup_time: 10 * MINUTE,
        submodule_time: 30 * MINUTE,
        check_time: 10 * MINUTE,
        snapshot_every: Some(5 * MINUTE),
    };
    assert_eq!(*config.workspaces(), workspaces);
    assert_eq!(*config.ports(), Ports { first: 21_000, last: 28_999, block: 10 });
    assert_eq!(config.variables_for("claude"), AgentVariables::default());
}

#[test]
fn a_file_sets_all_of_them() {
    let world = World::new().user(
        "autostart = false\n[runner]\nslots = 3\nlease_seconds = 2\n\
         [limits]\ntime = 'none'\nidle = '1h30m'\nlog = '1MiB'\nstop_grace = '250ms'\n\
         [workspaces]\nkeep_ignored = true\ncopy = ['.env', 'config/*.key']\nsetup = ['npm ci', 'make, please']\n\
         snapshot_every = 'none'\n",
    );
    let config = world.load().unwrap();
    assert!(!config.general().autostart);
    assert_eq!((config.runner().slots(64), config.runner().lease), (3, Duration::from_secs(2)));
    let (limits, workspaces) = (config.limits(), config.workspaces());
    assert_eq!((limits.time, limits.idle), (None, Some(90 * MINUTE)));
    assert_eq!((limits.log, limits.stop_grace), (1 << 20, Duration::from_millis(250)));
    assert_eq!((workspaces.keep_ignored, workspaces.snapshot_every), (true, None));
    assert_eq!(workspaces.copy, [".env", "config/*.key"]);
    assert_eq!(workspaces.setup, ["npm ci", "make, please"]);
    let shown = config.get("workspaces.setup").unwrap().value.to_string();
    assert_eq!(shown, r#"["npm ci", "make, please"]"#);
}

#[test]
fn a_command_that_is_typed_is_one_command() {
    let setup = |text: &str| {
        let world = World::new().variables(&[("FLEET_WORKSPACES_SETUP", text)]);
        world.load().unwrap().workspaces().setup.clone()
    };
    assert_eq!(setup("echo a,b; echo c"), ["echo a,b; echo c"]);
    assert_eq!(setup("['echo a', 'echo b']"), ["echo a", "echo b"]);
}

#[test]
fn what_is_refused_is_told() {
    let world = World::new().user(
        "limits.time = '0s'\nlimits.idle = '31d'\nlimits.log = '64MBit'\nlimits.stop_grace = 'none'\n\
         workspaces.copy = ['.env', '../secrets']\nworkspaces.setup = [\"a\\nb\"]\nworkspaces.pool = 65\n\
         runner.lease_seconds = 1\nagents.claude.pass_env = ['AWS-*']\n",
    );
    insta::assert_snapshot!(world.problems(), @r"
    config-invalid: /x/user.toml:1: `limits.time` must be a duration such as `90s` or `1h30m`, up to `30d`, or `none`, not `0s`
    config-invalid: /x/user.toml:2: `limits.idle` must be a duration such as `90s` or `1h30m`, up to `30d`, or `none`, not `31d`
    config-invalid: /x/user.toml:3: `limits.log` must be a size such as `500kB` or `64MB`, from `1kB` to `100GB`, not `64MBit`
    config-invalid: /x/user.toml:4: `limits.stop_grace` must be a duration such as `90s` or `1h30m`, up to `1h`, not `none`
    config-invalid: /x/user.toml:5: `workspaces.copy` must be a list of paths inside of the repository, not a list with the string `../secrets`
    config-invalid: /x/user.toml:6: `workspaces.setup` must be a list of commands of one line each, not a list with the string `a\nb`
    config-invalid: /x/user.toml:7: `workspaces.pool` must be a whole number from 0 to 64, not `65`
    config-invalid: /x/user.toml:8: `runner.lease_seconds` must be a whole number from 2 to 3600, not `1`
    config-invalid: /x/user.toml:9: `agents.claude.pass_env` must be a list of names of variables, such as `AWS_PROFILE` or `AWS_*`, not a list with the string `AWS-*`
    ");
    for path in ["/etc/passwd", "~/.ssh/id", "a/../../b", ".git/config", "a/.GIT/x", ""] {
        let world = World::new().user(format!("workspaces.copy = ['{path}']"));
        assert!(world.problems().contains("paths inside of the repository"), "{path}");
    }
    let hidden = World::new().user("workspaces.setup = ['rm -rf x \u{202e}']");
    assert!(hidden.problems().contains(r"\u{202e}"), "{}", hidden.problems());
}

#[test]
fn ports_that_do_not_go_together_are_told_by_whoever_set_them() {
    let world = World::new().user("\nports.first = 29000");
    insta::assert_snapshot!(world.problems(), @"
    config-invalid: /x/user.toml:2: no block of 10 ports fits from `ports.first` (29000) to `ports.last` (28999)
      hint: raise `ports.last`, or lower one of the others
    ");
    assert!(world.load().is_err());
    let world = World::new().variables(&[("FLEET_PORTS_LAST", "21008")]);
    insta::assert_snapshot!(world.problems(), @"
    config-invalid: FLEET_PORTS_LAST: no block of 10 ports fits from `ports.first` (21000) to `ports.last` (21008)
      hint: raise `ports.last`, or lower one of the others
    ");
    let world = World::new().flags(&["ports.first=21000", "ports.last=21009"]);
    assert_eq!(world.load().unwrap().ports().range(), 21_000..=21_009);
}

#[test]
fn the_variables_of_an_agent_are_secret_and_the_users_own() {
    let world = World::new().user(
        "[agents.claude]\npass_env = ['AWS_*', 'EDITOR']\n[agents.claude.env]\nAPI_KEY = 'hunter2'\n\
         model = \"hunter2\\nhunter2\"\ncap = ''\n",
    );
    let config = world.load().unwrap();
    let variables = config.variables_for("claude");
    assert_eq!(variables.pass, ["AWS_*", "EDITOR"]);
    let named: Vec<(&str, &str)> =
        variables.set.iter().map(|(name, value)| (name.as_str(), value.revealed())).collect();
    assert_eq!(named, [("API_KEY", "hunter2"), ("cap", ""), ("model", "hunter2\nhunter2")]);
    assert_eq!((config.model_for("claude"), config.caps().per_agent.len()), (None, 0));
    assert_eq!(config.variables_for("codex"), AgentVariables::default());

    let setting = config.get("agents.claude.env.API_KEY").unwrap();
    assert_eq!(setting.value.revealed(), ConfigValue::String("hunter2".to_owned()));
    let settings = views(&config);
    let shown = format!("{config:?} {setting:?} {} {settings} {variables:?}", setting.value);
    assert!(shown.contains("***") && !shown.contains("hunter2"), "{shown}");

    let other = set(&world.user_file(), "agents.claude.env.OTHER", "hunter3").unwrap();
    assert!(world.text().contains("OTHER = \"hunter3\""), "{}", world.text());
    assert_eq!(other.value.to_string(), "***");
}

#[test]
fn what_codefleet_sets_for_each_run_cannot_be_configured() {
    let world = World::new().user("[agents.claude.env]\nFLEET_TOKEN = 'x'\nGIT_DIR = 'x'\nGIT_TRACE = '1'\n");
    insta::assert_snapshot!(world.problems(), @"
    config-invalid: /x/user.toml:2: `FLEET_TOKEN` cannot be set for an agent
      hint: `FLEET_*`, and what points git at a repository, are set by codefleet for each run
    config-invalid: /x/user.toml:3: `GIT_DIR` cannot be set for an agent
      hint: `FLEET_*`, and what points git at a repository, are set by codefleet for each run
    ");
}

#[test]
fn no_message_tells_what_a_variable_was_to_be() {
    let world = World::new()
        .user("[agents.claude.env]\nPIN = 1234\nKEYS = ['1234']\n'1234' = 'x'\nT = { a = '1234' }\n")
        .project("[agents.claude.env]\nTOKEN = '1234'\n");
    insta::assert_snapshot!(world.problems(), @"
    config-invalid: /x/user.toml:2: `agents.claude.env.PIN` must be text in quotes, not a number
    config-invalid: /x/user.toml:3: `agents.claude.env.KEYS` must be text in quotes, not a list
    config-invalid: /x/user.toml:4: `1234` is not the name of a variable
      hint: a name has letters, digits and `_`, and does not begin with a digit
    config-invalid: /x/user.toml:5: `agents.claude.env.T` must be text in quotes, not a section
    config-invalid: /x/project.toml:2: `agents.claude.env.TOKEN` cannot be set by a project
      hint: `fleet config set agents.claude.env.TOKEN VALUE` sets it for yourself
    ");
}
