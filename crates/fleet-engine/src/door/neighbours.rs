//! What the agent of a run may do about the work of others in its own repository, and about itself.

use std::fs;

use fleet_api::verbs::task_add::Request;
use fleet_api::{Client as _, Question};
use fleet_core::id::{RunId, TaskId};
use fleet_core::problem::{Code, Outcome};
use fleet_store::ops;
use fleet_testkit::repo::Repo;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Engine;
use crate::caller::{Caller, CallingAgent};
use crate::scratch::{self, ClaimedTask};

/// A secret that no other run may learn.
const SECRET: &str = "xyzzy";

/// A repository in which two agents work, one of which asks.
struct World {
    home: TempDir,
    repo: Repo,
    agent: Engine,
    own: TaskId,
    run: RunId,
    other: TaskId,
}

impl World {
    async fn new() -> Self {
        let (home, repo) = (tempfile::tempdir().unwrap(), Repo::init());
        repo.commit("one");
        let engine = scratch::engine_in(&repo, home.path());
        let titled = |title: &str| Request { title: title.to_owned(), ..Request::default() };
        let own = ClaimedTask::add(&engine, titled("own")).await;
        let other = ClaimedTask::add(&engine, titled(SECRET)).await.task;
        let (own, run, project) = (own.task, own.run, own.project);
        let agent = engine.reloaded().acting_as(Caller::Agent(CallingAgent { run, task: own, project }));
        Self { home, repo, agent, own, run, other }
    }

    async fn ask(&self, verb: &str, request: Value) -> Outcome<String> {
        let question = Question { verb: verb.to_owned(), at: None, request: request.to_string() };
        self.agent.ask(question).await
    }

    async fn refused(&self, verb: &str, request: Value) -> String {
        let problem = self.ask(verb, request).await.unwrap_err();
        assert!(matches!(problem.code, Code::NotYours | Code::SpawnRefused | Code::BranchTaken), "{problem}");
        problem.to_string()
    }
}

#[tokio::test]
async fn it_gets_no_terminals() {
    let world = World::new().await;
    fs::write(world.home.path().join("config.toml"), "agent = 'demo'\nlaunch.mode = 'interactive'\n")
        .unwrap();
    let line = json!({ "title": "x", "mode": "interactive" }).to_string();
    let jobs = json!([{ "prompt": "x", "branch": "x" }]);
    for (verb, request) in [
        ("task.add", json!({ "title": "x", "mode": "interactive" })),
        ("task.import", json!({ "text": line })),
        ("create", json!({ "jobs": jobs, "wishes": { "mode": "interactive" } })),
    ] {
        let said = world.refused(verb, request).await;
        assert!(said.contains("only people attach to terminals"), "{verb}: {said}");
    }
    let answer: Value =
        serde_json::from_str(&world.ask("create", json!({ "jobs": jobs })).await.unwrap()).unwrap();
    let task = &answer["tasks"][0];
    assert_eq!(task["mode"], "headless", "whatever is configured for people");
    let said = world.refused("task.edit", json!({ "id": task["id"], "mode": "interactive" })).await;
    assert!(said.contains("only people attach to terminals"), "{said}");
}

#[tokio::test]
async fn lists_are_about_its_own_work_alone() {
    let world = World::new().await;
    for (verb, request) in [
        ("agents.status", json!({})),
        ("review", json!({})),
        ("run.list", json!({})),
        ("run.kill.find", json!({ "patterns": ["*"] })),
        ("clean", json!({ "all": true, "dry_run": true })),
    ] {
        let answer = world.ask(verb, request).await.unwrap();
        assert!(!answer.contains(SECRET) && !answer.contains(world.other.as_str()), "{verb}: {answer}");
    }
    // The newest run is another's: the limit counts what is left.
    let answer = world.ask("run.list", json!({ "limit": 1 })).await.unwrap();
    assert!(answer.contains(world.run.as_str()), "{answer}");
    for verb in ["about", "runner.status"] {
        let answer = world.ask(verb, json!({})).await.unwrap();
        assert!(!answer.contains(world.home.path().to_str().unwrap()), "{verb}: {answer}");
    }
}

