//! Messages to agents, as tables show them.

use fleet_api::views::MessageView;
use fleet_core::time::Millis;

use crate::output::{ago, columns, table};

/// What was said, and how far it came.
pub(crate) fn table_of(messages: &[MessageView], now: Millis) -> String {
    let column = columns(messages);
    let first_line =
        |message: &MessageView| message.text.trim().lines().next().unwrap_or_default().to_owned();
    let run = |message: &MessageView| message.run.map(|run| run.to_string()).unwrap_or_default();
    table(vec![
        column("MESSAGE", &|message| message.number.to_string()),
        column("KIND", &|message| message.kind.to_string()),
        column("BY", &|message| message.by.clone()),
        column("AGE", &|message| ago(message.at.0, now)),
        column("STATE", &|message| message.state.clone()),
        column("RUN", &run),
        column("TEXT", &first_line).giving_way(),
    ])
}
