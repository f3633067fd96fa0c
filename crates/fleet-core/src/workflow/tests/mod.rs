mod flaws;
mod graphs;

use std::collections::BTreeMap;

use super::*;
use crate::outcome::{AgentExit, ResultStatus, RunResult};
use crate::report::Verdict;
use crate::transition::{Current, Machine as _};

fn stage(name: &str, needs: &[usize]) -> Stage {
    let mut stage = Stage::new(name.parse().unwrap(), "{task_prompt}".to_owned());
    stage.needs = needs.to_vec();
    stage
}

fn spec(stages: Vec<Stage>) -> Spec {
    Spec { name: "w".to_owned(), task: "do it".to_owned(), params: BTreeMap::new(), fail_fast: false, stages }
}

fn result() -> RunResult {
    RunResult {
        status: ResultStatus::Completed,
        reason: None,
        summary: "did it".to_owned(),
        files_changed: Vec::new(),
        files: 1,
        commits: Vec::new(),
        commit_count: 1,
        tests: Vec::new(),
        next_steps: Vec::new(),
        verdict: None,
        items: Vec::new(),
        checks: Vec::new(),
        exit: AgentExit::Code(0),
        claimed: None,
        remarks: Vec::new(),
        branch_taken: false,
        unpublished: false,
    }
}

/// A workflow that is played through: parts that were started end as they are told to.
struct Play {
    spec: Spec,
    state: WorkflowState,
    parts: Vec<Part>,
    results: Results,
    why: Option<String>,
}

#[expect(clippy::disallowed_methods, reason = "tests begin anywhere")]
fn part(stage: usize, reached: PartState, skip: Option<Skip>) -> Part {
    Part { state: Current::stored(reached), skip, ..Part::new(stage, 1, None) }
}

impl Play {
    fn new(spec: Spec) -> Self {
        assert_eq!(check(&spec), [], "the workflow is well-formed");
        let parts = first_parts(&spec);
        let mut play =
            Self { spec, state: WorkflowState::Running, parts, results: Results::new(), why: None };
        play.go();
        play
    }

    fn go(&mut self) {
        for step in advance(&self.spec, self.state, &self.parts, &self.results) {
            match step {
                WorkflowStep::Expand { parts } => self.parts.extend(parts),
                WorkflowStep::Start { part } => {
                    assert_eq!(self.parts[part].state, PartState::Pending);
                    self.parts[part].state.apply(PartMove::Start).unwrap();
                }
                WorkflowStep::Skip { part, why } => {
                    assert_eq!(self.parts[part].state, PartState::Pending);
                    self.parts[part].state.apply(PartMove::Skip).unwrap();
                    self.parts[part].skip = Some(why);
                }
                WorkflowStep::Refuse { part, .. } => self.parts[part].state.apply(PartMove::Fail).unwrap(),
                WorkflowStep::Cancel { part } => self.parts[part].state.apply(PartMove::Cancel).unwrap(),
                WorkflowStep::Stop { part } => assert_eq!(self.parts[part].state, PartState::Running),
                WorkflowStep::Finish { event, why } => {
                    (self.state, self.why) = (self.state.next(event).unwrap(), why);
                }
            }
        }
        if self.state == WorkflowState::Running {
            let steps = advance(&self.spec, self.state, &self.parts, &self.results);
            let new = steps.iter().filter(|step| !matches!(step, WorkflowStep::Stop { .. })).count();
            assert_eq!(new, 0, "asking twice gives nothing new: {steps:?}");
        }
    }

    fn end(&mut self, part: usize, state: PartState) {
        self.end_with(part, state, result());
    }

    fn end_with(&mut self, part: usize, state: PartState, result: RunResult) {
        assert_eq!(self.parts[part].state, PartState::Running, "{} runs", self.parts[part].name(&self.spec));
        self.parts[part]
            .state
            .apply(match state {
                PartState::Done => PartMove::Finish,
                PartState::Failed => PartMove::Fail,
                _ => PartMove::Cancel,
            })
            .unwrap();
        self.results.insert(part, result);
        self.go();
    }

