//! What a tool works with.

use std::path::PathBuf;
use std::sync::Arc;

use fleet_api::verbs::runner_missing;
use fleet_api::{Answering, Client, Question};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RequestContext};
use tokio::sync::{Semaphore, watch};

/// Whether the client has left. Shared by everything that works for it.
#[derive(Debug, Clone)]
pub(crate) struct Closing(Arc<watch::Sender<bool>>);

impl Closing {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    pub(crate) fn close(&self) {
        self.0.send_replace(true);
    }

    /// Waits until the client has left.
    async fn closed(&self) {
        // The sender is in our own hands, so that this cannot fail.
        let _ = self.0.subscribe().wait_for(|closed| *closed).await;
    }
}

/// One call of a tool. Owns all that it needs: it goes on when the client has left.
pub(super) struct Call {
    pub(super) client: Arc<dyn Client>,
    /// The directory that it is about, if it names no other.
    pub(super) directory: Option<PathBuf>,
    pub(super) closing: Closing,
    /// One call at a time may wait for the start of what it made.
    pub(super) start: Arc<Semaphore>,
    pub(super) context: RequestContext<RoleServer>,
}

impl Client for Call {
    fn ask(&self, question: Question) -> Answering<'_> {
        self.client.ask(question)
    }
}

impl Call {
    /// Starts the runner that ready work is missing, if that is so, beside the answer.
    pub(super) fn look_after_queue(&self) {
        let client = Arc::clone(&self.client);
        tokio::spawn(
            async move { fleet_api::call(&*client, None, &runner_missing::Request::default()).await },
        );
    }

    /// Waits until the client has left.
    pub(super) async fn abandoned(&self) {
        tokio::select! {
            () = self.context.ct.cancelled() => {}
            () = self.closing.closed() => {}
        }
    }

    /// Tells how far this call is, if the client asked to be told.
    pub(super) fn progress(&self) -> Option<ProgressReporter> {
        let token = self.context.meta.get_progress_token()?;
        Some(ProgressReporter { peer: self.context.peer.clone(), token })
    }
}

/// A client that wants to know how far a call is.
pub(super) struct ProgressReporter {
    peer: Peer<RoleServer>,
    token: ProgressToken,
}

impl ProgressReporter {
    /// Tells it. Numbers must grow from call to call. A client that does not listen is no reason to stop.
    pub(super) async fn tell(&self, number: f64, message: String) {
        let notification = ProgressNotificationParam::new(self.token.clone(), number).with_message(message);
        let _ = self.peer.notify_progress(notification).await;
    }
}
