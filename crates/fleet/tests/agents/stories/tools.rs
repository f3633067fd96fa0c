//! Tools that agents are given.

use std::fs;

use fleet_testkit::clis::Cli;
use fleet_testkit::mcp::McpServer;
use fleet_testkit::model::Turn;
use serde_json::json;

use crate::stage::Stage;

/// A server that the settings name is there for the model.
pub(crate) fn reaches_an_mcp_server(cli: Cli) {
    reaches(cli, cli.name());
}

/// The same by the Agent Client Protocol, which names servers itself. For gemini there is no other way, unless it belongs
/// to root and so do all folders above its settings.
pub(crate) fn reaches_an_mcp_server_by_acp(cli: Cli) {
    reaches(cli, &format!("{}-acp", cli.name()));
}

fn reaches(cli: Cli, agent: &str) {
    let Some(stage) = Stage::new(&[(cli, "mcp")]) else { return };
    let server = McpServer::install(stage.fleet.user_home());
    let listed = json!({"mcpServers": {"fake": {"command": server.command, "args": server.args}}});
    fs::write(stage.fleet.home().join("servers.json"), listed.to_string()).unwrap();
    stage.fleet.ok(&["config", "set", &format!("agents.{agent}.mcp"), "servers.json"]);
    let task = stage.add(agent, "Call the tool", 0);
    stage.work();
    assert_eq!(server.calls().len(), 1);
    let run = stage.run_of(&task);
    assert_eq!(run["reason"], "no_changes", "that is all it did: {run}");
    let last = stage.questions(cli).pop().unwrap();
    let is_heard =
        matches!(last.talk.turns.last(), Some(Turn::Tool(text)) if text.contains("echo from the test"));
    assert!(is_heard, "the model heard the tool: {:?}", last.talk.turns.last());
}
