//! What each recording shows, read by a person and written down here.

use std::collections::BTreeSet;

use fleet_core::run::Reason::{self, *};
use fleet_core::time::Millis;

use super::*;
use crate::event::{Tokens, When};

/// What one recording shows.
struct Shows {
    name: &'static str,
    session: &'static str,
    /// Read, written, read from the cache, written to the cache.
    tokens: [u64; 4],
    micro_usd: u64,
    /// The name of the one file that it worked on.
    file: &'static str,
    retries: usize,
    denied: &'static [&'static str],
    resets: &'static [i64],
    ended: usize,
    /// How the last thing begins that the model said.
    text: &'static str,
    /// Why it failed, and how the words for it begin.
    failed: Option<(Reason, &'static str)>,
}

const NOTHING: Shows = Shows {
    name: "",
    session: "",
    tokens: [0; 4],
    micro_usd: 0,
    file: "",
    retries: 0,
    denied: &[],
    resets: &[],
    ended: 1,
    text: "",
    failed: None,
};

/// One request, answered with a text.
const TEXT: Shows =
    Shows { tokens: [1111, 222, 333, 44], micro_usd: 9_171, text: "Hello from the scripted", ..NOTHING };

/// A tool, and a text.
const TOOL: Shows =
    Shows { tokens: [2222, 444, 666, 88], micro_usd: 18_341, text: "Done: the file is written.", ..NOTHING };

/// A tool that wrote the file.
const WRITE: Shows = Shows { file: "hello.txt", ..TOOL };

/// Nothing was ever answered.
const fn refused(reason: Reason, words: &'static str) -> Shows {
    Shows { failed: Some((reason, words)), ..NOTHING }
}

/// It did not even come to its first line.
const fn unable(words: &'static str) -> Shows {
    Shows { failed: Some((AgentError, words)), ended: 0, ..NOTHING }
}

const ROOT: &str = "--dangerously-skip-permissions cannot be used with root";
const LIMITED: &str = "API Error: Request rejected (429)";

