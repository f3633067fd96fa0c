use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::adapter::{AgentFailure, Ask};
use fleet_core::event::{AgentEvent, Counted, Stream, Tokens};
use fleet_core::outcome::AgentExit;
use fleet_core::run::{Meter, Reason};

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn spec(args: &[&str]) -> CustomSpec {
    CustomSpec {
        name: "mine".to_owned(),
        program: "mine".to_owned(),
        args: strings(args),
        ..CustomSpec::default()
    }
}

fn custom(spec: CustomSpec) -> Custom {
    Custom::new(spec, &Registry::default()).map_err(|error| error.to_string()).unwrap()
}

fn problem(spec: CustomSpec) -> String {
    Custom::new(spec, &Registry::default()).map(|_| ()).unwrap_err().to_string()
}

fn brief() -> Brief<'static> {
    Brief {
        prompt_file: Path::new("/run/prompt.md"),
        scratch: Path::new("/run/scratch"),
        ..Brief::plain("SECRET-TASK", Path::new("/w/lynx"))
    }
}

#[test]
fn arguments_stand_for_what_a_run_has() {
    let agent = custom(spec(&[
        "run",
        "--verbose",
        "--model",
        "{model}",
        "--effort={effort}",
        "-C",
        "{workspace}",
        "--resume",
        "{session}",
        "--system",
        "{system_prompt_file}",
        "--id={new_session}",
        "{{literal}}",
        "{prompt_file}",
    ]));
    let plan = agent.plan(&brief());
    assert_eq!(plan.args, ["run", "--verbose", "-C", "/w/lynx", "{literal}", "/run/prompt.md"]);
    assert_eq!((plan.prompt, plan.files.len(), plan.ask), (PromptVia::Stdin, 0, None));
    let extra = strings(&["--twice"]);
    let full = Brief {
        model: Some("m"),
        effort: Some("low"),
        conversation: Conversation::New { id: Some("u-1") },
        system_prompt: Some("Be brief."),
        extra_args: &extra,
        ..brief()
    };
    let plan = agent.plan(&full);
    assert_eq!(
        plan.args.join(" "),
        "run --verbose --model m --effort=low -C /w/lynx --system /run/scratch/system-prompt.md --id=u-1 {literal} \
         /run/prompt.md"
    );
    let file = PlannedFile { path: "/run/scratch/system-prompt.md".into(), content: "Be brief.".to_owned() };
    assert_eq!(plan.files, [file]);
    assert_eq!(plan.program, Program::OnPath("mine".into()));
    let resumed = Conversation::Resume { session: "s-9", meter: Meter::default() };
    let args = agent.plan(&Brief { conversation: resumed, ..brief() }).args;
    assert_eq!(args.join(" "), "run --verbose -C /w/lynx --resume s-9 {literal} /run/prompt.md");
}

/// What belongs to an argument that is left out, and what does not.
#[test]
fn an_option_goes_with_its_value_and_with_nothing_else() {
    for (args, left) in [
        (&["--model", "{model}"][..], ""),
        (&["-m", "{model}"], ""),
        (&["--model", "x{model}y"], ""),
        (&["--yes", "--model={model}"], "--yes"),
        (&["--yes", "-m{model}"], "--yes"),
        (&["--a=b", "{model}"], "--a=b"),
        (&["word", "{model}"], "word"),
        (&["--", "{model}"], "--"),
        (&["-", "{model}"], "-"),
        (&["--model", "{model}", "{effort}"], ""),
        (&["--a", "--b", "{model}"], "--a"),
        (&["--in", "{workspace}", "{model}"], "--in /w/lynx"),
        (&["{model}", "{effort}"], ""),
    ] {
        assert_eq!(custom(spec(args)).plan(&brief()).args.join(" "), left, "{args:?}");
    }
}

#[test]
fn conversations_and_trust_have_arguments_of_their_own() {
    let agent = custom(CustomSpec {
        resume_args: Some(strings(&["resume", "{session}"])),
        trust_args: [strings(&["--look"]), Vec::new(), strings(&["--yolo"])],
        ..spec(&["exec"])
    });
    let args = |trust, conversation| agent.plan(&Brief { conversation, trust, ..brief() }).args.join(" ");
    let new = Conversation::New { id: None };
    let resume = Conversation::Resume { session: "s", meter: Meter::default() };
    assert_eq!(args(Trust::ReadOnly, new), "exec --look");
    assert_eq!(args(Trust::Sandbox, new), "exec");
    assert_eq!(args(Trust::Full, resume), "resume s --yolo");
    let [look, sandbox, full] = agent.about().trust;
    assert_eq!(look, "does what its own settings and `args_read_only` allow");
    assert_eq!(sandbox, "does what its own settings allow: it has no `args_sandbox`");
    assert_eq!(full, "does what its own settings and `args_full` allow");
}

