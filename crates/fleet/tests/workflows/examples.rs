//! Whatever is written for real agents runs with the demo agent, too.

use super::bench::{Bench, states};

#[test]
fn all_that_come_with_codefleet() {
    let bench = Bench::new();
    let list = bench.fleet.json(&["workflow", "init", "--list"]);
    let names: Vec<&str> =
        list["workflows"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert!(names.len() >= 5, "{names:?}");
    for name in names {
        let arguments = ["workflow", "run", name, "--task", "Say hello", "--agent", "demo"];
        let output = bench.fleet.run(&arguments);
        assert_eq!(output.code, 0, "{name}: {output:?}\n{}", bench.reasons());
        let workflow = bench.newest();
        assert!(!states(&workflow).contains("failed"), "{workflow}");
        let result = bench.fleet.json(&["workflow", "result", name]);
        assert!(!result["branches"].as_array().unwrap().is_empty(), "{name}: {result}");
    }
}

/// Files as other tools write them: a list of stages that need each other by number.
#[test]
fn lists_of_stages_that_need_each_other_by_number() {
    let bench = Bench::new();
    let line = r#"{"name": "line", "task_prompt": "Say hello", "stages": [
        {"name": "implement", "executor": "codex", "prompt_template": "{task_prompt}", "worktree_strategy": "new", "depends_on": []},
        {"name": "review", "executor": "claude", "model": "claude-opus-4-7", "prompt_template": "Look: {stage_0_summary}\n{stage_0_files}", "worktree_strategy": "inherit", "depends_on": [0]},
        {"name": "refine", "executor": "codex", "reasoning_effort": "high", "prompt_template": "Mend: {stage_1_summary}\n{stage_1_next_steps}", "worktree_strategy": "inherit", "depends_on": [1], "timeout_seconds": 600}]}"#;
    let both = r#"{"stages": [
        {"name": "module-a", "executor": "codex", "prompt_template": "{task_prompt}: A", "depends_on": []},
        {"name": "module-b", "executor": "gemini", "prompt_template": "{task_prompt}: B"},
        {"name": "review", "executor": "claude", "prompt_template": "Both:\n{stage_0_summary}\n{stage_1_summary}", "worktree_strategy": "new", "depends_on": [0, 1]}]}"#;
    let file = bench.file("line.json", line);
    let output = bench.fleet.run(&["workflow", "run", &file, "--agent", "demo"]);
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    assert_eq!(states(&bench.newest()), "implement done, review done, refine done");
    let file = bench.file("both.json", both);
    let unsaid = bench.fleet.fail(2, &["workflow", "run", &file, "--agent", "demo"]);
    assert!(unsaid.stderr.contains("--task"), "{unsaid:?}");
    let output = bench.fleet.run(&["workflow", "run", &file, "--agent", "demo", "--task", "Say hello"]);
    assert_eq!(output.code, 0, "{output:?}\n{}", bench.reasons());
    let workflow = bench.newest();
    assert_eq!((&workflow["name"], &workflow["task"]), (&"both".into(), &"Say hello".into()));
    assert_eq!(states(&workflow), "module-a done, module-b done, review done");
}
