//! What people said to the agent after the task was written: what this run tells it, and what the store learns of that.

use fleet_core::problem::Problem;
use fleet_core::prompt;
use fleet_core::run::{Run, RunState};
use fleet_store::ops;
use tokio::task::JoinHandle;

use super::talk::Talk;
use super::{AGAIN, Keeper};
use crate::clock;

/// So many of the newest prompts are looked at: twice as many as may wait.
const MOST_PROMPTS: i64 = 40;

impl Keeper<'_> {
    /// What people said to the agent of this task that it does not know in this conversation, oldest first. Without it
    /// there is no sense in beginning: it may be all that this run is for.
    pub(super) async fn prompts(&self, talk: &Talk, before: &[Run]) -> Result<Vec<prompt::Prompt>, String> {
        let unknown = |problem: Problem| format!("what people said to it: {}", problem.message);
        let known = ops::TaskPrompts { task: self.task.id, limit: MOST_PROMPTS };
        let known = self.call(known).await.map_err(unknown)?;
        // Looking is cheaper than taking, and mostly there is nothing.
        let is_news = known.iter().any(|prompt| prompt.sent_at.is_none());
        let mut prompts: Vec<_> =
            known.into_iter().filter(|sent| is_told_again(sent, talk, before)).collect();
        if is_news {
            let take = ops::TakePrompts { run: self.run.id, fence: self.run.fence, after: 0 };
            prompts.extend(self.call(take).await.map_err(unknown)?);
            prompts.sort_unstable_by_key(|prompt| prompt.seq);
        }
        Ok(prompts)
    }

    /// Tells the store that the agent has these, beside everything else. What the store does not learn of, the next run
    /// tells again, which is better than never.
    pub(super) fn tell(&self, told: Vec<i64>) -> JoinHandle<()> {
        let (store, run, fence) = (self.store.clone(), self.run.id, self.run.fence);
        tokio::spawn(async move {
            for seq in told {
                let sent = ops::PromptSent { run, fence, seq, now: clock::now() };
                while let Err(error) = store.call(sent).await
                    && error.is_temporary()
                {
                    tokio::time::sleep(AGAIN).await;
                }
            }
        })
    }
}

/// Whether something that an agent was told is told once more. A new conversation has none of it; one that goes on may
/// not have what was said since the last good end: the run may have failed before its agent read it.
fn is_told_again(prompt: &prompt::Prompt, talk: &Talk, before: &[Run]) -> bool {
    let mut unfinished = before.iter().take_while(|run| run.state != RunState::Succeeded);
    prompt.sent_at.is_some()
        && match talk {
            Talk::New(_) => true,
            Talk::Resumed { .. } => unfinished.any(|run| Some(run.id) == prompt.taken_by),
        }
}

#[cfg(test)]
mod tests {
    use fleet_core::run::{Meter, Reason};
    use fleet_core::time::Millis;

    use super::super::earlier_runs::{ended, failed, id};
    use super::*;

    #[test]
    fn what_an_agent_may_not_have_followed_is_told_again() {
        let before =
            [failed(3, Reason::RateLimited), ended(2, RunState::Succeeded, None), failed(1, Reason::Stale)];
        let said = |run: u64, sent_at| prompt::Prompt {
            task: before[0].task,
            seq: 1,
            text: "more".parse().unwrap(),
            by: "ada".to_owned(),
            at: Millis(0),
            taken_by: Some(id(run)),
            sent_at,
        };
        let sent = |run| said(run, Some(Millis(1)));
        let goes_on = Talk::Resumed { session: "s".to_owned(), meter: Meter::default() };
        let new = Talk::New("n".to_owned());
        let again = |talk| [1, 2, 3].map(|run| is_told_again(&sent(run), talk, &before));
        assert_eq!(again(&goes_on), [false, false, true], "the run that had it last did not come to its end");
        assert_eq!(again(&new), [true; 3], "it knows nothing");
        assert!(!is_told_again(&said(3, None), &new, &before), "what is news is taken from the store");
    }
}
