//! Somebody who kills runners, keepers and MCP servers while workflows are at work, and brings back what has to be there.

use std::thread;
use std::time::{Duration, Instant};

use fleet_testkit::mcp_client::McpClient;
use serde_json::{Value, json};

use super::dice::{Dice, Graph};
use crate::processes;
use crate::stage::{Running, Stage};

/// Far above what a workflow takes, however often it is disturbed.
const PATIENCE: Duration = Duration::from_mins(20);
/// A stage that was tried so often is left alone, so that it does not run out of attempts.
const ENOUGH: i64 = 6;

/// A home in which nobody is safe.
pub(crate) struct Havoc<'a> {
    stage: &'a Stage,
    dice: Dice,
    runner: Running,
    client: McpClient,
    /// The workflows, as far as they are at work.
    ids: Vec<String>,
    /// How many runners, servers and keepers were killed.
    pub(crate) killed: [usize; 3],
}

impl<'a> Havoc<'a> {
    pub(crate) fn new(stage: &'a Stage, seed: u64) -> Self {
        let client = McpClient::start(stage.fleet.command(&["mcp"]));
        let runner = stage.run(None);
        Self { stage, dice: Dice(seed), runner, client, ids: Vec::new(), killed: [0; 3] }
    }

    /// Starts a workflow from a file.
    pub(crate) fn start(&mut self, graph: &Graph) -> String {
        let file = self.stage.sign(&format!("{}.json", graph.spec.name));
        std::fs::write(&file, graph.file().to_string()).unwrap();
        let started = self.stage.fleet.json(&["workflow", "run", file.to_str().unwrap(), "--detach"]);
        self.added(started["id"].as_str().unwrap())
    }

    /// Starts one by a server that is killed meanwhile: all of it is there then, or nothing.
    pub(crate) fn order(&mut self, graph: &mut Graph) -> String {
        let order = graph.order(self.stage.repo.path());
        self.client.send_call("create_workflow", order.clone());
        self.pause(40);
        self.kill_server();
        let listed = self.stage.fleet.json(&["workflow", "list", "--all"]);
        let mut found =
            listed["workflows"].as_array().unwrap().iter().filter(|one| one["name"] == *graph.spec.name);
        let id = match (found.next(), found.next()) {
            (None, _) => self.client.call("create_workflow", order)["workflow_id"].clone(),
            (Some(one), None) => one["id"].clone(),
            (Some(_), Some(_)) => panic!("started twice: {listed}"),
        };
        self.added(id.as_str().unwrap())
    }

    fn added(&mut self, id: &str) -> String {
        self.ids.push(id.to_owned());
        self.wait();
        id.to_owned()
    }

    /// Asks the server to tell when all is over; nobody reads the answer.
    fn wait(&mut self) {
        self.client.send_call("wait", json!({"workflow_ids": self.ids}));
    }

    /// Kills now and then until every workflow is over. `unwanted` is cancelled meanwhile.
    pub(crate) fn rage(&mut self, unwanted: Option<&str>) {
        let mut unwanted = unwanted.map(|id| (id, 1 + self.dice.roll(12)));
        let begin = Instant::now();
        for time in 0.. {
            let listed = self.stage.fleet.json(&["workflow", "list"]);
            if listed["workflows"].as_array().unwrap().is_empty() {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "{listed:#}");
            if let Some((id, _)) = unwanted.take_if(|(_, at)| *at == time) {
                self.cancel(id);
            }
            match self.dice.roll(8) {
                0 => self.kill_runner(),
                1 => self.kill_server(),
                2 => {
                    self.kill_keeper();
                    self.kill_runner();
                }
                _ => self.kill_keeper(),
            }
            self.stage.hasten();
            self.pause(300);
        }
    }

    /// Random moments are what this is about.
    fn pause(&mut self, below: usize) {
        thread::sleep(Duration::from_millis(self.dice.roll(below).try_into().unwrap()));
    }

    fn kill_runner(&mut self) {
        self.runner.kill();
        self.pause(200);
        self.runner = self.stage.run(None);
        self.killed[0] += 1;
    }

    fn kill_server(&mut self) {
        self.client.kill();
        self.client = McpClient::start(self.stage.fleet.command(&["mcp"]));
        if let Some(id) = self.ids.last() {
            self.client.call("get_workflow_status", json!({"workflow_id": id}));
            self.wait();
        }
        self.killed[1] += 1;
    }

    /// One of those at work, wherever it is.
    fn kill_keeper(&mut self) {
        let id = self.ids[self.dice.roll(self.ids.len())].clone();
        let shown = self.stage.fleet.json(&["workflow", "show", &id]);
        let is_due = |one: &&Value| one["state"] == "running" && one["attempts"].as_i64() < Some(ENOUGH);
        let runs = shown["stages"].as_array().unwrap().iter().filter(is_due);
        let runs: Vec<&str> = runs.filter_map(|one| one["run"].as_str()).collect();
        let words: Vec<String> = runs.iter().map(|run| format!(" keeper {run} ")).collect();
        let mut keepers = processes::of_home(self.stage.home());
        keepers.retain(|found| words.iter().any(|words| found.command.contains(words)));
        if !keepers.is_empty() {
            processes::kill(keepers[self.dice.roll(keepers.len())].pid);
            self.killed[2] += 1;
        }
    }

    /// It may be over by now.
    fn cancel(&mut self, id: &str) {
        if self.dice.roll(2) == 0 {
            let output = self.stage.fleet.run(&["workflow", "cancel", id, "--no-wait"]);
            assert!(matches!(output.code, 0 | 4), "{output:?}");
        } else {
            // The server is killed before it has done it, or afterwards.
            self.client.send_call("cancel_workflow", json!({"workflow_id": id}));
            self.pause(100);
            self.kill_server();
        }
    }

    /// A client sees how all of it ended, and leaves; nothing is left behind.
    pub(crate) fn end(mut self) {
        let waited = self.client.call("wait", json!({"workflow_ids": self.ids}));
        assert_eq!((&waited["done"], &waited["pending"]), (&json!(true), &json!([])), "{waited}");
        assert!(self.client.close().success());
        self.stage.assert_tidy([self.runner]);
    }
}
