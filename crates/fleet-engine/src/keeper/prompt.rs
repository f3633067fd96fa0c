//! The prompt of an agent: where it is, what to do, what others found out before it, and how to report.

use std::borrow::Cow;

use fleet_core::run::Reason;
use fleet_core::task::Task;
use fleet_core::template::fill;
use fleet_core::workflow::Returns;

use super::stage::StageText;
use super::templates::Templates;

pub(super) struct PromptContext<'a> {
    pub(super) task: &'a Task,
    /// What it is about, if it is a stage of a workflow.
    pub(super) stage: Option<&'a StageText>,
    pub(super) base: &'a str,
    pub(super) branch: &'a str,
    pub(super) workspace: &'a str,
    /// Which attempt this is, counted from one.
    pub(super) attempt: i64,
    /// Whether an earlier attempt left work on the branch.
    pub(super) continues: bool,
    /// Whose work it starts from, in a sentence, if it is not the user's.
    pub(super) passed_on: Option<&'a str>,
    pub(super) earlier: &'a EarlierAttempts,
    /// What was said after the task was written, oldest first, each with its introduction.
    pub(super) prompts: &'a [String],
}

/// What earlier attempts at a task left behind for the next one.
#[derive(Debug, Default)]
pub(super) struct EarlierAttempts {
    pub(super) end: Option<String>,
    pub(super) reason: Option<Reason>,
    pub(super) reported: Option<String>,
    /// What their agents noted, oldest first.
    pub(super) notes: Vec<String>,
}

impl PromptContext<'_> {
    /// For a new conversation. The task comes last: what stands at the end of a long text is followed best.
    pub(super) fn text(&self, templates: &Templates) -> String {
        let has_task = templates.task.contains("{description}");
        self.fill(&whole(&templates.task, if has_task { &["{prompts}"] } else { &["{task}", "{prompts}"] }))
    }

    /// For a conversation that knows the task already.
    pub(super) fn resumed(&self, templates: &Templates) -> String {
        self.fill(&whole(&templates.resume, &["{prompts}"]))
    }

    fn fill(&self, template: &str) -> String {
        let (rules, history, report) = (self.rules(), self.history(), self.report());
        let (interruption, task, prompts) = (self.interruption(), self.task_text(), self.prompts());
        let (attempt, id) = (self.attempt.to_string(), self.task.id.to_string());
        let filled = fill(template, |name| {
            Some(match name {
                "attempt" => attempt.as_str(),
                "base" => self.base,
                "branch" => self.branch,
                "description" => self.description(),
                "history" => &history,
                "interruption" => &interruption,
                "prompts" => &prompts,
                "report" => &report,
                "rules" => rules,
                "task" => &task,
                "task_id" => &id,
                "title" => self.task.spec.title.as_str(),
                "workspace" => self.workspace,
                _ => return None,
            })
        });
        format!("{}\n", filled.trim_end())
    }

    const fn rules(&self) -> &'static str {
        if self.task.spec.read_only {
            "Only look: do not change any file. Your answer is your report."
        } else {
            "Work only inside this directory. Commit your work if you like; what you leave uncommitted is committed \
             for you. Do not switch branches, do not push, do not touch other branches."
        }
    }

    fn history(&self) -> String {
        let passed_on = self.passed_on.map(|passed_on| format!("{passed_on}\n\n")).unwrap_or_default();
        if self.attempt <= 1 {
            return passed_on;
        }
        let mut parts = vec![passed_on, format!("This is attempt {}.", self.attempt)];
        parts.extend(self.earlier.end.as_ref().map(|end| format!(" How the one before it ended: {end}.")));
        parts.extend(
            self.earlier
                .reported
                .as_ref()
                .map(|said| format!(" What the one before it reported: {}", sentence(said))),
        );
        if self.continues {
            parts.push(format!(
                " It left its work on this branch: look at `git log {}..` and `git status` first, keep what is \
                 good, and continue from there.",
                self.base,
            ));
        }
        if !self.earlier.notes.is_empty() {
            parts.push("\nEarlier attempts noted:".to_owned());
            parts.extend(self.earlier.notes.iter().map(|note| format!("\n- {note}")));
        }
        parts.push("\n\n".to_owned());
        parts.concat()
    }

    fn interruption(&self) -> String {
        let Some(end) = &self.earlier.end else { return String::new() };
        match self.earlier.reason {
            // The agent came to its end, and that was not good enough.
            Some(Reason::AgentError | Reason::NoChanges | Reason::ChecksFailed) => {
                format!("Your work is not done yet: {end}. ")
            }
            _ => format!("Your work was interrupted: {end}. "),
        }
    }

    fn report(&self) -> String {
        let status = if self.task.spec.read_only { "completed_no_changes" } else { "completed" };
        let (asked, meaning) = self.asked();
        format!(
            "```json\n\
             {{\"summary\": \"what you did, in one or two sentences\", \"status\": \"{status}\", \
             \"files_changed\": [], \"commits\": [], \
             \"tests\": [{{\"name\": \"…\", \"outcome\": \"passed\"}}], \"next_steps\": []{asked}}}\n\
             ```{meaning}"
        )
    }

    /// What a report has in addition, and what that means.
    fn asked(&self) -> (&'static str, String) {
        match self.stage.map_or(Returns::Report, |stage| stage.returns) {
            Returns::Report => ("", String::new()),
            Returns::Verdict => {
                let names = self.stage.map_or(&[][..], |stage| &stage.names);
                let winner = if names.len() < 2 {
                    "`winner` is null, because there is nothing to choose".to_owned()
                } else {
                    format!("`winner` is the name of the stage ({}) that did best, or null", names.join(", "))
                };
                (
                    ", \"verdict\": {\"approve\": true, \"winner\": null, \
                     \"scores\": [{\"name\": \"…\", \"score\": 8}]}",
                    format!(
                        "\n`verdict` must be there: `approve` says whether the work may be used as it is, or null; \
                         {winner}; `scores` has points from 0 to 10 for each stage that you compared, by its name."
                    ),
                )
            }
            Returns::List => (
                ", \"items\": [\"…\"]",
                "\n`items` must be there: the list that you were asked for, each entry complete in itself, because it is \
                 given to an agent that sees none of the others; `[]` if there is nothing."
                    .to_owned(),
            ),
        }
    }

    fn description(&self) -> &str {
        self.stage.map_or(self.task.spec.description.as_str(), |stage| &stage.text)
    }

    fn task_text(&self) -> String {
        if let Some(stage) = self.stage {
            return stage.text.clone();
        }
        self.task.spec.prompt()
    }

    fn prompts(&self) -> String {
        let apart = |prompt: &String| format!("\n{prompt}\n");
        self.prompts.iter().map(apart).collect()
    }
}

/// A user's own template, with what it lacks added at its end: an agent that is not told its task, or what a person has
/// to add, would work on something else.
fn whole<'t>(template: &'t str, needed: &[&str]) -> Cow<'t, str> {
    let missing = needed.iter().filter(|name| !template.contains(**name));
    missing.fold(Cow::Borrowed(template), |text, name| format!("{}\n\n{name}", text.trim_end()).into())
}

/// With a full stop, unless it ends as a sentence does.
fn sentence(text: &str) -> String {
    let text = text.trim_end();
    if text.ends_with(['.', '!', '?', ':', '`']) { text.to_owned() } else { format!("{text}.") }
}

#[cfg(test)]
mod tests;
