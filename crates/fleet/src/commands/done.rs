use clap::Args;
use fleet_api::verbs::report::Request;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::run::RunReport;
use serde_json::{Value, json};

use super::Context;
use super::text_input::read_stdin;

/// For agents: report that the task of this run is done
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 380)]
pub(crate) struct DoneCommand {
    /// What was done, in a sentence or two; `-` reads the whole result as JSON from standard input
    summary: String,
    /// completed, completed_no_changes or blocked
    #[arg(long, value_name = "STATUS", default_value = "completed",
          value_parser = ["completed", "completed_no_changes", "blocked"])]
    status: String,
    /// A test that was run and passed; may be repeated
    #[arg(long = "test", value_name = "COMMAND")]
    tests: Vec<String>,
    /// What should be done next; may be repeated
    #[arg(long = "next", value_name = "STEP")]
    next_steps: Vec<String>,
}

const EXAMPLES: &str = "Examples, inside a run:
  fleet done \"Fixed the race in the login test\" --test \"cargo test login\"
  fleet done \"Nothing to change: the bug was fixed before\" --status completed_no_changes
  echo '{\"summary\": \"…\", \"status\": \"completed\"}' | fleet done -";

impl DoneCommand {
    pub(crate) async fn run(self, context: &Context) -> crate::Done {
        let said = context.call(Request { report: RunReport::Done(self.report()?) }).await?;
        context.output.show(&said, || format!("run {}: noted as {}", said.run, "done"))
    }

    fn report(self) -> Outcome<Value> {
        if self.summary != "-" {
            let tests: Vec<Value> =
                self.tests.iter().map(|test| json!({ "name": test, "outcome": "passed" })).collect();
            return Ok(json!({
                "summary": self.summary,
                "status": self.status,
                "tests": tests,
                "next_steps": self.next_steps,
            }));
        }
        let text = read_stdin()?;
        serde_json::from_str::<Value>(&text).ok().filter(Value::is_object).ok_or_else(|| {
            Problem::new(Code::InvalidValue, "standard input is not a JSON object")
                .hint("`fleet done --help` shows one")
        })
    }
}
