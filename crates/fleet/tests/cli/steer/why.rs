//! Why a task stands where it stands, for people and programs.

use fleet_testkit::fleet::Output;
use serde_json::Value;

use super::Yard;

fn works(yard: &Yard) {
    yard.fleet.ok(&["run", "--slots", "1", "--until-idle"]);
}

#[track_caller]
fn why(yard: &Yard, id: &str) -> Value {
    let said: Output = yard.fleet.run(&["why", id]);
    assert_eq!(said.code, 0, "{}", said.stderr);
    yard.fleet.json(&["why", id])
}

#[test]
fn a_refused_key_is_explained_with_what_to_do() {
    let yard = Yard::new();
    let task = yard.add("login", "error auth invalid x-api-key\nhang");
    works(&yard);
    let told = why(&yard, "login");
    assert_eq!((&told["reason"], &told["status"]), (&"auth".into(), &"failed".into()), "{told}");
    assert!(told["what"].as_str().unwrap().contains("invalid x-api-key"), "{told}");
    assert!(told["evidence"][0].as_str().unwrap().contains("invalid x-api-key"), "{told}");
    assert!(told["advice"][0].as_str().unwrap().starts_with("log in:"), "{told}");
    let run = yard.fleet.json(&["show", &task]);
    assert_eq!((&run["attempts"], &run["state"]), (&1.into(), &"failed".into()), "never tried again: {run}");
    let said = yard.fleet.ok(&["why", &task]);
    assert!(said.contains("reason") && said.contains("evidence"), "{said}");
}

#[test]
fn a_limit_pauses_the_account_until_it_is_over_or_somebody_says_so() {
    let yard = Yard::new();
    let first = yard.add("first", "once TRIED rate-limit 1h\nonce AGAIN exit 1\nwrite done x");
    let second = yard.add("second", "write other x");
    works(&yard);
    for task in [&first, &second] {
        let told = why(&yard, task);
        assert_eq!(told["status"], "ready", "{told}");
    }
    let told = why(&yard, &first);
    assert_eq!(told["reason"], "rate_limited");
    let pause = &yard.fleet.json(&["status"])["paused"][0];
    assert_eq!(pause["account"], "demo:default", "{pause}");
    assert_eq!(yard.fleet.json(&["agents", "show", "demo"])["paused_until"], pause["until"]);
    works(&yard);
    assert_eq!(why(&yard, &second)["run"], Value::Null, "another runner holds it back as well");
    let lifted = yard.fleet.json(&["agents", "resume", "demo"]);
    assert_eq!((&lifted["changed"], &lifted["account"]), (&true.into(), &"demo:default".into()));
    assert!(yard.fleet.ok(&["agents", "resume", "demo"]).contains("was not paused"));
    works(&yard);
    assert_eq!(why(&yard, &second)["status"], "done");
}

#[test]
fn what_was_not_started_says_what_it_waits_for() {
    let yard = Yard::new();
    let first = yard.add("first", "write a x");
    let told = why(&yard, &first);
    assert!(told["next"].as_str().unwrap().contains("no runner is up"), "{told}");
    let later = yard.fleet.ok(&["task", "add", "-q", "Later", "--after", &first]).trim_end().to_owned();
    let told = why(&yard, &later);
    assert_eq!(told["status"], "blocked");
    assert!(told["next"].as_str().unwrap().contains(&first), "{told}");
    yard.fleet.ok(&["task", "hold", &first]);
    assert_eq!(why(&yard, &first)["next"], "nothing until it is released");
    yard.fleet.ok(&["task", "add", "-q", "Named", "--branch", "named"]);
    assert_eq!(why(&yard, "named")["status"], "ready", "by the branch that it will have");
    let nobody = yard.fleet.run(&["why", "t0m3k9x2a4f7q1c"]);
    assert!(nobody.code == 2 && nobody.stderr.contains("is mistyped"), "{}", nobody.stderr);
}

#[test]
fn what_cannot_start_says_what_to_do() {
    let yard = Yard::new();
    let (setting, value) = ("-c", "agents.far.program=/no/such");
    let add = ["task", "add", "-q", "Far", "--agent", "far", setting, value];
    let far = yard.fleet.ok(&add).trim_end().to_owned();
    let list = yard.fleet.ok(&["task", "list", setting, value]);
    assert!(list.contains("no agent `far` here"), "{list}");
    let told = yard.fleet.json(&["why", &far, setting, value]);
    assert!(told["advice"].to_string().contains(&format!("fleet task edit {far} --agent")), "{told}");
    let first = yard.add("first", "write a x");
    let second = yard.fleet.ok(&["task", "add", "-q", "Second", "--after", &first]).trim_end().to_owned();
    yard.fleet.ok(&["task", "cancel", &first]);
    let told = why(&yard, &second);
    assert_eq!(told["next"], format!("nothing: it waits for {first}, which is cancelled"));
    let advice = told["advice"].to_string();
    assert!(advice.contains(&format!("fleet task retry {first}")), "{advice}");
    assert!(advice.contains(&format!("fleet task dep remove {second} {first}")), "{advice}");
    yard.fleet.ok(&["task", "dep", "remove", &second, &first]);
    assert_eq!(why(&yard, &second)["status"], "ready");
}

