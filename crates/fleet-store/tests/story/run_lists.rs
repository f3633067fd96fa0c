//! Lists of runs, and which run somebody means.

use fleet_core::id::{BatchId, IdSuffix, ProjectId, RunId, TaskId};
use fleet_core::run::{Ending, Run};
use fleet_core::task::{TaskMove, TaskState};
use fleet_store::StoreError;
use fleet_store::ops::{
    CancelledUnstarted, Claim, ListRuns, NewTask, Prepared, ResolveRun, ResolveSuffix, RunFilter, Suffixed,
};

use crate::harness::{HERE, Rig};

story! {
    runs_are_listed_newest_first
    a_list_is_narrowed_by_each_condition
    a_listed_run_knows_its_task_and_project
    what_was_cancelled_before_it_had_a_run_is_listed_apart
    a_run_is_meant_by_its_id
    a_run_is_meant_by_its_task
    a_run_is_meant_by_its_branch
    everything_is_found_by_the_end_of_its_id
}

async fn list(rig: &Rig, filter: RunFilter) -> Vec<RunId> {
    rig.ok(ListRuns { filter, limit: 100 }).await.iter().map(|listed| listed.run.id).collect()
}

async fn runs_are_listed_newest_first(rig: &Rig) {
    let mut all = Vec::new();
    rig.tasks(6).await;
    for claimed in rig.claim(6).await {
        if all.len() % 2 == 0 {
            rig.succeed(&claimed.run).await;
        }
        all.insert(0, claimed.run.id);
    }
    assert_eq!(list(rig, RunFilter::default()).await, all, "whether they live or not");
    let live = RunFilter { live_only: true, ..RunFilter::default() };
    assert_eq!(list(rig, live.clone()).await, [all[0], all[2], all[4]]);
    for limit in [0, 1, 3] {
        let some = rig.ok(ListRuns { filter: RunFilter::default(), limit }).await;
        let some: Vec<RunId> = some.iter().map(|listed| listed.run.id).collect();
        assert_eq!(some, all[..usize::try_from(limit).unwrap()]);
    }
    let none = ListRuns { filter: live, limit: -1 };
    assert!(rig.ok(none).await.is_empty());
}

/// What a filter looks at, beside the run.
struct Known {
    run: Run,
    batch: Option<BatchId>,
    live: bool,
    newest: bool,
}

/// Twelve tasks of two projects, agents, places and batches; every third tried twice, some still at work.
async fn world(rig: &Rig) -> (Vec<Known>, [BatchId; 2]) {
    let projects = [rig.project("/one/.git").await, rig.project("/two/.git").await];
    let batches: [BatchId; 2] = [rig.id(), rig.id()];
    let draft = |n: usize| -> NewTask {
        let mut draft = rig.draft_in(projects[n % 2], "one");
        draft.spec.agent = Some(["codex", "gemini"][n / 2 % 2].parse().unwrap());
        draft.spec.batch = [None, Some(batches[0]), Some(batches[1])][n % 3];
        draft
    };
    rig.add((0..12).map(draft).collect()).await;
    let mut known = Vec::new();
    for round in 0..2 {
        for n in 0..12 {
            let place = [HERE, "there"][n / 4 % 2].to_owned();
            let Some(claimed) = rig.ok(Claim { place, ..rig.claiming(1) }).await.pop() else { break };
            let (batch, run) = (claimed.task.spec.batch, claimed.run);
            let again = round == 0 && n % 3 == 0;
            let live = !again && n % 4 == 1;
            known.push(Known { run: run.clone(), batch, live, newest: !again });
            // Ends only after all of a round are claimed: it would be claimed again at once.
        }
        for one in known.iter().filter(|one| !one.live && one.run.attempt == round + 1) {
            let ending = if one.newest { Ending::Succeeded } else { Ending::Released("again".to_owned()) };
            if one.newest {
                rig.work(&one.run).await;
            }
            rig.end(&one.run, ending).await;
        }
    }
    known.reverse();
    (known, batches)
}

