//! What the demo agent does with a prompt that has no script: something small and plausible.

use std::time::Duration;

use fleet_core::text::shortened;

use super::script::Step;

/// Long enough to be watched, short enough to wait for.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_NAME: usize = 40;

/// Notes on the task, written in a few steps; when nothing may be changed, only words about it.
pub fn job(prompt: &str, read_only: bool) -> Vec<Step> {
    // What codefleet says around the task is not the task.
    let prompt = prompt.rsplit_once("Your task: ").map_or(prompt, |(_, task)| task);
    let title = title(prompt);
    let think = Step::Think { text: format!("The task is: {title}") };
    let usage = Step::Usage { input: 1200, output: 300, micro_usd: 8100 };
    let pause = Step::Sleep { span: PAUSE };
    if read_only {
        let say = Step::Say { text: format!("I have read the task and changed nothing: {title}") };
        return vec![think, pause.clone(), usage, pause, say];
    }
    let path = format!("notes/{}.md", slug(&title));
    vec![
        think,
        pause.clone(),
        Step::Say { text: format!("I will take notes in {path}.") },
        Step::Write { path: path.clone(), text: "# Notes\n\nThe task is:\n\n".to_owned() },
        pause.clone(),
        Step::Append { path, text: format!("{}\n", prompt.trim()) },
        usage,
        pause.clone(),
        Step::Say { text: "The notes are written.".to_owned() },
        pause,
    ]
}

/// The first line that says something, without the marks of a heading.
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
