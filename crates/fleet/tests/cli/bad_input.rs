//! Wrong requests: told what is wrong, with the right code, and nothing changes.

use fleet_testkit::fleet::Fleet;

use super::support::{World, error};

/// Arguments (`{a}` and `{b}` are ids), exit code, error code, and a part of the message.
type Case<'a> = (&'a [&'a str], i32, &'a str, &'a str);

/// A queue of two, of which the second waits for the first.
struct Queue {
    world: World,
    a: String,
    b: String,
    content: String,
}

impl Queue {
    fn new() -> Self {
        let world = World::sqlite();
        let a = world.add("First");
        let b = world.fleet.ok(&["task", "add", "-q", "Second", "--after", &a]).trim_end().to_owned();
        let content = world.content();
        Self { world, a, b, content }
    }

    #[track_caller]
    fn refuses(&self, fleet: &Fleet, case: Case<'_>) {
        let (arguments, code, name, part) = case;
        let fill = |text: &str| text.replace("{a}", &self.a).replace("{b}", &self.b);
        let arguments: Vec<String> =
            arguments.iter().map(|text| fill(text)).chain(["--json".into()]).collect();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = fleet.run(&arguments);
        let shown: String = format!("{arguments:?}").chars().take(200).collect();
        assert_eq!(output.code, code, "{shown}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{shown}: a failed command has no answer");
        let (found, message, _) = error(&output);
        assert_eq!(found, name, "{shown}: {message}");
        assert!(message.contains(&fill(part)), "{shown}: {message}");
        assert!(!message.chars().any(char::is_control), "{shown}: {message:?}");
        assert!(!message.contains("--help"), "{shown}: advice belongs into the hints: {message}");
        assert_eq!(self.world.content(), self.content, "{shown}: something changed");
    }

    #[track_caller]
    fn refuses_all(&self, cases: &[Case<'_>]) {
        for case in cases {
            self.refuses(&self.world.fleet, *case);
        }
    }
}

#[test]
fn ids_that_name_nothing_or_too_much() {
    let queue = Queue::new();
    let mistyped = {
        let (start, last) = queue.a.split_at(14);
        format!("{start}{}", if last == "0" { "1" } else { "0" })
    };
    queue.refuses_all(&[
        (&["task", "show", "t0zzzz"], 3, "task-not-found", "t0zzzz"),
        (&["task", "hold", "{a}", "t0zzzz"], 3, "task-not-found", "t0zzzz"),
        (&["task", "show", "t"], 2, "id-ambiguous", "{a}, {b}"),
        (&["task", "show", &mistyped], 2, "id-invalid", "mistyped"),
        (&["task", "show", "p0skybd1301httv"], 2, "id-invalid", "is the id of a project, not of a task"),
        (&["task", "show", "t\u{1b}[2J"], 3, "task-not-found", "\\u{1b}"),
        (&["task", "show", "parser"], 3, "task-not-found", "no task, run or branch is called \"parser\""),
        (&["task", "add", "x", "--after", "nosuch"], 3, "task-not-found", "branch is called \"nosuch\""),
        (&["task", "list", "--batch", "nosuch"], 3, "task-not-found", "there is no batch \"nosuch\""),
        (&["task", "show", ""], 3, "task-not-found", "is called \"\""),
        (&["task", "show"], 2, "usage", "<ID>"),
        (&["explain", "nope"], 3, "code-not-found", "nope"),
        (&["task", "delete", "{b}"], 2, "usage", "no terminal to confirm"),
        (&["task", "delete", "--yes", "{a}"], 4, "has-dependents", "{b} waits for it"),
    ]);
}

#[test]
fn dependencies_that_cannot_be() {
    Queue::new().refuses_all(&[
        (&["task", "dep", "add", "{a}", "{a}"], 4, "dependency-cycle", "{a} → {a}"),
        (&["task", "dep", "add", "{a}", "{b}"], 4, "dependency-cycle", "{a} → {b} → {a}"),
        (&["task", "dep", "remove", "{a}", "{b}"], 3, "dependency-not-found", "{a} does not wait for {b}"),
        (&["task", "add", "x", "--after", "t0zzzz"], 3, "task-not-found", "t0zzzz"),
        (&["task", "hold", "{a}", "-m", "a\nb"], 2, "invalid-value", "remark: \"a\\nb\""),
        (&["task", "release", "{a}"], 4, "illegal-transition", "task {a} is not held"),
        (
            &["task", "cancel", "{a}", "{b}", "zz!"],
            3,
            "task-not-found",
            "no task, run, branch or batch is called \"zz!\"",
        ),
    ]);
}

#[test]
fn fields_that_do_not_take_it() {
    let long = "x".repeat(501);
    Queue::new().refuses_all(&[
        (&["task", "add", ""], 2, "invalid-value", "title: it is empty"),
        (&["task", "add", " \t "], 2, "invalid-value", "title: "),
        (&["task", "add", "a\u{1b}[31mb"], 2, "invalid-value", "a\\u{1b}[31mb"),
        (&["task", "add", "two\nlines"], 2, "invalid-value", "more than one line"),
        (&["task", "add", &long], 2, "invalid-value", "501 characters, at most 500"),
        (&["task", "edit", "{a}", "-t", ""], 2, "invalid-value", "title: it is empty"),
        (&["task", "add", "x", "-p", "9"], 2, "invalid-value", "9 is not between 1 and 5"),
        (&["task", "add", "x", "-p", "0"], 2, "invalid-value", "0 is not between 1 and 5"),
        (&["task", "add", "x", "-p", "-1"], 2, "invalid-value", "-1 is not between 1 and 5"),
        (&["task", "edit", "{a}", "-p", "-1"], 2, "invalid-value", "-1 is not between 1 and 5"),
        (&["task", "add", "x", "-p", "high"], 2, "usage", "high"),
        (&["task", "add", "x", "-l", "a b"], 2, "invalid-value", "label: \"a b\""),
        (&["task", "add", "x", "--scope", "/abs"], 2, "invalid-value", "`/abs`"),
        (&["task", "add", "x", "--scope", "../x"], 2, "invalid-value", "`../x`"),
        (&["task", "add", "x", "--scope", "["], 2, "invalid-value", "without its `]`"),
        (&["task", "add", "x", "--limit", "foo"], 2, "invalid-value", "time=30m"),
        (&["task", "add", "x", "--limit", "usd=-1"], 2, "invalid-value", "usd=-1"),
        (&["task", "add", "x", "--not-before", "soon"], 2, "invalid-value", "\"soon\" is not a time"),
        (&["task", "add", "x", "--meta", "nokey"], 2, "invalid-value", "\"nokey\" is not KEY=VALUE"),
        (&["task", "add", "x", "--branch=-x"], 2, "invalid-value", "starts with a dash"),
        (&["task", "add", "x", "--branch", "a..b"], 2, "invalid-value", "contains \"..\""),
        (&["task", "add", "x", "--base=-x"], 2, "invalid-value", "starts with a dash"),
        (&["task", "add", "x", "--agent", "A b"], 2, "invalid-value", "agent: "),
        (&["task", "add", "x", "--agent", "dmeo"], 2, "invalid-value", "there is no agent `dmeo`"),
        (&["task", "edit", "{a}", "--agent", "dmeo"], 2, "invalid-value", "there is no agent `dmeo`"),
        (&["task", "add", "x", "--base", "nope"], 2, "invalid-value", "no commit \"nope\""),
        (&["task", "add", "x", "--retries", "99"], 2, "invalid-value", "at most 20"),
        (&["task", "add", "x", "--complexity", "huge"], 2, "invalid-value", "trivial, small"),
        (&["task", "edit", "{a}", "--clear", "title"], 2, "invalid-value", "title"),
        (&["task", "list", "--status", "nope"], 2, "invalid-value", "queued, running"),
        (&["task", "list", "-n", "0"], 2, "usage", "from 1 to 1000000, not 0"),
        (&["task", "list", "--nope"], 2, "usage", "unexpected argument '--nope' found"),
        (&["events", "--since", "-1"], 2, "usage", "-1"),
        (&["events", "--since=-1"], 2, "usage", "-1"),
    ]);
}

#[test]
fn texts_that_cannot_be_read() {
    let queue = Queue::new();
    let fleet = &queue.world.fleet;
    let big = "x".repeat(10 << 20);
    queue.world.repo.write("big.md", &big);
    queue.world.repo.write("binary", b"a\xff\xfeb");
    queue.refuses_all(&[
        (&["task", "add", "x", "--file", "big.md"], 2, "invalid-value", "at most 1048576 are allowed"),
        (&["task", "add", "x", "--file", "binary"], 2, "invalid-value", "binary is not UTF-8 text"),
        (&["task", "add", "x", "--file", "nowhere"], 1, "io", "cannot read nowhere: "),
        (&["task", "add", "x", "--file", "."], 1, "io", "cannot read .: "),
        (&["task", "add", "x", "-d", "a", "-"], 2, "usage", "cannot be used with"),
        (&["task", "add", "-"], 2, "usage", "a title is needed"),
        (&["task", "import", "nowhere"], 1, "io", "cannot read nowhere: "),
        (&["task", "import", "binary"], 2, "invalid-value", "binary is not UTF-8 text"),
    ]);
    let add = &["task", "add", "x", "-"];
    queue.refuses(&fleet.stdin(big), (add, 2, "invalid-value", "at most 1048576 are allowed"));
    queue.refuses(&fleet.stdin(b"a\xff".to_vec()), (add, 2, "invalid-value", "standard input is not UTF-8"));
}

#[test]
fn imports_that_would_be_half() {
    let queue = Queue::new();
    let existing = format!("{{\"title\":\"new\"}}\n{{\"title\":\"old\",\"id\":\"{}\"}}\n", queue.a);
    let cases = [
        ("{\"title\":\"a\"}\n\n{\"title\":\n{\"title\":\"b\"}\n", 2, "import-invalid", "line 3: "),
        (
            "{\"title\":\"a\"}\n{\"titel\":\"b\"}\n",
            2,
            "import-invalid",
            "line 2: unknown field `titel`; did you mean `title`?",
        ),
        ("{\"zzzzzz\":1}", 2, "import-invalid", "after, "),
        ("foo\n", 2, "import-invalid", "line 1: it is not a JSON object"),
        ("{\"title\":\"a\",\"priority\":9}", 2, "import-invalid", "line 1: priority: 9"),
        ("{\"title\":\"a\\u001b\"}", 2, "import-invalid", "line 1: title: "),
        ("{\"title\":\"a\",\"after\":[\"zz\"]}", 2, "import-invalid", "line 1: after: \"zz\" is neither"),
        (
            "{\"key\":\"k\",\"title\":\"a\"}\n{\"key\":\"k\",\"title\":\"b\"}",
            2,
            "import-invalid",
            "line 2: \"k\"",
        ),
        (
            "{\"title\":\"0\"}\n{\"key\":\"k\",\"title\":\"a\",\"after\":[\"l\"]}\n{\"key\":\"l\",\"title\":\"b\",\"after\":[\"k\"]}",
            4,
            "dependency-cycle",
            "line 2 → line 3 → line 2",
        ),
        (&existing, 4, "task-exists", "{a} exists already"),
        ("", 2, "import-invalid", "no tasks"),
    ];
    for (text, code, name, part) in cases {
        let fleet = queue.world.fleet.stdin(text);
        queue.refuses(&fleet, (&["task", "import", "-"], code, name, part));
        queue.refuses(&fleet, (&["task", "import", "--dry-run", "-"], code, name, part));
    }
}

#[test]
fn refusals_name_what_was_typed() {
    let queue = Queue::new();
    queue.refuses_all(&[
        (&["verbs", "nosuch"], 3, "nothing-matched", "no verb begins with \"nosuch\""),
        (&["note", "hi"], 4, "not-in-a-run", "`fleet note` works only inside a run"),
        (&["progress", "half"], 4, "not-in-a-run", "`fleet progress` works only inside a run"),
        (&["show", "nope"], 3, "run-not-found", "no task, run or branch is called \"nope\""),
        (&["undo", "nope"], 3, "run-not-found", "no task, run or branch is called \"nope\""),
        (&["show", "t0"], 2, "id-ambiguous", "t0 could be any of t0"),
        (&["workflow", "run", "nope"], 3, "workflow-not-found", "there is no workflow called `nope`"),
    ]);
}
