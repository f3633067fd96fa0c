//! What the model does next: decided from the scenario and the conversation, without any protocol.

use serde_json::{Value, json};

use super::call::{self, Call, Input};
use super::errands;
use super::instance::instance;
use super::scenario::{Scenario, Status, Wait};
use super::talk::Talk;

/// What is written into every file.
pub const CONTENT: &str = "hello from the scripted model\n";
/// Written where the prompt names no file.
pub const DEFAULT_TARGET: &str = "scripted.txt";
/// What `sleep` runs: claude refuses a plain `sleep`.
pub const SLEEP_COMMAND: &str = "tail -f /dev/null";

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Answer {
    /// Nothing, until the peer gives up.
    Silence,
    Refusal(Refusal),
    Reply(Reply),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal {
    pub(super) code: u16,
    pub(super) why: Why,
    pub(super) wait: Wait,
}

/// What an error says, beyond its code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Why {
    /// What the code says.
    Code,
    /// The conversation is too long for the model.
    Overflow,
    /// What was paid for is used up.
    Quota,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) blocks: Vec<Block>,
    pub(super) manner: Manner,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Block {
    /// In the pieces in which it is streamed.
    Text(Vec<String>),
    Call(Call),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    Whole,
    /// With the headers that say that the plan's limit is near.
    Warned,
    /// A second after every piece.
    Slowly,
    /// Silence after the first piece.
    Stuck,
    /// Cut after the first piece.
    Cut,
    /// An error of the service instead of the first piece.
    Broken,
    /// The conversation is too long, said in the stream.
    TooLong,
}

/// The answer to the `nth` main request of a run, counted from one.
pub(super) fn decide(scenario: Scenario, talk: &Talk, nth: u32) -> Answer {
    let refusal = |code, why| Answer::Refusal(Refusal { code, why, wait: Wait::Usual });
    match scenario {
        Scenario::Hang => Answer::Silence,
        Scenario::Overflow => refusal(400, Why::Overflow),
        Scenario::Quota => refusal(429, Why::Quota),
        Scenario::Status(Status { code, times, wait }) if fails(times, talk, nth) => {
            Answer::Refusal(Refusal { code, why: Why::Code, wait })
        }
        // A title or a choice of model goes well, and is not what the scenario is about.
        _ if !talk.is_main() => {
            Answer::Reply(Reply { blocks: vec![words(aside(talk))], manner: Manner::Whole })
        }
        _ => Answer::Reply(Reply { blocks: blocks(scenario, talk), manner: manner(scenario) }),
    }
}

/// Where errors are counted, only those of the main loop are: otherwise the one error might hit the title.
fn fails(times: Option<u32>, talk: &Talk, nth: u32) -> bool {
    times.is_none_or(|times| talk.is_main() && nth <= times)
}

fn manner(scenario: Scenario) -> Manner {
    match scenario {
        Scenario::Warn => Manner::Warned,
        Scenario::Slow { .. } => Manner::Slowly,
        Scenario::HangMid => Manner::Stuck,
        Scenario::Trunc => Manner::Cut,
        Scenario::StreamError => Manner::Broken,
        Scenario::OverflowInStream => Manner::TooLong,
        _ => Manner::Whole,
    }
}

fn blocks(scenario: Scenario, talk: &Talk) -> Vec<Block> {
    let called = match scenario {
        Scenario::Schema | Scenario::BadSchema => structured(scenario, talk),
        Scenario::Mcp => call::mcp(talk),
        Scenario::Calls => errands::next(talk),
        Scenario::Ask => ask(talk),
        Scenario::Loop | Scenario::Steps => work(scenario, talk),
        _ if talk.after_tool() => None,
        _ => work(scenario, talk),
    };
    match called {
        Some(call) => vec![words("I will do that now."), Block::Call(call)],
        None => vec![Block::Text(last_words(scenario, talk))],
    }
}

/// The call with which the model does something for its prompt.
fn work(scenario: Scenario, talk: &Talk) -> Option<Call> {
    let target = talk.target().unwrap_or(DEFAULT_TARGET);
    match scenario {
        Scenario::Ok | Scenario::Warn | Scenario::Loop | Scenario::Status(_) => {
            call::write(talk, target, CONTENT)
        }
        Scenario::Multi => call::write(talk, talk.new_target()?, CONTENT),
        Scenario::Shell => call::shell(talk, &call::write_command(target, CONTENT)),
        Scenario::Fleet => call::shell(talk, &call::fleet_command(target)),
        Scenario::Steps => call::shell(talk, &call::step_command(target, talk.turns.len())),
        Scenario::Busy => call::shell(talk, &call::busy_command(target, CONTENT)),
        Scenario::Sleep => call::shell(talk, &call::sleep_command(talk.target(), SLEEP_COMMAND)),
        _ => None,
    }
}

/// One call for each prompt, whether it was allowed or not: a refusal may end the turn before the model answers.
fn ask(talk: &Talk) -> Option<Call> {
    let target = talk.target().filter(|_| !talk.has_called_since_target())?;
    call::write_with_permission(talk, target, CONTENT)
}

/// Claude takes structured answers as a call of a tool; a wrong one is repeated, as a model would that does not
/// understand.
fn structured(scenario: Scenario, talk: &Talk) -> Option<Call> {
    let tool = talk.tool("StructuredOutput")?;
    let good = scenario == Scenario::Schema;
    if good && talk.after_tool() {
        return None;
    }
    let arguments = if good { instance(&tool.schema) } else { wrong() };
    let (name, namespace) = (tool.name.clone(), String::new());
    Some(Call { name, namespace, input: Input::Arguments(arguments) })
}

fn wrong() -> Value {
    json!({"unexpected": [12]})
}

fn last_words(scenario: Scenario, talk: &Talk) -> Vec<String> {
    match scenario {
        Scenario::BadSchema => vec![wrong().to_string()],
        Scenario::Schema if talk.schema.is_some() => {
            vec![instance(talk.schema.as_ref().unwrap_or(&Value::Null)).to_string()]
        }
        Scenario::Slow { words } => (1..=words).map(|at| format!("word{at} ")).chain(report(talk)).collect(),
        _ => report(talk),
    }
}

/// The final words, with a report in the shape that codefleet asks for.
fn report(talk: &Talk) -> Vec<String> {
    let (status, files) = if talk.after_tool() {
        ("completed", vec![talk.target().unwrap_or(DEFAULT_TARGET)])
    } else {
        ("completed_no_changes", Vec::new())
    };
    let number = talk.answer_number();
    let report =
        json!({"summary": format!("Scripted answer {number}."), "status": status, "files_changed": files});
    vec![format!("This is answer {number} of the scripted model."), format!("\n\n```json\n{report:#}\n```\n")]
}

/// What a request on the side is answered with.
fn aside(talk: &Talk) -> String {
    talk.schema.as_ref().map_or_else(|| "A scripted title".to_owned(), |schema| instance(schema).to_string())
}

fn words(text: impl Into<String>) -> Block {
    Block::Text(vec![text.into()])
}

#[cfg(test)]
#[path = "script_tests.rs"]
mod tests;
