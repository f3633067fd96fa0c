//! Finding tasks by what they say, and the open ones as a whole: `fleet task search`, `similar`, `order`.

use serde_json::Value;

use super::support::{World, error};

fn ids(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect()
}

/// A queue with a few tasks; returns their ids.
fn queue(world: &World) -> [String; 4] {
    let add = |arguments: &[&str]| {
        let all = [&["task", "add", "-q"][..], arguments].concat();
        world.fleet.ok(&all).trim_end().to_owned()
    };
    [
        add(&["Fix the flaky login test", "-d", "tests/login.rs fails on CI: the session expires."]),
        add(&["Document the API", "-l", "docs", "--scope", "docs/api/**"]),
        add(&["Cache search results", "-p", "5", "-d", "The login page searches, too."]),
        add(&["Remove dead code", "--hold"]),
    ]
}

fn searching(world: &World) {
    let [login, api, cache, dead] = queue(world);
    let json = |arguments: &[&str]| world.fleet.json(&[&["task", "search"][..], arguments].concat());
    let found = json(&["login"]);
    assert_eq!(ids(&found["tasks"]), [&login, &cache], "a title says more than a description");
    assert!(found["tasks"][0]["score"].as_f64() > found["tasks"][1]["score"].as_f64(), "{found}");
    assert_eq!((&found["looked_at"], &found["more"]), (&4.into(), &false.into()));
    assert_eq!(ids(&json(&["docum"])["tasks"]), [&api], "the beginning of a word");
    assert_eq!(ids(&json(&["docs/api/"])["tasks"]), [&api], "a folder");
    assert_eq!(ids(&json(&["docs", "-l", "docs"])["tasks"]), [&api]);
    assert_eq!(ids(&json(&["code", "--status", "held"])["tasks"]), [&dead]);
    assert_eq!(json(&["code", "--status", "ready"])["tasks"], Value::Array(Vec::new()));
    // Part by part, everything comes once.
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut arguments = vec!["login code api", "-n", "1"];
        arguments.extend(cursor.iter().flat_map(|cursor| ["--cursor", cursor.as_str()]));
        let part = json(&arguments);
        seen.extend(ids(&part["tasks"]).into_iter().map(ToOwned::to_owned));
        cursor = part["next_cursor"].as_str().map(ToOwned::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, ids(&json(&["login code api"])["tasks"]));
    assert_eq!(seen.len(), 4);
    let wrong = world.fleet.run(&["task", "search", "x", "--cursor", "nonsense", "--json"]);
    assert_eq!(error(&wrong).0, "invalid-value");
}

#[test]
fn tasks_are_found_by_what_they_say() {
    searching(&World::sqlite());
    searching(&World::postgres());
}

#[test]
fn what_is_not_found_is_said_with_what_to_try() {
    let world = World::sqlite();
    queue(&world);
    let nothing = world.fleet.run(&["task", "search", "unheard-of"]);
    assert_eq!((nothing.code, nothing.stdout.as_str()), (0, ""));
    assert!(nothing.stderr.contains("nothing found among 4 tasks"), "{}", nothing.stderr);
    let nothing = world.fleet.run(&["task", "similar", "Entirely different matters"]);
    assert!(nothing.stderr.contains("--threshold 0.2"), "{}", nothing.stderr);
}

fn comparing(world: &World) {
    let [login, api, ..] = queue(world);
    world.fleet.ok(&["task", "cancel", &api]);
    let json = |arguments: &[&str]| world.fleet.json(&[&["task", "similar"][..], arguments].concat());
    let found = json(&["Make the login test less flaky"]);
    assert_eq!(ids(&found["similar"]), [&login]);
    let shared = found["similar"][0]["shared_words"].as_array().unwrap();
    assert!(shared.contains(&"flaky".into()) && shared.contains(&"login".into()), "{found}");
    assert_eq!(ids(&json(&["Document", "the", "API"])["similar"]), [&api], "cancelled ones, too");
    let twin = world.add("Fix the flaky login tests");
    assert_eq!(ids(&json(&[&login])["similar"]), [&twin], "never itself");
    assert_eq!(ids(&json(&[&login[..9]])["similar"]).len(), 1, "the beginning of an id");
    world.fleet.ok(&["task", "edit", &login, "--branch", "sign-in"]);
    assert_eq!(ids(&json(&["sign-in"])["similar"]), [&twin], "a branch");
    for (of, threshold) in [("login", "1.5"), ("login", "NaN"), ("?!", "0.5")] {
        let wrong = world.fleet.run(&["task", "similar", of, "--threshold", threshold, "--json"]);
        assert_eq!(error(&wrong).0, "invalid-value", "{of} {threshold}");
    }
}

