use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fleet_core::id::IdMaker;

use super::*;
use crate::config::{ConfigValue, Origin, Sources};
use crate::environment::Environment;

fn asked(project: &str, settings: &[(&str, &[&str])]) -> ProjectWishes {
    let setting = |(line, (key, commands)): (usize, &(&str, &[&str]))| Setting {
        key: (*key).to_owned(),
        value: ConfigValue::List(commands.iter().map(|&command| command.to_owned()).collect()),
        origin: Origin::Project { path: "config.toml".into(), line },
    };
    ProjectWishes {
        project: project.to_owned(),
        commands: settings.iter().enumerate().map(setting).collect(),
        files: Vec::new(),
    }
}

impl ProjectWishes {
    fn only(mut self, key: &str) -> Self {
        self.commands.retain(|setting| setting.key == key);
        self
    }
}

fn setup(project: &str, commands: &[&str]) -> ProjectWishes {
    asked(project, &[("workspaces.setup", commands)])
}

#[test]
fn consent_is_to_exact_commands_of_one_project() {
    let home = tempfile::tempdir().unwrap();
    let trust = ConsentStore::new(&home.path().join("fleet"));
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
        asked("/a/.git", &[("workspaces.setup", &["npm ci", "make"]), ("agent", &["codex"])]),
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
    let numbers: BTreeSet<String> = requests.iter().map(ProjectWishes::fingerprint).collect();
    assert_eq!(numbers.len(), requests.len());
    assert!(numbers.iter().all(|number| number.len() == "sha256:".len() + 64), "{numbers:?}");
}

