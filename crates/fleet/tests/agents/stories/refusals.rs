//! The provider refuses, for a while or for good.

use fleet_testkit::clis::Cli;
use fleet_testkit::model::{CONTENT, QUOTA_SECONDS};
use fleet_testkit::wait_until;
use serde_json::{Value, json};

use crate::stage::{BOUND, Stage, WRITE, seconds_between, seconds_of};

/// An agent that gets over a refusal by itself is left alone.
pub(crate) fn rate_limited_then_served(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "429x1")]) else { return };
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    let runs = stage.runs_of(&task);
    assert_eq!((runs.len(), &runs[0]["state"]), (1, &"succeeded".into()), "{runs:?}");
    assert_eq!(stage.committed(&task, "out.txt"), CONTENT);
    assert_eq!(stage.questions(cli).len(), 3, "one was refused");
    let kinds = stage.kinds_of(&task);
    let is_told = kinds.iter().any(|kind| kind == "run.retrying" || kind == "run.limited");
    assert!(is_told, "{kinds:?}");
}

/// A pause holds back all tasks of the account and nobody else's, whichever runner comes.
pub(crate) fn rate_limited_for_ever(cli: Cli) {
    let other = if cli == Cli::Codex { Cli::Claude } else { Cli::Codex };
    let scenario = match cli {
        Cli::Claude | Cli::Codex => "429-bare",
        // It passes on when to come back, and so the pause is that long.
        Cli::Gemini => "429-after-90",
        // It tries six times whatever its settings, but does as it is told about when.
        Cli::Opencode => "429-ms-50",
    };
    let Some(stage) = Stage::new(&[(cli, scenario), (other, "ok")]) else { return };
    if cli == Cli::Opencode {
        stage.server.switch_at(cli.name(), 6, "429-bare");
    }
    let (first, runner) = (stage.add(cli.name(), WRITE, 0), stage.runner(&[]));
    stage.wait_for_end(&first);
    assert_eq!(stage.run_of(&first)["reason"], "rate_limited");
    assert_eq!(stage.status(&first), "ready", "it is not the task's fault");
    let until = stage.agent(cli.name())["paused_until"].as_str().expect("a pause").to_owned();
    let second = stage.add(cli.name(), WRITE, 0);
    let why = stage.fleet.json(&["why", &second]);
    let next = why["next"].as_str().unwrap();
    assert!(next.contains("pause of the account") && why["next_at"] == until.as_str(), "{why}");
    let why = stage.fleet.json(&["why", &first]);
    assert!(why["reason"] == "rate_limited" && why["next_at"] == until.as_str(), "{why}");
    drop(runner);
    let _runner = stage.runner(&[]);
    let (demo, another) = (stage.add("demo", "Write a file", 0), stage.add(other.name(), WRITE, 0));
    wait_until(BOUND, "others are served", || {
        stage.status(&demo) == "done" && stage.status(&another) == "done"
    });
    // The machine may be so busy that the pause is over by now; then it began after that.
    for run in stage.runs_of(&second) {
        assert!(run["created_at"].as_str().unwrap() >= until.as_str(), "{run}");
    }
}

/// The first sign of a wrong key ends the run and the task.
pub(crate) fn wrong_key(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "401")]) else { return };
    let task = stage.add(cli.name(), WRITE, 5);
    stage.work();
    let runs = stage.runs_of(&task);
    assert_eq!((runs.len(), &runs[0]["reason"]), (1, &"auth".into()), "{runs:?}");
    assert!(seconds_of(&runs[0]) < 60, "by itself claude takes three minutes: {}", runs[0]);
    assert_eq!(stage.status(&task), "failed");
    let why = stage.fleet.ok(&["why", &task]);
    let login = match cli {
        Cli::Claude => "run `claude` once and log in",
        Cli::Codex => "codex login",
        Cli::Gemini => "GEMINI_API_KEY",
        Cli::Opencode => "opencode auth login",
    };
    assert!(why.contains(login), "{why}");
}

/// Whoever tries an agent out is told the same, and nothing stays behind.
pub(crate) fn wrong_key_in_a_test(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "401")]) else { return };
    let tried = stage.fleet.fail(8, &["agents", "test", cli.name(), "--json"]);
    let said: Value = serde_json::from_str(&tried.stdout).unwrap();
    assert_eq!((&said["ok"], &said["reason"]), (&false.into(), &"auth".into()), "{said}");
    assert!(said["next"].to_string().contains("log in"), "{said}");
    assert_eq!(stage.fleet.json(&["task", "list", "--all"])["tasks"], json!([]));
}

