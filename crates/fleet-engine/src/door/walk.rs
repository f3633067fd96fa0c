//! The agent of a run asks every verb about what is not its own.

use fleet_api::verbs::task_add::Request;
use fleet_api::{Access, Asker, Client as _, Question, TABLE, TaskFields};
use fleet_core::problem::Code;
use fleet_host::process::Identity;
use fleet_store::ops;
use fleet_testkit::repo::Repo;
use serde_json::{Map, Value, json};

use super::*;
use crate::Engine;
use crate::caller::{Caller, CallingAgent};
use crate::home::Home;
use crate::scratch::{self, ClaimedTask};

/// A secret that no other run may learn.
const SECRET: &str = "xyzzy";

/// Two repositories with a task at work in each, and one more that waits.
struct World {
    here: (Repo, Engine),
    elsewhere: (Repo, Engine),
}

impl World {
    fn new(home: &std::path::Path) -> Self {
        let place = |repo: &Repo| {
            repo.commit("one");
            scratch::engine_in(repo, home)
        };
        let (here, elsewhere) = (Repo::init(), Repo::init());
        let (mine, theirs) = (place(&here), place(&elsewhere));
        Self { here: (here, mine), elsewhere: (elsewhere, theirs) }
    }
}

async fn work(engine: &Engine, title: &str) -> ClaimedTask {
    let text = || Some(title.to_owned());
    let fields = TaskFields { description: text(), branch: text(), ..TaskFields::default() };
    let request = Request { title: title.to_owned(), fields, ..Request::default() };
    ClaimedTask::add(engine, request).await
}

/// A request in which everything that may name something names `id`.
fn naming(schema: &Value, id: &str) -> Value {
    let one_of = ["anyOf", "oneOf", "allOf"].into_iter().find_map(|key| schema.get(key)?.as_array());
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values[0].clone();
    }
    if let Some(parts) = one_of {
        return parts.first().map_or(Value::Null, |part| naming(part, id));
    }
    let kind = schema.get("type").map(|kind| match kind {
        Value::Array(kinds) => kinds.iter().find(|kind| *kind != "null").cloned().unwrap_or_default(),
        kind => kind.clone(),
    });
    match kind.as_ref().and_then(Value::as_str) {
        Some("string") => json!(id),
        Some("array") => json!([schema.get("items").map_or(json!(id), |items| naming(items, id))]),
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        _ => {
            let fields = schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
            let fields = fields.iter().map(|(name, schema)| (name.clone(), naming(schema, id)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

/// The request with all of its fields, with one optional field only, each in its turn, and with none.
fn smaller(schema: &Value, whole: &Value) -> Vec<Value> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let Some(fields) = whole.as_object() else { return Vec::new() };
    let must: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| required.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let with = |(name, value): (&String, &Value)| {
        let mut some = must.clone();
        some.insert(name.clone(), value.clone());
        Value::Object(some)
    };
    [whole.clone()].into_iter().chain(fields.iter().map(with)).chain([Value::Object(must.clone())]).collect()
}

#[tokio::test]
async fn no_verb_tells_an_agent_about_another_run_or_changes_it() {
    let home = tempfile::tempdir().unwrap();
    let world = World::new(home.path());
    let own = work(&world.here.1, "own").await;
    let other = work(&world.elsewhere.1, SECRET).await;
    let before = world.elsewhere.1.call(ops::GetRun { run: other.run }).await.unwrap();

    Home::new(home.path()).run(own.run).make().unwrap();
    let agent = CallingAgent { run: own.run, task: own.task, project: own.project.clone() };
    let engine = world.here.1.reloaded().acting_as(Caller::Agent(agent));
    let parent = Identity::of(rustix::process::getppid().unwrap().as_raw_pid()).unwrap();
    let door =
        OpenDoor::open(engine, &Home::new(home.path()), own.run, DoorOwner { keeper: parent }).unwrap();
    let client = Door::new(Some(door.path().to_owned()), None);

    let elsewhere = world.elsewhere.0.path().to_owned();
    let mut understood = 0;
    for row in TABLE {
        let schema = serde_json::to_value((row.request)()).unwrap();
        let requests = |name: &str| smaller(&schema, &naming(&schema, name));
        let of_task = requests(&other.task.to_string()).into_iter().map(|request| (request, None));
        let of_run = requests(&other.run.to_string()).into_iter().map(|request| (request, None));
        let from_there =
            requests(&own.task.to_string()).pop().map(|request| (request, Some(elsewhere.clone())));
        for (request, at) in of_task.chain(of_run).chain(from_there) {
            let asked = format!("{} {request} at {at:?}", row.id);
            let is_placed = row.access != Access::Agents;
            let is_refused = !row.access.admits(Asker::Agent, row.nature) || (is_placed && at.is_some());
            let question = Question { verb: row.id.to_owned(), at, request: request.to_string() };
            let answer = client.ask(question).await;
            let told = format!("{answer:?}");
            assert!(!told.contains(SECRET), "{asked}: {told}");
            let is_read = !matches!(&answer, Err(problem) if problem.message.starts_with("request:"));
            understood += usize::from(is_read);
            if is_read && is_refused {
                assert_eq!(answer.unwrap_err().code, Code::NotYours, "{asked}");
            }
        }
    }
    assert!(understood > TABLE.len() * 2, "hardly any request was understood: {understood}");
    let after = world.elsewhere.1.call(ops::GetRun { run: other.run }).await.unwrap();
    assert_eq!(format!("{:?}", (&before.run, &before.task)), format!("{:?}", (&after.run, &after.task)));
}