    fn cancel(&mut self) {
        self.state = self.state.next(WorkflowMove::Cancel).unwrap();
        self.go();
    }

    fn running(&self) -> Vec<usize> {
        (0..self.parts.len()).filter(|at| self.parts[*at].state == PartState::Running).collect()
    }

    fn shown(&self) -> String {
        let part = |part: &Part| match part.skip {
            Some(why) => format!("{} skipped: {why}", part.name(&self.spec)),
            None => format!("{} {}", part.name(&self.spec), part.state),
        };
        format!("{}: {}", self.state, self.parts.iter().map(part).collect::<Vec<_>>().join(", "))
    }
}

#[test]
fn a_line_runs_from_its_beginning_to_its_end() {
    let mut play = Play::new(spec(vec![stage("write", &[]), stage("review", &[0]), stage("refine", &[1])]));
    assert_eq!(play.shown(), "running: write running, review pending, refine pending");
    play.end(0, PartState::Done);
    play.end(1, PartState::Done);
    assert_eq!(play.shown(), "running: write done, review done, refine running");
    play.end(2, PartState::Done);
    assert_eq!(play.shown(), "succeeded: write done, review done, refine done");
}

#[test]
fn a_failure_leaves_those_alone_that_are_at_work() {
    let mut play =
        Play::new(spec(vec![stage("a", &[]), stage("b", &[]), stage("c", &[1]), stage("d", &[0])]));
    play.end(0, PartState::Failed);
    assert_eq!(play.shown(), "running: a failed, b running, c skipped: over, d skipped: over");
    play.end(1, PartState::Done);
    assert_eq!(play.state, WorkflowState::Failed);
    assert_eq!(play.why.as_deref(), Some("a failed"));
}

#[test]
fn a_hasty_workflow_stops_them() {
    let mut hasty = spec(vec![stage("a", &[]), stage("b", &[])]);
    hasty.fail_fast = true;
    let parts = [PartState::Failed, PartState::Running];
    let parts: Vec<Part> = (0..2).map(|at| part(at, parts[at], None)).collect();
    let steps = advance(&hasty, WorkflowState::Running, &parts, &Results::new());
    assert_eq!(steps, [WorkflowStep::Stop { part: 1 }]);
}

#[test]
fn a_stage_may_fail_without_harm_or_with_harm_for_its_own_only() {
    let mut stages = vec![stage("a", &[]), stage("b", &[0]), stage("c", &[]), stage("d", &[2])];
    stages[0].on_failure = OnFailure::SkipDependents;
    stages[2].on_failure = OnFailure::Continue;
    let mut play = Play::new(spec(stages));
    play.end(0, PartState::Failed);
    play.end(2, PartState::Cancelled);
    assert_eq!(play.shown(), "running: a failed, b skipped: upstream, c cancelled, d running");
    play.end(3, PartState::Done);
    assert_eq!(play.state, WorkflowState::Succeeded, "one of the last stages produced a result");
}

#[test]
fn a_workflow_of_which_nothing_came_out_has_failed() {
    let mut stages = vec![stage("a", &[]), stage("b", &[0])];
    stages[0].on_failure = OnFailure::SkipDependents;
    let mut play = Play::new(spec(stages));
    play.end(0, PartState::Failed);
    assert_eq!(play.shown(), "failed: a failed, b skipped: upstream");
    assert_eq!(play.why.as_deref(), Some("none of the last stages produced a result: b"));
}

#[test]
fn a_condition_decides_and_a_skipped_stage_is_no_obstacle() {
    let mut stages =
        vec![stage("write", &[]), stage("review", &[0]), stage("refine", &[1]), stage("sum-up", &[2])];
    stages[1].returns = Returns::Verdict;
    stages[2].when = Some(Condition::try_from("review.approve == false".to_owned()).unwrap());
    for (approve, expected) in [(true, "refine skipped: condition"), (false, "refine running")] {
        let mut play = Play::new(spec(stages.clone()));
        play.end(0, PartState::Done);
        let verdict = Some(Verdict { approve: Some(approve), ..Verdict::default() });
        play.end_with(1, PartState::Done, RunResult { verdict, ..result() });
        assert!(play.shown().contains(expected), "{}", play.shown());
        assert_eq!(play.shown().contains("sum-up running"), approve);
    }
}

