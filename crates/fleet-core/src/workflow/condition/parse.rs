//! How a condition is read.

use super::ConditionValue;

#[derive(Debug)]
pub(super) enum Expression {
    Value(ConditionValue),
    Name(String),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    Compare(Box<Self>, Comparison, Box<Self>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
}

/// Deeper than real conditions nest; a text made of parentheses must not use up the stack.
const MAX_DEPTH: usize = 50;

#[derive(Debug, Clone, Copy, PartialEq)]
enum ConditionToken<'t> {
    Word(&'t str),
    Text(&'t str),
    Compare(Comparison),
    Open,
    Close,
}

pub(super) fn expression(text: &str) -> Result<Expression, String> {
    let tokens = tokens(text)?;
    if tokens.is_empty() {
        return Err("it is empty".to_owned());
    }
    let mut parser = ConditionParser { tokens: &tokens, at: 0 };
    let whole = parser.or(0)?;
    match parser.peek() {
        None => Ok(whole),
        Some(ConditionToken::Close) => Err("a ( is missing".to_owned()),
        Some(token) => Err(format!("{:?} found where `and`, `or` or a comparison is expected", shown(token))),
    }
}

pub(super) fn names(text: &str) -> Vec<&str> {
    let is_name = |word: &&str| !is_literal(word) && !matches!(*word, "and" | "or" | "not");
    let words = tokens(text).unwrap_or_default().into_iter().filter_map(|token| match token {
        ConditionToken::Word(word) => Some(word),
        _ => None,
    });
    words.filter(is_name).collect()
}

fn is_literal(word: &str) -> bool {
    literal(word).is_some()
}

fn literal(word: &str) -> Option<ConditionValue> {
    match word {
        "true" => Some(ConditionValue::Bool(true)),
        "false" => Some(ConditionValue::Bool(false)),
        "null" => Some(ConditionValue::Null),
        _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
            word.parse().ok().map(ConditionValue::Number)
        }
        _ => None,
    }
}

fn shown(token: ConditionToken<'_>) -> String {
    match token {
        ConditionToken::Word(word) => word.to_owned(),
        ConditionToken::Text(text) => format!("'{text}'"),
        ConditionToken::Compare(_) => "a comparison".to_owned(),
        ConditionToken::Open => "(".to_owned(),
        ConditionToken::Close => ")".to_owned(),
    }
}

fn tokens(text: &str) -> Result<Vec<ConditionToken<'_>>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '(' => (ConditionToken::Open, 1),
            ')' => (ConditionToken::Close, 1),
            '\'' | '"' => {
                let end = rest[1..].find(first).ok_or_else(|| "a quotation mark is missing".to_owned())?;
                (ConditionToken::Text(&rest[1..=end]), end + 2)
            }
            _ => match comparison(rest) {
                Some((how, length)) => (ConditionToken::Compare(how), length),
                None => word(rest)?,
            },
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn comparison(rest: &str) -> Option<(Comparison, usize)> {
    const SIGNS: [(&str, Comparison); 6] = [
        ("==", Comparison::Equal),
        ("!=", Comparison::Unequal),
        ("<=", Comparison::AtMost),
        (">=", Comparison::AtLeast),
        ("<", Comparison::Less),
        (">", Comparison::More),
    ];
    SIGNS.iter().find(|(sign, _)| rest.starts_with(sign)).map(|(sign, how)| (*how, sign.len()))
}

fn word(rest: &str) -> Result<(ConditionToken<'_>, usize), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let end = rest.find(|c: char| !fits(c)).unwrap_or(rest.len());
    if end == 0 {
        let sign: String = rest.chars().take(1).collect();
        let advice = match sign.as_str() {
            "=" => "; for equality write ==",
            "&" => "; write and",
            "|" => "; write or",
            "!" => "; write not",
            _ => "",
        };
        return Err(format!("{sign:?} means nothing here{advice}"));
    }
    Ok((ConditionToken::Word(&rest[..end]), end))
}

struct ConditionParser<'t> {
    tokens: &'t [ConditionToken<'t>],
    at: usize,
}

impl<'t> ConditionParser<'t> {
    fn peek(&self) -> Option<ConditionToken<'t>> {
        self.tokens.get(self.at).copied()
    }

    fn takes(&mut self, word: &str) -> bool {
        let is_it = self.peek() == Some(ConditionToken::Word(word));
        self.at += usize::from(is_it);
        is_it
    }

    fn or(&mut self, depth: usize) -> Result<Expression, String> {
        let mut left = self.and(depth)?;
        while self.takes("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and(depth)?));
        }
        Ok(left)
    }

    fn and(&mut self, depth: usize) -> Result<Expression, String> {
        let mut left = self.not(depth)?;
        while self.takes("and") {
            left = Expression::And(Box::new(left), Box::new(self.not(depth)?));
        }
        Ok(left)
    }

    fn not(&mut self, depth: usize) -> Result<Expression, String> {
        if depth > MAX_DEPTH {
            return Err("it is nested too deeply".to_owned());
        }
        if self.takes("not") {
            return Ok(Expression::Not(Box::new(self.not(depth + 1)?)));
        }
        let left = self.operand(depth)?;
        let Some(ConditionToken::Compare(how)) = self.peek() else { return Ok(left) };
        self.at += 1;
        Ok(Expression::Compare(Box::new(left), how, Box::new(self.operand(depth)?)))
    }

    fn operand(&mut self, depth: usize) -> Result<Expression, String> {
        let token = self.peek().ok_or_else(|| "something is missing at its end".to_owned())?;
        self.at += 1;
        match token {
            ConditionToken::Open => {
                let inner = self.or(depth + 1)?;
                if self.peek() != Some(ConditionToken::Close) {
                    return Err("a ) is missing".to_owned());
                }
                self.at += 1;
                Ok(inner)
            }
            ConditionToken::Text(text) => Ok(Expression::Value(ConditionValue::Text(text.to_owned()))),
            ConditionToken::Word(word @ ("and" | "or" | "not")) => {
                Err(format!("something is missing before {word:?}"))
            }
            ConditionToken::Word(word) => Ok(match literal(word) {
                Some(value) => Expression::Value(value),
                None => Expression::Name(word.to_owned()),
            }),
            ConditionToken::Close | ConditionToken::Compare(_) => {
                Err(format!("something is missing before {:?}", shown(token)))
            }
        }
    }
}