#[test]
fn consent_is_kept_privately_and_can_be_taken_back() {
    let home = tempfile::tempdir().unwrap();
    let trust = ConsentStore::new(home.path());
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
    let (trust, path) = (ConsentStore::new(home.path()), home.path().join("trust.json"));
    for text in ["", "{", "[]", r#"{"version":2,"trusted":[]}"#, r#"{"version":1}"#] {
        fs::write(&path, text).unwrap();
        let good = setup("/a", &["x"]);
        for problem in [
            trust.covers(&good).unwrap_err(),
            trust.grant(&good, Millis(1)).unwrap_err(),
            trust.revoke("/a").unwrap_err(),
        ] {
            assert_eq!(problem.code, Code::ConfigInvalid, "{text}");
            assert!(problem.to_string().contains("trust.json") && problem.hints.len() == 1, "{problem:?}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn people_who_agree_at_the_same_time_are_all_remembered() {
    let home = tempfile::tempdir().unwrap();
    let trust = ConsentStore::new(home.path());
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
    let trust = ConsentStore::new(home.path());
    let consent = |number: usize| Consent::new(format!("/{number}"), String::new(), Millis(0));
    let full = ConsentFile { version: VERSION, trusted: (0..MAX_CONSENTS).map(consent).collect() };
    fs::write(home.path().join("trust.json"), serde_json::to_string(&full).unwrap()).unwrap();
    trust.grant(&setup("/new", &["x"]), Millis(1)).unwrap();
    let left = trust.list().unwrap();
    assert_eq!((left.len(), left[0].project.as_str()), (MAX_CONSENTS, "/1"));
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
    let project = project_in(&path("repo"));
    let found = untrusted(folder.path(), &config.unwrap(), &project).unwrap();
    let shown = |wish: &Setting| format!("{} = {}", wish.key, wish.value);
    found.iter().flat_map(|asked| &asked.commands).map(shown).collect()
}

fn project_in(checkout: &Path) -> Project {
    let common_dir = checkout.join(".git").to_str().unwrap().to_owned();
    Project {
        id: IdMaker::default().next(Millis(1), 2),
        common_dir,
        name: "shop".to_owned(),
        root: None,
        created_at: Millis(0),
    }
}

#[test]
fn only_what_the_project_brings_needs_consent() {
    let setup = "workspaces.setup = ['npm ci', 'make']";
    let wanted = "workspaces.setup = [\"npm ci\", \"make\"]";
    assert_eq!(asked_for("", setup, &[]), [wanted]);
    assert_eq!(asked_for("workspaces.setup = ['mine']", setup, &[]), [wanted]);
    assert!(asked_for(setup, "", &[]).is_empty(), "your own commands are yours");
    assert!(asked_for(setup, setup, &[]).is_empty(), "and so are the same ones");
    assert!(asked_for("", "workspaces.setup = []", &[]).is_empty());
    assert!(asked_for("", setup, &[("FLEET_WORKSPACES_SETUP", "mine")]).is_empty(), "they would not run");
}

#[test]
fn another_agent_copies_and_higher_limits_need_consent_as_well() {
    let project = "agent = 'codex'\ntasks.retries = 9\ntasks.priority = 5\n[limits]\ntime = 'none'\nidle = '90m'\n\
                   log = '65m'\nstop_grace = '6s'\n[workspaces]\ncopy = ['.env']\nsetup_time = '1h'\ncheck_time = '11m'\n";
    let wanted = [
        "agent = codex",
        "tasks.retries = 9",
        "limits.time = none",
        "limits.idle = 90m",
        "limits.log = 65m",
        "limits.stop_grace = 6s",
        "workspaces.copy = [\".env\"]",
        "workspaces.setup_time = 1h",
        "workspaces.check_time = 11m",
    ];
    assert_eq!(asked_for("", project, &[]), wanted);
    let user = "agent = 'codex'\ntasks.retries = 9\n[limits]\ntime = 'none'\nidle = '2h'\nlog = '1GB'\n\
                stop_grace = '6s'\n[workspaces]\ncopy = ['.env']\nsetup_time = '2h'\ncheck_time = '1d'\n";
    assert!(asked_for(user, project, &[]).is_empty(), "the user has as much");
    let lower = "tasks.retries = 0\nlimits.time = '1h'\nlimits.idle = '1m'\nlimits.log = '1MB'\n";
    assert!(asked_for("", lower, &[]).is_empty(), "less is no favour");
}

#[test]
fn a_task_without_set_up_needs_no_consent_to_it() {
    let home = tempfile::tempdir().unwrap();
    let trust = ConsentStore::new(home.path());
    let settings: &[(&str, &[&str])] = &[("agent", &["codex"]), ("workspaces.setup", &["make"])];
    let all = asked("/a", settings);
    trust.grant(&asked("/a", &settings[..1]), Millis(1)).unwrap();
    let left = trust.uncovered(&all).unwrap();
    assert_eq!(left, asked("/a", settings).only("workspaces.setup"));
    assert!(left.without_setup().is_empty());
    assert_eq!(all.names(), "`agent`, `workspaces.setup`");
}

#[test]
fn no_setting_hides_behind_others() {
    let settings: &[(&str, &[&str])] = &[("a", &[]), ("b", &[]), ("c", &[]), ("workspaces.setup", &["evil"])];
    let file = |name: &str| ProjectFile { path: name.to_owned(), sha256: None };
    let files =
        |names: &[&str]| asked("/a", settings).with_files(names.iter().map(|name| file(name)).collect());
    assert_eq!(files(&[]).names(), "`a`, `b`, `c`, `workspaces.setup`");
    let many = files(&["1", "2", "3", "4", "5"]).names();
    assert_eq!(many, "`a`, `b`, `c`, `workspaces.setup`, `1`, `2`, `3` and 2 more files");
}

#[test]
fn files_are_agreed_to_one_by_one_and_by_content() {
    let home = tempfile::tempdir().unwrap();
    let trust = ConsentStore::new(home.path());
    let file = |path: &str, hash: Option<&str>| ProjectFile {
        path: path.to_owned(),
        sha256: hash.map(ToOwned::to_owned),
    };
    let files = |files: &[ProjectFile]| ProjectWishes::of_files("/a", files.to_vec());
    let (one, two, link) = (file("a", Some("1")), file("b", Some("2")), file("c", None));
    assert!(trust.grant(&files(&[one.clone(), two.clone(), link.clone()]), Millis(1)).unwrap());
    assert!(
        trust.covers(&files(std::slice::from_ref(&two))).unwrap()
            && trust.covers(&files(&[one.clone(), two])).unwrap()
    );
    for other in [file("a", Some("2")), file("b", Some("1")), link] {
        assert_eq!(trust.uncovered(&files(&[one.clone(), other.clone()])).unwrap().files, [other]);
    }
    assert!(!trust.covers(&ProjectWishes::of_files("/b", vec![one])).unwrap(), "another project");
    let kept = trust.list().unwrap().into_iter();
    let kept: Vec<_> = kept.filter_map(|consent| Some((consent.file?, consent.content?))).collect();
    assert_eq!(kept, [("a", "1"), ("b", "2")].map(|(file, content)| (file.to_owned(), content.to_owned())));
}

#[test]
fn templates_of_a_project_need_consent_and_are_known_by_their_content() {
    let folder = tempfile::tempdir().unwrap();
    let (home, project) = (folder.path().join("home"), project_in(folder.path()));
    let config = || {
        let none = Environment::from_pairs::<&str, &str>([]);
        let user_file = folder.path().join("none.toml");
        Config::load(&Sources { user_file, project_file: None, environment: &none, flags: &[] }).unwrap()
    };
    assert!(untrusted(&home, &config(), &project).unwrap().is_none());
    let template = folder.path().join(".fleet/templates/task.md");
    fs::create_dir_all(template.parent().unwrap()).unwrap();
    fs::write(&template, "Send {task} to me").unwrap();
    let asked = untrusted(&home, &config(), &project).unwrap().unwrap();
    assert_eq!(asked.names(), "`.fleet/templates/task.md`");
    ConsentStore::new(&home).grant(&asked, Millis(1)).unwrap();
    assert!(untrusted(&home, &config(), &project).unwrap().is_none());
    fs::write(&template, "Send {task} to them").unwrap();
    assert!(untrusted(&home, &config(), &project).unwrap().is_some());
}

#[test]
fn consent_of_earlier_versions_holds() {
    let home = tempfile::tempdir().unwrap();
    let trust = ConsentStore::new(home.path());
    let flow = asked("/a", &[("stages.a.checks", &["make"]), ("stages.b.checks", &["npm test"])]);
    let text =
        format!(r#"{{"version":1,"trusted":[{{"project":"/a","hash":"{}","at":5}}]}}"#, flow.fingerprint());
    fs::write(home.path().join("trust.json"), text).unwrap();
    assert!(trust.covers(&flow).unwrap());
}
