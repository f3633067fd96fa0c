//! What clients give a worker as they wrote it: its name, its tags, its metadata.
//!
//! A task has a title of one line, labels without spaces, and metadata of texts. What does not fit is made to fit, and kept
//! as it was in entries of the metadata that begin with `mcp.`, as JSON, so that every client gets back what it gave.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::views::TaskView;
use fleet_core::task::{MetaKey, is_field_name};
use fleet_core::text::{is_unprintable, shortened};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

const NAME: &str = "mcp.task_name";
const TAGS: &str = "mcp.tags";
const METADATA: &str = "mcp.metadata";
/// Names that begin like this are ours.
const OWN: &str = "mcp.";

/// A title that lists can show, in bytes.
const LONGEST_TITLE: usize = 200;
/// As many labels as a task takes, and as long ones.
const MAX_LABELS: usize = 32;
const LONGEST_LABEL: usize = 64;

/// What a client gave.
#[derive(Debug, Default)]
pub(super) struct ClientLabels {
    pub(super) task_name: String,
    pub(super) tags: Vec<String>,
    pub(super) metadata: BTreeMap<String, Value>,
}

impl ClientLabels {
    /// The title of the task; none if the name has no words.
    pub(super) fn title(&self) -> Option<String> {
        let line = self.task_name.replace(is_unprintable, " ");
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        Some(shortened(&line, LONGEST_TITLE).into_owned()).filter(|title| !title.is_empty())
    }

    pub(super) fn labels(&self) -> Vec<String> {
        labels(&self.tags).into_iter().take(MAX_LABELS).collect()
    }

    /// The metadata of the task, each entry as `KEY=VALUE`.
    pub(super) fn meta(&self) -> Vec<String> {
        let (plain, odd): (Vec<_>, Vec<_>) =
            self.metadata.iter().partition(|(key, value)| is_plain(key, value));
        let plain =
            plain.into_iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
        let odd: BTreeMap<_, _> = odd.into_iter().collect();
        let has_tags = self.labels() != self.tags;
        let kept = [
            (self.title().as_ref() != Some(&self.task_name)).then(|| entry(NAME, &self.task_name)),
            has_tags.then(|| entry(TAGS, &self.tags)),
            (!odd.is_empty()).then(|| entry(METADATA, &odd)),
        ];
        plain.chain(kept.into_iter().flatten()).collect()
    }
}

fn entry(key: &str, value: &impl Serialize) -> String {
    format!("{key}={}", serde_json::to_string(value).unwrap_or_default())
}

/// Whether an entry can be kept as it is. Any other name or value means something else to a task, or nothing.
fn is_plain(key: &str, value: &Value) -> bool {
    let is_free = !is_field_name(key) && !key.starts_with(OWN) && key.parse::<MetaKey>().is_ok();
    is_free && value.as_str().is_some_and(|text| !text.is_empty())
}

/// Tags as labels: `needs review` as `needs-review`.
fn labels(tags: &[String]) -> BTreeSet<String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | ':' | '/' | '@' | '+' | '#');
    let label = |tag: &String| {
        let words = tag.chars().map(|c| if fits(c) { c } else { '-' }).collect::<String>();
        words.trim_matches('-').chars().take(LONGEST_LABEL).collect::<String>()
    };
    tags.iter().map(label).filter(|label| !label.is_empty()).collect()
}

fn kept<T: DeserializeOwned>(task: &TaskView, key: &str) -> Option<T> {
    let (_, value) = task.meta.iter().find(|(known, _)| known.as_str() == key)?;
    serde_json::from_str(value.as_str()).ok()
}

/// The name that the client gave, unless the task was renamed since.
pub(super) fn task_name(task: &TaskView) -> String {
    let name = kept::<String>(task, NAME);
    let is_current = |name: &String| {
        let title = ClientLabels { task_name: name.clone(), ..ClientLabels::default() }.title();
        title.is_none_or(|title| title == task.title)
    };
    match name.filter(is_current) {
        Some(name) => name,
        // The Python codefleet writes the name of a stage in this way.
        None if task.workflow.is_some() => task
            .title
            .rsplit_once(": ")
            .map_or_else(|| task.title.clone(), |(workflow, stage)| format!("{workflow}/{stage}")),
        None => task.title.clone(),
    }
}

/// The tags that the client gave, unless the labels were changed since.
pub(super) fn tags(task: &TaskView) -> Vec<String> {
    let now: Vec<String> = task.labels.iter().map(ToString::to_string).collect();
    let is_current = |tags: &Vec<String>| labels(tags).into_iter().take(MAX_LABELS).eq(now.iter().cloned());
    kept(task, TAGS).filter(is_current).unwrap_or(now)
}

pub(super) fn metadata(task: &TaskView) -> Map<String, Value> {
    let free = task.meta.iter().filter(|(key, _)| !key.as_str().starts_with(OWN));
    let mut all: Map<String, Value> =
        free.map(|(key, value)| (key.to_string(), Value::from(value.as_str()))).collect();
    all.extend(kept::<Map<String, Value>>(task, METADATA).unwrap_or_default());
    all
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn given(name: &str, tags: &[&str], metadata: Value) -> ClientLabels {
        let tags = tags.iter().map(ToString::to_string).collect();
        ClientLabels { task_name: name.to_owned(), tags, metadata: serde_json::from_value(metadata).unwrap() }
    }

    #[test]
    fn what_fits_is_kept_as_it_is() {
        let given = given("Fix it", &["fast", "ui"], json!({"ticket": "a=b"}));
        assert_eq!(given.title().as_deref(), Some("Fix it"));
        assert_eq!(
            (given.labels(), given.meta()),
            (vec!["fast".to_owned(), "ui".to_owned()], vec!["ticket=a=b".to_owned()])
        );
    }

    #[test]
    fn what_does_not_fit_is_made_to_and_kept_beside() {
        let long = "two\nlines ".repeat(100);
        let given = given(
            &long,
            &["ui", "needs review"],
            json!({"n": 1, "fleet.args": "x", "": "", "mcp.tags": "y", "plain": "z"}),
        );
        let title = given.title().unwrap();
        assert!(title.len() <= LONGEST_TITLE && title.starts_with("two lines two lines"), "{title}");
        assert_eq!(given.labels(), ["needs-review", "ui"]);
        let meta = given.meta();
        assert_eq!(meta[0], "plain=z");
        assert!(meta[1].starts_with("mcp.task_name=\"two\\nlines "), "{}", meta[1]);
        assert_eq!(meta[2], r#"mcp.tags=["ui","needs review"]"#);
        assert_eq!(meta[3], r#"mcp.metadata={"":"","fleet.args":"x","mcp.tags":"y","n":1}"#);
    }

    #[test]
    fn a_name_without_words_leaves_the_title_to_the_prompt() {
        let given = given(" \n", &[], json!({}));
        assert_eq!(given.title(), None);
        assert_eq!(given.meta(), [r#"mcp.task_name=" \n""#]);
    }
}
