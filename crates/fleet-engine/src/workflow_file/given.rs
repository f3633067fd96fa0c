//! What is said beside the file.

/// Values that are not in the file.
#[derive(Debug, Clone, Default)]
pub(crate) struct GivenValues {
    /// What all of it is for; comes before what the file says.
    pub(crate) task: Option<String>,
    /// `KEY=VALUE` for its parameters.
    pub(crate) set: Vec<String>,
    /// The agent of every stage, whatever the file says.
    pub(crate) agent: Option<String>,
    pub(crate) purpose: SourcePurpose,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum SourcePurpose {
    /// To be run: everything that it needs must be said.
    #[default]
    Run,
    /// Only to be looked at: a missing value is not an error, see [`super::Wants`].
    Check,
}
