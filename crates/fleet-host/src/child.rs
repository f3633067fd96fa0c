//! One child process, from its start to its end, in bounded memory.
//!
//! Owns the waiting: output and diagnostics are read side by side, so that neither pipe can fill up and stop the
//! child, and a deadline ends everything. One `poll` loop instead of threads: thousands of short git commands are
//! run, and each would pay for two more threads.

use std::io::{self, Read as _};
use std::os::fd::AsFd as _;
use std::process::{Child, ChildStderr, ChildStdout, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::stop_flag::StopFlag;

/// How much of the end of the diagnostics is kept.
const KEPT_STDERR: usize = 4096;

const CHUNK: usize = 64 * 1024;

/// How often a flag is looked at.
const FLAG_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug)]
pub(crate) struct ExitedChild {
    pub(crate) status: ExitStatus,
    /// The end of what it wrote to standard error, without surrounding space.
    pub(crate) stderr: String,
}

/// Why a child was stopped early.
#[derive(Debug)]
pub(crate) enum Stopped<E> {
    Deadline,
    /// The flag was set.
    Flag,
    /// Its pipes could not be read, or it could not be waited for.
    Io(io::Error),
    /// The receiver of the output refused.
    Sink(E),
}

/// Reads a child, started in its own process group, to its end. Every piece of output goes to `sink`.
pub(crate) fn read_to_end_of<E>(
    child: Child,
    patience: Duration,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<ExitedChild, Stopped<E>> {
    read_until(child, Until { patience, flag: None }, sink)
}

/// What ends a child early.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a> {
    pub(crate) patience: Duration,
    pub(crate) flag: Option<&'a StopFlag>,
}

/// The same, with a flag that ends it.
pub(crate) fn read_until<E>(
    mut child: Child,
    until: Until<'_>,
    sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
) -> Result<ExitedChild, Stopped<E>> {
    let bound = Bound { deadline: now() + until.patience, flag: until.flag };
    let mut pipes = Pipes { stdout: child.stdout.take(), stderr: child.stderr.take(), tail: Vec::new() };
    let ended = pipes.drain(&bound, sink).and_then(|()| wait(&mut child, &bound));
    match ended {
        Ok(status) => Ok(ExitedChild { status, stderr: shown(&pipes.tail) }),
        Err(stopped) => {
            // The child has not been waited for, so its number cannot belong to another process by now.
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(pid, Signal::KILL);
            }
            let _ = child.wait();
            Err(stopped)
        }
    }
}

struct Bound<'a> {
    deadline: Instant,
    flag: Option<&'a StopFlag>,
}

impl Bound<'_> {
    /// How long to wait before the next look.
    fn left<E>(&self) -> Result<Duration, Stopped<E>> {
        if self.flag.is_some_and(StopFlag::is_set) {
            return Err(Stopped::Flag);
        }
        let left = self.deadline.saturating_duration_since(now());
        if left.is_zero() {
            return Err(Stopped::Deadline);
        }
        Ok(if self.flag.is_some() { left.min(FLAG_INTERVAL) } else { left })
    }
}

struct Pipes {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    tail: Vec<u8>,
}

impl Pipes {
    fn drain<E>(
        &mut self,
        bound: &Bound<'_>,
        sink: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), Stopped<E>> {
        let mut buffer = vec![0; CHUNK];
        while self.stdout.is_some() || self.stderr.is_some() {
            let (out, err) = self.ready(bound)?;
            if out && let Some(stdout) = &mut self.stdout {
                match stdout.read(&mut buffer).map_err(Stopped::Io)? {
                    0 => self.stdout = None,
                    length => sink(&buffer[..length]).map_err(Stopped::Sink)?,
                }
            }
            if err && let Some(stderr) = &mut self.stderr {
                match stderr.read(&mut buffer).map_err(Stopped::Io)? {
                    0 => self.stderr = None,
                    length => keep_tail(&mut self.tail, &buffer[..length]),
                }
            }
        }
        Ok(())
    }

