//! The keeper's side: lets people look at an agent's terminal, and type.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fleet_agents::PermissionAnswer;
use fleet_api::verbs::run_answer::PermissionReply;
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Problem};
use fleet_host::TerminalSize;
use fleet_host::screen::ClientView;
use tokio::io::AsyncWriteExt as _;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::hub::Hub;
use super::wire::{self, FrameKind, Hello, Reply, TerminalEnd, WireSize};
use crate::home::Home;
use crate::inside;
use crate::keeper::blocking;
use crate::sockets::{self, RunSocket};

/// More than anybody opens, and few enough to be held in memory with a screen each.
const MAX_CLIENTS: usize = 32;
/// A client has this long to say what it wants.
const HELLO_TIMEOUT: Duration = Duration::from_secs(10);
/// A client that reads nothing for this long is gone, or may as well be.
const STALLED_TIMEOUT: Duration = Duration::from_mins(1);
/// Screens are sent no more often than this: an agent that floods its terminal costs its clients no more.
const FRAME_TIME: Duration = Duration::from_millis(8);
/// An agent that says for longer that it is in the middle of drawing is shown as it is.
const LONGEST_DRAWING: Duration = Duration::from_millis(100);
/// A process that has no more descriptors tries again after this.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// How often to look whether an agent has read what was typed.
const ROOM_INTERVAL: Duration = Duration::from_millis(5);
/// At most this many answers wait.
const MAX_ANSWERS: usize = 8;
/// How long the end may take to reach those who look.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// How long the rest of a recording may take to reach the disk.
const RECORD_TIMEOUT: Duration = Duration::from_secs(5);

/// Somebody answers the dialog on the screen.
pub(crate) struct Answering {
    pub(crate) answer: PermissionAnswer,
    pub(crate) done: oneshot::Sender<Result<(), Problem>>,
}

/// A terminal that people can look at. Nobody can any more when it is closed or dropped.
pub(crate) struct OpenTerminal {
    path: PathBuf,
    serving: JoinHandle<()>,
    hub: Arc<Hub>,
    pub(crate) answers: mpsc::Receiver<Answering>,
}

impl OpenTerminal {
    pub(crate) fn open(home: &Home, run: RunId, hub: Arc<Hub>) -> io::Result<Self> {
        let (listener, path) = sockets::listen(home, run, RunSocket::Terminal)?;
        let listener = UnixListener::from_std(listener)?;
        let (tell, answers) = mpsc::channel(MAX_ANSWERS);
        let service = TerminalService { home: home.clone(), hub: Arc::clone(&hub), answers: tell };
        Ok(Self { path, serving: tokio::spawn(serve(listener, service)), hub, answers })
    }

    /// Tells all who look that the agent has ended.
    pub(crate) async fn close(mut self, end: TerminalEnd) {
        let _ = std::fs::remove_file(&self.path);
        let recorder = self.hub.end(end);
        let _ = timeout(END_TIMEOUT, &mut self.serving).await;
        // A disk that stands still is not waited for: the recording ends where it is.
        if let Some(recorder) = recorder {
            recorder.finish(RECORD_TIMEOUT).await;
        }
    }
}

impl Drop for OpenTerminal {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        self.serving.abort();
    }
}

/// What every connection needs.
#[derive(Clone)]
struct TerminalService {
    home: Home,
    hub: Arc<Hub>,
    answers: mpsc::Sender<Answering>,
}

async fn serve(listener: UnixListener, service: TerminalService) {
    let mut clients = JoinSet::new();
    let mut changes = service.hub.changes();
    while service.hub.ended().is_none() {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if clients.len() < MAX_CLIENTS => {
                    let service = service.clone();
                    clients.spawn(async move { drop(service.client(stream).await) });
                }
                Ok((stream, _)) => turn_away(stream).await,
                Err(_) => sleep(RETRY_DELAY).await,
            },
            Some(_) = clients.join_next() => {}
            Ok(()) = changes.changed() => {}
        }
    }
    drop(listener);
    while clients.join_next().await.is_some() {}
}

/// Tells a client that there are too many.
async fn turn_away(mut stream: UnixStream) {
    let problem = Problem::new(Code::NoTerminal, format!("{MAX_CLIENTS} people are attached to it already"))
        .hint("try again when somebody has detached");
    let reply = Reply::Problem(problem);
    let _ = timeout(END_TIMEOUT, wire::write_json(&mut stream, FrameKind::Reply, &reply)).await;
}

impl TerminalService {
    async fn client(self, stream: UnixStream) -> io::Result<()> {
        let refusal = self.refusal(&stream).await;
        let (mut reading, mut writing) = stream.into_split();
        if let Some(problem) = refusal {
            return wire::write_json(&mut writing, FrameKind::Reply, &Reply::Problem(problem)).await;
        }
        let hello =
            timeout(HELLO_TIMEOUT, wire::read_up_to(&mut reading, wire::LONGEST_FROM_CLIENT)).await??;
        let Some(hello) = hello.filter(|frame| frame.kind == FrameKind::Hello) else { return Ok(()) };
        let reply = match hello.read::<Hello>()? {
            Hello::Attach { size, read_only } => {
                return self.attend(reading, writing, size.into(), read_only).await;
            }
            Hello::Lines { max } => Reply::Lines(self.hub.history(max)),
            Hello::Answer(answer) => match self.answer(answer).await {
                Ok(()) => Reply::Answered,
                Err(problem) => Reply::Problem(problem),
            },
        };
        wire::write_json(&mut writing, FrameKind::Reply, &reply).await
    }

