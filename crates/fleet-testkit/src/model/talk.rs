//! What a request says, whichever protocol it is written in.

use serde_json::Value;

/// A conversation up to the answer that is asked for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Talk {
    pub model: String,
    /// What the model is told before the conversation; all of it, however it was split.
    pub system: String,
    /// Who said what, in order.
    pub turns: Vec<Turn>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// The schema that the answer must follow, where the protocol has a place for it.
    pub schema: Option<Value>,
    pub stream: bool,
}

/// One contribution to a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// The user, or the agent in the user's name.
    User(String),
    /// The model: its words, and the tools that it called with them.
    Model {
        /// What it said.
        text: String,
        /// The names of the tools that it called.
        calls: Vec<String>,
    },
    Tool(String),
}

impl Turn {
    /// Words of the model without a call: what it ends with.
    fn is_answer(&self) -> bool {
        matches!(self, Self::Model { calls, .. } if calls.is_empty())
    }

    pub(super) fn calls(&self) -> &[String] {
        match self {
            Self::Model { calls, .. } => calls,
            Self::User(_) | Self::Tool(_) => &[],
        }
    }

    /// What it says in the user's name.
    fn prompt(&self) -> Option<&str> {
        match self {
            Self::User(text) => Some(text),
            Self::Model { .. } | Self::Tool(_) => None,
        }
    }
}

/// A tool that is offered to the model.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tool {
    pub name: String,
    /// The group that it belongs to; empty for most.
    pub namespace: String,
    pub schema: Value,
    /// It takes free text instead of arguments.
    pub free_text: bool,
}

/// Marks the path of the file that is to be written.
const TARGET: &str = "TARGET=";
const NOT_IN_PATHS: [char; 14] = ['"', '\'', '\\', '<', '>', '`', '(', ')', '[', ']', '{', '}', ',', ';'];

impl Talk {
    /// A request of the agent's main loop. Agents also ask for titles and the like, and offer no tools then.
    pub fn is_main(&self) -> bool {
        !self.tools.is_empty()
    }

    /// The last thing said is the answer of a tool.
    pub fn after_tool(&self) -> bool {
        matches!(self.turns.last(), Some(Turn::Tool(_)))
    }

    /// All that was said in the user's name, in order.
    pub fn prompts(&self) -> Vec<&str> {
        self.turns.iter().filter_map(Turn::prompt).collect()
    }

    /// Which answer to the user this is, counted from one. Answers are counted and not prompts, because agents say
    /// much in the user's name.
    pub fn answer_number(&self) -> usize {
        self.turns.iter().filter(|turn| turn.is_answer()).count() + 1
    }

    /// The file that the latest prompt which names one wants written.
    pub fn target(&self) -> Option<&str> {
        self.prompts().into_iter().rev().find_map(target)
    }

    /// Whether the model has called anything since a prompt named a file.
    pub fn has_called_since_target(&self) -> bool {
        let named = self.turns.iter().rposition(|turn| turn.prompt().and_then(target).is_some());
        let since = self.turns.get(named.unwrap_or(0)..).unwrap_or_default();
        since.iter().any(|turn| !turn.calls().is_empty())
    }

    /// The file that is wanted since the model's last answer: an earlier prompt has been served.
    pub fn new_target(&self) -> Option<&str> {
        self.since_answer().iter().rev().filter_map(Turn::prompt).find_map(target)
    }

    /// The names of the tools that were called since the model's last answer.
    pub fn called(&self) -> Vec<&str> {
        self.since_answer().iter().flat_map(Turn::calls).map(String::as_str).collect()
    }

    fn since_answer(&self) -> &[Turn] {
        let since = self.turns.iter().rposition(Turn::is_answer).map_or(0, |at| at + 1);
        self.turns.get(since..).unwrap_or_default()
    }

    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Adds a turn of the model, or more to the one that is last: some protocols have an item for each piece.
    pub(super) fn push_model(&mut self, said: &str, called: Vec<String>) {
        match self.turns.last_mut() {
            Some(Turn::Model { text, calls }) => {
                text.push_str(said);
                calls.extend(called);
            }
            _ => self.turns.push(Turn::Model { text: said.to_owned(), calls: called }),
        }
    }

    /// Adds to what the model is told beforehand.
    pub(super) fn push_system(&mut self, text: &str) {
        if !self.system.is_empty() && !text.is_empty() {
            self.system.push('\n');
        }
        self.system.push_str(text);
    }
}

fn target(text: &str) -> Option<&str> {
    let (_, path) = text.rsplit_once(TARGET)?;
    let end = path.find(|c: char| c.is_whitespace() || NOT_IN_PATHS.contains(&c)).unwrap_or(path.len());
    Some(path[..end].trim_end_matches(['.', ':', '!', '?'])).filter(|path| !path.is_empty())
}

/// All the text in a value that is a string, or a list of parts with a `text` each.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts = parts.iter().map(text_of).filter(|text| !text.is_empty());
            texts.collect::<Vec<_>>().join("\n")
        }
        Value::Object(part) => part.get("text").map(text_of).unwrap_or_default(),
        _ => String::new(),
    }
}

/// A text field, empty where there is none.
pub(super) fn string(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

/// A list, empty where there is none.
pub(super) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(text: &str) -> Turn {
        Turn::User(text.to_owned())
    }

    fn answer() -> Turn {
        Turn::Model { text: String::new(), calls: Vec::new() }
    }

    #[test]
    fn targets_end_where_paths_do() {
        for (text, path) in [
            ("write TARGET=/a/b.txt now", Some("/a/b.txt")),
            ("`TARGET=a.txt`", Some("a.txt")),
            ("TARGET=a.txt.", Some("a.txt")),
            ("TARGET=one TARGET=two", Some("two")),
            ("no target", None),
            ("TARGET= x", None),
        ] {
            assert_eq!(target(text), path, "{text}");
        }
    }

    #[test]
    fn the_latest_prompt_that_names_a_target_counts() {
        let turns = vec![user("TARGET=one"), answer(), user("TARGET=two"), user("a reminder")];
        let talk = Talk { turns, ..Talk::default() };
        assert_eq!(talk.target(), Some("two"));
        assert_eq!(talk.new_target(), Some("two"));
        let served = Talk { turns: vec![user("TARGET=one"), answer(), user("thanks")], ..Talk::default() };
        assert_eq!((served.target(), served.new_target()), (Some("one"), None));
    }

    #[test]
    fn a_refused_call_does_not_serve_the_next_prompt() {
        let mut talk = Talk { turns: vec![user("TARGET=one")], ..Talk::default() };
        assert!(!talk.has_called_since_target());
        talk.push_model("", vec!["Write".to_owned()]);
        talk.turns.push(Turn::Tool("refused".to_owned()));
        talk.turns.push(user("a reminder"));
        assert!(talk.has_called_since_target());
        talk.turns.push(user("TARGET=two"));
        assert!(!talk.has_called_since_target());
    }

    #[test]
    fn answers_are_counted_without_calls() {
        let mut talk = Talk { turns: vec![user("a")], ..Talk::default() };
        assert_eq!(talk.answer_number(), 1);
        talk.push_model("I will.", Vec::new());
        talk.push_model("", vec!["Write".to_owned()]);
        talk.turns.push(Turn::Tool("done".to_owned()));
        assert_eq!((talk.answer_number(), talk.after_tool()), (1, true));
        assert_eq!(talk.called(), ["Write"]);
        talk.push_model("Done.", Vec::new());
        talk.turns.push(user("b"));
        assert_eq!((talk.answer_number(), talk.after_tool()), (2, false));
        assert_eq!(talk.called(), [""; 0]);
    }
}
