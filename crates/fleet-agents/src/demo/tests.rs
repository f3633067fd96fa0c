use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::report::{Report, ReportStatus};
use fleet_core::run::{Meter, Reason};
use proptest::prelude::*;

use super::*;
use crate::adapter::{AgentFailure, Conversation, PromptVia};

fn brief() -> Brief<'static> {
    Brief { prompt_file: Path::new("/run/prompt.md"), ..Brief::plain("Do it", Path::new("/run/tree")) }
}

#[test]
fn the_plan_starts_this_binary() {
    let plan = Demo.plan(&brief());
    assert_eq!((plan.program, plan.prompt), (Program::This, PromptVia::Stdin));
    assert_eq!(plan.args, ["demo-agent"]);
    let conversation = Conversation::Resume { session: "-s 1", meter: Meter::default() };
    let other = Brief { trust: Trust::ReadOnly, conversation, ..brief() };
    assert_eq!(Demo.plan(&other).args, ["demo-agent", "--read-only", "--session=-s 1"]);
}

fn steps(lines: &str) -> Vec<ScriptStep> {
    script(&format!("Do this:\n\n  ```demo\n{lines}\n  ```\nwrite not.this one")).unwrap().unwrap()
}

/// Every step, as it is written and as it is understood.
#[test]
fn every_step_is_read() {
    let lines = r#"write src/a.txt two\nlines \\ C:\dir
        write "with space" x
        append a.txt more
        delete a.txt
        mkdir deep/er
        touch /tmp/sign
        write-port port
        commit It's "done" -- really
        say hello  world
        think hm
        raw {"type": "odd"}
        stderr oh
        binary 64kB
        flood 10MB
        flood 1GB noline
        sleep 200ms
        hang
        wait-for a
        wait-for "a b" 5s
        fork 1h30m
        fork session double ignore clearenv quiet pid=/tmp/pid 30s
        ignore TERM
        die SIGKILL
        usage 100 20 0.25
        usage 0 0 0
        lie src/b.rs
        ask Which one?
        question Which one?
        question Which one? | this | that
        park What now?
        done All of it
        fail No way
        report {"summary": "a\nb"}
        rate-limit 30s
        error auth The key was refused
        exit 255
        once /tmp/first exit 1"#;
    let mut table = String::new();
    for (line, step) in lines.lines().zip(steps(lines)) {
        writeln!(table, "{}\n    {step:?}", line.trim()).unwrap();
    }
    assert_eq!(table.lines().count(), 2 * lines.lines().count());
    insta::assert_snapshot!(table);
}

#[test]
fn mistakes_are_named_with_their_line() {
    let mut said = String::new();
    for line in [
        "bogus step",
        "write",
        "write \"open",
        "delete a b",
        "say",
        "sleep soon",
        "sleep 99999999999999999999s",
        "exit 256",
        "exit -1",
        "binary 5TB",
        "binary 99999999999GB",
        "flood 5MB lines",
        "fork often 3s",
        "fork",
        "ignore SEGV",
        "die",
        "usage 1 2",
        "usage 1 2 x",
        "once a",
        "once a once b hang",
        "Write a b",
    ] {
        let error = script(&format!("```demo\n# first\n\n{line}\n```")).unwrap_err();
        writeln!(said, "{error}").unwrap();
    }
    insta::assert_snapshot!(said);
    let error = script("```demo\nerror nothing").unwrap_err();
    assert!(error.problem.starts_with("\"nothing\" is not a failure reason"), "{error}");
    let deep = format!("```demo\n{}", "once a ".repeat(1_000_000));
    assert_eq!(script(&deep).unwrap_err().problem, "`once` cannot stand in `once`");
}

