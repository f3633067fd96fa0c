//! The tools that plan: the backlog, its order, its conflicts, and what came of it.

use fleet_testkit::mcp_client::McpClient;
use serde_json::{Value, json};

use crate::stage::Stage;

/// Creates a task in the stage's repository and returns its id.
#[track_caller]
fn task(stage: &Stage, client: &mut McpClient, mut order: Value) -> String {
    order["repo_path"] = json!(stage.path());
    let made = client.call("create_task", order);
    assert_eq!(made["created"], true, "{made}");
    made["task"]["task_id"].as_str().unwrap().to_owned()
}

/// The ids in a list of objects.
fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|one| one["task_id"].as_str().unwrap()).collect()
}

#[test]
fn a_backlog_is_planned_searched_and_ordered() {
    let stage = Stage::quiet();
    std::fs::write(stage.fleet.home().join("config.toml"), "agents.somebody.cap = 3\n").unwrap();
    let mut client = stage.client();
    let login = json!({
        "title": "Add a login form",
        "description": "In src/login.rs, with a test for wrong passwords",
        "priority": 4,
        "labels": ["auth"],
        "file_scope": ["src/login.rs"],
        "estimated_complexity": "small",
        "executor": "demo",
    });
    let first = task(&stage, &mut client, login.clone());
    let second = task(
        &stage,
        &mut client,
        json!({"title": "Throttle passwords", "priority": 5, "depends_on": [first], "labels": ["auth"]}),
    );
    let third = task(&stage, &mut client, json!({"title": "Write the manual", "hold": true}));
    let repo = json!(stage.path());
    let seen = client.call("get_worker_status", json!({"worker_id": second}));
    assert_eq!(seen["starts_from"], json!([format!("fleet/{first}")]), "{seen}");

    let all = client.call("search_backlog", json!({"repo_path": repo}));
    assert_eq!((ids(&all["tasks"]), &all["count"]), (vec![&*second, &*first, &*third], &json!(3)));
    assert_eq!(
        (&all["tasks"][0]["status"], &all["tasks"][0]["open_dependencies"]),
        (&json!("blocked"), &json!(1))
    );
    assert_eq!(all["tasks"][1]["file_scope"], json!(["src/login.rs"]));
    assert_eq!(
        (&all["tasks"][1]["estimated_complexity"], &all["tasks"][1]["executor"]),
        (&json!("small"), &json!("demo"))
    );
    let one = client.call("search_backlog", json!({"repo_path": repo, "count": 1}));
    let rest = client.call("search_backlog", json!({"repo_path": repo, "cursor": one["next_cursor"]}));
    assert_eq!((ids(&one["tasks"]), ids(&rest["tasks"])), (vec![&*second], vec![&*first, &*third]));
    let found = client
        .call("search_backlog", json!({"all_repositories": true, "query": "login", "labels": ["auth"]}));
    assert_eq!((ids(&found["tasks"]), &found["tasks"][0]["matched"]), (vec![&*first], &json!(["login"])));
    let held = client.call("search_backlog", json!({"repo_path": repo, "statuses": ["held"]}));
    assert_eq!(ids(&held["tasks"]), [&*third]);

    let order = client.call("analyze_dependencies", json!({"repo_path": repo}));
    assert_eq!(order["critical_path"], json!([first, second]), "{order}");
    assert_eq!((&order["by_status"]["blocked"], &order["more"]), (&json!(1), &json!(false)));
    let step = order["order"].as_array().unwrap().iter().find(|step| step["task_id"] == *second).unwrap();
    assert_eq!(
        (&step["depends_on"], &step["level"], &step["critical"]),
        (&json!([first]), &json!(1), &json!(true))
    );
    let part =
        client.call("analyze_dependencies", json!({"repo_path": repo, "task_ids": [first], "count": 1}));
    assert_eq!((ids(&part["order"]), &part["more"]), (vec![&*first], &json!(false)));

    let alike =
        client.call("find_similar_tasks", json!({"repo_path": repo, "query": "a form for the login"}));
    assert_eq!(ids(&alike["tasks"]), [&*first], "{alike}");
    assert!(alike["tasks"][0]["score"].as_f64().unwrap() >= 0.4);
    let alike = client.call("find_similar_tasks", json!({"repo_path": repo, "query": first, "threshold": 0}));
    assert!(!ids(&alike["tasks"]).contains(&&*first), "not like itself: {alike}");

    assert_duplicates(&stage, &mut client, login, &first);
}

