//! The agent of a run commands only what comes from its own task.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use fleet_testkit::fleet::Fleet;
use fleet_testkit::mcp_client::McpClient;
use fleet_testkit::repo::Repo;
use fleet_testkit::wait_until;
use serde_json::json;

use crate::stage::Stage;

/// An agent that starts what a test wants started in its place: whatever is not below its keeper is not the agent.
const AGENT: &str = r#"#!/bin/sh
mkdir -p "$HOME/jobs"
env > "$HOME/seen.new" && mv "$HOME/seen.new" "$HOME/seen"
while :; do
  for job in "$HOME"/jobs/*.ready; do
    [ -e "$job" ] || continue
    mv "$job" "${job%.ready}.run"
    sh "${job%.ready}.run" &
  done
  sleep 0.02
done
"#;

/// Stands in for the binary: has the agent start it, and passes on what goes in and out.
const RELAY: &str = r#"#!/bin/sh
exec 3<&0
job=$(mktemp "$HOME/jobs/XXXXXXXX") || exit 1
mkfifo "$job.in" "$job.out" "$job.err"
{
  printf 'cd "%s"\n"$FLEET_BIN"' "$PWD"
  for word; do printf " '%s'" "$word"; done
  printf ' < "%s.in" > "%s.out" 2> "%s.err"\n' "$job" "$job" "$job"
  printf 'echo $? > "%s.new"\nmv "%s.new" "%s.code"\n' "$job" "$job" "$job"
} > "$job"
mv "$job" "$job.ready"
cat "$job.err" >&2 &
errors=$!
cat <&3 > "$job.in" &
cat "$job.out"
wait "$errors"
until [ -e "$job.code" ]; do sleep 0.02; done
exit "$(cat "$job.code")"
"#;

/// An agent, in whose place a test acts.
struct Agent {
    /// Its task.
    task: String,
    run: String,
    /// Where it finds its keeper.
    door: String,
    /// The binary as the agent starts it.
    fleet: Fleet,
}

impl Agent {
    fn start(stage: &Stage, person: &mut McpClient) -> Self {
        let place = |name: &str| stage.fleet.user_home().join(name);
        let (program, relay, seen) = (place("own"), place("relay"), place("seen"));
        for (script, text) in [(&program, AGENT), (&relay, RELAY)] {
            std::fs::write(script, text).unwrap();
            std::fs::set_permissions(script, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        let config = format!("agent = 'demo'\n[agents.own]\nprogram = '{}'\n", program.display());
        std::fs::write(stage.fleet.home().join("config.toml"), config).unwrap();
        let mut order = stage.order("say hi");
        order["executor"] = json!("own");
        let task = person.call("create_worker", order)["worker_id"].as_str().unwrap().to_owned();
        wait_until(Duration::from_mins(1), "the agent runs", || seen.exists());
        let environment = std::fs::read_to_string(&seen).unwrap();
        let environment: BTreeMap<&str, &str> =
            environment.lines().filter_map(|line| line.split_once('=')).collect();
        let (run, door) = (environment["FLEET_RUN"].to_owned(), environment["FLEET_DOOR"].to_owned());
        let fleet = stage.fleet.with_program(relay).cwd(stage.repo.path().to_owned());
        Self { task, run, door, fleet }
    }

    fn client(&self) -> McpClient {
        McpClient::start(self.fleet.command(&["mcp"]))
    }

    /// Has the agent run a script, with `$fleet` for the binary, and waits for what it prints.
    fn run(&self, script: &str) -> String {
        let jobs = self.fleet.user_home().join("jobs");
        let name = format!("script-{}", std::fs::read_dir(&jobs).unwrap().count());
        let (out, new) = (jobs.join(format!("{name}.said")), jobs.join(format!("{name}.new")));
        let all = format!(
            "fleet=$FLEET_BIN\n{{ {script}\n}} > '{new}' 2>&1\nmv '{new}' '{out}'\n",
            new = new.display(),
            out = out.display()
        );
        std::fs::write(jobs.join(&name), all).unwrap();
        std::fs::rename(jobs.join(&name), jobs.join(format!("{name}.ready"))).unwrap();
        wait_until(Duration::from_mins(1), "the script has ended", || out.exists());
        std::fs::read_to_string(&out).unwrap()
    }
}

#[test]
fn no_way_round_the_door_leads_to_the_store_or_to_another_run() {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_RUNNER_SLOTS", "4");
    let mut person = stage.client();
    let other = stage.worker(&mut person, "hang");
    wait_until(Duration::from_mins(1), "it runs", || {
        person.call("get_worker_status", json!({"worker_id": other}))["state"] == "running"
    });
    let theirs = person.call("get_worker_status", json!({"worker_id": other}))["run_id"].clone();
    let home = stage.fleet.home().to_str().unwrap().to_owned();
    let stolen = format!("{home}/runs/{}/door", theirs.as_str().unwrap());
    let agent = Agent::start(&stage, &mut person);
    let own = tempfile::tempdir().unwrap();
    let own = own.path().to_str().unwrap();
    let forget = "env -i PATH=\"$PATH\" HOME=\"$HOME\"";
    for (way, code) in [
        // It is still known, and may not.
        (format!("{forget} FLEET_HOME='{home}' $fleet kill --yes --json {other}"), "not-yours"),
        (format!("env -u FLEET_DOOR -u FLEET_RUN $fleet kill --yes --json {other}"), "not-yours"),
        (format!("FLEET_HOME='{home}' $fleet kill --yes --json {other}"), "not-yours"),
        // The keeper of another run does not answer it.
        (format!("FLEET_DOOR='{stolen}' $fleet note --json stolen"), "not-yours"),
        (format!("FLEET_DOOR='{stolen}' $fleet task list --json"), "not-yours"),
        // Neither does the store.
        (format!("$fleet -c 'store=sqlite:{home}/fleet.db' task list --json"), "not-yours"),
        (
            format!("{forget} FLEET_HOME='{own}' $fleet -c 'store=sqlite:{home}/fleet.db' task list --json"),
            "not-yours",
        ),
        (
            format!(
                "{forget} FLEET_HOME='{own}' FLEET_STORE='sqlite:{home}/fleet.db' $fleet kill --yes --json {other}"
            ),
            "not-yours",
        ),
        // What is for people and for codefleet itself is not for agents.
        (format!("{forget} FLEET_HOME='{home}' $fleet run --until-idle --json"), "not-yours"),
        (
            format!("{forget} FLEET_HOME='{home}' $fleet keeper {} 1 --json", theirs.as_str().unwrap()),
            "not-yours",
        ),
        (
            format!("{forget} FLEET_HOME='{home}' $fleet repair {} --json", theirs.as_str().unwrap()),
            "not-yours",
        ),
    ] {
        let said = agent.run(&way);
        assert!(said.contains(&format!("\"{code}\"")), "{way}: {said}");
    }
    // A fleet of its own, such as that of a test, is its own business.
    let said =
        agent.run(&format!("{forget} FLEET_HOME='{own}' FLEET_AUTOSTART=false $fleet task add --json mine"));
    assert!(said.contains("\"title\""), "{said}");
    let status = person.call("get_worker_status", json!({"worker_id": other}));
    assert_eq!(status["state"], "running", "nothing happened to it: {status}");
}

#[test]
fn an_agent_that_calls_and_calls_gets_answers_and_its_run_goes_on() {
    let stage = Stage::new();
    let mut person = stage.client();
    let agent = Agent::start(&stage, &mut person);
    let said = agent.run(
        "for i in $(seq 60); do $fleet progress \"$i\" --json & done; wait; $fleet note --json 'still here'",
    );
    let answers = said.matches("\"report\"").count() + said.matches("\"door-closed\"").count();
    assert!(answers == 61 && said.contains("still here"), "{answers}: {said}");
    let status = person.call("get_worker_status", json!({"worker_id": agent.task}));
    assert_eq!(status["state"], "running", "{status}");
}

#[test]
fn an_agent_whose_keeper_was_killed_is_told_so() {
    let stage = Stage::new();
    let mut person = stage.client();
    let agent = Agent::start(&stage, &mut person);
    let mark = stage.fleet.home().join("live").join(&agent.run);
    let keeper: serde_json::Value = serde_json::from_slice(&std::fs::read(mark).unwrap()).unwrap();
    // The runner would end an agent without a keeper before it has asked.
    let said = agent.run(&format!(
        "kill -STOP {runner}; kill -9 {}; $fleet note --json x; $fleet task list --json; kill -CONT {runner}",
        keeper["pid"],
        runner = stage.fleet.json(&["start"])["runner"]["pid"],
    ));
    assert_eq!(said.matches("\"door-closed\"").count(), 2, "{said}");
    assert!(said.contains("keeper was killed"), "{said}");
    let door = std::path::PathBuf::from(&agent.door);
    wait_until(Duration::from_mins(1), "its door is gone", || !door.exists());
}

#[test]
fn an_agent_sees_and_ends_only_its_own_workers() {
    let stage = Stage::new();
    let mut person = stage.client();
    let other = stage.worker(&mut person, "hang");
    let inside = Agent::start(&stage, &mut person);
    let own = inside.task.clone();
    let mut agent = inside.client();

    let child = agent.call("create_worker", stage.order("hang"));
    assert_eq!(child["parent_worker_id"], json!(own));
    assert_eq!(child["parent_run_id"], json!(inside.run));
    for tool in ["get_worker_status", "collect_worker_result", "cancel_worker", "cleanup_worker", "get_diff"]
    {
        let (code, message, _) = agent.refused(tool, json!({"worker_id": other}));
        assert_eq!(code, "not-yours", "{tool}: {message}");
    }
    assert_eq!(agent.refused("wait", json!({"worker_ids": [child["worker_id"], other]})).0, "not-yours");
    assert_eq!(agent.refused("prompt_worker", json!({"worker_id": other, "prompt": "stop"})).0, "not-yours");
    let listed = agent.call("list_workers", json!({}));
    let ids: Vec<_> =
        listed["workers"].as_array().unwrap().iter().map(|worker| worker["worker_id"].clone()).collect();
    assert_eq!(ids, [child["worker_id"].clone(), json!(own)]);
    for uri in [format!("fleet://task/{other}"), format!("fleet://run/{other}/prompt")] {
        let answer = agent.ask("resources/read", json!({"uri": uri}));
        assert_eq!(answer["error"]["data"]["code"], "not-yours", "{answer}");
    }
    assert_eq!(agent.refused("assign_task", json!({"task_id": other, "priority": 1})).0, "not-yours");
    assert_eq!(agent.call("cancel_worker", json!({"worker_id": child["worker_id"]}))["status"], "cancelled");
    // Whoever claims to be an agent and is not below its keeper is neither that agent nor a person.
    let child = child["worker_id"].as_str().unwrap();
    for (name, value, code) in
        [("FLEET_DOOR", &*inside.door, "not-yours"), ("FLEET_RUN", "r0smmyvymnt4z7j", "door-closed")]
    {
        let liar = stage.fleet.env(name, value);
        let mut client = McpClient::start(liar.command(&["mcp"]));
        for worker in [other.as_str(), child] {
            assert_eq!(client.refused("get_worker_status", json!({"worker_id": worker})).0, code);
        }
        for said in [["fail", "stolen"], ["note", "stolen"]] {
            let refused = liar.run(&[&said[..], &["--json"]].concat());
            assert!(refused.stderr.contains(code), "{refused:?}");
        }
    }
    for id in [own, other] {
        assert_eq!(person.call("cancel_worker", json!({"worker_id": id}))["status"], "cancelled");
    }
}

#[test]
fn an_agent_changes_only_its_own_tasks_by_the_command_line_too() {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_RUNNER_SLOTS", "4");
    let mut person = stage.client();
    let other = stage.worker(&mut person, "hang");
    let stages = json!([{"name": "a", "executor": "demo", "prompt_template": "```demo\nhang\n```"}]);
    let order = json!({"repo_path": stage.path(), "name": "play", "task_prompt": "x", "stages": stages});
    let workflow = person.call("create_workflow", order)["workflow_id"].as_str().unwrap().to_owned();
    let agent = Agent::start(&stage, &mut person);
    for (command, id) in [
        ("kill --yes", &other),
        ("task cancel", &other),
        ("task hold", &other),
        ("task retry", &other),
        ("task edit --priority 1", &other),
        ("task delete --yes", &other),
        ("prompt", &other),
        ("resume", &other),
        ("workflow cancel --yes", &workflow),
        ("workflow retry", &workflow),
        ("stop --agents", &String::new()),
        ("agents pause demo", &String::new()),
        ("config set agent codex", &String::new()),
        ("config unset agent", &String::new()),
        ("config edit", &String::new()),
        ("setup claude", &String::new()),
        ("mcp token", &String::new()),
        ("mcp token --renew", &String::new()),
        ("mcp --http 127.0.0.1:0", &String::new()),
        ("trust --yes", &String::new()),
        ("start", &String::new()),
    ] {
        let mut args: Vec<&str> = command.split(' ').chain((!id.is_empty()).then_some(id.as_str())).collect();
        args.extend((command == "prompt").then_some("stop"));
        args.push("--json");
        let refused = agent.fleet.run(&args);
        assert!(refused.code != 0 && refused.stderr.contains("not-yours"), "{command}: {refused:?}");
    }
    let refused = agent.fleet.run(&["task", "dep", "add", &other, &agent.task, "--json"]);
    assert!(refused.stderr.contains("not-yours"), "{refused:?}");
    let status = |client: &mut McpClient| {
        client.call("get_worker_status", json!({"worker_id": other}))["state"].clone()
    };
    assert_eq!(status(&mut person), "running", "nothing happened to it");
    assert_eq!(person.call("get_workflow_status", json!({"workflow_id": workflow}))["state"], "running");

    let child = agent.fleet.json(&["task", "add", "child", "--hold"])["id"].clone();
    let child = child.as_str().unwrap();
    agent.fleet.ok(&["task", "edit", child, "--priority", "2"]);
    agent.fleet.ok(&["task", "cancel", child]);
    agent.fleet.ok(&["task", "delete", child, "--yes"]);
    agent.fleet.ok(&["note", "half of it is done"]);
    assert!(agent.fleet.ok(&["task", "list", "--json"]).contains(&other), "reading is free");
}

#[test]
fn an_agent_plans_for_its_own_repository_alone() {
    let stage = Stage::new();
    let elsewhere = Repo::init();
    let mut person = stage.client();
    let task = |client: &mut McpClient, path: &str, title: &str| {
        let order = json!({"repo_path": path, "title": title, "hold": true});
        client.call("create_task", order)["task"]["task_id"].as_str().unwrap().to_owned()
    };
    let near = task(&mut person, stage.path(), "Write the manual");
    let path = elsewhere.path().to_str().unwrap();
    let far = task(&mut person, path, "Secret plans");
    let inside = Agent::start(&stage, &mut person);
    let mut agent = inside.client();
    let found = agent.call("search_backlog", json!({}));
    assert!(found.to_string().contains(&near) && !found.to_string().contains(&far), "{found}");
    agent.call("analyze_dependencies", json!({"task_ids": [near]}));
    agent.call("check_agent_status", json!({}));
    for (tool, order) in [
        ("search_backlog", json!({"all_repositories": true})),
        ("search_backlog", json!({"repo_path": path})),
        ("find_similar_tasks", json!({"query": "plans", "all_repositories": true})),
        ("find_similar_tasks", json!({"query": far})),
        ("review_completed", json!({"repo_path": path})),
        ("detect_conflicts", json!({"repo_path": path})),
        ("detect_conflicts", json!({"task_ids": [far]})),
        ("analyze_dependencies", json!({"repo_path": path})),
        ("check_agent_status", json!({"repo_path": path})),
    ] {
        let (code, message, _) = agent.refused(tool, order.clone());
        assert_eq!(code, "not-yours", "{tool} {order}: {message}");
    }
    assert!(person.call("search_backlog", json!({"all_repositories": true})).to_string().contains(&far));
}

#[test]
fn what_is_shown_is_what_was_checked() {
    let mut stage = Stage::new();
    stage.fleet = stage.fleet.env("FLEET_RUNNER_SLOTS", "4");
    let mut person = stage.client();
    let inside = Agent::start(&stage, &mut person);
    let child = inside.fleet.json(&["task", "add", "child", "--hold"])["id"].as_str().unwrap().to_owned();
    // The branch of another one's work is called like the agent's own task, which has no run.
    let script = "```demo\nwrite secret.txt plans\n```";
    stage.fleet.cwd(stage.repo.path().to_owned()).ok(&["create", &child, "-p", script]);
    let mut agent = inside.client();
    assert_eq!(agent.refused("get_diff", json!({"worker_id": child, "format": "patch"})).0, "not-yours");
    for part in ["log", "result", "diff", "prompt"] {
        let answer = agent.ask("resources/read", json!({"uri": format!("fleet://run/{child}/{part}")}));
        assert_eq!(answer["error"]["data"]["code"], "not-yours", "{part}: {answer}");
    }
    assert_eq!(person.call("get_diff", json!({"worker_id": child}))["files"][0]["path"], "secret.txt");
}
