use fleet_api::TaskFields;
use fleet_api::verbs::task_add::{self, Duplicates};

use super::prelude::*;
use crate::mcp::task::{self, SimilarTask, TaskAnswer};
use crate::mcp::wake::ensure_runner;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// The title
    title: String,
    /// Everything its agent needs to know: what to build, which files to touch and which not, how to tell that it is done
    description: Option<String>,
    /// From 1 to 5; 5 is served first
    #[schemars(range(min = 1, max = 5))]
    priority: Option<i64>,
    /// Ids of tasks that have to be done before; the work starts from their branches, merged
    depends_on: Option<Vec<String>>,
    /// The files that it may touch, such as src/api/**; tasks that claim the same never run together
    file_scope: Option<Vec<String>>,
    /// Words to find it by, without spaces
    labels: Option<Vec<String>>,
    /// trivial (one line), small, medium, large or xl (architecture)
    estimated_complexity: Option<String>,
    /// The agent, see list_agents; the user's default if left out
    executor: Option<String>,
    /// A model of that executor
    model: Option<String>,
    /// The commit, branch or tag that the work starts from; if left out, the work of the tasks that it depends on, or the
    /// current commit when it starts
    base_ref: Option<String>,
    /// The agent is stopped after this time, and its work kept; the user's limit if left out or 0
    timeout_seconds: Option<u64>,
    /// True if nothing is to be changed: then an end without changes is a success
    read_only: Option<bool>,
    /// True if it must not start before assign_task says so
    hold: Option<bool>,
    /// Do not create it if there is one that says nearly the same; true if left out
    check_duplicates: Option<bool>,
    /// Create it all the same, and say which others are like it
    force: Option<bool>,
    /// Absolute path of the git repository; the one in which the server was started if left out
    repo_path: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Answer {
    /// False if there is a task already that says nearly the same
    created: bool,
    /// The new task; null if none was created
    task: Option<TaskAnswer>,
    /// Tasks that say nearly the same and are not cancelled, the most alike first
    similar: Vec<SimilarTask>,
    /// Whether its executor can be started here; otherwise it waits
    executor_is_here: bool,
    summary: String,
    /// Why nothing starts, if nothing can
    note: Option<String>,
}

impl Tool for Args {
    type Answer = Answer;
    const TITLE: &'static str = "Create a task";
    const ABOUT: &'static str = "Puts a task into the backlog of a repository; agents take tasks by priority as \
        soon as their dependencies are done. Use it to plan: split work so that tasks of one phase touch \
        different files, and name what each depends on. Near-duplicates are not created, but reported. To start \
        something at once, use create_worker.";
    const NATURE: Nature = Nature::Adds;

    async fn run(self, call: Call) -> Outcome<Answer> {
        let here = RepoClient::of(&call, self.repo_path.as_deref())?;
        let duplicates = match (self.force.unwrap_or_default(), self.check_duplicates.unwrap_or(true)) {
            (true, _) => Duplicates::Name,
            (false, true) => Duplicates::Refuse,
            (false, false) => Duplicates::Ignore,
        };
        let request = task_add::Request { duplicates, ..wanted(self) };
        let done = fleet_api::call(&here, None, &request).await.map_err(in_our_words)?;
        let note = match &done.task {
            Some(_) => ensure_runner(&here).await,
            None => None,
        };
        Ok(Answer {
            created: done.task.is_some(),
            summary: summary(&done),
            task: done.task.as_ref().map(TaskAnswer::from),
            similar: done.similar.iter().map(SimilarTask::from).collect(),
            executor_is_here: done.agent_is_here,
            note,
        })
    }
}

fn wanted(args: Args) -> task_add::Request {
    task_add::Request {
        title: args.title,
        labels: args.labels.unwrap_or_default(),
        after: args.depends_on.unwrap_or_default(),
        hold: args.hold.unwrap_or_default(),
        fields: TaskFields {
            description: args.description,
            priority: args.priority,
            scope: args.file_scope.unwrap_or_default(),
            complexity: args.estimated_complexity,
            agent: args.executor,
            model: args.model,
            base: task::base(args.base_ref),
            limits: task::time_limit(args.timeout_seconds),
            read_only: args.read_only.unwrap_or_default(),
            ..TaskFields::default()
        },
        ..task_add::Request::default()
    }
}

fn summary(done: &task_add::Answer) -> String {
    let nearest = done.similar.first().map(|other| (other.task.id, other.task.status.as_str()));
    match (&done.task, nearest) {
        (None, Some((other, status))) => format!(
            "not created: {other} ({status}) is a near-duplicate; use that one, or create this one with force"
        ),
        (None, None) => "not created".to_owned(),
        (Some(task), nearest) => {
            let alike = nearest.map(|(other, status)| format!("; {other} ({status}) is a near-duplicate"));
            let nobody =
                (!done.agent_is_here).then_some("; its executor is not installed here, so it waits for one");
            format!(
                "created {} ({}){}{}",
                task.id,
                task.status,
                alike.unwrap_or_default(),
                nobody.unwrap_or_default()
            )
        }
    }
}

/// Fields of tasks have other names here.
fn in_our_words(problem: Problem) -> Problem {
    task::named("depends_on", problem).in_words_of(&[
        ("agent", "executor"),
        ("base", "base_ref"),
        ("label", "labels"),
        ("scope", "file_scope"),
        ("complexity", "estimated_complexity"),
        ("limit", "timeout_seconds"),
    ])
}
