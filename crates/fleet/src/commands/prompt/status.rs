//! Messages, how far they came, and taking one back.

use fleet_api::verbs::run_prompt_list::{ListedMessage, Request};
use fleet_api::verbs::{run_prompt_cancel, run_prompt_list};
use fleet_core::problem::{Code, Problem};
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use crate::Done;
use crate::commands::Context;
use crate::output::{ago, columns, strong, table};

pub(super) async fn show(context: &Context, id: Option<String>) -> Done {
    let is_all = id.is_none();
    let answer = context.call(Request { ids: id.into_iter().collect() }).await?;
    let now = context.engine.now();
    context.output.show(&answer, || text(&answer, is_all, now))?;
    if answer.more {
        context.output.note("older ones are not shown: name a task");
    }
    Ok(())
}

fn text(answer: &run_prompt_list::Answer, is_all: bool, now: Millis) -> String {
    if answer.messages.is_empty() {
        let what = if is_all { "no message waits: agents have seen all of them" } else { "no messages" };
        return what.to_owned();
    }
    let column = columns(&answer.messages);
    let first_line =
        |one: &ListedMessage| one.message.text.trim().lines().next().unwrap_or_default().to_owned();
    table(vec![
        column("MESSAGE", &|one| format!("{}.{}", one.task.short(), one.message.number)),
        column("BRANCH", &|one| one.branch.clone()).naming(),
        column("FROM", &|one| one.message.by.clone()),
        column("STATE", &|one| one.message.state.clone()),
        column("AGE", &|one| ago(one.message.at.0, now)),
        column("TEXT", &first_line).giving_way(),
    ])
}

/// Takes back the message that was named as `ID.N`.
pub(super) async fn cancel(context: &Context, named: &str) -> Done {
    let parsed = named.rsplit_once('.').and_then(|(id, number)| Some((id, number.parse().ok()?)));
    let Some((id, number)) = parsed.filter(|(id, _)| !id.is_empty()) else {
        let message =
            format!("\"{}\" is not ID.N: a task, a dot and the number of a message", escaped(named));
        return Err(Problem::new(Code::Usage, message).hint("`fleet prompt --status` shows them"));
    };
    let answer = context.call(run_prompt_cancel::Request { id: id.to_owned(), number }).await?;
    context.output.show(&answer, || format!("{}  cancelled", strong(&answer.prompt.id)))
}
