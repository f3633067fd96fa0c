//! Messages to agents, as tables show them.

use fleet_api::views::MessageView;
use fleet_core::time::Millis;

use crate::output::{Column, ago, table};

/// What was said, and how far it came.
pub(crate) fn table_of(messages: &[MessageView], now: Millis) -> String {
    let column = |cell: &dyn Fn(&MessageView) -> String| messages.iter().map(cell).collect::<Vec<_>>();
    let first_line =
        |message: &MessageView| message.text.trim().lines().next().unwrap_or_default().to_owned();
    let run = |message: &MessageView| message.run.map(|run| run.to_string()).unwrap_or_default();
    table(vec![
        Column::new("MESSAGE", column(&|message| message.number.to_string())),
        Column::new("KIND", column(&|message| message.kind.to_string())),
        Column::new("BY", column(&|message| message.by.clone())),
        Column::new("AGE", column(&|message| ago(message.at.0, now))),
        Column::new("STATE", column(&|message| message.state.clone())),
        Column::new("RUN", column(&run)),
        Column::new("TEXT", column(&first_line)).giving_way(),
    ])
}
