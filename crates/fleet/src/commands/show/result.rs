//! How a run ended, as people read it.

use fleet_core::outcome::{CheckResult, RunResult};
use fleet_core::report::{TestLine, Verdict};
use fleet_core::text::{escaped, escaped_lines};

use crate::output::{dim, warn};

/// So many names of each kind are shown; `--json` and git have the rest.
const MAX_LISTED: usize = 20;

pub(crate) fn render(result: &serde_json::Value) -> String {
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
    parts.push(listed("test, as the agent reports", "tests, as the agent reports", tests.len(), &tests));
    let checks: Vec<String> = result.checks.iter().map(CheckResult::summary).collect();
    parts.push(listed("check", "checks", checks.len(), &checks));
    parts.extend(
        result.verdict.as_ref().map(|said| format!("{} {}", dim("verdict"), escaped(&verdict(said)))),
    );
    parts.push(listed("entry returned", "entries returned", result.items.len(), &result.items));
    parts.push(listed("next step", "next steps", result.next_steps.len(), &result.next_steps));
    parts.extend(result.remarks.iter().map(|remark| warn(&format!("! {}", escaped(remark)))));
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

fn test(test: &TestLine) -> String {
    let detail = if test.detail.is_empty() { String::new() } else { format!(" ({})", test.detail) };
    format!("{} {}{detail}", test.outcome, test.name)
}

fn verdict(verdict: &Verdict) -> String {
    let approve = verdict.approve.map(|yes| if yes { "approved" } else { "not approved" }.to_owned());
    let winner = verdict.winner.as_ref().map(|name| format!("winner: {name}"));
    let scores = verdict.scores.iter().map(|(name, points)| format!("{name}: {}", points.to_f64()));
    approve.into_iter().chain(winner).chain(scores).collect::<Vec<_>>().join(", ")
}

/// A number with the names behind it, as many of them as are worth reading.
fn listed(one: &str, several: &str, total: usize, names: &[String]) -> String {
    if total == 0 {
        return String::new();
    }
    let mut lines = vec![dim(&if total == 1 { format!("1 {one}") } else { format!("{total} {several}") })];
    lines.extend(names.iter().take(MAX_LISTED).map(|name| format!("  {}", escaped(name))));
    let more = total.saturating_sub(names.len().min(MAX_LISTED));
    if more > 0 {
        lines.push(dim(&format!("  and {more} more: --json shows more")));
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_checked_and_returned_is_shown() {
        let result = serde_json::json!({
            "status": "failed", "summary": "no", "files_changed": [], "files": 0, "commits": [], "commit_count": 0,
            "verdict": {"approve": false, "winner": "a", "scores": {"a": 7.5, "b": 3.0}}, "items": ["one", "two"],
            "checks": [
                {"argv": ["cargo", "fmt"], "exit": {"code": 0}, "seconds": 1},
                {"argv": ["cargo", "test"], "exit": {"code": 101}, "seconds": 20, "output_tail": "…"},
            ],
            "exit": {"code": 0},
        });
        let shown = anstream::adapter::strip_str(&render(&result)).to_string();
        insta::assert_snapshot!(shown, @r"
        no
        2 checks
          cargo fmt passed (1s)
          cargo test ended with exit status 101 (20s)
        verdict not approved, winner: a, a: 7.5, b: 3
        2 entries returned
          one
          two
        ");
    }
}
