//! Accounts that take no work for a while: what one run learns from its provider holds for all who use the account.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use fleet_core::event::Fact;
use fleet_core::id::TaskId;
use fleet_core::policy::{FailureAction, MAX_WAITS, Policy, RetryPolicy};
use fleet_core::run::{Ending, Reason, Run};
use fleet_core::task::{AgentName, TaskMove, TaskState};
use fleet_store::ops::{
    Claim, Claimed, EndRun, FailureSettings, LiftPause, ListPauses, NewTask, Pause, PauseAccount,
};

use crate::harness::{Rig, together};

story! {
    a_paused_account_is_held_back_and_others_are_not
    pausing_the_account_of_the_default_agent_pauses_tasks_without_one
    agents_that_share_an_account_are_paused_together
    a_pause_is_only_made_longer
    a_refused_run_pauses_its_account_and_keeps_its_task
    runs_that_are_refused_together_are_one_strike
    strikes_make_pauses_longer_until_a_run_succeeds
    the_end_that_the_provider_names_counts
    a_task_does_not_wait_for_ever
    the_policy_of_the_caller_counts
    no_claimer_takes_a_task_of_a_paused_account
    many_runs_that_are_refused_at_once_pause_the_account_once
}

fn by(mut draft: NewTask, agent: &str) -> NewTask {
    draft.spec.agent = Some(agent.parse().unwrap());
    draft
}

fn pausing(rig: &Rig, account: &str, seconds: u64, why: &str) -> PauseAccount {
    let until = rig.now().plus(Duration::from_secs(seconds));
    PauseAccount { account: account.to_owned(), agent: None, until, why: why.to_owned(), now: rig.now() }
}

fn lifting(rig: &Rig, account: &str) -> LiftPause {
    LiftPause { account: account.to_owned(), now: rig.now() }
}

fn accounts(list: &[(&str, &str)]) -> BTreeMap<AgentName, String> {
    list.iter().map(|(agent, account)| (agent.parse().unwrap(), (*account).to_owned())).collect()
}

fn ids(claimed: &[Claimed]) -> Vec<TaskId> {
    claimed.iter().map(|claimed| claimed.task.id).collect()
}

async fn pauses(rig: &Rig) -> Vec<Pause> {
    rig.ok(ListPauses { now: rig.now() }).await
}

fn refused(rig: &Rig, run: &Run, reason: Reason) -> EndRun {
    rig.ending(run, Ending::Failed(reason, "slow down".to_owned()))
}

/// Until how many seconds from now the only pause lasts, and after how many strikes.
async fn paused_for(rig: &Rig) -> (u64, u32) {
    let pauses = pauses(rig).await;
    assert_eq!(pauses.len(), 1, "{pauses:?}");
    (pauses[0].until.since(rig.now()).as_secs(), pauses[0].strikes)
}

async fn a_paused_account_is_held_back_and_others_are_not(rig: &Rig) {
    let project = rig.project("/one/.git").await;
    let drafts = (0..6).map(|n| by(rig.draft_in(project, "t"), ["codex", "gemini"][usize::from(n >= 4)]));
    let tasks = rig.add(drafts.collect()).await;
    rig.news().await;
    assert!(rig.ok(pausing(rig, "codex", 60, "rate limited")).await);
    let claimed = async |slots| ids(&rig.claim(slots).await);
    assert_eq!(claimed(1).await, [tasks[4]]);
    assert_eq!(claimed(10).await, [tasks[5]]);
    assert_eq!(claimed(10).await, []);
    rig.pass(Duration::from_mins(1));
    assert_eq!(claimed(1).await, [tasks[0]], "a pause ends by itself");
    rig.ok(pausing(rig, "codex", 60, "again")).await;
    assert_eq!(claimed(10).await, []);
    assert!(rig.ok(lifting(rig, "codex")).await);
    assert_eq!(claimed(10).await, tasks[1..4]);
    let kinds = rig.kinds().await;
    assert_eq!(kinds[..3], ["account.paused", "task.started", "task.started"]);
    assert_eq!(kinds[3..6], ["task.started", "account.paused", "account.resumed"]);
}

