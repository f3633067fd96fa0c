//! What happens next in a workflow.

use super::condition::ConditionValue;
use super::{
    Copies, MAX_PARTS, OnFailure, Part, PartMove, PartState, Results, Skip, Spec, Stage, StageFacts,
    WorkflowMove, WorkflowState,
};

/// One thing to do. Steps are done in their order, all of them in one transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkflowStep {
    /// The list that a stage is for is known: these parts are added after all others, pending.
    Expand {
        parts: Vec<Part>,
    },
    /// A part becomes a task.
    Start {
        part: usize,
    },
    Skip {
        part: usize,
        why: Skip,
    },
    /// A part has failed without ever having been a task.
    Refuse {
        part: usize,
        why: String,
    },
    /// A part without a task is cancelled.
    Cancel {
        part: usize,
    },
    /// The task of a part is to be ended, if that was not asked for before.
    Stop {
        part: usize,
    },
    Finish {
        event: WorkflowMove,
        why: Option<String>,
    },
}

/// The parts that a workflow begins with. A stage over a list that is not known yet has none.
pub fn first_parts(spec: &Spec) -> Vec<Part> {
    let of = |(at, stage): (usize, &Stage)| match &stage.copies {
        Copies::One => vec![Part::new(at, 1, None)],
        Copies::Count(count) => (1..=*count).map(|number| Part::new(at, number, None)).collect(),
        Copies::Each(items) => each(at, items),
        Copies::EachOf(_) => Vec::new(),
    };
    spec.stages.iter().enumerate().flat_map(of).collect()
}

fn each(stage: usize, items: &[String]) -> Vec<Part> {
    let numbered = (1..).zip(items);
    let mut parts: Vec<Part> =
        numbered.map(|(number, item)| Part::new(stage, number, Some(item.clone()))).collect();
    if parts.is_empty() {
        // A row that says why nothing happened, for the stages that need this one.
        parts.push(Part::new(stage, 1, None));
    }
    parts
}

/// What is to be done now, given how the parts stand. Nothing, if all that can be done is under way. Asking again after
/// the steps were taken gives nothing new.
pub fn advance(spec: &Spec, state: WorkflowState, parts: &[Part], results: &Results) -> Vec<WorkflowStep> {
    let mut course = AdvancedParts { spec, parts: parts.to_vec(), results, steps: Vec::new() };
    match state {
        WorkflowState::Running => course.run(),
        WorkflowState::Cancelling => course.cancel(),
        WorkflowState::Succeeded | WorkflowState::Failed | WorkflowState::Cancelled => {}
    }
    course.steps
}

/// The parts as they will be when the steps so far are done.
struct AdvancedParts<'a> {
    spec: &'a Spec,
    parts: Vec<Part>,
    results: &'a Results,
    steps: Vec<WorkflowStep>,
}