/// What is there already is not created again, unless it is meant.
#[track_caller]
fn assert_duplicates(stage: &Stage, client: &mut McpClient, mut order: Value, first: &str) {
    order["repo_path"] = json!(stage.path());
    let again = client.call("create_task", order.clone());
    assert_eq!((&again["created"], &again["task"]), (&json!(false), &Value::Null), "{again}");
    assert_eq!(ids(&again["similar"]), [first]);
    assert!(again["summary"].as_str().unwrap().contains(first), "{again}");
    order["force"] = json!(true);
    let forced = client.call("create_task", order.clone());
    assert_eq!((&forced["created"], ids(&forced["similar"])), (&json!(true), vec![first]), "{forced}");
    order["force"] = json!(false);
    order["check_duplicates"] = json!(false);
    let unasked = client.call("create_task", order);
    assert_eq!((&unasked["created"], &unasked["similar"]), (&json!(true), &json!([])), "{unasked}");
    let nobody = json!({"repo_path": stage.path(), "title": "Unlike all others", "executor": "somebody"});
    let nobody = client.call("create_task", nobody);
    assert_eq!((&nobody["created"], &nobody["executor_is_here"]), (&json!(true), &json!(false)), "{nobody}");
    assert!(nobody["summary"].as_str().unwrap().contains("not installed here"), "{nobody}");
}

#[test]
fn a_task_is_assigned_done_and_reviewed() {
    let stage = Stage::new();
    let mut client = stage.client();
    let script = |text: &str| format!("```demo\nwrite same.txt {text}\n```");
    let first =
        task(&stage, &mut client, json!({"title": "One colour", "description": script("red"), "hold": true}));
    let second = task(
        &stage,
        &mut client,
        json!({"title": "Another one", "description": script("blue"), "hold": true}),
    );
    let repo = json!(stage.path());
    for id in [&first, &second] {
        let done = client
            .call("assign_task", json!({"task_id": id, "executor": "demo", "priority": 5, "start": "queue"}));
        assert_eq!((&done["task_id"], &done["executor"]), (&json!(id), &json!("demo")), "{done}");
        assert!(done["changed"].as_array().unwrap().contains(&json!("state")), "{done}");
        assert_eq!((&done["executor_is_here"], &done["priority"]), (&json!(true), &json!(5)));
    }
    let waited = client.call("wait", json!({"worker_ids": [first, second]}));
    assert_eq!(waited["summary"], "2 workers: 2 ok", "{waited}");

    let seen = client.call("review_completed", json!({"repo_path": repo}));
    assert_eq!((&seen["count"], &seen["more"]), (&json!(2), &json!(false)), "{seen}");
    for review in seen["reviews"].as_array().unwrap() {
        assert_eq!((&review["verdict"], &review["executor"]), (&json!("mergeable"), &json!("demo")));
        assert_eq!(review["files"], json!(["same.txt"]), "{review}");
        assert!(review["run_id"].is_string() && review["branch_name"].is_string(), "{review}");
    }
    let one = client.call("review_completed", json!({"repo_path": repo, "count": 1, "since": "1h"}));
    assert_eq!((&one["count"], &one["more"]), (&json!(1), &json!(true)));

    let conflicts = client.call("detect_conflicts", json!({"repo_path": repo}));
    assert_eq!(conflicts["conflicts"][0]["kind"], "merge", "{conflicts}");
    let mut parties = ids(&conflicts["conflicts"][0]["tasks"]);
    parties.sort_unstable();
    assert_eq!(parties, [&*first, &*second]);
    assert_eq!(conflicts["files"][0]["path"], "same.txt");
    let of_one = client.call("detect_conflicts", json!({"repo_path": repo, "task_ids": [second]}));
    assert_eq!(of_one["conflicts"].as_array().unwrap().len(), 1, "{of_one}");
}

#[test]
fn agents_at_work_are_told_with_their_health() {
    let stage = Stage::new();
    let mut client = stage.client();
    let id = stage.worker(&mut client, "say busy\nhang");
    fleet_testkit::wait_until(std::time::Duration::from_mins(1), "it works", || {
        client.call("get_worker_status", json!({"worker_id": id}))["status"] == "running"
    });
    for args in [json!({}), json!({"repo_path": stage.path()})] {
        let status = client.call("check_agent_status", args);
        assert_eq!(ids(&status["agents"]), [&*id], "{status}");
        let agent = &status["agents"][0];
        assert_eq!((&agent["executor"], agent["health"].is_string()), (&json!("demo"), true), "{agent}");
        assert!(agent["run_id"].is_string() && agent["seconds"].is_u64(), "{agent}");
        assert_eq!(status["runners"].as_array().unwrap().len(), 1);
        assert!(status["slots"].as_u64().unwrap() > status["free_slots"].as_u64().unwrap(), "{status}");
        assert!(status["available"].as_array().unwrap().contains(&json!("demo")));
        assert_eq!((&status["cost_today_usd"], &status["budget_today_usd"]), (&json!(0.0), &Value::Null));
    }
    let other = fleet_testkit::repo::Repo::init();
    let status = client.call("check_agent_status", json!({"repo_path": other.path()}));
    assert_eq!(status["agents"], json!([]));
    client.call("cancel_worker", json!({"worker_id": id}));
}

