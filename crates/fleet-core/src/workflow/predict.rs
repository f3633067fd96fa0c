//! How a workflow must end, said without any order of events.
//!
//! A second opinion on [`super::advance`], for all tests that play workflows through, here, in the store and with real
//! processes. Only for workflows without copies and lists that are not cancelled and whose conditions only ask whether
//! stages are ok: there the graph and the fates of the stages say everything.

use super::condition::ConditionValue;
use super::{OnFailure, Part, PartState, Results, Skip, Spec, StageFacts, WorkflowState};
use crate::transition::Current;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    pub state: WorkflowState,
    /// The states in which each stage may be. They are several where it is a matter of who was quicker.
    pub stages: Vec<Vec<PartState>>,
}

/// The end of a workflow whose stages come to `fates`, should they be started.
pub fn predict(spec: &Spec, fates: &[PartState]) -> Prediction {
    let free = undisturbed(spec, fates);
    let is_fatal = |part: &Part| part.state.is_bad() && spec.stages[part.stage].on_failure == OnFailure::Fail;
    let is_doomed = free.iter().any(is_fatal);
    let is_fine = |part: &Part| part.state == PartState::Done || part.skip == Some(Skip::Condition);
    let has_result = spec.last_stages().into_iter().any(|at| is_fine(&free[at]));
    let state = if is_doomed || !has_result { WorkflowState::Failed } else { WorkflowState::Succeeded };
    let stages = free.iter().map(|part| match is_doomed {
        false => vec![part.state.get()],
        // Whatever is at work when another fails is stopped in a hurry, or else comes to its end.
        true if spec.fail_fast => vec![part.state.get(), PartState::Skipped, PartState::Cancelled],
        true => vec![part.state.get(), PartState::Skipped],
    });
    Prediction { state, stages: stages.collect() }
}

/// What each stage would come to if no failure ever doomed the whole.
#[expect(clippy::disallowed_methods, reason = "a prediction is not moved, it is known")]
fn undisturbed(spec: &Spec, fates: &[PartState]) -> Vec<Part> {
    let mut free: Vec<Part> = (0..spec.stages.len()).map(|at| Part::new(at, 1, None)).collect();
    let is_next = |free: &[Part], at: usize| {
        let needs = &spec.stages[at].needs;
        !free[at].state.is_over() && needs.iter().all(|need| free[*need].state.is_over())
    };
    while let Some(at) = (0..free.len()).find(|at| is_next(&free, *at)) {
        let skip = skip(spec, &free, at);
        let state = if skip.is_some() { PartState::Skipped } else { fates[at] };
        free[at] = Part { state: Current::stored(state), skip, ..Part::new(at, 1, None) };
    }
    free
}

/// Why a stage is not started, now that all that it needs is over.
fn skip(spec: &Spec, free: &[Part], at: usize) -> Option<Skip> {
    let bars = |need: &usize| match free[*need].state.get() {
        PartState::Skipped => free[*need].skip == Some(Skip::Upstream),
        state => state.is_bad() && spec.stages[*need].on_failure != OnFailure::Continue,
    };
    let is_ok = |name: &str| {
        let of = name.strip_suffix(".ok").and_then(|name| spec.find(name));
        of.map_or(ConditionValue::Null, |of| StageFacts::of(of, free, &Results::new()).value("ok"))
    };
    let stage = &spec.stages[at];
    if stage.needs.iter().any(bars) {
        return Some(Skip::Upstream);
    }
    stage.when.as_ref().filter(|when| !when.holds(&is_ok)).map(|_| Skip::Condition)
}
