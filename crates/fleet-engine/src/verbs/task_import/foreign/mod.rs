//! Issues of other trackers, as their tools export them, read as lines of our own format.
//!
//! Owns what each format looks like and how it is recognised. Must never decide about tasks: a line that comes from
//! here is checked like any other. The id in the other tracker is kept as metadata, by which an issue is imported once.

mod beads;
mod checklist;
mod csv;
mod github;
mod gitlab;
mod linear;
#[cfg(test)]
mod tests;

use fleet_api::verbs::task_import::ImportFormat;
use fleet_core::task::TaskState;
use fleet_core::text::escaped;
use serde_json::{Map, Value, json};

/// The name of the metadata that has the id in the other tracker.
pub(super) const EXTERNAL: &str = "external";

/// An issue of another tracker.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Issue {
    /// Its id there, with the name of the tracker.
    id: String,
    title: String,
    description: String,
    state: IssueState,
    /// From 1 to 5; 5 first.
    priority: Option<u8>,
    labels: Vec<String>,
    /// Ids of issues that come first.
    after: Vec<String>,
    url: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum IssueState {
    #[default]
    Open,
    /// Nobody should work on it yet.
    Waiting,
    Done,
    Cancelled,
}

/// A title longer than this is cut; the description begins with all of it.
const LONGEST_TITLE: usize = 200;
const MOST_LABELS: usize = 32;
const LONGEST_LABEL: usize = 64;

impl Issue {
    /// As a line of an import file. What it waits for counts only if it is imported, too, or was before.
    fn line(&self, is_known: &dyn Fn(&str) -> bool) -> String {
        let (title, description) = (self.short_title(), self.whole_description());
        let after: Vec<&String> = self.after.iter().filter(|id| is_known(id) && **id != self.id).collect();
        let labels: Vec<String> =
            self.labels.iter().filter_map(|label| plain_label(label)).take(MOST_LABELS).collect();
        let mut meta = Map::from_iter([(EXTERNAL.to_owned(), json!(self.id))]);
        meta.extend(self.url.iter().map(|url| ("url".to_owned(), json!(url))));
        let state = match self.state {
            IssueState::Open => TaskState::Queued,
            IssueState::Waiting => TaskState::Held,
            IssueState::Done => TaskState::Done,
            IssueState::Cancelled => TaskState::Cancelled,
        };
        let line = json!({
            "key": self.id, "title": title, "description": description, "state": state, "labels": labels,
            "after": after, "priority": self.priority, "meta": meta,
        });
        line.to_string()
    }

    fn short_title(&self) -> String {
        let line = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().filter(|c| !c.is_control()).take(LONGEST_TITLE).collect()
    }

    fn whole_description(&self) -> String {
        let is_cut = self.title.chars().count() > LONGEST_TITLE;
        let title = if is_cut { format!("{}\n\n", self.title.trim()) } else { String::new() };
        format!("{title}{}", self.description.trim())
    }
}

/// A label as ours may look; nothing if none of it is left.
fn plain_label(label: &str) -> Option<String> {
    let plain = |c: char| if c.is_alphanumeric() || "-_.:/@+#".contains(c) { c } else { '-' };
    let label: String = label.trim().chars().map(plain).take(LONGEST_LABEL).collect();
    Some(label).filter(|label| !label.is_empty())
}

/// What is to be imported of a file.
#[derive(Debug)]
pub(super) struct ForeignLines {
    /// Lines of our own format, with the numbers of the issues.
    pub(super) lines: Vec<(usize, String)>,
    /// The ids of issues that are left out.
    pub(super) known: Vec<String>,
}

/// The issues of a file, as numbered lines of our own format, and the ids of those that are left out, because
/// they were imported before. Others may wait for them.
pub(super) fn lines(
    text: &str,
    format: ImportFormat,
    known: &dyn Fn(&str) -> bool,
) -> Result<ForeignLines, String> {
    let issues = read(text, format)?;
    let ids: std::collections::BTreeSet<String> = issues.iter().map(|issue| issue.id.clone()).collect();
    let is_known = |id: &str| known(id) || ids.contains(id);
    let (old, new): (Vec<_>, Vec<_>) = issues.iter().enumerate().partition(|(_, issue)| known(&issue.id));
    let lines = new.into_iter().map(|(at, issue)| (at + 1, issue.line(&is_known))).collect();
    Ok(ForeignLines { lines, known: old.into_iter().map(|(_, issue)| issue.id.clone()).collect() })
}

fn read(text: &str, format: ImportFormat) -> Result<Vec<Issue>, String> {
    match format {
        ImportFormat::Fleet => Ok(Vec::new()),
        ImportFormat::Beads => beads::read(text),
        ImportFormat::Github => github::read(text),
        ImportFormat::Gitlab => gitlab::read(text),
        ImportFormat::Linear => linear::read(text),
        ImportFormat::Markdown => checklist::read(text),
    }
}