#[test]
fn descriptions_with_mistakes_say_what_to_change() {
    let problems = [
        problem(CustomSpec { program: " ".to_owned(), ..spec(&[]) }),
        problem(spec(&["--x={modell}"])),
        problem(spec(&["{\"json\":1}"])),
        problem(CustomSpec { prompt: Some(PromptVia::File), ..spec(&["run"]) }),
        problem(CustomSpec {
            prompt: Some(PromptVia::File),
            resume_args: Some(strings(&["again"])),
            ..spec(&["{prompt_file}"])
        }),
        problem(CustomSpec { output: Some("clod".to_owned()), ..spec(&[]) }),
        problem(patterned(OutputPatterns { session: Some("(".to_owned()), ..OutputPatterns::default() })),
        problem(patterned(OutputPatterns {
            usage: Some("tokens: (\\d+)".to_owned()),
            ..OutputPatterns::default()
        })),
        problem(patterned(OutputPatterns {
            errors: vec![(Reason::Auth, "a{1000}{1000}{1000}".to_owned())],
            ..OutputPatterns::default()
        })),
    ];
    for (problem, words) in problems.iter().zip([
        "set `agents.mine.program`",
        "`--x={modell}`",
        "write `{{` for a literal brace",
        "put `{prompt_file}` in `agents.mine.args`",
        "(and in `resume_args`)",
        "set `agents.mine.output` to lines,",
        "`(` of the agent `mine` is not a regular expression",
        "`(?<input>[0-9,]+)`",
        "`a{1000}{1000}{1000}`",
    ]) {
        assert!(problem.contains(words), "{problem}\nhas no: {words}");
    }
    assert!(problems[5].contains("opencode"), "{}", problems[5]);
}

fn patterned(patterns: OutputPatterns) -> CustomSpec {
    CustomSpec { patterns, ..spec(&["run"]) }
}

fn talkative() -> CustomSpec {
    patterned(OutputPatterns {
        session: Some("^session: (\\S+)".to_owned()),
        usage: Some(
            "(?<input>[0-9.,k]+) sent, (?<output>[0-9.,k]+) received(, \\$(?<cost>[0-9.]+))?".to_owned(),
        ),
        errors: vec![
            (Reason::RateLimited, "(?i)slow down|429".to_owned()),
            (Reason::Auth, "bad key".to_owned()),
        ],
    })
}

fn decode(
    agent: &Custom,
    lines: &[(Stream, &str)],
    exit: &AgentExit,
) -> (Vec<AgentEvent>, Option<AgentFailure>) {
    let mut decoder = agent.decoder(&brief());
    let mut events: Vec<AgentEvent> =
        lines.iter().flat_map(|(stream, line)| decoder.line(*stream, line.as_bytes(), false)).collect();
    events.extend(decoder.end(exit));
    (events, decoder.failure())
}

#[test]
fn lines_are_text_in_which_patterns_find_what_matters() {
    let agent = custom(talkative());
    let lines = [
        (Stream::Out, "\u{1b}[1msession: abc-1\u{1b}[0m"),
        (Stream::Out, "session: other"),
        (Stream::Err, "SLOW DOWN please"),
        (Stream::Out, ""),
        (Stream::Err, "chatter"),
        (Stream::Out, "Tokens: 1.2k sent, 1,300 received, $0.0125"),
        (Stream::Out, "All done."),
    ];
    let (events, failure) = decode(&agent, &lines, &AgentExit::Code(0));
    let text = |text: &str| AgentEvent::Text { text: text.to_owned() };
    let (reason, words) = (Reason::RateLimited, "SLOW DOWN please".to_owned());
    let tokens = Tokens { input: 1_200, output: 1_300, ..Tokens::default() };
    let all = "session: abc-1\nsession: other\n\nTokens: 1.2k sent, 1,300 received, $0.0125\nAll done.";
    assert_eq!(
        events,
        [
            AgentEvent::SessionStarted { session: "abc-1".to_owned() },
            text("session: abc-1"),
            text("session: other"),
            AgentEvent::RateLimit { until: None, text: words.clone() },
            AgentEvent::Error { reason, text: words },
            AgentEvent::Raw { stream: Stream::Err, text: "chatter".to_owned(), cut: false },
            AgentEvent::Usage { tokens, counted: Counted::Delta },
            AgentEvent::Cost { micro_usd: 12_500, counted: Counted::Delta },
            text("Tokens: 1.2k sent, 1,300 received, $0.0125"),
            text("All done."),
            AgentEvent::Ended { text: Some(all.to_owned()) },
        ]
    );
    assert_eq!(failure, None, "it got over it");
}