#[tokio::test]
async fn it_takes_no_branch_of_another_task() {
    let world = World::new().await;
    for branch in [format!("fleet/{}", world.other), format!("fleet/{}/x", world.other)] {
        let request = json!({ "title": "evil", "branch": branch });
        let told = world.refused("task.add", request).await;
        assert!(told.contains("reserved"), "{told}");
    }
}

#[tokio::test]
async fn it_does_not_prolong_itself() {
    let world = World::new().await;
    for kind in ["prompt", "follow_up"] {
        let request = json!({ "id": world.own.as_str(), "text": "go on", "kind": kind });
        let told = world.refused("run.prompt", request).await;
        assert!(told.contains("cannot prompt itself"), "{told}");
    }
    let told = world.refused("task.edit", json!({ "id": world.own.as_str(), "retries": 1_000 })).await;
    assert!(told.contains("only people"), "{told}");
    world.ask("task.edit", json!({ "id": world.own.as_str(), "add_labels": ["x"] })).await.unwrap();
}

#[tokio::test]
async fn what_it_adds_is_bounded() {
    let world = World::new().await;
    let flood = json!({ "text": "{\"title\":\"x\"}\n".repeat(ops::MAX_ADDED + 1) });
    let told = world.refused("task.import", flood).await;
    assert!(told.contains("at most 1000"), "{told}");
    let over = json!({ "text": "{\"title\":\"x\",\"state\":\"done\"}" });
    let problem = world.ask("task.import", over).await.unwrap_err();
    assert!(problem.message.contains("only people"), "{problem}");
}

#[tokio::test]
async fn no_file_is_read_in_its_place() {
    let world = World::new().await;
    let secret = world.home.path().join("secret.toml");
    fs::write(&secret, format!("{SECRET} = 1\n")).unwrap();
    let named = |name: &str| json!({ "workflows": [{ "named": name }] });
    let answer = world.ask("workflow.check", named(secret.to_str().unwrap())).await.unwrap();
    assert!(!answer.contains(SECRET) && answer.contains("not read"), "{answer}");
    let request = json!({ "workflow": { "named": secret.to_str().unwrap() } });
    assert!(world.refused("workflow.run", request).await.contains("not read"));
    // A link in the repository leads nowhere else either.
    fs::create_dir(world.repo.path().join(".fleet")).unwrap();
    std::os::unix::fs::symlink(world.home.path(), world.repo.path().join(".fleet/workflows")).unwrap();
    let answer = world.ask("workflow.check", named("secret")).await.unwrap();
    assert!(!answer.contains(SECRET), "{answer}");
    let text = "[stages.a]\nprompt_file = 'secret.toml'\n";
    let given = json!({ "workflows": [{ "given": { "name": "x", "text": text, "format": "toml" } }] });
    let answer = world.ask("workflow.check", given).await.unwrap();
    assert!(answer.contains("has no other files"), "{answer}");
    assert!(world.ask("workflow.check", named("compete-judge")).await.unwrap().contains("\"ok\":true"));
}

#[tokio::test]
async fn a_folder_that_pretends_to_be_the_repository_is_refused() {
    let world = World::new().await;
    let forged = tempfile::tempdir().unwrap();
    let git_dir = world.repo.path().join(".git");
    fs::write(forged.path().join(".git"), format!("gitdir: {}\n", git_dir.display())).unwrap();
    let at = Some(forged.path().to_owned());
    let question = Question { verb: "project.uncommitted".to_owned(), at, request: "{}".to_owned() };
    let problem = world.agent.ask(question).await.unwrap_err();
    assert_eq!(problem.code, Code::NotYours, "{problem}");
    world.ask("project.uncommitted", json!({})).await.unwrap();
}
