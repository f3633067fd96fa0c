//! One message to several agents.

use fleet_api::verbs::run_prompt::{Answer, Request};
use fleet_api::verbs::run_prompt_find::{self, PromptTarget};
use fleet_core::message::{MessageKind, Reception};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use serde::Serialize;

use super::line;
use crate::Done;
use crate::commands::Context;
use crate::output::{alarm, count, strong};

pub(super) struct Wish {
    pub(super) pattern: String,
    pub(super) finished: bool,
    pub(super) text: String,
    pub(super) kind: MessageKind,
}

/// What happened, for each of them.
#[derive(Serialize)]
struct Sent {
    prompts: Vec<Answer>,
    failed: Vec<NotSent>,
}

#[derive(Serialize)]
struct NotSent {
    task: String,
    branch: String,
    code: Code,
    message: String,
}

/// Sends it to each of them once. One that cannot have it does not keep it from the others.
pub(super) async fn prompt(context: &Context, wish: Wish) -> Done {
    let Wish { pattern, finished, text, kind } = wish;
    let found = context.call(run_prompt_find::Request { pattern, finished }).await?;
    let mut sent = Sent { prompts: Vec::new(), failed: Vec::new() };
    let mut lines = Vec::new();
    for target in found.targets {
        let request = Request { id: target.task.to_string(), text: text.clone(), kind };
        match context.call(request).await {
            Ok(told) => {
                lines.push(format!("{}  {}", line(&told), escaped(&target.branch)));
                sent.prompts.push(told);
            }
            Err(problem) => {
                let why = alarm(&escaped(&problem.message));
                lines.push(format!(
                    "{}  {}  not sent: {why}",
                    strong(target.task.as_str()),
                    escaped(&target.branch)
                ));
                sent.failed.push(not_sent(target, problem));
            }
        }
    }
    if sent.prompts.iter().any(|told| told.reception != Reception::Held) {
        context.work_was_queued().await;
    }
    context.output.show(&sent, || lines.join("\n"))?;
    match (sent.failed.first(), sent.failed.len()) {
        (Some(first), number) => {
            let what = count(number, "agent");
            Err(Problem::new(first.code, format!("{what} did not get the message: {}", first.message))
                .hint("`fleet prompt --status` shows what waits"))
        }
        (None, _) => Ok(()),
    }
}

fn not_sent(target: PromptTarget, problem: Problem) -> NotSent {
    let PromptTarget { task, branch, .. } = target;
    NotSent { task: task.to_string(), branch, code: problem.code, message: problem.message }
}