#[test]
fn an_end_that_is_not_well_has_a_reason() {
    let agent = custom(talkative());
    let reason = |lines: &[(Stream, &str)], exit| {
        decode(&agent, lines, &exit).1.map(|failure| (failure.reason, failure.text))
    };
    assert_eq!(
        reason(&[(Stream::Err, "bad key"), (Stream::Err, "bye")], AgentExit::Code(1)),
        Some((Reason::Auth, "bad key".to_owned()))
    );
    assert_eq!(
        reason(&[(Stream::Err, "oops")], AgentExit::Code(3)),
        Some((Reason::AgentError, "the agent ended with exit status 3: oops".to_owned()))
    );
    assert_eq!(
        reason(&[], AgentExit::Signal(9)),
        Some((Reason::AgentError, "the agent was ended by signal 9".to_owned()))
    );
    assert_eq!(reason(&[], AgentExit::NotStarted("gone".to_owned())), None);
}

#[test]
fn output_like_that_of_a_known_agent_is_read_by_its_decoder() {
    let agent = custom(CustomSpec { output: Some("opencode".to_owned()), ..talkative() });
    let said = r#"{"type":"text","sessionID":"ses_1","part":{"text":"429, slow down"}}"#;
    let stop = r#"{"type":"step_finish","sessionID":"ses_1","part":{"reason":"stop","tokens":{"input":5}}}"#;
    let lines = [(Stream::Out, said), (Stream::Out, stop), (Stream::Out, "session: no")];
    let (events, failure) = decode(&agent, &lines, &AgentExit::Code(0));
    let starts: Vec<_> =
        events.iter().filter(|event| matches!(event, AgentEvent::SessionStarted { .. })).collect();
    assert_eq!(starts, [&AgentEvent::SessionStarted { session: "ses_1".to_owned() }]);
    assert!(!events.iter().any(|event| matches!(event, AgentEvent::Error { .. })), "{events:?}");
    assert!(matches!(events.last(), Some(AgentEvent::Ended { .. })));
    assert_eq!(failure, None);
    // What opencode would not print is left to the patterns, which know more than an exit status.
    let lines = [(Stream::Err, "wrapper: bad key")];
    let (_, failure) = decode(&agent, &lines, &AgentExit::Code(1));
    assert_eq!(failure, Some(AgentFailure::new(Reason::Auth, "wrapper: bad key")));
    let plan = agent.plan(&brief());
    assert_eq!(plan.prompt, PromptVia::Stdin);
    assert!(plan.pass_env.iter().any(|name| name == "ANTHROPIC_*"), "it needs what the known one needs");
    assert_eq!(agent.about().provider, "mine");
}

