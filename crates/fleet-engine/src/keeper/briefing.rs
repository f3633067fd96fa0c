//! Everything that the adapter of an agent is told about one run.

use std::path::PathBuf;

use fleet_agents::{Brief, Conversation};
use fleet_core::problem::Outcome;
use fleet_core::report::Report;
use fleet_core::run::Meter;
use serde::{Deserialize, Serialize};

use crate::agents::Terms;
use crate::clock;
use crate::home::{RunFolder, write_private};

/// All that a [`Brief`] borrows.
pub(super) struct Briefing<'t> {
    pub(super) prompt: String,
    pub(super) prompt_file: PathBuf,
    pub(super) workspace: PathBuf,
    pub(super) git_dirs: Vec<PathBuf>,
    pub(super) scratch: PathBuf,
    pub(super) talk: Talk,
    pub(super) is_root: bool,
    pub(super) terms: &'t Terms,
    /// The numbers of the follow-up prompts that are a part of the prompt.
    pub(super) told: Vec<i64>,
}

impl Briefing<'_> {
    /// As adapters want them.
    pub(super) fn brief(&self) -> Brief<'_> {
        Brief {
            prompt_file: &self.prompt_file,
            git_dirs: &self.git_dirs,
            scratch: &self.scratch,
            model: self.terms.model.as_deref(),
            effort: self.terms.effort.as_deref(),
            conversation: self.talk.conversation(),
            trust: self.terms.trust,
            is_root: self.is_root,
            system_prompt: self.terms.system_prompt.as_deref(),
            schema: self.terms.structured.then_some(Report::SCHEMA),
            mcp: &self.terms.mcp,
            extra_args: &self.terms.extra_args,
            ..Brief::plain(&self.prompt, &self.workspace)
        }
    }
}

/// The conversation of a run. Kept beside its logs: whoever decodes them later has to know what was resumed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Talk {
    /// A new one, by an id of ours for agents that take one.
    New(String),
    /// One that goes on, and what its counters stood at.
    Resumed {
        /// The agent's own id of it.
        session: String,
        /// What the agent's counters stood at.
        #[serde(default)]
        meter: Meter,
    },
}

impl Talk {
    /// A new one.
    pub(crate) fn new() -> Outcome<Self> {
        Ok(Self::New(uuid(clock::entropy()?, clock::entropy()?)))
    }

    /// That of a run, if it is known.
    pub(crate) fn of(folder: &RunFolder) -> Option<Self> {
        serde_json::from_slice(&std::fs::read(folder.talk()).ok()?).ok()
    }

    /// Writes it down. Without it, a later look at what was used is off by what earlier runs used.
    pub(super) fn note(&self, folder: &RunFolder) {
        let _ = serde_json::to_vec(self).map(|bytes| write_private(&folder.talk(), &bytes));
    }

    /// As adapters want it.
    pub(crate) fn conversation(&self) -> Conversation<'_> {
        match self {
            Self::New(id) => Conversation::New { id: Some(id) },
            Self::Resumed { session, meter } => {
                Conversation::Resume { session, meter: fleet_agents::Meter::from(*meter) }
            }
        }
    }
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
    use super::*;

    #[test]
    fn ids_of_conversations_are_random_uuids() {
        assert_eq!(uuid(0, 0), "00000000-0000-4000-8000-000000000000");
        assert_eq!(uuid(u64::MAX, u64::MAX), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_ne!(Talk::new().unwrap(), Talk::new().unwrap());
    }

    #[test]
    fn a_talk_can_be_read_back() {
        let meter = Meter { input: 1, output: 2, cache_read: 3, cache_write: 4, micro_usd: 5 };
        let talk = Talk::Resumed { session: "s".to_owned(), meter };
        let kept = serde_json::to_string(&talk).unwrap();
        assert_eq!(serde_json::from_str::<Talk>(&kept).unwrap(), talk);
        assert_eq!(talk.conversation().meter().tokens.cache_write, 4);
    }
}
