//! The final result of a run: the agent's report, corrected by what git shows.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{AgentExit, CheckResult, Declared, Evidence};
use crate::report::{LONGEST_SUMMARY, MAX_ITEMS, Report, ReportStatus, TestLine, TestOutcome, Verdict};
use crate::run::{Ending, Reason};
use crate::text::shortened;
use crate::transition::{UnknownName, named};

named! {
    /// How a run ended, in one word, for people and programs that read results.
    pub enum ResultStatus: "result status" {
        /// Done, and git shows changes, or the task asked for none.
        Completed = "completed",
        /// Done, and nothing had to change.
        CompletedNoChanges = "completed_no_changes",
        /// Changes were claimed or expected, and git shows none.
        NoChanges = "no_changes",
        Blocked = "blocked",
        Asked = "asked",
        Failed = "failed",
        Cancelled = "cancelled",
        /// It was stopped through no fault of the task, and will be tried again.
        Released = "released",
    }
}

/// What is kept of a run's end. Files and commits are always those that git shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunResult {
    /// How it ended.
    pub status: ResultStatus,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// What was done or why it ended, in a few sentences: the agent's words, or ours where it has none.
    pub summary: String,
    /// The files that git shows as changed; cut so that the result stays readable.
    pub files_changed: Vec<String>,
    /// How many there are.
    pub files: usize,
    /// The commits that git shows, newest first; bounded like the files.
    pub commits: Vec<String>,
    /// How many there are.
    pub commit_count: usize,
    /// The tests that the agent says it ran.
    #[serde(default)]
    pub tests: Vec<TestLine>,
    /// What the agent would do next.
    #[serde(default)]
    pub next_steps: Vec<String>,
    /// What the agent thinks of what others did, where it was asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The list that the agent was asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<String>,
    /// The commands that had to succeed over the work, as far as they were run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
    /// How the process ended.
    pub exit: AgentExit,
    /// What the agent claimed, as it claimed it; nothing if it said nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Report>,
    /// Where claim and observation differ, in sentences.
    #[serde(default)]
    pub remarks: Vec<String>,
    /// The work is not on its branch, because a branch of that name existed that is not the task's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub branch_taken: bool,
    /// The branch was left alone, because of what somebody did to it, and lacks the last commits.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unpublished: bool,
}

/// What git shows: the names behind the two numbers of the evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EvidenceNames {
    /// Paths of changed files.
    pub files: Vec<String>,
    /// Commits, newest first.
    pub commits: Vec<String>,
}

impl RunResult {
    /// The result for an ending that [`super::decide`] gave for this evidence.
    pub fn new(evidence: &Evidence, ending: &Ending, seen: EvidenceNames) -> Self {
        let claimed = claim(evidence);
        let remarks = remarks(evidence, claimed.as_ref(), &seen.files);
        let said = claimed.clone().unwrap_or_else(|| Report::new(ReportStatus::Completed, ""));
        let EvidenceNames { mut files, mut commits } = seen;
        files.truncate(MAX_ITEMS);
        commits.truncate(MAX_ITEMS);
        Self {
            status: status(evidence, ending),
            reason: if let Ending::Failed(reason, _) = ending { Some(*reason) } else { None },
            summary: shortened(&summary(evidence, ending, claimed.as_ref()), LONGEST_SUMMARY).into_owned(),
            files_changed: files,
            files: evidence.files,
            commits,
            commit_count: evidence.commits,
            tests: said.tests,
            next_steps: said.next_steps,
            verdict: said.verdict,
            items: said.items.unwrap_or_default(),
            checks: evidence.checks.run.clone(),
            exit: evidence.exit.clone(),
            claimed,
            remarks,
            branch_taken: false,
            unpublished: false,
        }
    }
}

impl RunResult {
    /// How many tests failed, as the agent reports.
    pub fn failed_tests(&self) -> usize {
        self.tests.iter().filter(|test| test.outcome == TestOutcome::Failed).count()
    }
}

