use std::collections::BTreeMap;

use toml_edit::{Document, TableLike};

use crate::config::edit;

fn put(text: &str, name: &str, value: impl Into<toml_edit::Value>) -> String {
    let path: Vec<&str> = name.split('.').collect();
    let new = edit::put(&Document::parse(text).unwrap(), &path, &value.into()).unwrap();
    let again = edit::put(&Document::parse(new.as_str()).unwrap(), &path, &1.into()).unwrap();
    Document::parse(again).unwrap();
    new
}

fn take(text: &str, name: &str) -> Option<String> {
    let path: Vec<&str> = name.split('.').collect();
    let new = edit::take(&Document::parse(text).unwrap(), &path).unwrap();
    if let Some(new) = &new {
        assert!(edit::take(&Document::parse(new.as_str()).unwrap(), &path).unwrap().is_none());
    }
    new
}

#[test]
fn a_value_is_exchanged_in_place() {
    for (text, name, new) in [
        ("agent = 'a'   # why\n", "agent", "agent = 9   # why\n"),
        ("x = 1\n  agent   =\t\"a\"", "agent", "x = 1\n  agent   =\t9"),
        (
            "[tasks]\r\npriority = 1 # one\r\nretries = 2\r\n",
            "tasks.priority",
            "[tasks]\r\npriority = 9 # one\r\nretries = 2\r\n",
        ),
        (
            "tasks.retries = 1\nagent = 'a'\ntasks.priority = 2\n",
            "tasks.priority",
            "tasks.retries = 1\nagent = 'a'\ntasks.priority = 9\n",
        ),
        ("a = [\n  1, # x\n  2,\n] # y\n", "a", "a = 9 # y\n"),
        (
            "tasks = { priority = 1, retries = 2 } # x\n",
            "tasks.priority",
            "tasks = { priority = 9, retries = 2 } # x\n",
        ),
        ("agents = { claude = { cap = 1 } }\n", "agents.claude.cap", "agents = { claude = { cap = 9 } }\n"),
        ("agents = { claude.cap = 1 }\n", "agents.claude.cap", "agents = { claude.cap = 9 }\n"),
        (
            "tasks = {\r\n priority = 1 # x\r\n}\r\n",
            "tasks.priority",
            "tasks = {\r\n priority = 9 # x\r\n}\r\n",
        ),
    ] {
        assert_eq!(put(text, name, 9), new, "{text}");
    }
}

#[test]
fn a_new_value_goes_among_its_own() {
    for (text, name, new) in [
        ("", "agent", "agent = 9\n"),
        ("", "agents.claude.cap", "[agents.claude]\ncap = 9\n"),
        ("x = 1", "agent", "x = 1\nagent = 9\n"),
        (
            "x = 1 # one\n\n# about y\n[y]\nz = 2\n",
            "agent",
            "x = 1 # one\nagent = 9\n\n# about y\n[y]\nz = 2\n",
        ),
        ("# about all\n\n# about y\n[y]\n", "agent", "# about all\n\nagent = 9\n\n# about y\n[y]\n"),
        ("# about y\n[y]\n", "agent", "agent = 9\n\n# about y\n[y]\n"),
        ("[y]\n", "agent", "agent = 9\n\n[y]\n"),
        ("# only words", "agent", "# only words\n\nagent = 9\n"),
        ("# only words\n\n", "agent", "# only words\n\nagent = 9\n"),
        ("# only words\n", "tasks.priority", "# only words\n\n[tasks]\npriority = 9\n"),
        ("[tasks]\n", "tasks.priority", "[tasks]\npriority = 9\n"),
        ("[tasks]", "tasks.priority", "[tasks]\npriority = 9\n"),
        ("[tasks] # why\n# how\n\n[x]\n", "tasks.priority", "[tasks] # why\npriority = 9\n# how\n\n[x]\n"),
        (
            "[tasks]\r\na = 1\r\n\r\n[x]\r\n",
            "tasks.priority",
            "[tasks]\r\na = 1\r\npriority = 9\r\n\r\n[x]\r\n",
        ),
        (
            "[tasks]\na = '''\n[x]\n'''\n[y]\n",
            "tasks.priority",
            "[tasks]\na = '''\n[x]\n'''\npriority = 9\n[y]\n",
        ),
        ("x = 1\r\n", "tasks.priority", "x = 1\r\n\r\n[tasks]\r\npriority = 9\r\n"),
        ("tasks.a = 1\nx = 2\n", "tasks.priority", "tasks.a = 1\ntasks.priority = 9\nx = 2\n"),
        (
            "[agents]\ncodex.cap = 1\n[x]\n",
            "agents.claude.cap",
            "[agents]\ncodex.cap = 1\n[x]\n\n[agents.claude]\ncap = 9\n",
        ),
        (
            "[agents]\nclaude.model = 'm'\n[x]\n",
            "agents.claude.cap",
            "[agents]\nclaude.model = 'm'\nclaude.cap = 9\n[x]\n",
        ),
        (
            "agents.codex.cap = 1\n[x]\n",
            "agents.claude.cap",
            "agents.codex.cap = 1\nagents.claude.cap = 9\n[x]\n",
        ),
        (
            "[agents.claude.x]\ny = 1\n",
            "agents.claude.cap",
            "[agents.claude.x]\ny = 1\n\n[agents.claude]\ncap = 9\n",
        ),
        ("tasks = { retries = 2 }\n", "tasks.priority", "tasks = { retries = 2, priority = 9 }\n"),
        ("tasks = {}\n", "tasks.priority", "tasks = { priority = 9 }\n"),
        (
            "agents = { codex = { cap = 1 } }\n",
            "agents.claude.cap",
            "agents = { codex = { cap = 1 } , claude = { cap = 9 } }\n",
        ),
    ] {
        assert_eq!(put(text, name, 9), new, "{text}");
    }
}

