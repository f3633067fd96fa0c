//! Antigravity CLI, the other coding agent of Google: `agy -p`.
//!
//! Owns how it is started and what can be known from plain text. It is on no package registry and could not be tested:
//! this follows its documentation. Every release takes these two flags; that newer ones also have a model, a stream of
//! events and conversations that can be resumed is not used. A user who has such a release can describe it in the
//! configuration.

use fleet_core::event::{AgentEvent, Stream};
use fleet_core::outcome::AgentExit;
use fleet_core::run::Reason;

use crate::adapter::{
    About, Adapter, AgentFailure, Brief, Decoder, Enforced, LaunchPlan, Program, PromptVia, SettingsFiles,
    Trust,
};
use crate::common::words::{self, LONGEST_STDERR, TextTail};
use crate::common::{refusal, reset};

#[derive(Debug, Clone, Copy)]
pub(crate) struct Agy;

impl Adapter for Agy {
    fn name(&self) -> &'static str {
        "agy"
    }

    fn about(&self) -> About {
        About {
            title: "Antigravity CLI".into(),
            // A Google account, but its limits are not those of the Gemini API.
            provider: "antigravity".into(),
            program: Program::OnPath("agy".into()),
            version_args: vec!["--version".to_owned()],
            install: "see https://antigravity.google".into(),
            login: "run agy and sign in".into(),
            login_env: &[],
            login_files: &[],
            takes_prompts: false,
            trust: [
                "asks before it does anything and, without an answer, may stop there",
                "edits and runs commands without asking and without a sandbox",
                "edits and runs commands without asking and without a sandbox",
            ],
            enforced: [Enforced::Nothing; 3],
            settings_files: SettingsFiles {
                paths: &[".agents", ".antigravity", ".gemini", ".env"],
                can_be_left_out: false,
            },
        }
    }

    fn plan(&self, brief: &Brief<'_>) -> LaunchPlan {
        let mut plan = LaunchPlan::new(Program::OnPath("agy".into()));
        // It takes a prompt by argument only, and every user can read arguments.
        let pointer = format!("Read the file {} and do what it says.", brief.prompt_file.display());
        plan.prompt = PromptVia::File;
        plan.arg(&["-p", &pointer]);
        if brief.trust != Trust::ReadOnly {
            plan.arg(&["--dangerously-skip-permissions"]);
        }
        plan.pass(&["ANTIGRAVITY_*"]);
        plan.args.extend(brief.extra_args.iter().cloned());
        plan
    }

    fn decoder(&self, _: &Brief<'_>) -> Box<dyn Decoder> {
        Box::new(AgyDecoder {
            said: TextTail::new(LONGEST_SAID),
            stderr: TextTail::new(LONGEST_STDERR),
            failure: None,
        })
    }
}

/// Longer than any report: its output does not mark the last answer.
const LONGEST_SAID: usize = 64 * 1024;

const RETRY_AFTER: &[&str] = &["reset after ", "retry in ", "retry after ", "try again in "];

#[derive(Debug)]
struct AgyDecoder {
    said: TextTail,
    stderr: TextTail,
    failure: Option<AgentFailure>,
}

impl Decoder for AgyDecoder {
    fn line(&mut self, stream: Stream, line: &[u8], cut: bool) -> Vec<AgentEvent> {
        let kept = &line[..line.len().min(LONGEST_SAID)];
        let text = String::from_utf8_lossy(kept);
        let text = text.trim_end();
        match stream {
            Stream::Out if !cut && kept.len() == line.len() => {
                self.said.push(text);
                let said = (!text.is_empty()).then(|| AgentEvent::Text { text: text.to_owned() });
                return said.into_iter().collect();
            }
            Stream::Out => self.said.push(text),
            Stream::Err => self.stderr.push(text),
        }
        AgentEvent::raw(stream, line, cut).into_iter().collect()
    }

