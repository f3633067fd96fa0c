//! The same prompt several times, on branches of their own.

use fleet_core::problem::{Code, Outcome, Problem};

use super::{Grouping, Job, Launched, MOST, Request, Wishes, names, run};
use crate::Engine;

/// What to launch several times.
#[derive(Debug, Clone)]
pub struct Fanout {
    /// How often.
    pub copies: usize,
    /// The beginning of the names of the branches; `None` is made from the prompt.
    pub prefix: Option<String>,
    /// What is to be done.
    pub prompt: String,
    /// Who does it, in turn; none is the configured agent.
    pub agents: Vec<String>,
    /// Which model they use.
    pub model: Option<String>,
    /// What holds for all.
    pub wishes: Wishes,
}

/// A name that is made up is made up again so often when it is taken.
const TRIES: usize = 100;

/// Launches all of them, or none. A prefix that was given is taken as it is; one that is made up is a free one.
pub async fn fanout(engine: &Engine, wish: Fanout) -> Outcome<Launched> {
    if wish.copies == 0 || wish.copies > MOST {
        let message = format!("{} copies: between 1 and {MOST} can be launched", wish.copies);
        return Err(Problem::new(Code::InvalidValue, message));
    }
    if let Some(prefix) = &wish.prefix {
        return run(engine, request(&wish, prefix)).await;
    }
    let slug = names::slug(&wish.prompt)?;
    let mut last = run(engine, request(&wish, &slug)).await;
    for number in 2..=TRIES {
        match &last {
            // Somebody else may also take the name between the look and the launch.
            Err(problem) if problem.code == Code::BranchTaken => {
                last = run(engine, request(&wish, &format!("{slug}-{number}"))).await;
            }
            _ => break,
        }
    }
    last
}

fn request(wish: &Fanout, prefix: &str) -> Request {
    let jobs = (0..wish.copies).map(|number| Job {
        branch: Some(format!("{prefix}-{}", names::letters(number))),
        prompt: wish.prompt.clone(),
        agent: wish.agents.get(number % wish.agents.len().max(1)).cloned(),
        model: wish.model.clone(),
        ..Job::default()
    });
    Request { jobs: jobs.collect(), wishes: wish.wishes.clone(), grouping: Grouping::Batch }
}
