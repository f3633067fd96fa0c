use crate::prelude::*;

/// Shows the secret that programs need in order to use a server of ours over the network.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// Make a new one first; running servers keep the old one until they are restarted
    #[arg(long)]
    pub renew: bool,
}

/// The secret, and where it is kept. Without `Debug`, so that it gets into no log.
#[derive(Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The secret itself.
    pub token: String,
    /// A file that only the user can read.
    pub file: String,
}

verb!("server.token", Request => Answer, Adds, People);
