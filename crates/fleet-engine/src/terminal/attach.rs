//! The terminal of a person who looks at an agent's.

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::thread;
use std::time::Duration;

use fleet_core::id::RunId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::screen::ClientView;
use fleet_host::terminal::{RawTerminal, terminal_size};
use tokio::io::BufReader;
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::client;
use super::ends::EndSignals;
use super::keys::{DetachKey, KeyFilter};
use super::wire::{self, Frame, FrameKind, Hello, Reply, TerminalEnd, WireSize};
use crate::Engine;

/// How long the line at the bottom says how to detach.
const BANNER_TIME: Duration = Duration::from_secs(2);
/// Keys are read in pieces of this size.
const KEY_BYTES: usize = 4096;
/// Frames wait for the terminal, which may be slow; the keeper then skips some.
const MAX_FRAMES: usize = 4;
/// Keys wait for the connection in at most this many pieces.
const MAX_PIECES: usize = 64;

#[derive(Debug, Clone)]
pub struct AttachOptions {
    pub run: RunId,
    pub read_only: bool,
    pub detach_key: DetachKey,
    /// What the line at the bottom says first, for instance whose terminal it is.
    pub banner: String,
}

/// How it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attached {
    /// The person left; the agent keeps running.
    Detached,
    Ended(TerminalEnd),
    /// The connection broke: the keeper is gone.
    Lost,
}

/// Shows the terminal of a run until the person leaves or the agent ends. None if the run has no terminal now.
pub async fn attach(engine: &Engine, options: AttachOptions) -> Outcome<Option<Attached>> {
    engine.check_outside()?;
    let Some(stream) = client::connect(engine.home(), options.run).await else { return Ok(None) };
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Problem::new(Code::Usage, "`fleet attach` needs a terminal")
            .hint("`fleet logs ID` prints what the terminal shows"));
    }
    let raw = RawTerminal::enter().map_err(|error| terminal_problem(&error))?;
    let session = Session::begin(stream, &options).await;
    let attached = match session {
        Ok(session) => session.run().await,
        Err(error) => Err(wire::broken(&error)),
    };
    // Before the terminal is a person's again.
    let _ = write_out(ClientView::leave());
    drop(raw);
    attached.map(Some)
}

fn terminal_problem(error: &io::Error) -> Problem {
    Problem::new(Code::Io, format!("the terminal cannot be used: {error}"))
}

