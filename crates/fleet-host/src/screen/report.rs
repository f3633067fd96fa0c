//! What a program says about itself in sequences that draw nothing: its title, and its status.
//!
//! Owns reading them. They are claims of a program, and text that it chose: hints for whoever wants to know what it does,
//! never sent to a terminal.

use std::collections::VecDeque;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// How many reports are kept until somebody takes them; the oldest are lost.
const KEPT: usize = 32;

/// In characters.
const LONGEST_TITLE: usize = 256;
const LONGEST_MESSAGE: usize = 2048;
const LONGEST_NAME: usize = 64;

/// The number of the sequence in which agents report their status: `OSC 7501 ; state=working:app=codex ST`. Texts are in
/// base64. Claude Code reports only to terminals that answer its question (`OSC 7501 ; ? ST`), Codex to all.
const STATUS: &[u8] = b"7501";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramStatus {
    pub state: ProgramState,
    pub app: Option<String>,
    /// Which of several things that the program does. `None` is the program itself.
    pub id: Option<String>,
    /// What a blocked program waits for, such as `permission`, `question` or `auth`.
    pub kind: Option<String>,
    /// In percent.
    pub progress: Option<u8>,
    pub title: Option<String>,
    pub message: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramState {
    Working,
    /// It waits for a person.
    Blocked,
    Idle,
    Done,
    /// What was reported before does not count any more.
    Cleared,
}

#[derive(Debug, Default)]
pub(super) struct Reports {
    pub(super) title: Option<String>,
    statuses: VecDeque<ProgramStatus>,
}

impl Reports {
    /// Takes the parts of an operating system command that is a report; others are ignored.
    pub(super) fn push(&mut self, params: &[&[u8]]) {
        match params {
            [b"0" | b"2", title @ ..] => self.title = Some(one_line(&title.join(&b';'), LONGEST_TITLE)),
            [STATUS, report @ ..] => {
                self.statuses.extend(status(&report.join(&b';')));
                if self.statuses.len() > KEPT {
                    self.statuses.pop_front();
                }
            }
            _ => {}
        }
    }

    pub(super) fn take(&mut self) -> Vec<ProgramStatus> {
        std::mem::take(&mut self.statuses).into()
    }
}

/// Whether a program asks if its terminal takes status reports.
pub(super) fn is_status_question(params: &[&[u8]]) -> bool {
    matches!(params, [STATUS, b"?"])
}

fn status(report: &[u8]) -> Option<ProgramStatus> {
    let field = |name: &str| {
        let prefix = [name.as_bytes(), b"="].concat();
        report.split(|byte| *byte == b':').find_map(|field| field.strip_prefix(&prefix[..]))
    };
    let name = |key| field(key).map(|value| one_line(value, LONGEST_NAME));
    let text = |key, longest| {
        field(key).and_then(|value| STANDARD.decode(value).ok()).map(|text| one_line(&text, longest))
    };
    let state = match field("state")? {
        b"working" => ProgramState::Working,
        b"blocked" => ProgramState::Blocked,
        b"idle" => ProgramState::Idle,
        b"done" => ProgramState::Done,
        b"clear" => ProgramState::Cleared,
        _ => return None,
    };
    Some(ProgramStatus {
        state,
        app: name("app"),
        id: name("id"),
        kind: name("kind"),
        progress: name("progress").and_then(|percent| percent.parse().ok()).filter(|percent| *percent <= 100),
        title: text("title", LONGEST_TITLE),
        message: text("msg", LONGEST_MESSAGE),
    })
}

/// Text without anything that is not text.
fn one_line(bytes: &[u8], longest: usize) -> String {
    let text = String::from_utf8_lossy(bytes);
    let shown = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    let line: String =
        shown.filter(|character| !super::emulator::is_deceptive(*character)).take(longest).collect();
    line.trim().to_owned()
}
