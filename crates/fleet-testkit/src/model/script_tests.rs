//! What the model does, without any protocol.

use super::super::talk::{Tool, Turn};
use super::*;

fn talk(turns: &[Turn]) -> Talk {
    let tool = |name: &str| Tool { name: name.to_owned(), ..Tool::default() };
    Talk { turns: turns.to_vec(), tools: vec![tool("Write"), tool("Bash")], ..Talk::default() }
}

fn prompt(text: &str) -> Turn {
    Turn::User(text.to_owned())
}

fn result() -> Turn {
    Turn::Tool("done".to_owned())
}

fn reply(scenario: &str, talk: &Talk, nth: u32) -> Reply {
    match decide(scenario.parse().unwrap(), talk, nth) {
        Answer::Reply(reply) => reply,
        other => panic!("expected a reply, not {other:?}"),
    }
}

fn call(scenario: &str, talk: &Talk) -> Option<Call> {
    reply(scenario, talk, 1).blocks.into_iter().find_map(|block| match block {
        Block::Call(call) => Some(call),
        Block::Text(_) => None,
    })
}

fn said(scenario: &str, talk: &Talk) -> String {
    let blocks = reply(scenario, talk, 1).blocks;
    let pieces = blocks.into_iter().filter_map(|block| match block {
        Block::Text(pieces) => Some(pieces.concat()),
        Block::Call(_) => None,
    });
    pieces.collect()
}

#[test]
fn a_prompt_is_worked_on_and_then_reported() {
    let first = talk(&[prompt("TARGET=a.txt")]);
    assert_eq!(call("ok", &first).unwrap().arguments(), json!({"file_path": "a.txt", "content": CONTENT}));
    assert_eq!(call("sleep", &talk(&[prompt("go")])).unwrap().arguments()["command"], SLEEP_COMMAND);
    assert_eq!(
        call("sleep", &first).unwrap().arguments()["command"],
        "tail -f /dev/null & echo $! > 'a.txt'; wait"
    );
    assert!(call("sh", &first).unwrap().arguments()["command"].as_str().unwrap().ends_with("> 'a.txt'"));
    assert_eq!(call("text", &first), None);
    let second = talk(&[
        prompt("TARGET=a.txt"),
        Turn::Model { text: String::new(), calls: vec!["Write".to_owned()] },
        result(),
    ]);
    for scenario in ["ok", "sh", "sleep", "multi"] {
        assert_eq!(call(scenario, &second), None, "{scenario}");
    }
    assert!(call("loop", &second).is_some(), "a loop does not end");
    let last = said("ok", &second);
    assert!(last.contains("\"completed\"") && last.contains("a.txt"), "{last}");
}

#[test]
fn follow_ups_are_counted_and_write_only_what_they_name() {
    let answer = Turn::Model { text: "This is answer 1".to_owned(), calls: Vec::new() };
    let thanks = talk(&[prompt("TARGET=a.txt"), answer.clone(), prompt("thanks")]);
    assert_eq!(call("multi", &thanks), None);
    assert!(said("multi", &thanks).starts_with("This is answer 2"), "{}", said("multi", &thanks));
    let more = talk(&[prompt("TARGET=a.txt"), answer, prompt("TARGET=b.txt")]);
    assert_eq!(call("multi", &more).unwrap().arguments()["file_path"], "b.txt");
}

#[test]
fn counted_errors_hit_the_main_loop_only() {
    let main = talk(&[prompt("TARGET=a.txt")]);
    let aside = Talk { tools: Vec::new(), ..main.clone() };
    let scenario = "429x2".parse().unwrap();
    let refused = |answer| matches!(answer, Answer::Refusal(Refusal { code: 429, why: Why::Code, .. }));
    assert!(refused(decide(scenario, &main, 1)) && refused(decide(scenario, &main, 2)));
    assert!(!refused(decide(scenario, &main, 3)));
    assert!(!refused(decide(scenario, &aside, 1)));
    assert!(call("429x0", &main).is_some(), "after the errors it is as if all were well");
    let for_ever = "500".parse().unwrap();
    assert!(matches!(decide(for_ever, &aside, 99), Answer::Refusal(Refusal { code: 500, .. })));
}

#[test]
fn structured_answers_follow_the_schema() {
    let schema = json!({"type": "object", "properties": {"verdict": {"enum": ["pass"]}}});
    let mut asked = talk(&[prompt("judge")]);
    asked.schema = Some(schema.clone());
    assert_eq!(said("schema", &asked), r#"{"verdict":"pass"}"#);
    assert_eq!(said("badschema", &asked), r#"{"unexpected":[12]}"#);
    let mut tooled = talk(&[prompt("judge")]);
    tooled.tools.push(Tool { name: "StructuredOutput".to_owned(), schema, ..Tool::default() });
    assert_eq!(call("schema", &tooled).unwrap().arguments(), json!({"verdict": "pass"}));
    tooled.turns.push(result());
    assert_eq!(call("schema", &tooled), None);
    assert!(call("badschema", &tooled).is_some(), "it does not learn");
}

#[test]
fn other_scenarios_differ_in_manner() {
    let main = talk(&[prompt("go")]);
    for (scenario, manner) in [
        ("hangmid", Manner::Stuck),
        ("trunc", Manner::Cut),
        ("sse-err", Manner::Broken),
        ("overflow-sse", Manner::TooLong),
        ("warn", Manner::Warned),
        ("slowx2", Manner::Slowly),
    ] {
        assert_eq!(reply(scenario, &main, 1).manner, manner, "{scenario}");
    }
    assert!(said("slowx2", &main).starts_with("word1 word2 This is"), "{}", said("slowx2", &main));
    assert_eq!(decide(Scenario::Hang, &main, 1), Answer::Silence);
    assert!(matches!(decide(Scenario::Quota, &main, 1), Answer::Refusal(Refusal { why: Why::Quota, .. })));
    assert!(matches!(decide(Scenario::Overflow, &main, 1), Answer::Refusal(Refusal { code: 400, .. })));
}
