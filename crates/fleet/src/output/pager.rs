//! Long output on a terminal goes through a pager.
//!
//! Output is held back until it is more than a screen, so that nothing is started for what fits. What goes to standard error
//! meanwhile is held with it, so that the order stays.

use std::io::{self, Write as _};
use std::process::Child;
use std::sync::{Mutex, MutexGuard, PoisonError};

use fleet_engine::environment::Environment;
use tokio::signal::unix::{SignalKind, signal};

use super::terminal;

/// What `auto` means where `$PAGER` is not set: ends at once if all fits, keeps colours, leaves the text on the screen.
const DEFAULT_PAGER: &str = "less -FRX";

/// What a pager is told, as git does it, unless the user has set the variable: `less` keeps colours, and knows that the
/// text is UTF-8.
const VARIABLES: [(&str, &str); 3] = [("LESS", "FRX"), ("LESSCHARSET", "utf-8"), ("LV", "-c")];

struct Program {
    line: String,
    variables: Vec<(&'static str, &'static str)>,
}

enum Pager {
    Off,
    Holding { program: Program, held: Vec<u8> },
    On(Child),
}

static PAGER: Mutex<Pager> = Mutex::new(Pager::Off);

fn pager() -> MutexGuard<'static, Pager> {
    PAGER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Which program it is, by the setting and `$PAGER`.
fn chosen(setting: &str, variable: Option<&str>) -> String {
    let variable = variable.filter(|text| !text.trim().is_empty());
    if setting == "auto" { variable.unwrap_or(DEFAULT_PAGER).to_owned() } else { setting.to_owned() }
}

/// From now on, output that is longer than the terminal goes through the pager. Pipes, and terminals on which a pager would
/// complain, get everything at once.
pub(crate) fn begin(setting: &str, environment: &Environment) {
    let variable = |name| environment.get_os(name).and_then(|text| text.to_str());
    let line = chosen(setting, variable("PAGER"));
    let can_move = variable("TERM").is_some_and(|term| term != "dumb");
    if terminal().is_some() && can_move && line != "cat" {
        let is_unset = |(name, _): &(&str, &str)| environment.get_os(name).is_none();
        let program = Program { line, variables: VARIABLES.into_iter().filter(is_unset).collect() };
        *pager() = Pager::Holding { program, held: Vec::new() };
    }
}

/// Output comes at once, as for those who follow something.
pub(crate) fn off() {
    *pager() = Pager::Off;
}

/// Writes to the pager; `None` if there is none: then the caller writes to standard output.
pub(super) fn write(bytes: &[u8]) -> Option<io::Result<usize>> {
    let mut pager = pager();
    match &mut *pager {
        Pager::Off => None,
        Pager::On(child) => Some(child.stdin.as_mut().map_or(Ok(bytes.len()), |stdin| stdin.write(bytes))),
        Pager::Holding { program, held } => {
            held.extend_from_slice(bytes);
            if !is_long(held) {
                return Some(Ok(bytes.len()));
            }
            let started = fleet_engine::start_pager(&program.line, &program.variables);
            if started.is_ok() {
                ignore_interrupts();
            }
            let held = std::mem::take(held);
            *pager = started.map_or(Pager::Off, Pager::On);
            let written = match &mut *pager {
                Pager::On(Child { stdin: Some(stdin), .. }) => stdin.write_all(&held),
                // It is not installed.
                _ => io::stdout().lock().write_all(&held),
            };
            Some(written.map(|()| bytes.len()))
        }
    }
}

/// Shows what was held back, and waits until a person has read the rest.
pub(crate) fn finish() {
    let before = std::mem::replace(&mut *pager(), Pager::Off);
    match before {
        Pager::Off => {}
        Pager::Holding { held, .. } => {
            let _ = io::stdout().lock().write_all(&held);
        }
        Pager::On(mut child) => {
            drop(child.stdin.take());
            let _ = child.wait();
        }
    }
}

/// Whether it does not fit the terminal, with the prompt below it.
fn is_long(text: &[u8]) -> bool {
    let Some((width, height)) = terminal() else { return false };
    let rows = |line: &[u8]| {
        let line = String::from_utf8_lossy(line);
        let shown = anstream::adapter::strip_str(&line).to_string().chars().count();
        shown.div_ceil(width.max(1)).max(1)
    };
    let mut lines = text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n');
    let mut total = 0;
    lines.any(|line| {
        total += rows(line);
        total >= height
    })
}

/// Ctrl-C is for the pager, which would otherwise lose its terminal to the shell.
fn ignore_interrupts() {
    let register = || drop(signal(SignalKind::interrupt()));
    if tokio::runtime::Handle::try_current().is_ok() {
        return register();
    }
    if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
        let _inside = runtime.enter();
        register();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_comes_before_the_variable() {
        assert_eq!(chosen("auto", None), "less -FRX");
        assert_eq!(chosen("auto", Some(" ")), "less -FRX");
        assert_eq!(chosen("auto", Some("more")), "more");
        assert_eq!(chosen("bat -p", Some("more")), "bat -p");
    }
}
