use crate::prelude::*;
use crate::verbs::setup::{SetupClient, SetupScope};

/// Lists the programs in which our tool server is registered.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// In this scope; for the user, and wherever the project has an entry, if left out.
    pub scope: Option<SetupScope>,
}

/// The state of a client.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct ClientStatus {
    /// Which one.
    pub client: SetupClient,
    /// The client.
    pub scope: SetupScope,
    /// Whether its program is on the `PATH`.
    pub installed: bool,
    /// The file.
    pub file: String,
    /// `registered`, `outdated`, `foreign`, `absent` or `unreadable`.
    pub status: String,
    /// What the client starts under our name.
    pub command: Vec<String>,
    /// Why the file cannot be read.
    pub problem: Option<String>,
}

/// Every client.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// For the user, and for the project of the directory where that has an entry.
    pub clients: Vec<ClientStatus>,
}

verb!("setup.list", Request => Answer, Reads, People);
