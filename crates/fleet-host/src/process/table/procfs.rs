//! The table of processes, from `/proc`.

use std::fs::{self, File};
use std::io::Read as _;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::param::{clock_ticks_per_second, page_size};

use super::{Io, Line, ProcessEntry, ProcessState};
use crate::kernel_file;

/// The longest that `stat` can get is a few hundred bytes.
const STAT_ROOM: usize = 2048;

/// A kernel thread, by its flags.
const KERNEL_THREAD: u64 = 0x0020_0000;

pub(in crate::process) fn boot() -> &'static str {
    static BOOT: OnceLock<String> = OnceLock::new();
    BOOT.get_or_init(|| {
        let id = kernel_file::read_text("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        id.trim().to_owned()
    })
}

/// How long ago a process was started that has this start.
pub(in crate::process) fn age(start: u64) -> Option<Duration> {
    let text = kernel_file::read_text("/proc/uptime").ok()?;
    let up: f64 = text.split_whitespace().next()?.parse().ok()?;
    Duration::try_from_secs_f64(up).ok()?.checked_sub(ticks(start))
}

/// One process. `None` when there is none with this number.
pub(in crate::process) fn one(pid: i32) -> Option<ProcessEntry> {
    let mut room = [0; STAT_ROOM];
    let mut file = File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = file.read(&mut room).ok()?;
    parse_stat(&room[..length])
}

