//! Agents in a terminal: what their hooks, their records and their screens say about what they are doing.
//!
//! Owns the state of such an agent and what is common to all of them. Hooks are believed first; the screen tells what
//! no hook tells, by rules that are data, see `screens/`. Must never trust a hook: anything in the run can call it.

mod activity;
mod decoder;
mod rules;
mod screen;
#[cfg(test)]
mod tests;

pub(crate) use decoder::{TerminalDecoder, TerminalReader, TerminalSession};
pub(crate) use rules::ScreenRules;

use serde_json::{Value, json};

/// What a hook runs: it cannot fail, and prints nothing, since some agents show the output of hooks to the model.
pub(crate) const HOOK_COMMAND: &str = "\"$FLEET_BIN\" hook >/dev/null 2>&1 || true";

/// The longest time that a hook may keep its agent waiting, in seconds.
pub(crate) const HOOK_TIMEOUT_S: u64 = 5;

/// Hooks for these events in the form that several agents share: a list of matchers for each event, with commands.
/// `timeout` is in the unit of the agent.
pub(crate) fn hooks(events: &[(&str, &str)], timeout: u64) -> Value {
    let hook = json!({"type": "command", "command": HOOK_COMMAND, "timeout": timeout});
    let entry = |matcher: &str| match matcher {
        "" => json!([{"hooks": [hook]}]),
        matcher => json!([{"matcher": matcher, "hooks": [hook]}]),
    };
    events.iter().map(|(event, matcher)| ((*event).to_owned(), entry(matcher))).collect()
}
