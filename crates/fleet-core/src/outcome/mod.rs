//! How a run ended: decided from what the tool itself saw, never from what an agent says alone.
//!
//! Owns the table from evidence to ending, and the final result of a run, in which every claim about changes is
//! replaced by what git shows. Must never look at anything but its arguments.

mod checks;
mod result;
#[cfg(test)]
mod tests;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use checks::{CheckExit, CheckResult, Checks, LONGEST_TAIL};
pub use result::{EvidenceNames, ResultStatus, RunResult};

use crate::policy::blames_account;
use crate::report::{Report, ReportStatus};
use crate::run::{Ending, Reason};
use crate::text::shortened;
use crate::workflow::Returns;

/// The longest quote of an agent's words in a sentence.
const LONGEST_QUOTE: usize = 500;

/// How an agent's process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentExit {
    /// With this exit status.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// It never ran; a sentence says why.
    NotStarted(String),
}

impl AgentExit {
    /// Whether the exit status means success.
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Code(0))
    }

    /// Whether this is how an agent in a terminal ends when a person closes it: regularly, by Ctrl-C, or because the
    /// terminal went away. Shells and runtimes turn a signal into 128 and its number.
    pub const fn is_closed_by_person(&self) -> bool {
        matches!(self, Self::Code(0 | 129 | 130) | Self::Signal(1 | 2))
    }
}

impl std::fmt::Display for AgentExit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Code(code) => write!(f, "the agent ended with exit status {code}"),
            Self::Signal(signal) => write!(f, "the agent was ended by signal {signal}"),
            Self::NotStarted(why) => write!(f, "the agent could not be started: {why}"),
        }
    }
}

/// What an agent declared through `fleet done` or `fleet fail` while it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declared {
    Done(Report),
    Fail { summary: String },
}

/// Why a keeper stopped an agent that would have gone on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopCause {
    /// It ran longer than its limit; the sentence names the limit.
    TimeLimit(String),
    Idle(String),
    Tokens(String),
    Money(String),
    /// Its conversation was nearly as long as its model can read.
    Context(String),
    /// Its provider would refuse every further try.
    Hopeless(Reason, String),
    /// A user stopped it, with this remark.
    Killed(String),
    /// The runner shuts down or hands over: no fault of the task.
    Shutdown(String),
}

impl StopCause {
    /// Why, for people.
    pub fn text(&self) -> &str {
        match self {
            Self::TimeLimit(text)
            | Self::Idle(text)
            | Self::Tokens(text)
            | Self::Money(text)
            | Self::Context(text)
            | Self::Hopeless(_, text)
            | Self::Killed(text)
            | Self::Shutdown(text) => text,
        }
    }
}

/// What the tool itself saw of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    pub exit: AgentExit,
    /// The report in the last thing that the agent wrote.
    pub report: Option<Report>,
    /// The last thing that the agent wrote, where that holds no report.
    pub words: Option<String>,
    /// What the agent declared while it ran; it counts more than what is read out of a text.
    pub declared: Option<Declared>,
    /// A question to a person that the agent ended with, or that nobody has answered yet.
    pub question: Option<String>,
    /// The failure that the agent reported, and did not recover from.
    pub failure: Option<(Reason, String)>,
    /// How many commits git shows since the base.
    pub commits: usize,
    /// How many files git shows as changed since the base.
    pub files: usize,
    pub read_only: bool,
    /// The task may be done without a change: a review that found nothing, or fixed what it found.
    pub may_be_empty: bool,
    /// Its agent ran in a terminal, where people could see what it did and close it.
    pub is_interactive: bool,
    /// What the task asks for beside the report.
    pub returns: Returns,
    /// What it should have merged and did not, each in words.
    pub unmerged: Vec<String>,
    /// The commands that have to succeed over the work.
    pub checks: Checks,
    pub stopped: Option<StopCause>,
}

impl Evidence {
    pub const fn has_changes(&self) -> bool {
        self.commits > 0 || self.files > 0
    }

