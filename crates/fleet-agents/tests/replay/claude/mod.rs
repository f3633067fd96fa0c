//! What the recordings of Claude Code 2.1.325 show.

mod dialogue;
mod traps;

use fleet_agents::When;
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason::{self, *};
use fleet_core::time::Millis;
use serde_json::Value;

use crate::harness::{NOTHING, Played, Row, Seen, compare, decoder, err, out, plain, play};

/// One request, answered with a text.
const TEXT: Row =
    Row { tokens: [1111, 222, 333, 44], micro_usd: 9_171, answer: "Hello from the scripted", ..NOTHING };

/// A tool, and a text.
const TOOL: Row = Row {
    tools: 1,
    tokens: [2222, 444, 666, 88],
    micro_usd: 18_341,
    answer: "Done: the file is written.",
    ..NOTHING
};

/// A tool that wrote the file.
const WRITE: Row = Row { files: &["/hello.txt"], ..TOOL };

/// Nothing was ever answered.
const fn refused(reason: Reason, words: &'static str) -> Row {
    Row { failure: Some((reason, words)), ..NOTHING }
}

/// It did not even come to its first line.
const fn unable(words: &'static str) -> Row {
    Row { failure: Some((AgentError, words)), ended: 0, ..NOTHING }
}

/// The limit ends then.
const fn at(seconds: i64) -> When {
    When::At(Millis(seconds * 1_000))
}

const ROOT: &str = "--dangerously-skip-permissions cannot be used with root";
const LIMITED: &str = "API Error: Request rejected (429)";

