//! An agent in a terminal: what it is told by typing, and what its screen and its hooks say.
//!
//! When and what to type is decided in [`fleet_core::typing`]; here that is done.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fleet_core::problem::{Code, Problem};
use fleet_core::run::AgentState;
use fleet_core::supervision::Input;
use fleet_core::typing::{PromptForm, TypingEffect, TypingInput, Typist, pasted};
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;

use super::Supervisor;
use super::connect::Hooks;
use crate::clock;
use crate::home::{write_beside_agent, write_passing};
use crate::keeper::journal::Journal;
use crate::keeper::mailbox::{Mailbox, ReadyMessage};
use crate::terminal::{Answering, Hub, OpenTerminal, Secrets, TerminalEnd};

/// A screen that has not changed for this long is read.
const STILL_TIME: Duration = Duration::from_millis(150);
/// One that never stands still is read this often.
const LONGEST_MOVE: Duration = Duration::from_secs(1);
/// It is read this often in any case: where a hook and the screen disagree, several looks decide.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);
/// The supervision hears of output this often.
const TELL_INTERVAL: Duration = Duration::from_millis(500);
/// A dialog that an agent told of is on its screen within this time.
const DIALOG_TIME: Duration = Duration::from_secs(5);
/// A dialog that looks the same after this takes keys.
const ANSWER_INTERVAL: Duration = Duration::from_millis(300);
/// More lines of a terminal are not kept when its agent has ended.
const MAX_LAST_LINES: usize = 1_000;

/// A prompt that is to be typed.
struct QueuedPrompt {
    /// The message that it is; none is the task itself.
    seq: Option<i64>,
    text: String,
}

/// The answer of a person to a dialog.
struct PendingAnswer {
    answering: Answering,
    /// Until then the dialog may appear.
    until: Duration,
    /// What the screen showed at the last look.
    seen: Vec<String>,
    is_typed: bool,
}

/// What happened to a terminal.
pub(super) enum TerminalEvent {
    Changed,
    Hook(Vec<u8>),
    Answer(Answering),
    Due,
}

pub(super) struct SupervisedTerminal {
    hub: Arc<Hub>,
    open: OpenTerminal,
    hooks: mpsc::Receiver<Vec<u8>>,
    secrets: Secrets,
    changes: watch::Receiver<()>,
    typist: Typist,
    current: Option<QueuedPrompt>,
    waiting: VecDeque<QueuedPrompt>,
    /// Where prompts are put that cannot be typed.
    prompts: PathBuf,
    /// When the screen is read next, and since when it moves.
    look_at: Option<Duration>,
    moving_since: Option<Duration>,
    told_at: Duration,
    agent: Option<AgentState>,
    /// Those that come first are typed first, one at a time.
    answers: VecDeque<PendingAnswer>,
    /// The dialog at the start that was answered last.
    answered_start: Vec<String>,
    /// Whether the screen has changed since the typist was told.
    has_changed: bool,
}

impl SupervisedTerminal {
    pub(super) fn new(
        hub: Arc<Hub>,
        open: OpenTerminal,
        Hooks { calls: hooks, first_prompt }: Hooks,
        prompts: PathBuf,
        secrets: Secrets,
    ) -> Self {
        let now = clock::uptime();
        Self {
            changes: hub.changes(),
            hub,
            open,
            hooks,
            secrets,
            typist: Typist::new(now),
            current: None,
            waiting: first_prompt.map(|text| QueuedPrompt { seq: None, text }).into_iter().collect(),
            prompts,
            look_at: Some(now),
            moving_since: None,
            told_at: now,
            agent: None,
            answers: VecDeque::new(),
            answered_start: Vec::new(),
            has_changed: false,
        }
    }

    /// Waits for what happens next.
    pub(super) async fn next(&mut self) -> TerminalEvent {
        let due = [self.look_at, self.typist.wake_at()].into_iter().flatten().min();
        let pause = due.map(|due| due.saturating_sub(clock::uptime()));
        tokio::select! {
            Some(payload) = self.hooks.recv() => TerminalEvent::Hook(payload),
            Some(answering) = self.open.answers.recv() => TerminalEvent::Answer(answering),
            () = sleep(pause.unwrap_or_default()), if pause.is_some() => TerminalEvent::Due,
            Ok(()) = self.changes.changed() => TerminalEvent::Changed,
            else => std::future::pending().await,
        }
    }

    /// Tells everyone who looks that the agent has ended, and keeps the last lines.
    pub(super) async fn end(self, end: TerminalEnd, last_lines: PathBuf) {
        let lines = self.hub.history(MAX_LAST_LINES).join("\n");
        // Nice to have.
        let _ = write_passing(&last_lines, lines.as_bytes());
        self.open.close(end).await;
    }

    /// The message that was typed and sent, and not confirmed yet.
    pub(super) fn entered(&self) -> Option<i64> {
        self.current.as_ref().filter(|_| self.typist.has_entered()).and_then(|prompt| prompt.seq)
    }