    /// Whether the process ended as it should. People end an agent in a terminal by closing it.
    pub const fn ended_well(&self) -> bool {
        self.exit.is_success() || (self.is_interactive && self.exit.is_closed_by_person())
    }

    /// What the agent said instead of a report.
    pub fn unreported_text(&self) -> Option<&str> {
        let words = self.words.as_deref().map(str::trim).filter(|words| !words.is_empty());
        words.filter(|_| self.declared.is_none() && self.report.is_none())
    }

    /// The report that counts: what was declared, else what was read.
    pub const fn final_report(&self) -> Option<&Report> {
        match &self.declared {
            Some(Declared::Done(report)) => Some(report),
            Some(Declared::Fail { .. }) => None,
            None => self.report.as_ref(),
        }
    }
}

/// How the run ended. The first row that fits decides:
///
/// 1. A person stopped it: cancelled, whatever else was seen. A person's word is last.
/// 2. It was never started: for the reason that is known, or else a person has to install something.
/// 3. It worked outside of its workspace: failed, whatever it says and left.
/// 4. It declared an end: that counts, even if the process then hung, was shut down or ended badly, because the
///    work was over at that moment. Whether it is a success is decided by row 9.
/// 5. The keeper stopped it: over a limit, or released. An agent that gave no sign of work because its provider turned it
///    away failed for that. One that ran out of time while people had not answered it waits for them.
/// 6. It ended with a question.
/// 7. Its own stream told of a failure, which says more than the exit status, and is there even with status 0.
/// 8. The process ended badly, and the agent did not say that it is blocked, which would tell more. An agent in a terminal
///    that a person closed (Ctrl-C, hang-up) ended well.
/// 9. What remains is judged by git, in its own table below.
/// 10. What would be a success is one only if all checks succeed.
#[must_use]
pub fn decide(evidence: &Evidence) -> Ending {
    match before_checks(evidence) {
        Ending::Succeeded => checks::by_checks(evidence),
        other => other,
    }
}

/// Whether the checks decide: checking work that has failed already is pointless.
#[must_use]
pub fn calls_for_checks(evidence: &Evidence) -> bool {
    evidence.checks.due > 0 && before_checks(evidence) == Ending::Succeeded
}

fn before_checks(evidence: &Evidence) -> Ending {
    if let Some(StopCause::Killed(remark)) = &evidence.stopped {
        return Ending::Cancelled(remark.clone());
    }
    if let AgentExit::NotStarted(_) = &evidence.exit {
        // A full disk is temporary; a missing program stays missing.
        let reason = evidence.failure.as_ref().map_or(Reason::AgentMissing, |(reason, _)| *reason);
        return Ending::Failed(reason, evidence.exit.to_string());
    }
    if let Some((reason @ Reason::OutsideWorkspace, text)) = &evidence.failure {
        return Ending::Failed(*reason, text.clone());
    }
    match &evidence.declared {
        Some(Declared::Fail { summary }) => return Ending::Failed(Reason::BlockedByAgent, summary.clone()),
        Some(Declared::Done(_)) => return by_evidence(evidence),
        None => {}
    }
    match &evidence.stopped {
        Some(StopCause::TimeLimit(_) | StopCause::Idle(_)) if evidence.question.is_some() => {
            return Ending::Asked;
        }
        Some(stop) => return after_stop(stop, evidence.failure.as_ref()),
        None => {}
    }
    if evidence.question.is_some() {
        return Ending::Asked;
    }
    if let Some((reason, text)) = &evidence.failure {
        return Ending::Failed(*reason, text.clone());
    }
    let is_blocked = evidence.final_report().is_some_and(|report| report.status == ReportStatus::Blocked);
    if !evidence.ended_well() && !is_blocked {
        return Ending::Failed(Reason::AgentError, evidence.exit.to_string());
    }
    by_evidence(evidence)
}

