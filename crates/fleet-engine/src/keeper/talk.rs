//! The conversation that an agent takes part in: a new one, or one that goes on.

use std::path::Path;

use fleet_agents::{Conversation, LaunchPlan, Resumes};
use fleet_core::policy;
use fleet_core::problem::Outcome;
use fleet_core::run::{Meter, Reason, Run, is_session};
use fleet_host::plain;
use serde::{Deserialize, Serialize};

use crate::clock;
use crate::home::{RunFolder, write_passing};

/// The conversation of a run. Kept beside its logs: decoding them later needs to know what was resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Talk {
    /// A new one, by an id of ours for agents that take one.
    New(String),
    /// One that goes on, and what its counters stood at.
    Resumed {
        /// The agent's own id of it.
        session: String,
        /// Where the agent's counters stood.
        #[serde(default)]
        meter: Meter,
    },
}

impl Talk {
    /// A new one, or that of an earlier attempt where going on makes sense. `before` are the attempts before this run, newest
    /// first, and `failures` counts those that the task was blamed for.
    pub(super) fn choose(here: &TalkContext<'_>, before: &[Run], failures: u32) -> Outcome<Self> {
        match going_on(here, before, failures) {
            Some((session, meter)) => Ok(Self::Resumed { session, meter }),
            None => Self::new(),
        }
    }

    pub(super) const fn is_resumed(&self) -> bool {
        matches!(self, Self::Resumed { .. })
    }

    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self::New(uuid(clock::entropy()?, clock::entropy()?)))
    }

    /// That of a run, if it is known.
    pub(crate) fn of(folder: &RunFolder) -> Option<Self> {
        serde_json::from_slice(&plain::read(&folder.talk()).ok()?).ok()
    }

    /// Whether the agent learns of it. A new conversation without a given id is like any other.
    pub(super) fn is_told_by(&self, plan: &LaunchPlan) -> bool {
        let Self::New(id) = self else { return true };
        let words = plan.args.iter().chain(plan.env.iter().map(|(_, value)| value));
        words.chain(plan.files.iter().map(|file| &file.content)).any(|word| word.contains(id))
    }

    /// Writes it down. Without it, a later look at what was used is off by what earlier runs used.
    pub(super) fn note(&self, folder: &RunFolder) {
        let _ = serde_json::to_vec(self).map(|bytes| write_passing(&folder.talk(), &bytes));
    }

    pub(crate) fn conversation(&self) -> Conversation<'_> {
        match self {
            Self::New(id) => Conversation::New { id: Some(id) },
            Self::Resumed { session, meter } => Conversation::Resume { session, meter: *meter },
        }
    }
}

/// Who is about to talk, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct TalkContext<'a> {
    pub(super) run: &'a Run,
    pub(super) workspace: &'a Path,
    pub(super) resumes: Resumes,
}

impl TalkContext<'_> {
    /// Whether the agent can go on here with a conversation that it had in an earlier run. On another machine it
    /// cannot; and in another workspace only if it does not go back to the first, which another run may have by now.
    fn has_that_of(&self, earlier: &Run) -> bool {
        let is_same_place = || earlier.workspace.as_deref().map(Path::new) == Some(self.workspace);
        earlier.place == self.run.place && (self.resumes == Resumes::Anywhere || is_same_place())
    }
}

/// The newest conversation of this agent, with what its counters stood at.
fn going_on(here: &TalkContext<'_>, before: &[Run], failures: u32) -> Option<(String, Meter)> {
    let had = |earlier: &&Run| earlier.agent == here.run.agent && earlier.session.is_some();
    let last = before.iter().find(had)?;
    let is_here = here.has_that_of(last);
    let is_kept = last.reason.is_none_or(|reason| keeps(reason, failures));
    // Checked here, too: an older codefleet may have stored it.
    let session = last.session.clone().filter(|session| is_session(session))?;
    (is_here && is_kept && !is_closed(last, before)).then(|| (session, last.meter.unwrap_or_default()))
}

/// Whether a conversation is kept after this failure.
fn keeps(reason: Reason, failures: u32) -> bool {
    policy::NextConversation::after(reason, failures) == policy::NextConversation::Resume
}

/// Whether the agent has tried to go on with a conversation since, and failed before it said that it does: then the
/// conversation is what is in the way, for instance because the agent does not have it any more.
fn is_closed(last: &Run, before: &[Run]) -> bool {
    let since = before.iter().take_while(|run| run.id != last.id);
    let mut tried = since.filter(|run| run.agent == last.agent && run.started_at.is_some());
    tried.any(|run| run.reason.is_some_and(|reason| !keeps(reason, u32::MAX)))
}

/// A random UUID, from 128 random bits.
fn uuid(high: u64, low: u64) -> String {
    let high = (high & !0xf000) | 0x4000;
    let low = (low & !(0b11 << 62)) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}

