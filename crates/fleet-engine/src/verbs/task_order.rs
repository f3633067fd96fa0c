//! Looks at the open tasks of a project as a whole: their best order, the longest chain, what holds up most, what will
//! never start, and dependencies that seem to be missing.

use std::collections::{BTreeMap, BTreeSet};

use fleet_api::verbs::task_order::{Answer, OrderedTask, Request, Suggestion};
use fleet_api::views::ObstacleView;
use fleet_core::deps::{self, Edge};
use fleet_core::plan::{self, Hint, OpenTask, Plan};
use fleet_core::task::{Task, TaskState};
use fleet_store::ops::StatusFilter;

use super::prelude::*;
use super::texts::{self, TextFilter};

/// At most this many dependencies are read: the graph of all considered tasks, unless each waits for dozens.
const MAX_EDGES: i64 = 20_000;
/// At most this many tasks are ordered.
const MAX_TASKS: usize = 500;
/// How many bottlenecks are named.
const NAMED: usize = 5;

pub(crate) async fn run(engine: &Engine, request: Request) -> Outcome<Answer> {
    let wanted = engine.task_ids(&request.tasks).await?;
    let found =
        texts::read(engine, &TextFilter { statuses: StatusFilter::open().0, ..TextFilter::default() })
            .await?;
    let mut tasks = found.tasks;
    let more = found.more || tasks.len() > MAX_TASKS;
    tasks.truncate(MAX_TASKS);
    for id in &wanted {
        if !tasks.iter().any(|task| task.id == *id) {
            tasks.push(engine.call(ops::GetTask { id: *id }).await?.task);
        }
    }
    let roots = tasks.iter().map(|task| task.id).collect();
    let graph = engine.call(ops::DependencyTree { roots, with_done: false, limit: MAX_EDGES }).await?;
    let states: BTreeMap<TaskId, TaskState> =
        graph.nodes.iter().map(|(id, node)| (*id, node.state)).collect();
    if !wanted.is_empty() {
        let behind = deps::closure(&graph.edges);
        let near: BTreeSet<TaskId> =
            wanted.iter().flat_map(|id| behind.get(id).into_iter().flatten().chain([id])).copied().collect();
        tasks.retain(|task| near.contains(&task.id));
    }
    let look = OpenTasks { tasks, edges: graph.edges, states, now: engine.now() };
    // Every text is searched for the others: a server has others to answer meanwhile.
    blocking(move || look.answer(more)).await
}

struct OpenTasks {
    tasks: Vec<Task>,
    edges: Vec<Edge>,
    states: BTreeMap<TaskId, TaskState>,
    now: Millis,
}

impl OpenTasks {
    fn answer(&self, more: bool) -> Answer {
        let items: Vec<OpenTask> = self.tasks.iter().map(item).collect();
        let plan = plan::plan(&items, &self.edges);
        let by_id: BTreeMap<TaskId, &Task> = self.tasks.iter().map(|task| (task.id, task)).collect();
        let order: Vec<OrderedTask> =
            plan.steps.iter().filter_map(|step| Some(self.step(step, by_id.get(&step.id)?))).collect();
        let mut by_status: BTreeMap<String, usize> = BTreeMap::new();
        for step in &order {
            *by_status.entry(step.status.clone()).or_default() += 1;
        }
        let is_stuck =
            |step: &&OrderedTask| step.obstacle.as_ref().is_some_and(|obstacle| obstacle.needs_a_person);
        Answer {
            stuck: order.iter().filter(is_stuck).map(|step| step.id).collect(),
            critical_size: plan.steps.iter().map(|step| step.ends_at).max().unwrap_or(0),
            bottlenecks: bottlenecks(&plan),
            suggestions: self.suggestions(&items, &plan),
            critical_path: plan.critical_path,
            order,
            by_status,
            more,
        }
    }

    fn step(&self, step: &plan::PlannedTask, task: &Task) -> OrderedTask {
        let is_open = |on: &TaskId| self.states.get(on).is_some_and(|state| *state != TaskState::Done);
        let on = self.edges.iter().filter(|edge| edge.task == task.id).map(|edge| edge.on);
        let obstacle = deps::obstacle(&self.edges, &self.states, task.id).filter(|_| task.open_deps > 0);
        OrderedTask {
            id: task.id,
            title: task.spec.title.to_string(),
            status: task.status(self.now).as_str().to_owned(),
            priority: task.spec.priority.get(),
            after: on.filter(is_open).collect(),
            level: step.level,
            unblocks: step.unblocks,
            critical: step.is_critical,
            obstacle: obstacle.as_ref().map(ObstacleView::from),
        }
    }

    /// The plan's order decides which of two comes first.
    fn suggestions(&self, items: &[OpenTask], plan: &Plan) -> Vec<Suggestion> {
        let by_id: BTreeMap<TaskId, &OpenTask> = items.iter().map(|item| (item.id, item)).collect();
        let in_order: Vec<OpenTask> =
            plan.steps.iter().filter_map(|step| by_id.get(&step.id)).map(|item| (*item).clone()).collect();
        // A task that has started does not wait any more.
        let has_begun = |id: TaskId| self.states.get(&id) == Some(&TaskState::Running);
        let found = plan::missing(&in_order, &self.edges).into_iter();
        let found = found.filter(|missing| !has_begun(missing.edge.task));
        found
            .map(|missing| {
                let Edge { task, on } = missing.edge;
                let why = match missing.hint {
                    Hint::NamesId => format!("the text of {task} names the id {on}"),
                    Hint::NamesTitle => format!("the text of {task} names the title of {on}"),
                    Hint::SameFiles => {
                        "both claim the same files; they never run together, but neither depends on the other"
                            .to_owned()
                    }
                };
                Suggestion { task, on, why }
            })
            .collect()
    }
}

fn bottlenecks(plan: &Plan) -> Vec<TaskId> {
    let mut holding: Vec<&plan::PlannedTask> = plan.steps.iter().filter(|step| step.unblocks > 1).collect();
    holding.sort_by_key(|step| std::cmp::Reverse(step.unblocks));
    holding.iter().take(NAMED).map(|step| step.id).collect()
}

fn item(task: &Task) -> OpenTask {
    let spec = &task.spec;
    OpenTask {
        id: task.id,
        title: spec.title.to_string(),
        body: spec.description.to_string(),
        priority: spec.priority,
        complexity: spec.complexity,
        scope: spec.scope.clone(),
    }
}
