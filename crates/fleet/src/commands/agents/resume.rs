use fleet_api::verbs::agents_pause::Answer;
use fleet_core::time::Millis;

command! {
    /// Resume an agent's account
    #[command(display_order = 70)]
    Resume(agents_resume) shows render
}

fn render(done: &Answer, _: Millis) -> String {
    let now = if done.changed { "is no longer paused" } else { "was not paused" };
    format!("{} {now}", done.account)
}
