//! What may be spent: put aside before a run starts, booked while it works, free again when it has ended.

use std::time::Duration;

use fleet_core::budget::{Bounds, Budget, Spent, Used};
use fleet_core::id::TaskId;
use fleet_core::limits::Limits;
use fleet_core::run::{Ending, Reason, Run, Totals};
use fleet_core::task::TaskMove;
use fleet_store::StoreError;
use fleet_store::ops::{AppendRunEvents, Claim, Claimed, ReserveMore, Spending};

use crate::harness::{Rig, together};

story! {
    each_run_gets_a_part_until_nothing_is_left
    the_limits_of_a_task_decide_its_part
    what_is_used_is_booked_once_and_no_longer_put_aside
    failed_and_stopped_runs_count_and_free_the_rest
    a_new_day_begins_with_nothing_used
    tokens_are_bounded_like_money
    a_budget_without_bounds_is_none
    a_run_that_needs_more_gets_it_while_there_is_enough
    a_run_that_counts_wildly_spoils_no_sum
    many_claimers_never_exceed_a_budget
}

const DOLLAR: u64 = 1_000_000;

fn a_day(micro_usd: u64) -> Budget {
    Budget { day: Bounds { micro_usd: Some(micro_usd), tokens: None }, ..Budget::default() }
}

fn within(rig: &Rig, budget: Budget, slots: usize) -> Claim {
    Claim { budget: Some(budget), ..rig.claiming(slots) }
}

async fn given(rig: &Rig, budget: Budget, slots: usize) -> Vec<u64> {
    let claimed = rig.ok(within(rig, budget, slots)).await;
    claimed.iter().map(|claimed| claimed.run.reserved.micro_usd.unwrap()).collect()
}

async fn spent(rig: &Rig) -> Spent {
    rig.ok(Spending { now: rig.now() }).await
}

fn using(rig: &Rig, run: &Run, (from, to): (i64, i64), (tokens, micro_usd): (u64, u64)) -> AppendRunEvents {
    let usage = Totals { input_tokens: tokens - tokens / 4, output_tokens: tokens / 4, micro_usd };
    AppendRunEvents {
        run: run.id,
        attempt: run.attempt,
        from,
        to,
        batch: 1,
        facts: Vec::new(),
        usage: Some(usage),
        activity: None,
        session: None,
        meter: None,
        now: rig.now(),
    }
}

fn used(micro_usd: u64, tokens: u64) -> Used {
    Used { micro_usd, tokens }
}

async fn each_run_gets_a_part_until_nothing_is_left(rig: &Rig) {
    rig.tasks(9).await;
    assert_eq!(given(rig, a_day(3_400_000), 2).await, [DOLLAR, DOLLAR]);
    assert_eq!(given(rig, a_day(3_400_000), 9).await, [DOLLAR, 400_000]);
    assert_eq!(given(rig, a_day(3_400_000), 9).await, [0; 0]);
    assert_eq!(spent(rig).await, Spent { reserved: used(3_400_000, 0), ..Spent::default() });
    let shortage = a_day(3_400_000).reserve(&spent(rig).await, Limits::default()).unwrap_err();
    assert_eq!((shortage.0.left(), shortage.0.reserved), (0, 3_400_000), "the same answer, for people");
    assert_eq!(given(rig, a_day(4 * DOLLAR), 9).await, [600_000], "somebody gave more");
    let free = rig.claim(1).await.pop().unwrap();
    assert_eq!(free.run.reserved, Bounds::default(), "without a budget nothing is put aside");
}

async fn the_limits_of_a_task_decide_its_part(rig: &Rig) {
    let mut drafts = rig.drafts(4).await;
    for (draft, limit) in drafts.iter_mut().zip([None, Some(2 * DOLLAR), Some(20_000), Some(9 * DOLLAR)]) {
        draft.spec.limits = Limits { micro_usd: limit, ..Limits::default() };
    }
    let tasks = rig.add(drafts).await;
    let claimed = rig.ok(within(rig, a_day(3_020_000), 9)).await;
    let parts: Vec<(TaskId, Option<u64>)> =
        claimed.iter().map(|claimed| (claimed.task.id, claimed.run.reserved.micro_usd)).collect();
    let expected = [(tasks[0], Some(DOLLAR)), (tasks[1], Some(2 * DOLLAR)), (tasks[2], Some(20_000))];
    assert_eq!(parts, expected, "nothing is left for the last");
    let found = rig.detail(&claimed[1].run).await.run;
    assert_eq!(found, claimed[1].run, "its keeper finds the same");
}

