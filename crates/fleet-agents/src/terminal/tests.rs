use std::fs;
use std::path::{Path, PathBuf};

use fleet_core::event::AgentEvent;
use fleet_core::outcome::AgentExit;
use fleet_core::run::AgentState;
use serde_json::Value;

use super::activity::Activity;
use super::rules::{ScreenRules, TEXTS};
use super::screen::Sight;
use super::{TerminalDecoder, TerminalReader, TerminalSession, hooks};
use crate::adapter::{Brief, Decoder, PermissionAnswer, PromptVia, Trust};
use crate::registry::Registry;

struct NoHooks;

impl TerminalReader for NoHooks {
    fn hook(&mut self, _: &Value, _: &mut TerminalSession) -> Vec<AgentEvent> {
        Vec::new()
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(ToOwned::to_owned).collect()
}

/// The recorded screens of an agent, by their names, which begin with the state that they show.
fn screens(agent: &str) -> Vec<(String, Vec<String>)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/terminal/screens").join(agent);
    let mut screens: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            (name, lines(&fs::read_to_string(&path).unwrap()))
        })
        .collect();
    screens.sort();
    screens
}

fn rules(file: &str) -> ScreenRules {
    let (_, text) = TEXTS.iter().find(|(name, _)| *name == file).unwrap();
    serde_json::from_str(text).unwrap_or_else(|problem| panic!("{file}: {problem}"))
}

#[test]
fn every_recorded_screen_shows_its_state() {
    for (file, _) in TEXTS {
        let (rules, agent) = (rules(file), file.trim_end_matches(".json"));
        let screens = screens(agent);
        assert!(screens.len() >= 3, "{agent}");
        for (name, lines) in screens {
            let expected: AgentState = name.split('-').next().unwrap().parse().unwrap();
            let sight = rules.sight(&lines);
            assert_eq!(sight.map(|sight| sight.state), Some(expected), "{agent}/{name}");
            let answers = [PermissionAnswer::Allow, PermissionAnswer::AllowAlways, PermissionAnswer::Deny];
            let keys = answers.map(|answer| rules.keys(answer, &lines));
            let is_answered = keys[0].is_some() && keys[2].is_some();
            assert_eq!(is_answered, expected == AgentState::AsksPermission, "{agent}/{name}: {keys:?}");
            assert_eq!(keys[0] != keys[2], is_answered, "{agent}/{name}: {keys:?}");
        }
    }
}

fn keys(agent: &str, screen: &str) -> [Option<String>; 3] {
    let rules = rules(&format!("{agent}.json"));
    let (_, lines) = screens(agent).into_iter().find(|(name, _)| name == screen).unwrap();
    [PermissionAnswer::Allow, PermissionAnswer::AllowAlways, PermissionAnswer::Deny]
        .map(|answer| rules.keys(answer, &lines).map(|keys| String::from_utf8(keys).unwrap()))
}

fn some(keys: [&str; 3]) -> [Option<String>; 3] {
    keys.map(|key| Some(key.to_owned()))
}

#[test]
fn keys_are_those_of_the_dialog_on_the_screen() {
    assert_eq!(keys("claude", "asks_permission-command-80x24"), some(["1", "2", "4"]));
    assert_eq!(keys("claude", "asks_permission-edit-100x30"), some(["1", "2", "3"]));
    assert_eq!(keys("codex", "asks_permission-command-100x30"), some(["1", "2", "3"]));
    assert_eq!(keys("gemini", "asks_permission-command-100x30"), some(["1", "2", "3"]));
    assert_eq!(keys("gemini", "asks_permission-edit-100x30"), some(["1", "2", "4"]));
    assert_eq!(keys("opencode", "asks_permission-edit-100x30"), some(["\r", "\u{1b}[C\r\r", "\u{1b}"]));
    assert_eq!(keys("opencode", "asks_permission-always-100x30"), some(["\r", "\r", "\u{1b}"]));
    assert_eq!(keys("demo", "asks_permission-to-write"), some(["1", "2", "3"]));
}

#[test]
fn a_list_in_what_the_agent_wants_to_do_is_not_an_answer() {
    let screen = "Bash command\n 1. Yes\n 2. No\nDo you want to proceed?\n ❯ 1. Yes\n   2. Yes, and don't ask again for: ls\n   3. No\n\n Esc to cancel";
    let keys = rules("claude.json").keys(PermissionAnswer::Deny, &lines(screen));
    assert_eq!(keys, Some(b"3".to_vec()));
    let only_in_the_conversation = format!("{screen}\n────────────\n❯ \n────────────\n  ? for shortcuts");
    assert_eq!(rules("claude.json").keys(PermissionAnswer::Deny, &lines(&only_in_the_conversation)), None);
}

