//! Following tasks until they are over: a live block on a terminal, one line for each change elsewhere, nothing but the
//! end in JSON.
//!
//! Owns how tasks at work are shown by the commands that launch them. Must never stop anything: whoever leaves with
//! Ctrl-C leaves the work as it is.

mod closing;
mod lines;
mod screen;
#[cfg(test)]
mod tests;
mod words;

use std::io::IsTerminal;
use std::time::Duration;

use fleet_core::id::TaskId;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::task::TaskState;
use fleet_engine::verbs::follow::{Follow, Followed};
use fleet_engine::verbs::launch;
use fleet_engine::{Engine, clock};
use tokio::signal::unix::{SignalKind, signal};

use crate::commands::Context;
use lines::Lines;
use screen::Screen;

pub(crate) use closing::conclude;

/// How the following ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// Nothing more happens to any of them unless a person acts, or they stand as was wanted.
    Over,
    /// The person left.
    Left,
}

/// How the tasks stand at the end.
#[derive(Debug, Clone)]
pub(crate) struct Watched {
    /// In the order in which they were named; those that were deleted are missing.
    pub(crate) tasks: Vec<Followed>,
    /// How many were deleted meanwhile.
    pub(crate) deleted: usize,
    /// Why it ended.
    pub(crate) end: End,
}

/// A terminal is drawn ten times a second at most: more cannot be read.
const FRAME: Duration = Duration::from_millis(100);
/// Elsewhere every change counts; this only keeps a flood of events from becoming a flood of looks.
const BREATH: Duration = Duration::from_millis(10);
/// Without any change it is looked so often: clocks on the screen go on.
const LOOK: Duration = Duration::from_secs(1);
/// A runner that was up when the work was queued may be gone: it is looked after so often.
const WAKE: Duration = Duration::from_secs(3);

/// Shows these tasks until all are over, or until Ctrl-C. What is left to say is for [`conclude`].
pub(crate) async fn follow(context: &Context, ids: &[TaskId]) -> Outcome<Watched> {
    follow_until(context, ids, &|_| false).await
}

/// The same, but also until they stand as somebody wants them to.
pub(crate) async fn follow_until(
    context: &Context,
    ids: &[TaskId],
    wanted: &dyn Fn(&[Followed]) -> bool,
) -> Outcome<Watched> {
    let mut interrupt = signal(SignalKind::interrupt())
        .map_err(|error| Problem::new(Code::Internal, format!("signals: {error}")))?;
    let follow = Follow::start(&context.engine, ids.to_vec()).await?;
    let mut view = View::choose(context);
    let mut waking = Waking { last: clock::uptime() };
    loop {
        let tasks =
            follow.look().await.map_err(|problem| problem.hint("the work goes on; `fleet list` shows it"))?;
        let deleted = ids.len() - tasks.len();
        if tasks.iter().all(Followed::is_over) || wanted(&tasks) {
            view.last(&tasks)?;
            return Ok(Watched { tasks, deleted, end: End::Over });
        }
        view.show(&tasks)?;
        waking.look(&context.engine, &tasks);
        let wait = async {
            tokio::time::sleep(view.pause()).await;
            follow.changed(LOOK).await;
        };
        tokio::select! {
            () = wait => {}
            _ = interrupt.recv() => {
                view.last(&tasks)?;
                return Ok(Watched { tasks, deleted, end: End::Left });
            }
        }
    }
}

/// Where the tasks are shown.
enum View {
    Screen(Screen),
    Lines(Lines),
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
            Self::Lines(Lines::default())
        }
    }

    const fn pause(&self) -> Duration {
        match self {
            Self::Screen(_) => FRAME,
            Self::Lines(_) | Self::Nowhere => BREATH,
        }
    }

    fn show(&mut self, tasks: &[Followed]) -> Outcome<()> {
        match self {
            Self::Screen(screen) => screen.show(tasks, clock::now()),
            Self::Lines(lines) => lines.show(tasks, clock::now()),
            Self::Nowhere => Ok(()),
        }
    }

    /// The last look, which stays.
    fn last(&mut self, tasks: &[Followed]) -> Outcome<()> {
        match self {
            Self::Screen(screen) => screen.last(tasks, clock::now()),
            Self::Lines(_) | Self::Nowhere => self.show(tasks),
        }
    }
}

/// Sees to it that queued tasks do not wait for a runner that has ended in the meantime.
struct Waking {
    last: Duration,
}

impl Waking {
    fn look(&mut self, engine: &Engine, tasks: &[Followed]) {
        let now = clock::uptime();
        let is_queued = tasks.iter().any(|one| one.task.state == TaskState::Queued);
        if is_queued && now.saturating_sub(self.last) >= WAKE {
            self.last = now;
            // It was said at the start if none may be started; and the next look comes soon.
            let _ = launch::wake(engine);
        }
    }
}