#[test]
fn a_second_attempt_says_what_it_follows() {
    let mut yard = Yard::new();
    yard.fleet = yard.fleet.env("FLEET_TASKS_RETRIES", "3");
    yard.add("again", "error agent_error The lights went out\nexit 1");
    let until = std::time::Duration::from_mins(1);
    yard.start_runner();
    fleet_testkit::wait_until(until, "a second attempt that waits", || {
        yard.fleet.ok(&["task", "list"]).contains("scheduled")
    });
    let list = yard.fleet.ok(&["task", "list"]);
    assert!(list.contains(", after agent_error: "), "{list}");
    assert!(why(&yard, "again")["next"].as_str().unwrap().starts_with("it is retried"));
}

#[test]
fn a_pause_by_hand_is_never_made_shorter() {
    let yard = Yard::new();
    let paused = yard.fleet.json(&["agents", "pause", "demo", "--for", "2h", "--why", "holidays"]);
    assert_eq!(paused["changed"], true);
    let again = yard.fleet.json(&["agents", "pause", "demo", "--for", "1m"]);
    assert_eq!((&again["changed"], &again["paused_until"]), (&false.into(), &paused["paused_until"]));
    let task = yard.add("first", "write a x");
    works(&yard);
    assert_eq!(why(&yard, &task)["run"], Value::Null);
    assert!(yard.fleet.ok(&["status"]).contains("holidays"));
    assert_eq!(yard.fleet.run(&["agents", "pause", "nobody"]).code, 3);
}

#[test]
fn a_question_is_answered_as_it_says() {
    let yard = Yard::new();
    let sign = yard.sign("asked").display().to_string();
    let task = yard.add("asks", &format!("write a x\nonce \"{sign}\" ask Which way?"));
    works(&yard);
    let told = why(&yard, "asks");
    assert_eq!((&told["status"], &told["what"]), (&"waiting".into(), &"its agent asks: Which way?".into()));
    let advice = told["advice"][0].as_str().unwrap();
    assert!(advice.contains(&format!("fleet answer {task}.1")), "{advice}");
    let next = yard.fleet.json(&["show", "asks"])["next"].to_string();
    assert!(next.contains("fleet answer") && !next.contains("git merge"), "{next}");
    assert!(yard.fleet.ok(&["task", "show", "asks"]).contains("  asked  "), "not succeeded");
    yard.fleet.ok(&["prompt", &task, "Left"]);
    works(&yard);
    let told = why(&yard, "asks");
    assert_eq!((&told["status"], &told["attempt"]), (&"done".into(), &2.into()), "{told}");
}

/// What kept its agent from starting is told, not what nobody did.
#[test]
fn what_failed_before_its_agent_started_says_what_to_change() {
    let yard = Yard::new();
    let taken = yard.add("taken", "write a x");
    yard.repo.git(&["branch", "taken"]);
    yard.repo.write("mine", "mine");
    yard.repo.commit("mine");
    let (one, two) = (yard.add("one", "write same 1"), yard.add("two", "write same 2"));
    let after = ["task", "add", "-q", "both", "--agent", "demo", "--after", &one, "--after", &two];
    let both = yard.fleet.ok(&after).trim_end().to_owned();
    yard.finish_all();
    for (task, reason, edit) in
        [(&taken, "branch_taken", "--branch NAME"), (&both, "merge_conflict", "--base BRANCH")]
    {
        let told = why(&yard, task);
        assert_eq!(told["reason"], reason, "{told}");
        let shown = yard.fleet.json(&["show", task]);
        for advice in [told["advice"].to_string(), shown["next"].to_string()] {
            assert!(advice.contains(&format!("`fleet task edit {task} {edit}`, then ")), "{advice}");
            assert_eq!(advice.matches("fleet task retry").count(), 1, "{advice}");
            assert!(!advice.contains("fleet logs") && !advice.contains("on_conflict"), "{advice}");
        }
    }
}

/// Whatever it says, and whatever it left on its branch.
#[test]
fn an_agent_that_writes_into_the_checkout_of_its_user_fails() {
    let yard = Yard::new();
    let stray = yard.repo.path().join("stray.txt");
    let script = format!("write a x\nwrite \"{}\" x\ndone It is done.", stray.display());
    let task = yard.add("login", &script);
    yard.finish_all();
    let why = yard.fleet.json(&["why", &task]);
    assert_eq!(why["reason"], "outside_workspace", "{why}");
    let what = why["what"].as_str().unwrap();
    assert!(what.contains("stray.txt, which is outside its workspace"), "{what}");
    assert!(why["evidence"].to_string().contains("codefleet saw that it wrote"), "{why}");
    assert!(why["advice"].to_string().contains("anywhere, except into your checkout"), "{why}");
    assert_eq!(yard.task(&task)["state"], "failed");
    assert_eq!(yard.repo.git(&["show", "login:a"]), "x", "its work is kept");
    yard.add("fine", "write b x");
    yard.finish_all();
    assert_eq!(yard.repo.git(&["show", "fine:b"]), "x");
}
