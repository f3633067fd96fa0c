use crate::prelude::*;

/// Reports what is delaying a stop.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The runs that are being stopped.
    pub runs: Vec<String>,
}

/// What it waits for.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// A sentence for each run that is still running.
    pub waits: Vec<String>,
}

verb!("run.kill.waits", Request => Answer, Reads, Own, |request| Subject::runs(&mut request.runs));
