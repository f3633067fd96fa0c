//! What can be asked of the server: the word in the address that says how the model behaves.

use std::str::FromStr;

/// How the model behaves towards one run. The words are listed at [`super::ModelServer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scenario {
    Ok,
    Text,
    Shell,
    Fleet,
    Sleep,
    Busy,
    Mcp,
    Calls,
    Schema,
    BadSchema,
    Multi,
    Ask,
    Loop,
    Steps,
    Hang,
    HangMid,
    Slow { words: u32 },
    Trunc,
    StreamError,
    Overflow,
    OverflowInStream,
    Quota,
    Warn,
    Status(Status),
}

/// An error that the server answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: u16,
    /// How often, before all goes well; none is for ever.
    pub(super) times: Option<u32>,
    pub(super) wait: Wait,
}

/// How an error says when to come back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    /// As the vendor does: a second, for the errors that pass.
    Usual,
    /// Not at all.
    Unsaid,
    /// `retry-after`, in seconds.
    Seconds(u32),
    /// `retry-after`, as a date this many seconds from now.
    Date(u32),
    /// `retry-after-ms`.
    Millis(u32),
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no scenario `{0}`; see the table at `ModelServer`")]
pub(super) struct UnknownScenario(String);

const WORDS: [(&str, Scenario); 23] = [
    ("ok", Scenario::Ok),
    ("text", Scenario::Text),
    ("sh", Scenario::Shell),
    ("fleet", Scenario::Fleet),
    ("sleep", Scenario::Sleep),
    ("busy", Scenario::Busy),
    ("mcp", Scenario::Mcp),
    ("calls", Scenario::Calls),
    ("schema", Scenario::Schema),
    ("badschema", Scenario::BadSchema),
    ("multi", Scenario::Multi),
    ("ask", Scenario::Ask),
    ("loop", Scenario::Loop),
    ("steps", Scenario::Steps),
    ("hang", Scenario::Hang),
    ("hangmid", Scenario::HangMid),
    ("slow", Scenario::Slow { words: 30 }),
    ("trunc", Scenario::Trunc),
    ("sse-err", Scenario::StreamError),
    ("overflow", Scenario::Overflow),
    ("overflow-sse", Scenario::OverflowInStream),
    ("quota", Scenario::Quota),
    ("warn", Scenario::Warn),
];

impl FromStr for Scenario {
    type Err = UnknownScenario;

    fn from_str(word: &str) -> Result<Self, UnknownScenario> {
        let known = WORDS.iter().find(|(name, _)| *name == word).map(|(_, scenario)| *scenario);
        let slow = || word.strip_prefix("slowx")?.parse().ok().map(|words| Self::Slow { words });
        let status = || status(word).map(Self::Status);
        known.or_else(slow).or_else(status).ok_or_else(|| UnknownScenario(word.to_owned()))
    }
}

/// `NNN[xTIMES][-after-SECONDS | -date-SECONDS | -ms-MILLIS | -bare]`.
fn status(word: &str) -> Option<Status> {
    let (what, wait) = match word.split_once('-') {
        None => (word, Wait::Usual),
        Some((what, wait)) => (what, wait_of(wait)?),
    };
    let (code, times) = match what.split_once('x') {
        None => (what, None),
        Some((code, times)) => (code, Some(times.parse().ok()?)),
    };
    let code = code.parse().ok().filter(|code| (400..600).contains(code))?;
    Some(Status { code, times, wait })
}

fn wait_of(text: &str) -> Option<Wait> {
    if text == "bare" {
        return Some(Wait::Unsaid);
    }
    let (how, number) = text.split_once('-')?;
    let number = number.parse().ok()?;
    match how {
        "after" => Some(Wait::Seconds(number)),
        "date" => Some(Wait::Date(number)),
        "ms" => Some(Wait::Millis(number)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_its_own_scenario() {
        for (word, scenario) in WORDS {
            assert_eq!(word.parse(), Ok(scenario));
        }
        assert_eq!("slowx3".parse(), Ok(Scenario::Slow { words: 3 }));
    }

    #[test]
    fn errors_say_how_often_and_when_to_come_back() {
        let status = |code, times, wait| Ok(Scenario::Status(Status { code, times, wait }));
        assert_eq!("401".parse(), status(401, None, Wait::Usual));
        assert_eq!("429x2".parse(), status(429, Some(2), Wait::Usual));
        assert_eq!("429x1-after-2".parse(), status(429, Some(1), Wait::Seconds(2)));
        assert_eq!("503-date-30".parse(), status(503, None, Wait::Date(30)));
        assert_eq!("529-ms-250".parse(), status(529, None, Wait::Millis(250)));
        assert_eq!("429-bare".parse(), status(429, None, Wait::Unsaid));
    }

    #[test]
    fn other_words_are_refused() {
        for word in ["", "okay", "200", "700", "429x", "429-after", "429-after-x", "429-soon-1", "slowx"] {
            assert!(word.parse::<Scenario>().is_err(), "{word}");
        }
    }
}
