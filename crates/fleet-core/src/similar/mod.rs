//! Which texts are about the same thing, by their words alone.
//!
//! Owns how a task's text is taken apart, how alike two of them are, and how well one answers a search; every answer
//! comes with what it rests on. The same texts always get the same answer. Must never be taken for understanding: it
//! misses tasks that say the same in other words, and a caller should read the reasons before it acts on a score.
//!
//! A word counts the more, the fewer of the compared texts have it. Titles are compared by their letters, too, so that
//! a typing error does not hide a duplicate. Embeddings were left out: they need a model, and so a network or a
//! gigabyte.

#[cfg(test)]
mod tests;
mod words;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use self::words::{TextToken, trigrams};

/// How many characters of a description are compared: the beginning says what a task is about.
pub const LONGEST_COMPARED: usize = 4_000;
/// At most this many shared words, and as many paths, are named as reasons.
const MAX_NAMED: usize = 8;
/// A word of a title says more than one of a description.
const IN_TITLE: f64 = 3.0;
/// What a word of a search is worth where it is found, of one in the title.
const IN_BODY: f64 = 0.7;
const IN_LABELS: f64 = 0.9;
/// The same for a word that only begins like the one that was searched for.
const PREFIX_WEIGHT: f64 = 0.6;
/// Equal titles alone never make two tasks equal.
const TITLE_ALONE: f64 = 0.85;

/// A text prepared for comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Text {
    title: String,
    trigrams: BTreeSet<[char; 3]>,
    /// By stem.
    words: BTreeMap<String, ScoredWord>,
    paths: BTreeSet<String>,
}

#[derive(Debug, Clone, Default, PartialEq)]
struct ScoredWord {
    /// As it is in the text, or first in the alphabet of several forms.
    form: String,
    in_title: u32,
    in_body: u32,
    in_labels: u32,
}

impl ScoredWord {
    /// How much the text is about it. Ten times the same word is not ten times as much.
    fn count(&self) -> f64 {
        let occurrences = f64::from(self.in_title) * IN_TITLE + f64::from(self.in_body + self.in_labels);
        1.0 + occurrences.max(1.0).ln()
    }

    /// How much a match at this place counts in a search.
    fn place(&self) -> f64 {
        match (self.in_title, self.in_labels) {
            (1.., _) => 1.0,
            (0, 1..) => IN_LABELS,
            (0, 0) => IN_BODY,
        }
    }
}

/// The parts of a task that are compared.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parts<'a> {
    pub title: &'a str,
    /// In as many lines as it takes; only [`LONGEST_COMPARED`] characters count.
    pub body: &'a str,
}

impl Text {
    pub fn new(parts: Parts<'_>) -> Self {
        let title = parts.title.trim().to_lowercase();
        let mut text = Self { trigrams: trigrams(&title), title, ..Self::default() };
        words::find(parts.title, &mut |found| text.take(found, |word| &mut word.in_title));
        let end = parts.body.char_indices().nth(LONGEST_COMPARED).map_or(parts.body.len(), |(at, _)| at);
        words::find(&parts.body[..end], &mut |found| text.take(found, |word| &mut word.in_body));
        text
    }

    /// A typed text; its first line counts as the title.
    pub fn typed(text: &str) -> Self {
        let (title, body) = text.trim_start().split_once('\n').unwrap_or((text, ""));
        Self::new(Parts { title, body })
    }

    /// With labels, which count as words, and with files that it is known to be about.
    #[must_use]
    pub fn with<'a>(
        mut self,
        labels: impl Iterator<Item = &'a str>,
        files: impl Iterator<Item = &'a str>,
    ) -> Self {
        for label in labels {
            words::find(label, &mut |found| self.take(found, |word| &mut word.in_labels));
        }
        for file in files {
            self.paths.insert(file.to_lowercase());
        }
        self
    }

    /// Whether it has no words.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.paths.is_empty()
    }

    fn take(&mut self, found: TextToken<'_>, place: fn(&mut ScoredWord) -> &mut u32) {
        let (stem, form) = match found {
            TextToken::Path(path) => {
                self.paths.insert(path.to_lowercase());
                return;
            }
            TextToken::Word { stem, form } => (stem, form),
        };
        let word = self.words.entry(stem).or_default();
        if word.form.is_empty() || form < word.form {
            word.form = form;
        }
        let count = place(word);
        *count = count.saturating_add(1);
    }
}

/// How similar two texts are, or how well one matches a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Similarity {
    /// From 0, nothing in common, to 1, the same.
    pub score: f64,
    /// Words of both, those that say most first.
    pub words: Vec<String>,
    pub paths: Vec<String>,
}

/// How often words occur in a set of texts: what few have says more than what all have.
#[derive(Debug, Clone, Default)]
pub struct Corpus {
    texts: u32,
    with_word: BTreeMap<String, u32>,
}