    /// Refuses agents: they neither see nor type into any terminal, their own included.
    async fn refusal(&self, stream: &UnixStream) -> Option<Problem> {
        let peer = stream.peer_cred().ok().and_then(|peer| {
            let is_user = peer.uid() == rustix::process::geteuid().as_raw();
            peer.pid().filter(|pid| *pid > 0 && is_user)
        });
        let home = self.home.clone();
        let is_person = match peer {
            Some(pid) => blocking(move || !inside::is_inside(&home, pid)).await.unwrap_or(false),
            None => false,
        };
        (!is_person).then(|| {
            Problem::new(Code::NotYours, "only people can use the terminal of an agent")
                .hint("say in your report what you need; a person can do it")
        })
    }

    async fn answer(&self, answer: PermissionReply) -> Result<(), Problem> {
        let answer = match answer {
            PermissionReply::Allow => PermissionAnswer::Allow,
            PermissionReply::AllowAlways => PermissionAnswer::AllowAlways,
            PermissionReply::Deny => PermissionAnswer::Deny,
        };
        let (done, answered) = oneshot::channel();
        let gone = || Problem::new(Code::NotHere, "the agent has just ended");
        self.answers.send(Answering { answer, done }).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }

    /// Shows the screen until the client leaves or the agent ends.
    async fn attend(
        self,
        reading: OwnedReadHalf,
        mut writing: OwnedWriteHalf,
        size: TerminalSize,
        read_only: bool,
    ) -> io::Result<()> {
        let changes = self.hub.changes();
        let seat = Seat { hub: Arc::clone(&self.hub), id: self.hub.join(size, read_only) };
        let (resized, sizes) = mpsc::channel(1);
        let mut listening = tokio::spawn(listen(reading, Arc::clone(&self.hub), read_only, resized));
        let show = seat.show(&mut writing, ClientView::new(size), changes, sizes);
        let shown = tokio::select! {
            shown = show => shown,
            _ = &mut listening => Ok(()),
        };
        listening.abort();
        shown
    }
}

/// The place of a client among those who look; given up in any case.
struct Seat {
    hub: Arc<Hub>,
    id: super::hub::ClientId,
}

impl Seat {
    /// Sends what the screen shows, until the client is gone or the agent has ended.
    async fn show(
        &self,
        writing: &mut OwnedWriteHalf,
        mut view: ClientView,
        mut changes: watch::Receiver<()>,
        mut sizes: mpsc::Receiver<TerminalSize>,
    ) -> io::Result<()> {
        loop {
            changes.mark_unchanged();
            let mut due = Instant::now();
            let bytes = self.hub.update(&mut view);
            if !bytes.is_empty() {
                // A key that changes nothing must not delay its own echo.
                due += FRAME_TIME;
                timeout(STALLED_TIMEOUT, wire::write(writing, FrameKind::Output, &bytes)).await??;
            }
            if let Some(end) = self.hub.ended() {
                timeout(END_TIMEOUT, wire::write_json(writing, FrameKind::Ended, &end)).await??;
                return writing.shutdown().await;
            }
            tokio::select! {
                next = changes.changed() => if next.is_err() { return Ok(()) },
                Some(size) = sizes.recv() => {
                    view.resize(size);
                    view.redraw();
                    self.hub.resize(self.id, size);
                }
            }
            sleep_until(due).await;
            until_drawn(&self.hub, &mut changes).await;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.hub.leave(self.id);
    }
}

/// Takes what a client sends, until it leaves.
async fn listen(
    mut reading: OwnedReadHalf,
    hub: Arc<Hub>,
    read_only: bool,
    resized: mpsc::Sender<TerminalSize>,
) -> io::Result<()> {
    while let Some(frame) = wire::read_up_to(&mut reading, wire::LONGEST_FROM_CLIENT).await? {
        match frame.kind {
            FrameKind::Keys if !read_only => {
                // The client waits with the rest of a long paste.
                while !hub.has_room() && hub.ended().is_none() {
                    sleep(ROOM_INTERVAL).await;
                }
                hub.keys(&frame.bytes);
            }
            FrameKind::Resize if resized.send(frame.read::<WireSize>()?.into()).await.is_err() => break,
            _ => {}
        }
    }
    Ok(())
}

/// Waits while the agent says that it is in the middle of drawing, but not for one that never says that it is done.
async fn until_drawn(hub: &Hub, changes: &mut watch::Receiver<()>) {
    let deadline = Instant::now() + LONGEST_DRAWING;
    while hub.is_drawing() && Instant::now() < deadline {
        tokio::select! {
            next = changes.changed() => if next.is_err() { return },
            () = sleep_until(deadline) => return,
        }
    }
}
