//! Lists of work: one piece on each line.

use fleet_api::verbs::create::Job;
use fleet_core::problem::{Code, Outcome, Problem};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListLine {
    branch: String,
    prompt: String,
    agent: Option<String>,
    model: Option<String>,
}

/// Reads `BRANCH: PROMPT` or a JSON object with `branch`, `prompt`, `agent` and `model` from each line; empty lines and
/// those that begin with `#` are left out. A mistake is told with its line, and nothing is returned.
pub(super) fn parse(text: &str) -> Outcome<Vec<Job>> {
    let lines = text.lines().map(str::trim).enumerate();
    let used = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    used.map(|(at, line)| job(line).map_err(|why| wrong(at + 1, &why))).collect()
}

fn job(line: &str) -> Result<Job, String> {
    let job = if line.starts_with('{') {
        let ListLine { branch, prompt, agent, model } =
            serde_json::from_str(line).map_err(|error| error.to_string())?;
        Job { branch: Some(branch), prompt, agent, model, ..Job::default() }
    } else {
        let (branch, prompt) = split(line).ok_or("there is no colon between branch and prompt")?;
        Job { branch: Some(branch.to_owned()), prompt: prompt.to_owned(), ..Job::default() }
    };
    if job.prompt.trim().is_empty() {
        return Err("the prompt is empty".to_owned());
    }
    Ok(job)
}

/// `BRANCH: PROMPT`, as people write it. The name of a branch has no colon.
pub(super) fn split(text: &str) -> Option<(&str, &str)> {
    let (branch, prompt) = text.split_once(':')?;
    Some((branch.trim(), prompt.trim()))
}

fn wrong(line: usize, why: &str) -> Problem {
    Problem::new(Code::InvalidValue, format!("line {line}: {why}; nothing was created"))
        .hint("write `BRANCH: PROMPT`, or JSON: `{\"branch\":…,\"prompt\":…,\"agent\":…,\"model\":…}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_has_one_piece_on_each_line() {
        assert_eq!(split(" a/b : do: it "), Some(("a/b", "do: it")));
        let text =
            "# a comment\n\nfix: Fix it\r\n{\"branch\":\"b\",\"prompt\":\"Do\\nit\",\"agent\":\"demo\"}\n";
        let jobs = parse(text).unwrap();
        let seen: Vec<_> =
            jobs.iter().map(|job| (job.branch.as_deref().unwrap(), job.prompt.as_str())).collect();
        assert_eq!(seen, [("fix", "Fix it"), ("b", "Do\nit")]);
        assert_eq!((jobs[0].agent.as_deref(), jobs[1].agent.as_deref()), (None, Some("demo")));
        for (text, line) in
            [("a: b\nno colon", "line 2"), ("#\n\na:  ", "line 3"), ("{\"branch\":\"a\"}", "line 1")]
        {
            let problem = parse(text).unwrap_err();
            assert!(problem.to_string().starts_with(line), "{problem}");
        }
        assert!(parse("{\"branch\":\"a\",\"prompt\":\"p\",\"modle\":\"x\"}").is_err());
        assert!(parse("# nothing\n").unwrap().is_empty());
    }
}
