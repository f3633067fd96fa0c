//! Branches that authors chose: one task at a time has each.

use fleet_core::id::TaskId;
use fleet_core::run::{Ending, Reason};
use fleet_core::task::{BranchName, TaskEdit, TaskMove, TaskState, own_branch};
use fleet_store::StoreError;
use fleet_store::ops::{BranchHolder, EditTask, NewTask};

use crate::harness::{Rig, together};

story! {
    a_branch_belongs_to_one_task_that_is_not_over
    a_batch_never_has_a_branch_twice
    an_edit_takes_no_branch_from_another
    a_task_comes_back_only_if_its_branch_is_free
    many_who_want_a_branch_agree_on_one
    a_task_is_found_by_the_branch_that_it_has_chosen
    the_name_that_is_made_from_an_id_is_for_that_task
}

fn branch() -> BranchName {
    "feature/login".parse().unwrap()
}

fn on_branch(draft: NewTask) -> NewTask {
    let mut draft = draft;
    draft.spec.branch = Some(branch());
    draft
}

#[track_caller]
fn taken(error: &StoreError, by: TaskId) {
    let told = matches!(error, StoreError::BranchTaken { branch: name, task } if *name == branch().as_str() && *task == by);
    assert!(told, "{error}");
}

async fn a_branch_belongs_to_one_task_that_is_not_over(rig: &Rig) {
    let mut holder = rig.add_one(on_branch(rig.draft("first").await)).await;
    for state in [TaskState::Queued, TaskState::Held, TaskState::Running, TaskState::Waiting] {
        match state {
            TaskState::Held => drop(rig.moved(holder, TaskMove::Hold).await),
            TaskState::Running => {
                rig.moved(holder, TaskMove::Release).await;
                rig.start(holder).await;
            }
            TaskState::Waiting => {
                rig.moved(holder, TaskMove::Cancel).await;
                rig.moved(holder, TaskMove::Retry).await;
                let run = rig.start(holder).await;
                rig.work(&run).await;
                rig.end(&run, Ending::Asked).await;
            }
            _ => {}
        }
        assert_eq!(rig.state(holder).await, state);
        let second = rig.adding(vec![on_branch(rig.draft("second").await)]);
        taken(&rig.refused(second).await, holder);
    }
    rig.moved(holder, TaskMove::Cancel).await;
    for state in [TaskState::Cancelled, TaskState::Failed, TaskState::Done] {
        let next = rig.add_one(on_branch(rig.draft(state.as_str()).await)).await;
        let run = rig.start(next).await;
        match state {
            TaskState::Done => drop(rig.succeed(&run).await),
            TaskState::Failed => drop(rig.end(&run, Ending::Failed(Reason::Auth, "no".to_owned())).await),
            _ => drop(rig.end(&run, Ending::Cancelled("no".to_owned())).await),
        }
        assert_eq!(rig.state(next).await, state);
        holder = next;
    }
    assert_eq!(rig.state(holder).await, TaskState::Done);
    let elsewhere = rig.project("/other/.git").await;
    let both = vec![on_branch(rig.draft("here").await), on_branch(rig.draft_in(elsewhere, "there"))];
    assert_eq!(rig.add(both).await.len(), 2, "a branch of another repository is another branch");
}

async fn a_batch_never_has_a_branch_twice(rig: &Rig) {
    let drafts: Vec<NewTask> = rig.drafts(3).await.into_iter().map(on_branch).collect();
    taken(&rig.refused(rig.adding(drafts.clone())).await, drafts[0].id);
    let mut mixed = drafts;
    mixed[0].state = TaskState::Done;
    mixed[1].state = TaskState::Cancelled;
    rig.imported(&mixed);
    rig.add(mixed.clone()).await;
    let mut more: Vec<NewTask> = rig.drafts(2).await;
    more[1].spec.branch = Some(branch());
    taken(&rig.refused(rig.adding(more)).await, mixed[2].id);
}

