//! Reads the screen of an agent by its rules.

use fleet_core::run::AgentState;
use regex_lite::Captures;

use super::rules::{AnswerRule, DialogRule, Pattern, ScreenRule, ScreenRules, StartRule};
use crate::adapter::PermissionAnswer;
use crate::common::words::one_line;

/// More lines than any screen has; further ones are not looked at.
const MAX_LINES: usize = 500;

/// More than any line of a screen has; the rest is not looked at.
const LONGEST_LINE: usize = 2_000;

/// What the frames of dialogs are drawn with.
const FRAME: &[char] = &['│', '┃', '║', '▌', '█', '╹', '╭', '╮', '╰', '╯', ' ', '\t', '\u{a0}'];

/// What a screen shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) state: AgentState,
    pub(super) text: String,
    pub(super) rule: String,
    /// See [`ScreenRule::weak`].
    pub(super) is_weak: bool,
}

/// The lines that say something, without blanks and frames.
fn plain(lines: &[String]) -> Vec<&str> {
    let lines = &lines[lines.len().saturating_sub(MAX_LINES)..];
    let lines = lines.iter().map(|line| &line[..line.floor_char_boundary(LONGEST_LINE)]);
    lines.map(|line| line.trim_matches(FRAME)).filter(|line| !line.is_empty()).collect()
}

impl ScreenRules {
    /// What the screen shows, if a rule fits.
    pub(super) fn sight(&self, lines: &[String]) -> Option<Sight> {
        let lines = plain(lines);
        let rule = self.rules.iter().find(|rule| rule.fits(&lines, self.foot_lines))?;
        let name = format!("{} (rules for {})", rule.name, self.version);
        Some(Sight { state: rule.state, text: rule.asked(&lines), rule: name, is_weak: rule.weak })
    }

    /// What to type into a dialog at the start that has one right answer.
    pub(super) fn start_keys(&self, lines: &[String]) -> Option<Vec<u8>> {
        let lines = plain(lines);
        let fits = |rule: &&StartRule| rule.all.iter().all(|pattern| pattern.line(&lines).is_some());
        self.start.iter().find(fits).map(|rule| rule.keys.as_bytes().to_vec())
    }

    pub(super) fn shows_empty_input(&self, lines: &[String]) -> bool {
        let lines = plain(lines);
        let foot = &lines[lines.len().saturating_sub(self.foot_lines)..];
        self.empty_input.as_ref().is_some_and(|pattern| pattern.line(foot).is_some())
    }

    /// What to type into the dialog that the screen shows.
    pub(super) fn keys(&self, answer: PermissionAnswer, lines: &[String]) -> Option<Vec<u8>> {
        let dialog = self.dialog.as_ref()?;
        let lines = plain(lines);
        let rule = self.rules.iter().find(|rule| rule.fits(&lines, self.foot_lines))?;
        if rule.state != AgentState::AsksPermission {
            return None;
        }
        dialog.keys(answer, &lines)
    }
}

impl ScreenRule {
    fn fits(&self, lines: &[&str], foot_lines: usize) -> bool {
        let foot = &lines[lines.len().saturating_sub(foot_lines)..];
        let Some(last) = foot.last() else { return false };
        self.last.as_ref().is_none_or(|pattern| pattern.0.is_match(last))
            && self.all.iter().all(|pattern| pattern.line(lines).is_some())
            && self.foot.iter().all(|pattern| pattern.line(foot).is_some())
            && self.not_foot.iter().all(|pattern| pattern.line(foot).is_none())
    }

    fn asked(&self, lines: &[&str]) -> String {
        let found = self.text.as_ref().and_then(|pattern| pattern.line(lines));
        let found = found.and_then(|found| found.get(1).or_else(|| found.get(0)));
        found.map(|found| one_line(found.as_str())).unwrap_or_default()
    }
}

impl Pattern {
    /// The last line that fits: what is below is newer.
    fn line<'s>(&self, lines: &[&'s str]) -> Option<Captures<'s>> {
        lines.iter().rev().find_map(|line| self.0.captures(line))
    }
}

impl DialogRule {
    fn keys(&self, answer: PermissionAnswer, lines: &[&str]) -> Option<Vec<u8>> {
        let rules = match answer {
            PermissionAnswer::Allow => &self.allow,
            PermissionAnswer::AllowAlways => &self.always,
            PermissionAnswer::Deny => &self.deny,
        };
        rules.iter().find_map(|rule| self.option_key(rule, lines).or_else(|| rule.fixed(lines)))
    }

    /// The key of the first option whose label fits; the labels are tried in their order.
    fn option_key(&self, rule: &AnswerRule, lines: &[&str]) -> Option<Vec<u8>> {
        let options = self.options(lines);
        let labels = rule.labels.iter();
        let mut found =
            labels.filter_map(|label| options.iter().find(|(_, option)| label.0.is_match(option)));
        found.next().map(|(key, _)| key.as_bytes().to_vec())
    }

    /// The options at the end of the dialog, read from below: what the agent wants to do may look like an option, too.
    fn options<'s>(&self, lines: &[&'s str]) -> Vec<(&'s str, &'s str)> {
        let mut options: Vec<(&str, &str)> = Vec::new();
        let Some(option) = &self.option else { return options };
        for found in lines.iter().rev().filter_map(|line| option.0.captures(line)) {
            let (Some(key), Some(label)) = (found.name("key"), found.name("label")) else { continue };
            let is_repeated = options.iter().any(|(known, _)| *known == key.as_str());
            if is_repeated || options.last().is_some_and(|(last, _)| *last == "1") {
                break;
            }
            options.push((key.as_str(), label.as_str().trim_end()));
        }
        options.reverse();
        options
    }
}

impl AnswerRule {
    fn fixed(&self, lines: &[&str]) -> Option<Vec<u8>> {
        let is_shown = self.if_shown.as_ref().is_none_or(|pattern| pattern.line(lines).is_some());
        self.keys.as_ref().filter(|_| is_shown).map(|keys| keys.as_bytes().to_vec())
    }
}