async fn a_list_is_narrowed_by_each_condition(rig: &Rig) {
    let (known, batches) = world(rig).await;
    assert_eq!(known.len(), 16, "twelve tasks, four of them twice");
    let projects: Vec<ProjectId> = known.iter().map(|one| one.run.project).collect();
    let tasks: Vec<TaskId> = known.iter().map(|one| one.run.task).collect();
    let mut checked = 0;
    for bits in 0..128_usize {
        let has = |bit: usize| bits >> bit & 1 == 1;
        let filter = RunFilter {
            live_only: has(0),
            project: has(1).then(|| projects[0]),
            task: has(2).then(|| tasks[0]),
            batch: has(3).then(|| batches[0]),
            place: has(4).then(|| HERE.to_owned()),
            agent: has(5).then(|| "codex".to_owned()),
            newest_of_task: has(6),
        };
        let fits = |one: &&Known| {
            (one.live || !filter.live_only)
                && filter.project.is_none_or(|project| one.run.project == project)
                && filter.task.is_none_or(|task| one.run.task == task)
                && filter.batch.is_none_or(|batch| one.batch == Some(batch))
                && filter.place.as_ref().is_none_or(|place| one.run.place == *place)
                && filter.agent.as_ref().is_none_or(|agent| one.run.agent == *agent)
                && (one.newest || !filter.newest_of_task)
        };
        let expected: Vec<RunId> = known.iter().filter(fits).map(|one| one.run.id).collect();
        checked += expected.len();
        assert_eq!(list(rig, filter.clone()).await, expected, "{filter:?}");
    }
    assert!(checked > 200, "the conditions fit something: {checked}");
}

async fn a_listed_run_knows_its_task_and_project(rig: &Rig) {
    let batch = rig.id();
    let mut draft = rig.draft("a title").await;
    draft.spec.batch = Some(batch);
    draft.spec.branch = Some("chosen".parse().unwrap());
    let id = rig.add_one(draft).await;
    let run = rig.start(id).await;
    let all = || ListRuns { filter: RunFilter::default(), limit: 9 };
    let listed = rig.ok(all()).await.pop().unwrap();
    assert_eq!(listed.run, run);
    assert_eq!(listed.title.map(|title| title.to_string()).as_deref(), Some("a title"));
    assert_eq!((listed.task_state, listed.batch), (Some(TaskState::Running), Some(batch)));
    assert_eq!((listed.task_branch.as_deref(), listed.project_name.as_str()), (Some("chosen"), "/repo/.git"));
    rig.moved(id, TaskMove::Cancel).await;
    rig.ok(rig.deleting(id)).await;
    let listed = rig.ok(all()).await.pop().unwrap();
    assert_eq!((listed.run.id, listed.title, listed.task_state, listed.batch), (run.id, None, None, None));
    let newest = RunFilter { newest_of_task: true, ..RunFilter::default() };
    assert_eq!(list(rig, newest).await, [run.id], "also when the task is gone");
}

async fn what_was_cancelled_before_it_had_a_run_is_listed_apart(rig: &Rig) {
    let (project, other) = (rig.project("/one/.git").await, rig.project("/two/.git").await);
    let tried = rig.add_one(rig.draft_in(project, "tried")).await;
    rig.start(tried).await;
    let batch = rig.id();
    let mut drafts = [project, project, other].map(|project| rig.draft_in(project, "one"));
    drafts[1].spec.batch = Some(batch);
    let mut ids = Vec::new();
    for draft in drafts {
        ids.push(rig.add_one(draft).await);
    }
    rig.add_one(rig.draft_in(project, "open")).await;
    for id in ids.iter().chain([&tried]) {
        rig.moved(*id, TaskMove::Cancel).await;
    }
    let find = |project, batch, limit| async move {
        let found = rig.ok(CancelledUnstarted { project, batch, limit }).await;
        found.iter().map(|task| task.id).collect::<Vec<_>>()
    };
    assert_eq!(find(None, None, 9).await, [ids[2], ids[1], ids[0]], "newest first, whatever ran is not");
    assert_eq!(find(Some(project), None, 9).await, [ids[1], ids[0]]);
    assert_eq!(find(None, Some(batch), 9).await, [ids[1]]);
    assert_eq!(find(None, None, 1).await, [ids[2]]);
}

