//! How a workflow must end, said without any order of events.
//!
//! A second opinion on [`super::advance`], for all tests that play workflows through, here, in the store and with real
//! processes. Only for workflows without conditions, copies and lists, that nobody cancels: there the graph and the fates
//! of the stages say everything.

use super::{OnFailure, PartState, Spec, WorkflowState};

/// How a workflow ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prediction {
    /// The state of the whole.
    pub state: WorkflowState,
    /// The states in which each stage may be. They are several where it is a matter of who was quicker.
    pub stages: Vec<Vec<PartState>>,
}

/// The end of a workflow whose stages come to `fates`, should they be started.
pub fn predict(spec: &Spec, fates: &[PartState]) -> Prediction {
    let free = undisturbed(spec, fates);
    let policy = |at: usize| spec.stages[at].on_failure;
    let is_doomed = (0..free.len()).any(|at| free[at].is_bad() && policy(at) == OnFailure::Fail);
    let has_result = spec.sinks().into_iter().any(|at| free[at] == PartState::Done);
    let state = if is_doomed || !has_result { WorkflowState::Failed } else { WorkflowState::Succeeded };
    let stages = free.iter().map(|state| match is_doomed {
        false => vec![*state],
        // Whatever is at work when another fails is stopped in a hurry, or else comes to its end.
        true if spec.fail_fast => vec![*state, PartState::Skipped, PartState::Cancelled],
        true => vec![*state, PartState::Skipped],
    });
    Prediction { state, stages: stages.collect() }
}

/// What each stage would come to if no failure ever doomed the whole.
fn undisturbed(spec: &Spec, fates: &[PartState]) -> Vec<PartState> {
    let mut free: Vec<Option<PartState>> = vec![None; spec.stages.len()];
    while free.contains(&None) {
        for (at, stage) in spec.stages.iter().enumerate() {
            let Some(needs) = stage.needs.iter().map(|need| free[*need]).collect::<Option<Vec<_>>>() else {
                continue;
            };
            let bars = |(need, state): (&usize, PartState)| {
                let goes_on = spec.stages[*need].on_failure == OnFailure::Continue;
                state == PartState::Skipped || (state.is_bad() && !goes_on)
            };
            let is_barred = stage.needs.iter().zip(needs).any(bars);
            free[at] = Some(if is_barred { PartState::Skipped } else { fates[at] });
        }
    }
    free.into_iter().flatten().collect()
}