impl Corpus {
    /// Counts the words of the texts that are compared.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a Text>) -> Self {
        let mut corpus = Self::default();
        for text in texts {
            corpus.texts = corpus.texts.saturating_add(1);
            for stem in text.words.keys() {
                *corpus.with_word.entry(stem.clone()).or_default() += 1;
            }
        }
        corpus
    }

    /// Never nothing: in a queue of two tasks every shared word is a word of all of them.
    fn weight(&self, stem: &str) -> f64 {
        let with = self.with_word.get(stem).copied().unwrap_or(0);
        (1.0 + (f64::from(self.texts) + 1.0) / (f64::from(with) + 1.0)).ln()
    }

    /// How similar two texts are, in either order; 1 if equal.
    pub fn compare(&self, a: &Text, b: &Text) -> Similarity {
        let all = self.cosine(a, b, ScoredWord::count);
        let by_words = self.cosine(a, b, |word| f64::from(word.in_title.min(1)));
        let title = by_words.max(dice(&a.trigrams, &b.trigrams));
        let words = f64::midpoint(all, title).max(title * TITLE_ALONE);
        // Files in common bring two texts nearer; that one of them names none says nothing.
        let shared: Vec<String> = a.paths.intersection(&b.paths).cloned().collect();
        let either = a.paths.union(&b.paths).count().max(1);
        let score = words + (1.0 - words) * 0.25 * ratio(shared.len(), either);
        let score = if a == b { 1.0 } else { score };
        Similarity { score: rounded(score), words: self.shared(a, b), paths: first(shared) }
    }

    /// How well a text answers a search: the part of what was searched for that it has.
    pub fn relevance(&self, query: &Text, text: &Text) -> Similarity {
        let (mut whole, mut part, mut hits) = (0.0, 0.0, Vec::new());
        for (stem, asked) in &query.words {
            let weight = self.weight(stem);
            whole += weight;
            let Some((word, worth)) = best(text, stem, &asked.form) else { continue };
            part += weight * worth;
            hits.push((weight * worth, word.form.clone()));
        }
        let mut paths = Vec::new();
        for path in &query.paths {
            let weight = self.weight(path);
            whole += weight;
            if let Some(found) = text.paths.iter().find(|own| is_part(own, path)) {
                part += weight;
                paths.push(found.clone());
            }
        }
        let score = if whole > 0.0 { part / whole } else { 0.0 };
        Similarity { score: rounded(score), words: heaviest(hits), paths: first(paths) }
    }

    /// The angle between two texts, each word being a direction.
    fn cosine(&self, a: &Text, b: &Text, count: fn(&ScoredWord) -> f64) -> f64 {
        let length = |text: &Text| {
            let squares = text.words.iter().map(|(stem, word)| (count(word) * self.weight(stem)).powi(2));
            squares.sum::<f64>().sqrt()
        };
        let both = in_both(a, b).map(|(stem, one, other)| {
            let weight = self.weight(stem);
            (count(one) * weight) * (count(other) * weight)
        });
        let lengths = length(a) * length(b);
        if lengths > 0.0 { both.sum::<f64>() / lengths } else { 0.0 }
    }

    fn shared(&self, a: &Text, b: &Text) -> Vec<String> {
        let weighed = in_both(a, b).map(|(stem, one, other)| {
            let form = if one.form <= other.form { &one.form } else { &other.form };
            (self.weight(stem) * (one.count() + other.count()), form.clone())
        });
        heaviest(weighed.collect())
    }
}

fn in_both<'t>(
    a: &'t Text,
    b: &'t Text,
) -> impl Iterator<Item = (&'t String, &'t ScoredWord, &'t ScoredWord)> {
    a.words.iter().filter_map(|(stem, one)| Some((stem, one, b.words.get(stem)?)))
}

/// Where a word that was searched for stands best: itself, or one that begins with it.
fn best<'t>(text: &'t Text, stem: &str, form: &str) -> Option<(&'t ScoredWord, f64)> {
    if let Some(word) = text.words.get(stem) {
        return Some((word, word.place()));
    }
    // Stems are sorted, so those that begin alike stand together.
    let alike = text.words.range(stem.to_owned()..).take_while(|(other, _)| other.starts_with(stem));
    let alike = alike.map(|(_, word)| word).filter(|word| word.form.starts_with(form) && form.len() > 1);
    let worth = |word: &'t ScoredWord| (word, word.place() * PREFIX_WEIGHT);
    alike.map(worth).max_by(|a, b| a.1.total_cmp(&b.1).then_with(|| b.0.form.cmp(&a.0.form)))
}

/// Whether a path that was searched for is the other one, its end, or a folder above it.
fn is_part(path: &str, searched: &str) -> bool {
    let searched = searched.trim_matches('/');
    !searched.is_empty() && format!("/{path}/").contains(&format!("/{searched}/"))
}

/// The Dice coefficient of two sets.
fn dice<T: Ord>(a: &BTreeSet<T>, b: &BTreeSet<T>) -> f64 {
    ratio(2 * a.intersection(b).count(), a.len() + b.len())
}

fn ratio(part: usize, whole: usize) -> f64 {
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    if whole == 0 { 0.0 } else { number(part) / number(whole) }
}

/// More digits would promise what words cannot tell.
fn rounded(score: f64) -> f64 {
    (score.clamp(0.0, 1.0) * 1_000.0).round() / 1_000.0
}

fn heaviest(mut words: Vec<(f64, String)>) -> Vec<String> {
    words.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal).then_with(|| a.1.cmp(&b.1)));
    first(words.into_iter().map(|(_, word)| word).collect())
}

fn first(mut list: Vec<String>) -> Vec<String> {
    list.dedup();
    list.truncate(MAX_NAMED);
    list
}
