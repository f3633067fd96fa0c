use fleet_core::workflow::{ChangeRule, Returns, StageStart};
use std::path::PathBuf;

use crate::prelude::*;
use crate::views::{Diagnostic, Wants, WorkflowOrigin, WorkflowSource};

/// Checks workflows without running them.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The workflows.
    #[arg(skip)]
    pub workflows: Vec<WorkflowSource>,
    /// Where relative paths start.
    #[arg(skip)]
    pub from: Option<PathBuf>,
    /// The task [default: from the file]
    #[arg(long, value_name = "TEXT")]
    pub task: Option<String>,
    /// A value for a parameter; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Use this agent for every stage
    #[arg(long, value_name = "AGENT")]
    pub agent: Option<String>,
    /// Whether missing parameters are errors.
    #[arg(skip)]
    pub for_run: bool,
}

/// What was found.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order in which they were named.
    pub workflows: Vec<CheckedFile>,
}

/// One file.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct CheckedFile {
    /// The file, or what was asked for if there is none.
    pub file: String,
    /// Who wrote it; none if it was not found.
    pub kind: Option<WorkflowOrigin>,
    /// Whether it can run.
    pub ok: bool,
    /// Whether the user has to agree to its commands before it runs here.
    pub needs_consent: bool,
    /// What is wrong, or may be.
    pub diagnostics: Vec<Diagnostic>,
    /// What it says; none if it cannot run.
    pub workflow: Option<Picture>,
}

/// What a workflow says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Picture {
    /// What it is called.
    pub name: String,
    /// What is still to be said before it can run.
    pub wants: Wants,
    /// The stages, in the order of the file.
    pub stages: Vec<StagePicture>,
}

/// What a stage says.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct StagePicture {
    /// Its name.
    pub name: String,
    /// How many stages must finish one after the other before it can start.
    pub level: usize,
    /// Its agent; the configured one if it names none.
    pub agent: String,
    /// Its model, if it names one.
    pub model: Option<String>,
    /// The stages that it needs.
    pub needs: Vec<String>,
    /// Where its branch starts.
    pub start: StageStart,
    /// Whether it has to change something.
    pub changes: ChangeRule,
    /// What it returns.
    pub returns: Returns,
    /// When it is started.
    pub when: Option<String>,
    /// How many parts it has; none if a list decides that another stage returns.
    pub parts: Option<usize>,
    /// The stage that returns this list.
    pub each_of: Option<String>,
}

verb!("workflow.check", Request => Answer, Reads, All);