#[test]
fn a_value_goes_with_its_line_and_nothing_else() {
    for (text, name, new) in [
        ("# head\nagent = 'a' # why\nx = 1\n", "agent", "# head\nx = 1\n"),
        ("agent = 'a'", "agent", ""),
        ("x = 1\r\n  agent = 'a'\r\ny = 2\r\n", "agent", "x = 1\r\ny = 2\r\n"),
        ("[tasks]\npriority = 1\n", "tasks.priority", "[tasks]\n"),
        ("tasks.a = 1\ntasks.priority = 1\nx = 2\n", "tasks.priority", "tasks.a = 1\nx = 2\n"),
        ("a = [\n  1,\n  2,\n] # y\nb = 1\n", "a", "b = 1\n"),
        ("tasks = { priority = 1, retries = 2 } # x\n", "tasks.priority", "tasks = { retries = 2 } # x\n"),
        ("agents = { claude.cap = 1 }\n", "agents.claude.cap", "agents = {}\n"),
    ] {
        assert_eq!(take(text, name).as_deref(), Some(new), "{text}");
    }
    assert_eq!(take("x = 1", "agent"), None);
    assert_eq!(take("[tasks]\n", "tasks.priority"), None);
    assert_eq!(take("tasks = {}\n", "tasks.priority"), None);
}

#[test]
fn what_is_in_the_way_is_named() {
    for (text, name, message) in [
        ("tasks = 1", "tasks.priority", "f: `tasks` is a value in this file, not a section"),
        ("[[agents]]", "agents.claude.cap", "f: `agents` is a value in this file, not a section"),
        ("[agent]\nx = 1", "agent", "f: `agent` is a section in this file, not a value"),
        (
            "agents = { claude = 1 }",
            "agents.claude.cap",
            "f: `agents.claude` is a value in this file, not a section",
        ),
    ] {
        let document = Document::parse(text).unwrap();
        let path: Vec<&str> = name.split('.').collect();
        assert_eq!(edit::put(&document, &path, &1.into()).unwrap_err().at(&"f").message, message);
        assert_eq!(edit::take(&document, &path).unwrap_err().at(&"f").message, message);
    }
}

/// Ways to say something in a file; two of them together are a file, unless they contradict each other.
const PIECES: &[&str] = &[
    "",
    "# a comment\n",
    "agent = 'a'\n",
    "  agent = \"\"\"x\n[y]\n\"\"\" # why\n",
    "tasks.priority = 1\n",
    "tasks.retries = 2 # why\nx = 1\ntasks.list_limit = 3\n",
    "tasks = { retries = 1 }\n",
    "tasks = { # why\n  priority = 1, # one\n  retries = 2 # two\n}\n",
    "[tasks] # why\n",
    "[tasks]\npriority = [\n  1, # one\n]\n",
    "[agents]\nclaude.cap = 4\n",
    "[agents]\nclaude = { model = 'x' }\n",
    "[agents.claude]\nmodel = 'm'\n",
    "[agents.claude.deep]\nx = 1\n",
    "[agents.codex]\n",
    "agents.claude.model = 'q'\n",
    "agents = { claude.model = 'x' }\n",
    "agents.claude = { cap = 1 }\n",
    "[[extra]]\nx = 1\n",
];

#[test]
fn whatever_stands_around_stays() {
    for first in PIECES {
        for second in PIECES {
            for text in
                [format!("{first}{second}"), format!("{first}\n# more\n\n{second}").replace('\n', "\r\n")]
            {
                if let Ok(document) = Document::parse(text.as_str()) {
                    check(&document);
                }
            }
        }
    }
}

fn check(document: &Document<&str>) {
    let text = document.raw();
    for name in ["agent", "tasks.priority", "agents.claude.cap", "agents.claude.model", "agents.new.cap"] {
        let path: Vec<&str> = name.split('.').collect();
        let mut rest = leaves(document);
        rest.remove(name);

        let new = edit::put(document, &path, &77.into()).unwrap();
        let mut found = leaves(&Document::parse(new.as_str()).unwrap());
        assert_eq!(found.remove(name).as_deref(), Some("77"), "{name} in {text:?} became {new:?}");
        assert_eq!(found, rest, "{name} in {text:?} became {new:?}");
        let is_mixed = text.contains("\r\n") && new.replace("\r\n", "").contains('\n');
        assert!(!is_mixed, "{name} in {text:?} became {new:?}");

        if let Some(new) = edit::take(document, &path).unwrap() {
            assert_eq!(
                leaves(&Document::parse(new.as_str()).unwrap()),
                rest,
                "{name} in {text:?} became {new:?}"
            );
        }
    }
}

fn leaves(document: &Document<&str>) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(document.as_table(), document.raw(), "", &mut found);
    found
}

fn collect(table: &dyn TableLike, text: &str, path: &str, found: &mut BTreeMap<String, String>) {
    for (name, item) in table.iter() {
        let path = if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match (item.as_table_like(), item.span()) {
            (Some(inner), _) => collect(inner, text, &path, found),
            (None, span) => drop(found.insert(path, text[span.unwrap()].to_owned())),
        }
    }
}
