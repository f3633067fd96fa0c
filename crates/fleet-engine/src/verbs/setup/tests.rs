use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;

use super::*;
use crate::EngineStart;
use crate::environment::Environment;

/// A user with a home of his own.
struct World {
    home: tempfile::TempDir,
    engine: Engine,
}

impl World {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let pairs = [("HOME", home.path().to_owned()), ("FLEET_HOME", home.path().join("fleet"))];
        let environment = Environment::from_pairs(pairs).with_current_directory(home.path());
        let engine = Engine::new(EngineStart { environment, directory: None, flags: Vec::new() }).unwrap();
        Self { home, engine }
    }

    fn file(&self, client: SetupClient) -> PathBuf {
        client.file(&self.engine, SetupScope::User).unwrap()
    }

    fn write(&self, client: SetupClient, text: &str) {
        let file = self.file(client);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn text(&self, client: SetupClient) -> Option<String> {
        fs::read_to_string(self.file(client)).ok()
    }

    fn ask(&self, client: SetupClient, wish: SetupAction, force: bool) -> Outcome<Answer> {
        register(&self.engine, Request { client, scope: SetupScope::User, wish, force, dry_run: false })
    }

    fn add(&self, client: SetupClient) -> Outcome<Answer> {
        self.ask(client, SetupAction::Add, false)
    }

    fn remove(&self, client: SetupClient) -> Outcome<Answer> {
        self.ask(client, SetupAction::Remove, false)
    }

    fn status(&self, client: SetupClient) -> String {
        status(&self.engine, client, SetupScope::User).unwrap().status
    }
}

/// Files as people have them.
const JSON: &[&str] = &[
    "{}",
    "{}\n",
    "{\n}\n",
    "{\n  \"b\": 1,\n  \"a\": [1,2 , 3]\n}\n",
    "{\n\t\"b\": {\n\t\t\"x\": null\n\t}\n}",
    "{\n    \"TABLE\": {}\n}\n",
    "{\n  \"TABLE\": {\n    \"other\": {\n      \"command\": \"x\"\n    }\n  },\n  \"z\": \"ü\\u0000\"\n}\n",
    "{\r\n  \"a\": 1\r\n}\r\n",
];

const COMMENTED: &[&str] = &[
    "// mine\n{\n  // first\n  \"a\": 1 /* one */\n}\n// end\n",
    "{\n  \"a\": 1, // why\n  \"TABLE\": {\n    // none yet\n  }\n}\n",
];

const COMMAS: &[&str] = &["{\n  \"a\": 1,\n}\n", "{\n  \"TABLE\": {\n    \"x\": {},\n  },\n}\n"];

const TOML: &[&str] = &[
    "",
    "model = \"gpt-5\"\n",
    "model = \"gpt-5\"",
    "# mine\nmodel = 'x' # why\n\n[mcp_servers.other]\ncommand = \"x\"\n\n[profiles.a]\nmodel = \"y\"\n# end\n",
    "[a]\nb = 1\n\n[c]\nd = 2\n",
    "mcp_servers = { other = { command = \"x\" } }\n",
    "[mcp_servers]\nother.command = \"x\"\n",
];

fn cases() -> Vec<(SetupClient, String)> {
    let table = |client| if client == SetupClient::Opencode { "mcp" } else { "mcpServers" };
    let mut all = Vec::new();
    for client in [SetupClient::Claude, SetupClient::Gemini, SetupClient::Opencode] {
        let mut texts = JSON.to_vec();
        if client != SetupClient::Claude {
            texts.extend(COMMENTED);
        }
        if client == SetupClient::Opencode {
            texts.extend(COMMAS);
        }
        all.extend(texts.iter().map(|text| (client, text.replace("TABLE", table(client)))));
    }
    all.extend(TOML.iter().map(|text| (SetupClient::Codex, (*text).to_owned())));
    all
}

#[test]
fn a_registration_is_added_once_and_taken_back_to_the_byte() {
    for (client, text) in cases() {
        let world = World::new();
        world.write(client, &text);
        assert_eq!(world.add(client).unwrap().done, SetupOutcome::Added, "{client:?} {text:?}");
        let with = world.text(client).unwrap();
        assert_eq!(world.status(client), "registered", "{with}");
        for line in text.lines().filter(|line| line.contains("//") || line.contains('#')) {
            assert!(with.contains(line), "{line:?} in {with}");
        }
        assert_eq!(world.add(client).unwrap().done, SetupOutcome::Unchanged, "{client:?} {text:?}");
        assert_eq!(world.text(client).unwrap(), with);
        assert_eq!(world.remove(client).unwrap().done, SetupOutcome::Removed, "{client:?} {text:?}");
        assert_eq!(world.text(client).unwrap(), text, "{client:?}, it was {with:?}");
        assert_eq!(world.remove(client).unwrap().done, SetupOutcome::Absent);
    }
}

