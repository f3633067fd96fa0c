//! Messages in random order of events: sent, taken, delivered, seen, with keepers that die in between. Each is delivered at
//! least once, in order, and seen only after it was delivered.

use std::collections::BTreeMap;

use fleet_core::id::TaskId;
use fleet_core::message::{
    Channel, MAX_WAITING, Message, MessageMove, MessageState, Receipt, Receipts, Reception,
};
use fleet_core::run::{Ending, Run};
use fleet_core::task::TaskState;
use fleet_store::ops::{RecordReceipts, TakeMessages, TaskMessages};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::harness::{Engine, Rig};

#[derive(Debug, Clone, Copy)]
enum Step {
    Send,
    /// A run takes what waits; its answer may be lost on the way.
    Take {
        is_lost: bool,
    },
    /// The keeper gives the agent the next message that it has.
    Give,
    /// The agent shows that it has the next message that it was given.
    Show,
    /// The keeper leaves its receipts.
    Record(Receipt),
    /// The keeper is killed, and the task is claimed again.
    Kill,
    /// The run comes to a good end.
    Succeed,
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => Just(Step::Send),
        4 => prop::bool::weighted(0.2).prop_map(|is_lost| Step::Take { is_lost }),
        5 => Just(Step::Give),
        4 => Just(Step::Show),
        3 => Just(Step::Record(Receipt::Delivered)),
        3 => Just(Step::Record(Receipt::Seen)),
        2 => Just(Step::Kill),
        1 => Just(Step::Succeed),
    ]
}

/// A keeper, as far as it remembers; what its agent was given and showed dies with it.
struct Keeper {
    run: Run,
    /// Taken, and not given to the agent yet.
    holds: Vec<i64>,
    last: i64,
    given: Vec<i64>,
    shown: usize,
}

impl Keeper {
    const fn new(run: Run) -> Self {
        Self { run, holds: Vec::new(), last: 0, given: Vec::new(), shown: 0 }
    }

    fn told(&self, receipt: Receipt) -> Vec<i64> {
        match receipt {
            Receipt::Delivered => self.given.clone(),
            Receipt::Seen => self.given[..self.shown].to_vec(),
        }
    }
}

struct World {
    task: TaskId,
    keeper: Keeper,
    /// What should be in the store.
    receipts: BTreeMap<i64, Receipts>,
    /// What each agent was given, in its order.
    given: Vec<Vec<i64>>,
}

impl World {
    async fn new(rig: &Rig) -> Self {
        let task = rig.task("one").await;
        let keeper = Keeper::new(rig.start(task).await);
        Self { task, keeper, receipts: BTreeMap::new(), given: Vec::new() }
    }

    async fn take_step(&mut self, rig: &Rig, step: Step) {
        rig.pass(std::time::Duration::from_millis(1));
        match step {
            Step::Send => self.send(rig).await,
            Step::Take { is_lost } => {
                let taken = self.take(rig).await;
                if !is_lost {
                    self.keeper.last = taken.last().copied().unwrap_or(self.keeper.last);
                    self.keeper.holds.extend(taken);
                }
            }
            Step::Give if self.keeper.holds.is_empty() => {}
            Step::Give => self.keeper.given.push(self.keeper.holds.remove(0)),
            Step::Show => self.keeper.shown = self.keeper.given.len().min(self.keeper.shown + 1),
            Step::Record(receipt) => self.record(rig, receipt).await,
            Step::Kill => self.kill(rig).await,
            Step::Succeed => self.succeed(rig).await,
        }
    }

    /// One place stays free, so that a task that is done can be taken up again.
    async fn send(&mut self, rig: &Rig) {
        let waiting = self.receipts.values().filter(|receipts| receipts.seen.is_none()).count();
        if waiting < MAX_WAITING - 1 {
            self.sent(rig, Reception::Live).await;
        }
    }

    async fn sent(&mut self, rig: &Rig, reception: Reception) {
        let sent = rig.ok(rig.saying(self.task, "more")).await;
        assert_eq!(sent.reception, reception);
        self.receipts.insert(sent.message.id.seq, Receipts::new(rig.now()));
    }

