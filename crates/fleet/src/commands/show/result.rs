//! How a run ended, as people read it.

use fleet_core::outcome::RunResult;
use fleet_core::report::TestLine;
use fleet_core::text::{escaped, escaped_lines};

use crate::output::{dim, warn};

/// So many names of each kind are shown; `--json` and git have the rest.
const MOST: usize = 20;

pub(super) fn render(result: &serde_json::Value) -> String {
    match serde_json::from_value::<RunResult>(result.clone()) {
        Ok(result) => known(&result),
        // What a newer version wrote is shown as it is.
        Err(_) => escaped_lines(&serde_json::to_string_pretty(result).unwrap_or_default()).into_owned(),
    }
}

fn known(result: &RunResult) -> String {
    let mut parts = vec![escaped_lines(result.summary.trim_end()).into_owned()];
    parts.push(listed("file changed", "files changed", result.files, &result.files_changed));
    parts.push(listed("commit", "commits", result.commit_count, &result.commits));
    let tests: Vec<String> = result.tests.iter().map(test).collect();
    parts.push(listed("test, as the agent says", "tests, as the agent says", tests.len(), &tests));
    parts.push(listed("next step", "next steps", result.next_steps.len(), &result.next_steps));
    parts.extend(result.remarks.iter().map(|remark| warn(&format!("! {}", escaped(remark)))));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn test(test: &TestLine) -> String {
    let detail = if test.detail.is_empty() { String::new() } else { format!(" ({})", test.detail) };
    format!("{} {}{detail}", test.outcome, test.name)
}

/// A number with the names behind it, as many of them as are worth reading.
fn listed(one: &str, several: &str, total: usize, names: &[String]) -> String {
    if total == 0 {
        return String::new();
    }
    let mut lines = vec![dim(&if total == 1 { format!("1 {one}") } else { format!("{total} {several}") })];
    lines.extend(names.iter().take(MOST).map(|name| format!("  {}", escaped(name))));
    let more = total.saturating_sub(names.len().min(MOST));
    if more > 0 {
        lines.push(dim(&format!("  and {more} more")));
    }
    lines.join("\n")
}