#[test]
fn what_stood_in_one_line_gets_more_of_them_and_nothing_else() {
    for text in ["{\"b\":1,\"a\":[ 2 ]}", "{ \"mcpServers\": { \"x\": {} } }\n"] {
        let world = World::new();
        world.write(SetupClient::Claude, text);
        world.add(SetupClient::Claude).unwrap();
        assert_eq!(world.status(SetupClient::Claude), "registered");
        world.remove(SetupClient::Claude).unwrap();
        let words = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(words(&world.text(SetupClient::Claude).unwrap()), words(text));
    }
}

#[test]
fn what_others_wrote_since_stays_and_ours_goes() {
    let world = World::new();
    world.write(SetupClient::Claude, "{\n  \"starts\": 1\n}\n");
    world.add(SetupClient::Claude).unwrap();
    let others =
        world.text(SetupClient::Claude).unwrap().replace("\"starts\": 1", "\"starts\": 2,\n  \"more\": []");
    world.write(SetupClient::Claude, &others);
    world.remove(SetupClient::Claude).unwrap();
    assert_eq!(world.text(SetupClient::Claude).unwrap(), "{\n  \"starts\": 2,\n  \"more\": []\n}\n");
}

#[test]
fn a_file_that_we_made_goes_with_its_entry() {
    for client in SetupClient::ALL {
        let world = World::new();
        assert_eq!(world.status(client), "absent");
        world.add(client).unwrap();
        assert_eq!(fs::metadata(world.file(client)).unwrap().permissions().mode() & 0o777, 0o600);
        world.remove(client).unwrap();
        assert_eq!(world.text(client), None, "{client:?}");
        // Unless somebody else wrote something into it.
        world.add(client).unwrap();
        let more = match client {
            SetupClient::Codex => format!("model = 'x'\n{}", world.text(client).unwrap()),
            _ => world.text(client).unwrap().replacen('{', "{\"a\": 1,", 1),
        };
        world.write(client, &more);
        world.remove(client).unwrap();
        let rest = world.text(client).unwrap();
        assert!(!rest.contains("mcp") && (rest.contains("\"a\": 1") || rest.contains("model")), "{rest}");
    }
}

