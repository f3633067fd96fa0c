//! The terminal of one agent, as everything in its keeper shares it: what it shows, who looks at it, what is typed.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fleet_core::typing::Draft;
use fleet_host::TerminalSize;
use fleet_host::process::Terminal;
use fleet_host::screen::{ClientView, Screen};
use tokio::sync::watch;

use super::input::TerminalInput;
use super::recorder::Recorder;
use super::secrets::Secrets;
use super::wire::TerminalEnd;
use crate::clock;

/// The size of a terminal that nobody looks at yet.
pub(crate) fn first_size() -> TerminalSize {
    TerminalSize::new(120, 40)
}

/// Keys that come while a prompt is typed wait; more than this are dropped.
const MAX_HELD_KEYS: usize = 64 * 1024;

/// Numbers the clients of one terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ClientId(u64);

pub(crate) struct Hub {
    state: Mutex<HubState>,
    /// Changes with what is shown.
    changes: watch::Sender<()>,
    input: TerminalInput,
    secrets: Secrets,
}

struct HubState {
    screen: Screen,
    recorder: Option<Recorder>,
    terminal: Terminal,
    /// Those who look, with the sizes of their terminals; only those who may type have a say in the size.
    clients: BTreeMap<ClientId, ClientSeat>,
    next_client: u64,
    draft: Draft,
    /// Keys that wait until a prompt has been typed; none if they need not.
    held: Option<Vec<u8>>,
    began: Duration,
    ended: Option<TerminalEnd>,
}

struct ClientSeat {
    size: TerminalSize,
    read_only: bool,
}

impl HubState {
    /// Since the terminal was opened.
    fn elapsed(&self) -> Duration {
        clock::uptime().saturating_sub(self.began)
    }

    /// The size of the terminal, and what draws everything that it shows.
    fn repaint(&self) -> (TerminalSize, Vec<u8>) {
        let size = self.screen.size();
        (size, ClientView::new(size).update(&self.screen))
    }
}

impl Hub {
    pub(crate) fn new(
        terminal: Terminal,
        input: TerminalInput,
        recorder: Option<Recorder>,
        secrets: Secrets,
    ) -> Self {
        let state = HubState {
            screen: Screen::new(first_size()),
            recorder,
            terminal,
            clients: BTreeMap::new(),
            next_client: 0,
            draft: Draft::default(),
            held: None,
            began: clock::uptime(),
            ended: None,
        };
        Self { state: Mutex::new(state), changes: watch::Sender::new(()), input, secrets }
    }

    fn state(&self) -> MutexGuard<'_, HubState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes when the screen does, when people type, and at the end.
    pub(crate) fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Takes what the agent printed.
    pub(crate) fn output(&self, bytes: &[u8]) {
        let mut state = self.state();
        let replies = state.screen.feed(bytes);
        if let Some(recorder) = &state.recorder {
            recorder.output(state.elapsed(), bytes, || state.repaint());
        }
        drop(state);
        self.input.write(replies);
        self.changes.send_replace(());
    }

    /// The agent is gone. What is left of the recording is for the caller to finish.
    pub(super) fn end(&self, end: TerminalEnd) -> Option<Recorder> {
        let mut state = self.state();
        state.ended.get_or_insert(end);
        let recorder = state.recorder.take();
        drop(state);
        self.changes.send_replace(());
        recorder
    }

    pub(super) fn ended(&self) -> Option<TerminalEnd> {
        self.state().ended.clone()
    }

    /// The screen as text, with what is secret in it: the keeper looks for dialogs there.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.state().screen.text()
    }

    /// What scrolled away, and the screen, as text.
    pub(crate) fn history(&self, max: usize) -> Vec<String> {
        let lines = self.state().screen.history(max);
        self.secrets.clean_lines(lines)
    }

    /// Whether the agent tells a paste from keys.
    pub(crate) fn takes_paste(&self) -> bool {
        self.state().screen.modes().bracketed_paste
    }

    /// What people have typed so far.
    pub(crate) fn draft(&self) -> Draft {
        self.state().draft
    }

    /// Lets keys of people wait until [`Self::release_keys`].
    pub(crate) fn hold_keys(&self) {
        self.state().held.get_or_insert_default();
    }

    /// Types the keys that waited, before any newer one.
    pub(crate) fn release_keys(&self) {
        let mut state = self.state();
        if let Some(keys) = state.held.take().filter(|keys| !keys.is_empty()) {
            state.draft.push(&keys);
            self.input.write(keys);
        }
    }

    /// What people typed went into a dialog, or was sent.
    pub(crate) fn forget_draft(&self) {
        self.state().draft.forget();
    }

    /// Types for codefleet. `false` if the agent does not read what is typed.
    pub(crate) fn type_in(&self, bytes: Vec<u8>) -> bool {
        self.input.write(bytes)
    }

    /// Whether the agent has read enough of what was typed to get more.
    pub(super) fn has_room(&self) -> bool {
        self.input.has_room()
    }

    /// Types for a person.
    pub(super) fn keys(&self, bytes: &[u8]) {
        let mut state = self.state();
        if let Some(held) = &mut state.held {
            if held.len() + bytes.len() <= MAX_HELD_KEYS {
                held.extend(bytes);
            }
            return;
        }
        let before = state.draft;
        state.draft.push(bytes);
        let is_changed = state.draft != before;
        // Under the lock, which keeps the order; it does not wait.
        self.input.write(bytes.to_vec());
        drop(state);
        if is_changed {
            self.changes.send_replace(());
        }
    }

    pub(super) fn join(&self, size: TerminalSize, read_only: bool) -> ClientId {
        let mut state = self.state();
        let id = ClientId(state.next_client);
        state.next_client += 1;
        state.clients.insert(id, ClientSeat { size, read_only });
        self.fit(state);
        id
    }

    pub(super) fn resize(&self, client: ClientId, size: TerminalSize) {
        let mut state = self.state();
        if let Some(seat) = state.clients.get_mut(&client) {
            seat.size = size;
        }
        self.fit(state);
    }

    pub(super) fn leave(&self, client: ClientId) {
        let mut state = self.state();
        state.clients.remove(&client);
        self.fit(state);
    }

    /// Whether the agent is in the middle of drawing, as far as it says so.
    pub(super) fn is_drawing(&self) -> bool {
        self.state().screen.modes().synchronized
    }

    /// What brings the terminal of a client up to date.
    pub(super) fn update(&self, view: &mut ClientView) -> Vec<u8> {
        view.update(&self.state().screen)
    }

    /// Gives the terminal the size that every client who types can show. A terminal that nobody looks at keeps its size.
    fn fit(&self, mut state: MutexGuard<'_, HubState>) {
        let typing = state.clients.values().filter(|seat| !seat.read_only).map(|seat| seat.size);
        let smallest = typing.reduce(|one, other| {
            TerminalSize::new(one.columns().min(other.columns()), one.rows().min(other.rows()))
        });
        let Some(size) = smallest.filter(|size| *size != state.screen.size()) else { return };
        state.screen.resize(size);
        // A terminal that is gone needs no size.
        let _ = state.terminal.resize(size);
        if let Some(recorder) = &state.recorder {
            recorder.resize(state.elapsed(), size);
        }
        drop(state);
        self.changes.send_replace(());
    }
}