#[rustfmt::skip]
fn shown() -> Vec<Row> { vec![
    Row { name: "apitimeout", session: "d1edd046-03fa-47b1-8119-f7b59a75e2bd", retries: 1, ..refused(ProviderOutage, "Request timed out") },
    Row { name: "badmodel", session: "dcd5ddd2-594e-44f6-b3ee-5d1bc42daca0", ..TEXT },
    Row { name: "bare", session: "d6ad42e8-0c8a-4969-a821-e162b8e3f7a3", ..TEXT },
    // Four requests; the `usage` of the result has three of them.
    Row { name: "budget", tools: 4, session: "661ca26b", tokens: [4444, 888, 1332, 176], micro_usd: 36_682, files: &["/hello.txt"], answer: "I will write the file.", ..refused(OverBudget, "Reached maximum budget ($0.03)") },
    Row { name: "context-overflow", session: "d3c03924", ..refused(ContextOverflow, "Prompt is too long") },
    Row { name: "e2e", session: "f65984f8-b174-45cf-be59-944fc12518be", ..WRITE },
    Row { name: "error500-forever", session: "00ecae80-538c-4bb5-ab0a-1d1643239864", retries: 10, ..refused(ProviderOutage, "API Error: 500 Internal server error.") },
    Row { name: "error500-then-ok", session: "0585c1e9-25d0-4197-af74-c0768c3846d0", retries: 2, ..WRITE },
    Row { name: "hang", session: "f2ccc03c-0d6a-49c3-83f8-13dde698c29b", retries: 1, ended: 0, ..refused(ProviderOutage, "unknown (no answer), attempt 1 of 10") },
    // The stream that broke off was read, too, and one token of it written.
    Row { name: "hangmid", session: "29fc2ffa", tokens: [2222, 223, 666, 88], ..TEXT },
    Row { name: "hooks", session: "6e45b8a3-f96e-450c-a435-e666f9e5b727", ..WRITE },
    Row { name: "invalid-key", session: "ea5247f4-1dc8-4226-9d18-488dfc3e3b6d", retries: 10, ..refused(Auth, "Invalid API key") },
    Row { name: "json-schema", tools: 1, session: "2ff8542c", answer: r#"{"verdict":"pass","score":7}"#, ..TEXT },
    // Five requests; the `usage` of the result has four of them.
    Row { name: "json-schema-bad", tools: 5, session: "090ef01c", tokens: [5555, 1110, 1665, 220], micro_usd: 45_853, ..refused(AgentError, "Failed to provide valid structured output after 5 attempts") },
    Row { name: "maxretries", limits: 1, session: "f6118a93-2ef7-4e50-aa63-2ef03bf8648e", retries: 1, ..refused(RateLimited, LIMITED) },
    Row { name: "mcp", session: "401ce978", ..TOOL },
    Row { name: "mcp-broken", session: "1884dadf", ..TEXT },
    Row { name: "mcp-dash", session: "e7788e0f", ..TEXT },
    Row { name: "mcp-deferred", tools: 2, session: "302ef13b", tokens: [3333, 666, 999, 132], micro_usd: 27_512, ..TOOL },
    Row { name: "model-not-found", session: "9b9d76af", ..refused(BadModel, "There's an issue with the selected model (claude-opus-5-5).") },
    Row { name: "overloaded529-forever", session: "d2cbadf6-4ad9-41f9-850e-a5113c12bab0", retries: 10, ..refused(ProviderOutage, "API Error: 529 Overloaded.") },
    Row { name: "partial", session: "e0395f52-990d-4619-a8fa-68e4bf8c21f9", ..TEXT },
    Row { name: "perm-acceptEdits", session: "c75d3873", ..WRITE },
    Row { name: "perm-acceptEdits-bash", session: "3d4f614d", ..TOOL },
    Row { name: "perm-allowed-bash", session: "f993a060", denied: &["Bash"], ..TOOL },
    Row { name: "perm-auto", session: "66d2c655", ..WRITE },
    Row { name: "perm-bypass", ..unable(ROOT) },
    Row { name: "perm-dontAsk", session: "063b341a", ..WRITE },
    // With a key the provider's words do not tell a used-up plan from too many requests.
    Row { name: "quota", limits: 1, session: "ded32e6a", ..refused(RateLimited, LIMITED) },
    Row { name: "quota-oauth", session: "bbfba3ce-0834-42e3-9eb5-4f9906cdc26d", limits: 1, until: Some(at(1_794_737_702)), ..refused(QuotaExhausted, "You've hit your 5-hour limit · resets 10:15am (UTC)") },
    Row { name: "ratelimit-forever", limits: 1, session: "b4237c6e-c65c-4fd5-8556-71481dd1a581", retries: 10, ..refused(RateLimited, LIMITED) },
    Row { name: "ratelimit-then-ok", session: "6a72c65f-7598-45d9-ae79-02ff7aa98d64", retries: 2, ..WRITE },
    Row { name: "resume-1", session: "11111111-2222-4333-8444-555555555555", ..WRITE },
    // The three that go on with it say what the whole conversation cost; each cost one text.
    Row { name: "resume-2", session: "11111111-2222-4333-8444-555555555555", ..TEXT },
    Row { name: "resume-fork", session: "7409b448", ..TEXT },
    Row { name: "resume-othercwd", session: "11111111-2222-4333-8444-555555555555", ..TEXT },
    Row { name: "resume-unknown", ..refused(AgentError, "No conversation found with session ID: 99999999") },
    Row { name: "root-refused", ..unable(ROOT) },
    Row { name: "session-id-reuse", ..unable("Error: Session ID 11111111-2222-4333-8444-555555555555 is already in use.") },
    // The result forgets the request that was broken off; the provider does not.
    Row { name: "sigint-stream", session: "23a9030a", tokens: [1111, 1, 333, 44], answer: "word0 word1 word2 word3 word4", ..refused(AgentError, "the turn was interrupted (aborted_streaming)") },
    Row { name: "sigkill-tool", tools: 1, session: "1c796468-de56-4008-b872-236aa77b75be", tokens: [1111, 1, 333, 44], ..unable("the agent was ended by signal 9") },
    Row { name: "sigterm-stream", session: "9d6eae3c", ..unable("the agent ended with exit status 143") },
    Row { name: "sigterm-tool", tools: 1, session: "ce25adbb-f9b6-4433-bd36-3bed9359bf7b", tokens: [1111, 1, 333, 44], ..unable("the agent ended with exit status 143") },
    Row { name: "slim-e2e", session: "5a28c9f3", ..WRITE },
    // Three streams broke off before the answer.
    Row { name: "sse-error", session: "ac6bc0ba", tokens: [4444, 225, 1332, 176], micro_usd: 23_422, ..TEXT },
    Row { name: "streamidle", session: "fb84513c", ..unable("the agent ended with exit status 124") },
    // Two turns: the first was broken off, the second went well.
    Row { name: "streamin-slow", session: "eb10972d", tokens: [2222, 223, 666, 88], micro_usd: 9_171, ended: 2, answer: "word0 word1 word2", ..NOTHING },
    Row { name: "streamin-text", session: "2eeff050-a587-4786-9f51-80464ca41b9b", tokens: [2222, 444, 666, 88], micro_usd: 18_341, ended: 2, ..TEXT },
    Row { name: "success-with-tool", session: "3a547660", ..WRITE },
    Row { name: "sysprompt", session: "d31dee12", ..TEXT },
    Row { name: "sysprompt2", session: "d7abdbf2", ..TEXT },
    Row { name: "warn-oauth", session: "375461e5-e3cf-46f1-9fcd-d092f20f5bf0", micro_usd: 4_585, limits: 1, until: Some(at(1_794_730_503)), ..TEXT },
] }

/// How often a person's eyes should be drawn to something although the run went on, or what is not understood.
const ODD: &[(&str, &[Reason], usize)] =
    &[("mcp-broken", &[AgentError], 0), ("streamin-slow", &[AgentError], 0), ("badmodel", &[], 1)];

#[test]
fn every_recording_shows_what_a_person_saw_in_it() {
    compare("claude", &shown(), |_| plain());
    for row in shown() {
        odd(&row, &seen(row.name));
    }
}

fn odd(row: &Row, seen: &Seen) {
    let name = row.name;
    let known = ODD.iter().find(|(odd, _, _)| *odd == name);
    if let Some((_, errors, raw)) = known {
        assert_eq!((seen.errors.as_slice(), seen.raw), (*errors, *raw), "{name}: what is odd");
    } else if row.failure.is_none() {
        assert_eq!((seen.errors.len(), seen.raw), (0, 0), "{name}: nothing is odd");
    } else if row.ended > 0 {
        assert!(!seen.errors.is_empty(), "{name}: a failure is told when it happens");
    }
}

fn played(name: &str) -> Played {
    let lines = [out("claude", name), err("claude", name)].concat();
    play(decoder("claude", &plain()), &lines, &AgentExit::Code(0))
}

fn seen(name: &str) -> Seen {
    played(name).seen()
}

/// The events of some lines of standard output.
fn says(decoder: &mut dyn fleet_agents::Decoder, lines: &[Value]) -> Seen {
    let line = |line: &Value| decoder.line(fleet_agents::Stream::Out, line.to_string().as_bytes(), false);
    Seen::of(&lines.iter().flat_map(line).collect::<Vec<_>>())
}