pub(super) fn write_out(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

struct Session {
    frames: mpsc::Receiver<io::Result<Option<Frame>>>,
    writing: OwnedWriteHalf,
    keys: mpsc::Receiver<Vec<u8>>,
    filter: KeyFilter,
    resized: Signal,
    ends: EndSignals,
    /// When the line at the bottom goes away.
    banner_until: Option<Instant>,
    banner: String,
}

/// What happens to a person who looks.
enum SessionEvent {
    Frame(io::Result<Option<Frame>>),
    Keys(Option<Vec<u8>>),
    Resized,
    BannerOver,
    /// The terminal of the person goes away, or somebody ends this process.
    Killed,
}

impl Session {
    async fn begin(stream: UnixStream, options: &AttachOptions) -> io::Result<Self> {
        let (reading, mut writing) = stream.into_split();
        let hello = Hello::Attach { size: size(), read_only: options.read_only };
        wire::write_json(&mut writing, FrameKind::Hello, &hello).await?;
        write_out(ClientView::enter())?;
        Ok(Self {
            frames: read_frames(reading),
            writing,
            keys: read_keys()?,
            filter: KeyFilter::new(options.detach_key),
            resized: signal(SignalKind::window_change())?,
            ends: EndSignals::listen()?,
            banner_until: Some(Instant::now() + BANNER_TIME),
            banner: format!(" {} detaches ·{}", options.detach_key, options.banner),
        })
    }

    async fn run(mut self) -> Outcome<Attached> {
        loop {
            let event = self.next().await;
            if let Some(attached) = self.on(event).await? {
                return Ok(attached);
            }
        }
    }

    async fn next(&mut self) -> SessionEvent {
        let banner_until = self.banner_until.unwrap_or_else(Instant::now);
        tokio::select! {
            frame = self.frames.recv() => SessionEvent::Frame(frame.unwrap_or(Ok(None))),
            keys = self.keys.recv() => SessionEvent::Keys(keys),
            _ = self.resized.recv() => SessionEvent::Resized,
            () = self.ends.any() => SessionEvent::Killed,
            () = sleep_until(banner_until), if self.banner_until.is_some() => SessionEvent::BannerOver,
        }
    }

    async fn on(&mut self, event: SessionEvent) -> Outcome<Option<Attached>> {
        let sent = match event {
            SessionEvent::Frame(frame) => return self.frame(frame),
            SessionEvent::Keys(None) | SessionEvent::Killed => return Ok(Some(Attached::Detached)),
            SessionEvent::Keys(Some(keys)) => {
                let (keys, is_detached) = self.filter.take(&keys);
                let sent = wire::write(&mut self.writing, FrameKind::Keys, &keys).await;
                if is_detached {
                    return Ok(Some(Attached::Detached));
                }
                sent
            }
            // The keeper draws everything again for a new size.
            SessionEvent::Resized => self.resize().await,
            SessionEvent::BannerOver => {
                self.banner_until = None;
                self.resize().await
            }
        };
        Ok(sent.is_err().then_some(Attached::Lost))
    }

    fn frame(&mut self, frame: io::Result<Option<Frame>>) -> Outcome<Option<Attached>> {
        let Ok(Some(frame)) = frame else { return Ok(Some(Attached::Lost)) };
        match frame.kind {
            FrameKind::Output => {
                write_out(&frame.bytes).map_err(|error| terminal_problem(&error))?;
                if self.banner_until.is_some() {
                    write_out(&self.banner_line()).map_err(|error| terminal_problem(&error))?;
                }
                Ok(None)
            }
            FrameKind::Ended => Ok(Some(frame.read().map_or(Attached::Lost, Attached::Ended))),
            FrameKind::Reply => match frame.read() {
                Ok(Reply::Problem(problem)) => Err(problem),
                _ => Ok(None),
            },
            FrameKind::Hello | FrameKind::Keys | FrameKind::Resize => Ok(None),
        }
    }

    /// The last line, in reverse, with the cursor where it was.
    fn banner_line(&self) -> Vec<u8> {
        let WireSize { rows, columns } = size();
        let text: String = self.banner.chars().take(usize::from(columns)).collect();
        format!("\x1b7\x1b[{rows};1H\x1b[0;7m{text}\x1b[0m\x1b8").into_bytes()
    }

    async fn resize(&mut self) -> io::Result<()> {
        wire::write_json(&mut self.writing, FrameKind::Resize, &size()).await
    }
}

fn size() -> WireSize {
    let (rows, columns) = terminal_size().unwrap_or((24, 80));
    WireSize { rows, columns }
}

/// Reads frames in a task of its own: a read that is given up in the middle of a frame loses a part of it.
fn read_frames(reading: OwnedReadHalf) -> mpsc::Receiver<io::Result<Option<Frame>>> {
    let (tell, frames) = mpsc::channel(MAX_FRAMES);
    tokio::spawn(async move {
        let mut reading = BufReader::new(reading);
        loop {
            let frame = wire::read(&mut reading).await;
            let is_last = !matches!(frame, Ok(Some(_)));
            if tell.send(frame).await.is_err() || is_last {
                break;
            }
        }
    });
    frames
}

/// A line feed alone: not one that ends a line of a paste together with a carriage return.
fn is_enter(keys: &[u8], at: usize) -> bool {
    keys[at] == b'\n' && at.checked_sub(1).is_none_or(|before| keys[before] != b'\r')
}

/// Reads keys in a thread of its own, which ends with the process: a read of a terminal cannot be called back.
pub(super) fn read_keys() -> io::Result<mpsc::Receiver<Vec<u8>>> {
    let (tell, keys) = mpsc::channel(MAX_PIECES);
    thread::Builder::new().name("keys".to_owned()).spawn(move || {
        let (mut buffer, mut is_first) = ([0; KEY_BYTES], true);
        while let Ok(count @ 1..) = io::stdin().read(&mut buffer) {
            let mut keys = buffer[..count].to_vec();
            if std::mem::take(&mut is_first) {
                // What was typed before the terminal was raw has a newline where Enter was pressed.
                (0..count).filter(|at| is_enter(&buffer, *at)).for_each(|at| keys[at] = b'\r');
            }
            if tell.blocking_send(keys).is_err() {
                break;
            }
        }
    })?;
    Ok(keys)
}
