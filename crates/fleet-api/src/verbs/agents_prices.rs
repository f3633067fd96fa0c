use crate::prelude::*;

/// Lists the prices that are in force, and where each comes from.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// All prices.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The user's own first; those that another one of the same name hides are left out.
    pub prices: Vec<PriceView>,
    /// The file for prices of one's own.
    pub file: String,
}

/// The price of a million tokens of a model, in millionths of a US dollar.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PriceView {
    pub model: String,
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The user's file; null for what comes with codefleet.
    pub file: Option<String>,
    /// Of when the table is.
    pub date: Option<String>,
}

verb!("agents.prices", Request => Answer, Reads, All);