#[test]
fn a_list_spreads_a_stage() {
    let mut stages = vec![stage("plan", &[]), stage("work", &[0]), stage("join", &[1])];
    stages[0].returns = Returns::List;
    stages[1].copies = Copies::EachOf(0);
    let play = |items: &[&str]| {
        let mut play = Play::new(spec(stages.clone()));
        let items = items.iter().map(|item| (*item).to_owned()).collect();
        play.end_with(0, PartState::Done, RunResult { items, ..result() });
        play
    };
    let mut two = play(&["x", "y"]);
    assert_eq!(two.shown(), "running: plan done, join pending, work-1 running, work-2 running");
    assert_eq!(two.parts[3].item.as_deref(), Some("y"));
    two.end(3, PartState::Done);
    two.end(2, PartState::Done);
    assert!(two.shown().contains("join running"));
    assert!(play(&[]).shown().contains("join running"), "nothing to do is no failure");
    let many = play(&["x"; MAX_PARTS]);
    assert!(
        many.shown().starts_with("failed: plan done, join skipped: upstream, work-1 failed"),
        "{}",
        many.shown()
    );
}

#[test]
fn copies_are_counted_out() {
    let mut stages = vec![stage("try", &[]), stage("judge", &[0])];
    stages[0].copies = Copies::Count(3);
    stages[0].on_failure = OnFailure::Continue;
    let mut play = Play::new(spec(stages));
    play.end(1, PartState::Failed);
    play.end(0, PartState::Done);
    assert_eq!(play.shown(), "running: try-1 done, try-2 failed, try-3 running, judge pending");
    play.end(2, PartState::Done);
    assert!(play.shown().contains("judge running"));
}

#[test]
fn a_cancelled_workflow_ends_when_its_tasks_have() {
    let mut play = Play::new(spec(vec![stage("a", &[]), stage("b", &[]), stage("c", &[0, 1])]));
    play.cancel();
    assert_eq!(play.shown(), "cancelling: a running, b running, c cancelled");
    play.end(0, PartState::Cancelled);
    play.end(1, PartState::Done);
    assert_eq!(play.shown(), "cancelled: a cancelled, b done, c cancelled");
}

#[test]
fn what_is_wanting_is_tried_again() {
    let mut stages =
        vec![stage("plan", &[]), stage("work", &[0]), stage("sum-up", &[1]), stage("other", &[])];
    stages[0].returns = Returns::List;
    stages[1].copies = Copies::EachOf(0);
    let spec = spec(stages);
    let skipped = |stage, why| part(stage, PartState::Skipped, Some(why));
    let parts = [
        part(0, PartState::Failed, None),
        skipped(2, Skip::Upstream),
        part(3, PartState::Done, None),
        skipped(1, Skip::Upstream),
    ];
    let fates = plan_retry(&spec, &parts, None).fates;
    let expected =
        [PartRetry::Retried { part: 0 }, PartRetry::Retried { part: 1 }, PartRetry::Replaced { part: 3 }];
    assert_eq!(fates, expected, "a list that was never counted out will be, and nobody asks for more");
    let retry = plan_retry(&spec, &parts, Some(3));
    assert_eq!(retry.parts, [Part::new(3, 1, None)], "what was done is done once more if that is wanted");
    assert!(retry.fates.contains(&PartRetry::Replaced { part: 2 }));
    let retry = plan_retry(&spec, &parts, Some(0));
    assert_eq!(retry.parts, [Part::new(0, 1, None), Part::new(2, 1, None)], "the list will be another one");
    assert!(!retry.fates.contains(&PartRetry::Replaced { part: 2 }));
    let by_choice = [skipped(3, Skip::Condition)];
    assert_eq!(plan_retry(&spec, &by_choice, None), RetryPlan::default());
}
