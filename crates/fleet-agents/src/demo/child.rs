//! Processes that the demo agent leaves behind, as the tools of real agents do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use fleet_core::time::Span;

/// What makes a process hard to find or to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChildBehaviour {
    /// It has its own session and process group.
    Session,
    /// Its parent is gone.
    Double,
    /// It does not end when it is asked to.
    Ignore,
    ClearEnv,
    /// It does not hold the agent's standard streams.
    Quiet,
}

impl ChildBehaviour {
    const ALL: &[Self] = &[Self::Session, Self::Double, Self::Ignore, Self::ClearEnv, Self::Quiet];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Double => "double",
            Self::Ignore => "ignore",
            Self::ClearEnv => "clearenv",
            Self::Quiet => "quiet",
        }
    }
}

/// A process that does nothing for a while: `[session] [double] [ignore] [clearenv] [quiet] [pid=FILE] SPAN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Child {
    /// How it makes itself hard to end.
    pub habits: BTreeSet<ChildBehaviour>,
    /// Where it writes its process id once it is as it should be.
    pub pid_file: Option<String>,
    pub lasts: Duration,
}

impl Child {
    pub fn is(&self, habit: ChildBehaviour) -> bool {
        self.habits.contains(&habit)
    }

    /// What is started in turn by the process between it and the agent.
    #[must_use]
    pub fn orphan(mut self) -> Self {
        self.habits.remove(&ChildBehaviour::Double);
        self
    }
}

impl fmt::Display for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for habit in &self.habits {
            write!(f, "{} ", habit.as_str())?;
        }
        if let Some(file) = &self.pid_file {
            write!(f, "pid={file} ")?;
        }
        write!(f, "{}ms", self.lasts.as_millis())
    }
}

impl FromStr for Child {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (words, span) = text.trim().rsplit_once(char::is_whitespace).unwrap_or(("", text.trim()));
        let lasts = span.parse::<Span>().map_err(|error| error.to_string())?.0;
        let mut child = Self { habits: BTreeSet::new(), pid_file: None, lasts };
        for word in words.split_whitespace() {
            if let Some(file) = word.strip_prefix("pid=") {
                child.pid_file = Some(file.to_owned());
                continue;
            }
            let habit = ChildBehaviour::ALL.iter().find(|habit| habit.as_str() == word);
            child.habits.insert(*habit.ok_or_else(|| format!("{word:?} is not a way to fork"))?);
        }
        Ok(child)
    }
}
