//! What an agent says from inside its run, through `fleet done`, `fail`, `note` and `progress`. These are claims: the
//! keeper compares them with what git shows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::Fact;

/// What an agent says about its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunReport {
    /// It is done: the result contract, as the agent wrote it.
    Done(serde_json::Value),
    /// It gives up, and why.
    Fail(String),
    /// Something worth keeping.
    Note(String),
    /// How far it is.
    Progress {
        /// In a few words.
        text: String,
        /// Of a hundred.
        percent: Option<u8>,
    },
}

impl RunReport {
    /// The event that followers see.
    pub fn fact(&self) -> Fact {
        match self {
            Self::Done(report) => {
                let text = |name: &str, default: &str| report[name].as_str().unwrap_or(default).to_owned();
                Fact::RunReported { status: text("status", "completed"), summary: text("summary", "") }
            }
            Self::Fail(why) => Fact::RunReported { status: "failed".to_owned(), summary: why.clone() },
            Self::Note(text) => Fact::RunNote { text: text.clone() },
            Self::Progress { text, percent } => Fact::RunProgress { text: text.clone(), percent: *percent },
        }
    }

    /// Whether the agent declares its work over. Such a report is kept until the run ends.
    pub const fn is_final(&self) -> bool {
        matches!(self, Self::Done(_) | Self::Fail(_))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_an_agent_declares_can_be_told() {
        let told = |report: RunReport| match report.fact() {
            Fact::RunReported { status, summary } => (status, summary),
            other => panic!("{other:?}"),
        };
        let own = |status: &str, summary: &str| (status.to_owned(), summary.to_owned());
        let report = json!({ "status": "blocked", "summary": "no access" });
        assert_eq!(told(RunReport::Done(report)), own("blocked", "no access"));
        assert_eq!(told(RunReport::Done(json!(["odd"]))), own("completed", ""));
        assert_eq!(told(RunReport::Fail("stuck".to_owned())), own("failed", "stuck"));
        let kept = serde_json::to_string(&RunReport::Fail("stuck".to_owned())).unwrap();
        assert_eq!(kept, r#"{"fail":"stuck"}"#);
    }
}
