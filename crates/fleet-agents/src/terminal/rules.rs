//! Rules for screens, as they are written in `screens/NAME.json`.

use std::sync::LazyLock;

use fleet_core::run::AgentState;
use regex_lite::Regex;
use serde::Deserialize;

/// The rules of one agent. Patterns are tried on single lines, without the blanks and the frame around them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenRules {
    /// The version that they were written from.
    pub(super) version: String,
    /// How many of the last lines that are not empty are the foot of the screen: an input box with what is around it, or
    /// the end of a dialog.
    pub(super) foot_lines: usize,
    /// In the order in which they are tried: the first that fits decides.
    pub(super) rules: Vec<ScreenRule>,
    /// Fits a line of the foot while the input has no text.
    pub(super) empty_input: Option<Pattern>,
    pub(super) dialog: Option<DialogRule>,
    /// Dialogs at the start with one right answer.
    #[serde(default)]
    pub(super) start: Vec<StartRule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StartRule {
    /// Each of these fits a line.
    pub(super) all: Vec<Pattern>,
    pub(super) keys: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ScreenRule {
    /// What it recognises, for people who ask how a state is known.
    pub(super) name: String,
    pub(super) state: AgentState,
    /// Each of these fits a line.
    #[serde(default)]
    pub(super) all: Vec<Pattern>,
    /// Each of these fits a line of the foot.
    #[serde(default)]
    pub(super) foot: Vec<Pattern>,
    /// None of these fits a line of the foot.
    #[serde(default)]
    pub(super) not_foot: Vec<Pattern>,
    /// Fits the last line that is not empty.
    pub(super) last: Option<Pattern>,
    /// The agent looks like this while it works, too, so that it counts only before the first hook.
    #[serde(default)]
    pub(super) weak: bool,
    /// The last line that fits is what the agent asks: its group, or all of it.
    pub(super) text: Option<Pattern>,
}

/// How a dialog that asks for permission is answered.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DialogRule {
    /// An option: the group `key` is what to type for it, and `label` what it says.
    pub(super) option: Option<Pattern>,
    /// For each answer the ways to give it, in the order in which they are tried.
    pub(super) allow: Vec<AnswerRule>,
    pub(super) always: Vec<AnswerRule>,
    pub(super) deny: Vec<AnswerRule>,
}

/// One way to give an answer: the key of the first option whose label fits, or else fixed keys.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerRule {
    #[serde(default)]
    pub(super) labels: Vec<Pattern>,
    /// Only where a line fits `if_shown`.
    pub(super) keys: Option<String>,
    pub(super) if_shown: Option<Pattern>,
}

#[derive(Debug)]
pub(super) struct Pattern(pub(super) Regex);

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Regex::new(&text).map(Self).map_err(serde::de::Error::custom)
    }
}

/// The rules of each agent. Those that cannot be read are left out, and a test reads all of them.
macro_rules! rules {
    ($($name:ident = $file:literal),* $(,)?) => {
        impl ScreenRules {
            $(
            pub(crate) fn $name() -> Option<&'static ScreenRules> {
                static RULES: LazyLock<Option<ScreenRules>> = LazyLock::new(|| {
                    serde_json::from_str(include_str!(concat!("../../screens/", $file))).ok()
                });
                RULES.as_ref()
            })*
        }

        #[cfg(test)]
        pub(super) const TEXTS: &[(&str, &str)] =
            &[$(($file, include_str!(concat!("../../screens/", $file)))),*];
    };
}

rules! {
    claude = "claude.json",
    codex = "codex.json",
    gemini = "gemini.json",
    opencode = "opencode.json",
    demo = "demo.json",
}