/// What a file looks like.
pub(super) fn detect(text: &str) -> ImportFormat {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with(['{', '[']) && !checklist::is_item(start.lines().next().unwrap_or_default()) {
        let first = objects(text).ok().and_then(|objects| objects.into_iter().next()).unwrap_or_default();
        let has = |name: &str| first.contains_key(name);
        return match () {
            () if has("iid") => ImportFormat::Gitlab,
            () if has("identifier") => ImportFormat::Linear,
            () if has("number") => ImportFormat::Github,
            () if has("issue_type") || (has("status") && has("created_at")) => ImportFormat::Beads,
            () => ImportFormat::Fleet,
        };
    }
    let header = csv::records(start).into_iter().next().unwrap_or_default();
    let has = |name: &str| header.iter().any(|field| field == name);
    match () {
        () if has("Issue ID") && has("Title") => ImportFormat::Gitlab,
        () if has("ID") && has("Title") && has("Team") => ImportFormat::Linear,
        () if text.lines().any(checklist::is_item) => ImportFormat::Markdown,
        () => ImportFormat::Fleet,
    }
}

type Object = Map<String, Value>;

/// The objects of a JSON document, wherever its tool puts the list, or of JSON lines.
fn objects(text: &str) -> Result<Vec<Object>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let whole: Result<Value, _> = serde_json::from_str(text);
    let values = match whole {
        Ok(value) => listed(value),
        Err(error) if text.trim_start().starts_with('[') => return Err(format!("it is not JSON: {error}")),
        Err(_) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            let value = |(at, line): (usize, &str)| {
                serde_json::from_str(line).map_err(|error| format!("line {}: not JSON: {error}", at + 1))
            };
            lines.map(value).collect::<Result<Vec<Value>, String>>()?
        }
    };
    let object = |(at, value): (usize, Value)| match value {
        Value::Object(object) => Ok(object),
        other => Err(format!("issue {}: not an object but {}", at + 1, escaped(&other.to_string()))),
    };
    values.into_iter().enumerate().map(object).collect()
}

/// The list in a document: itself, or what is below the names that trackers give it.
fn listed(value: Value) -> Vec<Value> {
    match value {
        Value::Array(values) => values,
        Value::Object(mut object) => {
            let inner = ["data", "issues", "nodes", "items"].iter().find_map(|name| object.remove(*name));
            inner.map_or_else(|| vec![Value::Object(object)], listed)
        }
        other => vec![other],
    }
}

fn text_of(object: &Object, name: &str) -> String {
    object.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn some_text(object: &Object, name: &str) -> Option<String> {
    Some(text_of(object, name)).filter(|text| !text.is_empty())
}

/// Labels: texts, or objects with a name, perhaps below `nodes`.
fn labels(object: &Object, name: &str) -> Vec<String> {
    let list = match object.get(name) {
        Some(Value::Object(inner)) => inner.get("nodes").and_then(Value::as_array),
        Some(value) => value.as_array(),
        None => None,
    };
    let label = |value: &Value| {
        let name = value.get("name").or(Some(value)).and_then(Value::as_str);
        name.or_else(|| value.get("title").and_then(Value::as_str)).map(ToOwned::to_owned)
    };
    list.into_iter().flatten().filter_map(label).collect()
}

fn titled(at: usize, title: String) -> Result<String, String> {
    if title.trim().is_empty() { Err(format!("issue {}: it has no title", at + 1)) } else { Ok(title) }
}

/// What labels say about the priority, in the words that people use for it.
fn priority_of(labels: &[String]) -> Option<u8> {
    let rank = |label: &String| {
        let word = label.to_lowercase();
        let word = word.rsplit([':', '/', ' ', '-']).find(|part| !part.is_empty()).unwrap_or_default();
        Some(match word {
            "p0" | "critical" | "urgent" | "blocker" => 5,
            "p1" | "high" => 4,
            "p2" | "medium" => 3,
            "p3" | "low" => 2,
            "p4" | "trivial" => 1,
            _ => return None,
        })
    };
    labels.iter().filter_map(rank).max()
}

/// The numbers of issues that a text says it waits for: `blocked by #12`, `depends on #3 and #4`.
fn blockers(text: &str) -> Vec<u64> {
    let lower = text.to_lowercase();
    let phrases = ["blocked by", "depends on", "after"];
    let mut numbers = Vec::new();
    for line in lower.lines() {
        let Some(rest) = phrases.iter().find_map(|phrase| {
            let rest = line.split_once(phrase)?.1.trim_start_matches([':', ' ', '*', '_']);
            rest.starts_with('#').then_some(rest)
        }) else {
            continue;
        };
        for word in rest.split([' ', ',', ';', '.', ')']) {
            match word.strip_prefix('#').map(str::parse) {
                Some(Ok(number)) => numbers.push(number),
                _ if word.is_empty() || word == "and" => {}
                _ => break,
            }
        }
    }
    numbers
}
