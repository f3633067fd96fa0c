use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::config::{Origin, Sources, Value};
use crate::environment::Environment;

fn asked(project: &str, settings: &[(&str, &[&str])]) -> ProjectCommands {
    let setting = |(line, (key, commands)): (usize, &(&str, &[&str]))| Setting {
        key: (*key).to_owned(),
        value: Value::List(commands.iter().map(|&command| command.to_owned()).collect()),
        origin: Origin::Project { path: "config.toml".into(), line },
    };
    ProjectCommands {
        project: project.to_owned(),
        commands: settings.iter().enumerate().map(setting).collect(),
    }
}

fn setup(project: &str, commands: &[&str]) -> ProjectCommands {
    asked(project, &[("workspaces.setup", commands)])
}

#[test]
fn consent_is_to_exact_commands_of_one_project() {
    let home = tempfile::tempdir().unwrap();
    let trust = Trust::new(&home.path().join("fleet"));
    let good = setup("/a/.git", &["npm ci", "make"]);
    assert!(!trust.covers(&good).unwrap());
    assert!(trust.grant(&good, Millis(7)).unwrap());
    assert!(!trust.grant(&good, Millis(8)).unwrap(), "nothing new");
    assert!(trust.covers(&good).unwrap());
    for other in [
        setup("/b/.git", &["npm ci", "make"]),
        setup("/a/.git", &["make", "npm ci"]),
        setup("/a/.git", &["npm ci"]),
        setup("/a/.git", &["npm ci", "make "]),
        setup("/a/.git", &["npm cim", "ake"]),
        asked("/a/.git", &[("checks.run", &["npm ci", "make"])]),
        asked("/a/.git", &[("workspaces.setup", &["npm ci"]), ("workspaces.setup", &["make"])]),
    ] {
        assert!(!trust.covers(&other).unwrap(), "{other:?}");
    }
    let mut moved = good.clone();
    moved.commands[0].origin = Origin::Project { path: "config.toml".into(), line: 99 };
    assert!(trust.covers(&moved).unwrap(), "where it stands does not matter");
}

#[test]
fn no_two_requests_have_one_number() {
    let requests = [
        asked("/a", &[]),
        asked("/a", &[("x", &[])]),
        asked("/ax", &[]),
        asked("/a", &[("x", &["y", "z"])]),
        asked("/a", &[("x", &["y"]), ("z", &[])]),
        asked("/a", &[("x", &["yz"])]),
        asked("/a", &[("xy", &["z"])]),
        asked("/a", &[("x", &["", "yz"])]),
    ];
    let numbers: BTreeSet<String> = requests.iter().map(ProjectCommands::fingerprint).collect();
    assert_eq!(numbers.len(), requests.len());
    assert!(numbers.iter().all(|number| number.len() == "sha256:".len() + 64), "{numbers:?}");
}

#[test]
fn consent_is_kept_privately_and_can_be_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let trust = Trust::new(home.path());
    assert_eq!((trust.list().unwrap(), trust.revoke("/a").unwrap()), (Vec::new(), false));
    for (project, command) in [("/a", "one"), ("/b", "one"), ("/a", "two")] {
        trust.grant(&setup(project, &[command]), Millis(1)).unwrap();
    }
    assert!(trust.covers(&setup("/a", &["one"])).unwrap(), "earlier consent stays");
    let mode = fs::metadata(home.path().join("trust.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(trust.revoke("/a").unwrap() && !trust.revoke("/a").unwrap());
    let projects: Vec<String> = trust.list().unwrap().into_iter().map(|consent| consent.project).collect();
    assert_eq!(projects, ["/b"]);
    let names: Vec<_> = fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["trust.json"], "nothing is left beside it");
}

#[test]
fn a_file_that_nobody_understands_is_left_alone() {
    let home = tempfile::tempdir().unwrap();
    let (trust, path) = (Trust::new(home.path()), home.path().join("trust.json"));
    for text in ["", "{", "[]", r#"{"version":2,"trusted":[]}"#, r#"{"version":1}"#] {
        fs::write(&path, text).unwrap();
        let good = setup("/a", &["x"]);
        for problem in [
            trust.covers(&good).unwrap_err(),
            trust.grant(&good, Millis(1)).unwrap_err(),
            trust.revoke("/a").unwrap_err(),
        ] {
            assert_eq!(problem.code, Code::ConfigInvalid, "{text}");
            assert!(problem.message.contains("trust.json") && problem.hints.len() == 1, "{problem:?}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn people_who_agree_at_the_same_time_are_all_remembered() {
    let home = tempfile::tempdir().unwrap();
    let trust = Trust::new(home.path());
    std::thread::scope(|scope| {
        for number in 0..8 {
            let trust = &trust;
            scope.spawn(move || trust.grant(&setup(&format!("/{number}"), &["x"]), Millis(number)).unwrap());
        }
    });
    let projects: BTreeSet<String> =
        trust.list().unwrap().into_iter().map(|consent| consent.project).collect();
    assert_eq!(projects.len(), 8);
}

#[test]
fn the_oldest_consent_goes_first() {
    let home = tempfile::tempdir().unwrap();
    let trust = Trust::new(home.path());
    let consent =
        |number: usize| Consent { project: format!("/{number}"), hash: String::new(), at: Millis(0) };
    let full = Ledger { version: VERSION, trusted: (0..MOST).map(consent).collect() };
    fs::write(home.path().join("trust.json"), serde_json::to_string(&full).unwrap()).unwrap();
    trust.grant(&setup("/new", &["x"]), Millis(1)).unwrap();
    let left = trust.list().unwrap();
    assert_eq!((left.len(), left[0].project.as_str()), (MOST, "/1"));
    assert!(trust.covers(&setup("/new", &["x"])).unwrap());
}

/// What is asked about when the files and variables say this.
fn asked_for(user: &str, project: &str, variables: &[(&str, &str)]) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("user.toml"), user).unwrap();
    fs::write(path("project.toml"), project).unwrap();
    let config = Config::load(&Sources {
        user_file: path("user.toml"),
        project_file: Some(path("project.toml")),
        environment: &Environment::from_pairs(variables.iter().copied()),
        flags: &[],
    });
    let found = untrusted(folder.path(), &config.unwrap(), "/a/.git").unwrap();
    found.iter().flat_map(ProjectCommands::lines).map(str::to_owned).collect()
}

#[test]
fn only_what_the_project_brings_needs_consent() {
    let setup = "workspaces.setup = ['npm ci', 'make']";
    assert_eq!(asked_for("", setup, &[]), ["npm ci", "make"]);
    assert_eq!(asked_for("workspaces.setup = ['mine']", setup, &[]), ["npm ci", "make"]);
    assert!(asked_for(setup, "", &[]).is_empty(), "your own commands are yours");
    assert!(asked_for(setup, "workspaces.copy = ['.env']\nworkspaces.setup_time = '1h'", &[]).is_empty());
    assert!(asked_for("", "workspaces.setup = []", &[]).is_empty());
    assert!(asked_for("", setup, &[("FLEET_WORKSPACES_SETUP", "mine")]).is_empty(), "they would not run");
}