    fn changed(&mut self, now: Duration) {
        let since = *self.moving_since.get_or_insert(now);
        self.look_at = Some((now + STILL_TIME).min(since + LONGEST_MOVE));
        self.has_changed = true;
    }

    /// Whether the screen is to be read now.
    fn is_look_due(&mut self, now: Duration) -> bool {
        let is_due = self.look_at.is_some_and(|due| due <= now);
        if is_due {
            (self.look_at, self.moving_since) = (Some(now + LOOK_INTERVAL), None);
        }
        is_due
    }

    /// Reads the screen, and answers what can be answered.
    fn look(&mut self, journal: &mut Journal, now: Duration) {
        let lines = self.hub.lines();
        journal.screen(&self.secrets.clean_lines(lines.clone()), clock::now());
        self.answer_start(journal, &lines);
        self.answer(journal, &lines, now);
    }

    fn queue_answer(&mut self, answering: Answering, now: Duration) {
        let until = now + DIALOG_TIME;
        self.answers.push_back(PendingAnswer { answering, until, seen: Vec::new(), is_typed: false });
        self.look_at = Some(now + STILL_TIME);
    }

    /// Answers a dialog at the start of the agent that has one right answer.
    fn answer_start(&mut self, journal: &Journal, lines: &[String]) {
        if let Some(keys) = journal.start_keys(lines).filter(|_| self.answered_start != lines) {
            self.answered_start = lines.to_vec();
            self.hub.type_in(keys);
        }
    }

    /// Answers dialogs for people, when the screen stands still: an agent tells of a dialog before it shows it, and shows it
    /// before it takes keys.
    ///
    /// It is typed once: what comes after that may be another question.
    fn answer(&mut self, journal: &Journal, lines: &[String], now: Duration) {
        let Some(mut pending) = self.answers.pop_front() else { return };
        let keys = journal.permission_keys(pending.answering.answer, lines);
        let asks = self.agent.is_some_and(AgentState::needs_person);
        let is_still = pending.seen == lines;
        let end = match keys {
            _ if pending.is_typed && !is_still => Some(Ok(())),
            Some(keys) if !pending.is_typed && is_still => {
                self.hub.type_in(keys);
                pending.is_typed = true;
                None
            }
            _ if now >= pending.until && pending.is_typed => Some(Err(not_taken())),
            Some(_) if now < pending.until => None,
            None if asks && now < pending.until => None,
            _ => Some(Err(no_dialog())),
        };
        if let Some(end) = end {
            let _ = pending.answering.done.send(end);
        } else {
            pending.seen = lines.to_vec();
            self.answers.push_front(pending);
        }
        self.look_again(now);
    }

    fn look_again(&mut self, now: Duration) {
        if !self.answers.is_empty() {
            self.look_at = Some(now + ANSWER_INTERVAL);
        }
    }

    /// Takes note of what hooks and screen said.
    fn news(&mut self, journal: &mut Journal, now: Duration) -> Vec<TypingEffect> {
        let (state, prompted) = journal.terminal_news();
        self.typist.set_confirms(journal.tells_prompts());
        self.typist.observe(TypingInput::Draft(self.hub.draft()), now);
        if std::mem::take(&mut self.has_changed) {
            self.typist.observe(TypingInput::ScreenChanged, now);
        }
        if self.typist.has_pasted() {
            let is_empty = journal.shows_empty_input(&self.hub.lines());
            self.typist.observe(TypingInput::EmptyInput(is_empty), now);
        }
        // Whatever hooks say, a dialog on the screen would take a prompt for its answer.
        let shows_dialog = state == Some(AgentState::Idle)
            && !(self.typist.is_free() && self.waiting.is_empty())
            && journal.shows_dialog(&self.hub.lines());
        let state = if shows_dialog { Some(AgentState::AsksPermission) } else { state };
        let mut effects = Vec::new();
        if let Some(state) = state.filter(|state| self.agent != Some(*state)) {
            self.agent = Some(state);
            if state != AgentState::Idle {
                // It went into a dialog, or was sent.
                self.hub.forget_draft();
                self.typist.observe(TypingInput::Draft(self.hub.draft()), now);
            }
            effects.extend(self.typist.on(TypingInput::State(state), now));
        }
        for text in &prompted {
            effects.extend(self.typist.on(TypingInput::Prompted(text), now));
        }
        effects
    }

    /// Begins with the next prompt, if there is one. Fails with a sentence about one that cannot be typed; it gets no
    /// receipt, so the next run has it.
    fn next_prompt(&mut self, now: Duration) -> Result<Vec<TypingEffect>, String> {
        if !self.typist.is_free() {
            return Ok(Vec::new());
        }
        let Some(mut next) = self.waiting.pop_front() else { return Ok(Vec::new()) };
        if PromptForm::of(&next.text, self.hub.takes_paste()) == PromptForm::InFile {
            let path = self
                .write_file(&next)
                .map_err(|error| format!("a prompt could not be written to a file: {error}"))?;
            next.text = format!("Read the file {} and do what it says.", path.display());
        }
        let text = next.text.clone();
        self.current = Some(next);
        Ok(self.typist.begin(text, now))
    }