#[test]
fn what_a_registration_looks_like() {
    let world = World::new();
    let mut shown = String::new();
    for client in SetupClient::ALL {
        let answer = world.add(client).unwrap();
        let binary = answer.command[0].clone();
        let text = world.text(client).unwrap().replace(&binary, "/bin/fleet");
        let home = world.home.path().to_str().unwrap();
        shown.push_str(&format!("{}\n{}\n", answer.file, text).replace(home, "/home/ada"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn an_entry_of_somebody_else_stays_unless_one_insists() {
    for (client, text) in [
        (
            SetupClient::Claude,
            r#"{"mcpServers": {"codefleet": {"command": "uvx", "args": ["-U", "codefleet"]}}}"#,
        ),
        (SetupClient::Gemini, r#"{"mcpServers": {"codefleet": {"httpUrl": "http://x"}}}"#),
        (
            SetupClient::Opencode,
            r#"{"mcp": {"codefleet": {"type": "local", "command": ["fleet", "mcp", "--http"]}}}"#,
        ),
        (SetupClient::Codex, "[mcp_servers.codefleet]\ncommand = \"uvx\"\nargs = [\"codefleet\"]\n"),
    ] {
        let world = World::new();
        world.write(client, text);
        assert_eq!(world.status(client), "foreign");
        for wish in [SetupAction::Add, SetupAction::Remove] {
            let problem = world.ask(client, wish, false).unwrap_err();
            assert_eq!(problem.code, Code::SetupRefused, "{problem:?}");
            assert!(problem.hints[0].contains("`--force`"), "{problem:?}");
            assert_eq!(world.text(client).unwrap(), text);
        }
        assert_eq!(world.ask(client, SetupAction::Add, true).unwrap().done, SetupOutcome::Updated);
        assert_eq!(world.status(client), "registered", "{}", world.text(client).unwrap());
        world.remove(client).unwrap();
        assert_eq!(world.status(client), "absent");
    }
}

#[test]
fn an_entry_of_another_codefleet_is_brought_up_to_date_and_keeps_what_was_added() {
    let old = r#"{"mcpServers": {"codefleet": {"command": "/old/fleet", "args": ["mcp"], "timeout": 5}}}"#;
    let world = World::new();
    world.write(SetupClient::Gemini, old);
    assert_eq!(world.status(SetupClient::Gemini), "outdated");
    let answer = world.add(SetupClient::Gemini).unwrap();
    assert_eq!(answer.done, SetupOutcome::Updated);
    let text = world.text(SetupClient::Gemini).unwrap();
    assert!(text.contains("\"timeout\": 5") && text.contains(&answer.command[0]), "{text}");
    world.write(
        SetupClient::Codex,
        "[mcp_servers.codefleet]\ncommand = 'flt'\nargs = ['mcp']\nstartup_timeout_sec = 9\n",
    );
    world.add(SetupClient::Codex).unwrap();
    assert!(world.text(SetupClient::Codex).unwrap().contains("startup_timeout_sec = 9"));
}

#[test]
fn variables_that_somebody_added_stay() {
    let json = r#"{"mcpServers": {"codefleet": {"command": "/old/fleet", "args": ["mcp"], "env": {"MINE": "kept"}}}}"#;
    let local = r#"{"mcp": {"codefleet": {"type": "local", "command": ["/old/fleet", "mcp"], "environment": {"MINE": "kept"}}}}"#;
    let table = "[mcp_servers.codefleet]\r\ncommand = 'flt'\r\nargs = ['mcp']\r\n[mcp_servers.codefleet.env]\r\nMINE = 'kept'\r\n";
    let inline = "[mcp_servers.codefleet]\ncommand = 'flt'\nargs = ['mcp']\nenv = { MINE = 'kept' }\n";
    for (client, text) in [
        (SetupClient::Claude, json),
        (SetupClient::Gemini, json),
        (SetupClient::Opencode, local),
        (SetupClient::Codex, table),
        (SetupClient::Codex, inline),
    ] {
        let world = World::new();
        world.write(client, text);
        world.add(client).unwrap();
        let after = world.text(client).unwrap();
        assert!(after.contains("MINE") && after.contains("kept") && after.contains("FLEET_HOME"), "{after}");
        assert_eq!(world.status(client), "registered", "{after}");
        assert_eq!(
            after.matches("\r\n").count(),
            if text == table { after.matches('\n').count() } else { 0 }
        );
    }
}

#[test]
fn what_is_not_understood_is_left_alone() {
    for (client, text, why) in [
        (SetupClient::Claude, "{\"a\": 1", "not valid JSON"),
        (SetupClient::Claude, "{\n  // no\n}", "not valid JSON"),
        (SetupClient::Claude, "[]", "not an object"),
        (SetupClient::Claude, "{\"mcpServers\": []}", "`mcpServers` is not an object"),
        (SetupClient::Gemini, "{\"a\": 1,}", "not valid JSON"),
        (SetupClient::Opencode, "{\"mcp\": \"x\"}", "`mcp` is not an object"),
        (SetupClient::Codex, "[a\n", "not valid TOML"),
        (SetupClient::Codex, "mcp_servers = 5\n", "`mcp_servers` is not a table"),
    ] {
        let world = World::new();
        world.write(client, text);
        for wish in [SetupAction::Add, SetupAction::Remove] {
            let problem = world.ask(client, wish, true).unwrap_err();
            assert_eq!(problem.code, Code::SetupRefused, "{text}");
            assert!(problem.to_string().contains(why), "{problem} for {text}");
        }
        assert_eq!(world.text(client).unwrap(), text);
        assert_eq!(world.status(client), "unreadable");
    }
    let world = World::new();
    fs::create_dir(world.file(SetupClient::Claude)).unwrap();
    assert_eq!(world.add(SetupClient::Claude).unwrap_err().code, Code::SetupRefused);
}

#[test]
fn links_stay_links_and_rights_stay_rights() {
    let world = World::new();
    let real = world.home.path().join("dotfiles.json");
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, world.file(SetupClient::Claude)).unwrap();
    world.add(SetupClient::Claude).unwrap();
    assert!(fs::symlink_metadata(world.file(SetupClient::Claude)).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains(NAME));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    world.remove(SetupClient::Claude).unwrap();
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
}

#[test]
fn a_trial_shows_everything_and_changes_nothing() {
    let world = World::new();
    world.write(SetupClient::Claude, "{\n  \"a\": 1\n}\n");
    let request = Request {
        client: SetupClient::Claude,
        scope: SetupScope::User,
        wish: SetupAction::Add,
        force: false,
        dry_run: true,
    };
    let answer = register(&world.engine, request).unwrap();
    assert_eq!((answer.done, answer.dry_run), (SetupOutcome::Added, true));
    assert_eq!(&answer.changes[..3], ["+ …,", "+   \"mcpServers\": {", "+     \"codefleet\": {"]);
    assert_eq!(world.text(SetupClient::Claude).unwrap(), "{\n  \"a\": 1\n}\n");
    assert!(!world.engine.home().root().join("setup.json").exists());
}
