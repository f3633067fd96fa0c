//! The same prompt several times, on branches of their own.

use fleet_api::verbs::create::{ExistingBranches, Grouping, Job, JobOptions, Request as Create};
use fleet_api::verbs::fanout::Request;
use fleet_api::views::Launched;

use super::create::{self, MAX_TASKS};
use super::prelude::*;

/// How many generated names are tried before giving up.
const TRIES: usize = 100;

/// Launches all of them, or none. A prefix that was given is taken as it is; one that is made up is a free one.
pub(crate) async fn run(engine: &Engine, wish: Request) -> Outcome<Launched> {
    if wish.copies == 0 || wish.copies > MAX_TASKS {
        let message = format!("{} copies: between 1 and {MAX_TASKS} can be launched", wish.copies);
        return Err(Problem::new(Code::InvalidValue, message));
    }
    if let Some(prefix) = &wish.prefix {
        return create::run(engine, request(&wish, prefix)).await;
    }
    let prefix = &engine.config()?.tasks().branch_prefix;
    let slug = format!("{prefix}{}", create::slug(&wish.prompt)?);
    let mut last = create::run(engine, request(&wish, &slug)).await;
    for number in 2..=TRIES {
        match &last {
            // Another process may also take the name between the check and the launch.
            Err(problem) if problem.code == Code::BranchTaken => {
                last = create::run(engine, request(&wish, &format!("{slug}-{number}"))).await;
            }
            _ => break,
        }
    }
    last
}

fn request(wish: &Request, prefix: &str) -> Create {
    let jobs = (0..wish.copies).map(|number| Job {
        branch: Some(format!("{prefix}-{}", create::letters(number))),
        prompt: wish.prompt.clone(),
        agent: wish.agents.get(number % wish.agents.len().max(1)).cloned(),
        model: wish.model.clone(),
        ..Job::default()
    });
    // Attempts to be compared start from the same commit.
    let wishes = JobOptions { existing: ExistingBranches::Refuse, ..wish.wishes.clone() };
    Create { jobs: jobs.collect(), wishes, grouping: Grouping::Batch }
}
