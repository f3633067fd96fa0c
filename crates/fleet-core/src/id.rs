//! Ids: short, sortable by creation, safe against typing errors, unique across machines.
//!
//! An id is a letter for its kind, thirteen base-32 characters and a check character: `t0m3k9x2a4f7q1c`. Forty bits of
//! milliseconds since 2026 come first, so ids sort by creation and the first seven characters tell tasks apart that
//! were made more than a second apart; then twenty-five random bits. Ids of one process in one millisecond count upward
//! from a random start. If two processes still draw the same number, the store's primary key refuses the second, which
//! draws again.
//!
//! The alphabet has no `i l o u`; upper case and the look-alikes `i l o` are folded when reading. The check
//! character is a code over GF(32), so one wrong character or two swapped neighbours never name another thing.

use std::fmt;
use std::str::FromStr;

use crate::time::Millis;

const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
/// 2026-01-01T00:00:00Z. Forty bits of milliseconds last until 2060.
const EPOCH: i64 = 1_767_225_600_000;
const TIME_BITS: u32 = 40;
const RANDOM_BITS: u32 = 25;
const PAYLOAD: usize = 13;
/// Letter, payload, check character.
const LENGTH: usize = PAYLOAD + 2;
/// The end of an id that lists show. It is random where the beginning is a time, so tasks that were added together
/// differ in it.
const SHORT: usize = 5;

/// The text is not an id, or not one of this kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    #[error("an id is empty")]
    Empty,
    /// A character outside the alphabet.
    #[error("{text:?} is not an id: {character:?} never occurs in one")]
    Character { text: String, character: char },
    #[error("{text:?} is not an id: it is longer than {LENGTH} characters")]
    TooLong { text: String },
    /// All characters are there, but the last does not fit the others.
    #[error("{text:?} is mistyped: its last character does not match the others")]
    Mistyped { text: String },
    /// A whole id was needed.
    #[error("{text:?} is only the beginning of an id")]
    Incomplete { text: String },
    #[error("{text:?} is the id of a {is}, not of a {wanted}")]
    OtherKind { text: String, is: &'static str, wanted: &'static str },
}

impl IdError {
    /// Whether the text was surely meant as an id; otherwise it may be the name of something else.
    pub fn is_about_an_id(&self) -> bool {
        match self {
            Self::Mistyped { text } | Self::OtherKind { text, .. } => text.trim().len() == LENGTH,
            Self::Empty | Self::Character { .. } | Self::TooLong { .. } | Self::Incomplete { .. } => false,
        }
    }
}

/// The letters that ids begin with, and what they stand for.
const KINDS: [(u8, &str); 5] =
    [(b'p', "project"), (b'r', "run"), (b's', "batch"), (b't', "task"), (b'w', "workflow")];

/// What makes an id type: its letter and its word.
pub trait IdKind: Copy + Sized {
    const LETTER: u8;
    const NOUN: &'static str;

    /// The id with these characters, which were checked.
    fn from_raw(raw: RawId) -> Self;
}

/// The characters of an id of any kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RawId([u8; LENGTH]);