#[cfg(test)]
mod tests {
    use fleet_core::run::RunState;

    use fleet_agents::Tokens;

    use super::super::earlier_runs::{ended, failed};
    use super::*;

    #[test]
    fn ids_of_conversations_are_random_uuids() {
        assert_eq!(uuid(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u64::MAX, u64::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_ne!(Talk::new().unwrap(), Talk::new().unwrap());
    }

    #[test]
    fn a_talk_can_be_read_back() {
        let tokens = Tokens { input: 1, output: 2, cache_read: 3, cache_write: 4 };
        let meter = Meter { tokens, micro_usd: 5 };
        let talk = Talk::Resumed { session: "s".to_owned(), meter };
        let kept = serde_json::to_string(&talk).unwrap();
        assert_eq!(serde_json::from_str::<Talk>(&kept).unwrap(), talk);
        assert_eq!(talk.conversation().meter().tokens.cache_write, 4);
    }

    fn with(session: &str, run: Run) -> Run {
        Run { session: Some(session.to_owned()), ..run }
    }

    fn next(before: &[Run], failures: u32) -> Option<String> {
        found(Resumes::Anywhere, before, failures).map(|(session, _)| session)
    }

    fn found(resumes: Resumes, before: &[Run], failures: u32) -> Option<(String, Meter)> {
        let run = ended(9, RunState::Running, None);
        going_on(&TalkContext { run: &run, workspace: Path::new("/w/1"), resumes }, before, failures)
    }

    /// opencode goes back to the first directory, which may be the workspace of another task by now.
    #[test]
    fn a_conversation_that_belongs_to_a_directory_goes_on_only_there() {
        let last = with("s", ended(1, RunState::Succeeded, None));
        for (workspace, goes_on) in [(Some("/w/1"), true), (Some("/w/2"), false), (None, false)] {
            let last = Run { workspace: workspace.map(str::to_owned), ..last.clone() };
            let found = |resumes| found(resumes, std::slice::from_ref(&last), 0).is_some();
            assert_eq!(found(Resumes::WhereItBegan), goes_on, "{workspace:?}");
            assert!(found(Resumes::Anywhere), "{workspace:?}");
        }
    }

    #[test]
    fn the_newest_conversation_of_the_agent_goes_on() {
        let meter = Meter { micro_usd: 7, ..Meter::default() };
        let had = Run { meter: Some(meter), ..with("abc", failed(1, Reason::Stale)) };
        let found = found(Resumes::Anywhere, std::slice::from_ref(&had), 1);
        assert_eq!(found, Some(("abc".to_owned(), meter)));
        let never_had = failed(2, Reason::WorkspaceFailed);
        let never_had = Run { started_at: None, ..never_had };
        assert_eq!(next(&[never_had, had.clone()], 2).as_deref(), Some("abc"), "the second never had one");
        let newer = with("def", ended(3, RunState::Succeeded, None));
        assert_eq!(next(&[newer, had.clone()], 0).as_deref(), Some("def"));
        let other = Run { agent: "codex".to_owned(), ..with("xyz", ended(4, RunState::Succeeded, None)) };
        assert_eq!(next(&[other, had], 0).as_deref(), Some("abc"), "each agent has its own");
        assert_eq!(next(&[], 0), None);
    }

    #[test]
    fn a_conversation_that_makes_no_sense_does_not_go_on() {
        for (run, why) in [
            (with("s", failed(1, Reason::ContextOverflow)), "it is what failed"),
            (Run { place: "there".to_owned(), ..with("s", failed(1, Reason::Stale)) }, "it is not here"),
            (with("--flag", failed(1, Reason::Stale)), "it would be an option"),
        ] {
            assert_eq!(next(&[run], 1), None, "{why}");
        }
        assert_eq!(next(&[with("s", failed(1, Reason::AgentError))], 1).as_deref(), Some("s"));
        assert_eq!(next(&[with("s", failed(1, Reason::AgentError))], 2), None, "once is enough");
    }

    #[test]
    fn a_conversation_that_cannot_be_taken_up_is_left_alone() {
        let had = with("s", ended(1, RunState::Succeeded, None));
        let is_closed = |since: &[Run]| {
            let before: Vec<Run> = since.iter().chain([&had]).cloned().collect();
            is_closed(&had, &before)
        };
        assert!(!is_closed(&[]));
        assert!(is_closed(&[failed(2, Reason::AgentError)]), "its agent does not know it");
        assert!(is_closed(&[failed(3, Reason::Stale), failed(2, Reason::AgentError)]));
        assert!(!is_closed(&[failed(2, Reason::RateLimited), failed(3, Reason::Lost)]), "it may be there");
        assert!(!is_closed(&[Run { agent: "codex".to_owned(), ..failed(2, Reason::AgentError) }]));
        assert!(!is_closed(&[Run { started_at: None, ..failed(2, Reason::AgentError) }]));
    }
}
