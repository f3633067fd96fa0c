//! Questions of agents to people: what a question has to be, and which answer it takes.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::MessageId;
use crate::id::RunId;
use crate::run::Reason;
use crate::task::{FieldError, PromptText, TaskMove};
use crate::time::Millis;

/// More options than this are a text, not a choice.
const MAX_OPTIONS: usize = 20;
/// The longest option, in characters.
const LONGEST_OPTION: usize = 500;
/// A task has at most this many open questions: nobody answers more, and an agent that loops must not fill the inbox.
pub const MAX_OPEN: usize = 20;
/// Answers by itself, for people who read who answered.
pub const BY_DEFAULT: &str = "the default";

/// The answer that counts when nobody answers in time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultAnswer {
    pub text: String,
    pub at: Millis,
}

/// What an agent asks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuestionDraft {
    pub text: PromptText,
    /// The answers to choose from; any answer, if there are none.
    pub options: Vec<String>,
    pub default: Option<DefaultAnswer>,
    /// Whether the run ends, instead of waiting for the answer.
    pub park: bool,
}

impl QuestionDraft {
    /// Refuses what cannot be answered; options are trimmed.
    pub fn checked(mut self) -> Result<Self, FieldError> {
        let wrong = |why: String| Err(FieldError { field: "option", why });
        if self.options.len() > MAX_OPTIONS {
            return wrong(format!(
                "{} options are given, at most {MAX_OPTIONS} are allowed",
                self.options.len()
            ));
        }
        for option in &mut self.options {
            *option = option.trim().to_owned();
        }
        for (number, option) in self.options.iter().enumerate() {
            if option.is_empty() || option.contains(['\n', '\0']) {
                return wrong("an option is one line of text".to_owned());
            }
            if option.chars().count() > LONGEST_OPTION {
                return wrong(format!("an option has at most {LONGEST_OPTION} characters"));
            }
            if self.options[..number].iter().any(|earlier| is_same(earlier, option)) {
                return wrong(format!("{option:?} is given twice"));
            }
        }
        if let Some(default) = &mut self.default {
            // It becomes a part of a message to the agent, and nobody is there when it is refused then.
            if default.text.contains(['\n', '\0']) || default.text.chars().count() > LONGEST_OPTION {
                let why = format!("it is one line of at most {LONGEST_OPTION} characters");
                return Err(FieldError { field: "default", why });
            }
            default.text = choose(&self.options, &default.text)
                .map_err(|refusal| FieldError { field: "default", why: refusal.to_string() })?;
        }
        Ok(self)
    }
}

/// An answer that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenAnswer {
    /// What was answered.
    pub text: String,
    /// Who answered.
    pub by: String,
    /// When.
    pub at: Millis,
}

/// A question of an agent to a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    pub id: MessageId,
    /// The run whose agent asked; none if it was asked in a way that an earlier version did not note.
    pub run: Option<RunId>,
    pub text: PromptText,
    pub options: Vec<String>,
    pub default: Option<DefaultAnswer>,
    /// Its run ended with it, or does.
    pub is_parked: bool,
    pub asked_at: Millis,
    /// It takes no answer since then: its task was settled or continued without one.
    pub withdrawn_at: Option<Millis>,
    pub answer: Option<GivenAnswer>,
}

/// An answer, as somebody gives it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedAnswer {
    /// The number of an option, or its text; any text where there are no options.
    Choice(String),
    /// Any text, even where there are options.
    OwnWords(String),
    /// The time is over: the default.
    Default,
}

/// Why an answer is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AnswerRefusal {
    /// Somebody was faster.
    #[error("{} has answered it: {}", .0.by, .0.text)]
    Answered(GivenAnswer),
    #[error("it takes no answer any more: its task continued or ended without one")]
    Withdrawn,
    #[error("{typed:?} is not one of its options: {}", numbered(options))]
    NoSuchOption { typed: String, options: Vec<String> },
    #[error("the answer is empty")]
    Empty,
    /// The time of its default has not come.
    #[error("it has no default that is due")]
    NotDue,
}

