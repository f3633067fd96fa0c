//! Stages of a workflow as clients send them, written as a file of workflows.
//!
//! Owns the names of their fields, and which stage a remark about the file means: each stands on a line of its own. What a
//! workflow may be is decided where files are read. Commands and files cannot be named here: whoever sends a workflow need
//! not be the user.

use std::collections::BTreeMap;

use fleet_api::views::{Diagnostic, Severity, WorkflowSource};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::{escaped, shortened};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Stage {
    /// What it is called; letters, digits, - and _
    name: String,
    /// Which agent does it, see list_agents; the user's default if left out
    #[serde(default)]
    executor: Option<String>,
    /// What its agent is told. Places are filled in: {task_prompt}, and of stages that are over by then {NAME.summary},
    /// {NAME.diff}, {NAME.branch}, {NAME.files}, {NAME.commits}, {NAME.tests}, {NAME.next_steps}, {NAME.verdict},
    /// {NAME.items}, {NAME.status}, {NAME.result}, {NAME.worktree}; {stage_0_summary} and so on is the same by number
    prompt_template: String,
    /// A model of that executor
    #[serde(default)]
    model: Option<String>,
    /// new: its branch starts where the workflow starts; inherit: from the branches of the stages that it needs, merged. new
    /// if left out
    #[serde(default)]
    worktree_strategy: Option<WorktreeStrategy>,
    /// The stages that must be over first, by number from 0
    #[serde(default)]
    depends_on: Option<Vec<usize>>,
    /// The same by name
    #[serde(default)]
    needs: Option<Vec<String>>,
    /// Its agent is stopped after so long; the workflow's if left out or 0
    #[serde(default)]
    timeout_seconds: Option<u64>,
    /// How hard the model thinks, in the executor's words
    #[serde(default)]
    reasoning_effort: Option<String>,
    /// Further arguments for the agent's program; only options that the user allowed
    #[serde(default)]
    extra_args: Option<Vec<String>>,
    /// True for one that only looks, such as a reviewer or a judge
    #[serde(default)]
    read_only: Option<bool>,
    /// report; verdict: approve, winner and scores as well, for reviewers and judges; list: a list that a later stage is
    /// spread over. report if left out
    #[serde(default)]
    returns: Option<Returns>,
    /// It is skipped if this does not hold, such as review.approve == false
    #[serde(default)]
    when: Option<String>,
    /// One copy for each of these texts, all at once; {item} is the text
    #[serde(default)]
    foreach: Option<Vec<String>>,
    /// One copy for each entry of the list that this stage returned
    #[serde(default)]
    foreach_of: Option<String>,
    /// So many copies of the same
    #[serde(default)]
    count: Option<u32>,
    /// How often a failed attempt is tried again; as the user configured if left out
    #[serde(default)]
    retries: Option<u32>,
    /// If it fails: fail the workflow, continue, or skip_dependents. fail if left out
    #[serde(default)]
    on_failure: Option<OnFailure>,
    /// If the branches that it inherits do not merge: fail, or resolve, by its agent. fail if left out
    #[serde(default)]
    on_conflict: Option<OnConflict>,
}

/// Words of workflow files.
macro_rules! words {
    ($($name:ident { $($word:ident = $text:literal,)+ })+) => {$(
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
        #[serde(rename_all = "snake_case")]
        enum $name { $($word,)+ }

        impl From<$name> for Value {
            fn from(word: $name) -> Self {
                match word { $($name::$word => $text.into(),)+ }
            }
        }
    )+};
}

words! {
    WorktreeStrategy { New = "new", Inherit = "inherit", }
    Returns { Report = "report", Verdict = "verdict", List = "list", }
    OnFailure { Fail = "fail", Continue = "continue", SkipDependents = "skip_dependents", }
    OnConflict { Fail = "fail", Resolve = "resolve", }
}

/// A workflow as a client sends it.
#[derive(Debug, Clone)]
pub(super) struct Sent {
    pub(super) name: String,
    pub(super) timeout_seconds: Option<u64>,
    pub(super) params: BTreeMap<String, Value>,
    pub(super) stages: Vec<Stage>,
}

impl Sent {
    /// The same as a file: one line for the whole, then one for each stage.
    pub(super) fn source(&self) -> Outcome<WorkflowSource> {
        let is_listed = self.params.is_empty() && !self.stages.iter().any(Stage::has_own_words);
        let (top, stages) = if is_listed { self.listed() } else { self.named()? };
        let (open, close) = if is_listed { ('[', ']') } else { ('{', '}') };
        let top = Value::Object(top).to_string();
        let top = top.strip_suffix('}').unwrap_or(&top);
        let text = format!("{top},\"stages\":{open}\n{}\n{close}}}\n", stages.join(",\n"));
        Ok(WorkflowSource::Given { name: self.name.clone(), text })
    }

    /// Stages in a list, as other tools exchange them.
    fn listed(&self) -> (Map<String, Value>, Vec<String>) {
        let time = self.timeout_seconds.map(Value::from);
        let top = fields([("name", Some(self.name.clone().into())), ("timeout_seconds", time)]);
        (top, self.stages.iter().map(|stage| Value::Object(stage.listed()).to_string()).collect())
    }

