//! Playing a recording on a person's terminal.

use std::io;
use std::iter::Peekable;
use std::time::Duration;

use super::{Recorded, RecordedEvent};
use crate::TerminalSize;
use crate::screen::{ClientView, Screen};

/// Events that come faster than this are one picture.
const FRAME: Duration = Duration::from_millis(16);

/// How a recording is played.
#[derive(Debug, Clone, Copy)]
pub struct Playback {
    /// The size of the terminal that it was recorded in.
    pub recorded: TerminalSize,
    /// The size of the terminal that shows it.
    pub client: TerminalSize,
    /// 2.0 is twice as fast. What is not a positive number counts as 1.0.
    pub speed: f64,
    /// Longer pauses are made this long, before they are played faster.
    pub max_idle: Option<Duration>,
}

/// What to write to the terminal, and how long to wait before.
#[derive(Debug, PartialEq, Eq)]
pub struct Step {
    pub delay: Duration,
    pub bytes: Vec<u8>,
}

/// Turns events into steps. What a program printed goes through a screen, so that no recording can reach the terminal as
/// commands. The terminal has got [`ClientView::enter`] before, and gets [`ClientView::leave`] afterwards.
pub struct Player<I: Iterator<Item = io::Result<RecordedEvent>>> {
    events: Peekable<I>,
    screen: Screen,
    view: ClientView,
    playback: Playback,
    /// The time of the newest event that was played.
    time: Duration,
    /// How long to wait before the next step.
    delay: Duration,
    /// Whether something has changed since the last step.
    is_changed: bool,
}

impl<I: Iterator<Item = io::Result<RecordedEvent>>> Player<I> {
    pub fn new(events: I, playback: Playback) -> Self {
        Self {
            events: events.peekable(),
            screen: Screen::new(playback.recorded),
            view: ClientView::new(playback.client),
            playback,
            time: Duration::ZERO,
            delay: Duration::ZERO,
            is_changed: true,
        }
    }

    /// The terminal that shows it has another size.
    pub fn resize(&mut self, client: TerminalSize) {
        self.view.resize(client);
        self.is_changed = true;
    }

    /// How long to wait for what was recorded at this time.
    fn pause_before(&self, time: Duration) -> Duration {
        let recorded = time.saturating_sub(self.time);
        let idle = self.playback.max_idle.map_or(recorded, |most| recorded.min(most));
        let speed = self.playback.speed;
        let speed = if speed.is_finite() && speed > 0.0 { speed } else { 1.0 };
        Duration::try_from_secs_f64(idle.as_secs_f64() / speed).unwrap_or(idle)
    }

    fn play(&mut self, event: &RecordedEvent, pause: Duration) {
        self.delay = self.delay.saturating_add(pause);
        self.time = self.time.max(event.time);
        match &event.what {
            // The program that asked is not there any more.
            Recorded::Output(output) => drop(self.screen.feed(output.as_bytes())),
            Recorded::Resize(size) => self.screen.resize(*size),
            Recorded::Marker(_) => {}
        }
        self.is_changed = true;
    }

    /// What is to be shown now. None if that is the same as before; then the next step waits for longer.
    fn step(&mut self) -> Option<Step> {
        self.is_changed = false;
        let bytes = self.view.update(&self.screen);
        (!bytes.is_empty()).then(|| Step { delay: std::mem::take(&mut self.delay), bytes })
    }
}

impl<I: Iterator<Item = io::Result<RecordedEvent>>> Iterator for Player<I> {
    type Item = io::Result<Step>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = self.events.peek().and_then(|event| event.as_ref().ok()).map(|event| event.time);
            let pause = next.map(|time| self.pause_before(time));
            // What was played is shown before a pause, and at the end.
            if self.is_changed
                && pause.is_none_or(|pause| pause >= FRAME)
                && let Some(step) = self.step()
            {
                return Some(Ok(step));
            }
            match self.events.next()? {
                Ok(event) => self.play(&event, pause.unwrap_or_default()),
                Err(error) => return Some(Err(error)),
            }
            if self.delay >= FRAME
                && let Some(step) = self.step()
            {
                return Some(Ok(step));
            }
        }
    }
}