impl AdvancedParts<'_> {
    fn run(&mut self) {
        loop {
            let taken = self.steps.len();
            match self.doomed_by() {
                Some(_) => self.stop_starting(),
                None => (0..self.spec.stages.len()).for_each(|stage| self.advance_stage(stage)),
            }
            if self.steps.len() == taken {
                break;
            }
        }
        if self.is_over() {
            let (event, why) = self.verdict();
            self.steps.push(WorkflowStep::Finish { event, why });
        }
    }

    /// Ends everything, in whatever state it is.
    fn cancel(&mut self) {
        for part in self.current() {
            match self.parts[part].state.get() {
                PartState::Pending => self.take(WorkflowStep::Cancel { part }),
                PartState::Running => self.take(WorkflowStep::Stop { part }),
                _ => {}
            }
        }
        if self.is_all_over() {
            self.steps.push(WorkflowStep::Finish { event: WorkflowMove::Settle, why: None });
        }
    }

    /// A stage that the workflow cannot do without has failed: nothing new is started.
    fn stop_starting(&mut self) {
        for part in self.current() {
            match self.parts[part].state.get() {
                PartState::Pending => self.take(WorkflowStep::Skip { part, why: Skip::Over }),
                PartState::Running
                    if self.spec.fail_fast && !self.steps.contains(&WorkflowStep::Stop { part }) =>
                {
                    self.take(WorkflowStep::Stop { part });
                }
                _ => {}
            }
        }
    }

    /// Starts or skips the parts of one stage, if all that it needs is over.
    fn advance_stage(&mut self, stage: usize) {
        let needs = &self.spec.stages[stage].needs;
        if !needs.iter().all(|need| self.is_stage_over(*need)) {
            return;
        }
        let barred = needs.iter().any(|need| self.blocks_dependents(*need));
        if !self.is_expanded(stage) && !self.expand(stage, barred) {
            return;
        }
        for part in self.current() {
            let this = &self.parts[part];
            if this.stage == stage && this.state == PartState::Pending {
                let step = self.decide(part, barred);
                self.take(step);
            }
        }
    }

    fn decide(&self, part: usize, barred: bool) -> WorkflowStep {
        let (this, stage) = (&self.parts[part], &self.spec.stages[self.parts[part].stage]);
        let is_empty = matches!(stage.copies, Copies::Each(_) | Copies::EachOf(_)) && this.item.is_none();
        if barred {
            WorkflowStep::Skip { part, why: Skip::Upstream }
        } else if is_empty || !self.holds(this, stage) {
            WorkflowStep::Skip { part, why: Skip::Condition }
        } else {
            WorkflowStep::Start { part }
        }
    }

    fn holds(&self, part: &Part, stage: &Stage) -> bool {
        let Some(condition) = &stage.when else { return true };
        condition.holds(&|name| match name.split_once('.') {
            Some(("params", name)) => {
                self.spec.params.get(name).cloned().map_or(ConditionValue::Null, ConditionValue::Text)
            }
            Some((of, fact)) => self
                .spec
                .find(of)
                .map_or(ConditionValue::Null, |of| StageFacts::of(of, &self.parts, self.results).value(fact)),
            None if name == "item" => part.item.clone().map_or(ConditionValue::Null, ConditionValue::Text),
            None if name == "number" => ConditionValue::Number(part.number.into()),
            None => ConditionValue::Null,
        })
    }

    /// Counts out a stage over a list; says whether it now has parts to look at.
    fn expand(&mut self, stage: usize, barred: bool) -> bool {
        let Copies::EachOf(source) = self.spec.stages[stage].copies else { return false };
        let items: Vec<String> = if barred { Vec::new() } else { self.items(source) };
        let room = MAX_PARTS.saturating_sub(self.current().len());
        if items.len() > room {
            let name = &self.spec.stages[source].name;
            let why = format!("{name} returned {} entries, and there is room for {room}", items.len());
            self.take(WorkflowStep::Expand { parts: vec![Part::new(stage, 1, None)] });
            self.take(WorkflowStep::Refuse { part: self.parts.len() - 1, why });
            return false;
        }
        self.take(WorkflowStep::Expand { parts: each(stage, &items) });
        true
    }

    fn items(&self, source: usize) -> Vec<String> {
        let of_source = self.current().into_iter().filter(|at| self.parts[*at].stage == source);
        let results = of_source.filter_map(|at| self.results.get(&at));
        results.flat_map(|result| result.items.iter().cloned()).collect()
    }

    /// Notes a step, and what the parts are after it. What has no arrow is not done.
    fn take(&mut self, step: WorkflowStep) {
        let moved = match &step {
            WorkflowStep::Start { part } => self.parts[*part].state.apply(PartMove::Start),
            WorkflowStep::Skip { part, why } => {
                self.parts[*part].skip = Some(*why);
                self.parts[*part].state.apply(PartMove::Skip)
            }
            WorkflowStep::Refuse { part, .. } => self.parts[*part].state.apply(PartMove::Fail),
            WorkflowStep::Cancel { part } => self.parts[*part].state.apply(PartMove::Cancel),
            WorkflowStep::Expand { parts } => {
                self.parts.extend(parts.iter().cloned());
                Ok(())
            }
            WorkflowStep::Stop { .. } | WorkflowStep::Finish { .. } => Ok(()),
        };
        if moved.is_ok() {
            self.steps.push(step);
        }
    }

    /// Indices of the parts that were not replaced.
    fn current(&self) -> Vec<usize> {
        (0..self.parts.len()).filter(|at| !self.parts[*at].replaced).collect()
    }

    fn of(&self, stage: usize) -> impl Iterator<Item = &Part> {
        self.parts.iter().filter(move |part| part.stage == stage && !part.replaced)
    }

    fn is_all_over(&self) -> bool {
        self.parts.iter().all(|part| part.replaced || part.state.is_over())
    }

    fn is_expanded(&self, stage: usize) -> bool {
        self.of(stage).next().is_some()
    }

    fn is_stage_over(&self, stage: usize) -> bool {
        self.is_expanded(stage) && self.of(stage).all(|part| part.state.is_over())
    }

    fn is_over(&self) -> bool {
        let all_expanded = (0..self.spec.stages.len()).all(|stage| self.is_expanded(stage));
        self.is_all_over() && (all_expanded || self.doomed_by().is_some())
    }

    /// Whether the stages that need this one cannot start.
    fn blocks_dependents(&self, stage: usize) -> bool {
        let goes_on = self.spec.stages[stage].on_failure == OnFailure::Continue;
        self.of(stage).any(|part| match part.state.get() {
            PartState::Failed | PartState::Cancelled => !goes_on,
            PartState::Skipped => part.skip != Some(Skip::Condition),
            _ => false,
        })
    }

    /// The part whose failure the workflow does not survive.
    fn doomed_by(&self) -> Option<&Part> {
        let fatal = |part: &&Part| self.spec.stages[part.stage].on_failure == OnFailure::Fail;
        self.parts.iter().filter(|part| part.state.is_bad() && !part.replaced).find(fatal)
    }

    /// How it ended. A workflow of which nothing came out has failed, whatever its stages were allowed to do.
    fn verdict(&self) -> (WorkflowMove, Option<String>) {
        if let Some(part) = self.doomed_by() {
            let why = format!(
                "{} {}",
                part.name(self.spec),
                if part.state == PartState::Failed { "failed" } else { "was cancelled" }
            );
            return (WorkflowMove::Fail, Some(why));
        }
        let sinks = self.spec.last_stages();
        let ended = || self.parts.iter().filter(|part| sinks.contains(&part.stage) && !part.replaced);
        let is_fine = |part: &Part| part.state == PartState::Done || part.skip == Some(Skip::Condition);
        if ended().any(is_fine) {
            return (WorkflowMove::Succeed, None);
        }
        let names: Vec<String> = ended().map(|part| part.name(self.spec)).collect();
        (WorkflowMove::Fail, Some(format!("none of the last stages produced a result: {}", names.join(", "))))
    }
}