fn meaning(typed: &str) -> ResolveRun {
    ResolveRun { typed: typed.to_owned(), project: None }
}

async fn a_run_is_meant_by_its_id(rig: &Rig) {
    rig.tasks(2).await;
    let runs: Vec<Run> = rig.claim(2).await.into_iter().map(|claimed| claimed.run).collect();
    let whole = runs[1].id.to_string();
    assert_eq!(rig.ok(meaning(&whole)).await, runs[1].id);
    assert_eq!(rig.ok(meaning(&whole.to_uppercase())).await, runs[1].id);
    let error = rig.refused(meaning(&whole[..9])).await;
    let both = matches!(&error, StoreError::Ambiguous { matches, .. } if matches.len() == 2);
    assert!(both, "{error}");
    let other: RunId = rig.id();
    for unknown in [other.to_string(), "rzzzz".to_owned(), "no such branch".to_owned(), String::new()] {
        let error = rig.refused(meaning(&unknown)).await;
        assert!(matches!(&error, StoreError::RunNotFound(text) if *text == unknown), "{error}");
    }
}

async fn a_run_is_meant_by_its_task(rig: &Rig) {
    let id = rig.task("one").await;
    let error = rig.refused(meaning(id.as_str())).await;
    assert!(matches!(error, StoreError::RunNotFound(_)), "it never ran: {error}");
    let first = rig.start(id).await;
    assert_eq!(rig.ok(meaning(id.as_str())).await, first.id);
    rig.end(&first, Ending::Released("again".to_owned())).await;
    let second = rig.start(id).await;
    assert_eq!(rig.ok(meaning(id.as_str())).await, second.id, "the newest");
    assert_eq!(rig.ok(meaning(&id.as_str()[..8])).await, second.id);
}

async fn a_run_is_meant_by_its_branch(rig: &Rig) {
    let projects = [rig.project("/one/.git").await, rig.project("/two/.git").await];
    let mut runs = Vec::new();
    for n in 0..3 {
        let id = rig.add_one(rig.draft_in(projects[n % 2], "one")).await;
        let run = rig.start(id).await;
        let branch = Prepared { branch: Some("feature/x".to_owned()), ..Prepared::default() };
        rig.ok(rig.preparing(&run, branch)).await;
        rig.succeed(&run).await;
        runs.push(run.id);
        if n == 0 {
            assert_eq!(rig.ok(meaning("feature/x")).await, runs[0]);
        }
    }
    let error = rig.refused(meaning("feature/x")).await;
    let named = matches!(&error, StoreError::Ambiguous { matches, .. } if matches.len() == 2);
    assert!(named, "one of each project: {error}");
    let own = |project| ResolveRun { project: Some(project), ..meaning("feature/x") };
    assert_eq!(rig.ok(own(projects[0])).await, runs[2], "the newest of the project");
    assert_eq!(rig.ok(own(projects[1])).await, runs[1]);
    let third = rig.project("/three/.git").await;
    let error = rig.refused(own(third)).await;
    assert!(matches!(error, StoreError::Ambiguous { .. }), "{error}");
}

async fn everything_is_found_by_the_end_of_its_id(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let mut draft = rig.draft_in(project, "one");
    let batch: BatchId = rig.id();
    draft.spec.batch = Some(batch);
    let task = rig.add_one(draft).await;
    let run = rig.start(task).await;
    let find = async |end: &str, project: Option<ProjectId>| {
        let suffix = IdSuffix::parse(end).unwrap();
        rig.ok(ResolveSuffix { suffix, project }).await
    };
    let other = rig.project("/two/.git").await;
    for place in [None, Some(project)] {
        assert_eq!(find(task.short(), place).await.tasks, [task]);
        assert_eq!(find(run.id.short(), place).await.runs, [run.id]);
        assert_eq!(find(batch.short(), place).await.batches, [batch]);
        assert_eq!(find(&task.as_str()[1..], place).await.tasks, [task]);
    }
    assert_eq!(find(task.short(), Some(other)).await, Suffixed::default());
    assert_eq!(find(&task.as_str()[..8], None).await, Suffixed::default(), "a beginning is no end");
}
