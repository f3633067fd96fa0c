//! The real agents, each by itself against the scripted model: what they ask and what they report is what the tests
//! of codefleet build on.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::time::Duration;

use fleet_testkit::clis::{Cli, Direct, Ended};
use fleet_testkit::mcp::McpServer;
use fleet_testkit::model::{CONTENT, ModelServer, Request, Turn, USAGE};
use fleet_testkit::wait_until;
use serde_json::{Value, json};

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

    /// The same agent with another scenario, which is then also the name of its run.
    fn asking(&self, scenario: &str) -> Direct {
        self.agent.asking(self.server.base(scenario, scenario))
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

/// The same agent with a server in its own way: for this run alone, without a change to anybody's files.
fn with_server(cli: Cli, server: &McpServer, agent: &Direct) -> Direct {
    let (command, args) = (&server.command, &server.args);
    match cli {
        Cli::Claude => {
            let config = json!({"mcpServers": {"fake": {"command": command, "args": args}}}).to_string();
            agent.with(&["--mcp-config", &config, "--strict-mcp-config"])
        }
        Cli::Codex => agent.with(&["-c", &format!("mcp_servers.fake={{command={command:?},args={args:?}}}")]),
        Cli::Gemini => {
            // Settings of the system are refused below directories such as `/tmp`, and the project's are not ours.
            let config = json!({
                "mcpServers": {"fake": {"command": command, "args": args, "trust": true}},
                "security": {"auth": {"selectedType": "gemini-api-key"}},
            });
            let home = agent.cwd().with_file_name("gemini");
            fs::create_dir_all(home.join(".gemini")).unwrap();
            fs::write(home.join(".gemini/settings.json"), config.to_string()).unwrap();
            agent.env("GEMINI_CLI_HOME", home.to_str().unwrap())
        }
        Cli::Opencode => {
            let all: Vec<_> = [command].into_iter().chain(args).collect();
            let config = json!({"mcp": {"fake": {"type": "local", "command": all}}});
            agent.env("OPENCODE_CONFIG_CONTENT", &config.to_string())
        }
    }
}

fn reaches_an_mcp_server(cli: Cli) {
    let Some(stage) = stage(cli, "mcp") else { return };
    let server = McpServer::install(stage.agent.cwd());
    let ended = run(&with_server(cli, &server, &stage.agent), "Call the tool.");
    let offered: Vec<_> = stage.questions().iter().map(|question| question.talk.tools.len()).collect();
    assert_eq!(server.calls().len(), 1, "{offered:?} {}\n{}", ended.stdout, ended.stderr);
    let last = stage.questions().pop().unwrap();
    let answered =
        matches!(last.talk.turns.last(), Some(Turn::Tool(text)) if text.contains("echo from the test"));
    assert!(answered, "the model heard the tool: {:?}", last.talk.turns.last());
}

/// What an agent says when its model refuses: the tests of codefleet's adapters rest on these words.
fn says_why_it_failed(cli: Cli) {
    let cases: [(&str, &str); 3] = match cli {
        Cli::Claude => [
            ("401", "authentication_failed"),
            ("overflow", "prompt_too_long"),
            ("quota", "\"rateLimitType\":\"five_hour\""),
        ],
        Cli::Codex => [
            ("401", "401 Unauthorized"),
            ("overflow-sse", "ran out of room in the model's context window"),
            ("quota", "You’ve hit your usage limit"),
        ],
        Cli::Gemini => [
            ("401", "API key not valid"),
            ("overflow", "exceeds the maximum number of tokens"),
            ("quota", "exhausted your daily quota"),
        ],
        Cli::Opencode => [
            ("401", "\"statusCode\":401"),
            ("overflow", "ContextOverflowError"),
            ("404", "\"statusCode\":404"),
        ],
    };
    let Some(stage) = stage(cli, "ok") else { return };
    for (scenario, words) in cases {
        // Only then does claude give up soon, and understand what its plan says.
        let agent = stage.asking(scenario).env("CLAUDE_CODE_MAX_RETRIES", "1");
        let agent = if scenario == "quota" { agent.on_a_plan() } else { agent };
        let ended = agent.run("Write the file TARGET=out.txt please.", BOUND);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains(words), "{scenario}: no `{words}` in\n{said}");
        assert_ne!(ended.code, 0, "{scenario}: {said}");
        assert_eq!(stage.written("out.txt"), None);
    }
}

/// A command that runs until somebody ends it, and so does its agent.
fn runs_a_command_that_never_ends(cli: Cli) {
    let Some(stage) = stage(cli, "sleep") else { return };
    let agent = stage.agent.start("Write your number to TARGET=pid please.");
    let pid = || rustix::process::Pid::from_raw(stage.written("pid")?.trim().parse().ok()?);
    wait_until(BOUND, "the command has started", || pid().is_some());
    assert_eq!(stage.questions().len(), 1);
    drop(agent);
    // Some agents leave it behind, others take it with them.
    let pid = pid().unwrap();
    let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
    let gone = || rustix::process::test_kill_process(pid) == Err(rustix::io::Errno::SRCH);
    wait_until(BOUND, "the command is gone", gone);
}

/// An agent whose model says nothing, or falls silent, waits.
fn waits_for_a_silent_model(cli: Cli) {
    let Some(stage) = stage(cli, "ok") else { return };
    for scenario in ["hang", "hangmid"] {
        let mut agent = stage.asking(scenario).start("Write the file TARGET=out.txt please.");
        wait_until(BOUND, "the question has come", || !stage.server.questions(scenario).is_empty());
        assert!(agent.is_running(), "{scenario}");
    }
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
    claude_reaches_an_mcp_server: Claude, reaches_an_mcp_server;
    codex_reaches_an_mcp_server: Codex, reaches_an_mcp_server;
    gemini_reaches_an_mcp_server: Gemini, reaches_an_mcp_server;
    opencode_reaches_an_mcp_server: Opencode, reaches_an_mcp_server;
claude_says_why_it_failed: Claude, says_why_it_failed;
    codex_says_why_it_failed: Codex, says_why_it_failed;
    gemini_says_why_it_failed: Gemini, says_why_it_failed;
    opencode_says_why_it_failed: Opencode, says_why_it_failed;
    claude_runs_a_command_that_never_ends: Claude, runs_a_command_that_never_ends;
    codex_runs_a_command_that_never_ends: Codex, runs_a_command_that_never_ends;
    gemini_runs_a_command_that_never_ends: Gemini, runs_a_command_that_never_ends;
    opencode_runs_a_command_that_never_ends: Opencode, runs_a_command_that_never_ends;
    claude_waits_for_a_silent_model: Claude, waits_for_a_silent_model;
    codex_waits_for_a_silent_model: Codex, waits_for_a_silent_model;
    gemini_waits_for_a_silent_model: Gemini, waits_for_a_silent_model;
    opencode_waits_for_a_silent_model: Opencode, waits_for_a_silent_model;
    claude_goes_on_with_a_session: Claude, goes_on_with_a_session;
    codex_goes_on_with_a_session: Codex, goes_on_with_a_session;
    gemini_goes_on_with_a_session: Gemini, goes_on_with_a_session;
    opencode_goes_on_with_a_session: Opencode, goes_on_with_a_session;
}