    async fn take(&mut self, rig: &Rig) -> Vec<i64> {
        let Run { id: run, attempt, .. } = self.keeper.run;
        let after = self.keeper.last;
        let taken =
            rig.ok(TakeMessages { run, attempt, channel: Channel::Input, after, now: rig.now() }).await;
        let taken: Vec<i64> = taken.iter().map(|message| message.id.seq).collect();
        let waits = |(seq, receipts): (&i64, &Receipts)| {
            (*seq > after && receipts.state() != MessageState::Seen).then_some(*seq)
        };
        assert_eq!(taken, self.receipts.iter().filter_map(waits).collect::<Vec<_>>());
        for seq in &taken {
            self.moved(*seq, MessageMove::Take, rig);
        }
        taken
    }

    async fn record(&mut self, rig: &Rig, receipt: Receipt) {
        let Run { id: run, attempt, .. } = self.keeper.run;
        let seqs = self.keeper.told(receipt);
        let news = rig.ok(RecordReceipts { run, attempt, receipt, seqs: seqs.clone(), now: rig.now() }).await;
        let before = self.receipts.clone();
        for seq in &seqs {
            self.moved(*seq, receipt.into(), rig);
        }
        let changed = |seq: &i64| self.receipts[seq] != before[seq];
        assert_eq!(news, seqs.into_iter().filter(changed).collect::<Vec<_>>());
    }

    fn moved(&mut self, seq: i64, event: MessageMove, rig: &Rig) {
        let receipts = self.receipts.get_mut(&seq).unwrap();
        *receipts = receipts.after(event, rig.now()).unwrap();
    }

    async fn next_run(&mut self, rig: &Rig) {
        let next = Keeper::new(rig.start(self.task).await);
        let old = std::mem::replace(&mut self.keeper, next);
        self.given.push(old.given);
    }

    /// Whoever said something that nobody has seen by then gets another run; otherwise somebody has more to say.
    async fn succeed(&mut self, rig: &Rig) {
        self.record(rig, Receipt::Seen).await;
        rig.work(&self.keeper.run).await;
        let task = rig.end(&self.keeper.run, Ending::Succeeded).await;
        if task.state() == TaskState::Done {
            self.sent(rig, Reception::Reopened).await;
        }
        self.next_run(rig).await;
    }

    async fn agrees(&self, rig: &Rig) {
        let stored: Vec<Message> = rig.ok(TaskMessages { task: self.task, limit: 10_000 }).await;
        let stored: BTreeMap<i64, Receipts> =
            stored.iter().map(|message| (message.id.seq, message.receipts)).collect();
        assert_eq!(stored, self.receipts);
        let is_in_order = |receipts: &Receipts| {
            receipts.seen.is_none_or(|seen| receipts.delivered.is_some_and(|delivered| delivered <= seen))
        };
        assert!(stored.values().all(is_in_order), "{stored:?}");
    }

    /// One run that goes well: now everybody was told everything.
    async fn settle(mut self, rig: &Rig) {
        self.kill(rig).await;
        for seq in self.take(rig).await {
            self.keeper.given.push(seq);
        }
        self.keeper.shown = self.keeper.given.len();
        self.record(rig, Receipt::Seen).await;
        self.agrees(rig).await;
        self.given.push(std::mem::take(&mut self.keeper.given));
        assert!(self.receipts.values().all(|receipts| receipts.state() == MessageState::Seen));
        assert!(
            self.given.iter().all(|given| given.is_sorted_by(|one, next| one < next)),
            "{:?}",
            self.given
        );
        for seq in self.receipts.keys() {
            assert!(self.given.iter().flatten().any(|given| given == seq), "{seq} was never delivered");
        }
    }

    async fn kill(&mut self, rig: &Rig) {
        rig.end(&self.keeper.run, Ending::Released("killed".to_owned())).await;
        self.next_run(rig).await;
    }
}

fn tell_stories(engine: Engine, cases: u32) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let config = Config { cases, failure_persistence: None, max_shrink_iters: 300, ..Config::default() };
    let stories = prop::collection::vec(any_step(), 1..=50);
    let outcome = TestRunner::new(config).run(&stories, |story| {
        runtime.block_on(tell(engine, &story));
        Ok::<(), TestCaseError>(())
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

async fn tell(engine: Engine, story: &[Step]) {
    let rig = Rig::open(engine).await;
    let mut world = World::new(&rig).await;
    for step in story {
        world.take_step(&rig, *step).await;
        world.agrees(&rig).await;
    }
    world.settle(&rig).await;
    rig.everything_fits().await;
}

mod every_message_is_delivered_in_order {
    use super::{Engine, tell_stories};

    #[test]
    fn sqlite() {
        tell_stories(Engine::Sqlite, 24);
    }

    #[test]
    fn postgres() {
        tell_stories(Engine::Postgres, 4);
    }
}
