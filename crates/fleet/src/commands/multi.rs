mod list;

use std::path::PathBuf;

use clap::Args;
use fleet_api::verbs::create::{Grouping, Job, Request};
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::Context;
use super::launching::LaunchOptions;
use super::text_input::read_path;
use crate::Done;

/// Launch several agents, each with its own branch and prompt
///
/// All of them are launched, or none; together they are a batch.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 40)]
pub(crate) struct Multi {
    /// A branch, new or existing, and its prompt
    #[arg(value_name = "BRANCH:PROMPT", required_unless_present = "file")]
    work: Vec<String>,
    /// Read more of them from a file (`-` is standard input): `BRANCH: PROMPT` or a JSON object on each line
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Default agent [default: `agent`]
    #[arg(short, long, value_name = "AGENT")]
    agent: Option<String>,
    /// Work on a branch even if it is the main branch
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    options: LaunchOptions,
}

const EXAMPLES: &str = "Examples:
  fleet multi \"fix-login:Fix the flaky login test\" \"docs:Document the API\"
  fleet multi --file work.txt

A file has one piece of work on each line; empty lines and lines with # are left out:
  fix-login: Fix the flaky login test
  {\"branch\":\"docs\",\"prompt\":\"Document the API\",\"agent\":\"codex\",\"model\":\"gpt-5\"}";

impl Multi {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let mut jobs = self.work.iter().map(|text| job(text)).collect::<Outcome<Vec<_>>>()?;
        if let Some(path) = &self.file {
            jobs.extend(list::parse(&read_path(path)?)?);
        }
        if jobs.is_empty() {
            return Err(Problem::new(Code::InvalidValue, "the file has no work in it: nothing was created")
                .hint("write `BRANCH: PROMPT` on each line"));
        }
        for job in &mut jobs {
            job.agent = job.agent.take().or_else(|| self.agent.clone());
            job.model = job.model.take().or_else(|| self.options.model.clone());
        }
        let request = Request { jobs, wishes: self.options.wishes_on(self.force), grouping: Grouping::Batch };
        self.options.launch(context, request).await
    }
}

fn job(text: &str) -> Outcome<Job> {
    let (branch, prompt) = list::split(text).ok_or_else(|| {
        let message = format!("\"{}\" is not BRANCH:PROMPT: there is no colon", escaped(text));
        Problem::new(Code::InvalidValue, message)
            .hint("`fleet multi \"fix-login:Fix the login test\"`; `fleet fanout` launches one prompt several times")
    })?;
    Ok(Job { branch: Some(branch.to_owned()), prompt: prompt.to_owned(), ..Job::default() })
}
