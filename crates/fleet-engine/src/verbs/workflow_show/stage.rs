//! The stages of a workflow, in the order in which they build on each other.

use fleet_core::run::Reason;
use fleet_core::task::Task;
use fleet_core::workflow::{ChangeRule, Copies, Part, PartState, Skip, Spec};
use fleet_store::ops::{PartDetail, StoredWorkflow};

use fleet_api::views::StageView;

use crate::verbs::prelude::*;

/// All that count: those in whose place others came are left out. A stage over a list that is not known yet stands there
/// once.
pub(super) fn all(detail: &StoredWorkflow, now: Millis) -> Vec<StageView> {
    let spec = &detail.spec;
    let ranks = ranks(spec);
    let shown = ShownStages { spec, now };
    let mut rows: Vec<(usize, usize, u32, StageView)> = Vec::new();
    for part in detail.parts.iter().filter(|part| !part.part.replaced) {
        let at = part.part.stage;
        let rank = ranks.get(at).copied().unwrap_or_default();
        rows.push((rank, at, part.part.number, shown.part(part)));
    }
    for (at, stage) in spec.stages.iter().enumerate() {
        let is_open = matches!(stage.copies, Copies::EachOf(_)) && !rows.iter().any(|row| row.1 == at);
        if is_open {
            let mut view = shown.plain(&Part::new(at, 1, None));
            view.name = format!("{}-*", stage.name);
            rows.push((ranks[at], at, 0, view));
        }
    }
    rows.sort_by_key(|(rank, at, number, _)| (*rank, *at, *number));
    rows.into_iter().map(|(.., view)| view).collect()
}

/// How many stages come one after the other before each.
pub(in crate::verbs) fn ranks(spec: &Spec) -> Vec<usize> {
    let mut ranks = vec![0; spec.stages.len()];
    // A chain is as long as there are stages at most; a workflow that was checked has no cycles.
    for _ in 0..spec.stages.len() {
        let mut changed = false;
        for (at, stage) in spec.stages.iter().enumerate() {
            let rank = stage.needs.iter().filter_map(|need| ranks.get(*need)).map(|rank| rank + 1).max();
            let rank = rank.unwrap_or(0);
            changed |= rank != ranks[at];
            ranks[at] = rank;
        }
        if !changed {
            break;
        }
    }
    ranks
}

struct ShownStages<'a> {
    spec: &'a Spec,
    now: Millis,
}

impl ShownStages<'_> {
    /// What the workflow itself says of a part.
    fn plain(&self, part: &Part) -> StageView {
        let stage = &self.spec.stages[part.stage];
        let named = |at: &usize| self.spec.stages.get(*at).map(|stage| stage.name.to_string());
        StageView {
            name: part.name(self.spec),
            stage: stage.name.to_string(),
            index: part.stage,
            number: part.number,
            item: part.item.clone(),
            needs: stage.needs.iter().filter_map(named).collect(),
            state: part.state.get(),
            status: part.state.to_string(),
            timed_out: false,
            why: part.skip.map(|skip| because(skip, part, self.spec)),
            task: None,
            run: None,
            attempts: 0,
            agent: stage.agent.as_ref().map(ToString::to_string),
            model: stage.model.as_ref().map(ToString::to_string),
            read_only: stage.changes == ChangeRule::None,
            branch: None,
            activity: None,
            percent: None,
            summary: None,
            input_tokens: 0,
            output_tokens: 0,
            micro_usd: 0,
            started_at: None,
            ended_at: None,
        }
    }

    fn part(&self, detail: &PartDetail) -> StageView {
        let mut view = self.plain(&detail.part);
        view.why = view.why.or_else(|| detail.detail.clone());
        view.started_at = detail.started_at.map(Moment);
        view.ended_at = detail.ended_at.map(Moment);
        if let Some(task) = &detail.task {
            self.task(&mut view, task);
        }
        if let Some(run) = &detail.run {
            view.run = Some(run.id);
            view.agent = Some(run.agent.clone());
            view.model = run.model.clone().or(view.model);
            view.branch.clone_from(&run.branch);
            view.activity.clone_from(&run.activity);
            view.percent = run.percent;
            view.input_tokens = run.usage.input_tokens;
            view.output_tokens = run.usage.output_tokens;
            view.micro_usd = run.usage.micro_usd;
            view.why = view.why.or_else(|| run.detail.clone().filter(|_| view.state.is_bad()));
        }
        view.summary = detail.result.as_ref().map(|result| result.summary.clone());
        // Who only looked left no branch, unless there is something on it after all.
        let changed = detail.result.as_ref().is_some_and(|result| result.commit_count > 0);
        if view.read_only && view.state.is_over() && !changed {
            view.branch = None;
        }
        view
    }

    fn task(&self, view: &mut StageView, task: &Task) {
        view.task = Some(task.id);
        view.attempts = task.history.attempts;
        view.timed_out = view.state == PartState::Failed && task.history.reason == Some(Reason::TimedOut);
        if view.state == PartState::Running {
            task.status(self.now).as_str().clone_into(&mut view.status);
            view.why = task.history.remark.clone().map(|remark| match task.history.reason {
                Some(reason) => format!("{reason}: {remark}"),
                None => remark,
            });
        }
    }
}

/// Why a part was skipped, for people.
pub(in crate::verbs) fn because(skip: Skip, part: &Part, spec: &Spec) -> String {
    let stage = &spec.stages[part.stage];
    match skip {
        Skip::Condition => match &stage.when {
            Some(when) => when.unmet(),
            None => "its list was empty".to_owned(),
        },
        Skip::Upstream => "a stage that it needs did not finish".to_owned(),
        Skip::Over => "the workflow had failed before it could start".to_owned(),
    }
}
