//! Calls that the prompt itself lists: a model that does what a test says, call by call.
//!
//! Each line `CALL tool {"name": "value"}` of the prompts is one call, in their order. A value `$2.id` stands for the
//! field `id` of what the second call answered, so that one call can go on with what another one made.

use serde_json::Value;

use super::call::{Call, Input};
use super::talk::{Talk, Tool, Turn};

const MARK: &str = "CALL ";
/// Claude hides tools behind this one.
const SEARCH: &str = "ToolSearch";

/// The next call, if there is one left.
pub(super) fn next(talk: &Talk) -> Option<Call> {
    let (errands, answers) = (errands(talk), answers(talk));
    let (name, arguments) = errands.get(answers.len())?;
    let Some(tool) = talk.tools.iter().find(|tool| is_called(&tool.name, name)) else {
        return search(talk, &errands);
    };
    Some(call(tool, filled(arguments.clone(), &answers)))
}

fn call(tool: &Tool, arguments: Value) -> Call {
    Call { name: tool.name.clone(), namespace: tool.namespace.clone(), input: Input::Arguments(arguments) }
}

fn errands(talk: &Talk) -> Vec<(String, Value)> {
    let lines = talk.prompts().into_iter().flat_map(str::lines).map(str::trim);
    let errand = |line: &str| {
        let (name, arguments) = line.strip_prefix(MARK)?.split_once(' ')?;
        Some((name.to_owned(), serde_json::from_str(arguments).ok()?))
    };
    lines.filter_map(errand).collect()
}

/// What the errands so far brought, in order; a search is none.
fn answers(talk: &Talk) -> Vec<&str> {
    let calls = talk.turns.iter().flat_map(Turn::calls);
    let answers = talk.turns.iter().filter_map(|turn| match turn {
        Turn::Tool(text) => Some(text.as_str()),
        _ => None,
    });
    calls.zip(answers).filter(|(name, _)| *name != SEARCH).map(|(_, answer)| answer).collect()
}

/// Agents put the name of the server in front of a tool's own.
fn is_called(offered: &str, name: &str) -> bool {
    offered.strip_suffix(name).is_some_and(|before| before.is_empty() || before.ends_with('_'))
}

/// Looks for all tools at once, and not a second time.
fn search(talk: &Talk, errands: &[(String, Value)]) -> Option<Call> {
    let tool = talk.tool(SEARCH)?;
    if talk.turns.iter().flat_map(Turn::calls).any(|name| name == SEARCH) {
        return None;
    }
    let said = talk.prompts().into_iter().chain([talk.system.as_str()]);
    let words = said.flat_map(|text| text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-')));
    let is_wanted =
        |word: &&str| word.starts_with("mcp__") && errands.iter().any(|(name, _)| is_called(word, name));
    let mut names: Vec<&str> = words.filter(is_wanted).collect();
    names.sort_unstable();
    names.dedup();
    let query = format!("select:{}", names.join(","));
    Some(call(tool, serde_json::json!({"query": query, "max_results": names.len()})))
}

/// With what earlier calls answered in the place of `$NUMBER.FIELD`.
fn filled(value: Value, answers: &[&str]) -> Value {
    match value {
        Value::String(text) => recalled(&text, answers).unwrap_or(Value::String(text)),
        Value::Array(all) => all.into_iter().map(|value| filled(value, answers)).collect(),
        Value::Object(all) => all.into_iter().map(|(name, value)| (name, filled(value, answers))).collect(),
        other => other,
    }
}

fn recalled(text: &str, answers: &[&str]) -> Option<Value> {
    let (number, field) = text.strip_prefix('$')?.split_once('.')?;
    let answer = answers.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    // Agents may say something before it.
    let object = answer.get(answer.find('{')?..)?;
    let answer = serde_json::Deserializer::from_str(object).into_iter::<Value>().next()?.ok()?;
    answer.pointer(&format!("/{}", field.replace('.', "/"))).cloned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn talk(prompt: &str, tools: &[&str]) -> Talk {
        let tool = |name: &&str| Tool { name: (*name).to_owned(), ..Tool::default() };
        let turns = vec![Turn::User(prompt.to_owned())];
        Talk { tools: tools.iter().map(tool).collect(), turns, ..Talk::default() }
    }

    fn answered(talk: &mut Talk, answer: &str) {
        let call = next(talk).unwrap();
        talk.push_model("", vec![call.name]);
        talk.turns.push(Turn::Tool(answer.to_owned()));
    }

    #[test]
    fn each_call_can_go_on_with_what_another_made() {
        let prompt = "Please:\n  CALL make {\"name\": \"x\"}\nCALL wait {\"ids\": [\"$1.made.id\"], \"n\": 1}\nThank you.";
        let mut talk = talk(prompt, &["mcp__fleet__wait", "mcp__fleet__make", "remake"]);
        assert_eq!(next(&talk).unwrap().name, "mcp__fleet__make");
        answered(&mut talk, "Here: {\"made\": {\"id\": \"w1\"}} and more");
        let call = next(&talk).unwrap();
        assert_eq!(
            (call.name.as_str(), call.arguments()),
            ("mcp__fleet__wait", json!({"ids": ["w1"], "n": 1}))
        );
        answered(&mut talk, "{}");
        assert_eq!(next(&talk), None, "nothing is left");
    }

    #[test]
    fn hidden_tools_are_looked_up_together_and_once() {
        let prompt = "mcp__fleet__make, mcp__fleet__wait, mcp__fleet__other\nCALL make {}\nCALL wait {}";
        let mut talk = talk(prompt, &[SEARCH]);
        let call = next(&talk).unwrap();
        assert_eq!(call.arguments()["query"], "select:mcp__fleet__make,mcp__fleet__wait");
        answered(&mut talk, "found");
        assert_eq!(next(&talk), None, "they were looked for in vain");
        talk.tools.push(Tool { name: "mcp__fleet__make".to_owned(), ..Tool::default() });
        assert_eq!(next(&talk).unwrap().name, "mcp__fleet__make", "a search is no errand");
    }
}