impl Question {
    pub const fn is_open(&self) -> bool {
        self.answer.is_none() && self.withdrawn_at.is_none()
    }

    /// The text of the answer, if this one is taken. The first is: all others are refused.
    pub fn take(&self, typed: &TypedAnswer, now: Millis) -> Result<String, AnswerRefusal> {
        if let Some(given) = &self.answer {
            return Err(AnswerRefusal::Answered(given.clone()));
        }
        if self.withdrawn_at.is_some() {
            return Err(AnswerRefusal::Withdrawn);
        }
        match typed {
            TypedAnswer::Choice(text) => choose(&self.options, text),
            TypedAnswer::OwnWords(text) => choose(&[], text),
            TypedAnswer::Default => {
                let due = self.default.as_ref().filter(|default| default.at <= now);
                due.map(|default| default.text.clone()).ok_or(AnswerRefusal::NotDue)
            }
        }
    }

    /// As the agent gets it if it did not wait: it may not remember what it asked.
    pub fn with_answer(&self, answer: &str) -> String {
        format!("You asked: {}\nThe answer: {answer}", self.text.as_str())
    }
}

/// What is meant by the text of an answer.
fn choose(options: &[String], typed: &str) -> Result<String, AnswerRefusal> {
    let text = typed.trim();
    if text.is_empty() {
        return Err(AnswerRefusal::Empty);
    }
    if options.is_empty() {
        return Ok(text.to_owned());
    }
    // An option that is a number itself is meant by its text.
    let by_text = || options.iter().find(|option| is_same(option, text));
    let by_number = || text.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    by_text()
        .or_else(by_number)
        .cloned()
        .ok_or_else(|| AnswerRefusal::NoSuchOption { typed: text.to_owned(), options: options.to_vec() })
}

fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}

/// Options as people choose from them: `1 yes, 2 no`.
pub fn numbered(options: &[String]) -> String {
    let mut list = String::new();
    for (number, option) in options.iter().enumerate() {
        let comma = if number == 0 { "" } else { ", " };
        let _ = write!(list, "{comma}{} {option}", number + 1);
    }
    list
}

