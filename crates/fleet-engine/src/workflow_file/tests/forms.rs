use fleet_core::workflow::{ChangeRule, Copies, OnConflict, OnFailure, Returns, StageStart};

use super::{World, shown, task};
use crate::workflow_file::{GivenValues, SourcePurpose, Wants};

const TOML: &str = r#"
name = "all-of-it"
description = "Every key there is"
task = "The file's own task"
base = "main"
fail_fast = true

[params]
depth = "shallow"
copies = 2
[params.modules]
description = "What to look at"
default = "core, store"

[defaults]
agent = "codex"
model = "gpt-5"
retries = 1
timeout = "1h"

[stages.plan]
agent = "claude"
effort = "high"
read_only = true
returns = "list"
prompt = "Plan {task_prompt} {params.depth}"

[stages.work]
needs = ["plan"]
foreach = "plan.items"
prompt = "Do {item} of {plan.summary}"
limits = { time = "30m", tokens = "200k", usd = 2.50 }
on_failure = "continue"
checks = ["cargo test --all", ["npm", "test"]]
extra_args = ["-v"]

[stages.look]
needs = ["plan"]
foreach = "params.modules"
changes = "optional"
prompt = "Look at {item}"
retries = 0

[stages.race]
count = "params.copies"
prompt = "Race {number}"

[stages.join]
needs = ["work", "look", "race"]
start = "inherit"
on_conflict = "resolve"
when = "work.ok and race.files > 0"
prompt = """
Join
{work.branch}
"""
"#;

const YAML: &str = r#"
name: all-of-it
description: Every key there is
task: The file's own task
base: main
fail_fast: true
params:
  depth: shallow
  copies: 2
  modules:
    description: What to look at
    default: core, store
defaults: {agent: codex, model: gpt-5, retries: 1, timeout: 1h}
stages:
  plan:
    agent: claude
    effort: high
    read_only: true
    returns: list
    prompt: Plan {task_prompt} {params.depth}
  work:
    needs: &plan [plan]
    foreach: plan.items
    prompt: "Do {item} of {plan.summary}"
    limits: {time: 30m, tokens: 200k, usd: 2.50}
    on_failure: continue
    checks:
      - cargo test --all
      - [npm, test]
    extra_args: [-v]
  look:
    needs: *plan
    foreach: params.modules
    changes: optional
    prompt: Look at {item}
    retries: 0
  race:
    count: params.copies
    model:
    prompt: Race {number}
  join:
    needs: [work, look, race]
    start: inherit
    on_conflict: resolve
    when: work.ok and race.files > 0
    prompt: |
      Join
      {work.branch}
"#;

const JSON: &str = r#"{
  "name": "all-of-it", "description": "Every key there is", "task": "The file's own task", "base": "main",
  "fail_fast": true,
  "params": {"depth": "shallow", "copies": 2, "modules": {"description": "What to look at", "default": "core, store"}},
  "defaults": {"agent": "codex", "model": "gpt-5", "retries": 1, "timeout": "1h"},
  "stages": {
    "plan": {"agent": "claude", "effort": "high", "read_only": true, "returns": "list",
             "prompt": "Plan {task_prompt} {params.depth}"},
    "work": {"needs": ["plan"], "foreach": "plan.items", "prompt": "Do {item} of {plan.summary}",
             "limits": {"time": "30m", "tokens": "200k", "usd": 2.50}, "on_failure": "continue",
             "checks": ["cargo test --all", ["npm", "test"]], "extra_args": ["-v"]},
    "look": {"needs": ["plan"], "foreach": "params.modules", "changes": "optional", "prompt": "Look at {item}",
             "retries": 0},
    "race": {"count": "params.copies", "model": null, "prompt": "Race {number}"},
    "join": {"needs": ["work", "look", "race"], "start": "inherit", "on_conflict": "resolve",
             "when": "work.ok and race.files > 0", "prompt": "Join\n{work.branch}\n"}
  }
}"#;

#[test]
fn one_workflow_in_three_formats_is_the_same() {
    let world = World::new();
    let spec = world.spec("a.toml", TOML);
    assert_eq!(world.spec("a.yaml", YAML), spec);
    assert_eq!(world.spec("a.json", JSON), spec);
    for text in [format!("\u{feff}{TOML}"), TOML.replace('\n', "\r\n")] {
        assert_eq!(world.spec("a.toml", &text), spec, "what editors add changes nothing");
    }
    assert_eq!(world.spec("a.yml", &YAML.replace('\n', "\r\n")), spec);
}

#[test]
fn every_key_comes_to_what_it_means() {
    let world = World::new();
    let loaded = world.load("a.toml", TOML, &GivenValues::default()).map_err(|found| shown(&found)).unwrap();
    assert_eq!(loaded.base.unwrap().as_str(), "main");
    let spec = loaded.spec;
    assert_eq!((spec.task.as_str(), spec.fail_fast), ("The file's own task", true));
    let [plan, work, look, race, join] = spec.stages.as_slice() else { panic!("five stages") };
    assert_eq!(plan.agent.as_ref().unwrap().as_str(), "claude");
    assert_eq!((&plan.model, plan.effort.as_deref()), (&None, Some("high")), "a model is one of its agent");
    assert_eq!((plan.changes, plan.returns), (ChangeRule::None, Returns::List));
    assert_eq!((plan.retries, plan.limits.seconds), (Some(1), Some(3_600)));
    assert_eq!((work.agent.as_ref().unwrap().as_str(), work.needs.as_slice()), ("codex", &[0][..]));
    assert_eq!(work.model.as_ref().unwrap().as_str(), "gpt-5");
    assert_eq!((&work.copies, work.on_failure), (&Copies::EachOf(0), OnFailure::Continue));
    assert_eq!(work.limits.to_string(), "time=30m tokens=200000 usd=2.50");
    assert_eq!(work.checks, [vec!["cargo", "test", "--all"], vec!["npm", "test"]]);
    assert_eq!(look.copies, Copies::Each(vec!["core".to_owned(), "store".to_owned()]));
    assert_eq!((look.retries, look.changes), (Some(0), ChangeRule::Optional));
    assert_eq!(
        (&race.copies, race.changes, race.start),
        (&Copies::Count(2), ChangeRule::Required, StageStart::New)
    );
    assert_eq!((join.needs.as_slice(), join.start), (&[1, 2, 3][..], StageStart::Inherit));
    assert_eq!(join.on_conflict, OnConflict::Resolve);
    assert_eq!(join.when.as_ref().unwrap().to_string(), "work.ok and race.files > 0");
    assert_eq!(join.prompt, "Join\n{work.branch}\n");
}