    fn carry_out(&mut self, effect: TypingEffect, mailbox: &mut Mailbox) -> Option<String> {
        let seq = self.current.as_ref().and_then(|prompt| prompt.seq);
        match effect {
            TypingEffect::Paste => {
                let text =
                    self.current.as_ref().map(|prompt| pasted(&prompt.text, self.hub.takes_paste()))?;
                self.hub.hold_keys();
                if !self.hub.type_in(text.into_bytes()) {
                    self.typist.give_up();
                    self.current = None;
                    return Some(
                        "a prompt could not be typed: the agent does not read its terminal".to_owned(),
                    );
                }
            }
            TypingEffect::PressEnter => {
                self.hub.type_in(b"\r".to_vec());
                if let Some(seq) = seq {
                    mailbox.typed(seq);
                }
            }
            TypingEffect::Seen => {
                self.current = None;
                if let Some(seq) = seq {
                    mailbox.typed_was_seen(seq);
                }
            }
            TypingEffect::Unconfirmed => {
                self.current = None;
                return Some("a prompt was typed, and the agent did not show that it got it".to_owned());
            }
        }
        None
    }

    fn write_file(&self, prompt: &QueuedPrompt) -> std::io::Result<PathBuf> {
        let name = format!("prompt-{}.md", prompt.seq.unwrap_or(0));
        write_beside_agent(&self.prompts, &name, prompt.text.as_bytes())
    }
}

impl Supervisor<'_> {
    /// Takes what happened to the terminal; says what that means for the supervision, if anything.
    pub(super) fn terminal_event(&mut self, event: TerminalEvent) -> Option<Input> {
        let (now, moment) = (clock::uptime(), clock::now());
        // A look at the screen is not a sign of work.
        let shows_work = matches!(event, TerminalEvent::Changed | TerminalEvent::Hook(_));
        let terminal = self.terminal.as_mut()?;
        match event {
            TerminalEvent::Changed => terminal.changed(now),
            TerminalEvent::Hook(payload) => self.journal.hook(&terminal.secrets.clean(&payload), moment),
            TerminalEvent::Answer(answering) => terminal.queue_answer(answering, now),
            TerminalEvent::Due if terminal.is_look_due(now) => terminal.look(&mut self.journal, now),
            TerminalEvent::Due => {}
        }
        let mut effects = terminal.news(&mut self.journal, now);
        effects.extend(terminal.typist.on(TypingInput::Wake, now));
        // What they are about comes before the next prompt.
        self.type_prompts(effects);
        match self.terminal.as_mut()?.next_prompt(now) {
            Ok(effects) => self.type_prompts(effects),
            Err(why) => self.warn(why),
        }
        self.note_seen();
        let terminal = self.terminal.as_mut()?;
        if !terminal.typist.holds_keys(now) {
            terminal.hub.release_keys();
        }
        if shows_work && now.saturating_sub(terminal.told_at) >= TELL_INTERVAL {
            terminal.told_at = now;
            return Some(Input::Output { shows_work, status: self.status() });
        }
        (!self.journal.is_empty()).then(|| Input::Status(self.status()))
    }

    /// Carries out what was decided about typing.
    fn type_prompts(&mut self, effects: Vec<TypingEffect>) {
        for effect in effects {
            let Some(terminal) = &mut self.terminal else { return };
            if let Some(text) = terminal.carry_out(effect, &mut self.mailbox) {
                self.warn(text);
            }
        }
    }

    /// Queues the messages at hand to be typed, one after the other. Whether more may be taken from the store.
    pub(super) fn queue_prompts(&mut self) -> bool {
        let Some(terminal) = &mut self.terminal else { return false };
        if self.undelivered.is_empty() {
            return terminal.waiting.is_empty();
        }
        let seqs: Vec<i64> = self.undelivered.iter().map(|message| message.seq).collect();
        self.mailbox.took(&seqs);
        let messages = self.undelivered.drain(..);
        terminal
            .waiting
            .extend(messages.map(|ReadyMessage { seq, text }| QueuedPrompt { seq: Some(seq), text }));
        // What can be typed now is typed at once.
        terminal.look_at = Some(clock::uptime());
        false
    }
}

fn not_taken() -> Problem {
    Problem::new(Code::NoDialog, "the answer was typed, and the dialog still looks the same")
        .hint("`fleet attach ID` shows its screen")
}

fn no_dialog() -> Problem {
    Problem::new(Code::NoDialog, "the agent shows no permission dialog with this answer")
        .hint("`fleet attach ID` shows its screen")
}

/// The same for an agent without a terminal, to which nothing ever happens.
pub(super) async fn next_event(terminal: &mut Option<SupervisedTerminal>) -> TerminalEvent {
    match terminal {
        Some(terminal) => terminal.next().await,
        None => std::future::pending().await,
    }
}
