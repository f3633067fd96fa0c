//! Lists of work: one piece on each line.

use fleet_core::problem::{Code, Outcome, Problem};
use serde::Deserialize;

use super::{Job, names};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    branch: String,
    prompt: String,
    agent: Option<String>,
    model: Option<String>,
}

/// Reads `BRANCH: PROMPT` or a JSON object with `branch`, `prompt`, `agent` and `model` from each line; empty lines and
/// those that begin with `#` are left out. A mistake is told with its line, and nothing is returned.
pub fn parse_list(text: &str) -> Outcome<Vec<Job>> {
    let lines = text.lines().map(str::trim).enumerate();
    let used = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    used.map(|(at, line)| job(line).map_err(|why| wrong(at + 1, &why))).collect()
}

fn job(line: &str) -> Result<Job, String> {
    let job = if line.starts_with('{') {
        let Line { branch, prompt, agent, model } =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        Job { branch: Some(branch), prompt, agent, model, ..Job::default() }
    } else {
        let (branch, prompt) = names::split(line).ok_or("there is no colon between branch and prompt")?;
        Job { branch: Some(branch.to_owned()), prompt: prompt.to_owned(), ..Job::default() }
    };
    if job.prompt.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    Ok(job)
}

fn wrong(line: usize, why: &str) -> Problem {
    Problem::new(Code::InvalidValue, format!("line {line}: {why}; nothing was created"))
        .hint("write `BRANCH: PROMPT`, or JSON: `{\"branch\":…,\"prompt\":…,\"agent\":…,\"model\":…}`")
}