#[test]
fn the_repository_is_the_one_where_the_server_was_started() {
    let stage = Stage::quiet();
    let mut command = stage.fleet.command(&["mcp"]);
    command.current_dir(stage.repo.path());
    let mut client = McpClient::start(command);
    let made = client.call("create_task", json!({"title": "Here"}));
    assert_eq!(client.call("search_backlog", json!({}))["count"], 1);
    let mut named = McpClient::start(stage.fleet.command(&["mcp", "--project", stage.path()]));
    assert_eq!(named.call("search_backlog", json!({}))["tasks"][0]["task_id"], made["task"]["task_id"]);
    let mut command = stage.fleet.command(&["mcp"]);
    command.current_dir(stage.fleet.user_home());
    let mut elsewhere = McpClient::start(command);
    for tool in ["search_backlog", "analyze_dependencies", "detect_conflicts", "review_completed"] {
        let (code, message, hint) = elsewhere.refused(tool, json!({}));
        assert_eq!(code, "not-a-repository", "{tool}: {message}");
        assert!(message.starts_with("repo_path: it is needed"), "{tool}: {message}");
        assert!(hint.contains("absolute path"), "{tool}: {hint}");
    }
}

#[test]
fn what_cannot_be_planned_is_refused() {
    let stage = Stage::quiet();
    let mut client = stage.client();
    let repo = stage.path();
    let id = task(&stage, &mut client, json!({"title": "One"}));
    for (tool, args, code, message) in [
        ("create_task", json!({"repo_path": repo}), "invalid-value", "`title` is missing"),
        ("create_task", json!({"repo_path": repo, "title": " "}), "invalid-value", "title: it is empty"),
        (
            "create_task",
            json!({"repo_path": repo, "title": "x", "priority": 9}),
            "invalid-value",
            "`priority` is 9",
        ),
        (
            "create_task",
            json!({"repo_path": repo, "title": "x", "estimated_complexity": "huge"}),
            "invalid-value",
            "estimated_complexity: ",
        ),
        (
            "create_task",
            json!({"repo_path": repo, "title": "x", "depends_on": ["t0nobody"]}),
            "task-not-found",
            "depends_on: no task, run or branch is called \"t0nobody\"",
        ),
        (
            "create_task",
            json!({"repo_path": repo, "title": "x", "executor": "two words"}),
            "invalid-value",
            "executor: ",
        ),
        (
            "create_task",
            json!({"repo_path": repo, "title": "x", "file_scope": ["/etc"]}),
            "invalid-value",
            "file_scope: ",
        ),
        ("create_task", json!({"repo_path": "/no/such", "title": "x"}), "not-a-repository", "repo_path: "),
        ("assign_task", json!({"task_id": id}), "usage", "nothing to assign"),
        (
            "assign_task",
            json!({"task_id": "t0nobody", "priority": 1}),
            "task-not-found",
            "task_id: no task, run or branch is called",
        ),
        ("assign_task", json!({"task_id": id, "executor": "two words"}), "invalid-value", "executor: "),
        ("assign_task", json!({"task_id": id, "start": "now"}), "invalid-value", "`start` cannot be \"now\""),
        ("search_backlog", json!({"repo_path": repo, "statuses": ["redy"]}), "invalid-value", "redy"),
        ("search_backlog", json!({"repo_path": repo, "cursor": "x"}), "invalid-value", "cursor: "),
        ("find_similar_tasks", json!({"repo_path": repo}), "invalid-value", "`query` is missing"),
        (
            "find_similar_tasks",
            json!({"repo_path": repo, "query": "a", "threshold": 2}),
            "invalid-value",
            "threshold: ",
        ),
        (
            "analyze_dependencies",
            json!({"repo_path": repo, "task_ids": ["t0nobody"]}),
            "task-not-found",
            "task_id: ",
        ),
        (
            "detect_conflicts",
            json!({"repo_path": repo, "task_ids": [id]}),
            "nothing-matched",
            "nothing to conflict",
        ),
        ("review_completed", json!({"repo_path": repo, "since": "soon"}), "invalid-value", "since"),
        ("check_agent_status", json!({"repo_path": "here"}), "not-a-repository", "Repo path does not exist"),
    ] {
        let (got, said, _) = client.refused(tool, args.clone());
        assert_eq!(got, code, "{tool} {args}: {said}");
        assert!(said.contains(message), "{tool} {args}: {said}");
    }
    assert_eq!(client.call("search_backlog", json!({"repo_path": repo}))["count"], 1, "nothing was made");
}