/// A provider that is down is not the task's fault either.
pub(crate) fn overloaded(cli: Cli) {
    let scenario = match cli {
        Cli::Claude => "529",
        Cli::Codex | Cli::Gemini => "503",
        // It has no setting for how often it tries, but does as it is told about when.
        Cli::Opencode => "503-ms-50",
    };
    let Some(stage) = Stage::new(&[(cli, scenario)]) else { return };
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    assert_eq!(stage.run_of(&task)["reason"], "provider_outage");
    assert_eq!(stage.status(&task), "ready");
    let why = stage.fleet.json(&["why", &task]);
    assert_eq!(why["reason"], "provider_outage", "{why}");
    assert!(stage.agent(cli.name())["paused_until"].is_string());
}

/// A conversation that no longer fits is not taken up again.
pub(crate) fn too_long_a_conversation(cli: Cli) {
    let scenario = if cli == Cli::Codex { "overflow-sse" } else { "overflow" };
    let Some(stage) = Stage::new(&[(cli, scenario)]) else { return };
    let task = stage.add(cli.name(), WRITE, 1);
    stage.work();
    let runs = stage.runs_of(&task);
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert!(runs.iter().all(|run| run["reason"] == "context_overflow"), "{runs:?}");
    assert!(runs.iter().all(|run| run["session"].is_string()), "{runs:?}");
    assert_ne!(runs[0]["session"], runs[1]["session"], "a fresh one");
    assert_eq!(stage.fleet.json(&["why", &task])["reason"], "context_overflow");
}

/// Another agent goes on with the task of one whose plan is used up.
pub(crate) fn used_up_plan(cli: Cli) {
    let other = if cli == Cli::Codex { Cli::Claude } else { Cli::Codex };
    let Some(stage) = Stage::new(&[(cli, "quota"), (other, "ok")]) else { return };
    let stage = stage.with("FLEET_FALLBACK", other.name());
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    let runs = stage.runs_of(&task);
    let ends: Vec<_> = runs.iter().map(|run| (&run["agent"], &run["state"], &run["reason"])).collect();
    assert_eq!(runs.len(), 2, "{ends:?}");
    assert_eq!(ends[0], (&other.name().into(), &"succeeded".into(), &Value::Null));
    assert_eq!(ends[1], (&cli.name().into(), &"failed".into(), &"quota_exhausted".into()));
    assert!(seconds_of(&runs[1]) < 60, "{}", runs[1]);
    assert_eq!(stage.committed(&task, "out.txt"), CONTENT);
    let agent = stage.agent(cli.name());
    let pause = seconds_between(&runs[1]["ended_at"], &agent["paused_until"]);
    // The others tell nothing: a quarter of an hour, and up to a quarter more. Codex tells the minute.
    let (least, most) = match cli {
        Cli::Claude | Cli::Codex => (i64::from(QUOTA_SECONDS) - 180, i64::from(QUOTA_SECONDS) + 60),
        Cli::Gemini | Cli::Opencode => (890, 1_200),
    };
    assert!((least..=most).contains(&pause), "{pause} s");
    // Whoever comes later need not wait for the first either.
    let later = stage.add(cli.name(), WRITE, 0);
    stage.work();
    let runs = stage.runs_of(&later);
    assert_eq!(
        (runs.len(), &runs[0]["agent"], &runs[0]["state"]),
        (1, &other.name().into(), &"succeeded".into())
    );
}

/// A provider that says when to come back is believed, also by an agent that was stopped while it waited for that.
pub(crate) fn told_when_to_come_back(cli: Cli) {
    let Some(stage) = Stage::new(&[(cli, "429-after-50")]) else { return };
    let stage = stage.with("FLEET_LIMITS_IDLE", "3s");
    let task = stage.add(cli.name(), WRITE, 0);
    stage.work();
    let run = stage.run_of(&task);
    assert_eq!(run["reason"], "rate_limited", "{run}");
    let pause = seconds_between(&run["started_at"], &stage.agent(cli.name())["paused_until"]);
    // Without that it is half a minute, and up to a quarter more.
    assert!((45..90).contains(&pause), "{pause} s");
}
