use fleet_core::problem::Problem;

use crate::prelude::*;

/// Checks the installation, and reports problems and what to do about them.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Request {}

/// How a check went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CheckVerdict {
    /// As it should be.
    Good,
    /// Works, but needs attention.
    Warning,
    /// Does not work.
    Bad,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DoctorCheck {
    /// What was looked at.
    pub name: String,
    /// How it went.
    pub verdict: CheckVerdict,
    /// What was found.
    pub detail: String,
    /// What to do about it.
    pub hints: Vec<String>,
}

impl DoctorCheck {
    /// As it should be.
    pub fn good(name: &str, detail: impl Into<String>) -> Self {
        Self { name: name.to_owned(), verdict: CheckVerdict::Good, detail: detail.into(), hints: Vec::new() }
    }

    /// It needs attention.
    pub fn warning(name: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { verdict: CheckVerdict::Warning, hints: vec![hint.into()], ..Self::good(name, detail) }
    }

    /// It does not work.
    pub fn bad(name: &str, problem: Problem) -> Self {
        let found = Self::good(name, problem.to_string());
        Self { verdict: CheckVerdict::Bad, hints: problem.hints, ..found }
    }
}

/// Everything that was looked at.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// In the order of looking.
    pub checks: Vec<DoctorCheck>,
    /// Whether nothing is bad.
    pub healthy: bool,
}

verb!("doctor", Request => Answer, Reads, People);
