//! The form in which a prompt is typed.

use super::paste::{PASTE_END, PASTE_START};

/// A longer prompt is put into a file: interfaces are slow with long texts, and some cut them.
const LONGEST_TYPED: usize = 32 * 1024;

/// How a prompt gets into a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptForm {
    /// As it is.
    Typed,
    /// As a sentence that names the file that has it: it is too long, or has characters that a terminal would take for
    /// keys.
    InFile,
}

impl PromptForm {
    /// `takes_paste` says that the agent tells a paste from keys: otherwise each line would be a prompt.
    pub fn of(text: &str, takes_paste: bool) -> Self {
        let is_key = |c: char| c.is_control() && c != '\n' && c != '\t';
        let is_plain = !text.contains(is_key) && (takes_paste || !text.trim_end().contains('\n'));
        if text.len() <= LONGEST_TYPED && is_plain { Self::Typed } else { Self::InFile }
    }
}

/// The bytes that paste a text whose form is [`PromptForm::Typed`].
pub fn pasted(text: &str, takes_paste: bool) -> String {
    let text = text.trim_end();
    if takes_paste { format!("{PASTE_START}{text}{PASTE_END}") } else { text.to_owned() }
}
