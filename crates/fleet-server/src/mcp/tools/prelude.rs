//! What most tools use.

pub(super) use fleet_core::problem::{Code, Outcome, Problem};
pub(super) use schemars::JsonSchema;
pub(super) use serde::{Deserialize, Serialize};

pub(super) use super::{Call, Nature, Tool, Unknown};
pub(super) use crate::mcp::place::RepoClient;