#[test]
fn the_command_line_comes_before_the_file() {
    let world = World::new();
    let set = ["depth=deep", "modules=one", "copies=1", "depth=deeper"].map(str::to_owned).to_vec();
    let agent = Some("demo".to_owned());
    let given = GivenValues { set, agent, ..task() };
    let spec = world.load("a.toml", TOML, &given).map_err(|found| shown(&found)).unwrap().spec;
    assert_eq!((spec.task.as_str(), spec.params["depth"].as_str()), ("Do it", "deeper"));
    assert_eq!(spec.stages[2].copies, Copies::Each(vec!["one".to_owned()]));
    assert_eq!(spec.stages[3].copies, Copies::One);
    for stage in &spec.stages {
        assert_eq!(stage.agent.as_ref().unwrap().as_str(), "demo");
        assert_eq!(
            (&stage.model, &stage.effort, stage.extra_args.len()),
            (&None, &None, 0),
            "{}",
            stage.name
        );
    }
}

const LISTED: &str = r#"{
  "task_prompt": "Tidy up", "base_ref": "v1", "timeout_seconds": 900,
  "stages": [
    {"name": "Write it!", "executor": "Codex", "model": null, "prompt_template": "{task_prompt} \ud83d\ude00",
     "worktree_strategy": "new", "depends_on": [], "timeout_seconds": 60, "reasoning_effort": "xhigh",
     "extra_args": ["--x"]},
    {"name": "item", "executor": "claude", "prompt_template": "{stage_0_summary} {stage_0_files}",
     "worktree_strategy": "inherit", "depends_on": [0]},
    {"name": "item", "executor": "gemini", "prompt_template": "{\"json\": {stage_1_next_steps}}",
     "depends_on": [1, 0], "timeout_seconds": 0}
  ]
}"#;

#[test]
fn stages_in_a_list_need_each_other_by_number() {
    let world = World::new();
    let loaded =
        world.load("tidy up.json", LISTED, &GivenValues::default()).map_err(|found| shown(&found)).unwrap();
    assert_eq!(loaded.base.unwrap().as_str(), "v1");
    let spec = loaded.spec;
    assert_eq!((spec.name.as_str(), spec.task.as_str()), ("tidy up", "Tidy up"));
    let names: Vec<&str> = spec.stages.iter().map(|stage| stage.name.as_str()).collect();
    assert_eq!(names, ["Write-it", "item-2", "item-3"], "fit for branches, and each once");
    assert_eq!(spec.params["stage_names"], r#"["Write it!","item","item"]"#, "as they were given");
    let [write, review, refine] = spec.stages.as_slice() else { panic!("three stages") };
    assert_eq!(write.agent.as_ref().unwrap().as_str(), "codex");
    assert_eq!((write.prompt.as_str(), write.effort.as_deref()), ("{task_prompt} 😀", Some("xhigh")));
    assert_eq!((write.extra_args.as_slice(), write.limits.seconds), (&["--x".to_owned()][..], Some(60)));
    assert_eq!((write.changes, review.changes), (ChangeRule::Required, ChangeRule::Optional));
    assert_eq!((review.start, review.limits.seconds), (StageStart::Inherit, Some(900)));
    assert_eq!((refine.needs.as_slice(), refine.start), (&[1, 0][..], StageStart::New));
    assert_eq!(refine.limits.seconds, Some(900), "zero is no limit of its own");
    let yaml = "task_prompt: T\nstages:\n- {name: a, executor: demo, prompt_template: x}\n";
    assert_eq!(world.spec("a.yaml", yaml).stages.len(), 1, "a list is a list in every format");
}

#[test]
fn what_is_still_to_be_said_is_a_flaw_only_for_a_run() {
    let world = World::new();
    let text = "[params.what]\ndescription='x'\n[params.opt]\nrequired=false\n[stages.a]\nprompt='{task_prompt} {params.what}'\n";
    let checked = GivenValues { purpose: SourcePurpose::Check, ..GivenValues::default() };
    let loaded = world.load("a.toml", text, &checked).map_err(|found| shown(&found)).unwrap();
    assert_eq!(loaded.wants, Wants { task: true, params: vec!["what".to_owned()] });
    insta::assert_snapshot!(shown(&world.load("a.toml", text, &GivenValues::default()).unwrap_err()));
    let said = GivenValues { set: vec!["what=a=b".to_owned()], ..task() };
    let loaded = world.load("a.toml", text, &said).map_err(|found| shown(&found)).unwrap();
    assert_eq!((loaded.wants, loaded.spec.params["what"].as_str()), (Wants::default(), "a=b"));
    assert_eq!(loaded.spec.params["opt"], "");
    let none = world.load("a.toml", "[stages.a]\nprompt='x'\n", &GivenValues::default());
    assert_eq!(none.map_err(|found| shown(&found)).unwrap().spec.task, "a", "nothing asks for a task");
}
