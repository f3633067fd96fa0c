//! What cannot run is refused before anything is there.

use super::bench::{Bench, stage};

#[test]
fn nothing_is_added_when_something_is_wrong() {
    let bench = Bench::quiet();
    let good = bench.file("good.toml", &format!("task = 'x'\n{}", stage("a", "", "hang")));
    let flawed = bench.file("flawed.toml", "[stages.a]\nprompt = '{b.summary}'\nneds = ['b']\n");
    let asking = bench.file(
        "asking.toml",
        "[params.x]\nrequired = true\n[stages.a]\nprompt = '{task_prompt} {params.x}'\n",
    );
    let model = bench.file("model.toml", "task = 'x'\n[stages.a]\nprompt = 'x'\nagent = 'nobody-has-this'\n");
    let cases: &[(i32, &[&str], &str)] = &[
        (3, &["no-such-workflow"], "no-such-workflow"),
        (3, &["./no/such.toml"], "such.toml"),
        (2, &[&flawed], "needs"),
        (2, &[&asking, "--set", "x=1"], "--task"),
        (2, &[&asking, "--task", "t"], "x"),
        (2, &[&good, "--set", "y=1"], "y"),
        (2, &[&good, "--base", "no-such-branch"], "no-such-branch"),
        (2, &[&good, "--priority", "9"], "9"),
        (2, &[&good, "--agent", "nobody-has-this"], "nobody-has-this"),
        (2, &[&good, "--task", " "], "empty"),
        (2, &[&model], "nobody-has-this"),
    ];
    for (code, arguments, part) in cases {
        let output = bench.fleet.run(&[&["workflow", "run"], *arguments].concat());
        assert_eq!(output.code, *code, "{arguments:?}: {output:?}");
        assert!(output.stderr.contains(part) && output.stdout.is_empty(), "{arguments:?}: {output:?}");
    }
    let outside = bench.fleet.cwd(bench.fleet.user_home());
    assert_eq!(outside.run(&["workflow", "run", &good]).code, 3, "a workflow needs a repository");
    assert_eq!(
        bench.fleet.json(&["workflow", "list", "--all", "-A"])["workflows"].as_array().unwrap().len(),
        0
    );
    assert_eq!(bench.fleet.json(&["task", "list", "--all"])["tasks"].as_array().unwrap().len(), 0);
}

#[test]
fn agents_that_are_not_here_can_be_replaced() {
    let bench = Bench::quiet();
    let text =
        "task = 'x'\n[stages.a]\nprompt = 'x'\nagent = 'far'\n[stages.b]\nprompt = 'x'\nagent = 'far'\n";
    let file = bench.file("far.toml", text);
    let run = ["workflow", "run", &file, "-c", "agents.far.program=/no/such"];
    let missing = bench.fleet.fail(3, &run);
    assert!(missing.stderr.contains("`--agent NAME` replaces all agents"), "{missing:?}");
    let mistyped = bench.fleet.fail(2, &[&run[..], &["--agent", "dem"]].concat());
    assert!(mistyped.stderr.starts_with("error: agent: there is no agent `dem`\n"), "{mistyped:?}");
    assert!(
        mistyped.stderr.contains("did you mean `demo`?") && !mistyped.stderr.contains("far.toml"),
        "{mistyped:?}"
    );
    bench.fleet.ok(&[&run[..], &["--agent", "demo", "--detach"]].concat());
}

#[test]
fn workflows_that_nobody_knows_are_told_so() {
    let bench = Bench::quiet();
    for arguments in [
        &["workflow", "show", "nothing"][..],
        &["workflow", "watch", "w0zzzzzz"],
        &["workflow", "cancel", "nothing"],
        &["workflow", "retry", "nothing"],
        &["workflow", "result", "nothing"],
        &["workflow", "clean", "nothing", "--yes"],
    ] {
        let output = bench.fleet.fail(3, arguments);
        assert!(output.stderr.contains("fleet workflow list --all -A"), "{arguments:?}: {output:?}");
    }
    let id = bench.start(&stage("a", "", "hang"));
    let wrong = bench.fleet.fail(3, &["workflow", "result", &id, "--stage", "b"]);
    assert!(
        wrong.stderr.contains("did you mean `a`") || wrong.stderr.contains("fleet workflow show"),
        "{wrong:?}"
    );
    assert_eq!(bench.fleet.run(&["workflow", "show", &id[..10]]).code, 0, "the beginning is enough");
}