    /// Words count only at the end, and only if it ended badly: plain text may be about anything.
    fn end(&mut self, exit: &AgentExit) -> Vec<AgentEvent> {
        if exit.is_success() {
            return Vec::new();
        }
        let failure = [self.stderr.as_str(), last_line(self.said.as_str())]
            .into_iter()
            .find_map(|text| Some((refusal::reason(None, text, &[])?, text)))
            .map_or_else(
                || AgentFailure::new(Reason::AgentError, exit.to_string()),
                |(reason, text)| AgentFailure {
                    until: reset::in_words(text, RETRY_AFTER),
                    ..AgentFailure::new(reason, words::trouble(text))
                },
            );
        let events = failure.events();
        self.failure = Some(failure);
        events
    }

    fn final_text(&self) -> Option<&str> {
        self.said.some()
    }

    fn failure(&self) -> Option<AgentFailure> {
        self.failure.clone()
    }
}

fn last_line(text: &str) -> &str {
    text.lines().next_back().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use fleet_core::event::When;

    fn brief() -> Brief<'static> {
        Brief {
            prompt_file: Path::new("/run/prompt.md"),
            ..Brief::plain("Do it well", Path::new("/run/tree"))
        }
    }

    #[test]
    fn the_plan_points_to_the_prompt() {
        let plan = Agy.plan(&brief());
        assert_eq!(plan.program, Program::OnPath("agy".into()));
        assert_eq!(plan.prompt, PromptVia::File);
        assert_eq!(
            plan.args,
            ["-p", "Read the file /run/prompt.md and do what it says.", "--dangerously-skip-permissions"]
        );
        let extra = ["--sandbox".to_owned()];
        let careful = Brief { trust: Trust::ReadOnly, model: Some("m"), extra_args: &extra, ..brief() };
        assert_eq!(Agy.plan(&careful).args[2..], ["--sandbox"], "no model flag, and what the user adds");
    }

    fn decoded(lines: &[(Stream, &str)], exit: &AgentExit) -> (Vec<AgentEvent>, Box<dyn Decoder>) {
        let mut decoder = Agy.decoder(&brief());
        let mut events: Vec<AgentEvent> =
            lines.iter().flat_map(|(stream, line)| decoder.line(*stream, line.as_bytes(), false)).collect();
        events.extend(decoder.end(exit));
        (events, decoder)
    }

    #[test]
    fn lines_are_text_and_the_last_of_them_the_answer() {
        let lines =
            [(Stream::Out, "I fixed the 401 Unauthorized."), (Stream::Out, ""), (Stream::Out, "Done. ")];
        let (events, decoder) = decoded(&lines, &AgentExit::Code(0));
        let text = |text: &str| AgentEvent::Text { text: text.to_owned() };
        assert_eq!(events, [text("I fixed the 401 Unauthorized."), text("Done.")]);
        assert_eq!(decoder.final_text(), Some("I fixed the 401 Unauthorized.\n\nDone."));
        assert_eq!(decoder.failure(), None, "words of a run that went well mean nothing");
    }

    #[test]
    fn a_bad_end_is_explained_by_its_last_words() {
        let fail = |lines: &[(Stream, &str)], exit| decoded(lines, &exit).1.failure().unwrap();
        let quota = fail(&[(Stream::Err, "Usage limit reached, reset after 2h")], AgentExit::Code(1));
        assert_eq!(quota.reason, Reason::QuotaExhausted);
        assert_eq!(quota.until, Some(When::After(Duration::from_hours(2))));
        let login = fail(&[(Stream::Out, "Hm"), (Stream::Out, "You are not logged in.")], AgentExit::Code(1));
        assert_eq!((login.reason, login.text.as_str()), (Reason::Auth, "You are not logged in."));
        let killed = fail(&[(Stream::Out, "half a")], AgentExit::Signal(15));
        assert_eq!(killed, AgentFailure::new(Reason::AgentError, "the agent was ended by signal 15"));
    }
}