async fn pausing_the_account_of_the_default_agent_pauses_tasks_without_one(rig: &Rig) {
    let plain = rig.task("plain").await;
    let named = by(rig.draft("named").await, "codex");
    let named = rig.add_one(named).await;
    rig.ok(pausing(rig, "claude", 60, "quota")).await;
    assert_eq!(ids(&rig.claim(10).await), [named]);
    let other = Claim { default_agent: "gemini".parse().unwrap(), ..rig.claiming(10) };
    let claimed = rig.ok(other).await;
    assert_eq!((claimed[0].task.id, claimed[0].run.agent.as_str()), (plain, "gemini"));
}

async fn agents_that_share_an_account_are_paused_together(rig: &Rig) {
    let drafts = rig.drafts(4).await.into_iter();
    let agents = ["claude", "claude-acp", "codex", "anthropic"];
    let tasks = rig.add(drafts.zip(agents).map(|(draft, agent)| by(draft, agent)).collect()).await;
    let shared =
        accounts(&[("claude", "anthropic:work"), ("claude-acp", "anthropic:work"), ("codex", "openai")]);
    let claim = |slots| Claim { accounts: shared.clone(), ..rig.claiming(slots) };
    rig.ok(pausing(rig, "anthropic:work", 60, "quota")).await;
    // Means nobody: both have accounts of other names.
    rig.ok(pausing(rig, "claude", 60, "by mistake")).await;
    rig.ok(pausing(rig, "codex", 60, "by mistake")).await;
    let claimed = rig.ok(claim(10)).await;
    assert_eq!(ids(&claimed), [tasks[2], tasks[3]]);
    let used: Vec<_> = claimed.iter().map(|claimed| claimed.run.account()).collect();
    assert_eq!(used, ["openai", "anthropic"]);
    rig.pass(Duration::from_mins(1));
    for (slots, task) in [(1, tasks[0]), (2, tasks[1])] {
        let claimed = rig.ok(claim(slots)).await;
        assert_eq!(ids(&claimed), [task]);
        assert_eq!(claimed[0].run.account.as_deref(), Some("anthropic:work"));
        assert_eq!(rig.detail(&claimed[0].run).await.run, claimed[0].run, "by the short way, too");
    }
}

async fn a_pause_is_only_made_longer(rig: &Rig) {
    let pause = |seconds, why: &str| Pause {
        account: "codex".to_owned(),
        until: rig.now().plus(Duration::from_secs(seconds)),
        strikes: 0,
        why: why.to_owned(),
        agent: None,
        run: None,
        set_at: rig.now(),
    };
    rig.ok(pausing(rig, "codex", 60, "first")).await;
    assert!(!rig.ok(pausing(rig, "codex", 30, "shorter")).await);
    assert_eq!(pauses(rig).await, [pause(60, "first")]);
    assert!(rig.ok(pausing(rig, "codex", 90, "longer")).await);
    assert_eq!(pauses(rig).await, [pause(90, "longer")]);
    let told =
        |Pause { account, agent, until, why, .. }: Pause| Fact::AccountPaused { account, agent, until, why };
    let expected = [told(pause(60, "first")), told(pause(90, "longer"))];
    assert_eq!(rig.facts().await, expected, "what changed nothing is not told");
    assert!(rig.ok(lifting(rig, "codex")).await);
    assert!(!rig.ok(lifting(rig, "codex")).await);
    rig.ok(pausing(rig, "codex", 60, "again")).await;
    rig.pass(Duration::from_mins(1));
    assert_eq!(pauses(rig).await, []);
    assert!(!rig.ok(lifting(rig, "codex")).await, "it was over");
    let kinds = rig.kinds().await;
    assert_eq!(kinds, ["account.resumed", "account.paused"]);
}

