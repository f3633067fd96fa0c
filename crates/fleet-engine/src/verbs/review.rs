//! Looks at the work that ended lately: what was done, what the agents claim, what git shows, whether it has landed or
//! could, and what to do next.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fleet_api::verbs::review::{Answer, Request, ReviewedTask};
use fleet_core::outcome::RunResult;
use fleet_core::review::{BranchStatus, ReviewVerdict, judge};
use fleet_core::task::TaskState;
use fleet_host::git::{self, GitError, MergeCheck};
use fleet_store::ops::{ListedRun, RunDetail};

use super::elsewhere::ThisPlace;
use super::lineage;
use super::prelude::*;
use super::run_show::advice;
use crate::landing_status::LandingStatus;

/// As much as one person looks at in a sitting.
const SHOWN: u32 = 20;
/// At most this many runs are searched, newest first: a finished task may have many unfinished ones behind it.
const MAX_RUNS_SEARCHED: i64 = 1_000;
const DEFAULT_SINCE: &str = "7d";

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let since = request.since.as_deref().unwrap_or(DEFAULT_SINCE);
    let since = clock::parse_past("since", since, engine.time().await?)?;
    let limit = request.limit.unwrap_or(SHOWN) as usize;
    let repo = PathBuf::from(engine.common_dir()?);
    let Some(project) = engine.known_project().await? else {
        return Ok(Answer { reviews: Vec::new(), more: false });
    };
    let filter =
        ops::RunFilter { project: Some(project.id), newest_of_task: true, ..ops::RunFilter::default() };
    let mut ended = engine.call(ops::ListRuns { filter, limit: MAX_RUNS_SEARCHED }).await?;
    ended.retain(|listed| is_over(listed, since));
    lineage::retain_own(engine, &mut ended, |listed| listed.run.task).await?;
    ended.sort_by_key(|listed| std::cmp::Reverse(listed.run.ended_at));
    let more = ended.len() > limit;
    ended.truncate(limit);
    let reads = ended.iter().map(|listed| ops::GetRun { run: listed.run.id }).collect();
    let details = engine.call(ops::All(reads)).await?;
    let names = details.iter().filter_map(|detail| detail.run.branch.clone()).collect();
    let here = ThisPlace::of(engine)?;
    let seen = blocking(move || look(&repo, &here, &details, &names).map(|seen| (details, seen))).await?;
    let (details, seen) = seen.map_err(problems::git)?;
    let pairs = details.iter().zip(seen);
    let reviews = pairs.map(|(detail, seen)| review(engine, detail, &seen)).collect::<Outcome<Vec<_>>>()?;
    Ok(Answer { reviews: reviews.into_iter().filter(|review| !review.title.is_empty()).collect(), more })
}

fn is_over(listed: &ListedRun, since: Millis) -> bool {
    let is_over = matches!(listed.task_state, Some(TaskState::Done | TaskState::Failed));
    is_over && listed.run.ended_at.is_some_and(|at| at >= since)
}

/// What git says about a branch.
struct BranchFinding {
    branch: BranchStatus,
    landed: Option<String>,
    conflicts: Vec<String>,
    /// Where it is, if that is not here.
    place: Option<String>,
}

/// Each branch that has not landed is tried. Blocks.
fn look(
    repo: &std::path::Path,
    here: &ThisPlace,
    details: &[RunDetail],
    names: &BTreeSet<String>,
) -> Result<Vec<BranchFinding>, GitError> {
    let status = LandingStatus::look(repo, names)?;
    let one = |detail: &RunDetail| -> Result<BranchFinding, GitError> {
        let nothing =
            BranchFinding { branch: BranchStatus::Gone, landed: None, conflicts: Vec::new(), place: None };
        if let Some(place) = here.place_of(&detail.run) {
            return Ok(BranchFinding { branch: BranchStatus::Elsewhere, place: Some(place), ..nothing });
        }
        let Some(branch) = detail.run.branch.as_ref().and_then(|name| status.branches.get(name)) else {
            return Ok(nothing);
        };
        if let Some(landed) = status.landed(branch) {
            let landed = Some(fleet_core::tidy::TidyReason::Landed(landed).to_string());
            return Ok(BranchFinding { branch: BranchStatus::Landed, landed, ..nothing });
        }
        let open = BranchFinding { branch: BranchStatus::Open, ..nothing };
        let Some(landing) = status.landings.first() else { return Ok(open) };
        if !git::share_history(repo, &landing.commit, &branch.commit)? {
            return Ok(BranchFinding { branch: BranchStatus::Unrelated, ..open });
        }
        match git::merge_tree(repo, &landing.commit, &branch.commit) {
            Ok(MergeCheck::Conflicted { files }) => {
                Ok(BranchFinding { branch: BranchStatus::Conflicting, conflicts: files.listed, ..open })
            }
            // Everything else can be told with an old git, too.
            Ok(MergeCheck::Clean { .. }) | Err(GitError::TooOld { .. }) => Ok(open),
            Err(error) => Err(error),
        }
    };
    details.iter().map(one).collect()
}

