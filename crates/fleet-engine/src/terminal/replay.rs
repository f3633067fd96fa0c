//! Playing the recording of an agent's terminal for a person.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::time::Duration;

use fleet_core::problem::{Code, Outcome, Problem};
use fleet_host::TerminalSize;
use fleet_host::recording::{Playback, Player, RecordingReader, Step};
use fleet_host::screen::ClientView;
use fleet_host::terminal::{RawTerminal, terminal_size};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::attach::{read_keys, write_out};
use super::ends::EndSignals;

/// Keys that leave: `q`, Ctrl-C, Ctrl-D, Ctrl-].
const LEAVING: &[u8] = b"q\x03\x04\x1d";
/// At the bottom, in reverse.
const END_LINE: &[u8] = b"\x1b[999;1H\x1b[0;7m the end: any key leaves \x1b[0m";
const ESCAPE: &[u8] = b"\x1b";

#[derive(Debug, Clone, Copy)]
pub struct ReplayOptions {
    /// 2.0 is twice as fast.
    pub speed: f64,
    /// Longer pauses are made this long.
    pub max_idle: Option<Duration>,
}

/// Plays a recording until its end, or until the person leaves. `false` if the person left.
pub async fn replay(path: &Path, options: ReplayOptions) -> Outcome<bool> {
    let unreadable = |error: io::Error| Problem::new(Code::Io, format!("{}: {error}", path.display()));
    let reader = RecordingReader::open(path).map_err(unreadable)?;
    if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Problem::new(Code::Usage, "`fleet replay` needs a terminal")
            .hint("`fleet replay ID --path` prints where the recording is"));
    }
    let (rows, columns) = terminal_size().unwrap_or((24, 80));
    let playback = Playback {
        recorded: reader.size(),
        client: TerminalSize::new(columns, rows),
        speed: options.speed,
        max_idle: options.max_idle,
    };
    let raw = RawTerminal::enter().map_err(unreadable)?;
    let played = play(Player::new(reader, playback)).await;
    let _ = write_out(ClientView::leave());
    drop(raw);
    played.map_err(unreadable)
}

async fn play(steps: impl Iterator<Item = io::Result<Step>>) -> io::Result<bool> {
    write_out(ClientView::enter())?;
    let (mut keys, mut ends) = (read_keys()?, EndSignals::listen()?);
    for step in steps {
        let Step { delay, bytes } = step?;
        if !wait(delay, &mut keys, &mut ends).await {
            return Ok(false);
        }
        write_out(&bytes)?;
    }
    // The last picture stays until a key is pressed.
    write_out(END_LINE)?;
    tokio::select! {
        _ = keys.recv() => {}
        () = ends.any() => {}
    }
    Ok(true)
}

/// Waits, and longer while the person has paused it with the space bar. `false` if the person leaves.
async fn wait(delay: Duration, keys: &mut mpsc::Receiver<Vec<u8>>, ends: &mut EndSignals) -> bool {
    let (mut left, mut is_paused) = (delay, false);
    loop {
        let began = Instant::now();
        let pressed = tokio::select! {
            pressed = keys.recv() => pressed,
            () = ends.any() => return false,
            () = sleep_until(began + left), if !is_paused => return true,
        };
        match pressed.as_deref() {
            None | Some(ESCAPE) => return false,
            // An arrow key, the mouse or the focus.
            Some([0x1b, ..]) => {}
            Some(pressed) if pressed.iter().any(|key| LEAVING.contains(key)) => return false,
            Some(pressed) if pressed.contains(&b' ') => {
                if !is_paused {
                    left = left.saturating_sub(began.elapsed());
                }
                is_paused = !is_paused;
            }
            Some(_) => {}
        }
    }
}
