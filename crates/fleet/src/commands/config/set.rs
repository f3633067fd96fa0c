//! `fleet config set`

use clap::Args;
use fleet_api::verbs::config_set::{NewSetting, Request};
use fleet_api::views::SettingView;
use fleet_core::problem::{Code, Outcome, Problem};
use fleet_core::text::escaped;

use super::super::Context;
use crate::Done;
use crate::output::{dim, value, warn};

/// Set values in your configuration file; comments and layout stay as they are
///
/// Takes a key and its value, or any number of KEY=VALUE, of which all are set or none.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(display_order = 30)]
#[command(
    override_usage = "fleet config set [OPTIONS] <KEY> <VALUE>\n       fleet config set [OPTIONS] <KEY=VALUE>..."
)]
pub(crate) struct Set {
    /// The name of the setting, or KEY=VALUE
    #[arg(value_name = "KEY")]
    key: String,
    /// Its new value, or KEY=VALUE
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// KEY=VALUE
    #[arg(value_name = "KEY=VALUE")]
    more: Vec<String>,
    /// In the file of this repository (`.fleet/config.toml`) instead of your own
    #[arg(long)]
    in_project: bool,
}

const EXAMPLES: &str = "Examples:
  fleet config set tasks.priority 4
  fleet config set agent=codex runner.slots=3 agents.codex.model=gpt-5
  fleet config set agents.codex.model gpt-5 --in-project";

impl Set {
    pub(crate) async fn run(self, context: &Context) -> Done {
        let Self { key, value, more, in_project } = self;
        let words: Vec<String> = [key].into_iter().chain(value).chain(more).collect();
        let answer = context.call(Request { settings: settings(&words)?, in_project }).await?;
        for warning in &answer.warnings {
            context.output.note(&format!("{} {}", warn("warning:"), escaped(warning)));
        }
        let lines = || answer.settings.iter().map(line).collect::<Vec<_>>().join("\n");
        match answer.settings.as_slice() {
            [one] => context.output.show(one, lines),
            _ => context.output.show(&answer, lines),
        }
    }
}

/// A key and a value, or any number of both in one word.
fn settings(words: &[String]) -> Outcome<Vec<NewSetting>> {
    if let [key, value] = words
        && !key.contains('=')
    {
        return Ok(vec![NewSetting { key: key.clone(), value: value.clone() }]);
    }
    let setting = |word: &String| {
        let (key, value) = word.split_once('=').ok_or_else(|| not_a_pair(word))?;
        Ok(NewSetting { key: key.to_owned(), value: value.to_owned() })
    };
    words.iter().map(setting).collect()
}

fn not_a_pair(word: &str) -> Problem {
    Problem::new(Code::Usage, format!("{:?} is not KEY=VALUE", escaped(word)))
        .hint("`fleet config set KEY VALUE` sets one value, `fleet config set KEY=VALUE …` several, after any options")
}

fn line(setting: &SettingView) -> String {
    format!("{} = {}  {}", setting.key, value(&setting.value), dim(&escaped(&setting.origin.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_or_several_pairs() {
        let read = |words: &[&str]| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            let settings = settings(&words)?;
            Ok::<_, Problem>(settings.into_iter().map(|new| (new.key, new.value)).collect::<Vec<_>>())
        };
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(read(&["a", "b=c"]).unwrap(), [pair("a", "b=c")]);
        assert_eq!(read(&["a=b=c"]).unwrap(), [pair("a", "b=c")]);
        assert_eq!(read(&["a=1", "b="]).unwrap(), [pair("a", "1"), pair("b", "")]);
        assert!(read(&["a"]).is_err() && read(&["a=1", "b"]).is_err() && read(&["a", "b", "c"]).is_err());
    }
}