#[test]
fn any_program_that_speaks_the_protocol_is_spoken_with() {
    let acp = CustomSpec { output: Some("acp".to_owned()), ..spec(&["--acp", "--model={model}"]) };
    let agent = custom(acp);
    let brief = Brief { model: Some("m"), ..brief() };
    let plan = agent.plan(&brief);
    assert_eq!((plan.prompt, plan.ask), (PromptVia::Dialogue, Some(Ask::Say)));
    assert_eq!(plan.args, ["--acp", "--model=m"]);
    assert!(agent.about().takes_prompts);
    assert!(agent.about().trust[0].contains("refused"), "its trust is kept by what it is answered");
    let mut decoder = agent.decoder(&brief);
    assert!(String::from_utf8(decoder.reply()).unwrap().contains("initialize"));
    decoder.line(Stream::Out, br#"{"id":1,"result":{"protocolVersion":1}}"#, false);
    assert!(String::from_utf8(decoder.reply()).unwrap().contains("session/new"));
    let session = json!({ "id": 2, "result": { "sessionId": "s", "models": {} } });
    decoder.line(Stream::Out, session.to_string().as_bytes(), false);
    let said = String::from_utf8(decoder.reply()).unwrap();
    assert!(said.contains("SECRET-TASK") && !said.contains("set_model"), "{said}");
    assert!(decoder.interrupt() && decoder.prompt("more"));
}

#[test]
fn a_session_that_we_name_is_told_at_once_and_once() {
    let agent = custom(spec(&["--session-id", "{new_session}"]));
    let brief = Brief { conversation: Conversation::New { id: Some("u-1") }, ..brief() };
    let mut decoder = agent.decoder(&brief);
    let told = decoder.line(Stream::Out, b"hello", false);
    assert_eq!(told[0], AgentEvent::SessionStarted { session: "u-1".to_owned() });
    assert_eq!(decoder.line(Stream::Out, b"hello", false).len(), 1);
    let without = custom(spec(&["run"])).decoder(&brief).line(Stream::Out, b"hello", false);
    assert_eq!(without.len(), 1, "nobody told the agent about it");
}

#[test]
fn what_is_kept_of_plain_lines_has_a_bound() {
    let mut decoder = custom(talkative()).decoder(&brief());
    let line = "é".repeat(40_000);
    for _ in 0..200 {
        decoder.line(Stream::Out, line.as_bytes(), true);
    }
    decoder.line(Stream::Out, b"the report", false);
    let kept = decoder.final_text().unwrap();
    assert!(kept.len() <= 3 * 256 * 1024 && kept.ends_with("the report"));
    let mut decoder = custom(talkative()).decoder(&brief());
    decoder.line(Stream::Out, "é".repeat(1_000_000).as_bytes(), true);
    assert!(decoder.final_text().unwrap().len() <= 256 * 1024);
}

proptest! {
    #[test]
    fn no_argument_makes_it_fall(argument in r"[a-z={}-]{0,12}") {
        let read = Custom::new(spec(&["--option", &argument]), &Registry::default());
        if let Ok(agent) = read {
            prop_assert!(agent.plan(&brief()).args.len() <= 2);
        }
    }
}

#[test]
fn an_interface_has_its_own_arguments() {
    let words = |args: &[&str]| args.iter().map(|&arg| arg.to_owned()).collect::<Vec<_>>();
    let described = CustomSpec {
        name: "mine".to_owned(),
        program: "mine".to_owned(),
        args: words(&["--headless"]),
        trust_args: [words(&["--look"]), Vec::new(), Vec::new()],
        ..CustomSpec::default()
    };
    let known = Registry::default();
    let brief = Brief::plain("do it", Path::new("/w"));
    let without = Custom::new(described.clone(), &known).unwrap();
    assert_eq!(without.terminal(&brief), None);
    let terminal_args = Some(words(&["--tui", "--model", "{model}", "--resume={session}"]));
    let with = CustomSpec { terminal_args, ..described };
    let agent = Custom::new(with.clone(), &known).unwrap();
    let plan = agent.terminal(&Brief { trust: Trust::ReadOnly, ..brief }).unwrap();
    assert_eq!((plan.args.join(" ").as_str(), plan.prompt), ("--tui --look", PromptVia::Terminal));
    let conversation = Conversation::Resume { session: "s-1", meter: Meter::default() };
    let resumed = agent.terminal(&Brief { conversation, model: Some("m"), ..brief }).unwrap();
    assert_eq!(resumed.args.join(" "), "--tui --model m --resume=s-1");
    let like = Custom::new(CustomSpec { output: Some("claude".to_owned()), ..with }, &known).unwrap();
    assert!(like.terminal(&brief).unwrap().pass_env.iter().any(|name| name == "ANTHROPIC_*"));
    let hook = br#"{"hook_event_name":"Stop","session_id":"s-1"}"#;
    assert_eq!(like.terminal_decoder(&brief).hook(hook).len(), 2);
    assert!(agent.terminal_decoder(&brief).hook(hook).is_empty());
}

#[test]
fn an_unknown_interface_is_idle_when_it_stands_still() {
    let mut decoder = StillScreen::default();
    let mut look = |screen: &str| -> Vec<String> {
        let events = decoder.screen(&screen.lines().map(ToOwned::to_owned).collect::<Vec<_>>());
        let state = |event: AgentEvent| match event {
            AgentEvent::State { state, .. } => state.to_string(),
            other => panic!("{other:?}"),
        };
        events.into_iter().map(state).collect()
    };
    assert!(look("  \n").is_empty() && look("hello").is_empty() && look("hello").is_empty());
    assert_eq!((look("hello"), look("hello")), (vec!["idle".to_owned()], vec![]));
    assert_eq!((look("hello\n> do it"), look("…")), (vec!["working".to_owned()], vec![]));
    decoder.end(&AgentExit::Code(2));
    assert_eq!(
        decoder.failure().unwrap().text,
        "the agent ended with exit status 2; its screen ended with: …"
    );
}
