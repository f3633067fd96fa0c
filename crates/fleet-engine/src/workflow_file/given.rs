//! What is said beside the file.

/// Values that do not stand in the file.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// What all of it is for; comes before what the file says.
    pub task: Option<String>,
    /// `KEY=VALUE` for its parameters.
    pub set: Vec<String>,
    /// The agent of every stage, whatever the file says.
    pub agent: Option<String>,
    /// What it is read for.
    pub purpose: Purpose,
}

/// What a workflow is read for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Purpose {
    /// To be run: everything that it needs must be said.
    #[default]
    Run,
    /// Only to be looked at: what is still to be said is no flaw, see [`super::Wants`].
    Check,
}