#[test]
fn only_a_dialog_with_one_right_answer_is_answered_at_the_start() {
    for (file, _) in TEXTS {
        for (name, lines) in screens(file.trim_end_matches(".json")) {
            let keys = rules(file).start_keys(&lines);
            let expected = (name == "asks_question-folder-100x30").then(|| b"\r".to_vec());
            assert_eq!(keys, expected, "{file}: {name}");
        }
    }
}

#[test]
fn an_input_without_text_is_recognised() {
    let rules = rules("gemini.json");
    for (name, lines) in screens("gemini") {
        let has_input = name.starts_with("idle") || name == "working-on-a-prompt-80x24";
        assert_eq!(rules.shows_empty_input(&lines), has_input, "{name}");
    }
    let typed = lines("▄▄▄▄▄▄▄▄▄▄\n > Type it\n▀▀▀▀▀▀▀▀▀▀\n workspace (/directory)");
    assert!(!rules.shows_empty_input(&typed));
}

#[test]
fn a_weak_rule_counts_only_before_the_first_hook() {
    let weak = || Some(Sight { is_weak: true, ..sight(AgentState::Idle) });
    let mut activity = Activity::default();
    assert!(activity.seen(weak()).is_some());
    activity.told(AgentState::Working, "", "hook: x");
    assert!((0..9).all(|_| activity.seen(weak()).is_none()));
}

fn sight(state: AgentState) -> Sight {
    Sight { state, text: String::new(), rule: "a rule".to_owned(), is_weak: false }
}

#[test]
fn the_screen_contradicts_a_hook_only_when_it_shows_the_same_twice() {
    let mut activity = Activity::default();
    let event = activity.seen(Some(sight(AgentState::Idle))).unwrap();
    assert!(matches!(event, AgentEvent::State { evidence, .. } if evidence == "screen: a rule"));
    assert!(activity.seen(Some(sight(AgentState::Idle))).is_none());
    assert!(activity.told(AgentState::Working, "", "hook: x").is_some());
    assert!(activity.seen(Some(sight(AgentState::Idle))).is_none());
    assert!(activity.seen(Some(sight(AgentState::Working))).is_none());
    assert!(activity.seen(Some(sight(AgentState::Idle))).is_none());
    assert!(activity.seen(None).is_none());
    assert!(activity.seen(Some(sight(AgentState::Idle))).is_none());
    assert!(activity.seen(Some(sight(AgentState::Idle))).is_some());
    // What only the screen told, the screen can change at once.
    assert!(activity.seen(Some(sight(AgentState::Working))).is_some());
}

#[test]
fn a_question_is_told_again_only_if_it_is_another_one() {
    let mut activity = Activity::default();
    let mut told = |text: &str| activity.told(AgentState::AsksPermission, text, "hook: x").is_some();
    assert_eq!(
        [told("Bash: ls"), told(""), told("Bash: ls"), told("Bash: rm x")],
        [true, false, false, true]
    );
}

#[test]
fn an_agent_that_ends_before_it_is_idle_has_failed() {
    let start = || TerminalDecoder::new(ScreenRules::claude(), NoHooks);
    let mut decoder = start();
    decoder.screen(&lines("Unable to connect\n\n"));
    decoder.end(&AgentExit::Code(1));
    let failure = decoder.failure().unwrap();
    let expected =
        "the agent ended with exit status 1 at its start; its screen ended with: Unable to connect";
    assert_eq!(failure.text, expected);
    let mut decoder = start();
    decoder.screen(&screens("claude").into_iter().find(|(name, _)| name.starts_with("idle")).unwrap().1);
    decoder.end(&AgentExit::Signal(15));
    assert_eq!(decoder.failure(), None);
}

#[test]
fn hooks_cannot_fail_or_print() {
    let settings = hooks(&[("Stop", ""), ("PreToolUse", "X")], 5);
    let command = &settings["Stop"][0]["hooks"][0]["command"];
    assert_eq!(command, "\"$FLEET_BIN\" hook >/dev/null 2>&1 || true");
    assert_eq!(settings["PreToolUse"][0]["matcher"], "X");
    assert!(settings["Stop"][0].get("matcher").is_none());
}