/// Whether a task with an open question waits for the answer, although the end of its run would have queued it again: what
/// was asked in place goes on as parked when the run is lost, released or retried. A run that was lost too often is no
/// reason to give up, either: a person looks at it now.
pub const fn waits_instead(event: TaskMove, reason: Option<Reason>) -> bool {
    matches!((event, reason), (TaskMove::Requeue, _) | (TaskMove::Fail, Some(Reason::Lost)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::IdMaker;

    fn question(options: &[&str], default: Option<(&str, i64)>) -> Question {
        let task = IdMaker::default().next(Millis(1_800_000_000_000), 1);
        Question {
            id: MessageId { task, seq: 2 },
            run: None,
            text: "Which one?".parse().unwrap(),
            options: options.iter().map(ToString::to_string).collect(),
            default: default.map(|(text, at)| DefaultAnswer { text: text.to_owned(), at: Millis(at) }),
            is_parked: false,
            asked_at: Millis(1),
            withdrawn_at: None,
            answer: None,
        }
    }

    fn typed(question: &Question, text: &str) -> Result<String, AnswerRefusal> {
        question.take(&TypedAnswer::Choice(text.to_owned()), Millis(5))
    }

    #[test]
    fn an_answer_is_an_option_or_its_number() {
        let asked = question(&["SQLite", "7", "Both"], None);
        for (text, meant) in [("1", "SQLite"), (" sqlite ", "SQLite"), ("3", "Both"), ("7", "7")] {
            assert_eq!(typed(&asked, text).as_deref(), Ok(meant), "{text}");
        }
        for text in ["0", "4", "neither", "-1"] {
            let refusal = typed(&asked, text).unwrap_err();
            assert!(matches!(refusal, AnswerRefusal::NoSuchOption { .. }), "{text}");
        }
        assert_eq!(
            typed(&asked, "none").unwrap_err().to_string(),
            "\"none\" is not one of its options: 1 SQLite, 2 7, 3 Both"
        );
        let own = asked.take(&TypedAnswer::OwnWords("neither".to_owned()), Millis(5));
        assert_eq!(own.as_deref(), Ok("neither"));
        assert_eq!(typed(&question(&[], None), "1").as_deref(), Ok("1"), "nothing to choose from");
        assert_eq!(typed(&asked, " \n").unwrap_err(), AnswerRefusal::Empty);
    }

    #[test]
    fn a_default_is_one_short_line() {
        let draft = |text: &str| QuestionDraft {
            text: "Which one?".parse().unwrap(),
            options: Vec::new(),
            default: Some(DefaultAnswer { text: text.to_owned(), at: Millis(5) }),
            park: true,
        };
        assert!(draft("go on").checked().is_ok());
        for text in ["a\0b", "a\nb", " ", &"x".repeat(LONGEST_OPTION + 1)] {
            assert_eq!(draft(text).checked().unwrap_err().field, "default", "{text:?}");
        }
    }

    #[test]
    fn the_first_answer_stays() {
        let given = GivenAnswer { text: "SQLite".to_owned(), by: "ada".to_owned(), at: Millis(3) };
        let answered = Question { answer: Some(given), ..question(&[], Some(("x", 1))) };
        assert!(!answered.is_open());
        assert_eq!(typed(&answered, "Both").unwrap_err().to_string(), "ada has answered it: SQLite");
        assert!(matches!(answered.take(&TypedAnswer::Default, Millis(9)), Err(AnswerRefusal::Answered(_))));
        let withdrawn = Question { withdrawn_at: Some(Millis(4)), ..question(&[], None) };
        assert_eq!((withdrawn.is_open(), typed(&withdrawn, "x")), (false, Err(AnswerRefusal::Withdrawn)));
    }

    #[test]
    fn a_default_answers_when_its_time_has_come() {
        let asked = question(&["a", "b"], Some(("b", 10)));
        let default = |now| asked.take(&TypedAnswer::Default, Millis(now));
        assert_eq!(default(9), Err(AnswerRefusal::NotDue));
        assert_eq!(default(10).as_deref(), Ok("b"));
        assert_eq!(question(&[], None).take(&TypedAnswer::Default, Millis(99)), Err(AnswerRefusal::NotDue));
    }

    #[test]
    fn what_cannot_be_answered_is_not_asked() {
        let draft = |options: &[&str], default: Option<&str>| QuestionDraft {
            text: "Which?".parse().unwrap(),
            options: options.iter().map(ToString::to_string).collect(),
            default: default.map(|text| DefaultAnswer { text: text.to_owned(), at: Millis(9) }),
            park: false,
        };
        let why = |options: &[&str], default| draft(options, default).checked().unwrap_err();
        assert_eq!(why(&["a", "A "], None).why, "\"A\" is given twice");
        assert_eq!(why(&[" "], None).why, "an option is one line of text");
        assert_eq!(why(&["a\nb"], None).why, "an option is one line of text");
        assert_eq!(why(&["x".repeat(501).as_str()], None).field, "option");
        assert_eq!(why(&[""; 21], None).why, "21 options are given, at most 20 are allowed");
        let wrong = why(&["a", "b"], Some("c"));
        assert_eq!(
            (wrong.field, wrong.why.as_str()),
            ("default", "\"c\" is not one of its options: 1 a, 2 b")
        );
        let right = draft(&[" yes ", "no"], Some("2")).checked().unwrap();
        assert_eq!((right.options[0].as_str(), right.default.unwrap().text.as_str()), ("yes", "no"));
    }

    #[test]
    fn only_a_task_that_would_be_tried_again_waits_instead() {
        let waits = |reason| {
            let waits = TaskMove::ALL.iter().copied().filter(move |event| waits_instead(*event, reason));
            waits.collect::<Vec<_>>()
        };
        assert_eq!(waits(None), [TaskMove::Requeue]);
        assert_eq!(waits(Some(Reason::Auth)), [TaskMove::Requeue]);
        assert_eq!(waits(Some(Reason::Lost)), [TaskMove::Fail, TaskMove::Requeue]);
    }
}
