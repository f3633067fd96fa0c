use fleet_api::verbs::agents_pause::Answer;
use fleet_core::time::Millis;

use crate::output::until;

command! {
    /// Pause an agent's account
    ///
    /// Agents of one provider and account are paused together. Running agents continue. A provider's rate limit pauses its
    /// account automatically; `fleet agents` shows who is paused.
    #[command(display_order = 60)]
    Pause(agents_pause) shows render
}

fn render(done: &Answer, now: Millis) -> String {
    let left = done.paused_until.as_ref().map_or_else(|| "at once".to_owned(), |at| until(at.0, now));
    let was = if done.changed { "is paused" } else { "was already paused for longer" };
    format!("{} {was} and continues {left}", done.account)
}
