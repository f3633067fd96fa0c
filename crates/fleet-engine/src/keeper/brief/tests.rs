use fleet_core::id::RunId;
use fleet_core::run::Meter;
use fleet_core::time::Millis;

use super::*;

fn id(number: u64) -> RunId {
    fleet_core::id::IdMaker::default().next(Millis(1_800_000_000_000), number)
}

/// A run of `claude` whose agent was started.
fn ended(number: u64, state: RunState, reason: Option<Reason>) -> Run {
    let run = serde_json::json!({
        "id": id(number), "task": "t0skybe7ym6dd2w", "project": "p0skybd1301httv", "fence": number, "state": state,
        "reason": reason, "runner": "r", "place": "here", "agent": "claude", "decoded": 0, "lease_until": 0,
        "usage": {"input_tokens": 0, "output_tokens": 0, "micro_usd": 0}, "reserved": {}, "created_at": 0,
        "started_at": 1, "ended_at": 2,
    });
    serde_json::from_value(run).unwrap()
}

fn failed(number: u64, reason: Reason) -> Run {
    ended(number, RunState::Failed, Some(reason))
}

fn conversation(of: &Run) -> ops::Conversation {
    let (reason, state) = (of.reason, of.state);
    ops::Conversation { run: of.id, session: "s".to_owned(), meter: None, reason, state, model: None }
}

#[test]
fn a_conversation_that_cannot_be_taken_up_is_left_alone() {
    let had = ended(1, RunState::Succeeded, None);
    let last = conversation(&had);
    let is_closed = |since: &[Run]| {
        let before: Vec<Run> = since.iter().chain([&had]).cloned().collect();
        is_closed(&last, &before, "claude")
    };
    assert!(!is_closed(&[]));
    assert!(is_closed(&[failed(2, Reason::AgentError)]), "its agent does not know it");
    assert!(is_closed(&[failed(3, Reason::Stale), failed(2, Reason::AgentError)]));
    assert!(!is_closed(&[failed(2, Reason::RateLimited), failed(3, Reason::Lost)]), "it may be there");
    assert!(!is_closed(&[Run { agent: "codex".to_owned(), ..failed(2, Reason::AgentError) }]));
    assert!(!is_closed(&[Run { started_at: None, ..failed(2, Reason::AgentError) }]));
}

#[test]
fn what_an_agent_may_not_have_followed_is_told_again() {
    let before =
        [failed(3, Reason::RateLimited), ended(2, RunState::Succeeded, None), failed(1, Reason::Stale)];
    let said = |run: u64, sent_at| prompt::Prompt {
        task: before[0].task,
        seq: 1,
        text: "more".parse().unwrap(),
        by: "ada".to_owned(),
        at: Millis(0),
        taken_by: Some(id(run)),
        sent_at,
    };
    let sent = |run| said(run, Some(Millis(1)));
    let goes_on = Talk::Resumed { session: "s".to_owned(), meter: Meter::default() };
    let new = Talk::New("n".to_owned());
    let again = |talk| [1, 2, 3].map(|run| is_told_again(&sent(run), talk, &before));
    assert_eq!(again(&goes_on), [false, false, true], "the run that had it last did not come to its end");
    assert_eq!(again(&new), [true; 3], "it knows nothing");
    assert!(!is_told_again(&said(3, None), &new, &before), "what is news is taken from the store");
}