#[test]
fn only_a_block_called_demo_is_a_script() {
    for prompt in
        ["", "write a b", "```\nwrite a b\n```", "```sh\nhang\n```", "``demo\nhang\n```", "```demos\nx\n```"]
    {
        assert_eq!(script(prompt), Ok(None), "{prompt}");
    }
    assert_eq!(script("``` demo\r\nhang\r\n```\r\nbogus\n```demo\nbogus"), Ok(Some(vec![ScriptStep::Hang])));
    assert_eq!(script("```demo"), Ok(Some(Vec::new())), "an empty script is one");
}

#[test]
fn a_child_is_passed_on_as_it_was_written() {
    let child: Child = "session double pid=/x quiet 1s500ms".parse().unwrap();
    assert_eq!(child.to_string().parse(), Ok(child.clone()));
    assert_eq!(child.lasts, Duration::from_millis(1500));
    let orphan = child.clone().orphan();
    assert!(
        child.is(ChildBehaviour::Double)
            && !orphan.is(ChildBehaviour::Double)
            && orphan.is(ChildBehaviour::Session)
    );
}

#[test]
fn without_a_script_it_takes_notes() {
    let written = |prompt: &str| {
        let steps = job(prompt, false);
        let pauses = steps.iter().filter(|step| matches!(step, ScriptStep::Sleep { .. })).count();
        assert!((2..6).contains(&pauses));
        steps
            .into_iter()
            .find_map(|step| if let ScriptStep::Append { path, .. } = step { Some(path) } else { None })
            .unwrap()
    };
    assert_eq!(written("\n# Fix the “flaky” login-test!\n"), "notes/fix-the-flaky-login-test.md");
    let (one, other) = (written("One piece\n\nthis"), written("One piece\n\nthat"));
    assert!(one.starts_with("notes/one-piece-") && one != other, "files of their own: {one} {other}");
    assert_eq!(written(&"long ".repeat(100)), "notes/long-long-long-long-long-long-long-long.md");
    assert_eq!(written("../../etc/passwd"), "notes/etc-passwd.md");
    assert_eq!(written("漢字"), "notes/task.md");
    assert_eq!(written(""), "notes/an-empty-task.md");
    let begin = "You work alone.\n\nYour task:\n\nFix the login\n";
    assert_eq!(written(begin), "notes/fix-the-login.md");
    let go_on = "You are in the same worktree as before.\n\nYour task, once more:\n\nFix the login\n";
    assert_eq!(written(go_on), "notes/fix-the-login.md");
    let added = "\nAdded by the person who gave you this task: Also cover logout\n";
    for told in [begin, go_on] {
        assert_eq!(written(&format!("{told}{added}")), "notes/also-cover-logout.md");
    }
    assert!(
        !job("Fix it", false).iter().any(|step| matches!(step, ScriptStep::Write { .. })),
        "notes are added to"
    );
    let changes = |step: &ScriptStep| matches!(step, ScriptStep::Write { .. } | ScriptStep::Append { .. });
    assert!(!job("Explain it", true).iter().any(changes));
}

#[test]
fn without_a_script_it_returns_what_is_asked_for() {
    let reported = |terms: &str, read_only: bool| {
        let steps = job(
            &format!("End with {{{terms}}}\n\nYour task:\n\nLook at \"verdict\": and \"items\":"),
            read_only,
        );
        steps.into_iter().find_map(|step| match step {
            ScriptStep::Report { text } => Some(Report::find(&text).unwrap()),
            _ => None,
        })
    };
    assert_eq!(reported("\"summary\": \"…\"", true), None, "its own report is enough");
    let terms = "\"verdict\": {}} `winner` is the name of the stage (alpha, beta-2) that did best";
    let report = reported(terms, true).unwrap();
    let verdict = report.verdict.unwrap();
    assert_eq!((verdict.approve, verdict.winner.as_deref()), (Some(true), Some("alpha")));
    let scores: Vec<(&str, f64)> =
        verdict.scores.iter().map(|(name, points)| (name.as_str(), points.to_f64())).collect();
    assert_eq!(scores, [("alpha", 8.0), ("beta-2", 7.0)]);
    let nobody = reported("\"verdict\": {}", true).unwrap().verdict.unwrap();
    assert_eq!((nobody.approve, nobody.winner), (Some(true), None), "nothing to choose from");
    let list = reported("\"items\": []", false).unwrap();
    assert_eq!((list.items.map(|items| items.len()), list.status), (Some(2), ReportStatus::Completed));
    assert_eq!(list.files_changed.len(), 1, "and the notes are reported");
}