async fn what_is_used_is_booked_once_and_no_longer_put_aside(rig: &Rig) {
    rig.tasks(2).await;
    let claimed = rig.ok(within(rig, a_day(2 * DOLLAR), 1)).await.pop().unwrap();
    let first = using(rig, &claimed.run, (0, 10), (100, 300_000));
    assert!(rig.ok(first.clone()).await);
    let expected = Spent { day: used(300_000, 100), total: used(300_000, 100), reserved: used(700_000, 0) };
    assert_eq!(spent(rig).await, expected);
    assert!(!rig.ok(first.clone()).await, "read twice");
    let wrong = AppendRunEvents { from: 5, to: 20, ..first };
    assert!(matches!(rig.refused(wrong).await, StoreError::OutOfStep { .. }));
    rig.ok(using(rig, &claimed.run, (10, 10), (100, 300_000))).await;
    assert_eq!(spent(rig).await, expected, "the same totals once more");
    rig.ok(using(rig, &claimed.run, (10, 20), (120, 1_200_000))).await;
    let expected = Spent { day: used(1_200_000, 120), total: used(1_200_000, 120), reserved: used(0, 0) };
    assert_eq!(spent(rig).await, expected, "more than its part is booked all the same");
    rig.ok(using(rig, &claimed.run, (20, 30), (110, 1_100_000))).await;
    assert_eq!(spent(rig).await.total, used(1_100_000, 110), "an agent that corrects itself");
    assert_eq!(given(rig, a_day(2 * DOLLAR), 9).await, [900_000]);
}

async fn failed_and_stopped_runs_count_and_free_the_rest(rig: &Rig) {
    let tasks = rig.tasks(4).await;
    let claimed = rig.ok(within(rig, a_day(4 * DOLLAR), 4)).await;
    for claimed in &claimed {
        rig.ok(using(rig, &claimed.run, (0, 1), (4, 200_000))).await;
    }
    assert_eq!(spent(rig).await.reserved, used(3_200_000, 0));
    rig.end(&claimed[0].run, Ending::Failed(Reason::Auth, "no".to_owned())).await;
    rig.succeed(&claimed[1].run).await;
    rig.moved(tasks[2], TaskMove::Cancel).await;
    assert_eq!(spent(rig).await.reserved, used(800_000, 0));
    rig.pass(Duration::from_mins(2));
    rig.ok(rig.expiring()).await;
    let expected = Spent { day: used(800_000, 16), total: used(800_000, 16), reserved: used(0, 0) };
    assert_eq!(spent(rig).await, expected);
}

async fn a_new_day_begins_with_nothing_used(rig: &Rig) {
    rig.tasks(3).await;
    let budget = Budget { total: Bounds { micro_usd: Some(5 * DOLLAR / 2), tokens: None }, ..a_day(DOLLAR) };
    let run = rig.ok(within(rig, budget, 1)).await.pop().unwrap().run;
    rig.ok(using(rig, &run, (0, 1), (0, DOLLAR))).await;
    rig.succeed(&run).await;
    assert_eq!(given(rig, budget, 1).await, [0; 0]);
    rig.pass(Duration::from_hours(24));
    let run = rig.ok(within(rig, budget, 1)).await.pop().unwrap().run;
    rig.ok(using(rig, &run, (0, 1), (0, DOLLAR))).await;
    assert_eq!(spent(rig).await.day, used(DOLLAR, 0));
    rig.succeed(&run).await;
    rig.pass(Duration::from_hours(24));
    assert_eq!(given(rig, budget, 9).await, [500_000], "the rest of all that there is");
}

