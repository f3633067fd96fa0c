//! `fleet explain`

use clap::Args;
use fleet_core::problem::{Code, Problem};

use crate::Done;
use crate::output::Output;

/// Explain an error code: what it means, why it happens, what to do
#[derive(Debug, Args)]
#[command(display_order = 340)]
pub(crate) struct Explain {
    /// The code, as an error message shows it; without one, all codes are listed
    code: Option<String>,
}

/// One page of the documentation for each code.
macro_rules! pages {
    ($($code:ident = $name:literal,)+) => {
        const fn page(code: Code) -> &'static str {
            match code {
                $(Code::$code => include_str!(concat!("../../docs/errors/", $name, ".md")),)+
            }
        }
    };
}

pages! {
    Internal = "internal",
    Io = "io",
    Usage = "usage",
    InvalidValue = "invalid-value",
    ModelRefused = "model-refused",
    ImportInvalid = "import-invalid",
    WorkflowInvalid = "workflow-invalid",
    IdInvalid = "id-invalid",
    IdAmbiguous = "id-ambiguous",
    TaskNotFound = "task-not-found",
    RunNotFound = "run-not-found",
    WorkflowNotFound = "workflow-not-found",
    NotHere = "not-here",
    NothingMatched = "nothing-matched",
    SnapshotNotFound = "snapshot-not-found",
    CodeNotFound = "code-not-found",
    AgentMissing = "agent-missing",
    NotARepository = "not-a-repository",
    DependencyCycle = "dependency-cycle",
    DependencyNotFound = "dependency-not-found",
    HasDependents = "has-dependents",
    IllegalTransition = "illegal-transition",
    TaskExists = "task-exists",
    SimilarTask = "similar-task",
    Changed = "changed",
    BranchTaken = "branch-taken",
    LeaseLost = "lease-lost",
    NotInARun = "not-in-a-run",
    DoorClosed = "door-closed",
    SpawnRefused = "spawn-refused",
    NotYours = "not-yours",
    RepositoryRefused = "repository-refused",
    Untrusted = "untrusted",
    SetupRefused = "setup-refused",
    StoreUnreachable = "store-unreachable",
    StoreBusy = "store-busy",
    StoreCorrupt = "store-corrupt",
    StoreTooNew = "store-too-new",
    StoreFull = "store-full",
    StoreUnwritable = "store-unwritable",
    StoreFailed = "store-failed",
    ConfigInvalid = "config-invalid",
    ConfigUnknownKey = "config-unknown-key",
    DoctorFoundProblems = "doctor-found-problems",
    RunFailed = "run-failed",
    KillIncomplete = "kill-incomplete",
}

impl Explain {
    pub(crate) fn run(self, output: Output) -> Done {
        let Some(name) = self.code else {
            let codes: Vec<_> = Code::ALL.iter().map(|code| (code.as_str(), summary(*code))).collect();
            let answer: Vec<_> = codes
                .iter()
                .map(|(code, summary)| serde_json::json!({ "code": code, "summary": summary }))
                .collect();
            return output.show(&serde_json::json!({ "codes": answer }), || {
                codes
                    .iter()
                    .map(|(code, summary)| format!("{code:<22}  {summary}"))
                    .collect::<Vec<_>>()
                    .join("\n")
            });
        };
        let code: Code = name.parse().map_err(|_| {
            Problem::new(Code::CodeNotFound, format!("there is no error code {name:?}"))
                .hint("`fleet explain` lists all codes")
        })?;
        let answer = serde_json::json!({ "code": code, "summary": summary(code), "text": page(code) });
        output.show(&answer, || page(code).to_owned())
    }
}

/// The first sentence of a page, below its title.
fn summary(code: Code) -> &'static str {
    page(code).lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_about_its_code_and_says_what_to_do() {
        for code in Code::ALL {
            let page = page(*code);
            assert!(page.starts_with(&format!("# {code}\n")), "{code}: the title is the code");
            assert!(!summary(*code).is_empty(), "{code}: the page begins with a sentence");
            assert!(page.contains("## What to do"), "{code}: the page says what to do");
        }
    }
}
