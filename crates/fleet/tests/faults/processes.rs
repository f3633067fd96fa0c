//! The processes of a home, as the kernel shows them, and what can be done to them.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::process::{Pid, Signal, kill_process};

/// A process that is alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) pid: i32,
    pub(crate) command: String,
}

/// Everybody who works for this home, be it an agent, a keeper, a runner or what they started. Ours have it in their
/// environment, agents the path of their door. Those of ours who hide their environment are found by their marks.
pub(crate) fn of_home(home: &Path) -> Vec<Found> {
    let (ours, theirs) = (mark("FLEET_HOME=", home), [mark("FLEET_DOOR=", home), b"/".to_vec()].concat());
    let is_marked = |variable: &[u8]| variable == ours || variable.starts_with(&theirs);
    let keepers = keepers(home);
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| keepers.contains(pid) || has_variable(*pid, is_marked)).filter_map(found).collect()
}

fn mark(name: &str, home: &Path) -> Vec<u8> {
    [name.as_bytes(), home.as_os_str().as_bytes()].concat()
}

/// The numbers that keepers of live runs left.
fn keepers(home: &Path) -> Vec<i32> {
    let marks = fs::read_dir(home.join("live")).into_iter().flatten().flatten();
    let number = |text: String| {
        let mark: serde_json::Value = serde_json::from_str(&text).ok()?;
        i32::try_from(mark["pid"].as_i64()?).ok()
    };
    marks.filter_map(|mark| number(fs::read_to_string(mark.path()).ok()?)).collect()
}

fn has_variable(pid: i32, is_it: impl Fn(&[u8]) -> bool) -> bool {
    // Of a process that has ended and is only waited for, nothing can be read.
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(is_it)
}

fn found(pid: i32) -> Option<Found> {
    let command = fs::read(format!("/proc/{pid}/cmdline")).ok().filter(|command| !command.is_empty())?;
    let words: Vec<_> = command.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    Some(Found { pid, command: words.join(" ").trim_end().to_owned() })
}

/// Whether the process runs: not gone, and not only waited for.
pub(crate) fn is_alive(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// A number in kB from `/proc/PID/status` or `/proc/PID/smaps_rollup`.
pub(crate) fn kilobytes(file: &str, name: &str) -> Option<u64> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Sends a signal to somebody who may have ended already.
pub(crate) fn send(pid: i32, signal: Signal) {
    let pid = Pid::from_raw(pid).filter(|pid| pid.as_raw_pid() > 1).expect("the number of a process");
    match kill_process(pid, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => {}
        Err(error) => panic!("{pid:?}: {error}"),
    }
}

/// Kills without mercy.
pub(crate) fn kill(pid: i32) {
    send(pid, Signal::KILL);
}
