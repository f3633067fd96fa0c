use fleet_core::task::Tuning;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::verb::verb;
use crate::views::Launched;

/// Adds tasks that run before what is queued, each on a new branch: all of them, or none.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// One for each task.
    pub jobs: Vec<Job>,
    /// What holds for all.
    #[serde(default)]
    pub wishes: Wishes,
    /// Whether they belong together.
    #[serde(default)]
    pub grouping: Grouping,
}

/// One piece of work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Job {
    /// What it is called; the first line of the prompt, if left out.
    pub title: Option<String>,
    /// The new branch that it goes to; a name made from the id, if left out.
    pub branch: Option<String>,
    /// What is to be done.
    pub prompt: String,
    /// Which agent does it; the configured one, if left out.
    pub agent: Option<String>,
    /// Which model the agent uses; the configured one, if left out.
    pub model: Option<String>,
    /// What it asks of the agent beyond the model.
    pub tuning: Tuning,
    /// Words to find it by.
    pub labels: Vec<String>,
    /// `KEY=VALUE`.
    pub meta: Vec<String>,
}

/// What holds for all pieces of one launch.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Wishes {
    /// Where the work starts; the current commit of the directory, if left out.
    pub base: Option<String>,
    /// `time=30m`, `idle=10m`, `tokens=200k`, `usd=2.50`.
    pub limits: Vec<String>,
    /// How often a failed run is tried again; what is configured, if left out.
    pub retries: Option<u32>,
    /// It is only to look.
    pub read_only: bool,
    /// How a workspace is prepared.
    pub setup: Setup,
}

/// How a workspace is prepared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Setup {
    /// As it is configured: files are copied, commands run.
    #[default]
    Full,
    /// Not at all.
    Skip,
}

/// Whether the pieces belong together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// It is one piece.
    #[default]
    Alone,
    /// They are a batch.
    Batch,
}

verb!("create", Request => Launched, Adds, Own);
