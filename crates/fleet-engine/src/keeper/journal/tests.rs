use std::path::Path;

use fleet_agents::{Brief, Registry};

use super::*;

/// An agent that was told to stop before it said anything else can be resumed all the same.
#[test]
fn a_session_is_worth_storing_by_itself() {
    let agents = Registry::default();
    let decoder = agents.find("opencode").unwrap().decoder(&Brief::plain("", Path::new("/")));
    let mut journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, Stored::default());
    assert!(journal.is_empty());
    let created =
        "timestamp=2026-11-15T16:52:54Z level=INFO run=5 message=created id=ses_1 slug=a version=1\n";
    journal.push(Stream::Err, created.as_bytes(), Millis(1));
    assert!(!journal.is_empty());
    let batch = journal.batch(Millis(1));
    assert_eq!((batch.session.as_deref(), batch.facts.len()), (Some("ses_1"), 0));
    journal.push(Stream::Err, created.as_bytes(), Millis(2));
    assert!(journal.is_empty(), "once is enough");
}

/// What comes from no output is told from what was sent before by its number alone.
#[test]
fn every_batch_has_a_number_of_its_own() {
    let decoder = Registry::default().find("demo").unwrap().decoder(&Brief::plain("", Path::new("/")));
    let mut journal = Journal::new(
        "r0smmyvymnt4z7j".parse().unwrap(),
        1,
        decoder,
        Stored { batch: 4, ..Stored::default() },
    );
    for expected in [5, 6] {
        journal.warn("soon".to_owned(), Millis(1));
        let batch = journal.batch(Millis(1));
        assert_eq!((batch.from, batch.to, batch.batch), (0, 0, expected));
    }
}

/// A sum that shrinks would give back what was spent.
#[test]
fn what_was_used_does_not_become_less_when_a_log_is_read_again() {
    let decoder = Registry::default().find("demo").unwrap().decoder(&Brief::plain("", Path::new("/")));
    let known = Totals { input_tokens: 900, output_tokens: 10, micro_usd: 4_000 };
    let journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, Stored::default());
    let mut journal = journal.at_least(known);
    assert_eq!(journal.batch(Millis(1)).usage, Some(known));
    let line = "{\"type\":\"usage\",\"input\":500,\"output\":20,\"micro_usd\":5000}\n";
    journal.push(Stream::Out, line.as_bytes(), Millis(1));
    let usage = Totals { input_tokens: 900, output_tokens: 20, micro_usd: 5_000 };
    assert_eq!(journal.batch(Millis(2)).usage, Some(usage));
}

/// An agent that is stopped in the middle of a turn prints nothing more.
#[test]
fn what_only_the_record_of_an_agent_tells_is_worth_storing_by_itself() {
    let decoder = Registry::default().find("codex").unwrap().decoder(&Brief::plain("", Path::new("/")));
    let mut journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, Stored::default());
    let line = br#"{"type":"event_msg","payload":{"type":"token_count","info":{"total_token_usage":{"input_tokens":900,"output_tokens":10}}}}"#;
    journal.record(line, Millis(1));
    assert!(!journal.is_empty());
    let batch = journal.batch(Millis(1));
    let usage = Totals { input_tokens: 900, output_tokens: 10, micro_usd: 0 };
    assert_eq!((batch.usage, batch.meter.map(|meter| meter.tokens.input)), (Some(usage), Some(900)));
    journal.record(line, Millis(2));
    assert!(journal.is_empty(), "once is enough");
}

/// It would be an argument of the next run.
#[test]
fn an_option_is_not_stored_as_a_session() {
    let agents = Registry::default();
    let decoder = agents.find("codex").unwrap().decoder(&Brief::plain("", Path::new("/")));
    let mut journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, Stored::default());
    for session in ["--dangerously-bypass-approvals-and-sandbox", "a\\nb", "-c x=y"] {
        let line = format!("{{\"type\":\"thread.started\",\"thread_id\":\"{session}\"}}\n");
        journal.push(Stream::Out, line.as_bytes(), Millis(1));
    }
    assert_eq!(journal.batch(Millis(1)).session, None);
    journal.push(Stream::Out, b"{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n", Millis(1));
    assert_eq!(journal.batch(Millis(1)).session.as_deref(), Some("t-1"));
}

/// Claude Code waits as long as its provider says, which may be longer than its keeper has patience.
#[test]
fn whoever_is_stopped_while_it_waits_says_how_long() {
    let decoder = Registry::default().find("claude").unwrap().decoder(&Brief::plain("", Path::new("/")));
    let mut journal = Journal::new("r0smmyvymnt4z7j".parse().unwrap(), 1, decoder, Stored::default());
    let mut tried = |delay: u64| {
        let line = format!(
            "{{\"type\":\"system\",\"subtype\":\"api_retry\",\"attempt\":1,\"max_retries\":10,\
             \"retry_delay_ms\":{delay},\"error_status\":429,\"error\":\"rate_limit\"}}\n"
        );
        journal.push(Stream::Out, line.as_bytes(), Millis(1_000));
        journal.end(&AgentExit::Signal(15), Millis(90_000)).limited_until
    };
    assert_eq!(tried(600_000), Some(Millis(601_000)), "since it was told");
    assert_eq!(tried(8_000), None, "that is its own patience");
}
