//! Stages of a workflow as clients send them, written as a file of workflows.
//!
//! Owns the names of their fields, and which stage a remark about the file means: each has its own line.
//! What a workflow may be is decided where files are read. Commands and files cannot be named here: the sender of a
//! workflow need not be the user.

use std::collections::BTreeMap;

use fleet_api::views::{Diagnostic, FileFormat, Severity, WorkflowSource};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, shortened};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::answer::lost;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StageArgs {
    /// What it is called; letters, digits, - and _
    name: String,
    /// The agent, see list_agents; the user's default if left out
    executor: Option<String>,
    /// Its prompt. Placeholders are filled in: {task_prompt}, and of stages that have finished by then {NAME.summary},
    /// {NAME.diff}, {NAME.branch}, {NAME.files}, {NAME.commits}, {NAME.tests}, {NAME.next_steps}, {NAME.verdict},
    /// {NAME.items}, {NAME.status}, {NAME.result}, {NAME.worktree}; {stage_0_summary} and so on is the same by number
    prompt_template: String,
    /// A model of that executor
    model: Option<String>,
    /// new: its branch starts where the workflow starts; inherit: from the branches of the stages that it needs, merged. new
    /// if left out
    worktree_strategy: Option<WorktreeStrategy>,
    /// The stages that must finish first, by number from 0
    depends_on: Option<Vec<usize>>,
    /// The same by name
    needs: Option<Vec<String>>,
    /// Its agent is stopped after this time; the workflow's if left out or 0
    timeout_seconds: Option<u64>,
    /// How hard the model thinks, in the executor's words
    reasoning_effort: Option<String>,
    /// Further arguments for the agent's program; only options that the user allowed
    extra_args: Option<Vec<String>>,
    /// True for one that only looks, such as a reviewer or a judge
    read_only: Option<bool>,
    /// report; verdict: approve, winner and scores as well, for reviewers and judges; list: a list that a later stage is
    /// spread over. report if left out
    returns: Option<ReturnsArg>,
    /// It is skipped if this does not hold, such as review.approve == false
    when: Option<String>,
    /// One copy for each of these texts, all at once; {item} is the text
    foreach: Option<Vec<String>>,
    /// One copy for each entry of the list that this stage returned
    foreach_of: Option<String>,
    /// How many copies of it
    count: Option<u32>,
    /// How often a failed attempt is tried again; as the user configured if left out
    retries: Option<u32>,
    /// If it fails: fail the workflow, continue, or skip_dependents. fail if left out
    on_failure: Option<OnFailureArg>,
    /// If the branches that it inherits do not merge: fail, or resolve, by its agent. fail if left out
    on_conflict: Option<OnConflictArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WorktreeStrategy {
    New,
    Inherit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ReturnsArg {
    Report,
    Verdict,
    List,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OnFailureArg {
    Fail,
    Continue,
    SkipDependents,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OnConflictArg {
    Fail,
    Resolve,
}

/// A workflow as a client sends it.
#[derive(Debug, Clone)]
pub(super) struct SentWorkflow {
    pub(super) name: String,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) params: BTreeMap<String, Value>,
    pub(super) stages: Vec<StageArgs>,
}

impl SentWorkflow {
    /// The same as a file: one line for the whole, then one for each stage.
    pub(super) fn source(&self) -> Outcome<WorkflowSource> {
        let stages = self.stages.iter().map(StageArgs::fields).collect::<Outcome<Vec<_>>>()?;
        let has_own_words =
            |stage: &Map<String, Value>| OWN_WORDS.iter().any(|word| stage.contains_key(*word));
        let is_listed = self.params.is_empty() && !stages.iter().any(has_own_words);
        let (top, stages) = if is_listed { self.listed(stages) } else { self.named(stages)? };
        let (open, close) = if is_listed { ('[', ']') } else { ('{', '}') };
        let top = Value::Object(top).to_string();
        let top = top.strip_suffix('}').unwrap_or(&top);
        let text = format!("{top},\"stages\":{open}\n{}\n{close}}}\n", stages.join(",\n"));
        Ok(WorkflowSource::Given { name: self.name.clone(), text, format: FileFormat::Json })
    }

    /// Stages in a list, as other tools exchange them.
    fn listed(&self, stages: Vec<Map<String, Value>>) -> (Map<String, Value>, Vec<String>) {
        let top = given([("name", json!(self.name)), ("timeout_seconds", json!(self.timeout_seconds))]);
        (top, stages.into_iter().map(|stage| Value::Object(stage).to_string()).collect())
    }

    /// Stages by name, as people write them. In their order, which is why they are written one by one.
    fn named(&self, stages: Vec<Map<String, Value>>) -> Outcome<(Map<String, Value>, Vec<String>)> {
        let time = self.timeout_seconds.filter(|seconds| *seconds > 0);
        let defaults = time.map(|seconds| json!({"timeout": format!("{seconds}s")}));
        let params = (!self.params.is_empty()).then(|| json!(self.params));
        let top =
            given([("name", json!(self.name)), ("defaults", json!(defaults)), ("params", json!(params))]);
        let one = |(at, (stage, fields)): (usize, (&StageArgs, Map<String, Value>))| {
            let fields = Value::Object(stage.named(at, &self.stages, fields)?);
            Ok(format!("{}:{fields}", Value::from(stage.name.as_str())))
        };
        let stages = self.stages.iter().zip(stages).enumerate().map(one);
        Ok((top, stages.collect::<Outcome<_>>()?))
    }

    /// What is wrong with it, by the stage: the first thing, and the others as hints.
    pub(super) fn refusal(&self, found: &[Diagnostic]) -> Problem {
        let errors = found.iter().filter(|one| one.severity == Severity::Error);
        let mut said = errors.map(|one| (format!("{}{}", self.place(one), one.message), &one.help));
        let Some((message, help)) = said.next() else {
            return Problem::new(Code::Internal, "a workflow was refused without a reason");
        };
        let hints = help.iter().cloned();
        let also = said.take(MAX_NAMED).map(|(message, help)| {
            let help = help.first().map(|help| format!("; {help}")).unwrap_or_default();
            format!("also: {message}{help}")
        });
        Problem { code: Code::WorkflowInvalid, field: None, message, hints: hints.chain(also).collect() }
    }

    fn place(&self, one: &Diagnostic) -> String {
        let at = one.line.and_then(|line| line.checked_sub(2));
        match at.and_then(|at| Some((at, self.stages.get(at)?))) {
            Some((at, stage)) => named(at, &stage.name),
            None => String::new(),
        }
    }
}

/// How many errors are reported at once, besides the first.
const MAX_NAMED: usize = 9;

fn named(at: usize, name: &str) -> String {
    format!("stages[{at}] ({}): ", escaped(&shortened(name, 40)))
}

fn given(fields: impl IntoIterator<Item = (impl Into<String>, Value)>) -> Map<String, Value> {
    let fields = fields.into_iter().map(|(name, value)| (name.into(), value));
    fields.filter(|(_, value)| !value.is_null()).collect()
}

/// Fields that the list of other tools has no word for.
const OWN_WORDS: [&str; 10] = [
    "needs",
    "read_only",
    "returns",
    "when",
    "foreach",
    "foreach_of",
    "count",
    "retries",
    "on_failure",
    "on_conflict",
];

/// Fields that files call otherwise.
const RENAMED: [(&str, &str); 4] = [
    ("executor", "agent"),
    ("prompt_template", "prompt"),
    ("worktree_strategy", "start"),
    ("reasoning_effort", "effort"),
];

impl StageArgs {
    /// As it was sent, and as lists of other tools have it.
    fn fields(&self) -> Outcome<Map<String, Value>> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => Ok(given(fields)),
            _ => Err(lost("a stage")),
        }
    }

    fn named(&self, at: usize, all: &[Self], mut fields: Map<String, Value>) -> Outcome<Map<String, Value>> {
        if self.foreach.is_some() && self.foreach_of.is_some() {
            let message = format!("{}foreach and foreach_of cannot both be given", named(at, &self.name));
            return Err(Problem::new(Code::WorkflowInvalid, message).hint("leave out one of the two"));
        }
        for field in ["name", "depends_on", "foreach_of", "timeout_seconds"] {
            fields.remove(field);
        }
        for (theirs, ours) in RENAMED {
            let value = fields.remove(theirs);
            fields.extend(value.map(|value| (ours.to_owned(), value)));
        }
        let needs = self.needs(at, all)?;
        // As in the list of other tools: a stage that builds on others may have nothing to change.
        let reports = self.returns.is_none_or(|returns| returns == ReturnsArg::Report);
        let may_only_say = !needs.is_empty() && reports && !self.read_only.unwrap_or_default();
        let time = self.timeout_seconds.filter(|seconds| *seconds > 0);
        fields.extend(given([
            ("needs", json!(needs)),
            ("timeout", json!(time.map(|seconds| format!("{seconds}s")))),
            ("changes", json!(may_only_say.then_some("optional"))),
            ("foreach", json!(self.foreach_of.as_ref().map(|of| format!("{of}.items")))),
        ]));
        Ok(fields)
    }

    /// The names of the stages that it needs, each once: numbers and names may be mixed.
    fn needs(&self, at: usize, all: &[Self]) -> Outcome<Vec<String>> {
        let mut needs = self.needs.clone().unwrap_or_default();
        for number in self.depends_on.iter().flatten() {
            let Some(stage) = all.get(*number) else {
                let message = format!("{}depends_on: there is no stage {number}", named(at, &self.name));
                return Err(Problem::new(Code::WorkflowInvalid, message)
                    .hint("stages are numbered from 0, in the order in which they are given"));
            };
            if !needs.contains(&stage.name) {
                needs.push(stage.name.clone());
            }
        }
        Ok(needs)
    }
}
