//! Finding and removing workflows.

use fleet_core::id::{IdPrefix, WorkflowId};
use fleet_core::task::TaskMove;
use fleet_core::workflow::{PartState, WorkflowState};
use fleet_store::StoreError;
use fleet_store::ops::{DeleteWorkflow, GetTask, GetWorkflow, ListWorkflows, ResolveWorkflow};

use super::acts::{spec, stage};
use crate::harness::Rig;

story! {
    lists_are_newest_first_and_come_in_pages
    a_workflow_is_found_by_the_beginning_of_its_id
    a_workflow_goes_with_its_tasks
}

fn listing(states: &[WorkflowState], limit: i64) -> ListWorkflows {
    ListWorkflows { project: None, states: states.to_vec(), before: None, limit }
}

async fn lists_are_newest_first_and_come_in_pages(rig: &Rig) {
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.insert(0, rig.workflow(spec(vec![stage("a", &[])])).await);
    }
    rig.ok(rig.cancelling(ids[1])).await;
    rig.play(ids[3], &[("a", PartState::Done)]).await;
    let list = async |list: ListWorkflows| {
        let page = rig.ok(list).await;
        (page.workflows.iter().map(|listed| listed.workflow.id).collect::<Vec<_>>(), page.more)
    };
    assert_eq!(list(listing(&[], 10)).await, (ids.clone(), false));
    assert_eq!(list(listing(&[], 2)).await, (ids[..2].to_vec(), true));
    let next = ListWorkflows { before: Some(ids[1]), ..listing(&[], 3) };
    assert_eq!(list(next).await, (ids[2..].to_vec(), false));
    let over = [WorkflowState::Cancelled, WorkflowState::Succeeded];
    assert_eq!(list(listing(&over, 9)).await, (vec![ids[1], ids[3]], false));
    let other = rig.project("/other/.git").await;
    assert_eq!(list(ListWorkflows { project: Some(other), ..listing(&[], 9) }).await, (vec![], false));
    let project = rig.project("/repo/.git").await;
    assert_eq!(list(ListWorkflows { project: Some(project), ..listing(&[], 9) }).await, (ids, false));
}

async fn a_workflow_is_found_by_the_beginning_of_its_id(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[])])).await;
    rig.workflow(spec(vec![stage("a", &[])])).await;
    let find = |text: &str| ResolveWorkflow { prefix: IdPrefix::<WorkflowId>::parse(text).unwrap() };
    assert_eq!(rig.ok(find(id.as_str())).await, id);
    assert!(matches!(rig.refused(find(&id.as_str()[..4])).await, StoreError::Ambiguous { .. }));
    assert!(matches!(rig.refused(find("wzzz")).await, StoreError::WorkflowNotFound(_)));
}

async fn a_workflow_goes_with_its_tasks(rig: &Rig) {
    let id = rig.workflow(spec(vec![stage("a", &[]), stage("b", &[0])])).await;
    rig.play(id, &[("a", PartState::Done)]).await;
    let (a, b) = (rig.task_of(id, "a").await, rig.task_of(id, "b").await);
    let delete = DeleteWorkflow { id, now: rig.now() };
    assert!(matches!(rig.refused(delete).await, StoreError::WorkflowLive { .. }));
    let alone = rig.refused(rig.deleting(a)).await;
    assert!(matches!(alone, StoreError::PartOfWorkflow { workflow, .. } if workflow == id));
    rig.moved(b, TaskMove::Cancel).await;
    let waiting = rig.task_after("later", &[b]).await;
    assert!(matches!(rig.refused(delete).await, StoreError::HasDependents { .. }));
    rig.ok(rig.deleting(waiting)).await;
    let (workflow, tasks) = rig.ok(delete).await;
    assert_eq!((workflow.id, tasks.len()), (id, 2));
    assert!(matches!(rig.refused(GetTask { id: a }).await, StoreError::TaskNotFound(_)));
    let get = GetWorkflow { id, with_results: false };
    assert!(matches!(rig.refused(get).await, StoreError::WorkflowNotFound(_)));
}