/// Whether a process that is in the table is about to end: it was killed, or is on its way out. Until it is, it holds its
/// locks.
pub(in crate::process) fn is_doomed(pid: i32) -> bool {
    const EXITING: u64 = 0x4;
    const KILL: u64 = 1 << 8;
    let stat = kernel_file::read_text(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    let mut fields = fields.split_ascii_whitespace();
    let is_out = matches!(fields.next(), Some("Z" | "X"));
    let flags: u64 = fields.nth(5).and_then(|flags| flags.parse().ok()).unwrap_or(0);
    let status = kernel_file::read_text(format!("/proc/{pid}/status")).unwrap_or_default();
    let pending = status.lines().filter_map(|line| {
        let (name, mask) = line.split_once(":\t")?;
        matches!(name, "SigPnd" | "ShdPnd").then(|| u64::from_str_radix(mask, 16).ok())?
    });
    is_out || flags & EXITING != 0 || pending.fold(0, |all, mask| all | mask) & KILL != 0
}

/// What a process has read and written: files, pipes and the network. Nothing for those of other users.
pub(in crate::process) fn io(pid: i32) -> Io {
    let counters = kernel_file::read_text(format!("/proc/{pid}/io")).unwrap_or_default();
    let counted = counters.lines().filter_map(|line| line.split_once(": "));
    let counted = counted.filter_map(|(name, number)| Some((name, number.parse::<u64>().ok()?)));
    counted.fold(Io::default(), |io, (name, number)| match name {
        "rchar" | "wchar" => Io { bytes: io.bytes.saturating_add(number), ..io },
        "syscr" | "syscw" => Io { calls: io.calls.saturating_add(number), ..io },
        _ => io,
    })
}

/// The number that was given last. While it stays the same, no process starts.
pub(in crate::process) fn last_pid() -> Option<i32> {
    let text = kernel_file::read_text("/proc/loadavg").ok()?;
    text.split_whitespace().nth(4)?.parse().ok()
}

/// The numbers of all processes, the kernel's own included.
pub(in crate::process) fn pids() -> Vec<i32> {
    let Ok(folder) = fs::read_dir("/proc") else { return Vec::new() };
    folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// All processes but the kernel's own.
pub(in crate::process) fn all() -> Vec<ProcessEntry> {
    pids().into_iter().filter_map(one).collect()
}

/// A process and those above it; `None` when there is none with this number.
pub(in crate::process) fn line(pid: i32) -> Option<Line> {
    super::line_above(pid, one)
}

/// The arguments of a process; `None` if it has ended.
pub(in crate::process) fn arguments(pid: i32) -> Option<Vec<String>> {
    let text = kernel_file::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(text.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect())
}

/// Which of these processes have the variable `name` in their environment, and its value. An environment that may not
/// be read belongs to another user.
pub(in crate::process) fn marked(name: &str, pids: &mut dyn Iterator<Item = i32>) -> Vec<(i32, Vec<u8>)> {
    let prefix = format!("{name}=").into_bytes();
    let mut found = Vec::new();
    for pid in pids {
        let Ok(environment) = kernel_file::read(format!("/proc/{pid}/environ")) else { continue };
        let mut variables = environment.split(|byte| *byte == 0);
        if let Some(value) = variables.find_map(|variable| variable.strip_prefix(prefix.as_slice())) {
            found.push((pid, value.to_vec()));
        }
    }
    found
}

fn ticks(count: u64) -> Duration {
    let per_second = clock_ticks_per_second().max(1);
    let nanos = (count % per_second) * 1_000_000_000 / per_second;
    Duration::from_secs(count / per_second) + Duration::from_nanos(nanos)
}

/// Reads a line of `/proc/PID/stat`. The name is in parentheses and may contain anything, parentheses too.
fn parse_stat(line: &[u8]) -> Option<ProcessEntry> {
    let line = String::from_utf8_lossy(line);
    let (pid, rest) = line.split_once(" (")?;
    let (name, rest) = rest.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Numbered as in proc(5), where the state is the third.
    let field = |number: usize| fields.get(number - 3).copied();
    let number = |index: usize| field(index)?.parse::<u64>().ok();
    let id = |index: usize| field(index)?.parse::<i32>().ok();
    if number(9)? & KERNEL_THREAD != 0 {
        return None;
    }
    // A first thread that has ended does not end the others, though it looks like a dead process.
    let others_run = number(20)? > 1;
    let state = match ProcessState::from_letter(*field(3)?.as_bytes().first()?) {
        ProcessState::Dead if others_run => ProcessState::Alive,
        state => state,
    };
    Some(ProcessEntry {
        pid: pid.parse().ok()?,
        name: name.to_owned(),
        state,
        parent: id(4)?,
        group: id(5)?,
        session: id(6)?,
        cpu: ticks(number(14)? + number(15)? + number(16)? + number(17)?),
        start: number(22)?,
        rss_bytes: number(24)?.saturating_mul(page_size() as u64),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_be_anything() {
        let line = b"42 (a) S 1 (b\n) T 7 8 9 0 -1 4194560 1 2 3 4 100 50 25 25 20 0 1 0 5000 99 3 18446744073709551615\n";
        let entry = parse_stat(line).unwrap();
        assert_eq!((entry.pid, entry.parent, entry.group, entry.session), (42, 7, 8, 9));
        assert_eq!((entry.name.as_str(), entry.state), ("a) S 1 (b\n", ProcessState::Stopped));
        assert_eq!((entry.start, entry.cpu), (5000, ticks(200)));
        assert_eq!(entry.rss_bytes, 3 * page_size() as u64);
    }

    #[test]
    fn a_process_lives_as_long_as_one_of_its_threads() {
        let state = |threads| {
            let line = format!("5 (a) Z 1 5 5 0 -1 4 1 2 3 4 1 1 1 1 20 0 {threads} 0 5000 99 3");
            parse_stat(line.as_bytes()).unwrap().state
        };
        assert_eq!((state(1), state(2)), (ProcessState::Dead, ProcessState::Alive));
    }

    #[test]
    fn nonsense_is_no_process() {
        assert_eq!(parse_stat(b""), None);
        assert_eq!(parse_stat(b"42 (a) S 1"), None);
    }

    #[test]
    fn the_kernel_has_no_processes_here() {
        let line = b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0 0\n";
        assert_eq!(parse_stat(line), None);
    }

    #[test]
    fn this_process() {
        let pid = i32::try_from(std::process::id()).unwrap();
        let entry = one(pid).unwrap();
        assert_eq!((entry.pid, entry.state), (pid, ProcessState::Alive));
        assert!(entry.rss_bytes > 0);
        assert!(all().iter().any(|other| (other.pid, other.start) == (pid, entry.start)));
        assert!(age(entry.start).unwrap() < age(0).unwrap());
        assert!(!boot().is_empty());
        assert!(last_pid().is_some());
    }
}
