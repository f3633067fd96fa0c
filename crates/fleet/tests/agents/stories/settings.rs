//! Settings for agents that come with a repository, or that another agent left on a branch.

use std::path::{Path, PathBuf};

use fleet_testkit::clis::Cli;
use serde_json::json;

use crate::stage::{Stage, WRITE};

/// Programs of the repository's settings do not run before the user agrees to them. What it has to say to the model is no
/// setting.
pub(crate) fn left_out_until_agreed(cli: Cli) {
    let Some((stage, planted)) = planted(cli) else { return };
    let task = worked(&stage, cli);
    assert_eq!(stage.status(&task), "done", "{}", stage.run_of(&task));
    assert!(!planted.exists(), "a program of the repository ran");
    let asked = format!("{:?}", stage.questions(cli));
    let told = if cli == Cli::Codex { "AGENTS.md in the working directory" } else { WORDS };
    assert!(asked.contains(told), "{asked}");
    used_once_agreed(&stage, cli, &planted);
}

/// The same for an agent that cannot be told to leave them out: it is not started beside them.
pub(crate) fn refused_until_agreed(cli: Cli) {
    let Some((stage, planted)) = planted(cli) else { return };
    let task = worked(&stage, cli);
    let run = stage.run_of(&task);
    assert_eq!((&run["state"], &run["reason"]), (&"failed".into(), &"untrusted".into()), "{run}");
    assert!(run["detail"].as_str().is_some_and(|why| why.contains(".gemini/settings.json")), "{run}");
    assert!(stage.questions(cli).is_empty() && !planted.exists());
    used_once_agreed(&stage, cli, &planted);
}

/// With full trust they count, as they do for whoever starts the agent by hand.
pub(crate) fn used_with_full_trust(cli: Cli) {
    let Some((stage, planted)) = planted(cli) else { return };
    stage.fleet.ok(&["config", "set", &format!("agents.{}.trust", cli.name()), "full"]);
    worked(&stage, cli);
    assert!(planted.exists(), "{}", stage.fleet.ok(&["list", "--all"]));
}

const WORDS: &str = "Words of the repository.";

fn used_once_agreed(stage: &Stage, cli: Cli, planted: &Path) {
    stage.fleet.ok(&["trust", "--yes"]);
    let task = worked(stage, cli);
    assert_eq!(stage.status(&task), "done", "{}", stage.run_of(&task));
    assert!(planted.exists(), "what the user agreed to does not run");
}

fn worked(stage: &Stage, cli: Cli) -> String {
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    task
}

/// A repository whose settings start a program that leaves this file.
fn planted(cli: Cli) -> Option<(Stage, PathBuf)> {
    let stage = Stage::new(&[(cli, "ok")])?;
    let file = stage.fleet.user_home().join("planted");
    let line = format!("touch {}; exit 1", file.display());
    let server = json!({"command": "/bin/sh", "args": ["-c", line]});
    let (path, text) = match cli {
        Cli::Claude => {
            let hook =
                json!({"hooks": [{"type": "command", "command": format!("touch {}", file.display())}]});
            (".claude/settings.json", json!({"hooks": {"SessionStart": [hook]}}).to_string())
        }
        Cli::Codex => {
            let args = json!(["-c", line]);
            (".codex/config.toml", format!("[mcp_servers.planted]\ncommand = \"/bin/sh\"\nargs = {args}\n"))
        }
        Cli::Gemini => (".gemini/settings.json", json!({"mcpServers": {"planted": server}}).to_string()),
        Cli::Opencode => {
            let server = json!({"type": "local", "command": ["/bin/sh", "-c", line]});
            ("opencode.json", json!({"mcp": {"planted": server}}).to_string())
        }
    };
    stage.repo.write(path, text);
    for name in ["AGENTS.md", "CLAUDE.md"] {
        stage.repo.write(name, WORDS);
    }
    stage.repo.commit("settings");
    Some((stage, file))
}
