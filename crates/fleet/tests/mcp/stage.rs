//! A home with a repository, clients that start servers on it, and no runner left behind.

use std::ffi::OsStr;

use fleet_testkit::fleet::Fleet;
use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::repo::Repo;
use serde_json::{Value, json};

/// Where a test plays.
pub(crate) struct Stage {
    pub(crate) fleet: Fleet,
    pub(crate) repo: Repo,
}

impl Stage {
    /// Runners are started by themselves.
    pub(crate) fn new() -> Self {
        let repo = Repo::init();
        let fleet = Fleet::new(env!("CARGO_BIN_EXE_fleet"))
            .env("FLEET_AUTOSTART", "true")
            .env("FLEET_AGENT", "demo")
            .env("FLEET_TASKS_RETRIES", "0");
        Self { fleet, repo }
    }

    /// Without anybody who takes up work.
    pub(crate) fn quiet() -> Self {
        let mut stage = Self::new();
        stage.fleet = stage.fleet.env("FLEET_AUTOSTART", "false");
        stage
    }

    #[track_caller]
    pub(crate) fn client(&self) -> McpClient {
        McpClient::start(self.fleet.command(&["mcp"]))
    }

    /// The same server for clients that start it themselves: command, arguments and environment.
    pub(crate) fn server(&self) -> Value {
        let command = self.fleet.command(&["mcp"]);
        let text = |text: &OsStr| text.to_str().unwrap().to_owned();
        let env: Value =
            command.get_envs().filter_map(|(name, value)| Some((text(name), json!(text(value?))))).collect();
        json!({"command": text(command.get_program()), "args": ["mcp"], "env": env})
    }

    pub(crate) fn path(&self) -> &str {
        self.repo.path().to_str().unwrap()
    }

    /// What `create_worker` takes for a script of the demo agent.
    pub(crate) fn order(&self, script: &str) -> Value {
        json!({
            "repo_path": self.path(),
            "task_name": "play a script",
            "prompt": format!("```demo\n{script}\n```"),
        })
    }

    /// Starts a worker and returns its id.
    #[track_caller]
    pub(crate) fn worker(&self, client: &mut McpClient, script: &str) -> String {
        let worker = client.call("create_worker", self.order(script));
        worker["worker_id"].as_str().unwrap().to_owned()
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.fleet.run(&["stop", "--agents"]);
    }
}
