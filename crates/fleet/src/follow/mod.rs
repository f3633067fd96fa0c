//! Following work until it is over: a live block on a terminal, one line for each change elsewhere, nothing but the end
//! in JSON.
//!
//! Owns how work in progress is shown by the commands that start it. Must never stop anything: anyone who leaves with
//! Ctrl-C leaves the work as it is.

mod closing;
mod rows;
mod screen;
pub(crate) mod stages;
mod tasks;
#[cfg(test)]
mod tests;
mod words;

use std::io::IsTerminal;
use std::time::Duration;

use fleet_api::verbs::runner_wake;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_engine::clock;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::timeout;

use crate::commands::Context;
use crate::exit::interrupted;
use crate::output::print;
use rows::{FollowedRow, PrintedRows};
use screen::Screen;

pub(crate) use closing::conclude;
pub(crate) use stages::follow_workflow;
pub(crate) use tasks::{follow, follow_until};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FollowEnd {
    /// Nothing more happens unless a person acts, or it stands as was wanted.
    Over,
    Left,
}

/// A terminal is drawn ten times a second at most: more cannot be read.
const FRAME_PAUSE: Duration = Duration::from_millis(100);
/// Elsewhere every change counts; this only keeps a flood of events from becoming a flood of looks.
const LINE_PAUSE: Duration = Duration::from_millis(10);
/// Without any change, the screen is drawn again after this many seconds: its clocks go on.
const POLL_SECONDS: u32 = 1;
/// A runner that was up when the work was queued may be gone: it is looked after so often.
const WAKE_INTERVAL: Duration = Duration::from_secs(3);
const LAST_LOOK_TIMEOUT: Duration = Duration::from_secs(1);

trait FollowSubject {
    type Seen;
    type Row: FollowedRow;

    fn rows(seen: &Self::Seen) -> &[Self::Row];

    /// Looks at it: the first time at once, then when it has changed, and at the latest after [`POLL_SECONDS`] seconds.
    async fn look(&mut self) -> Outcome<Self::Seen>;

    /// Whether there is nothing more to wait for.
    fn is_over(&self, seen: &Self::Seen) -> bool;

    /// Whether a part of it waits for a runner.
    fn is_queued(&self, seen: &Self::Seen) -> bool;
}

/// Shows it until it is over, or until Ctrl-C.
async fn stay<S: FollowSubject>(context: &Context, subject: &mut S) -> Outcome<(S::Seen, FollowEnd)> {
    let mut interrupt = signal(SignalKind::interrupt())
        .map_err(|error| Problem::new(Code::Internal, format!("signals: {error}")))?;
    let mut view = View::choose(context);
    let mut waking = Waking { last: clock::uptime() };
    let mut before = None;
    loop {
        let looked = tokio::select! {
            looked = subject.look() => Ok(looked),
            // A store that does not answer keeps nobody here.
            _ = interrupt.recv() => Err(Interrupted),
        };
        let Ok(looked) = looked else {
            let seen = match before {
                Some(seen) => Some(seen),
                None => last_look(subject).await,
            };
            return left::<S>(&mut view, seen);
        };
        let seen = looked.map_err(|problem| problem.hint("agents keep running: `fleet list` shows them"))?;
        if subject.is_over(&seen) {
            view.last(S::rows(&seen))?;
            return Ok((seen, FollowEnd::Over));
        }
        view.show(S::rows(&seen))?;
        waking.look(context, subject.is_queued(&seen)).await;
        tokio::select! {
            () = tokio::time::sleep(view.pause()) => {}
            _ = interrupt.recv() => return left::<S>(&mut view, Some(seen)),
        }
        before = Some(seen);
    }
}

struct Interrupted;

/// For somebody who leaves before anything was seen. A store that does not answer keeps nobody here.
async fn last_look<S: FollowSubject>(subject: &mut S) -> Option<S::Seen> {
    timeout(LAST_LOOK_TIMEOUT, subject.look()).await.ok()?.ok()
}

fn left<S: FollowSubject>(view: &mut View, before: Option<S::Seen>) -> Outcome<(S::Seen, FollowEnd)> {
    let Some(seen) = before else { interrupted() };
    view.last(S::rows(&seen))?;
    Ok((seen, FollowEnd::Left))
}

enum View {
    Screen(Screen),
    Lines(PrintedRows),
    Nowhere,
}

impl View {
    fn choose(context: &Context) -> Self {
        let is_dumb = context.engine.environment().get_os("TERM").is_none_or(|term| term == "dumb");
        if context.output.is_json() {
            Self::Nowhere
        } else if std::io::stdout().is_terminal() && !is_dumb {
            Self::Screen(Screen::default())
        } else {
            Self::Lines(PrintedRows::default())
        }
    }

    const fn pause(&self) -> Duration {
        match self {
            Self::Screen(_) => FRAME_PAUSE,
            Self::Lines(_) | Self::Nowhere => LINE_PAUSE,
        }
    }

    fn show<R: FollowedRow>(&mut self, rows: &[R]) -> Outcome<()> {
        match self {
            Self::Screen(screen) => screen.show(rows, clock::now()),
            Self::Lines(told) => {
                let news = told.changed_lines(rows, clock::now());
                if news.is_empty() { Ok(()) } else { print(&news.join("\n")) }
            }
            Self::Nowhere => Ok(()),
        }
    }

    /// The last look, which stays: what does not fit rolls up.
    fn last<R: FollowedRow>(&mut self, rows: &[R]) -> Outcome<()> {
        match self {
            Self::Screen(screen) => screen.show_all(rows, clock::now()),
            Self::Lines(_) | Self::Nowhere => self.show(rows),
        }
    }
}

/// Sees to it that queued work does not wait for a runner that has ended in the meantime.
struct Waking {
    last: Duration,
}

impl Waking {
    async fn look(&mut self, context: &Context, is_queued: bool) {
        let now = clock::uptime();
        if is_queued && now.saturating_sub(self.last) >= WAKE_INTERVAL {
            self.last = now;
            // It was said at the start if none may be started; and the next look comes soon.
            let _ = context.call(runner_wake::Request::default()).await;
        }
    }
}
