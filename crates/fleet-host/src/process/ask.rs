//! Programs that answer something short, such as their version.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::child::{Stopped, read_to_end_of};

/// A short answer is never longer.
const LONGEST_ANSWER: usize = 64 * 1024;

#[derive(Clone)]
pub struct ProcessQuery {
    pub program: PathBuf,
    pub args: Vec<OsString>,
    /// Nothing is inherited.
    pub env: Vec<(OsString, OsString)>,
    pub cwd: PathBuf,
    /// How long an answer is waited for. Then it is killed, with all that it has started.
    pub patience: Duration,
}

#[derive(Debug, thiserror::Error)]
pub enum NoAnswer {
    /// It could not be started or read.
    #[error("it cannot be started: {0}")]
    Io(#[from] io::Error),
    #[error("it did not answer within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// It wrote too much.
    #[error("its answer was too long")]
    TooMuch,
    #[error("it ended with status {code}: {said}")]
    Failed {
        /// -1 for a signal.
        code: i32,
        /// The end of its standard error.
        said: String,
    },
}

/// Asks, and returns what was written to standard output, or else to standard error.
#[expect(clippy::disallowed_methods, reason = "this crate is the home of processes")]
pub fn ask(question: &ProcessQuery) -> Result<String, NoAnswer> {
    let mut command = Command::new(&question.program);
    command.args(&question.args).env_clear().envs(question.env.iter().map(|(name, value)| (name, value)));
    command.current_dir(&question.cwd).process_group(0);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut answer = Vec::new();
    let ended = read_to_end_of(command.spawn()?, question.patience, &mut |piece| {
        answer.extend_from_slice(piece);
        if answer.len() > LONGEST_ANSWER { Err(()) } else { Ok(()) }
    });
    let ended = ended.map_err(|stopped| match stopped {
        Stopped::Deadline | Stopped::Flag => NoAnswer::TooSlow(question.patience),
        Stopped::Io(error) => NoAnswer::Io(error),
        Stopped::Sink(()) => NoAnswer::TooMuch,
    })?;
    if !ended.status.success() {
        return Err(NoAnswer::Failed { code: ended.status.code().unwrap_or(-1), said: ended.stderr });
    }
    let answer = String::from_utf8_lossy(&answer).trim().to_owned();
    Ok(if answer.is_empty() { ended.stderr } else { answer })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, patience: Duration) -> Result<String, NoAnswer> {
        let env = vec![("PATH".into(), "/usr/bin:/bin".into())];
        let args = vec!["-c".into(), script.into()];
        ask(&ProcessQuery { program: "/bin/sh".into(), args, env, cwd: "/".into(), patience })
    }

    #[test]
    fn answers_come_from_either_stream() {
        let minute = Duration::from_mins(1);
        assert_eq!(shell("echo ' 1.2 '", minute).unwrap(), "1.2");
        assert_eq!(shell("echo 1.3 >&2", minute).unwrap(), "1.3");
        assert_eq!(shell("echo \"$HOME\" 1.4", minute).unwrap(), "1.4", "nothing is inherited");
    }

    #[test]
    fn whoever_does_not_answer_is_ended() {
        let minute = Duration::from_mins(1);
        assert!(matches!(
            shell("sleep 600 & sleep 600", Duration::from_millis(50)),
            Err(NoAnswer::TooSlow(_))
        ));
        assert!(matches!(shell("yes", minute), Err(NoAnswer::TooMuch)));
        let failed = shell("echo no >&2; exit 3", minute).unwrap_err();
        assert_eq!(failed.to_string(), "it ended with status 3: no");
        let missing = ProcessQuery {
            program: "/nowhere/x".into(),
            args: vec![],
            env: vec![],
            cwd: "/".into(),
            patience: minute,
        };
        assert!(matches!(ask(&missing), Err(NoAnswer::Io(_))));
    }
}
