//! What an agent is told: where it is, what to do, and how to report.

use fleet_core::task::Task;

/// What the text is made of.
pub(super) struct Prompt<'a> {
    pub(super) task: &'a Task,
    /// The commit that the work starts from.
    pub(super) base: &'a str,
    pub(super) branch: &'a str,
    /// Which attempt this is, counted from one.
    pub(super) attempt: i64,
    /// Whether an earlier attempt left work on the branch.
    pub(super) continues: bool,
}

impl Prompt<'_> {
    /// The whole text. The task comes last: what stands at the end of a long text is followed best.
    pub(super) fn text(&self) -> String {
        [self.place(), self.history(), self.contract(), self.task_text()].concat()
    }

    fn place(&self) -> String {
        let work = if self.task.spec.read_only {
            "Only look: do not change any file. Your answer is your report."
        } else {
            "Work only inside this directory. Commit your work if you like; what you leave uncommitted is committed \
             for you. Do not switch branches, do not push, do not touch other branches."
        };
        format!(
            "You work alone in a git worktree made for this task: the current directory, on branch `{}`, which \
             started from commit {}. Nobody answers questions while you work. {work}\n\n",
            self.branch, self.base,
        )
    }

    fn history(&self) -> String {
        if !self.continues {
            return String::new();
        }
        format!(
            "This is attempt {}. An earlier attempt left its work on this branch: look at `git log {}..` and \
             `git status` first, keep what is good, and go on from there.\n\n",
            self.attempt, self.base,
        )
    }

    fn contract(&self) -> String {
        let changes = if self.task.spec.read_only { "completed_no_changes" } else { "completed" };
        format!(
            "When you are finished, end your last message with this JSON, filled in:\n\
             ```json\n\
             {{\"summary\": \"what you did, in one or two sentences\", \"status\": \"{changes}\", \
             \"files_changed\": [], \"commits\": [], \
             \"tests\": [{{\"name\": \"…\", \"outcome\": \"passed\"}}], \"next_steps\": []}}\n\
             ```\n\
             `status` is `completed`, `completed_no_changes` when nothing had to be changed, or `blocked` when you \
             cannot go on; then `summary` says what you need. Changes are checked against git.\n\
             On the way, `\"$FLEET_BIN\" progress \"…\"` tells where you are and `\"$FLEET_BIN\" note \"…\"` keeps \
             something worth knowing.\n\n",
        )
    }

    fn task_text(&self) -> String {
        let title = &self.task.spec.title;
        let description = self.task.spec.description.as_str();
        if description.is_empty() {
            return format!("Your task: {title}\n");
        }
        // Of a prompt that was typed as a whole, the title is the beginning.
        if description.starts_with(title.as_str().trim_end_matches('…')) {
            return format!("Your task: {description}\n");
        }
        format!("Your task: {title}\n\n{description}\n")
    }
}