async fn an_edit_takes_no_branch_from_another(rig: &Rig) {
    let holder = rig.add_one(on_branch(rig.draft("first").await)).await;
    let second = rig.task("second").await;
    let edit = |branch| EditTask {
        id: second,
        edit: TaskEdit { branch: Some(branch), ..TaskEdit::default() },
        now: rig.now(),
    };
    taken(&rig.refused(edit(Some(branch()))).await, holder);
    let own = EditTask { id: holder, ..edit(Some(branch())) };
    assert!(rig.ok(own).await.1.is_empty(), "its own branch is no difference");
    let free = EditTask { id: holder, ..edit(None) };
    rig.ok(free).await;
    assert_eq!(rig.ok(edit(Some(branch()))).await.1, ["branch"]);
    assert_eq!(rig.get(second).await.task.spec.branch, Some(branch()));
}

async fn a_task_comes_back_only_if_its_branch_is_free(rig: &Rig) {
    let first = rig.add_one(on_branch(rig.draft("first").await)).await;
    rig.moved(first, TaskMove::Cancel).await;
    let second = rig.add_one(on_branch(rig.draft("second").await)).await;
    taken(&rig.refused(rig.moving(first, TaskMove::Retry)).await, second);
    rig.finish(second).await;
    assert_eq!(rig.moved(first, TaskMove::Retry).await.state(), TaskState::Queued);
    let run = rig.start(first).await;
    rig.end(&run, Ending::Failed(Reason::Auth, "no".to_owned())).await;
    let third = rig.add_one(on_branch(rig.draft("third").await)).await;
    taken(&rig.refused(rig.moving(first, TaskMove::Retry)).await, third);
}

async fn many_who_want_a_branch_agree_on_one(rig: &Rig) {
    let drafts: Vec<NewTask> = rig.drafts(8).await.into_iter().map(on_branch).collect();
    let elsewhere = rig.elsewhere().await;
    let rigs = [rig.clone(), elsewhere].into_iter().cycle();
    let adders = drafts.iter().cloned().zip(rigs).map(|(draft, rig)| async move {
        let id = draft.id;
        rig.store.call(rig.adding(vec![draft])).await.map(|_| id)
    });
    let answers = together(adders).await;
    let added: Vec<TaskId> = answers.iter().filter_map(|answer| answer.as_ref().ok().copied()).collect();
    let [holder] = added[..] else { panic!("{answers:?}") };
    for answer in answers {
        if let Err(error) = answer {
            taken(&error, holder);
        }
    }
}

async fn a_task_is_found_by_the_branch_that_it_has_chosen(rig: &Rig) {
    let draft = on_branch(rig.draft("first").await);
    let project = draft.project;
    let holder = |project, branch: &str| BranchHolder { project, branch: branch.to_owned() };
    assert_eq!(rig.ok(holder(project, "feature/login")).await, None);
    let id = rig.add_one(draft).await;
    assert_eq!(rig.ok(holder(project, "feature/login")).await, Some(id));
    assert_eq!(rig.ok(holder(project, "feature")).await, None);
    assert_eq!(rig.ok(holder(rig.project("/other/.git").await, "feature/login")).await, None);
    rig.moved(id, TaskMove::Cancel).await;
    assert_eq!(rig.ok(holder(project, "feature/login")).await, Some(id), "it is over, and the only one");
    let next = rig.add_one(on_branch(rig.draft("next").await)).await;
    let last = on_branch(rig.draft("last").await);
    assert_eq!(rig.ok(holder(project, "feature/login")).await, Some(next), "it is not over");
    rig.moved(next, TaskMove::Cancel).await;
    let last = rig.add_one(last).await;
    rig.moved(last, TaskMove::Cancel).await;
    assert_eq!(rig.ok(holder(project, "feature/login")).await, Some(last), "the newest");
}

async fn the_name_that_is_made_from_an_id_is_for_that_task(rig: &Rig) {
    let victim = rig.task("one").await;
    let own: BranchName = own_branch(victim).parse().unwrap();
    let mut thief = rig.draft("two").await;
    thief.spec.branch = Some(own.clone());
    let refused = rig.refused(rig.adding(vec![thief])).await;
    assert!(matches!(refused, StoreError::BranchReserved { task, .. } if task == victim), "{refused}");
    let edit = TaskEdit { branch: Some(Some(own.clone())), ..TaskEdit::default() };
    let other = rig.task("three").await;
    let refused = rig.refused(EditTask { id: other, edit: edit.clone(), now: rig.now() }).await;
    assert!(matches!(refused, StoreError::BranchReserved { .. }), "{refused}");
    rig.ok(EditTask { id: victim, edit, now: rig.now() }).await;
}
