//! The real agents, each by itself against the scripted model: what they ask and what they report is what the tests
//! of codefleet build on.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::time::Duration;

use fleet_testkit::clis::{Cli, Direct, Ended};
use fleet_testkit::model::{CONTENT, ModelServer, Request, USAGE};
use serde_json::Value;

/// A run takes a second or five; a machine that is busy with everything else may need much longer.
const BOUND: Duration = Duration::from_mins(4);

struct Stage {
    server: ModelServer,
    agent: Direct,
    _place: tempfile::TempDir,
}

/// The agent and its model; none when it is not installed.
fn stage(cli: Cli, scenario: &str) -> Option<Stage> {
    let program = cli.or_skip()?;
    let place = tempfile::tempdir().unwrap();
    let server = ModelServer::start();
    let agent = Direct::new(cli, program, server.base(scenario, "run"), place.path());
    Some(Stage { server, agent, _place: place })
}

impl Stage {
    fn written(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.agent.cwd().join(name)).ok()
    }

    fn questions(&self) -> Vec<Request> {
        self.server.questions("run")
    }
}

/// Runs to a good end.
#[track_caller]
fn run(agent: &Direct, prompt: &str) -> Ended {
    let ended = agent.run(prompt, BOUND);
    assert_eq!(ended.code, 0, "stdout:\n{}\nstderr:\n{}", ended.stdout, ended.stderr);
    ended
}

/// The session as the agent's own stream names it.
fn session(cli: Cli, ended: &Ended) -> String {
    let key = match cli {
        Cli::Claude | Cli::Gemini => "session_id",
        Cli::Codex => "thread_id",
        Cli::Opencode => "sessionID",
    };
    let id = ended.events.iter().find_map(|event| event[key].as_str());
    id.unwrap_or_else(|| panic!("no {key} in\n{}", ended.stdout)).to_owned()
}

/// Input and output that the agent reports for all of its run.
fn usage(cli: Cli, ended: &Ended) -> (u64, u64) {
    let sum = |kind: &str, input: &str, output: &str| {
        let events = ended.events.iter().filter(|event| event["type"] == kind);
        let number = |event: &Value, path: &str| event.pointer(path).and_then(Value::as_u64).unwrap_or(0);
        events.fold((0, 0), |(i, o), event| (i + number(event, input), o + number(event, output)))
    };
    match cli {
        Cli::Claude => sum("result", "/usage/input_tokens", "/usage/output_tokens"),
        Cli::Codex => sum("turn.completed", "/usage/input_tokens", "/usage/output_tokens"),
        Cli::Gemini => sum("result", "/stats/input_tokens", "/stats/output_tokens"),
        Cli::Opencode => sum("step_finish", "/part/tokens/input", "/part/tokens/output"),
    }
}

/// The same for one answer: opencode takes the parts apart that the protocol gives together.
fn usage_of_an_answer(cli: Cli) -> (u64, u64) {
    match cli {
        Cli::Claude | Cli::Codex | Cli::Gemini => (USAGE.input, USAGE.output),
        Cli::Opencode => (USAGE.input - USAGE.cache_read, USAGE.output - USAGE.reasoning),
    }
}

fn writes_a_file(cli: Cli) {
    let Some(stage) = stage(cli, "ok") else { return };
    let ended = run(&stage.agent, "Write the file TARGET=out.txt please.");
    assert_eq!(stage.written("out.txt").as_deref(), Some(CONTENT), "{}", ended.stdout);
    assert!(ended.stdout.contains("This is answer 1"), "{}", ended.stdout);
    let (input, output) = usage_of_an_answer(cli);
    assert_eq!(usage(cli, &ended), (2 * input, 2 * output), "{}", ended.stdout);
    let questions = stage.questions();
    assert_eq!(questions.len(), 2, "the prompt, and the tool's answer");
    assert!(questions.iter().all(|question| question.authorised));
    assert_eq!(questions[0].talk.target(), Some("out.txt"));
    assert!(!questions[0].talk.system.is_empty(), "agents tell the model what it is");
    assert!(questions[1].talk.after_tool());
}

fn survives_a_rate_limit(cli: Cli) {
    let Some(stage) = stage(cli, "429x1") else { return };
    let ended = run(&stage.agent, "Write the file TARGET=out.txt please.");
    assert_eq!(stage.written("out.txt").as_deref(), Some(CONTENT), "{}", ended.stdout);
    assert_eq!(stage.questions().len(), 3, "one was refused");
}

fn goes_on_with_a_session(cli: Cli) {
    let Some(stage) = stage(cli, "multi") else { return };
    let first = run(&stage.agent, "Say something.");
    assert!(first.stdout.contains("This is answer 1"), "{}", first.stdout);
    let id = session(cli, &first);
    let second = run(&stage.agent.resuming(&id), "Now write TARGET=two.txt please.");
    assert!(second.stdout.contains("This is answer 2"), "{}", second.stdout);
    assert_eq!(session(cli, &second), id);
    assert_eq!(stage.written("two.txt").as_deref(), Some(CONTENT), "{}", second.stdout);
    let last = stage.questions().pop().unwrap();
    assert!(last.talk.prompts().iter().any(|prompt| prompt.contains("Say something.")), "it is all there");
}

macro_rules! for_each_agent {
    ($($test:ident: $cli:ident, $story:ident;)*) => {
        $(#[test]
        fn $test() {
            $story(Cli::$cli);
        })*
    };
}

for_each_agent! {
    claude_writes_a_file: Claude, writes_a_file;
    codex_writes_a_file: Codex, writes_a_file;
    gemini_writes_a_file: Gemini, writes_a_file;
    opencode_writes_a_file: Opencode, writes_a_file;
    claude_survives_a_rate_limit: Claude, survives_a_rate_limit;
    codex_survives_a_rate_limit: Codex, survives_a_rate_limit;
    gemini_survives_a_rate_limit: Gemini, survives_a_rate_limit;
    opencode_survives_a_rate_limit: Opencode, survives_a_rate_limit;
    claude_goes_on_with_a_session: Claude, goes_on_with_a_session;
    codex_goes_on_with_a_session: Codex, goes_on_with_a_session;
    gemini_goes_on_with_a_session: Gemini, goes_on_with_a_session;
    opencode_goes_on_with_a_session: Opencode, goes_on_with_a_session;
}
