//! The tools, one file each, of the tool's name.
//!
//! Owns the list of them and how each is described and called. A new tool is one file with its `Args`, and one line below.

mod prelude;

use std::pin::Pin;
use std::sync::OnceLock;

use fleet_api::Nature;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::config::nearest;
use rmcp::ErrorData;
use rmcp::model::{self, CallToolResult, JsonObject, ToolAnnotations};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::arguments::Unknown;
use super::call::Call;
use super::{answer, arguments, schema};

/// A tool, by what it takes; the comments on the fields are what a model reads.
trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    type Answer: Serialize + JsonSchema;
    const TITLE: &'static str;
    /// When to use it, in few words.
    const ABOUT: &'static str;
    const NATURE: Nature;
    /// Clients of the Python codefleet may send arguments that it ignores. Not so where that could do harm.
    const UNKNOWN: Unknown = Unknown::Refused;

    fn run(self, call: Call) -> impl Future<Output = Outcome<Self::Answer>> + Send;
}

fn annotations(nature: Nature, title: &str) -> ToolAnnotations {
    let hints = ToolAnnotations::with_title(title);
    match nature {
        Nature::Reads => hints.read_only(true).destructive(false).idempotent(true).open_world(false),
        Nature::Adds => hints.read_only(false).destructive(false).idempotent(false).open_world(true),
        Nature::Ends => hints.read_only(false).destructive(true).idempotent(true).open_world(false),
    }
}

type ToolFuture = Pin<Box<dyn Future<Output = CallToolResult> + Send>>;

struct ToolEntry {
    name: &'static str,
    describe: fn(&'static str) -> model::Tool,
    call: fn(Call, &'static model::Tool, JsonObject) -> ToolFuture,
}

const fn entry<T: Tool>(name: &'static str) -> ToolEntry {
    ToolEntry { name, describe: describe::<T>, call: start::<T> }
}

fn describe<T: Tool>(name: &'static str) -> model::Tool {
    let mut tool = model::Tool::new(name, T::ABOUT, schema::arguments::<T>());
    tool.title = Some(T::TITLE.to_owned());
    tool.output_schema = Some(schema::answer::<T::Answer>().into());
    tool.annotations = Some(annotations(T::NATURE, T::TITLE));
    tool
}

fn start<T: Tool>(call: Call, tool: &'static model::Tool, given: JsonObject) -> ToolFuture {
    Box::pin(async move {
        if matches!(T::NATURE, Nature::Reads) {
            call.look_after_queue();
        }
        match arguments::read::<T>(&tool.name, &tool.input_schema, given, T::UNKNOWN) {
            Ok((args, notes)) => answer::answer(args.run(call).await, notes),
            Err(problem) => answer::refusal(&problem),
        }
    })
}

macro_rules! tools {
    ($($name:ident,)+) => {
        $(mod $name;)+
        const TOOLS: &[ToolEntry] = &[$(entry::<$name::Args>(stringify!($name)),)+];
    };
}

tools! {
    healthcheck,
    list_agents,
    executor_guide,
    create_worker,
    get_worker_status,
    list_workers,
    wait,
    collect_worker_result,
    get_diff,
    prompt_worker,
    cancel_worker,
    cleanup_worker,
    create_workflow,
    get_workflow_status,
    list_workflows,
    collect_workflow_result,
    cancel_workflow,
    cleanup_workflow,
    search_backlog,
    find_similar_tasks,
    create_task,
    assign_task,
    analyze_dependencies,
    detect_conflicts,
    review_completed,
    check_agent_status,
    ask_person,
}

pub(crate) use wait::MAX_WAIT;

/// All tools, as clients see them.
pub(super) fn described() -> &'static [model::Tool] {
    static DESCRIBED: OnceLock<Vec<model::Tool>> = OnceLock::new();
    DESCRIBED.get_or_init(|| TOOLS.iter().map(|entry| (entry.describe)(entry.name)).collect())
}

/// Calls a tool. Only a tool that does not exist is an error of the protocol.
pub(super) async fn call(name: &str, call: Call, given: JsonObject) -> Result<CallToolResult, ErrorData> {
    let found = TOOLS.iter().zip(described()).find(|(entry, _)| entry.name == name);
    let Some((entry, tool)) = found else { return Err(unknown(name)) };
    // On its own: a panic in one tool is reported to its caller, and a caller that leaves does not cancel it halfway.
    let answered = tokio::spawn((entry.call)(call, tool, given)).await;
    Ok(answered.unwrap_or_else(|error| {
        let message = format!("{name} failed within codefleet: {error}");
        answer::refusal(&Problem::new(Code::Internal, message).hint("`fleet doctor` looks for causes"))
    }))
}

fn unknown(name: &str) -> ErrorData {
    let meant = nearest(name, TOOLS.iter().map(|entry| entry.name.to_owned()));
    let hint = meant.map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
    let shown = fleet_core::text::shortened(name, 60);
    ErrorData::invalid_params(format!("there is no tool {shown:?}{hint}"), None)
}
