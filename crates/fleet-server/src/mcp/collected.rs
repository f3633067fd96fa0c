//! The result of a worker: the worker, its result, and the end of what its agent printed.

use fleet_api::Client;
use fleet_core::problem::{Code, Outcome, Problem};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::open::OpenObject;
use super::tail;
use super::worker::Worker;

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(super) struct CollectedResult {
    #[serde(flatten)]
    pub(super) worker: Worker,
    /// The report of the agent, with files and commits as git shows them, not as claimed: status (completed,
    /// completed_no_changes, blocked), summary, files_changed, commits, tests (command, status, details), next_steps. Null
    /// while it works, and if it failed without a report
    pub(super) result: Option<OpenObject>,
    /// How the run ended, as codefleet saw it, where the report does not say that: the same fields, with another status
    /// and a summary that says why
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<OpenObject>,
    /// Why there is no result although the worker has finished
    result_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stdout_tail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stderr_tail: Option<String>,
}

impl CollectedResult {
    /// From a worker and the result of its newest run.
    pub(super) fn new(worker: Worker, found: Option<&impl Serialize>) -> Outcome<Self> {
        let found = found.map(serde_json::to_value).transpose();
        let found = found.map_err(|error| Problem::new(Code::Internal, error.to_string()))?;
        let reported = found.as_ref().and_then(reported);
        let outcome = found.filter(|found| Some(found) != reported.as_ref());
        let outcome = outcome.as_ref().map(OpenObject::result).transpose()?;
        let result = reported.as_ref().map(OpenObject::result).transpose()?;
        let result_error = (result.is_none() && worker.over).then(|| missing(&worker));
        Ok(Self { worker, result, outcome, result_error, stdout_tail: None, stderr_tail: None })
    }

    /// Adds the last lines of its logs.
    pub(super) async fn read_logs(&mut self, client: &dyn Client, lines: u32) -> Outcome<()> {
        (self.stdout_tail, self.stderr_tail) = match &self.worker.run_id {
            Some(run) if lines > 0 => tail::of_both(client, run, lines).await?,
            _ => (Some(String::new()), Some(String::new())),
        };
        Ok(())
    }
}

/// The result with the agent's own status and summary; the result itself if it succeeded; none without a report.
fn reported(found: &Value) -> Option<Value> {
    if matches!(found["status"].as_str(), Some("completed" | "completed_no_changes")) {
        return Some(found.clone());
    }
    let mut result = found.clone();
    for field in ["status", "summary"] {
        result[field] = found.pointer(&format!("/claimed/{field}"))?.clone();
    }
    Some(result)
}

fn missing(worker: &Worker) -> String {
    match &worker.run_id {
        None => "it never started".to_owned(),
        Some(run) => format!("run {run} ended without a result"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_is_what_the_agent_reported() {
        let found =
            |status: &str, claimed: Value| json!({"status": status, "summary": "ours", "claimed": claimed});
        let done = found("completed", Value::Null);
        assert_eq!(reported(&done), Some(done));
        let claim = json!({"status": "completed", "summary": "all done"});
        let result = reported(&found("no_changes", claim.clone())).unwrap();
        assert_eq!((&result["status"], &result["summary"]), (&json!("completed"), &json!("all done")));
        assert_eq!(reported(&found("failed", Value::Null)), None);
    }
}
