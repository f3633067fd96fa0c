//! What an agent in a terminal does now, in words.

use fleet_core::run::{AgentState, AgentStateNow};

use crate::verbs::prelude::*;

/// What the agent of a run does.
pub(super) fn what(run: &Run) -> String {
    let agent = &run.agent;
    let Some(now) = &run.agent_state else { return format!("{agent} is working on it") };
    let asked = if now.text.is_empty() { String::new() } else { format!(": {}", now.text) };
    match now.state {
        AgentState::Working => format!("{agent} is working on it"),
        AgentState::Idle => format!("{agent} is idle: it waits for a prompt"),
        AgentState::AsksPermission => format!("{agent} needs your permission{asked}"),
        AgentState::AsksQuestion => format!("{agent} asks{asked}"),
    }
}

/// How that is known, and since when.
pub(super) fn evidence(now: &AgentStateNow) -> String {
    format!("{} since {}: {}", now.state.label(), clock::rfc3339(now.since), now.evidence)
}

#[cfg(test)]
mod tests {
    use fleet_api::verbs::{agents_status, run_list, runner_status, task_add, why};
    use fleet_api::{ModeChoice, TaskFields};
    use fleet_core::event::{AgentEvent, Fact};
    use fleet_core::run::{Health, RunMove};
    use fleet_core::task::TaskMode;

    use super::*;
    use crate::scratch::{ClaimedTask, ScratchEngine};
    use crate::verbs;

    /// An agent that runs in a terminal, and shows this.
    async fn agent(engine: &Engine, state: AgentState, text: &str) -> ClaimedTask {
        let mode = ModeChoice(Some(TaskMode::Interactive));
        let fields = TaskFields { mode, ..TaskFields::default() };
        let title = "Talk".to_owned();
        let one = ClaimedTask::add(engine, task_add::Request { title, fields, ..Default::default() }).await;
        let (run, now) = (one.run, engine.now());
        engine.call(ops::AdvanceRun { run, attempt: 1, event: RunMove::Start, now }).await.unwrap();
        let (text, evidence) = (text.to_owned(), "its hook says so".to_owned());
        let fact = Fact::Agent(AgentEvent::State { state, text, evidence });
        let events = ops::AppendRunEvents {
            run,
            attempt: 1,
            from: 0,
            to: 0,
            batch: 1,
            facts: vec![(now, fact)],
            usage: None,
            activity: None,
            session: None,
            now,
            meter: None,
        };
        assert!(engine.call(events).await.unwrap());
        one
    }

    #[test]
    fn a_dialog_in_a_terminal_is_shown_wherever_one_looks() {
        ScratchEngine::run(async |engine| {
            let asks = agent(engine, AgentState::AsksPermission, "May I run rm?\nReally?").await;
            let idle = agent(engine, AgentState::Idle, "").await;
            let status = verbs::runner_status::run(engine, runner_status::Request {}).await.unwrap();
            assert_eq!((status.running, status.interactive), (2, 2));
            let [one] = &status.needs_you[..] else { panic!("{:?}", status.needs_you) };
            assert_eq!((one.task, one.status.as_str()), (asks.task, "needs permission"));
            assert_eq!(one.why, "May I run rm? …");
            assert!(one.next.starts_with(&format!("`fleet allow {}`", asks.task)), "{}", one.next);

            let list = verbs::run_list::run(engine, run_list::Request::default()).await.unwrap();
            let state = list.runs[0].run.agent_state.as_ref().unwrap();
            assert_eq!((list.runs[0].run.id, state.state, &*state.text), (idle.run, AgentState::Idle, ""));
            let fleet = verbs::agents_status::run(engine, agents_status::Request::default()).await.unwrap();
            assert!(fleet.agents.iter().all(|agent| agent.health == Health::Waiting));

            let ask = async |task: TaskId| {
                let answer = verbs::why::run(engine, why::Request { id: task.to_string() }).await.unwrap();
                (answer.what, answer.evidence, answer.next, answer.advice)
            };
            let (what, seen, next, advice) = ask(asks.task).await;
            assert_eq!(what, "demo needs your permission: May I run rm?\nReally?");
            assert!(
                seen[0].starts_with("needs permission since 20") && seen[0].ends_with(": its hook says so")
            );
            assert_eq!(next, "runs until somebody closes it, or it hits a limit of its task");
            assert_eq!(advice, [format!("`fleet attach {}` opens its terminal", asks.task)]);
            assert_eq!(ask(idle.task).await.0, "demo is idle: it waits for a prompt");
        });
    }

    #[test]
    fn the_evidence_has_the_moment() {
        let (state, since) = (AgentState::AsksPermission, Millis(1_800_000_000_000));
        let now =
            AgentStateNow { state, since, text: "rm x".to_owned(), evidence: "its hook says so".to_owned() };
        assert_eq!(evidence(&now), "needs permission since 2027-01-15T08:00:00.000Z: its hook says so");
    }
}