async fn a_refused_run_pauses_its_account_and_keeps_its_task(rig: &Rig) {
    let draft = rig.draft("one").await;
    let mut hasty = draft.clone();
    hasty.spec.retry = RetryPolicy { retries: 0, backoff_seconds: 0, ..RetryPolicy::default() };
    let (id, other) = (rig.add_one(hasty).await, rig.task("two").await);
    let run = rig.start(id).await;
    rig.news().await;
    let task = rig.ok(refused(rig, &run, Reason::RateLimited)).await;
    assert_eq!((task.state(), task.history.failures, task.history.waits), (TaskState::Queued, 0, 1));
    let expected = Pause {
        account: "claude".to_owned(),
        until: rig.now().plus(Duration::from_secs(30)),
        strikes: 1,
        why: "slow down".to_owned(),
        agent: Some("claude".to_owned()),
        run: Some(run.id),
        set_at: rig.now(),
    };
    assert_eq!(pauses(rig).await, std::slice::from_ref(&expected));
    assert!(rig.claim(9).await.is_empty(), "neither it nor any other of the account");
    let news = rig.news().await;
    let kinds: Vec<_> = news.iter().map(|event| event.fact.kind()).collect();
    assert_eq!(kinds, ["account.paused", "task.requeued"]);
    assert_eq!((news[0].subject.project, news[0].subject.task), (None, Some(id)), "it concerns all projects");
    rig.pass(Duration::from_secs(30));
    assert_eq!(ids(&rig.claim(9).await), [id, other], "in its old place");
}

async fn runs_that_are_refused_together_are_one_strike(rig: &Rig) {
    rig.tasks(3).await;
    let runs = rig.claim(3).await;
    for claimed in &runs {
        rig.ok(refused(rig, &claimed.run, Reason::RateLimited)).await;
        rig.pass(Duration::from_secs(5));
    }
    assert_eq!(paused_for(rig).await, (15, 1), "thirty seconds after the first");
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "account.paused").count(), 1);
}

async fn strikes_make_pauses_longer_until_a_run_succeeds(rig: &Rig) {
    rig.tasks(3).await;
    let [early, first] = <[Claimed; 2]>::try_from(rig.claim(2).await).unwrap();
    rig.pass(Duration::from_secs(1));
    rig.ok(refused(rig, &first.run, Reason::ProviderOutage)).await;
    assert_eq!(paused_for(rig).await, (15, 1));
    rig.pass(Duration::from_secs(15));
    let second = rig.claim(1).await.pop().unwrap();
    rig.ok(refused(rig, &second.run, Reason::ProviderOutage)).await;
    assert_eq!(paused_for(rig).await, (30, 2));
    rig.pass(Duration::from_secs(30));
    rig.succeed(&early.run).await;
    let third = rig.claim(1).await.pop().unwrap();
    rig.ok(refused(rig, &third.run, Reason::ProviderOutage)).await;
    assert_eq!(paused_for(rig).await, (60, 3), "a run from before says nothing");
    rig.pass(Duration::from_mins(1));
    let fourth = rig.claim(1).await.pop().unwrap();
    rig.succeed(&fourth.run).await;
    let fifth = rig.claim(1).await.pop().unwrap();
    rig.ok(refused(rig, &fifth.run, Reason::ProviderOutage)).await;
    assert_eq!(paused_for(rig).await, (15, 1), "it has served a run since");
}

async fn the_end_that_the_provider_names_counts(rig: &Rig) {
    rig.tasks(2).await;
    let runs = rig.claim(2).await;
    let after = |seconds| FailureSettings {
        reset: Some(rig.now().plus(Duration::from_secs(seconds))),
        ..FailureSettings::default()
    };
    rig.ok(EndRun { after: after(7_200), ..refused(rig, &runs[0].run, Reason::QuotaExhausted) }).await;
    assert_eq!(paused_for(rig).await, (7_200, 1));
    rig.ok(EndRun { after: after(60), ..refused(rig, &runs[1].run, Reason::RateLimited) }).await;
    assert_eq!(paused_for(rig).await, (7_200, 1), "never shorter");
}

async fn a_task_does_not_wait_for_ever(rig: &Rig) {
    let id = rig.task("one").await;
    for waits in 1..=MAX_WAITS {
        let run = rig.start(id).await;
        let task = rig.ok(refused(rig, &run, Reason::RateLimited)).await;
        assert_eq!((task.state(), task.history.waits), (TaskState::Queued, waits));
        rig.ok(lifting(rig, "claude")).await;
    }
    let run = rig.start(id).await;
    let task = rig.ok(refused(rig, &run, Reason::RateLimited)).await;
    assert_eq!((task.state(), task.history.failures), (TaskState::Failed, 1));
    let task = rig.moved(id, TaskMove::Retry).await;
    assert_eq!((task.history.waits, task.history.failures), (0, 0));
}