    /// Stages by name, as people write them. In their order, which is why they are written one by one.
    fn named(&self) -> Outcome<(Map<String, Value>, Vec<String>)> {
        let time = self.timeout_seconds.filter(|seconds| *seconds > 0);
        let defaults = time.map(|seconds| json!({"timeout": format!("{seconds}s")}));
        let params = (!self.params.is_empty()).then(|| json!(self.params));
        let name = Some(self.name.clone().into());
        let top = fields([("name", name), ("defaults", defaults), ("params", params)]);
        let one = |(at, stage): (usize, &Stage)| {
            let fields = Value::Object(stage.named(at, &self.stages)?);
            Ok(format!("{}:{fields}", Value::from(stage.name.as_str())))
        };
        Ok((top, self.stages.iter().enumerate().map(one).collect::<Outcome<_>>()?))
    }

    /// What is wrong with it, by the stage: the first thing, and the others as hints.
    pub(super) fn refusal(&self, found: &[Diagnostic]) -> Problem {
        let errors = found.iter().filter(|one| one.severity == Severity::Error);
        let mut said =
            errors.map(|one| (format!("{}{}", self.place(one), in_our_words(&one.message)), &one.help));
        let Some((message, help)) = said.next() else {
            return Problem::new(Code::Internal, "a workflow was refused without a reason");
        };
        let hints = help.iter().map(|help| in_our_words(help));
        let also = said.take(MOST_NAMED).map(|(message, help)| {
            let help = help.first().map(|help| format!("; {}", in_our_words(help))).unwrap_or_default();
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

/// So many things that are wrong are told at once, beside the first.
const MOST_NAMED: usize = 9;

fn named(at: usize, name: &str) -> String {
    format!("stages[{at}] ({}): ", escaped(&shortened(name, 40)))
}

/// What is said on the command line is an argument here.
fn in_our_words(text: &str) -> String {
    text.replace("`--task TEXT`", "`task_prompt`").replace("--set", "params")
}

fn fields<const N: usize>(all: [(&str, Option<Value>); N]) -> Map<String, Value> {
    all.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

impl Stage {
    /// Whether it says what the list of other tools has no word for.
    fn has_own_words(&self) -> bool {
        self.needs.is_some()
            || self.read_only.is_some()
            || self.returns.is_some()
            || self.when.is_some()
            || self.foreach.is_some()
            || self.foreach_of.is_some()
            || self.count.is_some()
            || self.retries.is_some()
            || self.on_failure.is_some()
            || self.on_conflict.is_some()
    }

    fn listed(&self) -> Map<String, Value> {
        fields([
            ("name", Some(self.name.clone().into())),
            ("executor", self.executor.clone().map(Value::from)),
            ("prompt_template", Some(self.prompt_template.clone().into())),
            ("model", self.model.clone().map(Value::from)),
            ("worktree_strategy", self.worktree_strategy.map(Value::from)),
            ("depends_on", self.depends_on.clone().map(Value::from)),
            ("timeout_seconds", self.timeout_seconds.map(Value::from)),
            ("reasoning_effort", self.reasoning_effort.clone().map(Value::from)),
            ("extra_args", self.extra_args.clone().map(Value::from)),
        ])
    }

    fn named(&self, at: usize, all: &[Self]) -> Outcome<Map<String, Value>> {
        let needs = self.needs(at, all)?;
        // As in the list of other tools: whoever builds on others may have nothing to change.
        let reports = self.returns.is_none_or(|returns| returns == Returns::Report);
        let may_only_say = !needs.is_empty() && reports && !self.read_only.unwrap_or_default();
        let time = self.timeout_seconds.filter(|seconds| *seconds > 0);
        let foreach = match (&self.foreach, &self.foreach_of) {
            (Some(_), Some(_)) => {
                let message = format!("{}foreach and foreach_of cannot both be given", named(at, &self.name));
                return Err(Problem::new(Code::WorkflowInvalid, message).hint("leave out one of the two"));
            }
            (Some(items), None) => Some(items.clone().into()),
            (None, of) => of.as_ref().map(|of| format!("{of}.items").into()),
        };
        Ok(fields([
            ("agent", self.executor.clone().map(Value::from)),
            ("prompt", Some(self.prompt_template.clone().into())),
            ("model", self.model.clone().map(Value::from)),
            ("start", self.worktree_strategy.map(Value::from)),
            ("needs", Some(needs.into())),
            ("timeout", time.map(|seconds| format!("{seconds}s").into())),
            ("effort", self.reasoning_effort.clone().map(Value::from)),
            ("extra_args", self.extra_args.clone().map(Value::from)),
            ("read_only", self.read_only.map(Value::from)),
            ("changes", may_only_say.then(|| "optional".into())),
            ("returns", self.returns.map(Value::from)),
            ("when", self.when.clone().map(Value::from)),
            ("foreach", foreach),
            ("count", self.count.map(Value::from)),
            ("retries", self.retries.map(Value::from)),
            ("on_failure", self.on_failure.map(Value::from)),
            ("on_conflict", self.on_conflict.map(Value::from)),
        ]))
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