fn after_stop(stop: &StopCause, failure: Option<&(Reason, String)>) -> Ending {
    match stop {
        StopCause::TimeLimit(text) => Ending::Failed(Reason::TimedOut, text.clone()),
        StopCause::Idle(text) => match failure {
            Some((reason, why)) if blames_account(*reason) => {
                Ending::Failed(*reason, format!("{why} ({text})"))
            }
            _ => Ending::Failed(Reason::Stale, text.clone()),
        },
        StopCause::Tokens(text) | StopCause::Money(text) => Ending::Failed(Reason::OverBudget, text.clone()),
        StopCause::Context(text) => Ending::Failed(Reason::ContextPressure, text.clone()),
        StopCause::Hopeless(reason, text) => Ending::Failed(*reason, text.clone()),
        StopCause::Shutdown(text) => Ending::Released(text.clone()),
        StopCause::Killed(remark) => Ending::Cancelled(remark.clone()),
    }
}

/// The agent thinks that it is done, or says nothing. The first row that fits decides:
///
/// 1. It says that it could not go on: failed, whatever it left.
/// 2. It was asked for a verdict or a list and gave none: failed, because others wait for just that.
/// 3. It was to merge something and did not: failed, because that work would be lost to all who go on from here.
/// 4. The task asks for no change: success. Changes that are there all the same are kept and remarked upon.
/// 5. Git shows changes: success, also when the agent says that there are none or says nothing.
/// 6. It says honestly that nothing had to change: success.
/// 7. Changes were not asked for, and it claims none: success, also when it answers in prose.
/// 8. A person could see in its terminal what it did, closed it, and it claims no changes: success.
/// 9. It claims changes that git does not show, or says nothing at all: no changes.
fn by_evidence(evidence: &Evidence) -> Ending {
    let said = evidence.final_report();
    let status = said.map(|report| report.status);
    if let (Some(ReportStatus::Blocked), Some(report)) = (status, said) {
        return Ending::Failed(Reason::BlockedByAgent, report.summary.clone());
    }
    if let Some(missing) = missing(evidence.returns, said) {
        return Ending::Failed(Reason::AgentError, missing.to_owned());
    }
    if !evidence.unmerged.is_empty() {
        let what = evidence.unmerged.join("; ");
        return Ending::Failed(Reason::AgentError, format!("the agent did not merge everything: {what}"));
    }
    if evidence.read_only || evidence.has_changes() || status == Some(ReportStatus::CompletedNoChanges) {
        return Ending::Succeeded;
    }
    let claims_none = |report: &&Report| report.files_changed.is_empty() && report.commits.is_empty();
    let says_enough = evidence.is_interactive || evidence.unreported_text().is_some();
    let may_be_empty = evidence.may_be_empty || evidence.is_interactive;
    if may_be_empty && said.as_ref().map_or(says_enough, claims_none) {
        return Ending::Succeeded;
    }
    let detail = match (said, evidence.unreported_text()) {
        (Some(report), _) => {
            format!("the agent reported that it is done ({}), but git shows no change", report.summary)
        }
        (None, Some(words)) => format!("git shows no change; the agent said: {}", in_short(words)),
        (None, None) => "the agent ended without a report, and git shows no change".to_owned(),
    };
    Ending::Failed(Reason::NoChanges, detail)
}

/// In one line, and no more of it than a sentence about an end has room for.
fn in_short(words: &str) -> String {
    let line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    shortened(&line, LONGEST_QUOTE).into_owned()
}

/// What was asked for and is not in the report, in words for the agent that tries again.
fn missing(returns: Returns, said: Option<&Report>) -> Option<&'static str> {
    match returns {
        Returns::Verdict if said.is_none_or(|report| report.verdict.is_none()) => Some(
            "the agent gave no verdict: its report needs a `verdict` that says `approve`, `winner` or `scores`",
        ),
        Returns::List if said.is_none_or(|report| report.items.is_none()) => {
            Some("the agent gave no list: its report needs `items`, a list of texts, which may be empty")
        }
        Returns::Report | Returns::Verdict | Returns::List => None,
    }
}
