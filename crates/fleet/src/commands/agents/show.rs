use fleet_api::verbs::agents_list::LoginState;
use fleet_api::verbs::agents_show::{Answer, TrustLevel};
use fleet_core::text::escaped;
use fleet_core::time::Millis;

use super::list;
use crate::output::{dim, fields, number, strong};

command! {
    /// Show everything about an agent: what it may do, how to install it, how to log in
    #[command(display_order = 20)]
    Show(agents_show) shows render
}

fn render(shown: &Answer, now: Millis) -> String {
    let agent = &shown.agent;
    // One that a user defined has no other title.
    let title = Some(&agent.title).filter(|title| **title != agent.name);
    let title = title.map(|title| format!("  {}", escaped(title))).unwrap_or_default();
    let head = format!("{}{title}", strong(&agent.name));
    let levels: Vec<String> = shown.trust_levels.iter().map(level).collect();
    let change = format!("`fleet config set agents.{}.trust WORD` changes it", agent.name);
    let trust =
        format!("{}\n{}\n  {}", dim("what it may do without asking"), levels.join("\n"), dim(&change));
    format!("{head}\n\n{}\n\n{trust}", about(shown, now))
}

fn about(shown: &Answer, now: Millis) -> String {
    let agent = &shown.agent;
    let text =
        |value: &Option<String>| value.as_deref().map(|text| escaped(text).into_owned()).unwrap_or_default();
    let list = |items: &[String]| escaped(&items.join(", ")).into_owned();
    let aliases: Vec<String> =
        agent.aliases.iter().map(|(short, model)| format!("{short} = {model}")).collect();
    let version = match &agent.version_problem {
        Some(why) => format!("unknown: {}", escaped(why)),
        None => escaped(&list::version(agent)).into_owned(),
    };
    let login = match agent.login.state {
        LoginState::Yes => format!("yes, by {}", text(&agent.login.sign)),
        LoginState::NoSign => format!("not detected: {}", escaped(&shown.login_help)),
        LoginState::NotNeeded => "not needed".to_owned(),
        LoginState::Unknown => escaped(&shown.login_help).into_owned(),
    };
    let install = if agent.is_installed() { String::new() } else { escaped(&shown.install).into_owned() };
    let word = |is: bool, word: &str| if is { word.to_owned() } else { String::new() };
    fields(&[
        ("version", version),
        ("path", text(&agent.path)),
        ("install", install),
        ("login", login),
        ("default", word(agent.is_default, "yes")),
        (
            "model",
            agent
                .model
                .as_deref()
                .map_or_else(|| dim("its own default"), |model| escaped(model).into_owned()),
        ),
        ("may use", list(&agent.models)),
        ("aliases", list(&aliases)),
        ("effort", text(&shown.effort)),
        ("arguments", list(&shown.args)),
        ("orders", word(shown.system_prompt, "yes (system_prompt)")),
        ("tools", text(&shown.mcp)),
        ("answer", word(shown.structured, "held to the schema of a report")),
        ("context", shown.context_limit.map(|most| format!("{} tokens", number(most))).unwrap_or_default()),
        ("account", escaped(&agent.account).into_owned()),
        ("limits", escaped(&list::limits(agent, now)).into_owned()),
        ("fallback", list(&shown.fallback)),
        (
            "prompts",
            if agent.takes_prompts { "while it works" } else { "when its turn has ended" }.to_owned(),
        ),
    ])
}

/// What keeps an agent to a trust, in words.
fn kept_by(enforced: &str) -> &'static str {
    match enforced {
        "sandbox" => "enforced by: the agent's own sandbox",
        "tools" => "enforced by: the agent itself, by the tools that it has or asks for",
        _ => "enforced by: none",
    }
}

fn level(level: &TrustLevel) -> String {
    let (mark, word) = if level.chosen {
        ("*", strong(&format!("{:<9}", level.trust)))
    } else {
        (" ", format!("{:<9}", level.trust))
    };
    format!("{mark} {word}  {}\n    {}", escaped(&level.means), dim(kept_by(&level.enforced)))
}