#[test]
fn no_screen_and_no_payload_is_too_odd() {
    let odd = ["", "\u{0}", "❯", "│││", &"─".repeat(100_000), &"1. Yes\n".repeat(10_000)];
    for (file, _) in TEXTS {
        for screen in odd {
            rules(file).sight(&lines(screen));
            rules(file).keys(PermissionAnswer::Allow, &lines(screen));
        }
    }
    let mut decoder = TerminalDecoder::new(ScreenRules::claude(), NoHooks);
    for payload in [&b""[..], b"[]", b"\xff", b"{", b"{}", &vec![b'{'; 100_000]] {
        assert!(decoder.hook(payload).is_empty() && decoder.record(payload).is_empty());
    }
}

/// The events of recorded hooks, or of a recorded conversation, one in a line.
fn events(agent: &str, folder: &str) -> Option<String> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/terminal").join(folder);
    let recorded = fs::read(path.join(format!("{agent}.jsonl"))).ok()?;
    let brief = Brief::plain("do it", Path::new("/home/user/tree"));
    let registry = Registry::default();
    let mut decoder = registry.find(agent).unwrap().terminal_decoder(&brief);
    let mut told = String::new();
    for line in recorded.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
        let events = if folder == "hooks" { decoder.hook(line) } else { decoder.record(line) };
        for event in events {
            told.push_str(&serde_json::to_string(&event).unwrap());
            told.push('\n');
        }
    }
    let final_text = format!("final text: {:?}\n", decoder.final_text());
    decoder.end(&AgentExit::Code(0));
    let failure = format!("failure: {:?}\n", decoder.failure().filter(|_| folder == "hooks"));
    Some(told + &final_text + &failure)
}

#[test]
fn recorded_hooks_and_records_become_events() {
    for (file, _) in TEXTS {
        let agent = file.trim_end_matches(".json");
        for folder in ["hooks", "records"] {
            if let Some(events) = events(agent, folder) {
                insta::assert_snapshot!(format!("{agent}_{folder}"), events);
            }
        }
    }
}

#[test]
fn every_agent_with_an_interface_takes_its_prompt_there() {
    let brief = Brief { prompt: "SECRET-TASK", ..Brief::plain("", Path::new("/home/user/tree")) };
    for (file, _) in TEXTS {
        let registry = Registry::default();
        let adapter = registry.find(file.trim_end_matches(".json")).unwrap();
        for trust in [Trust::ReadOnly, Trust::Sandbox, Trust::Full] {
            let plan = adapter.terminal(&Brief { trust, ..brief }).unwrap();
            assert_eq!(plan.prompt, PromptVia::Terminal, "{file}");
            assert!(!format!("{plan:?}").contains("SECRET-TASK"), "{file}");
            assert!(plan.files.iter().all(|file| file.path.starts_with(brief.scratch)), "{file}");
        }
    }
}

/// Recorded payloads with one value replaced by something odd.
fn odd_payloads(agent: &str) -> Vec<Vec<u8>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/terminal");
    let read = |part: &str| fs::read_to_string(folder.join(part).join(format!("{agent}.jsonl")));
    let recorded = [read("hooks"), read("records")].into_iter().flatten().collect::<String>();
    let odd = ["null", "-1", "[]", "{}", "\"\"", "[[{}]]", "1e999", "\"\\u0000\""];
    let mut payloads = Vec::new();
    for line in recorded.lines() {
        for (at, _) in line.match_indices("\":") {
            let end = line[at + 2..].find([',', '}']).map_or(line.len(), |end| at + 2 + end);
            let word = odd[at % odd.len()];
            payloads.push(format!("{}{word}{}", &line[..at + 2], &line[end..]).into_bytes());
            payloads.push(line.as_bytes()[..at].to_vec());
        }
    }
    payloads
}

#[test]
fn no_payload_makes_a_decoder_fail() {
    let brief = Brief::plain("do it", Path::new("/home/user/tree"));
    let registry = Registry::default();
    for (file, _) in TEXTS {
        let agent = file.trim_end_matches(".json");
        let mut decoder = registry.find(agent).unwrap().terminal_decoder(&brief);
        for payload in odd_payloads(agent) {
            decoder.hook(&payload);
            decoder.record(&payload);
        }
        decoder.end(&AgentExit::Code(0));
    }
}
