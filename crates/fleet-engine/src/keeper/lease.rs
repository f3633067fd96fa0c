//! Holding on to the run: renews the lease and listens for requests to stop.

use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::{StopKind, StopRequest};
use fleet_core::supervision::Order;
use fleet_core::time::Millis;
use fleet_store::{Store, StoreError, ops};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::clock;
use crate::runner::any_signal;

/// The newest order, if any.
pub(super) type Orders = watch::Receiver<Option<Order>>;

/// How many messages waited for the run at the last look.
pub(super) type WaitingCount = watch::Receiver<i64>;

/// A failed renewal is tried again after this: the store may be restarting.
const RETRY_DELAY: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(super) struct Lease {
    pub(super) run: RunId,
    pub(super) attempt: i64,
    pub(super) span: Duration,
    pub(super) until: Millis,
}

impl Lease {
    /// A lease that is a third old is renewed. The claim has just made it, so that its keeper has better to do at first.
    fn first_pause(&self) -> Duration {
        self.until.since(clock::now()).saturating_sub(self.span * 2 / 3)
    }
}

/// What the holder of a run is asked to do.
pub(super) struct RunOrders {
    pub(super) orders: Orders,
    pub(super) waiting: WaitingCount,
    tell: watch::Sender<Option<Order>>,
}

impl RunOrders {
    /// Passes on a request to stop the run that was found outside the renewals.
    pub(super) fn pass_on(&self, stop: Option<StopRequest>) {
        if let Some(stop) = stop {
            tell_order(&self.tell, Order::Stop(stop));
        }
    }
}

/// Renews until the run is lost or the keeper ends. SIGUSR1 makes it look at once.
pub(super) fn hold(store: Store, lease: Lease) -> Outcome<RunOrders> {
    let (tell, orders) = watch::channel(None);
    let (count, waiting) = watch::channel(0);
    let hold = RunOrders { orders, waiting, tell: tell.clone() };
    let listen = |kind| {
        signal(kind)
            .map_err(|error| Problem::new(Code::Internal, format!("cannot listen for signals: {error}")))
    };
    let mut nudges = listen(SignalKind::user_defined1())?;
    let mut ends =
        [listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?, listen(SignalKind::hangup())?];
    let told = tell.clone();
    // Beside the renewals, which may wait for a store that does not answer.
    tokio::spawn(async move {
        while !told.is_closed() {
            any_signal(&mut ends).await;
            let why = "its keeper was asked to end".to_owned();
            tell_order(&told, Order::Stop(StopRequest { kind: StopKind::Release, why }));
        }
    });
    tokio::spawn(async move {
        let mut pause = lease.first_pause();
        while !tell.is_closed() {
            tokio::select! {
                () = sleep(pause) => {}
                _ = nudges.recv() => {}
            }
            pause = match renew(&store, lease).await {
                Ok(ops::Renewed { stop, messages }) => {
                    if let Some(stop) = stop {
                        tell_order(&tell, Order::Stop(stop));
                    }
                    // Told every time: what waited before may be something else now.
                    if messages > 0 {
                        count.send_replace(messages);
                    }
                    lease.span / 3
                }
                Err(StoreError::LeaseLost { .. } | StoreError::RunNotFound(_)) => {
                    return tell_order(&tell, Order::Lost);
                }
                Err(_) => RETRY_DELAY,
            };
        }
    });
    Ok(hold)
}

async fn renew(store: &Store, lease: Lease) -> Result<ops::Renewed, StoreError> {
    let Lease { run, attempt, span, .. } = lease;
    let renewal = ops::RenewLease { run, attempt, lease: span, now: clock::now() };
    // An answer that comes later than this is as good as none: the next try has to come before the lease ends.
    match timeout(span / 3, store.call(renewal)).await {
        Ok(renewed) => renewed,
        Err(_) => Err(StoreError::Failed("no answer".to_owned())),
    }
}

fn tell_order(tell: &watch::Sender<Option<Order>>, order: Order) {
    tell.send_if_modified(|current| {
        let is_new = order.supersedes(current.as_ref());
        if is_new {
            *current = Some(order);
        }
        is_new
    });
}