#[rustfmt::skip]
const SHOWN: &[Shows] = &[
    Shows { name: "apitimeout", session: "d1edd046-03fa-47b1-8119-f7b59a75e2bd", retries: 1, ..refused(ProviderOutage, "Request timed out") },
    Shows { name: "badmodel", session: "dcd5ddd2-594e-44f6-b3ee-5d1bc42daca0", ..TEXT },
    Shows { name: "bare", session: "d6ad42e8-0c8a-4969-a821-e162b8e3f7a3", ..TEXT },
    // Four requests; the `usage` of the result has three of them.
    Shows { name: "budget", session: "661ca26b", tokens: [4444, 888, 1332, 176], micro_usd: 36_682, file: "hello.txt", text: "I will write the file.", ..refused(OverBudget, "Reached maximum budget ($0.03)") },
    Shows { name: "context-overflow", session: "d3c03924", ..refused(ContextOverflow, "Prompt is too long") },
    Shows { name: "e2e", session: "f65984f8-b174-45cf-be59-944fc12518be", ..WRITE },
    Shows { name: "error500-forever", session: "00ecae80-538c-4bb5-ab0a-1d1643239864", retries: 10, ..refused(ProviderOutage, "API Error: 500 Internal server error.") },
    Shows { name: "error500-then-ok", session: "0585c1e9-25d0-4197-af74-c0768c3846d0", retries: 2, ..WRITE },
    Shows { name: "hang", session: "f2ccc03c-0d6a-49c3-83f8-13dde698c29b", retries: 1, ended: 0, ..refused(ProviderOutage, "unknown (no answer), attempt 1 of 10") },
    // The stream that broke off was read, too, and one token of it written.
    Shows { name: "hangmid", session: "29fc2ffa", tokens: [2222, 223, 666, 88], ..TEXT },
    Shows { name: "hooks", session: "6e45b8a3-f96e-450c-a435-e666f9e5b727", ..WRITE },
    Shows { name: "invalid-key", session: "ea5247f4-1dc8-4226-9d18-488dfc3e3b6d", retries: 10, ..refused(Auth, "Invalid API key") },
    Shows { name: "json-schema", session: "2ff8542c", text: r#"{"verdict":"pass","score":7}"#, ..TEXT },
    // Five requests; the `usage` of the result has four of them.
    Shows { name: "json-schema-bad", session: "090ef01c", tokens: [5555, 1110, 1665, 220], micro_usd: 45_853, ..refused(AgentError, "Failed to provide valid structured output after 5 attempts") },
    Shows { name: "maxretries", session: "f6118a93-2ef7-4e50-aa63-2ef03bf8648e", retries: 1, ..refused(RateLimited, LIMITED) },
    Shows { name: "mcp", session: "401ce978", ..TOOL },
    Shows { name: "mcp-broken", session: "1884dadf", ..TEXT },
    Shows { name: "mcp-dash", session: "e7788e0f", ..TEXT },
    Shows { name: "mcp-deferred", session: "302ef13b", tokens: [3333, 666, 999, 132], micro_usd: 27_512, ..TOOL },
    Shows { name: "model-not-found", session: "9b9d76af", ..refused(BadModel, "There's an issue with the selected model (claude-opus-5-5).") },
    Shows { name: "overloaded529-forever", session: "d2cbadf6-4ad9-41f9-850e-a5113c12bab0", retries: 10, ..refused(ProviderOutage, "API Error: 529 Overloaded.") },
    Shows { name: "partial", session: "e0395f52-990d-4619-a8fa-68e4bf8c21f9", ..TEXT },
    Shows { name: "perm-acceptEdits", session: "c75d3873", ..WRITE },
    Shows { name: "perm-acceptEdits-bash", session: "3d4f614d", ..TOOL },
    Shows { name: "perm-allowed-bash", session: "f993a060", denied: &["Bash"], ..TOOL },
    Shows { name: "perm-auto", session: "66d2c655", ..WRITE },
    Shows { name: "perm-bypass", ..unable(ROOT) },
    Shows { name: "perm-dontAsk", session: "063b341a", ..WRITE },
    // With a key the provider's words do not tell a used-up plan from too many requests.
    Shows { name: "quota", session: "ded32e6a", ..refused(RateLimited, LIMITED) },
    Shows { name: "quota-oauth", session: "bbfba3ce-0834-42e3-9eb5-4f9906cdc26d", resets: &[1_794_737_702], ..refused(QuotaExhausted, "You've hit your 5-hour limit · resets 10:15am (UTC)") },
    Shows { name: "ratelimit-forever", session: "b4237c6e-c65c-4fd5-8556-71481dd1a581", retries: 10, ..refused(RateLimited, LIMITED) },
    Shows { name: "ratelimit-then-ok", session: "6a72c65f-7598-45d9-ae79-02ff7aa98d64", retries: 2, ..WRITE },
    Shows { name: "resume-1", session: "11111111-2222-4333-8444-555555555555", ..WRITE },
    // The three that go on with it say what the whole conversation cost; each cost one text.
    Shows { name: "resume-2", session: "11111111-2222-4333-8444-555555555555", ..TEXT },
    Shows { name: "resume-fork", session: "7409b448", ..TEXT },
    Shows { name: "resume-othercwd", session: "11111111-2222-4333-8444-555555555555", ..TEXT },
    Shows { name: "resume-unknown", ..refused(AgentError, "No conversation found with session ID: 99999999") },
    Shows { name: "root-refused", ..unable(ROOT) },
    Shows { name: "session-id-reuse", ..unable("Error: Session ID 11111111-2222-4333-8444-555555555555 is already in use.") },
    // The result forgets the request that was broken off; the provider does not.
    Shows { name: "sigint-stream", session: "23a9030a", tokens: [1111, 1, 333, 44], text: "word0 word1 word2 word3 word4", ..refused(AgentError, "the turn was broken off (aborted_streaming)") },
    Shows { name: "sigkill-tool", session: "1c796468-de56-4008-b872-236aa77b75be", tokens: [1111, 1, 333, 44], ..unable("the agent was ended by signal 9") },
    Shows { name: "sigterm-stream", session: "9d6eae3c", ..unable("the agent ended with exit status 143") },
    Shows { name: "sigterm-tool", session: "ce25adbb-f9b6-4433-bd36-3bed9359bf7b", tokens: [1111, 1, 333, 44], ..unable("the agent ended with exit status 143") },
    Shows { name: "slim-e2e", session: "5a28c9f3", ..WRITE },
    // Three streams broke off before the answer.
    Shows { name: "sse-error", session: "ac6bc0ba", tokens: [4444, 225, 1332, 176], micro_usd: 23_422, ..TEXT },
    Shows { name: "streamidle", session: "fb84513c", ..unable("the agent ended with exit status 124") },
    // Two turns: the first was broken off, the second went well.
    Shows { name: "streamin-slow", session: "eb10972d", tokens: [2222, 223, 666, 88], micro_usd: 9_171, ended: 2, text: "word0 word1 word2", ..NOTHING },
    Shows { name: "streamin-text", session: "2eeff050-a587-4786-9f51-80464ca41b9b", tokens: [2222, 444, 666, 88], micro_usd: 18_341, ended: 2, ..TEXT },
    Shows { name: "success-with-tool", session: "3a547660", ..WRITE },
    Shows { name: "sysprompt", session: "d31dee12", ..TEXT },
    Shows { name: "sysprompt2", session: "d7abdbf2", ..TEXT },
    Shows { name: "warn-oauth", session: "375461e5-e3cf-46f1-9fcd-d092f20f5bf0", micro_usd: 4_585, resets: &[1_794_730_503], ..TEXT },
];

/// How often a person's eyes should be drawn to something although the run went on, or what is not understood.
const ODD: &[(&str, &[Reason], usize)] =
    &[("mcp-broken", &[AgentError], 0), ("streamin-slow", &[AgentError], 0), ("badmodel", &[], 1)];

#[test]
fn every_recording_shows_what_a_person_saw_in_it() {
    for shows in SHOWN {
        let seen = replay(&mut *Claude.decoder(&brief()), &recording("claude", shows.name));
        check(shows, &seen);
    }
}

fn check(shows: &Shows, seen: &Seen) {
    let name = shows.name;
    let [input, output, cache_read, cache_write] = shows.tokens;
    assert_eq!(seen.tokens, Tokens { input, output, cache_read, cache_write }, "{name}: tokens");
    assert_eq!(seen.micro_usd, shows.micro_usd, "{name}: money");
    match shows.session {
        "" => assert_eq!(seen.sessions, Vec::<String>::new(), "{name}: session"),
        session => assert!(
            seen.sessions.len() == 1 && seen.sessions[0].starts_with(session),
            "{name}: {:?}",
            seen.sessions
        ),
    }
    let files: Vec<_> = seen.files.iter().map(|file| file.rsplit('/').next().unwrap()).collect();
    assert_eq!(files.join(","), shows.file, "{name}: files");
    assert_eq!((seen.retries, seen.ended), (shows.retries, shows.ended), "{name}: retries and ends");
    assert_eq!(seen.denied, shows.denied, "{name}: refusals");
    let resets: Vec<_> = shows.resets.iter().map(|at| Some(When::At(Millis(at * 1_000)))).collect();
    assert_eq!(seen.limits, resets, "{name}: limits");
    let text = seen.text.as_deref().unwrap_or_default();
    assert!(text.starts_with(shows.text) && text.is_empty() == shows.text.is_empty(), "{name}: {text:?}");
    let failure = seen.failure.as_ref();
    assert_eq!(failure.map(|failure| failure.reason), shows.failed.map(|(reason, _)| reason), "{name}");
    if let (Some(failure), Some((_, words))) = (failure, shows.failed) {
        assert!(failure.text.starts_with(words), "{name}: {:?}", failure.text);
        let quota = shows.failed.is_some_and(|(reason, _)| reason == QuotaExhausted);
        assert_eq!(failure.until, if quota { resets[0] } else { None }, "{name}: until");
    }
    odd(shows, seen);
}

fn odd(shows: &Shows, seen: &Seen) {
    let name = shows.name;
    let row = ODD.iter().find(|(odd, _, _)| *odd == name);
    if let Some((_, errors, raw)) = row {
        assert_eq!((seen.errors.as_slice(), seen.raw), (*errors, *raw), "{name}: what is odd");
    } else if shows.failed.is_none() {
        assert_eq!((seen.errors.len(), seen.raw), (0, 0), "{name}: nothing is odd");
    } else if shows.ended > 0 {
        assert!(!seen.errors.is_empty(), "{name}: a failure is told when it happens");
    }
}

#[test]
fn no_recording_is_left_out() {
    let shown: BTreeSet<_> = SHOWN.iter().map(|shows| shows.name.to_owned()).collect();
    assert_eq!(shown, names("claude").into_iter().collect());
    assert_eq!(shown.len(), SHOWN.len());
}