#[test]
fn a_recorded_stream_becomes_events() {
    let mut decoder = Demo.decoder(&brief());
    let mut events = String::new();
    for line in include_str!("recorded.jsonl").lines() {
        for event in decoder.line(Stream::Out, line.as_bytes(), false) {
            writeln!(events, "{event:?}").unwrap();
        }
    }
    assert_eq!(decoder.end(&AgentExit::Code(0)), []);
    insta::assert_snapshot!(events);
    let report = Report::find(decoder.final_text().unwrap()).unwrap();
    assert_eq!(report, Report::new(ReportStatus::Completed, "Done."));
    assert_eq!(decoder.failure(), None, "it got over its troubles");
}

fn decode(lines: &[DemoLine]) -> Box<dyn Decoder> {
    let mut decoder = Demo.decoder(&brief());
    for line in lines {
        let line = serde_json::to_vec(line).unwrap();
        assert!(!decoder.line(Stream::Out, &line, false).is_empty());
    }
    decoder
}

#[test]
fn trouble_is_a_failure_until_the_agent_goes_on() {
    let limit = DemoLine::RateLimit { wait_ms: 30 };
    let error = DemoLine::Error { reason: Reason::Auth, text: "refused".to_owned() };
    let text = DemoLine::Text { text: "on".to_owned() };
    assert_eq!(
        decode(std::slice::from_ref(&limit)).failure().map(|failure| failure.reason),
        Some(Reason::RateLimited)
    );
    let decoder = decode(&[limit.clone(), text.clone(), error]);
    assert_eq!(decoder.failure(), Some(AgentFailure::new(Reason::Auth, "refused")));
    assert_eq!(decoder.final_text(), Some("on"));
    assert_eq!(decode(&[limit, text]).failure(), None);
}

#[test]
fn what_is_not_understood_is_passed_on() {
    let mut decoder = Demo.decoder(&brief());
    let mut one = |stream, line: &[u8], cut| {
        let mut events = decoder.line(stream, line, cut);
        assert!(events.len() < 2);
        events.pop()
    };
    let raw = |stream, text: &str, cut| Some(AgentEvent::Raw { stream, text: text.to_owned(), cut });
    let line = br#"{"type":"text","text":"x"}"#;
    assert_eq!(one(Stream::Err, line, false), raw(Stream::Err, r#"{"type":"text","text":"x"}"#, false));
    assert_eq!(one(Stream::Out, line, true), raw(Stream::Out, r#"{"type":"text","text":"x"}"#, true));
    assert_eq!(one(Stream::Out, b"\xff\0 \r", false), raw(Stream::Out, "\u{fffd}\0", false));
    assert_eq!(one(Stream::Out, b" \r", false), None);
    let Some(AgentEvent::Raw { text, cut: true, .. }) = one(Stream::Out, &vec![0xff; 100_000], false) else {
        panic!("a long line is cut");
    };
    assert!(text.len() <= 4096, "{}", text.len());
}

proptest! {
    #[test]
    fn no_script_makes_it_fall(lines in r#"(([a-z-]{1,10}|write|flood|once|fork|usage|error)( ("|[0-9a-z.é\\]{0,6})){0,5}\n){0,8}"#) {
        if let Ok(steps) = script(&format!("```demo\n{lines}```")) {
            let written = lines.lines().filter(|line| !line.trim().is_empty()).count();
            prop_assert_eq!(steps.map(|steps| steps.len()), Some(written));
        }
    }
}