async fn the_policy_of_the_caller_counts(rig: &Rig) {
    rig.tasks(2).await;
    let runs = rig.claim(2).await;
    let policy = Policy::default()
        .with(Reason::RateLimited, FailureAction::GiveUp)
        .with(Reason::Auth, FailureAction::Pause);
    let after = FailureSettings { policy, ..FailureSettings::default() };
    let limited = EndRun { after: after.clone(), ..refused(rig, &runs[0].run, Reason::RateLimited) };
    assert_eq!(rig.ok(limited).await.state(), TaskState::Failed);
    assert_eq!(pauses(rig).await, []);
    let locked_out = EndRun { after, ..refused(rig, &runs[1].run, Reason::Auth) };
    assert_eq!(rig.ok(locked_out).await.state(), TaskState::Queued);
    assert_eq!(paused_for(rig).await, (900, 1));
}

async fn no_claimer_takes_a_task_of_a_paused_account(rig: &Rig) {
    let drafts = rig.drafts(90).await;
    let agents = ["claude", "codex", "gemini"];
    rig.add(drafts.into_iter().enumerate().map(|(n, draft)| by(draft, agents[n % 3])).collect()).await;
    let elsewhere = rig.elsewhere().await;
    let shared = accounts(&[("claude", "anthropic"), ("codex", "openai")]);
    let paused = Arc::new(AtomicBool::new(false));
    let crews = [rig.clone(), elsewhere].into_iter().cycle().take(10).enumerate();
    let jobs = crews.map(|(n, rig)| {
        let (shared, paused) = (shared.clone(), Arc::clone(&paused));
        async move {
            let mut taken = Vec::new();
            // One pauses in the middle; the others go on as long as there is something.
            if n == 5 {
                rig.ok(pausing(&rig, "anthropic", 3_600, "limit")).await;
                paused.store(true, Ordering::SeqCst);
                return taken;
            }
            loop {
                let is_paused = paused.load(Ordering::SeqCst);
                let claimed = rig.ok(Claim { accounts: shared.clone(), ..rig.claiming(1 + n % 3) }).await;
                if claimed.is_empty() {
                    return taken;
                }
                let agents = claimed.into_iter().map(|claimed| claimed.run.agent);
                taken.extend(agents.map(|agent| (is_paused, agent)));
            }
        }
    });
    let mut taken: Vec<(bool, String)> = together(jobs).await.into_iter().flatten().collect();
    // Claimers that met may have passed tasks over.
    let rest = rig.ok(Claim { accounts: shared.clone(), ..rig.claiming(90) }).await;
    taken.extend(rest.into_iter().map(|claimed| (true, claimed.run.agent)));
    assert!(!taken.contains(&(true, "claude".to_owned())), "a claim that began after the pause took one");
    let count = |name: &str| taken.iter().filter(|(_, agent)| agent == name).count();
    assert_eq!((count("codex"), count("gemini")), (30, 30), "the others are not held back");
    rig.ok(lifting(rig, "anthropic")).await;
    assert_eq!(rig.claim(90).await.len(), 30 - count("claude"));
}

async fn many_runs_that_are_refused_at_once_pause_the_account_once(rig: &Rig) {
    rig.tasks(20).await;
    let runs = rig.claim(20).await;
    let elsewhere = rig.elsewhere().await;
    let jobs = [rig.clone(), elsewhere].into_iter().cycle().zip(runs).map(|(rig, claimed)| async move {
        rig.ok(refused(&rig, &claimed.run, Reason::RateLimited)).await.history.waits
    });
    assert!(together(jobs).await.iter().all(|waits| *waits == 1));
    let pause = &pauses(rig).await[0];
    assert_eq!((pause.until, pause.strikes), (rig.now().plus(Duration::from_secs(30)), 1));
    assert_eq!(rig.kinds().await.iter().filter(|kind| *kind == "account.paused").count(), 1);
}
