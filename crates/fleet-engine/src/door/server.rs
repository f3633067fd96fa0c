//! The keeper's side of the door.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use fleet_api::{Client as _, Question};
use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::runtime::Handle;
use tokio::sync::{oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::client;
use super::peer::DoorOwner;
use super::wire::{self, DoorReply, Unread};
use crate::Engine;
use crate::home::Home;
use crate::sockets::{self, RunSocket};

/// More than any agent needs at a time, and few enough to be held in memory with a line each.
const MAX_CONNECTIONS: usize = 32;
/// A client that neither sends nor reads for this long is disconnected.
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long waiting clients may take to read the refusal when the run ends.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);
/// A process that has no more descriptors tries again after this.
const RETRY_DELAY: Duration = Duration::from_millis(100);

/// A door that is open. It accepts no connection once it is closed or dropped.
pub(crate) struct OpenDoor {
    path: PathBuf,
    is_closing: watch::Sender<bool>,
    serving: JoinHandle<()>,
}

impl OpenDoor {
    /// Opens the door of a run. What comes in is asked of `engine`, which acts for the run's agent.
    pub(crate) fn open(engine: Engine, home: &Home, run: RunId, host: DoorOwner) -> io::Result<Self> {
        let (listener, path) = sockets::listen(home, run, RunSocket::Door)?;
        let listener = UnixListener::from_std(listener)?;
        let (is_closing, closing) = watch::channel(false);
        let service = DoorService { engine: Arc::new(engine), host, closing };
        Ok(Self { path, is_closing, serving: tokio::spawn(serve(listener, service)) })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Accepts no more connections, and tells waiting callers that the run is over.
    pub(crate) async fn close(mut self) {
        let _ = std::fs::remove_file(&self.path);
        self.is_closing.send_replace(true);
        let _ = timeout(SHUTDOWN_TIMEOUT, &mut self.serving).await;
    }
}

impl Drop for OpenDoor {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        self.serving.abort();
    }
}

/// What every connection needs.
#[derive(Clone)]
struct DoorService {
    engine: Arc<Engine>,
    host: DoorOwner,
    closing: watch::Receiver<bool>,
}

async fn serve(listener: UnixListener, service: DoorService) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            () = service.closed() => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                    connections.spawn(service.clone().serve_client(stream));
                }
                Ok((stream, _)) => turn_away(stream),
                Err(_) => sleep(RETRY_DELAY).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Tells a client that there are too many, without waiting for it.
fn turn_away(stream: UnixStream) {
    let problem =
        Problem::new(Code::DoorClosed, format!("{MAX_CONNECTIONS} calls of this run are in progress"))
            .hint("try again in a moment, and call `fleet` fewer times at once");
    if let (Ok(mut stream), Ok(line)) = (stream.into_std(), wire::line(&DoorReply::Problem(problem))) {
        let _ = stream.write_all(&line);
    }
}

impl DoorService {
    async fn closed(&self) {
        // A door that was dropped is closed as well.
        let _ = self.closing.clone().wait_for(|is_closing| *is_closing).await;
    }

    async fn serve_client(self, stream: UnixStream) {
        let admitted = self.host.admit(&stream).await;
        let (reading, mut writing) = stream.into_split();
        let mut reader = BufReader::new(reading);
        loop {
            let asked = tokio::select! {
                asked = timeout(IDLE_TIMEOUT, wire::read::<Question>(&mut reader)) => asked,
                () = self.closed() => return,
            };
            let (reply, is_last) = match (&admitted, asked) {
                (_, Err(_) | Ok(Ok(None) | Err(Unread::Io(_)))) => return,
                (Err(stranger), Ok(_)) => (Some(Err(stranger.clone())), true),
                // What follows a line that was not read to its end cannot be told from it.
                (Ok(()), Ok(Err(unread))) => {
                    (Some(Err(Problem::new(Code::InvalidValue, unread.to_string()))), true)
                }
                (Ok(()), Ok(Ok(Some(question)))) => (self.answer(question, &mut reader).await, false),
            };
            let Some(reply) = reply else { return };
            if !say(&mut writing, reply).await || is_last {
                return;
            }
        }
    }

    /// The answer; `None` if the caller has left.
    async fn answer(
        &self,
        question: Question,
        reader: &mut BufReader<OwnedReadHalf>,
    ) -> Option<Outcome<String>> {
        let (_wanted, unwanted) = oneshot::channel::<()>();
        // The settings may have changed since the last question.
        let (engine, runtime) = (self.engine.reloaded(), Handle::current());
        // In a thread, because verbs read files and repositories, and the keeper waits for none of that. Whatever lives
        // longer than the call (connections to the store) belongs to the keeper's own runtime.
        let work = tokio::task::spawn_blocking(move || {
            runtime.block_on(async {
                tokio::select! {
                    answer = engine.ask(question) => Some(answer),
                    _ = unwanted => None,
                }
            })
        });
        tokio::select! {
            done = work => done.unwrap_or_else(|error| Some(Err(Problem::new(Code::Internal, error.to_string())))),
            () = until_disconnected(reader) => None,
            () = self.closed() => Some(Err(client::run_is_over())),
        }
    }
}

/// Whether the client received its answer.
async fn say(writing: &mut OwnedWriteHalf, reply: Outcome<String>) -> bool {
    let line =
        wire::line(&DoorReply::from(reply)).or_else(|problem| wire::line(&DoorReply::Problem(problem)));
    let Ok(line) = line else { return false };
    matches!(timeout(IDLE_TIMEOUT, writing.write_all(&line)).await, Ok(Ok(())))
}

/// Until the client has left. One that asks more before it has its answer is still there.
async fn until_disconnected(reader: &mut BufReader<OwnedReadHalf>) {
    if reader.fill_buf().await.is_ok_and(|more| !more.is_empty()) {
        std::future::pending::<()>().await;
    }
}
