//! Claimers that can start only some agents: tasks of the others are left to other claimers.

use std::collections::BTreeSet;

use fleet_core::id::TaskId;
use fleet_core::run::Ending;
use fleet_core::schedule::Caps;
use fleet_core::scope::FileScope;
use fleet_core::task::AgentName;
use fleet_store::ops::{Claim, NewTask};

use crate::harness::{Rig, together};

story! {
    only_tasks_of_agents_that_can_be_started_are_taken
    the_default_agent_must_be_one_that_can_be_started
    a_claimer_without_agents_takes_nothing
    the_way_of_the_claim_makes_no_difference
    claimers_of_different_agents_share_the_queue
}

fn by(mut draft: NewTask, agent: &str) -> NewTask {
    draft.spec.agent = Some(agent.parse().unwrap());
    draft
}

fn able(rig: &Rig, slots: usize, agents: &[&str]) -> Claim {
    let able: BTreeSet<AgentName> = agents.iter().map(|agent| agent.parse().unwrap()).collect();
    Claim { able: Some(able), ..rig.claiming(slots) }
}

async fn ids(rig: &Rig, claim: Claim) -> Vec<TaskId> {
    rig.ok(claim).await.iter().map(|claimed| claimed.task.id).collect()
}

async fn only_tasks_of_agents_that_can_be_started_are_taken(rig: &Rig) {
    let drafts = rig.drafts(9).await;
    let agents = ["gemini", "codex", "opencode"];
    let tasks = rig.add(drafts.into_iter().enumerate().map(|(n, d)| by(d, agents[n % 3])).collect()).await;
    assert_eq!(ids(rig, able(rig, 2, &["codex", "opencode"])).await, [tasks[1], tasks[2]]);
    assert_eq!(ids(rig, able(rig, 9, &["codex"])).await, [tasks[4], tasks[7]]);
    assert_eq!(ids(rig, able(rig, 9, &["codex"])).await, []);
    assert_eq!(ids(rig, able(rig, 2, &["gemini", "opencode"])).await, [tasks[0], tasks[3]], "all heads fit");
    assert_eq!(ids(rig, rig.claiming(9)).await, [tasks[5], tasks[6], tasks[8]], "any agent");
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "task.started").count(), 9);
}

async fn the_default_agent_must_be_one_that_can_be_started(rig: &Rig) {
    let plain = rig.task("plain").await;
    let draft = rig.draft("codex").await;
    let codex = rig.add_one(by(draft, "codex")).await;
    assert_eq!(ids(rig, able(rig, 2, &["codex"])).await, [codex]);
    assert_eq!(ids(rig, able(rig, 2, &["claude"])).await, [plain]);
    assert_eq!(rig.get(plain).await.runs[0].agent, "claude");
}

async fn a_claimer_without_agents_takes_nothing(rig: &Rig) {
    rig.tasks(3).await;
    let before = rig.place().dump().await;
    assert_eq!(ids(rig, able(rig, 3, &[])).await, []);
    assert_eq!(rig.place().dump().await, before);
}

/// Head of the index, lanes, caps, scopes: the tasks are the same.
async fn the_way_of_the_claim_makes_no_difference(rig: &Rig) {
    let mut drafts = rig.drafts(6).await;
    for (n, draft) in drafts.iter_mut().enumerate() {
        draft.spec.agent = Some(["codex", "gemini"][n % 2].parse().unwrap());
        draft.spec.scope = FileScope::parse([format!("dir{n}/**")]).unwrap();
    }
    let tasks = rig.add(drafts).await;
    let capped = Caps { total: Some(100), ..Caps::default() };
    for caps in [Caps::default(), capped] {
        let claimed = rig.ok(Claim { caps, ..able(rig, 2, &["gemini"]) }).await;
        assert_eq!(claimed.iter().map(|claimed| claimed.task.id).collect::<Vec<_>>(), [tasks[1], tasks[3]]);
        for claimed in claimed {
            rig.end(&claimed.run, Ending::Released("again".to_owned())).await;
        }
    }
}

async fn claimers_of_different_agents_share_the_queue(rig: &Rig) {
    let drafts = rig.drafts(60).await;
    let agents = ["codex", "gemini", "opencode"];
    let tasks = rig.add(drafts.into_iter().enumerate().map(|(n, d)| by(d, agents[n % 3])).collect()).await;
    let claimers = (0..12).map(|n| {
        let rig = rig.clone();
        async move {
            let mut taken = Vec::new();
            let agents = [agents[n % 3], agents[(n + 1) % 3]];
            for _ in 0..100 {
                let claimed = rig.ok(able(&rig, 2, &agents)).await;
                assert!(claimed.iter().all(|claimed| agents.contains(&claimed.run.agent.as_str())));
                if claimed.is_empty() {
                    break;
                }
                taken.extend(claimed.into_iter().map(|claimed| claimed.task.id));
            }
            taken
        }
    });
    let mut taken: Vec<TaskId> = together(claimers).await.into_iter().flatten().collect();
    // Claimers that met may have passed tasks over that the other then gave up; whoever comes next takes them.
    taken.extend(ids(rig, able(rig, 60, &agents)).await);
    taken.sort_unstable();
    assert_eq!(taken, tasks, "each once");
}
