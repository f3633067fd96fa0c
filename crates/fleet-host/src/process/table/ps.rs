//! The table of processes, from `ps`, where there is no `/proc`.
//!
//! A start is known to the second there. That and the number together are still not given twice: the numbers of a
//! second are not used up within it.

use std::collections::HashSet;
use std::convert::Infallible;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use super::{Io, Line, ProcessEntry, ProcessState};
use crate::child::read_to_end_of;
use crate::inherited;

/// How long `lsof` may take. It runs when a workspace is opened, and a user waits.
const LSOF_TIMEOUT: Duration = Duration::from_secs(2);

/// The columns that [`parse_line`] reads. The name is the last one, because it may contain spaces.
const COLUMNS: &str = "pid=,ppid=,pgid=,stat=,rss=,time=,lstart=,ucomm=";

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

pub(in crate::process) fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| output_of("sysctl", &["-n", "kern.bootsessionuuid"]).trim().to_owned())
}

/// Asking would cost a program for each.
pub(in crate::process) fn arguments(_pid: i32) -> Option<Vec<String>> {
    None
}

/// Unknown here without the clock.
pub(in crate::process) fn age(_start: u64) -> Option<Duration> {
    None
}

/// One process. `None` when there is none with this number.
pub(in crate::process) fn one(pid: i32) -> Option<ProcessEntry> {
    output_of("ps", &["-o", COLUMNS, "-p", &pid.to_string()]).lines().find_map(parse_line)
}

/// `ps` does not show signals that are about to arrive.
pub(in crate::process) const fn is_doomed(_pid: i32) -> bool {
    false
}

/// Unknown here.
pub(in crate::process) fn io(_pid: i32) -> Io {
    Io::default()
}

/// Unknown here.
pub(in crate::process) fn last_pid() -> Option<i32> {
    None
}

pub(in crate::process) fn pids() -> Vec<i32> {
    all().iter().map(|entry| entry.pid).collect()
}

pub(in crate::process) fn all() -> Vec<ProcessEntry> {
    output_of("ps", &["-axo", COLUMNS]).lines().filter_map(parse_line).collect()
}

/// A process and those above it; `None` when there is none with this number. To ask for each would start a program for
/// each.
pub(in crate::process) fn line(pid: i32) -> Option<Line> {
    let all = all();
    super::line_above(pid, |pid| all.iter().find(|entry| entry.pid == pid).cloned())
}

/// Which of these processes have the variable `name` in their environment, and its value. The system shows the
/// environment after the command, with spaces between, and only for processes of the same user.
pub(in crate::process) fn marked(name: &str, pids: &mut dyn Iterator<Item = i32>) -> Vec<(i32, Vec<u8>)> {
    let pids: HashSet<i32> = pids.collect();
    let lines = output_of("ps", &["-axwwE", "-o", "pid=,command="]);
    let found = lines.lines().filter_map(|line| parse_marked(name, line));
    found.filter(|(pid, _)| pids.contains(pid)).collect()
}

/// Calls `each` with every path that a process of this user has open, works in or runs from, and the process.
pub(in crate::process) fn used_paths(each: &mut dyn FnMut(i32, &[u8])) {
    let user = rustix::process::getuid().as_raw().to_string();
    // Without `-n` and `-P` it would ask for the names of hosts and ports, without `-w` it would warn.
    let lines = said_in_time("lsof", &["-n", "-P", "-w", "-u", &user, "-F", "pn"]);
    parse_used_paths(&lines, each);
}

/// Each process is a line `pNUMBER`, followed by a line `nPATH` for each of its files.
fn parse_used_paths(lines: &str, each: &mut dyn FnMut(i32, &[u8])) {
    let mut process = None;
    for line in lines.lines() {
        match (line.split_at_checked(1), process) {
            (Some(("p", pid)), _) => process = pid.parse().ok(),
            (Some(("n", path)), Some(pid)) if path.starts_with('/') => each(pid, path.as_bytes()),
            _ => {}
        }
    }
}

fn parse_marked(name: &str, line: &str) -> Option<(i32, Vec<u8>)> {
    let (pid, rest) = line.trim_start().split_once(' ')?;
    let (_, value) = rest.rsplit_once(&format!(" {name}="))?;
    let value = value.split(' ').next()?;
    Some((pid.parse().ok()?, value.as_bytes().to_vec()))
}

/// What a program of the system says; nothing when it cannot be asked. In a fixed language and time zone, because a
/// start must read the same from everywhere.
fn output_of(program: &str, arguments: &[&str]) -> String {
    let output = asking(program, arguments).output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).into_owned()
}

