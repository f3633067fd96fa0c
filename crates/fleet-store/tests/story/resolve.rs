//! From the beginning of an id to the task.

use fleet_core::id::{IdPrefix, TaskId};
use fleet_store::StoreError;
use fleet_store::ops::ResolveTask;

use crate::harness::Rig;

story! {
    a_prefix_that_fits_one_task_names_it
    a_prefix_that_fits_several_names_a_handful
    a_prefix_that_fits_none_is_unknown
}

fn typed(text: &str) -> ResolveTask {
    ResolveTask { prefix: IdPrefix::parse(text).unwrap() }
}

async fn a_prefix_that_fits_one_task_names_it(rig: &Rig) {
    let first = rig.task("first").await;
    rig.pass(std::time::Duration::from_hours(1_000));
    let second = rig.task("second").await;
    let shared = first.as_str().bytes().zip(second.as_str().bytes()).take_while(|(a, b)| a == b).count();
    for id in [first, second] {
        let text = id.as_str();
        assert_eq!(rig.ok(typed(text)).await, id);
        assert_eq!(rig.ok(typed(&text[1..])).await, id, "the letter may be left out");
        assert_eq!(rig.ok(typed(&text.to_uppercase())).await, id);
        assert_eq!(rig.ok(typed(&text[..=shared])).await, id);
    }
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.added"], "looking leaves no trace");
}

async fn a_prefix_that_fits_several_names_a_handful(rig: &Rig) {
    let ids = rig.tasks(40).await;
    let text = |count: usize| ids[..count].iter().map(TaskId::to_string).collect::<Vec<_>>();
    let Err(StoreError::Ambiguous { prefix, matches }) = rig.store.call(typed("T")).await else {
        panic!("one of forty was taken")
    };
    assert_eq!((prefix.as_str(), matches), ("t", text(5)), "the first five");
    let two = rig.refused(typed(&ids[0].as_str()[..12])).await;
    let StoreError::Ambiguous { matches, .. } = &two else { panic!("{two}") };
    assert!((2..=5).contains(&matches.len()), "{two}");
    assert!(
        two.to_string().contains(ids[0].as_str()) && two.to_string().contains(" could be any of "),
        "{two}"
    );
}

async fn a_prefix_that_fits_none_is_unknown(rig: &Rig) {
    let id = rig.task("only").await;
    let other: TaskId = rig.id();
    for text in [other.as_str(), "t7zzz", "zzz"] {
        let error = rig.refused(typed(text)).await;
        assert!(matches!(&error, StoreError::TaskNotFound(named) if named.ends_with(text)), "{error}");
    }
    rig.ok(rig.deleting(id)).await;
    assert!(matches!(rig.refused(typed(id.as_str())).await, StoreError::TaskNotFound(_)));
    assert_eq!(rig.kinds().await, ["project.added", "task.added", "task.deleted"]);
}