async fn tokens_are_bounded_like_money(rig: &Rig) {
    rig.tasks(3).await;
    let total = Bounds { micro_usd: None, tokens: Some(1_500_000) };
    let budget = Budget { total, ..Budget::default() };
    let claimed = rig.ok(within(rig, budget, 9)).await;
    let parts: Vec<Bounds> = claimed.iter().map(|claimed| claimed.run.reserved).collect();
    let tokens = |tokens| Bounds { micro_usd: None, tokens: Some(tokens) };
    assert_eq!(parts, [tokens(1_000_000), tokens(500_000)]);
    rig.ok(using(rig, &claimed[0].run, (0, 1), (400_000, 9))).await;
    let expected = Spent { day: used(9, 400_000), total: used(9, 400_000), reserved: used(0, 1_100_000) };
    assert_eq!(spent(rig).await, expected);
    rig.succeed(&claimed[0].run).await;
    assert_eq!(rig.ok(within(rig, budget, 9)).await[0].run.reserved, tokens(600_000));
}

async fn a_budget_without_bounds_is_none(rig: &Rig) {
    rig.tasks(3).await;
    let claimed = rig.ok(within(rig, Budget::default(), 9)).await;
    assert_eq!(claimed.len(), 3);
    assert!(claimed.iter().all(|claimed| claimed.run.reserved == Bounds::default()));
    assert_eq!(given(rig, a_day(0), 9).await, [0; 0]);
}

async fn a_run_that_needs_more_gets_it_while_there_is_enough(rig: &Rig) {
    rig.tasks(2).await;
    let budget = a_day(3 * DOLLAR);
    let claimed = rig.ok(within(rig, budget, 2)).await;
    let more = |n: usize| {
        let run = &claimed[n].run;
        ReserveMore { run: run.id, attempt: run.attempt, budget, now: rig.now() }
    };
    let dollars = |dollars| Bounds { micro_usd: Some(dollars * DOLLAR), tokens: None };
    rig.ok(using(rig, &claimed[0].run, (0, 1), (1, 900_000))).await;
    assert_eq!(rig.ok(more(0)).await, dollars(2));
    assert_eq!(rig.detail(&claimed[0].run).await.run.reserved, dollars(2));
    assert_eq!(rig.ok(more(1)).await, dollars(1), "nothing is left");
    assert_eq!(spent(rig).await.reserved, used(2_100_000, 0));
    rig.succeed(&claimed[0].run).await;
    assert_eq!(rig.ok(more(1)).await, dollars(2), "the other needed less than it had");
    assert!(matches!(rig.refused(more(0)).await, StoreError::LeaseLost { .. }));
}

async fn a_run_that_counts_wildly_spoils_no_sum(rig: &Rig) {
    rig.tasks(20).await;
    for Claimed { run, .. } in rig.claim(20).await {
        rig.ok(using(rig, &run, (0, 1), (u64::MAX, u64::MAX))).await;
    }
    assert_eq!(spent(rig).await.total, used(20 << 44, 40 << 44));
}

async fn many_claimers_never_exceed_a_budget(rig: &Rig) {
    rig.tasks(120).await;
    let elsewhere = rig.elsewhere().await;
    let bound = 20 * DOLLAR;
    let claimers =
        [rig.clone(), elsewhere].into_iter().cycle().take(16).enumerate().map(|(n, rig)| async move {
            let mut held = Vec::new();
            for round in 0..6 {
                for claimed in rig.ok(within(&rig, a_day(bound), 1 + n % 3)).await {
                    let part = claimed.run.reserved.micro_usd.unwrap();
                    // Some use all of their part, some a tenth; some end, some go on.
                    let use_up = if n % 2 == 0 { part } else { part / 10 };
                    rig.ok(using(&rig, &claimed.run, (0, 1), (1, use_up / 2))).await;
                    rig.ok(using(&rig, &claimed.run, (1, 2), (2, use_up))).await;
                    if round % 2 == 0 {
                        rig.succeed(&claimed.run).await;
                    } else {
                        held.push(claimed.run);
                    }
                }
                let now = spent(&rig).await;
                let all = now.total.micro_usd + now.reserved.micro_usd;
                assert!(all <= bound, "{all} of {bound}: {now:?}");
            }
            held.len()
        });
    assert!(together(claimers).await.into_iter().sum::<usize>() > 0);
    let end = spent(rig).await;
    assert!(end.total.micro_usd + end.reserved.micro_usd <= bound, "{end:?}");
    assert!(end.total.micro_usd > 5 * DOLLAR, "they did work: {end:?}");
}