impl RawId {
    fn as_str(&self) -> &str {
        // Only ASCII is ever stored; an empty answer would be a defect that every test would show.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

macro_rules! id_types {
    ($($(#[doc = $doc:literal])+ $name:ident, $letter:literal, $noun:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(RawId);

        impl IdKind for $name {
            const LETTER: u8 = $letter;
            const NOUN: &'static str = $noun;
            fn from_raw(raw: RawId) -> Self {
                Self(raw)
            }
        }

        impl $name {
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// Its last characters: what lists show, and what is enough to type.
            pub fn short(&self) -> &str {
                &self.as_str()[LENGTH - SHORT..]
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl FromStr for $name {
            type Err = IdError;
            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let example = IdMaker::default().next::<Self>(Millis(EPOCH), 7);
                schemars::json_schema!({"type": "string", "examples": [example]})
            }
        }
    )+};
}

id_types! {
    /// Names a task.
    TaskId, b't', "task";
    /// Names a run.
    RunId, b'r', "run";
    /// Names a project.
    ProjectId, b'p', "project";
    /// Names a batch: a set of tasks that were added together. Not `b`, which ids without their letter begin with
    /// from 2037 on.
    BatchId, b's', "batch";
    /// Names a workflow: one that runs or ran, not the file it came from.
    WorkflowId, b'w', "workflow";
}

/// The beginning of an id, as typed by a person: folded, with its kind's letter in front.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdPrefix<K> {
    text: String,
    kind: std::marker::PhantomData<K>,
}

impl<K: IdKind> IdPrefix<K> {
    /// Reads what a person typed; the kind's letter may be left out.
    pub fn parse(typed: &str) -> Result<Self, IdError> {
        let text = fold::<K>(typed)?;
        if text.len() == LENGTH {
            check::<K>(&text, typed)?;
        }
        Ok(Self { text, kind: std::marker::PhantomData })
    }

    /// The folded text that ids of this kind may begin with.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The end of an id, as typed by a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdSuffix(String);

impl IdSuffix {
    /// Reads what a person typed; `None` if no id can end like this. A shorter text than the short form would be the end
    /// of many ids by chance.
    pub fn parse(typed: &str) -> Option<Self> {
        let text = typed.trim().to_ascii_lowercase();
        let is_one = (SHORT..LENGTH).contains(&text.len());
        (is_one && text.bytes().all(|character| value_of(character).is_some())).then_some(Self(text))
    }

    /// The text that ids end with.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn parse<K: IdKind>(typed: &str) -> Result<K, IdError> {
    let text = fold::<K>(typed)?;
    if text.len() < LENGTH {
        return Err(IdError::Incomplete { text: typed.to_owned() });
    }
    check::<K>(&text, typed)
}

fn check<K: IdKind>(text: &str, typed: &str) -> Result<K, IdError> {
    let mistyped = || IdError::Mistyped { text: typed.to_owned() };
    let raw: [u8; LENGTH] = text.as_bytes().try_into().map_err(|_| mistyped())?;
    if check_character(&raw[..LENGTH - 1]) != Some(raw[LENGTH - 1]) {
        return Err(mistyped());
    }
    Ok(K::from_raw(RawId(raw)))
}

/// Lower case, look-alikes replaced, the kind's letter in front.
fn fold<K: IdKind>(typed: &str) -> Result<String, IdError> {
    let trimmed = typed.trim();
    if trimmed.is_empty() {
        return Err(IdError::Empty);
    }
    let mut text = String::with_capacity(LENGTH);
    for character in trimmed.chars() {
        let folded = match character.to_ascii_lowercase() {
            'o' => '0',
            'i' | 'l' => '1',
            other => other,
        };
        if value_of(u8::try_from(folded).unwrap_or(0)).is_none() {
            return Err(IdError::Character { text: typed.to_owned(), character });
        }
        text.push(folded);
    }
    with_letter::<K>(text, typed)
}

fn with_letter<K: IdKind>(text: String, typed: &str) -> Result<String, IdError> {
    let first = text.as_bytes()[0];
    // The first time character reaches the smallest kind letter only in 2050, so a letter is a letter.
    let text = match KINDS.iter().find(|(letter, _)| *letter == first) {
        Some((letter, _)) if *letter == K::LETTER => text,
        Some((_, is)) => return Err(IdError::OtherKind { text: typed.to_owned(), is, wanted: K::NOUN }),
        None => format!("{}{text}", char::from(K::LETTER)),
    };
    if text.len() > LENGTH {
        return Err(IdError::TooLong { text: typed.to_owned() });
    }
    Ok(text)
}

fn value_of(character: u8) -> Option<u8> {
    ALPHABET.iter().position(|c| *c == character).and_then(|at| u8::try_from(at).ok())
}

/// Σ vᵢ·αⁱ over GF(32): with fewer than 31 characters every single substitution and every swap of neighbours
/// changes the sum.
fn check_character(characters: &[u8]) -> Option<u8> {
    let mut sum = 0;
    for character in characters.iter().rev() {
        sum = times_alpha(sum ^ value_of(*character)?);
    }
    Some(ALPHABET[usize::from(sum)])
}

/// Multiplication by the generator of GF(32) with x⁵ + x² + 1.
fn times_alpha(value: u8) -> u8 {
    let shifted = value << 1;
    if shifted & 0b10_0000 == 0 { shifted } else { (shifted ^ 0b10_0101) & 0b1_1111 }
}

/// Makes ids. Keeps the last one, so that ids of one process always grow.
#[derive(Debug, Default)]
pub struct IdMaker {
    last: u128,
}

impl IdMaker {
    /// The next id. `entropy` is any random number; only its low bits are used, and only when `now` moved on.
    pub fn next<K: IdKind>(&mut self, now: Millis, entropy: u64) -> K {
        let elapsed = u128::try_from(now.0.saturating_sub(EPOCH)).unwrap_or(0).min((1 << TIME_BITS) - 1);
        let random = u128::from(entropy) & ((1 << RANDOM_BITS) - 1);
        let drawn = elapsed << RANDOM_BITS | random;
        let same_or_earlier = self.last >> RANDOM_BITS >= elapsed;
        self.last = if same_or_earlier && self.last > 0 { self.last + 1 } else { drawn };
        K::from_raw(RawId(encode(K::LETTER, self.last)))
    }
}

fn encode(letter: u8, number: u128) -> [u8; LENGTH] {
    let mut raw = [letter; LENGTH];
    for (at, slot) in raw[1..=PAYLOAD].iter_mut().enumerate() {
        let shift = 5 * (PAYLOAD - 1 - at);
        *slot = ALPHABET[usize::try_from(number >> shift & 0b1_1111).unwrap_or(0)];
    }
    raw[LENGTH - 1] = check_character(&raw[..LENGTH - 1]).unwrap_or(b'0');
    raw
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Millis = Millis(EPOCH + 27_000_000_000);

    #[test]
    fn ids_are_short_sorted_and_readable_back() {
        let mut maker = IdMaker::default();
        let ids: Vec<TaskId> = (0..1_000)
            .map(|n: i64| maker.next(Millis(NOW.0 + n / 100), u64::MAX - n.unsigned_abs()))
            .collect();
        assert!(ids.windows(2).all(|pair| pair[0] < pair[1] && pair[0].as_str() < pair[1].as_str()));
        for id in ids {
            assert_eq!(id.as_str().len(), 15);
            assert_eq!(id.as_str().parse(), Ok(id));
        }
    }

    #[test]
    fn a_clock_that_goes_back_does_not_make_an_id_twice() {
        let mut maker = IdMaker::default();
        let first: RunId = maker.next(NOW, 7);
        let second: RunId = maker.next(Millis(NOW.0 - 5_000), 7);
        assert!(second > first);
    }

    #[test]
    fn the_short_form_is_an_end_that_can_be_typed() {
        let mut maker = IdMaker::default();
        let ids: Vec<TaskId> = (0..100).map(|_| maker.next(NOW, 77)).collect();
        let mut short: Vec<&str> = ids.iter().map(TaskId::short).collect();
        assert!(ids.iter().all(|id| id.as_str().ends_with(id.short())));
        assert!(short.iter().all(|text| IdSuffix::parse(text).is_some()));
        short.dedup();
        assert_eq!(short.len(), 100);
        for typed in ["", "abc", "main", "login-a", ids[0].as_str()] {
            assert_eq!(IdSuffix::parse(typed), None, "{typed}");
        }
        assert_eq!(IdSuffix::parse(" ABCDE ").unwrap().as_str(), "abcde");
    }

    #[test]
    fn look_alikes_and_case_are_folded() {
        let id: TaskId = IdMaker::default().next(NOW, 33);
        let sloppy = id.as_str().to_uppercase().replace('0', "O").replace('1', "L");
        assert_eq!(sloppy.parse(), Ok(id));
        assert_eq!(IdPrefix::<TaskId>::parse(&sloppy[1..]).map(|prefix| prefix.text), Ok(id.to_string()));
    }

    #[test]
    fn wrong_texts_say_why() {
        let run: RunId = IdMaker::default().next(NOW, 1);
        let text = |result: Result<TaskId, IdError>| result.unwrap_err().to_string();
        assert_eq!(text("".parse()), "an id is empty");
        assert_eq!(text("t0u".parse()), "\"t0u\" is not an id: 'u' never occurs in one");
        assert_eq!(text("t0m3".parse()), "\"t0m3\" is only the beginning of an id");
        assert!(text(run.as_str().parse()).ends_with("is the id of a run, not of a task"));
        assert!(text("t0m3k9x2a4f7q1c0000".parse()).ends_with("longer than 15 characters"));
        assert!(matches!("tést".parse::<TaskId>(), Err(IdError::Character { character: 'é', .. })));
    }

    proptest! {
        #[test]
        fn one_wrong_character_never_names_another_task(
            offset in 0..1_000_000_000_i64, entropy: u64, at in 1..LENGTH, wrong in 0..32_usize,
        ) {
            let id: TaskId = IdMaker::default().next(Millis(EPOCH + offset), entropy);
            let mut raw = id.0.0;
            prop_assume!(raw[at] != ALPHABET[wrong]);
            raw[at] = ALPHABET[wrong];
            let typed = String::from_utf8(raw.to_vec()).unwrap();
            prop_assert!(typed.parse::<TaskId>().is_err());
        }

        #[test]
        fn swapped_neighbours_never_name_another_task(
            offset in 0..1_000_000_000_i64, entropy: u64, at in 1..LENGTH - 1,
        ) {
            let id: TaskId = IdMaker::default().next(Millis(EPOCH + offset), entropy);
            let mut raw = id.0.0;
            prop_assume!(raw[at] != raw[at + 1]);
            raw.swap(at, at + 1);
            let typed = String::from_utf8(raw.to_vec()).unwrap();
            prop_assert!(typed.parse::<TaskId>().is_err());
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = text.parse::<TaskId>();
            let _ = IdPrefix::<RunId>::parse(&text);
        }
    }
}