fn review(engine: &Engine, detail: &RunDetail, seen: &BranchFinding) -> Outcome<ReviewedTask> {
    let run = &detail.run;
    let result = detail.result.as_deref().and_then(|text| serde_json::from_str::<RunResult>(text).ok());
    let task = detail.task.as_ref();
    let state = task.map_or(TaskState::Done, fleet_core::task::Task::state);
    let verdict = judge(state, result.as_ref(), seen.branch);
    let seconds = run.ended_at.map(|end| end.since(run.started_at.unwrap_or(run.created_at)).as_secs());
    let review = ReviewedTask {
        task: run.task,
        title: task.map(|task| task.spec.title.to_string()).unwrap_or_default(),
        state,
        verdict,
        run: run.id,
        attempt: run.attempt,
        agent: run.agent.clone(),
        model: run.model.clone(),
        branch: run.branch.clone().filter(|_| seen.branch != BranchStatus::Gone),
        summary: run.detail.clone().unwrap_or_default(),
        files: Vec::new(),
        file_count: 0,
        commits: Vec::new(),
        commit_count: 0,
        tests: Vec::new(),
        remarks: Vec::new(),
        next_steps: Vec::new(),
        landed: seen.landed.clone(),
        conflicts: seen.conflicts.clone(),
        tokens: run.usage.input_tokens.saturating_add(run.usage.output_tokens),
        micro_usd: run.usage.micro_usd,
        seconds: seconds.unwrap_or(0),
        ended_at: run.ended_at.map(Moment),
        next: next(engine, detail, verdict, seen)?,
    };
    let unrelated = (seen.branch == BranchStatus::Unrelated).then(|| advice::NO_COMMON_HISTORY.to_owned());
    Ok(match result {
        None => review,
        Some(result) => ReviewedTask {
            summary: result.summary,
            files: result.files_changed,
            file_count: result.files,
            commits: result.commits,
            commit_count: result.commit_count,
            tests: result.tests,
            remarks: unrelated.into_iter().chain(result.remarks).collect(),
            next_steps: result.next_steps,
            ..review
        },
    })
}

/// What the verdict adds to the usual advice.
fn next(
    engine: &Engine,
    detail: &RunDetail,
    verdict: ReviewVerdict,
    seen: &BranchFinding,
) -> Outcome<Vec<String>> {
    let task = detail.run.task;
    let own = match verdict {
        ReviewVerdict::Conflicting if seen.branch == BranchStatus::Unrelated => {
            detail.run.branch.as_deref().map(advice::merge_unrelated)
        }
        ReviewVerdict::Landed => {
            return Ok(vec![advice::LANDED.to_owned()]);
        }
        ReviewVerdict::Elsewhere => {
            let place = seen.place.as_deref().unwrap_or("on another host");
            return Ok(vec![format!("its work is {place}: `fleet review` there shows it")]);
        }
        ReviewVerdict::Conflicting => {
            Some(format!("`fleet prompt {task} \"Merge the main branch and resolve the conflicts\"`"))
        }
        ReviewVerdict::Doubtful => {
            Some(format!("look closely: `fleet show {task}` shows what does not match"))
        }
        ReviewVerdict::Gone => {
            Some(format!("`fleet undo {task}` restores its branch, unless you have it elsewhere"))
        }
        ReviewVerdict::Mergeable | ReviewVerdict::Unchanged | ReviewVerdict::Failed => None,
    };
    let usual = advice::next(engine, detail)?.into_iter();
    // What cannot be merged, or perhaps should not be, is not offered for it.
    let is_offered = |line: &String| !line.starts_with("`git merge") || verdict == ReviewVerdict::Mergeable;
    Ok(own.into_iter().chain(usual.filter(is_offered)).collect())
}
