use super::{World, shown, task};
use crate::workflow_file::GivenValues;

#[test]
fn everything_is_told_at_once_in_the_order_of_the_file() {
    insta::assert_snapshot!(World::new().wrong(
        "flow.toml",
        r#"
tsak = "x"
fail_fast = "yes"
[defaults]
modle = "x"
[stages.implement]
executor = "codex"
prompt = "x"
retries = 99
[stages.review]
agent = "cluade"
dependsOn = ["implement"]
needs = ["implment"]
prompt = "x"
returns = "verdit"
limits = { time = "soon", money = 3 }
[stages.refine]
needs = "review"
timeout = "1h"
limits.time = "2h"
prompt = 42
when = "review.approve =="
checks = ["cargo test | tee log", []]
[stages."a b"]
prompt_file = "x"
read_only = true
changes = "required"
foreach = 3
count = 2
"#
    ));
}

#[test]
fn an_unknown_key_hides_nothing_and_is_blamed_for_nothing_else() {
    let world = World::new();
    let flow = "[stages.implement]\nprompt = 'x'\n[stages.review]\ndependsOn = ['implement']\ncolour = 'red'\n\
                prompt = 'Look at: {implement.diff} {implment.diff}'\n";
    insta::assert_snapshot!(world.wrong("flow.toml", flow));
    let list = "[[stages]]\nname = 'a'\nagent = 'demo'\nprompt = 'x'\n";
    insta::assert_snapshot!(world.wrong("list.toml", list));
}

#[test]
fn stages_that_do_not_fit_together() {
    let world = World::new();
    insta::assert_snapshot!(world.wrong(
        "circle.yaml",
        "stages:\n  a: {needs: [c], prompt: x}\n  b: {needs: [a], prompt: x}\n  c: {needs: [b], prompt: x}\n"
    ));
    insta::assert_snapshot!(world.wrong("places.yaml",
        "stages:\n  a: {prompt: x}\n  b: {prompt: x}\n  c:\n    needs: [a]\n    start: inherit\n    when: b.ok and a.okay\n    prompt: |\n      {task_prompt}\n      {b.summary} {a.sumary}\n      {c.diff} {aa.diff} {params.x} {\"json\": {stage_9_files}}\n"));
    insta::assert_snapshot!(world.wrong(
        "rest.toml",
        "[stages.a]\nprompt=' '\nneeds=['a']\n[stages.b]\nstart='inherit'\nprompt='x'\n"
    ));
    insta::assert_snapshot!(world.wrong("rest.toml",
        "[stages.a]\nprompt=' '\n[stages.b]\ncount=0\nprompt='x'\n[stages.c]\nneeds=['a']\nforeach='a.items'\nprompt='x'\n[stages.d]\nforeach='e.items'\nprompt='{item}'\n[stages.params]\nprompt='x'"));
}

#[test]
fn lists_of_stages_have_their_own_words() {
    let world = World::new();
    insta::assert_snapshot!(world.wrong("flow.json", r#"{
  "name": "x", "taskPrompt": "x",
  "stages": [
    {"name": "a", "agent": "codex", "prompt_template": "x", "dependsOn": [0]},
    {"executor": "Nobody", "depends_on": ["a", 1.5, -1], "worktree_strategy": "inherited", "timeout_seconds": -5},
    "c"
  ]
}"#));
    insta::assert_snapshot!(world.wrong(
        "flow.json",
        r#"{"stages": [
    {"name": "a", "executor": "demo", "prompt_template": "{stage_1_summary}"},
    {"name": "b", "executor": "demo", "prompt_template": "", "depends_on": [0, 7], "name": "twice"}
]}"#
    ));
    insta::assert_snapshot!(world.wrong(
        "flow.json",
        r#"{"stages": [
    {"name": "a", "executor": "demo", "prompt_template": "{stage_1_summary}"},
    {"name": "b", "executor": "demo", "prompt_template": "{stage_0_sumary}", "depends_on": [0]}
]}"#
    ));
}

#[test]
fn agents_and_models_are_looked_up() {
    let world = World::with_config("[agents.codex]\nmodels = ['gpt-5*']\n[agents.mine]\ncap = 1\n");
    insta::assert_snapshot!(world.wrong("flow.toml",
        "[stages.a]\nagent='codx'\nprompt='x'\n[stages.b]\nagent='codex'\nmodel='o3'\nprompt='x'\n[stages.c]\nagent='mine'\nprompt='x'\n[stages.d]\nagent='Claude Code'\nprompt='x'\n[stages.e]\nagent='claude'\nmodel='gpt-5'\nprompt='x'"));
}

#[test]
fn values_of_the_command_line() {
    let text = "[params]\ndepth = 'x'\nbad = [1]\n[params.both]\ndefault = 1\nrequired = true\n[stages.a]\nprompt='x'\ncount='params.depth'\n[stages.b]\nprompt='x'\nforeach='params.dpeth'\n";
    let set = ["dpeth=1", "unlike-any=2", "novalue"].map(str::to_owned).to_vec();
    let found = World::new().load("a.toml", text, &GivenValues { set: set.clone(), ..task() }).unwrap_err();
    insta::assert_snapshot!(shown(&found));
    let listed = r#"{"stages": [{"name": "a", "executor": "demo", "prompt_template": "x"}]}"#;
    let found = World::new().load("a.json", listed, &GivenValues { set, ..task() }).unwrap_err();
    insta::assert_snapshot!(shown(&found));
}

#[test]
fn texts_that_cannot_be_read() {
    let world = World::new();
    let all: Vec<String> = [
        ("a.toml", ""),
        ("a.yaml", "# only a comment\n"),
        ("a.json", "  \n"),
        ("a.toml", "[stages.a]\nprompt = 'x'\n[stages.a]\nprompt = 'y'\n"),
        ("a.toml", "[stages.a]\nprompt = \"\"\"\nx\n"),
        ("a.json", "{\"stages\": [\n  {\"name\": \"a\",}\n]}"),
        ("a.json", "[1, 2]"),
        ("a.yaml", "stages:\n  a: {prompt: x\n  b: y\n"),
        ("a.yaml", "stages:\n\ta: x\n"),
        ("a.yaml", "stages:\n  a: {prompt: x}\n  a: {prompt: y}\n"),
        ("a.yaml", "stages: {a: {prompt: x}}\n---\nstages: {}\n"),
        ("a.yaml", "stages: {a: {prompt: !!str x}}\n"),
        ("a.yaml", "stages: {a: &x {prompt: *x}}\n"),
        ("a.yaml", "stages: {[a]: {prompt: x}}\n"),
        ("a.yaml", "stages: 3\nname: x\n"),
        ("a.toml", "name = 'no stages'\n"),
        ("a.toml", "name = \"\"\n[stages]\n"),
        ("a.toml", "\u{1b}[2J = 1\n"),
    ]
    .into_iter()
    .map(|(name, text)| world.wrong(name, text))
    .collect();
    insta::assert_snapshot!(all.join("\n"));
}
