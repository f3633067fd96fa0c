use crate::prelude::*;
use crate::views::Launched;

/// Requeues failed, cancelled or waiting tasks; they continue from the work on their branches.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tasks: ids, branches, batches or patterns such as 'login-*'; all or none are resumed
    #[arg(value_name = "ID", required_unless_present = "batch")]
    pub ids: Vec<String>,
    /// All tasks of this batch that can be resumed; with ID, only those of it
    #[arg(long, value_name = "ID")]
    pub batch: Option<String>,
}

verb!("resume", Request => Launched, Adds, Own, |request| Subject::tasks(&mut request.ids));
