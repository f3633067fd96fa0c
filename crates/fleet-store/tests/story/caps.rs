//! How many tasks may run at once: in all, in a project, by an agent.

use std::collections::BTreeMap;

use fleet_core::event::Fact;
use fleet_core::id::{ProjectId, TaskId};
use fleet_core::run::Ending;
use fleet_core::schedule::Caps;
use fleet_store::ops::{Claim, NewTask};

use crate::harness::{Rig, together};

story! {
    each_cap_is_kept
    a_cap_on_one_agent_does_not_hold_the_others_back
    the_default_agent_counts_like_any_other
    many_claimers_never_exceed_a_cap
}

fn by(mut draft: NewTask, agent: &str) -> NewTask {
    draft.spec.agent = Some(agent.parse().unwrap());
    draft
}

fn capped(rig: &Rig, slots: usize, caps: &Caps) -> Claim {
    Claim { caps: caps.clone(), ..rig.claiming(slots) }
}

fn per_agent(agents: &[(&str, u32)]) -> Caps {
    let per_agent = agents.iter().map(|(agent, cap)| ((*agent).to_owned(), *cap)).collect();
    Caps { per_agent, ..Caps::default() }
}

async fn two_projects(rig: &Rig) -> [ProjectId; 2] {
    [rig.project("/one/.git").await, rig.project("/two/.git").await]
}

async fn each_cap_is_kept(rig: &Rig) {
    let projects = two_projects(rig).await;
    let drafts = (0..20).map(|n| by(rig.draft_in(projects[n % 2], "t"), ["claude", "codex"][n / 2 % 2]));
    rig.add(drafts.collect()).await;
    let total = Caps { total: Some(3), ..Caps::default() };
    let per_project = Caps { per_project: Some(3), ..Caps::default() };
    for (caps, most) in [(total, 3), (per_project, 6), (per_agent(&[("claude", 2), ("codex", 3)]), 5)] {
        let first = rig.ok(capped(rig, 2, &caps)).await;
        let rest = rig.ok(capped(rig, 50, &caps)).await;
        assert_eq!(first.len() + rest.len(), most, "{caps:?}");
        assert!(rig.ok(capped(rig, 50, &caps)).await.is_empty(), "{caps:?}");
        rig.end(&first[0].run, Ending::Released("next".to_owned())).await;
        let again = rig.ok(capped(rig, 50, &caps)).await;
        assert_eq!(again.len(), 1, "one ended, one may start: {caps:?}");
        for claimed in first[1..].iter().chain(&rest).chain(&again) {
            rig.end(&claimed.run, Ending::Released("next".to_owned())).await;
        }
    }
    let none = Caps { total: Some(0), ..Caps::default() };
    assert!(rig.ok(capped(rig, 5, &none)).await.is_empty());
    let kinds = rig.kinds().await;
    let count = |kind: &str| kinds.iter().filter(|other| *other == kind).count();
    assert_eq!((count("task.started"), count("task.requeued")), (17, 17));
}

async fn a_cap_on_one_agent_does_not_hold_the_others_back(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let mut drafts: Vec<_> = (0..100).map(|_| by(rig.draft_in(project, "busy"), "claude")).collect();
    drafts.push(by(rig.draft_in(project, "behind them all"), "codex"));
    let last = rig.add(drafts).await[100];
    let claimed = rig.ok(capped(rig, 2, &per_agent(&[("claude", 1)]))).await;
    let agents: Vec<&str> = claimed.iter().map(|claimed| claimed.run.agent.as_str()).collect();
    assert_eq!(agents, ["claude", "codex"]);
    assert_eq!(claimed[1].task.id, last);
    assert_eq!(rig.kinds().await[102..], ["task.started", "task.started"]);
}

async fn the_default_agent_counts_like_any_other(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let drafts = (0..6).map(|_| rig.draft_in(project, "t")).enumerate();
    let drafts = drafts.map(|(n, draft)| if n % 2 == 0 { draft } else { by(draft, "claude") });
    rig.add(drafts.collect()).await;
    let caps = per_agent(&[("claude", 3)]);
    let claimed = rig.ok(capped(rig, 2, &caps)).await;
    assert_eq!(claimed.len(), 2, "one names the agent, one does not");
    assert_eq!(rig.ok(capped(rig, 10, &caps)).await.len(), 1);
    let other = Claim { default_agent: "codex".parse().unwrap(), ..capped(rig, 10, &caps) };
    let claimed = rig.ok(other).await;
    let agents: Vec<&str> = claimed.iter().map(|claimed| claimed.run.agent.as_str()).collect();
    assert_eq!(agents, ["codex"], "three run by claude, whatever this claimer would have chosen for them");
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.started").count(), 4);
}

/// At any moment, as the events tell it: how many ran, by agent and by project.
fn peaks(
    events: &[fleet_core::event::Event],
) -> (usize, BTreeMap<String, usize>, BTreeMap<ProjectId, usize>) {
    let mut running: BTreeMap<TaskId, (String, ProjectId)> = BTreeMap::new();
    let (mut total, mut agents, mut projects) = (0, BTreeMap::new(), BTreeMap::new());
    for event in events {
        let Some(task) = event.subject.task else { continue };
        match &event.fact {
            Fact::TaskStarted { agent, .. } => {
                running.insert(task, (agent.clone(), event.subject.project.unwrap()))
            }
            Fact::TaskRequeued { .. } | Fact::TaskDone {} => running.remove(&task),
            _ => continue,
        };
        total = total.max(running.len());
        for (agent, project) in running.values() {
            let by_agent = running.values().filter(|(other, _)| other == agent).count();
            let most = agents.entry(agent.clone()).or_insert(0);
            *most = by_agent.max(*most);
            let in_project = running.values().filter(|(_, other)| other == project).count();
            let most = projects.entry(*project).or_insert(0);
            *most = in_project.max(*most);
        }
    }
    (total, agents, projects)
}

async fn many_claimers_never_exceed_a_cap(rig: &Rig) {
    let projects = two_projects(rig).await;
    let drafts = (0..120).map(|n| {
        let draft = rig.draft_in(projects[n % 2], "t");
        if n % 3 == 0 { draft } else { by(draft, ["claude", "codex"][n % 2]) }
    });
    rig.add(drafts.collect()).await;
    let elsewhere = rig.elsewhere().await;
    let caps = Caps { total: Some(7), per_project: Some(5), ..per_agent(&[("claude", 4), ("codex", 3)]) };
    let claimers = [rig.clone(), elsewhere].into_iter().cycle().take(16).map(|rig| {
        let caps = caps.clone();
        async move {
            let mut done = 0;
            // Other claimers may hold every place for a while: one that is idle is not yet at the end.
            for _ in 0..12 {
                for claimed in rig.ok(capped(&rig, 2, &caps)).await {
                    rig.succeed(&claimed.run).await;
                    done += 1;
                }
            }
            done
        }
    });
    let done: usize = together(claimers).await.into_iter().sum();
    assert!(done > 0);
    let (total, agents, in_projects) = peaks(&rig.news().await);
    assert!(total <= 7, "{total} ran at once");
    assert!(agents["claude"] <= 4 && agents["codex"] <= 3, "{agents:?}");
    assert!(in_projects.values().all(|most| *most <= 5), "{in_projects:?}");
}