/// All that the agent said, a declared failure included.
fn claim(evidence: &Evidence) -> Option<Report> {
    match &evidence.declared {
        Some(Declared::Fail { summary }) => {
            Some(Report::new(ReportStatus::Blocked, summary.clone()).bounded())
        }
        _ => evidence.final_report().cloned().map(Report::bounded),
    }
}

fn status(evidence: &Evidence, ending: &Ending) -> ResultStatus {
    match ending {
        Ending::Succeeded if evidence.has_changes() => ResultStatus::Completed,
        Ending::Succeeded => match evidence.final_report().map(|report| report.status) {
            // A question that was answered without touching a file is work that was done.
            Some(ReportStatus::Completed) if evidence.read_only => ResultStatus::Completed,
            None if evidence.read_only && evidence.unreported_text().is_some() => ResultStatus::Completed,
            _ => ResultStatus::CompletedNoChanges,
        },
        Ending::Failed(Reason::NoChanges, _) => ResultStatus::NoChanges,
        Ending::Failed(Reason::BlockedByAgent, _) => ResultStatus::Blocked,
        Ending::Failed(..) => ResultStatus::Failed,
        Ending::Asked => ResultStatus::Asked,
        Ending::Cancelled(_) => ResultStatus::Cancelled,
        Ending::Released(_) => ResultStatus::Released,
    }
}

fn summary(evidence: &Evidence, ending: &Ending, claimed: Option<&Report>) -> String {
    let own = claimed.map(|report| report.summary.clone());
    match ending {
        Ending::Succeeded => {
            let prose = || evidence.unreported_text().map(ToOwned::to_owned);
            own.or_else(prose).unwrap_or_else(|| without_report(evidence).to_owned())
        }
        Ending::Asked => evidence.question.clone().or(own).unwrap_or_default(),
        Ending::Failed(_, detail) | Ending::Cancelled(detail) | Ending::Released(detail) => detail.clone(),
    }
}

const fn without_report(evidence: &Evidence) -> &'static str {
    if evidence.is_interactive { "the agent was closed" } else { "the agent ended without a report" }
}

/// Named files beyond this are only counted.
const MAX_NAMED: usize = 5;

fn remarks(evidence: &Evidence, claimed: Option<&Report>, files: &[String]) -> Vec<String> {
    let mut remarks = Vec::new();
    if evidence.read_only && evidence.has_changes() {
        remarks.push(
            "the task is read-only, but files were changed; the changes are kept on the branch".to_owned(),
        );
    }
    let done = matches!(evidence.declared, Some(Declared::Done(_)));
    if done && !evidence.ended_well() {
        remarks.push(format!("it reported that it is done; afterwards {}", evidence.exit));
    }
    let Some(report) = claimed else { return remarks };
    // A list that was cut cannot tell what is missing from it.
    if files.len() >= evidence.files {
        remarks.extend(unseen(&report.files_changed, files));
    }
    if report.status == ReportStatus::CompletedNoChanges && evidence.has_changes() {
        remarks.push("the agent reported no changes, but git shows some".to_owned());
    }
    remarks
}

/// Files that were claimed and that git does not show.
fn unseen(claimed: &[String], files: &[String]) -> Option<String> {
    let seen: BTreeSet<&str> = files.iter().map(String::as_str).collect();
    let missing: Vec<&str> =
        claimed.iter().map(String::as_str).filter(|path| !is_among(path, &seen)).collect();
    let more = missing.len().saturating_sub(MAX_NAMED);
    let names = missing.iter().take(MAX_NAMED).copied().collect::<Vec<_>>().join(", ");
    match (missing.len(), more) {
        (0, _) => None,
        (_, 0) => Some(format!("reported as changed, but git shows no change: {names}")),
        (_, more) => Some(format!("reported as changed, but git shows no change: {names} and {more} more")),
    }
}

/// Agents write `src/a.rs`, `./src/a.rs` or the whole path.
fn is_among(path: &str, seen: &BTreeSet<&str>) -> bool {
    let path = path.strip_prefix("./").unwrap_or(path);
    if !path.starts_with('/') {
        return seen.contains(path);
    }
    // One look for each folder of the path: cheap however many files there are.
    path.match_indices('/').any(|(at, _)| seen.contains(&path[at + 1..]))
}
