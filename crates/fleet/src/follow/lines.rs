//! For pipes and logs: one line for each change of a task's state.

use std::collections::BTreeMap;

use fleet_api::views::Followed;
use fleet_core::id::TaskId;
use fleet_core::task::TaskState;
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use super::words;
use crate::output::{paint_status, strong};

/// What was told of each task: its status, and which attempt it was.
#[derive(Debug, Default)]
pub(super) struct Lines {
    told: BTreeMap<TaskId, (String, i64)>,
}

impl Lines {
    /// What is to be told now.
    pub(super) fn news(&mut self, tasks: &[Followed], now: Millis) -> Vec<String> {
        let mut news = Vec::new();
        for one in tasks {
            let is = (one.task.status.clone(), one.task.attempts);
            if self.told.insert(one.task.id, is.clone()) != Some(is) {
                news.push(line(one, now));
            }
        }
        news
    }
}

fn line(one: &Followed, now: Millis) -> String {
    let details = match one.task.state {
        TaskState::Running => words::agent(one),
        TaskState::Done => words::took(one).map(|took| format!("in {took}")).unwrap_or_default(),
        _ => words::activity(one, now),
    };
    let pad = " ".repeat(9_usize.saturating_sub(one.task.status.len()));
    let line = format!(
        "{}  {}{pad}  {}  {}",
        strong(one.task.id.as_str()),
        paint_status(&one.task.status),
        escaped(&one.branch()),
        escaped(&details)
    );
    line.trim_end().to_owned()
}