#[test]
fn tasks_that_say_nearly_the_same_are_found() {
    comparing(&World::sqlite());
    comparing(&World::postgres());
}

#[test]
fn a_task_that_is_there_already_is_not_added_twice() {
    let world = World::sqlite();
    let [login, api, ..] = queue(&world);
    let before = world.content();
    let refused = world.fleet.run(&["task", "add", "Fix flaky login test", "--unless-similar", "--json"]);
    let (code, message, hints) = error(&refused);
    assert_eq!((refused.code, code.as_str()), (4, "similar-task"));
    assert!(message.contains(&login) && hints.contains("--unless-similar"), "{message} {hints}");
    assert_eq!(world.content(), before);
    let told = world.fleet.run(&["task", "add", "Fix flaky login test", "--unless-similar"]);
    assert!(told.stderr.contains(&login) && told.stderr.contains("SHARED"), "{}", told.stderr);
    let wrong =
        world.fleet.run(&["task", "add", "Fix flaky login test", "--unless-similar", "-p", "9", "--json"]);
    assert_eq!(error(&wrong).0, "invalid-value", "a wrong field comes first");
    world.fleet.ok(&["task", "add", "Fix flaky login test", "--unless-similar=0.99"]);
    world.fleet.ok(&["task", "cancel", &api]);
    world.fleet.ok(&["task", "add", "Document the API", "--unless-similar"]);
}

fn ordering(world: &World) {
    let add = |arguments: &[&str]| {
        let all = [&["task", "add", "-q"][..], arguments].concat();
        world.fleet.ok(&all).trim_end().to_owned()
    };
    let parser = add(&["Write the new parser", "--complexity", "xl", "--scope", "src/**"]);
    let docs = add(&["Document it", "--after", &parser, "-p", "5"]);
    let bench = add(&["Benchmark", "-d", "once “Write the new parser” is done"]);
    let api = add(&["Tidy up", "--scope", "src/api.rs", "--complexity", "trivial"]);
    let ship = add(&["Ship", "--after", &docs, "--after", &api]);
    let all = world.fleet.json(&["task", "order"]);
    let order = ids(&all["order"]);
    assert_eq!(order.len(), 5);
    let at = |id: &String| order.iter().position(|other| other == id).unwrap();
    assert!(at(&parser) < at(&docs) && at(&docs) < at(&ship) && at(&api) < at(&ship));
    assert_eq!(all["critical_path"], serde_json::json!([parser, docs, ship]));
    assert_eq!(all["critical_size"], 24);
    assert_eq!(all["by_status"], serde_json::json!({ "ready": 3, "blocked": 2 }));
    assert_eq!(all["order"][at(&parser)]["unblocks"], 2);
    assert_eq!(all["bottlenecks"], serde_json::json!([parser]));
    let suggested: Vec<_> =
        all["suggestions"].as_array().unwrap().iter().map(|s| (s["task"].clone(), s["on"].clone())).collect();
    let pair = |task: &String, on: &String| (Value::from(task.as_str()), Value::from(on.as_str()));
    assert_eq!(suggested, [pair(&bench, &parser), pair(&api, &parser)]);
    world.fleet.ok(&["task", "cancel", &parser]);
    let after = world.fleet.json(&["task", "order", &docs]);
    assert_eq!(ids(&after["order"]), [&docs]);
    assert_eq!(after["stuck"], serde_json::json!([docs]));
    assert_eq!(after["order"][0]["obstacle"]["needs_a_person"], true);
}

#[test]
fn the_open_tasks_as_a_whole() {
    ordering(&World::sqlite());
    ordering(&World::postgres());
}

#[test]
fn an_order_is_readable() {
    let world = World::sqlite();
    assert!(world.fleet.run(&["task", "order"]).stderr.contains("no open tasks"));
    let first = world.add("Write the API");
    world.fleet.ok(&["task", "add", "Document the API", "--after", &first]);
    world.fleet.ok(&["task", "add", "Try it", "-d", &format!("uses {first}")]);
    let text = world.fleet.ok(&["task", "order"]);
    assert!(text.contains("longest chain") && text.contains("FREES"), "{text}");
    assert!(text.contains(&format!(" {first}\n")), "the command that adds what is missing: {text}");
    assert!(text.lines().any(|line| line.starts_with('*') && line.contains(&first)), "{text}");
}