    /// Waits until one of the pipes has something, or has ended.
    fn ready<E>(&self, bound: &Bound<'_>) -> Result<(bool, bool), Stopped<E>> {
        let mut fds = Vec::with_capacity(2);
        fds.extend(self.stdout.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        fds.extend(self.stderr.as_ref().map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN)));
        let timeout = Timespec::try_from(bound.left()?).map_err(|_| Stopped::Deadline)?;
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => return Ok((false, false)),
            Ok(_) => {}
            Err(errno) => return Err(Stopped::Io(errno.into())),
        }
        let mut answers = fds.iter().map(|fd| !fd.revents().is_empty());
        let out = self.stdout.is_some() && answers.next().unwrap_or(false);
        let err = self.stderr.is_some() && answers.next().unwrap_or(false);
        Ok((out, err))
    }
}

/// Waits for a child whose pipes have ended, which is as good as over.
fn wait<E>(child: &mut Child, bound: &Bound<'_>) -> Result<ExitStatus, Stopped<E>> {
    let mut pause = Duration::from_micros(20);
    loop {
        if let Some(status) = child.try_wait().map_err(Stopped::Io)? {
            return Ok(status);
        }
        thread::sleep(pause.min(bound.left()?));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn keep_tail(tail: &mut Vec<u8>, more: &[u8]) {
    tail.extend_from_slice(more);
    if tail.len() > 2 * KEPT_STDERR {
        tail.drain(..tail.len() - KEPT_STDERR);
    }
}

fn shown(tail: &[u8]) -> String {
    let start = tail.len().saturating_sub(KEPT_STDERR);
    String::from_utf8_lossy(&tail[start..]).trim().to_owned()
}

#[expect(clippy::disallowed_methods, reason = "this is a driver that waits")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
mod tests {
    use std::os::unix::process::CommandExt as _;
    use std::process::{Command, Stdio};

    use super::*;

    fn shell(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.process_group(0).spawn().unwrap()
    }

    fn taken(script: &str, patience: Duration) -> (usize, Result<ExitedChild, Stopped<()>>) {
        let mut bytes = 0;
        let ended = read_to_end_of(shell(script), patience, &mut |piece| {
            bytes += piece.len();
            Ok(())
        });
        (bytes, ended)
    }

    #[test]
    fn both_pipes_are_read_and_only_the_end_of_one_is_kept() {
        const LINE: &str = "a line of output that is long enough";
        let flood = format!(
            "i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo '{LINE}'; echo '{LINE}' >&2; done; \
            echo 'the end' >&2; exit 3"
        );
        let (bytes, ended) = taken(&flood, Duration::from_mins(1));
        let ended = ended.unwrap();
        assert_eq!((bytes, ended.status.code()), (3000 * LINE.len() + 3000, Some(3)));
        assert!(ended.stderr.ends_with("the end") && ended.stderr.len() <= KEPT_STDERR);
    }

    #[test]
    fn the_deadline_ends_the_whole_group() {
        // The pipe stays open until the last of them is gone, so this returns only if all are.
        let (_, ended) = taken("sleep 600 & sleep 600", Duration::from_millis(50));
        assert!(matches!(ended, Err(Stopped::Deadline)));
        let (_, ended) = taken("exec >&- 2>&-; sleep 600", Duration::from_millis(50));
        assert!(matches!(ended, Err(Stopped::Deadline)));
    }

    #[test]
    fn a_flag_ends_the_whole_group() {
        for script in ["sleep 600 & sleep 600", "exec >&- 2>&-; sleep 600"] {
            let flag = StopFlag::default();
            let until = Until { patience: Duration::from_mins(10), flag: Some(&flag) };
            let ended = thread::scope(|scope| {
                let reading = scope.spawn(|| read_until(shell(script), until, &mut |_| Ok::<_, ()>(())));
                flag.set();
                reading.join().unwrap()
            });
            assert!(matches!(ended, Err(Stopped::Flag)), "{script}");
        }
    }

    #[test]
    fn a_sink_that_refuses_ends_it() {
        let ended = read_to_end_of(shell("yes"), Duration::from_mins(1), &mut |_| Err("full"));
        assert!(matches!(ended, Err(Stopped::Sink("full"))));
    }
}
