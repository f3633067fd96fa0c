//! `fleet setup`: the client itself sees what was registered, and no longer sees what was taken back.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use fleet_testkit::clis::Cli;
use fleet_testkit::fleet::Fleet;
use fleet_testkit::repo::Repo;
use serde_json::Value;

/// Nobody listens there: a list of servers needs no model.
const NOBODY: &str = "http://127.0.0.1:9";

pub(crate) fn knows_our_server(cli: Cli) {
    let Some(program) = cli.or_skip() else { return };
    let (home, repo) = (tempfile::tempdir().unwrap(), Repo::init());
    let environment = cli.environment(NOBODY, home.path());
    let fleet = Fleet::new(env!("CARGO_BIN_EXE_fleet")).cwd(repo.path()).env("HOME", home.path());
    let fleet = environment
        .iter()
        .filter(|(name, _)| name != "PATH" && name != "HOME")
        .fold(fleet, |fleet, (name, value)| fleet.env(name, value));
    #[expect(clippy::disallowed_methods, reason = "the client is asked without codefleet between")]
    let listed = || {
        let mut command = Command::new(&program);
        command.args(["mcp", "list"]).env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
        let output = command.current_dir(repo.path()).stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    };
    let setup = |more: &[&str]| fleet.json(&[&["setup", cli.name()], more].concat());
    let file = setup(&["--dry-run"])["file"].as_str().unwrap().to_owned();
    let before = fs::read(&file).ok();
    assert!(Path::new(&file).starts_with(home.path()), "{file}");
    assert!(!listed().contains("codefleet"), "{}", listed());

    assert_eq!(setup(&[])["done"], "added");
    let shown = listed();
    assert!(shown.contains("codefleet") && shown.contains("mcp"), "{} does not see it: {shown}", cli.name());
    assert_eq!(setup(&[])["done"], "unchanged");
    let clients = fleet.json(&["setup"])["clients"].clone();
    let mine =
        clients.as_array().unwrap().iter().find(|found| found["client"] == cli.name()).unwrap().clone();
    assert_eq!(mine["status"], Value::from("registered"), "{mine}");

    assert_eq!(setup(&["--remove"])["done"], "removed");
    assert!(!listed().contains("codefleet"), "{}", listed());
    let rest = fs::read(&file).ok();
    // The others write into their own settings when they are started.
    if matches!(cli, Cli::Codex | Cli::Gemini) {
        assert_eq!(rest, before, "{file}");
    }
}
