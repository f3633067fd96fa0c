//! Claimers that have only some projects: tasks of the others are left to other claimers.

use std::collections::BTreeSet;

use fleet_core::id::{ProjectId, TaskId};
use fleet_core::run::Ending;
use fleet_core::schedule::Caps;
use fleet_core::scope::FileScope;
use fleet_store::ops::{Claim, Claimed, NewTask};

use crate::harness::{Rig, together};

story! {
    only_tasks_of_projects_that_are_here_are_taken
    a_claimer_without_projects_takes_nothing
    the_way_of_the_claim_makes_no_difference
    claimers_of_different_projects_share_the_queue
}

fn having(rig: &Rig, slots: usize, projects: &[ProjectId]) -> Claim {
    Claim { projects: Some(projects.iter().copied().collect::<BTreeSet<_>>()), ..rig.claiming(slots) }
}

fn ids(claimed: &[Claimed]) -> Vec<TaskId> {
    claimed.iter().map(|claimed| claimed.task.id).collect()
}

async fn projects(rig: &Rig) -> [ProjectId; 3] {
    [rig.project("/a/.git").await, rig.project("/b/.git").await, rig.project("/c/.git").await]
}

fn drafts(rig: &Rig, projects: [ProjectId; 3], count: usize) -> Vec<NewTask> {
    (0..count).map(|n| rig.draft_in(projects[n % 3], &format!("task {n}"))).collect()
}

async fn only_tasks_of_projects_that_are_here_are_taken(rig: &Rig) {
    let all = projects(rig).await;
    let tasks = rig.add(drafts(rig, all, 9)).await;
    let [a, b, c] = all;
    assert_eq!(ids(&rig.ok(having(rig, 1, &[b, c])).await), [tasks[1]]);
    assert_eq!(ids(&rig.ok(having(rig, 2, &[b, c])).await), [tasks[2], tasks[4]]);
    assert_eq!(ids(&rig.ok(having(rig, 9, &[b])).await), [tasks[7]]);
    assert_eq!(ids(&rig.ok(having(rig, 9, &[b])).await), []);
    assert_eq!(ids(&rig.ok(having(rig, 2, &[a, c])).await), [tasks[0], tasks[3]], "all heads fit");
    assert_eq!(ids(&rig.claim(9).await), [tasks[5], tasks[6], tasks[8]], "any project");
    let untouched = rig.get(tasks[0]).await.task.history;
    assert_eq!((untouched.attempts, untouched.failures), (1, 0), "who passed it over left no trace");
}

async fn a_claimer_without_projects_takes_nothing(rig: &Rig) {
    rig.tasks(3).await;
    let before = rig.place().dump().await;
    assert_eq!(ids(&rig.ok(having(rig, 3, &[])).await), []);
    assert_eq!(rig.place().dump().await, before);
}

/// Head of the index, lanes, caps, scopes: the tasks are the same.
async fn the_way_of_the_claim_makes_no_difference(rig: &Rig) {
    let all = projects(rig).await;
    let mut drafts = drafts(rig, all, 9);
    for (n, draft) in drafts.iter_mut().enumerate().filter(|(n, _)| n % 2 == 0) {
        draft.spec.scope = FileScope::parse([format!("dir{n}/**")]).unwrap();
    }
    let tasks = rig.add(drafts).await;
    let capped = Caps { total: Some(100), ..Caps::default() };
    for caps in [Caps::default(), capped] {
        let claimed = rig.ok(Claim { caps, ..having(rig, 3, &all[1..]) }).await;
        assert_eq!(ids(&claimed), [tasks[1], tasks[2], tasks[4]]);
        for claimed in claimed {
            rig.end(&claimed.run, Ending::Released("again".to_owned())).await;
        }
    }
}

async fn claimers_of_different_projects_share_the_queue(rig: &Rig) {
    let all = projects(rig).await;
    let tasks = rig.add(drafts(rig, all, 60)).await;
    let claimers = (0..12).map(|n| {
        let rig = rig.clone();
        async move {
            let (mine, mut taken) = ([all[n % 3], all[(n + 1) % 3]], Vec::new());
            for _ in 0..100 {
                let claimed = rig.ok(having(&rig, 2, &mine)).await;
                assert!(claimed.iter().all(|claimed| mine.contains(&claimed.run.project)));
                if claimed.is_empty() {
                    break;
                }
                taken.extend(ids(&claimed));
            }
            taken
        }
    });
    let mut taken: Vec<TaskId> = together(claimers).await.into_iter().flatten().collect();
    // Claimers that met may have passed tasks over that the other then gave up; whoever comes next takes them.
    taken.extend(ids(&rig.ok(having(rig, 60, &all)).await));
    taken.sort_unstable();
    assert_eq!(taken, tasks, "each once");
}