/// The same for a program that waits for file systems, which may be dead: what it says before its time is over.
fn said_in_time(program: &str, arguments: &[&str]) -> String {
    let mut command = asking(program, arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let Ok(child) = command.spawn() else { return String::new() };
    let mut said = Vec::new();
    let _ = read_to_end_of(child, LSOF_TIMEOUT, &mut |piece| {
        said.extend_from_slice(piece);
        Ok::<(), Infallible>(())
    });
    String::from_utf8_lossy(&said).into_owned()
}

#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
fn asking(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(inherited::local());
    command.args(arguments).env("LC_ALL", "C").env("TZ", "UTC").stdin(Stdio::null());
    command
}

fn parse_line(line: &str) -> Option<ProcessEntry> {
    let mut words = line.split_ascii_whitespace();
    let mut word = || words.next();
    let pid: i32 = word()?.parse().ok()?;
    let parent = word()?.parse().ok()?;
    let group = word()?.parse().ok()?;
    let state = ProcessState::from_letter(*word()?.as_bytes().first()?);
    let rss_bytes = word()?.parse::<u64>().ok()?.saturating_mul(1024);
    let cpu = parse_time(word()?)?;
    let start = parse_start([word()?, word()?, word()?, word()?, word()?])?;
    let name = words.collect::<Vec<_>>().join(" ");
    let session = session_of(pid);
    Some(ProcessEntry { pid, parent, group, session, start, state, cpu, rss_bytes, name })
}

/// `ps` tells no session that could be compared with anything.
#[cfg(not(target_os = "linux"))]
fn session_of(pid: i32) -> i32 {
    use rustix::process::{Pid, getsid};
    let pid = Pid::from_raw(pid).filter(|pid| !pid.is_init());
    pid.and_then(|pid| getsid(Some(pid)).ok()).map_or(0, Pid::as_raw_pid)
}

/// Where only the parsing is tested.
#[cfg(target_os = "linux")]
fn session_of(_pid: i32) -> i32 {
    0
}

/// A start such as `Wed Jul  1 09:05:07 2026` as the number 20260701090507.
fn parse_start([_, month, day, time, year]: [&str; 5]) -> Option<u64> {
    let month = MONTHS.iter().position(|name| *name == month)? as u64 + 1;
    let mut start = year.parse::<u64>().ok()? * 100 + month;
    start = start * 100 + day.parse::<u64>().ok()?;
    for part in time.split(':') {
        start = start * 100 + part.parse::<u64>().ok()?;
    }
    Some(start)
}

/// Processor time such as `1-02:03:04`, `02:03:04` or `3:04.56`.
fn parse_time(text: &str) -> Option<Duration> {
    let (days, clock) = text.split_once('-').unwrap_or(("0", text));
    let (clock, hundredths) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut seconds = 0;
    for part in clock.split(':') {
        seconds = seconds * 60 + part.parse::<u64>().ok()?;
    }
    seconds += days.parse::<u64>().ok()? * 24 * 60 * 60;
    Some(Duration::from_secs(seconds) + Duration::from_millis(hundredths.parse::<u64>().ok()? * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let line = "  501   1   500 Ss   2048   1:02.50 Wed Jul  1 09:05:07 2026     Google Chrome He";
        let entry = parse_line(line).unwrap();
        assert_eq!((entry.pid, entry.parent, entry.group, entry.state), (501, 1, 500, ProcessState::Alive));
        assert_eq!((entry.start, entry.rss_bytes), (20_260_701_090_507, 2 * 1024 * 1024));
        assert_eq!(entry.cpu, Duration::from_millis(62_500));
        assert_eq!(entry.name, "Google Chrome He");
    }

    #[test]
    fn states() {
        let state = |letters: &str| {
            parse_line(&format!("1 0 1 {letters} 0 0:00.00 Thu Jan 15 00:00:00 2026 x")).unwrap().state
        };
        assert_eq!(state("Z+"), ProcessState::Dead);
        assert_eq!(state("T"), ProcessState::Stopped);
        assert_eq!(state("R+"), ProcessState::Alive);
    }

    #[test]
    fn processor_time() {
        assert_eq!(parse_time("1-02:03:04"), Some(Duration::from_secs(93_784)));
        assert_eq!(parse_time("02:03:04"), Some(Duration::from_secs(7384)));
        assert_eq!(parse_time("x"), None);
    }

    #[test]
    fn marks() {
        let line = "  77 sh -c true HOME=/x FLEET_RUN=r-1 LANG=C";
        assert_eq!(parse_marked("FLEET_RUN", line), Some((77, b"r-1".to_vec())));
        assert_eq!(parse_marked("FLEET_RUN", "77 sh NOT_FLEET_RUN=r-1"), None);
        assert_eq!(parse_marked("FLEET_RUN", "77 sh FLEET_RUN=r-2"), Some((77, b"r-2".to_vec())));
    }

    /// The columns are those of a real `ps`.
    #[test]
    fn this_process() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let entry = one(pid).unwrap();
        assert_eq!(entry.pid, pid);
        assert!(all().iter().any(|other| (other.pid, other.start) == (pid, entry.start)));
    }

    #[test]
    fn open_files_belong_to_the_process_above_them() {
        let mut found = Vec::new();
        parse_used_paths("p12\nfcwd\nn/work/w1\nf3\nn/tmp/a b\nn->0x12\np13\nn/x\n", &mut |pid, path| {
            found.push((pid, String::from_utf8_lossy(path).into_owned()));
        });
        let expected = [(12, "/work/w1"), (12, "/tmp/a b"), (13, "/x")];
        assert_eq!(found, expected.map(|(pid, path)| (pid, path.to_owned())));
    }
}
