//! What the demo agent does with a prompt that has no script: something small and plausible.

use std::time::Duration;

use fleet_core::report::{Report, ReportStatus, Verdict};
use fleet_core::text::shortened;

use super::script::ScriptStep;

/// Long enough to be watched, short enough to wait for.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_NAME: usize = 40;

/// What codefleet says before the task, at the beginning of a conversation and when that goes on.
const TASK: [&str; 2] = ["Your task:\n", "Your task, once more:\n"];
/// What codefleet says before something that a person, or the agent of another run, added later.
const ADDED: [&str; 2] = ["\nAdded by the person who gave you this task: ", "\nAdded by the agent of run "];

/// Notes on the task, written in a few steps; when nothing may be changed, only words about it. A verdict or a list that
/// is asked for is there, and says how little thought went into it.
pub fn job(prompt: &str, read_only: bool) -> Vec<ScriptStep> {
    let (terms, task) = split(prompt);
    let title = title(task);
    let think = ScriptStep::Think { text: format!("The task is: {title}") };
    let usage = ScriptStep::Usage { input: 1200, output: 300, micro_usd: 8100 };
    let pause = ScriptStep::Sleep { span: PAUSE };
    let path = (!read_only).then(|| file_name(task, &title));
    let mut steps = vec![think, pause.clone()];
    match &path {
        None => {
            let say = ScriptStep::Say { text: format!("I have read the task and changed nothing: {title}") };
            steps.extend([usage, pause, say]);
        }
        Some(path) => steps.extend([
            ScriptStep::Say { text: format!("I will take notes in {path}.") },
            // If the notes exist, it adds to them: a task is done by a change.
            ScriptStep::Append { path: path.clone(), text: "# Notes\n\nThe task is:\n\n".to_owned() },
            pause.clone(),
            ScriptStep::Append { path: path.clone(), text: format!("{}\n", task.trim()) },
            usage,
            pause.clone(),
            ScriptStep::Say { text: "The notes are written.".to_owned() },
            pause,
        ]),
    }
    steps.extend(terms.and_then(|terms| answer(terms, &title, path.as_deref())));
    steps
}

/// What codefleet says around the task is not the task; what a person said last is what is to be done now.
fn split(prompt: &str) -> (Option<&str>, &str) {
    let terms = TASK.iter().filter_map(|words| prompt.split_once(words)).map(|(terms, _)| terms);
    let task = TASK.iter().filter_map(|words| prompt.rsplit_once(words)).map(|(_, task)| task);
    // Its own words may stand in the task, too.
    let (terms, task) = (terms.min_by_key(|terms| terms.len()), task.min_by_key(|task| task.len()));
    let task = task.unwrap_or(prompt);
    (terms, added_last(task).unwrap_or(task))
}

/// The last addition, without its introduction.
fn added_last(task: &str) -> Option<&str> {
    let [by_person, by_agent] =
        ADDED.map(|words| task.rfind(words).map(|at| (at, &task[at + words.len()..])));
    // The id of the run is still in it.
    let by_agent = by_agent.and_then(|(at, rest)| Some((at, rest.split_once(": ")?.1)));
    by_person.into_iter().chain(by_agent).max_by_key(|(at, _)| *at).map(|(_, added)| added)
}

/// The report, if a verdict or a list belongs into it.
fn answer(terms: &str, title: &str, path: Option<&str>) -> Option<ScriptStep> {
    let status = if path.is_some() { ReportStatus::Completed } else { ReportStatus::CompletedNoChanges };
    let report = |summary: &str| Report {
        files_changed: path.map(ToOwned::to_owned).into_iter().collect(),
        ..Report::new(status, summary)
    };
    let report = if terms.contains("\"verdict\":") {
        let verdict = Some(verdict(&compared(terms)));
        Report {
            verdict,
            ..report("I approve of everything and choose the first: I am only the demo agent.")
        }
    } else if terms.contains("\"items\":") {
        let halves = ["first", "second"].map(|which| format!("The {which} half of this: {title}"));
        Report {
            items: Some(halves.to_vec()),
            ..report("I cut the task in two halves: I am only the demo agent.")
        }
    } else {
        return None;
    };
    // Nothing in it can fail to be written as JSON.
    let text = serde_json::to_string_pretty(&report).ok()?;
    Some(ScriptStep::Report { text: format!("Done.\n\n```json\n{text}\n```") })
}

fn verdict(names: &[&str]) -> Verdict {
    let scores = names.iter().zip((0..=8_u8).rev().chain(std::iter::repeat(0)));
    Verdict {
        approve: Some(true),
        winner: names.first().map(|name| (*name).to_owned()),
        scores: scores.map(|(name, points)| ((*name).to_owned(), f64::from(points).into())).collect(),
    }
}

/// The stages that a verdict is about: they stand in parentheses.
fn compared(terms: &str) -> Vec<&str> {
    let names = terms.split_once("the name of the stage (").and_then(|(_, rest)| rest.split_once(')'));
    names.map(|(names, _)| names.split(", ").collect()).unwrap_or_default()
}

/// Tasks that begin alike, as those of one workflow do, get files of their own: their branches may be merged.
fn file_name(task: &str, title: &str) -> String {
    let is_all = task.trim().lines().count() <= 1;
    let more = if is_all { String::new() } else { format!("-{:04x}", checksum(task) & 0xffff) };
    format!("notes/{}{more}.md", slug(title))
}

fn checksum(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |sum, byte| (sum ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

fn title(prompt: &str) -> String {
    let lines = prompt.lines().map(|line| line.trim().trim_start_matches('#').trim());
    let first = lines.into_iter().find(|line| !line.is_empty()).unwrap_or("An empty task");
    shortened(first, 200).into_owned()
}

/// A file name made of the words of a title.
fn slug(title: &str) -> String {
    let mut out = String::new();
    for word in title.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if out.len() + word.len() > LONGEST_NAME {
            break;
        }
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(&word.to_ascii_lowercase());
    }
    if out.is_empty() { "task".to_owned() } else { out }
}
