//! The sessions of clients over HTTP: how long one lasts, and how many there are.
//!
//! Owns which session goes when there are too many. Must never end one for the name of one
//! that does not exist.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::{SessionId, SessionManager};

use crate::mcp::MAX_WAIT;

/// A session that was silent for this long counts as left. During a `wait` nothing is said until its end, so that this
/// is longer than the longest.
const IDLE_TIMEOUT: Duration = MAX_WAIT.saturating_add(Duration::from_hours(1));
/// Clients may leave without a word, and a session is a task and some short queues. More than this is more than a user
/// has clients: the one that was silent for longest goes.
const MAX_SESSIONS: usize = 500;

#[derive(Debug)]
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    recent: Mutex<RecentSessions>,
}

impl Sessions {
    pub(crate) fn new() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE_TIMEOUT);
        Self { manager: Arc::new(manager), recent: Mutex::new(RecentSessions::new(MAX_SESSIONS)) }
    }

    pub(crate) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Whether there is such a session.
    pub(crate) async fn is_known(&self, session: &str) -> bool {
        self.manager.has_session(&session.into()).await.unwrap_or_default()
    }

    /// A request of this session begins: its client is there.
    pub(crate) async fn note_request(&self, session: &str) {
        // An invented name must not push out a session.
        if !self.is_known(session).await {
            return;
        }
        let id: SessionId = session.into();
        let one_too_many = self.recent.lock().unwrap_or_else(PoisonError::into_inner).note_request(id);
        if let Some(silent) = one_too_many {
            // It may have ended by itself.
            let _ = self.manager.close_session(&silent).await;
        }
    }
}

/// Sessions by when something was last heard of them, the longest ago first.
#[derive(Debug)]
struct RecentSessions {
    order: VecDeque<SessionId>,
    most: usize,
}

impl RecentSessions {
    fn new(most: usize) -> Self {
        Self { order: VecDeque::new(), most }
    }

    /// The session that has to go, if this is one too many.
    fn note_request(&mut self, id: SessionId) -> Option<SessionId> {
        self.order.retain(|known| *known != id);
        self.order.push_back(id);
        if self.order.len() > self.most { self.order.pop_front() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_outlasts_the_longest_wait() {
        let patience = Sessions::new().manager().session_config.keep_alive.unwrap();
        assert!(patience > MAX_WAIT, "{patience:?}");
    }

    #[test]
    fn the_one_that_was_silent_for_longest_goes() {
        let mut recent = RecentSessions::new(2);
        let mut heard = |id: &str| recent.note_request(id.into()).map(|gone| gone.to_string());
        assert_eq!([heard("a"), heard("b"), heard("a")], [None, None, None]);
        assert_eq!(heard("c").as_deref(), Some("b"));
        assert_eq!(heard("b").as_deref(), Some("a"));
    }

    #[test]
    fn there_are_never_more_sessions_than_that() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let sessions = Sessions::new();
            let mut held = Vec::new();
            for _ in 0..MAX_SESSIONS + 3 {
                let (id, transport) = sessions.manager.create_session().await.unwrap();
                held.push(transport);
                sessions.note_request(&id).await;
            }
            sessions.note_request("made up").await;
            assert_eq!(sessions.manager.sessions.read().await.len(), MAX_SESSIONS);
        });
    }
}
